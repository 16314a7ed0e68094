"""Robots as they come from others' tools: a URDF file, read into small frozen parts.

What is understood is what the source's section 5.1.1 lists, and spheres: boxes, cylinders and triangle meshes, for
looks and for collisions; masses and inertias; joints that are fixed, turn, or are powered. Tags for other tools
(materials, transmissions, Gazebo) are passed over. A mistake in the file is one line that names the element.
"""

import math
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import QhullError

from sandlot.errors import SandlotError
from sandlot.geometry.rotations import rotation_matrix
from sandlot.robots.meshes import MOST_BYTES, hull_moments, mesh_file, read_mesh
from sandlot.settings import nearest
from sandlot.typing import Array

DENSITY = 1000.0
"""Of links that do not say what they weigh [kg/m^3]."""

LARGEST = 1e6
"""Largest number a file may hold, in any unit; beyond it, products overflow."""

SolidKind = Literal["box", "cylinder", "sphere", "mesh"]
JointKind = Literal["fixed", "revolute", "continuous"]
JOINTS: tuple[JointKind, ...] = ("fixed", "revolute", "continuous")


@dataclass(frozen=True, eq=False)
class Shape:
    """A solid, somewhere on a link.

    Attributes:
        kind: What it is.
        size: Of a box along x, y, z; of a cylinder (along z) its radius and length; of a sphere its radius [m].
        position: (3,) of its middle, or of a mesh's origin, on the link [m].
        rotation: (3, 3) from its axes to the link's.
        vertices: (n, 3) of a mesh, in its own axes, scaled [m].
        faces: (m, 3) which vertices make a triangle.
    """

    kind: SolidKind
    size: tuple[float, ...]
    position: Array
    rotation: Array
    vertices: Array
    faces: NDArray[np.int32]

    def reach(self, point: Array, axis: Array) -> tuple[float, float, float]:
        """How far it goes from a line, and from where to where along it.

        Args:
            point: (3,) on the line [m].
            axis: (3,) unit vector along it.

        Returns:
            The largest distance from the line, the least and the largest distance along it from ``point`` [m].
        """
        if self.kind == "sphere":
            points, pad = np.zeros((1, 3)), self.size[0]
        elif self.kind == "mesh":
            points, pad = self.vertices, 0.0
        elif self.kind == "box":
            points, pad = 0.5 * np.array(self.size) * _CORNERS, 0.0
        else:
            radius, length = self.size
            points, pad = np.array([radius, radius, 0.5 * length]) * _RIMS, 0.0
        away = points @ self.rotation.T + self.position - point
        along = away @ axis
        across = np.linalg.norm(away - along[:, None] * axis, axis=1)
        return float(across.max() + pad), float(along.min() - pad), float(along.max() + pad)

    def solid(self) -> tuple[float, Array, Array]:
        """Volume [m^3], its middle (3,) [m], and inertia (3, 3) at density one about the middle [m^5], in link axes.

        A mesh counts as its convex hull, which is also how MuJoCo lets it collide.
        """
        middle = np.zeros(3)
        if self.kind == "mesh":
            volume, middle, second = hull_moments(self.vertices)
        elif self.kind == "box":
            volume = math.prod(self.size)
            second = np.diag(np.square(self.size)) * volume / 12.0
        elif self.kind == "cylinder":
            radius, length = self.size
            volume = math.pi * radius**2 * length
            second = np.diag([radius**2 / 4.0, radius**2 / 4.0, length**2 / 12.0]) * volume
        else:
            volume = 4.0 / 3.0 * math.pi * self.size[0] ** 3
            second = np.eye(3) * self.size[0] ** 2 / 5.0 * volume
        inertia = np.trace(second) * np.eye(3) - second
        return volume, self.rotation @ middle + self.position, self.rotation @ inertia @ self.rotation.T


_CORNERS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
_RIMS = np.array([[math.cos(a), math.sin(a), z] for a in np.linspace(0.0, 2.0 * math.pi, 65)[:-1] for z in (-1.0, 1.0)])


@dataclass(frozen=True, eq=False)
class Link:
    """A rigid part.

    Attributes:
        name: Its name in the file.
        visual: What it looks like.
        collision: What it collides with.
        mass: [kg]; zero if it has neither inertial nor collision parts.
        centre: (3,) of mass [m].
        inertia: (3, 3) about ``centre``, in the link's axes [kg*m^2].
    """

    name: str
    visual: tuple[Shape, ...]
    collision: tuple[Shape, ...]
    mass: float
    centre: Array
    inertia: Array


