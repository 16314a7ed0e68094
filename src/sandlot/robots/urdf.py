"""Reads a URDF file into links and joints.

The reader knows what the source's section 5.1.1 lists, and spheres: boxes, cylinders and triangle meshes, as visual and
collision shapes; masses and inertias; fixed, revolute and continuous joints, with or without a motor. It ignores tags
for other tools (materials, transmissions, Gazebo). An error message is one line that names the element.
"""

import warnings
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sandlot.errors import RobotError, RobotWarning, quote
from sandlot.reading import read_bytes
from sandlot.robots.meshes import MAX_BYTES
from sandlot.robots.urdf_elements import Joint, Link, element_name, parse_joint, parse_link
from sandlot.robots.xacro import check_macros, check_written_out
from sandlot.settings import nearest
from sandlot.typing import Array

SLIDING = ("prismatic", "planar", "floating")
"""Kinds of joints that can only be frozen."""
DENSITY = 1000.0
"""Of links without ``<inertial>`` [kg/m^3]."""


@dataclass(frozen=True, eq=False)
class Assembly:
    """Links, and the joints that connect them to a tree.

    Attributes:
        name: Of the robot.
        file: Name of the file, for messages.
        root: Name of the link that is no joint's child.
        links: By name, parents before their children.
        joints: By the name of their child link, in the same order.
    """

    name: str
    file: str
    root: str
    links: Mapping[str, Link]
    joints: Mapping[str, Joint]

    @property
    def mass(self) -> float:
        """Of all links [kg]."""
        return sum(link.inertial.mass for link in self.links.values())

    def poses(self) -> dict[str, tuple[Array, Array]]:
        """Rotation (3, 3) and position (3,) [m] of every link in the root's frame, with all joints at zero."""
        poses = {self.root: (np.eye(3), np.zeros(3))}
        for child, joint in self.joints.items():
            rotation, position = poses[joint.parent]
            poses[child] = (rotation @ joint.rotation, rotation @ joint.position + position)
        return poses


def read_urdf(path: str | Path, density: float = DENSITY, freeze: Sequence[str] = ()) -> Assembly:
    """Read a robot from a file.

    Args:
        path: Of the URDF; mesh files are found relative to its folder.
        density: Of links without ``<inertial>``, whose mass is that of their collision shapes [kg/m^3].
        freeze: Names of joints that are held at zero, as if they were fixed.

    Visual meshes that were not found or are of a kind that is not read are left out, with one `RobotWarning`.

    Raises:
        RobotError: One line that names the element that is wrong.
    """
    path = Path(path)
    try:
        text = read_bytes(path, MAX_BYTES, RobotError).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RobotError(f"cannot read {quote(path)}: it is not UTF-8 text") from None
    return parse_urdf(text, path.name, path.parent, density, freeze)


def parse_urdf(
    text: str,
    file: str = "URDF",
    folder: Path | None = None,
    density: float = DENSITY,
    freeze: Sequence[str] = (),
) -> Assembly:
    """As `read_urdf`, from text; messages name ``file``, and mesh files are found relative to ``folder``."""
    # Entities can make a small file huge or read other files, and no URDF needs them. Decoded text has only one
    # spelling of these tags.
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise RobotError(f"{file}: document types and entities are not read; write the robot out in full")
    try:
        robot = ET.fromstring(text)
    except (ET.ParseError, ValueError) as error:
        # Without its declaration, the parser does not know the prefix.
        check_macros(text, file)
        raise RobotError(f"{file} is not XML: {error}") from None
    if robot.tag != "robot":
        raise RobotError(f"{file}: <{robot.tag}> is not a robot; allowed: a URDF, which begins with <robot>")
    check_written_out(robot, file)
    links = _links(robot, file, folder or Path(), density)
    joints = _joints(robot, file, links, freeze)
    root, order = _tree(links, joints, file)
    ordered = {name: links[name] for name in order}, {child: joints[child] for child in order[1:]}
    return Assembly(robot.get("name", ""), file, root, *ordered)


def _links(robot: ET.Element, file: str, folder: Path, density: float) -> dict[str, Link]:
    links: dict[str, Link] = {}
    for element in robot.findall("link"):
        name = element_name(element, file)
        if name in links:
            raise RobotError(f'{file}: there are two links "{name}"; names must differ')
        links[name] = parse_link(element, name, f'{file}: link "{name}"', folder, density)
    if not links:
        raise RobotError(f"{file}: the robot has no <link>")
    if skipped := [why for link in links.values() for why in link.skipped]:
        count = f"{len(skipped)} visual meshes" if len(skipped) > 1 else "a visual mesh"
        warnings.warn(f"{count} left out of the picture: {skipped[0]}", RobotWarning, stacklevel=4)
    return links


def _joints(robot: ET.Element, file: str, links: Mapping[str, Link], freeze: Sequence[str]) -> dict[str, Joint]:
    """By the name of their child link."""
    _check_kinds(robot, file, freeze)
    joints: dict[str, Joint] = {}
    names: set[str] = set()
    for element in robot.findall("joint"):
        name = element_name(element, file)
        if name in names:
            raise RobotError(f'{file}: there are two joints "{name}"; names must differ')
        names.add(name)
        joint = parse_joint(element, name, f'{file}: joint "{name}"', links, name in freeze)
        if joint.child in joints:
            both = f'"{joints[joint.child].name}" and "{name}"'
            raise RobotError(f'{file}: link "{joint.child}" is the child of two joints, {both}; allowed: one')
        joints[joint.child] = joint
    return joints


def _check_kinds(robot: ET.Element, file: str, freeze: Sequence[str]) -> None:
    """Refuse joints that slide unless they are frozen, all in one line, and names in ``freeze`` of no joint."""
    kinds = {element_name(element, file): element.get("type", "") for element in robot.findall("joint")}
    for name in freeze:
        if name not in kinds:
            raise RobotError(f'{file}: freeze: joint "{quote(name)}" was not found; {nearest(name, list(kinds))}')
    if sliding := [name for name, kind in kinds.items() if kind in SLIDING and name not in freeze]:
        kind, names = kinds[sliding[0]], ", ".join(f'"{name}"' for name in (*freeze, *sliding))
        raise RobotError(
            f'{file}: joint "{sliding[0]}" is {kind}, which is not simulated; to hold it at zero, add to the settings: '
            f"freeze = [{names}]"
        )


def _tree(links: Mapping[str, Link], joints: Mapping[str, Joint], file: str) -> tuple[str, list[str]]:
    """The root, and the names of all links with parents before their children."""
    roots = [name for name in links if name not in joints]
    if len(roots) > 1:
        several = ", ".join(f'"{name}"' for name in roots)
        raise RobotError(f"{file}: links {several} hang on no joint; allowed: one, the root")
    children: dict[str, list[str]] = {name: [] for name in links}
    for joint in joints.values():
        children[joint.parent].append(joint.child)
    order = list(roots)
    for name in order:
        order.extend(children[name])
    if len(order) < len(links):
        found = set(order)
        stuck = next(name for name in links if name not in found)
        raise RobotError(f'{file}: link "{stuck}" hangs on a loop of joints; allowed: a tree')
    return roots[0], order
