"""Finds a rover's chassis, wheels and belts in its URDF, and measures them."""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from sandlot.errors import RobotError
from sandlot.robots.rigid_parts import Part, Parts, fuse, relative
from sandlot.robots.rover import Rover
from sandlot.robots.rover_joints import check_free
from sandlot.robots.rover_motors import GRAVITY, Motor, find_motor
from sandlot.robots.rover_steering import Steering, find_steering
from sandlot.robots.urdf import Assembly
from sandlot.robots.urdf_elements import Joint
from sandlot.settings import nearest
from sandlot.typing import Array

Side = Literal["left", "right"]
SIDES: tuple[Side, Side] = ("left", "right")


@dataclass(frozen=True, eq=False)
class Wheel:
    """A wheel, measured.

    Attributes:
        part: Index of its part.
        side: Of the rover.
        joint: Connects it to the rover.
        hinge: (3,) joint axis in its own frame; a positive rotation rolls forward, whatever the sign in the URDF.
        axis: (3,) the same in the chassis' frame.
        middle: (3,) in the chassis' frame [m].
        radius: [m]
        half_width: [m]
        motor: None if it turns freely.
    """

    part: int
    side: Side
    joint: Joint
    hinge: Array
    axis: Array
    middle: Array
    radius: float
    half_width: float
    motor: Motor | None


@dataclass(frozen=True, eq=False)
class Belt:
    """A track around the wheels of one side.

    Attributes:
        side: Of the rover.
        parent: Index of the part it runs around.
        position: (3,) of its middle in that part's frame [m].
        rotation: (3, 3) from its axes (x along the belt, y along the axles, z up) to that part's.
        half_length: Half the distance of the outer axles [m].
        driver: The wheel that drives it.
        followers: Wheels that turn with the driver.
    """

    side: Side
    parent: int
    position: Array
    rotation: Array
    half_length: float
    driver: Wheel
    followers: tuple[Wheel, ...]


@dataclass(frozen=True, eq=False)
class Layout:
    """A rover's parts, wheels and belts, in the chassis' frame.

    Attributes:
        rover: Its settings.
        parts: Rigid parts, parents before their children; the first is the chassis.
        poses: Rotation (3, 3) and position (3,) [m] of each part, with all joints at zero.
        wheels: Left then right, from front to back, with and without motors.
        belts: Left and right; none if it runs on wheels.
        radius: Of the powered wheels [m].
        base: Distance of the left from the right wheels [m].
        top_speed: Of the slowest motor [rad/s].
        steering: Of its steered wheels; none if it steers by skidding.
    """

    rover: Rover
    parts: tuple[Part, ...]
    poses: tuple[tuple[Array, Array], ...]
    wheels: tuple[Wheel, ...]
    belts: tuple[Belt, ...]
    radius: float
    base: float
    top_speed: float
    steering: Steering | None


def find_layout(rover: Rover) -> Layout:
    """Find and measure the chassis, the wheels and the belts.

    Raises:
        RobotError: If the URDF cannot be read, or has no such chassis or wheels.
    """
    assembly = rover.assembly()
    file = assembly.file
    if rover.chassis not in assembly.links:
        hint = nearest(rover.chassis, list(assembly.links))
        raise RobotError(f'{file}: the chassis, link "{rover.chassis}", was not found; {hint}')
    parts = fuse(assembly, rover.chassis)
    sides: list[list[Wheel]] = []
    for side, names in zip(SIDES, (rover.left, rover.right), strict=True):
        joints = [_find_wheel(assembly, name) for name in names]
        found = [_measure(joint, side, parts, file) for joint in joints]
        if not any(joint.powered for joint in joints):
            raise RobotError(
                f"{file}: no {side} wheel is powered; allowed: a continuous joint, or a revolute one with "
                '<limit velocity="1.0">'
            )
        sides.append(sorted(found, key=lambda wheel: -wheel.middle[0]))
    load = GRAVITY * assembly.mass / sum(wheel.joint.powered for side in sides for wheel in side)
    sides = [[_with_motor(wheel, rover, load) for wheel in side] for side in sides]
    wheels = (*sides[0], *sides[1])
    if len({wheel.part for wheel in wheels}) < len(wheels):
        raise RobotError(f"{file}: a wheel is named twice; allowed: every wheel once, left or right")
    radii = [wheel.radius for wheel in wheels if wheel.joint.powered]
    if rover.radius is None and max(radii) > 1.01 * min(radii):
        raise RobotError(f"{file}: the powered wheels have radii from {min(radii):g} to {max(radii):g}; give radius")
    left, right = (float(np.mean([wheel.middle[1] for wheel in side])) for side in sides)
    if left - right < 1e-3:
        raise RobotError(f"{file}: the left wheels are not left of the right ones; y is to the left")
    belts = tuple(_belt(side, parts, file) for side in sides) if rover.tracks else ()
    radius, base = rover.radius or float(np.mean(radii)), rover.base or left - right
    top_speed = min(wheel.motor.top_speed for wheel in wheels if wheel.motor)
    steering = find_steering(wheels, parts, load)
    driven = [wheel.joint.name for wheel in wheels] + list(steering.joints if steering else ())
    check_free(parts, driven, rover.free, file)
    return Layout(rover, parts.parts, tuple(parts.poses), wheels, belts, radius, base, top_speed, steering)


