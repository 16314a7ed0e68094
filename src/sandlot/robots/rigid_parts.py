"""The rigid parts of a robot: links that fixed joints hold together become one part."""

from dataclasses import dataclass
from typing import TypeAlias

from sandlot.errors import RobotError
from sandlot.robots.solids import Inertial, Solid, combine
from sandlot.robots.urdf import Assembly
from sandlot.robots.urdf_elements import Joint, Link
from sandlot.typing import Array

Pose: TypeAlias = tuple[Array, Array]
"""Rotation (3, 3) and position (3,) [m]."""


@dataclass(frozen=True, eq=False)
class Part:
    """Links that are fixed to each other: one body in MuJoCo.

    Attributes:
        name: Of the link whose frame it has.
        parent: Index of the part that ``joint`` connects it to.
        joint: Connects it to its parent; none for the first part, which moves freely.
        position: (3,) in the parent's frame [m].
        rotation: (3, 3) from its axes to the parent's.
        collision: Shapes it collides with, in its frame.
        visual: Shapes it is drawn with, in its frame.
        inertial: Mass and inertia, in its frame.
    """

    name: str
    parent: int
    joint: Joint | None
    position: Array
    rotation: Array
    collision: tuple[Solid, ...]
    visual: tuple[Solid, ...]
    inertial: Inertial


@dataclass(frozen=True, eq=False)
class Parts:
    """All parts of a robot.

    Attributes:
        parts: Parents before their children; the first is the chassis.
        of_link: Index of the part that each link belongs to.
        poses: Of each part in the chassis' frame, with all joints at zero.
    """

    parts: tuple[Part, ...]
    of_link: dict[str, int]
    poses: list[Pose]


def relative(frame: Pose, other: Pose) -> Pose:
    """The pose ``other`` as seen from ``frame``."""
    return frame[0].T @ other[0], frame[0].T @ (other[1] - frame[1])


def fuse(assembly: Assembly, chassis: str) -> Parts:
    """Merge links that fixed joints hold together.

    Args:
        assembly: The robot.
        chassis: Name of the link whose frame the first part gets.

    Raises:
        RobotError: If a joint that turns is above the chassis, or a part that moves has no mass.
    """
    link_poses, of_link, frame_links = assembly.poses(), {assembly.root: 0}, [chassis]
    for child, joint in assembly.joints.items():
        if joint.kind == "fixed":
            of_link[child] = of_link[joint.parent]
        else:
            of_link[child] = len(frame_links)
            frame_links.append(child)
    if of_link[chassis] != 0:
        raise RobotError(
            f'{assembly.file}: the chassis, link "{chassis}", hangs on a joint that turns; allowed: the root, or '
            "a link fixed to it"
        )
    poses = [relative(link_poses[chassis], link_poses[link]) for link in frame_links]
    members: list[list[Link]] = [[] for _ in frame_links]
    for name, link in assembly.links.items():
        members[of_link[name]].append(link)
    parts = []
    for k, top in enumerate(frame_links):
        joint_above = assembly.joints[top] if k else None
        parent = of_link[joint_above.parent] if joint_above else 0
        rotation, position = relative(poses[parent], poses[k])
        inside = [(link, relative(link_poses[top], link_poses[link.name])) for link in members[k]]
        collision = tuple(shape.moved(*pose) for link, pose in inside for shape in link.collision)
        visual = tuple(shape.moved(*pose) for link, pose in inside for shape in link.visual)
        inertial = combine([link.inertial.moved(*pose) for link, pose in inside])
        if inertial.mass <= 0.0:
            raise RobotError(f'{assembly.file}: link "{top}" moves but weighs nothing; give it an <inertial>')
        parts.append(Part(top, parent, joint_above, position, rotation, collision, visual, inertial))
    return Parts(tuple(parts), of_link, poses)
