"""The elements of a URDF file: links, joints, shapes, inertias and numbers, each checked as it is read."""

import math
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

import numpy as np
from scipy.spatial import QhullError

from sandlot.errors import RobotError, quote
from sandlot.geometry.rotations import rotation_matrix
from sandlot.robots.meshes import MeshError, mesh_file, read_mesh
from sandlot.robots.solids import Inertial, Solid, SolidKind, combine
from sandlot.settings import nearest
from sandlot.typing import Array

LARGEST = 1e6
"""Largest magnitude of a number in a file, in any unit; products of larger ones may overflow."""

LARGEST_INERTIA = 1e9
"""[kg*m^2]; some files give parts that must not turn an inertia of a million."""

JointKind = Literal["fixed", "revolute", "continuous"]
JOINTS: tuple[JointKind, ...] = ("fixed", "revolute", "continuous")


@dataclass(frozen=True, eq=False)
class Link:
    """A rigid part.

    Attributes:
        name: Its name in the file.
        visual: Shapes it is drawn with.
        collision: Shapes it collides with.
        inertial: Mass and inertia, in the link's axes.
        skipped: Why visual meshes were left out, one line each.
    """

    name: str
    visual: tuple[Solid, ...]
    collision: tuple[Solid, ...]
    inertial: Inertial
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Joint:
    """Connects a link to its parent.

    Attributes:
        name: Its name in the file.
        kind: ``fixed``, ``revolute`` or ``continuous``.
        parent: Name of the parent link.
        child: Name of the child link.
        position: (3,) of the child's origin in the parent's frame [m].
        rotation: (3, 3) from the child's axes to the parent's at joint angle zero.
        axis: (3,) unit vector of the joint axis, in the child's axes.
        powered: Has a motor: ``revolute`` with ``<limit velocity="1.0">`` (the source's convention), or ``continuous``.
        limits: Lowest and highest angle [rad]; none if it turns freely. Wheels do not heed them.
        effort: Maximum torque [N*m]; none if the file does not say.
        top_speed: [rad/s]; none if the file does not say, also where it only marks a motor.
    """

    name: str
    kind: JointKind
    parent: str
    child: str
    position: Array
    rotation: Array
    axis: Array
    powered: bool
    limits: tuple[float, float] | None
    effort: float | None
    top_speed: float | None


def element_name(element: ET.Element, file: str) -> str:
    """The ``name`` attribute, which must not be empty."""
    name = element.get("name", "").strip()
    if not name:
        raise RobotError(f"{file}: a <{element.tag}> has no name")
    return name


def parse_link(element: ET.Element, name: str, where: str, folder: Path, density: float) -> Link:
    """Read a ``<link>``; ``where`` begins the message of an error."""
    visual, skipped = _visual(element, f"{where}: <visual>", folder)
    collision = tuple(_shape(part, f"{where}: <collision>", folder) for part in element.findall("collision"))
    written = element.find("inertial")
    if written is not None:
        inertial = _inertial(written, f"{where}: <inertial>")
    else:
        try:
            inertial = combine([shape.inertial(density) for shape in collision])
        except QhullError:
            raise RobotError(f"{where}: <collision>: the mesh is flat; allowed: one that encloses a volume") from None
    if written is not None or collision:
        _check_inertia(inertial, f"{where}: <inertia>" if written is not None else where)
    return Link(name, visual, collision, inertial, skipped)


def _visual(element: ET.Element, where: str, folder: Path) -> tuple[tuple[Solid, ...], tuple[str, ...]]:
    """Shapes that a link is drawn with, and why others were left out: nothing but the picture depends on them."""
    shapes, skipped = [], []
    for part in element.findall("visual"):
        try:
            shapes.append(_shape(part, where, folder))
        except MeshError as error:
            skipped.append(str(error))
    return tuple(shapes), tuple(skipped)


def _inertial(element: ET.Element, where: str) -> Inertial:
    centre, rotation = _origin(element, where)
    weight, moments = element.find("mass"), element.find("inertia")
    if weight is None or moments is None:
        raise RobotError(f"{where}: <{'mass' if weight is None else 'inertia'}> is missing")
    mass = _number(weight, "value", where)
    if mass <= 0.0:
        raise RobotError(f"{where}: mass {mass:g} is not above 0; a link without mass has no <inertial>")
    xx, yy, zz = (_number(moments, key, where, None, LARGEST_INERTIA) for key in ("ixx", "iyy", "izz"))
    xy, xz, yz = (_number(moments, key, where, 0.0, LARGEST_INERTIA) for key in ("ixy", "ixz", "iyz"))
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return Inertial(mass, centre, rotation @ inertia @ rotation.T)


def _check_inertia(inertial: Inertial, where: str) -> None:
    """Refuse an inertia that no body has: all principal moments are positive, and any two sum to at least the third."""
    moments = np.linalg.eigvalsh(inertial.inertia)
    shown = ", ".join(f"{moment:.4g}" for moment in moments)
    if inertial.mass <= 0.0 or moments[0] <= 0.0:
        raise RobotError(f"{where}: its principal moments {shown} are not all above 0")
    # For a thin plate the sum equals the third moment, and files round.
    if moments[0] + moments[1] < moments[2] * (1.0 - 1e-6):
        raise RobotError(f"{where}: of its principal moments {shown} the first two are together below the third")


