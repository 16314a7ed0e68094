"""A picture of the terrain from above: relief in a low light, ruts, and rovers to scale."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from scipy.ndimage import gaussian_filter
from scipy.spatial import ConvexHull

from sandlot.places.terrains import shade
from sandlot.typing import Array
from sandlot.worlds.terrain.fleet import Fleet

SIZE = 720
"""Of the longer side of a picture [pixel]."""
FINER = 2
"""Drawn so many times as large, then made smaller: edges become smooth."""
LOW, HIGH, RUT = np.array([150.0, 120.0, 88.0]), np.array([226.0, 202.0, 160.0]), np.array([96.0, 70.0, 48.0])
DEEP = 0.02
"""A rut of this depth is as dark as any [m]."""
BODIES = ((200, 70, 50), (60, 110, 170), (70, 140, 80), (150, 90, 160))
EDGE, TYRE = (30, 25, 20), (52, 48, 46)


def draw(
    heights: Array, start: Array, spacing: float, corner: Array, wrap: bool, fleet: Fleet, grain: float = 0.0
) -> NDArray[np.uint8]:
    """The ground, darker where it has been pressed down, and the rovers, whose noses are marked.

    Args:
        heights: (ny, nx) as they are [m].
        start: (ny, nx) as they were at first [m].
        spacing: Of nodes [m].
        corner: (2,) x and y of the first node [m].
        wrap: Whether the ground goes on at the other edge.
        fleet: The rovers.
        grain: Bumps of this size are not the ground's shape but what it is made of, and shown only faintly [m].

    Returns:
        (rows, columns, 3), the longer side of 720 pixels; y points up.
    """
    image = Image.fromarray(np.flipud(_paint(heights, start, spacing, wrap, grain / spacing)))
    ny, nx = heights.shape
    scale = FINER * SIZE / max(ny, nx)
    image = image.resize((round(scale * nx), round(scale * ny)), Image.Resampling.BICUBIC)
    pen = ImageDraw.Draw(image)
    if np.isfinite(fleet.position).all():
        period = spacing * np.array([nx, ny])
        for outline, colour in _outlines(fleet):
            # Pixels are around their nodes: the first one's edge is half a spacing before the corner.
            points = outline - corner + 0.5 * spacing
            if wrap:
                points -= period * np.floor(points.mean(axis=0) / period)
            # What sticks out on one side is seen on the other.
            shifts = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)] if wrap else [(0, 0)]
            for shift in shifts:
                moved = (points + period * shift) * (scale / spacing)
                pen.polygon([(x, image.height - y) for x, y in moved], fill=colour, outline=EDGE, width=FINER)
    return np.asarray(image.reduce(FINER))


def _paint(heights: Array, start: Array, spacing: float, wrap: bool, blur: float) -> NDArray[np.uint8]:
    """A pixel for each node."""
    if blur > 0.0:
        heights, start = (0.95 * gaussian_filter(each, 2.0 * blur) + 0.05 * each for each in (heights, start))
    around = np.pad(heights, 1, mode="wrap" if wrap else "edge")
    light = shade(around, spacing)[1:-1, 1:-1, None] / 0.6
    relief = ((heights - heights.min()) / max(float(np.ptp(heights)), 1e-9))[..., None]
    rut = np.clip((start - heights) / DEEP, 0.0, 0.7)[..., None]
    colour = (LOW + relief * (HIGH - LOW)) * (1.0 - rut) + RUT * rut
    return np.clip(colour * (0.25 + 0.75 * light), 0.0, 255.0).astype(np.uint8)


def _outlines(fleet: Fleet) -> list[tuple[Array, tuple[int, int, int]]]:
    """What is seen of the rovers from above, lowest parts first: (n, 2) corners [m] and a colour each."""
    model, data = fleet.rovers.model, fleet.data
    signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    seen: list[tuple[float, Array, tuple[int, int, int]]] = []
    for k, parts in enumerate(fleet.rovers.rovers):
        own = np.flatnonzero(model.body_rootid[model.geom_bodyid] == model.body_rootid[parts.chassis])
        for geom in own:
            box = model.geom_aabb[geom, :3] + signs * model.geom_aabb[geom, 3:]
            points = box @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]
            flat = points[ConvexHull(points[:, :2]).vertices, :2]
            dark = model.geom_bodyid[geom] != parts.chassis or geom in parts.belts
            seen.append((float(points[:, 2].mean()), flat, TYRE if dark else BODIES[k % len(BODIES)]))
        top = data.xmat[parts.chassis].reshape(3, 3)
        reach = 0.5 * fleet.reach[k]
        nose = np.array([(0.75, 0.0, 0.0), (0.4, 0.2, 0.0), (0.4, -0.2, 0.0)]) * reach
        seen.append((np.inf, (nose @ top.T + data.xpos[parts.chassis])[:, :2], (245, 240, 230)))
    return [(points, colour) for _, points, colour in sorted(seen, key=lambda each: each[0])]
