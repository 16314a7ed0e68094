"""What there is to draw of a world: named shapes, height fields, points, lines and areas, with their colours.

`World.scene` describes the present moment; pictures, and every other viewer, draw that. Names are the same in every
scene of an episode, so that a viewer can move what it has drawn already. Colours exist only here, and mean the same in
every world: a robot is blue and its front red, what it should fetch or carry is orange, where it should go is green,
and what its laser measures is violet.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from sandlot.geometry.rotations import rotation_matrix
from sandlot.typing import Array, Image, IntArray

Colour: TypeAlias = tuple[int, ...]
"""Red, green, blue, and opacity if there are four: 0 to 255."""
Kind = Literal["box", "sphere", "ellipsoid", "cylinder", "capsule", "mesh"]

EDGE: Colour = (30, 40, 55)
ROBOT, FRONT, TYRE = (62, 112, 168), (205, 58, 52), (52, 48, 46)
ROBOTS: tuple[Colour, ...] = (ROBOT, (58, 140, 132), (120, 128, 60), (124, 100, 150))
"""Bodies of several robots in one picture."""
LOAD, GOAL = (228, 126, 36), (126, 190, 132)
LASER, RETURN = (150, 100, 230, 60), (116, 50, 180)
FLOOR, DONE, GRID_LINE = (246, 243, 236), (219, 234, 207), (232, 227, 216)
WALL, GLASS, PERSON = (62, 56, 52), (60, 160, 190), (206, 105, 135)
WATER, WATER_LINE = (222, 236, 245), (203, 221, 233)
SOIL_LOW, SOIL_HIGH, RUT, GROUND = (150, 120, 88), (226, 202, 160), (96, 70, 48), (214, 200, 172)
EARTH_LOW, EARTH_HIGH = (92, 70, 54), (232, 196, 142)
SKY: Colour = (240, 243, 246)


@dataclass(frozen=True, eq=False)
class Shape:
    """A solid body.

    Attributes:
        name: Unique in the scene.
        kind: As MuJoCo calls them.
        size: Half the sides of a box, the radius of a sphere, the radii of an ellipsoid, radius and half the length
            (along its own z) of a cylinder or a capsule [m]; empty for a mesh.
        position: (3,) of its middle [m].
        rotation: (3, 3) from its own axes to the world's.
        colour: Of its surface.
        vertices: (n, 3) of a mesh, in its own axes [m].
        faces: (m, 3) vertex indices of each triangle of a mesh.
        outlined: Whether a picture shows its edge.
        beacon: If it lies beyond the edge of a picture, a mark on the edge shows where.
    """

    name: str
    kind: Kind
    size: tuple[float, ...]
    position: Array
    rotation: Array
    colour: Colour
    vertices: Array | None = None
    faces: IntArray | None = None
    outlined: bool = True
    beacon: bool = False


@dataclass(frozen=True, eq=False)
class HeightField:
    """Ground as heights on a grid.

    Attributes:
        name: Unique in the scene.
        heights: (ny, nx) [m]: rows along y, columns along x.
        spacing: Of nodes [m].
        corner: (2,) x and y of the first node [m].
        colours: (ny, nx, 3) of the nodes.
        wrap: Whether it goes on at the other edge.
        cells: Whether each height is that of a flat square cell, and not of a node.
        grain: Bumps of this size are single grains; a picture shows them only faintly [m].
    """

    name: str
    heights: Array
    spacing: float
    corner: Array
    colours: Image
    wrap: bool = False
    cells: bool = False
    grain: float = 0.0


@dataclass(frozen=True, eq=False)
class Points:
    """A cloud of equal discs or spheres.

    Attributes:
        name: Unique in the scene.
        positions: (n, 3) [m].
        radius: [m]
        colours: One for all, or one for each.
        detail: Whether a height field shows the same; pictures from above leave it out.
    """

    name: str
    positions: Array
    radius: float
    colours: Colour | tuple[Colour, ...]
    detail: bool = False


@dataclass(frozen=True, eq=False)
class Lines:
    """Straight lines.

    Attributes:
        name: Unique in the scene.
        ends: (n, 2, 3) both ends of each [m].
        colours: One for all, or one for each.
        width: [pixel]
        height: If above 0, lines stand upright as walls of this height; a picture from above shows them as lines [m].
    """

    name: str
    ends: Array
    colours: Colour | tuple[Colour, ...]
    width: float = 1.0
    height: float = 0.0


@dataclass(frozen=True, eq=False)
class Area:
    """A flat area.

    Attributes:
        name: Unique in the scene.
        outline: (n, 3) its corners [m].
        colour: Of the area.
    """

    name: str
    outline: Array
    colour: Colour


@dataclass(frozen=True, eq=False)
class Camera:
    """From where a picture in perspective is seen.

    Attributes:
        target: (3,) in the middle of the picture [m].
        distance: From the target [m].
        azimuth: Direction from the target to the camera, counter-clockwise from x [rad].
        elevation: Of the camera above the horizon [rad].
        field_of_view: From the lower to the upper edge of the picture [rad].
        size: Columns and rows of the picture.
    """

    target: Array
    distance: float
    azimuth: float
    elevation: float
    field_of_view: float = 0.6
    size: tuple[int, int] = (640, 420)


SEEN = 0.35
"""Radius that a viewer should see around the target of a camera, relative to the camera's distance."""
Item: TypeAlias = Shape | HeightField | Points | Lines | Area


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything there is to draw at one moment.

    Attributes:
        items: What to draw; from above, what is later covers what is earlier.
        low: (2,) lowest x and y that a picture shows [m]; x and z from the side.
        high: (2,) highest x and y that a picture shows [m]; x and z from the side.
        pixels: The longer side of a picture.
        background: Where nothing is.
        side: Whether a picture from above shows it from the side instead, x to the right and z up.
        camera: If given, `picture` shows the scene in perspective, and not from above.
        caption: Time and a few quantities, in one line.
        legend: What the colours mean: label and colour.
        focus: (3,) what a viewer looks at if there is no camera, such as the robot [m]; if not given, the middle.
        reach: Radius around the focus that a viewer should see [m]; if 0, all of a picture.
    """

    items: tuple[Item, ...]
    low: Array
    high: Array
    pixels: int
    background: Colour = FLOOR
    side: bool = False
    camera: Camera | None = None
    caption: str = ""
    legend: tuple[tuple[str, Colour], ...] = ()
    focus: Array | None = None
    reach: float = 0.0

    @property
    def looked_at(self) -> tuple[Array, float]:
        """What a viewer in space looks at: (3,) [m], and the radius around it that it should see [m]."""
        if self.camera is not None:
            return np.nan_to_num(self.camera.target), SEEN * self.camera.distance
        middle = np.zeros(3)
        middle[list(self.axes)] = 0.5 * (self.low + self.high)
        reach = self.reach or 0.5 * float(np.max(self.high - self.low))
        return middle if self.focus is None else np.nan_to_num(self.focus), reach

    @property
    def axes(self) -> tuple[int, int]:
        """The two axes that a picture shows."""
        return (0, 2) if self.side else (0, 1)


def upright(x: float, y: float, z: float = 0.0, yaw: float = 0.0) -> tuple[Array, Array]:
    """Position (3,) and rotation (3, 3) of what stands upright."""
    return np.array([x, y, z]), rotation_matrix(0.0, 0.0, yaw)


def blend(low: Colour, high: Colour, share: Array) -> Image:
    """Colours (..., 3) between two, by a share from 0 to 1."""
    a, b = np.array(low[:3], np.float64), np.array(high[:3], np.float64)
    return (a + np.clip(share, 0.0, 1.0)[..., None] * (b - a)).astype(np.uint8)


def each_colour(colours: Colour | tuple[Colour, ...], count: int) -> list[Colour]:
    """One colour for each of so many."""
    several = [each for each in colours if not isinstance(each, int)]
    return several or [tuple(each for each in colours if isinstance(each, int))] * count


def grid_lines(name: str, low: Array, high: Array, gap: float, colour: Colour) -> Lines:
    """Lines along x and y at whole multiples of ``gap`` [m], as a scale."""
    ends = []
    for axis in (0, 1):
        for at in np.arange(np.ceil(low[axis] / gap) * gap, high[axis], gap):
            line = np.array([[low[0], low[1], 0.0], [high[0], high[1], 0.0]])
            line[:, axis] = at
            ends.append(line)
    return Lines(name, np.reshape(ends, (-1, 2, 3)), colour)