def parse_joint(element: ET.Element, name: str, where: str, links: Mapping[str, Link], frozen: bool = False) -> Joint:
    """Read a ``<joint>`` between two of ``links``; ``where`` begins the message of an error. A frozen one is fixed."""
    kind = "fixed" if frozen else element.get("type", "")
    if kind not in JOINTS:
        raise RobotError(f'{where}: type "{quote(kind)}" is not known; allowed: {", ".join(JOINTS)}')
    parent, child = (_joint_link(element, end, where, links) for end in ("parent", "child"))
    if parent == child:
        raise RobotError(f'{where}: link "{child}" hangs on itself, a loop of joints; allowed: a tree')
    position, rotation = _origin(element, where)
    tag, limit = element.find("axis"), element.find("limit")
    axis = np.array([1.0, 0.0, 0.0]) if tag is None else _vector(tag, "xyz", where, 3, (1.0, 0.0, 0.0))
    length = float(np.linalg.norm(axis))
    if length < 1e-9 and kind != "fixed":
        raise RobotError(f"{where}: <axis> has no direction; allowed: any but 0 0 0")
    lower, upper, effort, speed = (_limit(limit, key, where) for key in ("lower", "upper", "effort", "velocity"))
    if lower > upper and kind != "fixed":
        raise RobotError(f"{where}: its lower limit {lower:g} is above the upper, {upper:g}")
    powered = kind == "continuous" or (kind == "revolute" and speed == 1.0)
    # Some tools write both limits as zero for a passive wheel; a joint that cannot turn would be "fixed".
    limits = (lower, upper) if kind == "revolute" and lower < upper else None
    unit = axis / max(length, 1e-9)
    torque = effort if 0.0 < effort < LARGEST else None
    top_speed = speed if kind == "continuous" and 0.0 < speed < LARGEST else None
    return Joint(name, kind, parent, child, position, rotation, unit, powered, limits, torque, top_speed)


def _limit(element: ET.Element | None, key: str, where: str) -> float:
    """A number of a ``<limit>``, at most `LARGEST`, since some programs write infinity for "none"; 0 if left out."""
    text = "0" if element is None else element.get(key, "0")
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if math.isnan(number) or "_" in text:
        raise RobotError(f'{where}: <limit {key}="{quote(text)}">; allowed: a number')
    return min(max(number, -LARGEST), LARGEST)


def _joint_link(element: ET.Element, end: str, where: str, links: Mapping[str, Link]) -> str:
    """Name of the parent or child link of a joint."""
    tag = element.find(end)
    if tag is None:
        raise RobotError(f"{where}: <{end}> is missing")
    link = tag.get("link", "").strip()
    if not link:
        raise RobotError(f"{where}: <{end}> names no link")
    if link not in links:
        raise RobotError(f'{where}: {end} link "{quote(link)}" was not found; {nearest(link, list(links))}')
    return link


def _shape(element: ET.Element, where: str, folder: Path) -> Solid:
    position, rotation = _origin(element, where)
    geometry = element.find("geometry")
    solid = None if geometry is None else next(iter(geometry), None)
    if solid is None:
        raise RobotError(f"{where}: <geometry> is missing or empty")
    size: tuple[float, ...] = ()
    vertices, faces = np.zeros((0, 3)), np.zeros((0, 3), np.int32)
    if solid.tag == "box":
        size = tuple(_vector(solid, "size", where, 3).tolist())
    elif solid.tag == "cylinder":
        size = (_number(solid, "radius", where), _number(solid, "length", where))
    elif solid.tag == "sphere":
        size = (_number(solid, "radius", where),)
    elif solid.tag == "mesh":
        scale = _vector(solid, "scale", where, 3, (1.0, 1.0, 1.0))
        if not scale.all():
            raise RobotError(f"{where}: <mesh> has a scale of 0")
        vertices, faces = read_mesh(mesh_file(solid.get("filename", ""), where, folder), where)
        vertices = vertices * scale
        if np.abs(vertices).max() > LARGEST:
            raise RobotError(f"{where}: <mesh> reaches beyond {LARGEST:g}")
        if np.prod(np.sign(scale)) < 0.0:
            faces = faces[:, ::-1]
    else:
        raise RobotError(f"{where}: <{solid.tag}> is not known; allowed: box, cylinder, sphere, mesh")
    if size and min(size) <= 0.0:
        raise RobotError(f"{where}: <{solid.tag}> has size {min(size):g}; allowed: above 0")
    return Solid(cast(SolidKind, solid.tag), size, position, rotation, vertices, faces)


def _origin(element: ET.Element, where: str) -> tuple[Array, Array]:
    """Position (3,) [m] and rotation (3, 3)."""
    tag = element.find("origin")
    if tag is None:
        return np.zeros(3), np.eye(3)
    zeros = (0.0, 0.0, 0.0)
    return _vector(tag, "xyz", where, 3, zeros), rotation_matrix(*_vector(tag, "rpy", where, 3, zeros))


def _number(element: ET.Element, key: str, where: str, default: float | None = None, largest: float = LARGEST) -> float:
    return float(_vector(element, key, where, 1, None if default is None else (default,), largest)[0])


def _vector(
    element: ET.Element,
    key: str,
    where: str,
    count: int,
    default: tuple[float, ...] | None = None,
    largest: float = LARGEST,
) -> Array:
    text = element.get(key)
    wanted = "a number" if count == 1 else f"{count} numbers"
    if text is None:
        if default is None:
            raise RobotError(f"{where}: <{element.tag}> has no {key}; allowed: {wanted}")
        return np.array(default)
    try:
        numbers = [float(word) for word in text.split()]
    except ValueError:
        numbers = []
    if len(numbers) != count or "_" in text or not all(abs(number) <= largest for number in numbers):
        raise RobotError(f'{where}: <{element.tag} {key}="{quote(text)}">; allowed: {wanted} up to {largest:g}')
    return np.array(numbers)
