"""What there is to draw of the terrain world: the ground, darker where it was pressed down, and the rovers."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from scipy.ndimage import gaussian_filter

from sandlot.kernels import kernel
from sandlot.physics.height_map import height_between
from sandlot.robots.rover_shapes import DrawnShape
from sandlot.robots.rover_state import RoverState
from sandlot.typing import Array, Image
from sandlot.worlds.scene import (
    FRONT,
    GOAL,
    ROBOTS,
    RUT,
    SKY,
    SOIL_HIGH,
    SOIL_LOW,
    TYRE,
    Camera,
    Colour,
    HeightField,
    Scene,
    Shape,
    upright,
)
from sandlot.worlds.terrain.grid import Grid

PIXELS = 720
"""Of the longer side of a picture."""
DEEP = 0.02
"""A rut of this depth has 70% of the darkest colour, and a deeper one no more [m]."""
NEAR, AZIMUTH, ELEVATION = 6.0, -125.0, 32.0
"""Of the camera: distance relative to the radius of a rover; counter-clockwise from x, above the horizon [degree]."""
TINTS = np.array([SOIL_LOW, SOIL_HIGH, RUT], np.float64)
"""Colours of the lowest and of the highest node, and of deep ruts."""
HALF = {"box": np.full(3, 0.5), "cylinder": np.array([1.0, 0.5]), "sphere": np.ones(1), "mesh": np.ones(0)}
"""Scenes have half the sides of a box and half the length of a cylinder."""
NOSE_CORNERS = np.array([(0.375, 0.0, 0.0), (0.2, 0.1, 0.0), (0.2, -0.1, 0.0)])
"""Of the mark that points forward, relative to the radius of the rover."""


class Surface(Protocol):
    """Ground as it is drawn; attributes as of `sandlot.worlds.terrain.seam.Ground`."""

    @property
    def grid(self) -> Grid:
        """Where its nodes are."""

    @property
    def grain(self) -> float:
        """Size of bumps that are the material's [m]."""

    @property
    def heights(self) -> Array:
        """Now: (ny, nx) [m]."""

    @property
    def initial(self) -> Array:
        """At the restart: (ny, nx) [m]."""


class Bodies(Protocol):
    """Rovers as they are drawn; attributes as of `sandlot.worlds.terrain.seam.Drive`."""

    @property
    def count(self) -> int:
        """How many."""

    @property
    def shapes(self) -> Sequence[Sequence[DrawnShape]]:
        """Of each rover."""

    @property
    def state(self) -> RoverState:
        """Of all rovers."""


def terrain_scene(
    ground: Surface, rovers: Bodies, time: float = 0.0, goals: Array | None = None, near: float = 0.2
) -> Scene:
    """The ground, whose grain is shown only faintly, and the rovers on it, each with a mark that points forward.

    Args:
        ground: With its ruts.
        rovers: On it.
        time: Since the start [s].
        goals: (rovers, 2) x and y [m], if there are any.
        near: So near to a goal it is reached [m].
    """
    grid, grain, shapes = ground.grid, ground.grain, []
    for k, drawn in enumerate(rovers.shapes):
        shapes += _rover(k, drawn, rovers.state.position[k], rovers.state.rotation[k])
    # From above, higher shapes cover lower ones, and the marks cover everything.
    shapes.sort(key=lambda shape: np.inf if shape.colour == FRONT else float(shape.position[2]))
    for k, (x, y) in enumerate(() if goals is None else goals.tolist()):
        column, row = (np.array([x, y]) - grid.corner) / grid.spacing
        z = height_between(ground.heights, row, column, grid.wrap)
        shapes.append(Shape(f"goal {k}", "cylinder", (near, 0.01), *upright(x, y, z), GOAL))
    colours = _colours(ground, grain / grid.spacing)
    field = HeightField("ground", ground.heights.copy(), grid.spacing, grid.corner, colours, grid.wrap, grain=grain)
    low = grid.corner - 0.5 * grid.spacing
    ends = () if goals is None else (("goal", GOAL),)
    depth = 1e3 * max(extremes(ground.heights, ground.initial)[2], 0.0)
    bodies = [("rover" if rovers.count == 1 else f"rover {k}", ROBOTS[k % len(ROBOTS)]) for k in range(rovers.count)]
    return Scene(
        (field, *shapes),
        low,
        low + grid.size,
        PIXELS,
        SKY,
        camera=_camera(rovers),
        caption=f"{time:.2f} s   x {rovers.state.position[0, 0]:.2f} m   y {rovers.state.position[0, 1]:.2f} m   "
        f"deepest rut {depth:.0f} mm",
        legend=(
            *bodies,
            ("front", FRONT),
            ("wheels or tracks", TYRE),
            ("ground", SOIL_HIGH),
            ("pressed down", RUT),
            *ends,
        ),
    )


