"""A picture of a scene: from above, from the side or in perspective, as the scene asks, with caption and legend."""

from typing import Any

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw
from scipy.ndimage import gaussian_filter
from scipy.spatial import ConvexHull

from sandlot.places.terrains import shade
from sandlot.typing import Array, Image
from sandlot.worlds.labels import add_scale, label
from sandlot.worlds.perspective import in_perspective
from sandlot.worlds.scene import EDGE, Area, Colour, HeightField, Lines, Points, Scene, Shape, each_colour

FINER = 2
"""Pictures are drawn this many times as large and then reduced, so that edges are smooth."""
BEACON = 6
"""Radius of the mark that shows the direction of what lies beyond the edge [pixel]."""
FLAT_LIGHT = 0.6
"""Brightness of level ground in `shade`."""
RING = np.linspace(0.0, 2.0 * np.pi, 32, endpoint=False)


def picture(scene: Scene) -> Image:
    """Draw a scene as it asks, with its scale, caption and legend: (rows, columns, 3), both even as videos need it."""
    if scene.camera is not None:
        drawn = in_perspective(scene, scene.camera)
    else:
        drawn = from_above(scene)
        drawn = add_scale(drawn, drawn.shape[1] / float(scene.high[0] - scene.low[0]))
    return label(drawn, scene.caption, scene.legend)


def from_above(scene: Scene) -> Image:
    """Draw a scene: (rows, columns, 3), x to the right and y up, the longer side as the scene asks.

    A scene that is to be seen from the side has z up.
    """
    return _Canvas(scene).image()


