"""Draws scenes on the page: what was drawn before is moved, and only what has changed is sent."""

from collections.abc import Iterable
from operator import attrgetter
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from sandlot.lab.ground import AT_ONCE, Ground
from sandlot.typing import Array, Image, IntArray
from sandlot.worlds.meshes import fan, shape_triangles, walls
from sandlot.worlds.scene import Area, Colour, HeightField, Lines, Points, Scene, Shape

LAYER = 0.002
"""Flat items lie this far above one another, relative to the size of what is seen, so that they do not flicker."""
MANY, ROUND, ROUND_OF_MANY = 40, 20, 6
"""Round shapes have this many corners around their axis; fewer if there are many, as triangles cost time."""
VIVID = 1.5
"""By how much the saturation of solid shapes is increased."""
PAINT = 0.6
"""Share of white in the colour of walls, which are dark lines when seen from above."""


class Canvas:
    """One scene on the page, below a frame of its own.

    Attributes:
        frame: All of the scene is below it; moving it moves the scene.
        ground: The height field of the scene, if it has one whose nodes are joined.
    """

    def __init__(self, scene: Any, name: str, at_once: int | None = AT_ONCE) -> None:
        """Draw into a scene of viser (``server.scene``), below ``name``; of ground ``at_once`` tiles, all if None."""
        self._scene, self._name, self._at_once = scene, name, at_once
        self.frame = scene.add_frame(name, show_axes=False)
        self.ground: Ground | None = None
        self._drawn: dict[str, Any] = {}
        self._columns: dict[str, bool] = {}  # whether cells of a field were of different height at first

    def draw(self, scene: Scene, now: float, crop: float | None = None) -> None:
        """Show this scene in place of the one before.

        Args:
            scene: What to draw.
            now: Time by which changes of the ground are shown [s].
            crop: The ground is drawn only this far from what the scene looks at [m].
        """
        keep: set[str] = set()
        focus, reach = scene.looked_at
        for field in (each for each in scene.items if isinstance(each, HeightField)):
            keep.add(self._field(field, focus, reach, now, crop))
        solids = [each for each in scene.items if isinstance(each, Shape)]
        for key, group in _alike(solids).items():
            keep.add(self._solids(key, group))
        for layer, item in enumerate(scene.items):
            lift = LAYER * reach * (1.0 + 0.1 * layer)
            if isinstance(item, Points):
                keep.add(self._points(item, lift))
            elif isinstance(item, Lines):
                keep.add(self._lines(item, lift))
            elif isinstance(item, Area):
                keep.add(self._area(item, lift))
        for key in [key for key in self._drawn if key not in keep]:
            self._drawn.pop(key).remove()

    def settle(self, now: float) -> None:
        """Show changes of the ground that were prepared or still wait; for times when nothing new is drawn."""
        for each in self._drawn.values():
            if isinstance(each, Ground):
                each.settle(now)

    def clear(self) -> None:
        """Take everything off the page."""
        for each in self._drawn.values():
            each.remove()
        self._drawn.clear()
        self.ground = None

    def remove(self) -> None:
        """Take it off the page, with its frame."""
        self.clear()
        self.frame.remove()

    def _field(self, field: HeightField, focus: Array, reach: float, now: float, crop: float | None) -> str:
        key = f"{field.name} {field.heights.shape}"
        columns = field.cells and bool(np.ptp(field.heights) > 0.0)
        if self._columns.setdefault(key, columns):
            return self._cells(key, field)
        ground = self._drawn.get(key)
        if ground is None:
            name = f"{self._name}/{field.name}"
            ground = self._drawn[key] = self.ground = Ground(self._scene, name, field, self._at_once)
        ground.draw(field, focus, reach, now, crop)
        return key

    def _cells(self, key: str, field: HeightField) -> str:
        """Columns with flat tops, each as high as its cell, with a base below the lowest."""
        ny, nx = field.heights.shape
        base = field.spacing
        high = field.heights.ravel() + base
        x, y = np.meshgrid(np.arange(nx), np.arange(ny))
        at = np.column_stack(
            [
                field.corner[0] + field.spacing * x.ravel(),
                field.corner[1] + field.spacing * y.ravel(),
                0.5 * high - base,
            ]
        )
        scales = np.column_stack([np.full((high.size, 2), field.spacing), high])
        colours = field.colours.reshape(-1, 3)
        drawn = self._drawn.get(key)
        if drawn is None:
            unit = Shape("", "box", (0.5, 0.5, 0.5), np.zeros(3), np.eye(3), (0, 0, 0))
            vertices, faces = shape_triangles(unit)
            self._drawn[key] = self._scene.add_batched_meshes_simple(
                f"{self._name}/{field.name}",
                vertices,
                faces,
                np.tile([1.0, 0.0, 0.0, 0.0], (high.size, 1)),
                at,
                batched_scales=scales,
                batched_colors=colours,
                lod="off",
                flat_shading=True,
                cast_shadow=False,
            )
        else:
            drawn.batched_positions, drawn.batched_scales, drawn.batched_colors = at, scales, colours
        return key

    def _solids(self, key: str, group: list[Shape]) -> str:
        """Shapes of the same form, as one mesh that is drawn many times."""
        key = f"{key} {len(group)}"
        at = np.array([each.position for each in group])
        if self.ground is not None:
            at = self.ground.nearest(at)
        turned = quaternions(np.array([each.rotation for each in group]))
        colours = vivid(np.array([each.colour[:3] for each in group]))
        drawn = self._drawn.get(key)
        if drawn is None:
            vertices, faces = shape_triangles(group[0], ROUND if len(group) <= MANY else ROUND_OF_MANY)
            self._drawn[key] = self._scene.add_batched_meshes_simple(
                f"{self._name}/{key}",
                vertices,
                faces,
                turned,
                at,
                batched_colors=colours,
                opacity=opacity(group[0].colour),
                lod="off",
                flat_shading=group[0].kind in ("box", "cylinder", "mesh"),
                side="double" if group[0].kind == "mesh" else "front",
            )
        else:
            drawn.batched_positions, drawn.batched_wxyzs, drawn.batched_colors = at, turned, colours
        return key

    def _points(self, points: Points, lift: float) -> str:
        at = points.positions + _up(lift)
        colours = _each(points.colours, len(at))
        drawn = self._drawn.get(points.name)
        if drawn is None:
            self._drawn[points.name] = self._scene.add_point_cloud(
                f"{self._name}/{points.name}",
                at,
                colours,
                point_size=2.0 * points.radius,
                point_shape="circle",
                precision="float32",
            )
        else:
            drawn.points, drawn.colors = at, colours
        return points.name

    def _lines(self, lines: Lines, lift: float) -> str:
        colours = _each(lines.colours, len(lines.ends))
        key = f"{lines.name} {len(np.unique(colours, axis=0))}"
        drawn = self._drawn.get(key)
        if lines.height:
            if drawn is None:
                self._drawn[key] = _Walls(self._scene, f"{self._name}/{key}", lines, colours)
            return key
        ends, both = lines.ends + _up(lift), np.repeat(colours[:, None], 2, axis=1)
        if drawn is None:
            self._drawn[key] = self._scene.add_line_segments(
                f"{self._name}/{key}", ends, both, thickness=lines.width, thickness_units="screen"
            )
        else:
            drawn.points, drawn.colors = ends, both
        return key

    def _area(self, area: Area, lift: float) -> str:
        corners, faces = area.outline + _up(lift), fan(area.outline)
        drawn = self._drawn.get(area.name)
        if drawn is None:
            self._drawn[area.name] = self._scene.add_mesh_simple(
                f"{self._name}/{area.name}",
                corners,
                faces,
                color=area.colour[:3],
                opacity=opacity(area.colour),
                side="double",
                cast_shadow=False,
                receive_shadow=False,
            )
        else:
            drawn.vertices, drawn.faces = corners, faces
        return area.name