def _camera(rovers: Bodies) -> Camera:
    """One that follows the rovers, so near that they are large, and so far that all are in the picture."""
    places = np.nan_to_num(rovers.state.position)
    target = places.mean(axis=0)
    largest = max(_extent(tuple(drawn))[0] for drawn in rovers.shapes)
    spread = float(np.linalg.norm(places - target, axis=1).max())
    distance = NEAR * (largest + 0.5 * spread)
    return Camera(target, distance, np.radians(AZIMUTH), np.radians(ELEVATION))


def _colours(ground: Surface, blur: float) -> Image:
    """Of the nodes: (ny, nx, 3)."""
    heights, initial = ground.heights, ground.initial
    if blur > 0.0:
        heights, initial = (0.95 * gaussian_filter(each, 2.0 * blur) + 0.05 * each for each in (heights, initial))
    colours = np.empty((*heights.shape, 3), np.uint8)
    low, high, _ = extremes(heights, initial)
    shade(heights, initial, low, max(high - low, 1e-9), TINTS, colours)
    return colours


@kernel(error_model="numpy", allocates=False)
def extremes(heights: Array, initial: Array) -> tuple[float, float, float]:
    """Height of the lowest and of the highest node, and the depth of the deepest rut [m].

    Args:
        heights: (ny, nx) [m]
        initial: (ny, nx) before anything touched the ground [m].
    """
    low, high, deepest = np.inf, -np.inf, -np.inf
    for i in range(heights.shape[0]):
        for j in range(heights.shape[1]):
            low, high = min(low, heights[i, j]), max(high, heights[i, j])
            deepest = max(deepest, initial[i, j] - heights[i, j])
    return low, high, deepest


@kernel(error_model="numpy", allocates=False)
def shade(heights: Array, initial: Array, low: float, span: float, tints: Array, colours: Image) -> None:
    """Colour nodes by their height, and darker where they were pressed down.

    Args:
        heights: (ny, nx) [m]
        initial: (ny, nx) before anything touched the ground [m].
        low: Height of the lowest node [m].
        span: From the lowest to the highest node [m].
        tints: (3, 3) colours of the lowest, of the highest, and of deep ruts.
        colours: (ny, nx, 3) receives the colours.
    """
    for i in range(heights.shape[0]):
        for j in range(heights.shape[1]):
            share = min(max((heights[i, j] - low) / span, 0.0), 1.0)
            rut = min(max((initial[i, j] - heights[i, j]) / DEEP, 0.0), 0.7)
            for k in range(3):
                relief = np.floor(tints[0, k] + share * (tints[1, k] - tints[0, k]))
                colours[i, j, k] = np.uint8(relief * (1.0 - rut) + tints[2, k] * rut)


def _rover(number: int, drawn: Sequence[DrawnShape], position: Array, rotation: Array) -> list[Shape]:
    """The shapes of a rover whose chassis has this pose."""
    positions, rotations, parts = _parts(number, tuple(drawn))
    poses = zip(parts, positions @ rotation.T + position, rotation @ rotations, strict=True)
    return [Shape(name, kind, size, place, turn, *looks) for (name, kind, size, *looks), place, turn in poses]


@lru_cache(maxsize=256)
def _parts(number: int, drawn: tuple[DrawnShape, ...]) -> tuple[Array, Array, list[tuple[Any, ...]]]:
    """What does not change of the shapes of a rover: positions (n, 3) and rotations (n, 3, 3) on the chassis, and else.

    The last one is a mark that points forward.
    """
    parts: list[tuple[Any, ...]] = []
    for k, (solid, role) in enumerate((each.shape, each.role) for each in drawn):
        size = tuple((np.array(solid.size) * HALF[solid.kind]).tolist())
        colour: Colour = ROBOTS[number % len(ROBOTS)] if role == "chassis" else TYRE
        parts.append(
            (f"rover {number} {role} {k}", solid.kind, size, colour, solid.vertices, solid.faces.astype(np.int64))
        )
    reach, top = _extent(drawn)
    mark = reach * NOSE_CORNERS + (0.0, 0.0, top + 1e-3), np.array([[0, 1, 2]])
    parts.append((f"rover {number} nose", "mesh", (), FRONT, *mark))
    positions = np.array([*(each.shape.position for each in drawn), np.zeros(3)])
    return positions, np.array([*(each.shape.rotation for each in drawn), np.eye(3)]), parts


@lru_cache(maxsize=256)
def _extent(drawn: tuple[DrawnShape, ...]) -> tuple[float, float]:
    """Radius of a rover, from above, and height of its chassis [m]."""
    corners = [each.shape.box_corners() for each in drawn]
    top = max(float(box[:, 2].max()) for each, box in zip(drawn, corners, strict=True) if each.role == "chassis")
    every = np.concatenate(corners)
    return float(np.hypot(every[:, 0], every[:, 1]).max()), top