class _Canvas:
    """A picture in the making."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        extent = np.maximum(scene.high - scene.low, 1e-9)
        self._scale = FINER * scene.pixels / float(extent.max())
        wide, tall = (FINER * max(round(side * self._scale / FINER), 1) for side in extent.tolist())
        self._size = (wide, tall)
        self._picture = Pillow.new("RGB", self._size, scene.background)
        wrapping = [each for each in scene.items if isinstance(each, HeightField) and each.wrap]
        shape = np.array(wrapping[0].heights.shape[::-1]) if wrapping else np.zeros(2)
        self._period = shape * wrapping[0].spacing if wrapping else shape

    def image(self) -> Image:
        """Draw every item."""
        for item in self._scene.items:
            if isinstance(item, HeightField):
                self._height_field(item)
            elif isinstance(item, Area):
                self._area(item)
            elif isinstance(item, Lines):
                self._lines(item)
            elif isinstance(item, Points):
                self._points(item)
            else:
                self._shape(item)
        return np.asarray(self._picture.reduce(FINER))

    def _place(self, points: Array) -> Array:
        """Points (n, 2) of the plane that is shown, or (n, 3) of space [m], in the picture [pixel]."""
        flat = np.asarray(points, np.float64)
        flat = flat[:, self._scene.axes] if flat.shape[1] > 2 else flat
        placed = (flat - self._scene.low) * self._scale
        return np.column_stack([placed[:, 0], self._size[1] - placed[:, 1]])

    def _shifts(self, points: Array) -> list[Array]:
        """What to add to points (n, 2) so that what leaves a wrapped map on one side is seen on the other."""
        if not self._period.any():
            return [np.zeros(2)]
        home = -self._period * np.floor((points.mean(axis=0) - self._scene.low) / self._period)
        return [home + self._period * (i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)]

    def _height_field(self, field: HeightField) -> None:
        colours = field.colours
        if not field.cells:
            heights, grain = field.heights, field.grain / field.spacing
            if grain > 0.0:
                heights = 0.95 * gaussian_filter(heights, 2.0 * grain) + 0.05 * heights
            around = np.pad(heights, 1, mode="wrap" if field.wrap else "edge")
            light = shade(around, field.spacing)[1:-1, 1:-1, None] / FLAT_LIGHT
            colours = np.clip(colours * (0.25 + 0.75 * light), 0.0, 255.0).astype(np.uint8)
        ny, nx = field.heights.shape
        size = (round(nx * field.spacing * self._scale), round(ny * field.spacing * self._scale))
        method = Pillow.Resampling.NEAREST if field.cells else Pillow.Resampling.BICUBIC
        image = Pillow.fromarray(np.flipud(colours)).resize(size, method)
        # Pixels are around their nodes: the first one's edge is half a spacing before the corner.
        left, low = self._place((field.corner - 0.5 * field.spacing)[None])[0]
        self._picture.paste(image, (round(left), round(low) - size[1]))

    def _area(self, area: Area) -> None:
        if len(area.outline) > 2 and np.isfinite(area.outline).all():
            self._polygon(area.outline[:, self._scene.axes], area.colour, None)

    def _polygon(self, outline: Array, colour: Colour, edge: Colour | None) -> None:
        for shift in self._shifts(outline):
            corners = [tuple(each) for each in self._place(outline + shift).tolist()]
            if len(colour) == 3:
                self._pen().polygon(corners, fill=colour, outline=edge, width=FINER if edge else 0)
                continue
            layer = Pillow.new("RGBA", self._size, (0, 0, 0, 0))
            ImageDraw.Draw(layer).polygon(corners, fill=colour)
            self._picture.paste(layer, (0, 0), layer)

    def _lines(self, lines: Lines) -> None:
        pen, width = self._pen(), max(round(FINER * lines.width), 1)
        places = self._place(lines.ends.reshape(-1, 3)).reshape(-1, 4)
        for line, colour in zip(places.tolist(), each_colour(lines.colours, len(places)), strict=True):
            pen.line(line, fill=colour, width=width)

    def _points(self, points: Points) -> None:
        if points.detail:
            return
        pen, radius = self._pen(), max(points.radius * self._scale, 1.0)
        places = self._place(points.positions)
        for (x, y), colour in zip(places.tolist(), each_colour(points.colours, len(places)), strict=True):
            pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour)

    def _shape(self, shape: Shape) -> None:
        if not np.isfinite(shape.position).all():
            return
        if shape.beacon and self._beacon(shape):
            return
        self._polygon(silhouette(shape, self._scene.axes), shape.colour, EDGE if shape.outlined else None)

    def _beacon(self, shape: Shape) -> bool:
        """Mark the edge of the picture if the shape lies beyond it."""
        at = self._place(shape.position[None])[0]
        edge = np.clip(at, 0, np.array(self._size) - 1)
        if np.array_equal(at, edge):
            return False
        (x, y), radius = edge, BEACON * FINER
        self._pen().ellipse((x - radius, y - radius, x + radius, y + radius), fill=shape.colour, outline=EDGE)
        return True

    def _pen(self) -> Any:
        return ImageDraw.Draw(self._picture)


def silhouette(shape: Shape, axes: tuple[int, int] = (0, 1)) -> Array:
    """The outline of a shape in the plane of two axes, which is from above unless told otherwise: (n, 2) [m]."""
    points = (_surface(shape) @ shape.rotation.T + shape.position)[:, axes]
    return points[ConvexHull(points).vertices]


def _surface(shape: Shape) -> Array:
    """Points (n, 3) whose convex hull is the shape, in its own axes [m]."""
    if shape.kind == "mesh":
        return np.asarray(shape.vertices)
    if shape.kind == "box":
        signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        return signs * np.array(shape.size)
    if shape.kind == "cylinder":
        radius, half = shape.size
        ring = np.column_stack([radius * np.cos(RING), radius * np.sin(RING)])
        return np.concatenate([np.column_stack([ring, np.full(len(ring), z)]) for z in (-half, half)])
    latitudes = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 9)
    ball = np.array([(np.cos(a) * np.cos(b), np.cos(a) * np.sin(b), np.sin(a)) for a in latitudes for b in RING])
    if shape.kind == "capsule":
        radius, half = shape.size
        return np.concatenate([radius * ball + (0.0, 0.0, z) for z in (-half, half)])
    radii = shape.size if len(shape.size) == 3 else 3 * shape.size
    return ball * np.array(radii)