@dataclass(frozen=True, eq=False)
class Joint:
    """What holds a link to another.

    Attributes:
        name: Its name in the file.
        kind: ``fixed``, or turning: ``revolute``, ``continuous``.
        parent: Name of the link it sits on.
        child: Name of the link it holds.
        position: (3,) of the child's origin on the parent [m].
        rotation: (3, 3) from the child's axes to the parent's, where the joint's angle is zero.
        axis: (3,) unit vector it turns about, in the child's axes.
        powered: Has a motor: ``revolute`` with ``<limit velocity="1.0">`` (the source's convention), or ``continuous``.
        limits: Least and largest angle [rad]; none if it turns freely, as all powered joints do.
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


@dataclass(frozen=True, eq=False)
class Assembly:
    """Links, and the joints that make a tree of them.

    Attributes:
        name: Of the robot.
        file: Where it was read from, for messages.
        root: Name of the link that no joint holds.
        links: By name, parents before their children.
        joints: By the name of the link that each one holds, in the same order.
    """

    name: str
    file: str
    root: str
    links: Mapping[str, Link]
    joints: Mapping[str, Joint]

    @property
    def mass(self) -> float:
        """Of all links [kg]."""
        return sum(link.mass for link in self.links.values())

    def poses(self) -> dict[str, tuple[Array, Array]]:
        """Rotation (3, 3) and position (3,) [m] of every link as seen from the root, with all joints at zero."""
        poses = {self.root: (np.eye(3), np.zeros(3))}
        for child, joint in self.joints.items():
            rotation, position = poses[joint.parent]
            poses[child] = (rotation @ joint.rotation, rotation @ joint.position + position)
        return poses


def read_urdf(path: str | Path, density: float = DENSITY) -> Assembly:
    """Read a robot from a file.

    Args:
        path: Of the URDF; meshes are looked for from its folder.
        density: Of links without ``<inertial>``, whose collision shapes then say what they weigh [kg/m^3].

    Raises:
        SandlotError: One line that names the element that is wrong.
    """
    path = Path(path)
    try:
        if path.stat().st_size > MOST_BYTES:
            raise SandlotError(f"{path.name} is larger than {MOST_BYTES:.0e} bytes, too large for a URDF")
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise SandlotError(f"cannot read the robot {path}: {reason}") from None
    return parse_urdf(text, path.name, path.parent, density)


def parse_urdf(text: str, file: str = "URDF", folder: Path | None = None, density: float = DENSITY) -> Assembly:
    """As `read_urdf`, from text; ``file`` is what messages call it, ``folder`` where meshes are looked for."""
    # Entities can make a small file huge or read other files, and no URDF needs them. Text, unlike bytes, has only one
    # way to write this.
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise SandlotError(f"{file}: document types and entities are not read; write the robot out in full")
    try:
        robot = ET.fromstring(text)
    except (ET.ParseError, ValueError) as error:
        raise SandlotError(f"{file} is not XML: {error}") from None
    if robot.tag != "robot":
        raise SandlotError(f"{file}: <{robot.tag}> is not a robot; allowed: a URDF, which begins with <robot>")
    folder = folder or Path()
    links: dict[str, Link] = {}
    for element in robot.findall("link"):
        name = _name(element, file)
        if name in links:
            raise SandlotError(f'{file}: there are two links "{name}"; names must differ')
        links[name] = _link(element, name, f'{file}: link "{name}"', folder, density)
    if not links:
        raise SandlotError(f"{file}: the robot has no <link>")
    joints: dict[str, Joint] = {}
    names: set[str] = set()
    for element in robot.findall("joint"):
        name = _name(element, file)
        if name in names:
            raise SandlotError(f'{file}: there are two joints "{name}"; names must differ')
        names.add(name)
        joint = _joint(element, name, f'{file}: joint "{name}"', links)
        if joint.child in joints:
            both = f'"{joints[joint.child].name}" and "{name}"'
            raise SandlotError(f'{file}: link "{joint.child}" is the child of two joints, {both}; allowed: one')
        joints[joint.child] = joint
    root, order = _tree(links, joints, file)
    return Assembly(
        robot.get("name", ""), file, root, {name: links[name] for name in order}, {k: joints[k] for k in order[1:]}
    )


def _tree(links: Mapping[str, Link], joints: Mapping[str, Joint], file: str) -> tuple[str, list[str]]:
    """The root, and all links with parents before their children."""
    roots = [name for name in links if name not in joints]
    if len(roots) > 1:
        several = ", ".join(f'"{name}"' for name in roots)
        raise SandlotError(f"{file}: links {several} hang on no joint; allowed: one, the root")
    children: dict[str, list[str]] = {name: [] for name in links}
    for joint in joints.values():
        children[joint.parent].append(joint.child)
    order = list(roots)
    for name in order:
        order.extend(children[name])
    if len(order) < len(links):
        found = set(order)
        stuck = next(name for name in links if name not in found)
        raise SandlotError(f'{file}: link "{stuck}" hangs on a loop of joints; allowed: a tree')
    return roots[0], order


def _link(element: ET.Element, name: str, where: str, folder: Path, density: float) -> Link:
    visual = tuple(_shape(part, f"{where}: <visual>", folder) for part in element.findall("visual"))
    collision = tuple(_shape(part, f"{where}: <collision>", folder) for part in element.findall("collision"))
    inertial = element.find("inertial")
    if inertial is not None:
        mass, centre, inertia = _inertial(inertial, f"{where}: <inertial>")
    else:
        mass, centre, inertia = join([_weigh(shape, density, where) for shape in collision])
    if inertial is not None or collision:
        _check_inertia(mass, inertia, f"{where}: <inertia>" if inertial is not None else where)
    return Link(name, visual, collision, mass, centre, inertia)


def _weigh(shape: Shape, density: float, where: str) -> tuple[float, Array, Array]:
    try:
        volume, middle, inertia = shape.solid()
    except QhullError:
        raise SandlotError(f"{where}: <collision>: the mesh is flat; allowed: one that encloses a volume") from None
    return density * volume, middle, density * inertia


def join(parts: list[tuple[float, Array, Array]]) -> tuple[float, Array, Array]:
    """Several rigid parts as one.

    Args:
        parts: Of each its mass [kg], its centre (3,) [m], and its inertia (3, 3) about the centre [kg*m^2].

    Returns:
        The same of all together; zeros if they weigh nothing.
    """
    mass = sum(part[0] for part in parts)
    if mass <= 0.0:
        return 0.0, np.zeros(3), np.zeros((3, 3))
    centre = sum((part[0] * part[1] for part in parts), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for each, place, own in parts:
        arm = place - centre
        inertia += own + each * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return mass, centre, inertia


def _inertial(element: ET.Element, where: str) -> tuple[float, Array, Array]:
    centre, rotation = _origin(element, where)
    weight, moments = element.find("mass"), element.find("inertia")
    if weight is None or moments is None:
        raise SandlotError(f"{where}: <{'mass' if weight is None else 'inertia'}> is missing")
    mass = _number(weight, "value", where)
    if mass <= 0.0:
        raise SandlotError(f"{where}: mass {mass:g} is not above 0; a link without mass has no <inertial>")
    xx, yy, zz = (_number(moments, key, where) for key in ("ixx", "iyy", "izz"))
    xy, xz, yz = (_number(moments, key, where, 0.0) for key in ("ixy", "ixz", "iyz"))
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return mass, centre, rotation @ inertia @ rotation.T


def _check_inertia(mass: float, inertia: Array, where: str) -> None:
    """Refuse what no body can have: its principal moments are positive, and two of them at least the third."""
    moments = np.linalg.eigvalsh(inertia)
    shown = ", ".join(f"{moment:.4g}" for moment in moments)
    if mass <= 0.0 or moments[0] <= 0.0:
        raise SandlotError(f"{where}: its principal moments {shown} are not all above 0")
    # A thin plate has a sum that equals the third, and files round.
    if moments[0] + moments[1] < moments[2] * (1.0 - 1e-6):
        raise SandlotError(f"{where}: of its principal moments {shown} the first two are together below the third")


def _joint(element: ET.Element, name: str, where: str, links: Mapping[str, Link]) -> Joint:
    kind = element.get("type", "")
    if kind not in JOINTS:
        raise SandlotError(f'{where}: type "{kind}" is not known; allowed: {", ".join(JOINTS)}')
    parent, child = (_end(element, end, where, links) for end in ("parent", "child"))
    if parent == child:
        raise SandlotError(f'{where}: link "{child}" hangs on itself, a loop of joints; allowed: a tree')
    position, rotation = _origin(element, where)
    tag, limit = element.find("axis"), element.find("limit")
    axis = np.array([1.0, 0.0, 0.0]) if tag is None else _vector(tag, "xyz", where, 3, (1.0, 0.0, 0.0))
    length = float(np.linalg.norm(axis))
    if length < 1e-9 and kind != "fixed":
        raise SandlotError(f"{where}: <axis> has no direction; allowed: any but 0 0 0")
    speed = 0.0 if limit is None else _number(limit, "velocity", where, 0.0)
    lower, upper = (0.0 if limit is None else _number(limit, key, where, 0.0) for key in ("lower", "upper"))
    if lower > upper:
        raise SandlotError(f"{where}: its lower limit {lower:g} is above the upper, {upper:g}")
    powered = kind == "continuous" or (kind == "revolute" and speed == 1.0)
    # Tools that know no passive wheels leave both limits at zero; a joint that cannot turn would be fixed.
    limits = (lower, upper) if kind == "revolute" and not powered and lower < upper else None
    unit = axis / max(length, 1e-9)
    return Joint(name, kind, parent, child, position, rotation, unit, powered, limits)


def _end(element: ET.Element, end: str, where: str, links: Mapping[str, Link]) -> str:
    """Name of the link at that end of a joint."""
    tag = element.find(end)
    if tag is None:
        raise SandlotError(f"{where}: <{end}> is missing")
    link = tag.get("link", "").strip()
    if not link:
        raise SandlotError(f"{where}: <{end}> names no link")
    if link not in links:
        raise SandlotError(f'{where}: {end} link "{link}" is not there; {nearest(link, list(links))}')
    return link


def _shape(element: ET.Element, where: str, folder: Path) -> Shape:
    position, rotation = _origin(element, where)
    geometry = element.find("geometry")
    solid = None if geometry is None else next(iter(geometry), None)
    if solid is None:
        raise SandlotError(f"{where}: <geometry> is missing or empty")
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
            raise SandlotError(f"{where}: <mesh> has a scale of 0")
        vertices, faces = read_mesh(mesh_file(solid.get("filename", ""), where, folder), where)
        vertices = vertices * scale
        if np.abs(vertices).max() > LARGEST:
            raise SandlotError(f"{where}: <mesh> reaches beyond {LARGEST:g}")
        if np.prod(np.sign(scale)) < 0.0:
            faces = faces[:, ::-1]
    else:
        raise SandlotError(f"{where}: <{solid.tag}> is not known; allowed: box, cylinder, sphere, mesh")
    if size and min(size) <= 0.0:
        raise SandlotError(f"{where}: <{solid.tag}> has size {min(size):g}; allowed: above 0")
    return Shape(cast(SolidKind, solid.tag), size, position, rotation, vertices, faces)


def _origin(element: ET.Element, where: str) -> tuple[Array, Array]:
    """Position (3,) [m] and rotation (3, 3)."""
    tag = element.find("origin")
    if tag is None:
        return np.zeros(3), np.eye(3)
    zeros = (0.0, 0.0, 0.0)
    return _vector(tag, "xyz", where, 3, zeros), rotation_matrix(*_vector(tag, "rpy", where, 3, zeros))


def _name(element: ET.Element, file: str) -> str:
    name = element.get("name", "").strip()
    if not name:
        raise SandlotError(f"{file}: a <{element.tag}> has no name")
    return name


def _number(element: ET.Element, key: str, where: str, default: float | None = None) -> float:
    return float(_vector(element, key, where, 1, None if default is None else (default,))[0])


def _vector(element: ET.Element, key: str, where: str, count: int, default: tuple[float, ...] | None = None) -> Array:
    text = element.get(key)
    wanted = "a number" if count == 1 else f"{count} numbers"
    if text is None:
        if default is None:
            raise SandlotError(f"{where}: <{element.tag}> has no {key}; allowed: {wanted}")
        return np.array(default)
    try:
        numbers = [float(word) for word in text.split()]
    except ValueError:
        numbers = []
    if len(numbers) != count or "_" in text or not all(abs(number) <= LARGEST for number in numbers):
        raise SandlotError(f'{where}: <{element.tag} {key}="{text}">; allowed: {wanted} up to {LARGEST:g}')
    return np.array(numbers)
