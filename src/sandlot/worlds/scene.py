"""What there is to draw of a world: named shapes, height fields, points, lines and areas, with their colours.

`World.scene` describes the present moment; pictures, and every other viewer, draw that. Names are the same in every
scene of an episode, so that a viewer can move what it has drawn already. Colours exist only here.
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
FLOOR, GRID_LINE, WALL, GLASS = (246, 243, 236), (232, 227, 216), (62, 56, 52), (70, 160, 200)
WATER, WATER_LINE, HOME, BALL = (222, 236, 245), (203, 221, 233), (186, 222, 196), (222, 120, 40)
ROBOT, HEAD, NOSE, TYRE = (70, 110, 150), (200, 60, 60), (245, 240, 230), (52, 48, 46)
LASER, RETURN = (240, 150, 60, 60), (214, 60, 40)
ROVERS: tuple[Colour, ...] = ((200, 70, 50), (60, 110, 170), (70, 140, 80), (150, 90, 160))
SOIL_LOW, SOIL_HIGH, RUT = (150, 120, 88), (226, 202, 160), (96, 70, 48)
GROUND: Colour = (214, 200, 172)
EARTH_LOW, EARTH_HIGH, AGENT, LOADED = (60, 45, 35), (230, 185, 125), (255, 255, 255), (220, 40, 40)


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
    """

    name: str
    ends: Array
    colours: Colour | tuple[Colour, ...]
    width: float = 1.0


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
        side: Whether a picture shows it from the side, x to the right and z up, and not from above.
    """

    items: tuple[Item, ...]
    low: Array
    high: Array
    pixels: int
    background: Colour = FLOOR
    side: bool = False

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


def grid_lines(name: str, low: Array, high: Array, gap: float, colour: Colour) -> Lines:
    """Lines along x and y at whole multiples of ``gap`` [m], as a scale."""
    ends = []
    for axis in (0, 1):
        for at in np.arange(np.ceil(low[axis] / gap) * gap, high[axis], gap):
            line = np.array([[low[0], low[1], 0.0], [high[0], high[1], 0.0]])
            line[:, axis] = at
            ends.append(line)
    return Lines(name, np.reshape(ends, (-1, 2, 3)), colour)
