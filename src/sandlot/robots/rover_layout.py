"""A rover's URDF, understood: which links are one body, where its wheels are, and what its belts run around."""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from sandlot.errors import SandlotError
from sandlot.robots.rover import Rover
from sandlot.robots.urdf import Assembly, Joint, Link, Shape, join
from sandlot.settings import nearest
from sandlot.typing import Array

Side = Literal["left", "right"]
SIDES: tuple[Side, Side] = ("left", "right")


@dataclass(frozen=True, eq=False)
class Part:
    """Links that are fixed to each other: a body in MuJoCo.

    Attributes:
        name: Of the link whose frame it has.
        parent: Index of the part it hangs on.
        joint: How; none for the first, which is free.
        position: (3,) on the parent [m].
        rotation: (3, 3) from its axes to the parent's.
        solids: What it collides with, in its frame.
        looks: What it looks like, in its frame.
        weight: Mass [kg], centre (3,) [m], inertia (3, 3) about it [kg*m^2].
    """

    name: str
    parent: int
    joint: Joint | None
    position: Array
    rotation: Array
    solids: tuple[Shape, ...]
    looks: tuple[Shape, ...]
    weight: tuple[float, Array, Array]


@dataclass(frozen=True, eq=False)
class Rolling:
    """A wheel, measured.

    Attributes:
        part: Which it is.
        side: Where it is.
        joint: What holds it.
        hinge: (3,) the axis about which it turns when it rolls forward, in its own frame.
        axis: (3,) the same in the chassis' frame.
        middle: (3,) in the chassis' frame [m].
        radius: [m]
        half_width: [m]
    """

    part: int
    side: Side
    joint: Joint
    hinge: Array
    axis: Array
    middle: Array
    radius: float
    half_width: float


@dataclass(frozen=True, eq=False)
class Belt:
    """A `Track` before there is a model; ``driver`` turns it, ``followers`` turn with that."""

    side: Side
    parent: int
    position: Array
    rotation: Array
    half_length: float
    driver: Rolling
    followers: tuple[Rolling, ...]


@dataclass(frozen=True, eq=False)
class Layout:
    """A rover's URDF, understood. Wheels are sorted as in `RoverParts`, with those that have no motor."""

    rover: Rover
    parts: tuple[Part, ...]
    wheels: tuple[Rolling, ...]
    belts: tuple[Belt, ...]
    radius: float
    base: float


Frame = tuple[Array, Array]
"""Rotation (3, 3) and position (3,) [m]."""


def understand(rover: Rover) -> Layout:
    """Find chassis and wheels, and measure them."""
    assembly = rover.assembly()
    file = assembly.file
    if rover.chassis not in assembly.links:
        hint = nearest(rover.chassis, list(assembly.links))
        raise SandlotError(f'{file}: the chassis, link "{rover.chassis}", is not there; {hint}')
    parts, part_of, frames = _fuse(assembly, rover.chassis)
    sides: list[list[Rolling]] = []
    for side, names in zip(SIDES, (rover.left, rover.right), strict=True):
        joints = [_find_wheel(assembly, name) for name in names]
        found = [_measure(joint, side, part_of[joint.child], parts, frames, file) for joint in joints]
        if not any(joint.powered for joint in joints):
            raise SandlotError(
                f"{file}: no {side} wheel is powered; allowed: a continuous joint, or a revolute one with "
                '<limit velocity="1.0">'
            )
        sides.append(sorted(found, key=lambda wheel: -wheel.middle[0]))
    wheels = (*sides[0], *sides[1])
    if len({wheel.part for wheel in wheels}) < len(wheels):
        raise SandlotError(f"{file}: a wheel is named twice; allowed: every wheel once, left or right")
    radii = [wheel.radius for wheel in wheels if wheel.joint.powered]
    if rover.radius is None and max(radii) > 1.01 * min(radii):
        raise SandlotError(f"{file}: the powered wheels have radii from {min(radii):g} to {max(radii):g}; give radius")
    left, right = (float(np.mean([wheel.middle[1] for wheel in side])) for side in sides)
    if left - right < 1e-3:
        raise SandlotError(f"{file}: the left wheels are not left of the right ones; y is to the left")
    belts = tuple(_belt(side, parts, frames, file) for side in sides) if rover.tracks else ()
    return Layout(rover, parts, wheels, belts, rover.radius or float(np.mean(radii)), rover.base or left - right)


