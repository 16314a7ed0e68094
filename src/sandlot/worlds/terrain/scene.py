"""What there is to draw of the terrain world: the ground, darker where it was pressed down, and the rovers."""

from collections.abc import Sequence

import numpy as np
from scipy.ndimage import gaussian_filter

from sandlot.robots.rover_shapes import DrawnShape
from sandlot.typing import Array, Image
from sandlot.worlds.scene import NOSE, ROVERS, RUT, SOIL_HIGH, SOIL_LOW, TYRE, Colour, HeightField, Scene, Shape, blend
from sandlot.worlds.terrain.seam import Drive, Ground

PIXELS = 720
"""Of the longer side of a picture."""
DEEP = 0.02
"""A rut of this depth has 70% of the darkest colour, and a deeper one no more [m]."""
HALF = {"box": np.full(3, 0.5), "cylinder": np.array([1.0, 0.5]), "sphere": np.ones(1), "mesh": np.ones(0)}
"""Scenes have half the sides of a box and half the length of a cylinder."""
NOSE_CORNERS = np.array([(0.375, 0.0, 0.0), (0.2, 0.1, 0.0), (0.2, -0.1, 0.0)])
"""Of the mark that points forward, relative to the radius of the rover."""


def terrain_scene(ground: Ground, rovers: Drive) -> Scene:
    """The ground, whose grain is shown only faintly, and the rovers on it, each with a mark that points forward."""
    grid, grain, shapes = ground.grid, ground.grain, []
    for k, drawn in enumerate(rovers.shapes):
        shapes += _rover(k, drawn, rovers.state.position[k], rovers.state.rotation[k])
    # From above, higher shapes cover lower ones, and the marks cover everything.
    shapes.sort(key=lambda shape: np.inf if shape.colour == NOSE else float(shape.position[2]))
    colours = _colours(ground, grain / grid.spacing)
    field = HeightField("ground", ground.heights.copy(), grid.spacing, grid.corner, colours, grid.wrap, grain=grain)
    low = grid.corner - 0.5 * grid.spacing
    return Scene((field, *shapes), low, low + grid.size, PIXELS)


def _colours(ground: Ground, blur: float) -> Image:
    """Of the nodes: (ny, nx, 3)."""
    heights, initial = ground.heights, ground.initial
    if blur > 0.0:
        heights, initial = (0.95 * gaussian_filter(each, 2.0 * blur) + 0.05 * each for each in (heights, initial))
    relief = blend(SOIL_LOW, SOIL_HIGH, (heights - heights.min()) / max(float(np.ptp(heights)), 1e-9))
    rut = np.clip((initial - heights) / DEEP, 0.0, 0.7)[..., None]
    return (relief * (1.0 - rut) + np.array(RUT) * rut).astype(np.uint8)


def _rover(number: int, drawn: Sequence[DrawnShape], position: Array, rotation: Array) -> list[Shape]:
    """The shapes of a rover whose chassis has this pose."""
    shapes, reach = [], 0.0
    for k, each in enumerate(drawn):
        solid = each.shape.moved(rotation, position)
        size = np.array(solid.size) * HALF[solid.kind]
        colour: Colour = ROVERS[number % len(ROVERS)] if each.role == "chassis" else TYRE
        name, mesh = f"rover {number} {each.role} {k}", (solid.vertices, solid.faces.astype(np.int64))
        shapes.append(Shape(name, solid.kind, tuple(size.tolist()), solid.position, solid.rotation, colour, *mesh))
        corners = each.shape.box_corners()
        reach = max(reach, float(np.hypot(corners[:, 0], corners[:, 1]).max()))
    mark = reach * NOSE_CORNERS, np.array([[0, 1, 2]])
    return [*shapes, Shape(f"rover {number} nose", "mesh", (), position, rotation, NOSE, *mark)]