class _Walls:
    """Lines that stand upright: a mesh for each colour."""

    def __init__(self, scene: Any, name: str, lines: Lines, colours: IntArray) -> None:
        self._meshes = []
        for k, colour in enumerate(np.unique(colours, axis=0)):
            vertices, faces = walls(lines.ends[(colours == colour).all(axis=1)], lines.height)
            painted = tuple((colour + PAINT * (255 - colour)).astype(int).tolist())
            self._meshes.append(
                scene.add_mesh_simple(f"{name} {k}", vertices, faces, color=painted, side="double", flat_shading=True)
            )

    def remove(self) -> None:
        for mesh in self._meshes:
            mesh.remove()


def _alike(shapes: Iterable[Shape]) -> dict[str, list[Shape]]:
    """Shapes of the same form and opacity, in the order of their names."""
    exactly: dict[tuple[str, tuple[float, ...], bytes, tuple[int, ...]], list[Shape]] = {}
    for shape in sorted(shapes, key=attrgetter("name")):
        form = b"" if shape.vertices is None else shape.vertices.tobytes()
        exactly.setdefault((shape.kind, shape.size, form, shape.colour[3:]), []).append(shape)
    groups: dict[str, list[Shape]] = {}
    for key, each in exactly.items():  # sizes that differ by rounding only are alike
        groups.setdefault(_name(*key), []).extend(each)
    return groups


def _name(kind: str, size: tuple[float, ...], form: bytes, opacity: tuple[int, ...]) -> str:
    """Of a group of shapes."""
    return " ".join([kind, *(f"{each:.6g}" for each in size), f"{hash(form):x}", *map(str, opacity)])


def _up(height: float) -> Array:
    """A step upwards: (3,) [m]."""
    return np.array([0.0, 0.0, height])


def _each(colours: Colour | tuple[Colour, ...], count: int) -> IntArray:
    """A colour for each of ``count`` things: (count, 3)."""
    given = np.array(colours, np.int64)
    return np.tile(given[:3], (count, 1)) if given.ndim == 1 else given[:, :3]


def vivid(colours: IntArray) -> Image:
    """Colours (n, 3) made more saturated, because viser's tone mapping takes saturation away."""
    mean = colours.mean(axis=1, keepdims=True)
    return np.clip(mean + VIVID * (colours - mean), 0.0, 255.0).astype(np.uint8)


def quaternions(rotations: Array) -> Array:
    """Quaternions (n, 4), the scalar first, of rotations (n, 3, 3)."""
    return np.asarray(Rotation.from_matrix(rotations).as_quat(scalar_first=True))


def opacity(colour: Colour) -> float | None:
    """Opacity of a colour from 0 to 1; None if nothing shines through."""
    return colour[3] / 255.0 if len(colour) > 3 and colour[3] < 255 else None