def _with_motor(wheel: Wheel, rover: Rover, load: float) -> Wheel:
    """Give a powered wheel its motor; ``load`` is the share of the robot's weight on each powered wheel [N]."""
    return replace(wheel, motor=find_motor(rover, wheel.joint, load * wheel.radius)) if wheel.joint.powered else wheel


def _find_wheel(assembly: Assembly, name: str) -> Joint:
    """The joint of a wheel, named by its link or its joint."""
    joint = assembly.joints.get(name) or next((j for j in assembly.joints.values() if j.name == name), None)
    if joint is None:
        hint = nearest(name, [word for child, j in assembly.joints.items() for word in (child, j.name)])
        raise RobotError(f'{assembly.file}: wheel "{name}" was not found; {hint}')
    if joint.kind == "fixed":
        raise RobotError(
            f'{assembly.file}: joint "{joint.name}": wheel "{name}" is fixed; allowed: revolute, continuous'
        )
    return joint


def _measure(joint: Joint, side: Side, parts: Parts, file: str) -> Wheel:
    """A wheel's size and place, from its collision shapes, or its visual ones if it has none."""
    part = parts.of_link[joint.child]
    rotation, position = parts.poses[part]
    axis = rotation @ joint.axis
    if abs(axis[1]) < 0.7:
        raise RobotError(f'{file}: joint "{joint.name}": the axis of a wheel must go across the chassis, along y')
    sign = math.copysign(1.0, axis[1])
    shapes = parts.parts[part].collision or parts.parts[part].visual
    if not shapes:
        raise RobotError(f'{file}: link "{joint.child}": a wheel needs a <collision> shape')
    radii, lows, highs = zip(*(shape.extent(np.zeros(3), sign * joint.axis) for shape in shapes), strict=True)
    low, high = min(lows), max(highs)
    middle = position + 0.5 * (low + high) * sign * axis
    return Wheel(part, side, joint, sign * joint.axis, sign * axis, middle, max(radii), 0.5 * (high - low), None)


def _belt(wheels: list[Wheel], parts: Parts, file: str) -> Belt:
    """Around the first and the last of these wheels, which are sorted from front to back."""
    front, back = wheels[0], wheels[-1]
    parents = {parts.parts[wheel.part].parent for wheel in wheels}
    distance = float(np.linalg.norm(front.middle - back.middle))
    if distance < 1e-3 or len(parents) > 1:
        raise RobotError(f"{file}: a track needs two or more {front.side} wheels, apart, and on the same link")
    if abs(front.radius - back.radius) > 0.01 * front.radius:
        raise RobotError(
            f"{file}: the {front.side} track's front wheel has radius {front.radius:g}, its back wheel "
            f"{back.radius:g}; allowed: equal ones"
        )
    along = (front.middle - back.middle) / distance
    across = front.axis - front.axis @ along * along
    if np.linalg.norm(across) < 0.7:
        raise RobotError(f"{file}: the {front.side} track's wheels stand beside, not behind each other")
    across /= np.linalg.norm(across)
    axes = np.column_stack([along, across, np.cross(along, across)])
    parent = parents.pop()
    rotation, position = relative(parts.poses[parent], (axes, 0.5 * (front.middle + back.middle)))
    driver = next(wheel for wheel in wheels if wheel.joint.powered)
    followers = tuple(wheel for wheel in wheels if wheel is not driver)
    return Belt(front.side, parent, position, rotation, 0.5 * distance, driver, followers)