def _fuse(assembly: Assembly, chassis: str) -> tuple[tuple[Part, ...], dict[str, int], list[Frame]]:
    """Make one part of what is fixed together.

    Returns:
        The parts, parents first; of each link its part; of each part its frame as seen from the chassis.
    """
    poses, part_of, tops = assembly.poses(), {assembly.root: 0}, [chassis]
    for child, joint in assembly.joints.items():
        if joint.kind == "fixed":
            part_of[child] = part_of[joint.parent]
        else:
            part_of[child] = len(tops)
            tops.append(child)
    if part_of[chassis] != 0:
        raise SandlotError(
            f'{assembly.file}: the chassis, link "{chassis}", hangs on a joint that turns; allowed: the root, or '
            "a link fixed to it"
        )
    frames = [_seen_from(poses[chassis], poses[top]) for top in tops]
    members: list[list[Link]] = [[] for _ in tops]
    for name, link in assembly.links.items():
        members[part_of[name]].append(link)
    parts = []
    for k, top in enumerate(tops):
        held = assembly.joints[top] if k else None
        parent = part_of[held.parent] if held else 0
        rotation, position = _seen_from(frames[parent], frames[k])
        solids, looks, weights = [], [], []
        for link in members[k]:
            frame = _seen_from(poses[top], poses[link.name])
            solids += [_moved(shape, frame) for shape in link.collision]
            looks += [_moved(shape, frame) for shape in link.visual]
            turned, shift = frame
            weights.append((link.mass, turned @ link.centre + shift, turned @ link.inertia @ turned.T))
        weight = join(weights)
        if weight[0] <= 0.0:
            raise SandlotError(f'{assembly.file}: link "{top}" moves but weighs nothing; give it an <inertial>')
        parts.append(Part(top, parent, held, position, rotation, tuple(solids), tuple(looks), weight))
    return tuple(parts), part_of, frames


def _seen_from(frame: Frame, other: Frame) -> Frame:
    """The other frame, in this one's axes."""
    return frame[0].T @ other[0], frame[0].T @ (other[1] - frame[1])


def _moved(shape: Shape, frame: Frame) -> Shape:
    """A shape of a link that has this frame, in the axes in which the frame is given."""
    rotation, position = frame
    return replace(shape, position=rotation @ shape.position + position, rotation=rotation @ shape.rotation)


def _find_wheel(assembly: Assembly, name: str) -> Joint:
    """By the link that its joint holds, or by its joint."""
    joint = assembly.joints.get(name) or next((j for j in assembly.joints.values() if j.name == name), None)
    if joint is None:
        hint = nearest(name, [word for child, j in assembly.joints.items() for word in (child, j.name)])
        raise SandlotError(f'{assembly.file}: wheel "{name}" is not there; {hint}')
    if joint.kind == "fixed":
        raise SandlotError(
            f'{assembly.file}: joint "{joint.name}": wheel "{name}" is fixed; allowed: revolute, continuous'
        )
    return joint


def _measure(joint: Joint, side: Side, part: int, parts: tuple[Part, ...], frames: list[Frame], file: str) -> Rolling:
    """A wheel's size and place, from what it collides with, or else looks like."""
    rotation, position = frames[part]
    axis = rotation @ joint.axis
    if abs(axis[1]) < 0.7:
        raise SandlotError(f'{file}: joint "{joint.name}": the axis of a wheel must go across the chassis, along y')
    sign = math.copysign(1.0, axis[1])
    shapes = parts[part].solids or parts[part].looks
    if not shapes:
        raise SandlotError(f'{file}: link "{joint.child}": a wheel needs a <collision> shape')
    radii, lows, highs = zip(*(shape.reach(np.zeros(3), sign * joint.axis) for shape in shapes), strict=True)
    low, high = min(lows), max(highs)
    middle = position + 0.5 * (low + high) * sign * axis
    return Rolling(part, side, joint, sign * joint.axis, sign * axis, middle, max(radii), 0.5 * (high - low))


def _belt(wheels: list[Rolling], parts: tuple[Part, ...], frames: list[Frame], file: str) -> Belt:
    """Around the first and the last of these wheels, which are sorted from front to back."""
    front, back = wheels[0], wheels[-1]
    parents = {parts[wheel.part].parent for wheel in wheels}
    distance = float(np.linalg.norm(front.middle - back.middle))
    if distance < 1e-3 or len(parents) > 1:
        raise SandlotError(f"{file}: a track needs two or more {front.side} wheels, apart, and on the same link")
    if abs(front.radius - back.radius) > 0.01 * front.radius:
        raise SandlotError(
            f"{file}: the {front.side} track's front wheel has radius {front.radius:g}, its back wheel "
            f"{back.radius:g}; allowed: equal ones"
        )
    along = (front.middle - back.middle) / distance
    across = front.axis - front.axis @ along * along
    if np.linalg.norm(across) < 0.7:
        raise SandlotError(f"{file}: the {front.side} track's wheels stand beside, not behind each other")
    across /= np.linalg.norm(across)
    own = np.column_stack([along, across, np.cross(along, across)])
    parent = parents.pop()
    rotation, position = _seen_from(frames[parent], (own, 0.5 * (front.middle + back.middle)))
    driver = next(wheel for wheel in wheels if wheel.joint.powered)
    followers = tuple(wheel for wheel in wheels if wheel is not driver)
    return Belt(front.side, parent, position, rotation, 0.5 * distance, driver, followers)
