"""Triangles of what a scene holds: shapes, height fields, lines, points and areas."""

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter

from sandlot.typing import Array, Image, IntArray
from sandlot.worlds.scene import Area, Colour, HeightField, Item, Lines, Points, Shape, each_colour

AROUND, ALONG = 24, 9
"""Corners of a round shape around its axis and along it."""
NEAR = 0.3
"""Share of what is seen of a height field that is drawn with all its nodes."""
RUBBING = 0.06
"""Soil is darker and brighter by up to this share from node to node, so that motion over even ground is visible."""


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles in space.

    Attributes:
        points: (m, 3) [m]
        normals: (m, 3) of the surface at these points; zero where it is lit evenly.
        colours: (m, 3) 0 to 255.
        faces: (n, 3)
        opacity: From 0 to 1.
    """

    points: Array
    normals: Array
    colours: Array
    faces: IntArray
    opacity: float = 1.0


def mesh(item: Item, middle: Array, reach: float, view: Array, pixel: float) -> Mesh | None:
    """The triangles of one item; None if it shows nothing.

    Args:
        item: Of a scene.
        middle: (2,) x and y around which ground that wraps is drawn [m].
        reach: How far from there [m].
        view: (3,) direction of the view; lines and points turn towards it.
        pixel: Size of a pixel there [m].
    """
    if isinstance(item, HeightField):
        return cells_mesh(item) if item.cells else field_mesh(item, middle, reach)
    if isinstance(item, Shape):
        return shape_mesh(item) if np.isfinite(item.position).all() else None
    if isinstance(item, Points):
        return None if item.detail or not len(item.positions) else points_mesh(item)
    if isinstance(item, Lines):
        return lines_mesh(item, view, pixel) if len(item.ends) else None
    return area_mesh(item) if len(item.outline) > 2 and np.isfinite(item.outline).all() else None


def shape_mesh(shape: Shape) -> Mesh:
    """Triangles of a shape, in the world's axes."""
    points, faces = shape_triangles(shape)
    return _flat(points @ shape.rotation.T + shape.position, faces, shape.colour)


def shape_triangles(shape: Shape, around: int = AROUND) -> tuple[Array, IntArray]:
    """Corners (m, 3) [m] of a shape and its triangles (n, 3), in its own axes; counter-clockwise from outside.

    Args:
        shape: Any kind.
        around: Corners of a round shape around its axis.
    """
    if shape.kind == "mesh":
        points = np.asarray(shape.vertices, np.float64)
        faces = np.array([[0, 1, 2]]) if shape.faces is None else np.asarray(shape.faces, np.int64)
        return points, faces
    if shape.kind == "box":
        signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], np.float64)
        quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        return signs * np.array(shape.size), _split(np.array(quads))
    turn = np.linspace(0.0, 2.0 * np.pi, around, endpoint=False)
    if shape.kind == "cylinder":
        radius, half = shape.size
        outline = np.array([(0.0, -half), (radius, -half), (radius, half), (0.0, half)])
    else:
        angles = np.linspace(-0.5 * np.pi, 0.5 * np.pi, ALONG)
        outline = np.column_stack([np.cos(angles), np.sin(angles)])
        if shape.kind == "capsule":
            radius, half = shape.size
            outline = radius * np.insert(outline, ALONG // 2, outline[ALONG // 2], axis=0)
            outline[:, 1] += np.repeat([-half, half], [ALONG // 2 + 1, len(outline) - ALONG // 2 - 1])
    ring = np.column_stack([np.cos(turn), np.sin(turn)])
    points = np.concatenate([np.column_stack([r * ring, np.full(around, z)]) for r, z in outline])
    if shape.kind in ("sphere", "ellipsoid"):
        points = points * np.array(shape.size if len(shape.size) == 3 else 3 * shape.size)
    k, n = np.arange(around), np.arange(len(outline) - 1)[:, None] * around
    following = (k + 1) % around
    faces = _split(np.stack([n + k, n + following, n + around + following, n + around + k], -1).reshape(-1, 4))
    corners = points[faces]  # at both ends of the axis, half of the triangles are only lines
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    return points, faces[area > 1e-9 * max(float(area.max()), 1e-300)]


def field_mesh(field: HeightField, middle: Array, reach: float) -> Mesh:
    """The part of a height field around a place, finer near it; one that wraps goes on at the other edge, once."""
    near = NEAR * reach
    parts = []
    for inner, outer, stride in ((0.0, near, 1), (near, reach, 4)):
        stride = max(stride, round(2.0 * outer / field.spacing / 300))
        rows, columns = (_nodes(field, axis, middle, outer, stride) for axis in (1, 0))
        if len(rows) < 2 or len(columns) < 2:
            continue
        points, normals, colours = _patch(field, rows, columns, stride)
        i, j = np.meshgrid(np.arange(len(rows) - 1), np.arange(len(columns) - 1), indexing="ij")
        if inner > 0.0:  # the finer part covers the middle
            x = np.abs(field.corner[0] + field.spacing * (columns[:-1] + 0.5 * stride) - middle[0])
            y = np.abs(field.corner[1] + field.spacing * (rows[:-1] + 0.5 * stride) - middle[1])
            hole = inner - 1.5 * stride * field.spacing
            left = (x[None] > hole) | (y[:, None] > hole)
            i, j = i[left], j[left]
        first = (i * len(columns) + j).ravel()
        quads = np.column_stack([first, first + 1, first + len(columns) + 1, first + len(columns)])
        parts.append((points, normals, colours, _split(quads)))
    if not parts:
        return Mesh(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3), np.int64))
    starts = np.cumsum([0, *(len(part[0]) for part in parts)])
    faces = np.concatenate([part[3] + start for part, start in zip(parts, starts, strict=False)])
    points, normals, colours = (np.concatenate([part[k] for part in parts]) for k in range(3))
    return Mesh(points, normals, colours, faces)


def _nodes(field: HeightField, axis: int, middle: Array, reach: float, stride: int) -> IntArray:
    """Rows or columns of nodes within reach; beyond the map if it wraps. They stay the same as the view moves on."""
    place = (middle[axis] - field.corner[axis]) / field.spacing
    nodes = field.heights.shape[1 - axis]
    half = min(reach / field.spacing, 0.5 * nodes) if field.wrap else reach / field.spacing
    low, high = (round((place + sign * half) / stride) * stride for sign in (-1, 1))
    if not field.wrap:
        low, high = max(low, 0), min(high, nodes - 1)
    return np.arange(low, high + 1, stride)


def _patch(field: HeightField, rows: IntArray, columns: IntArray, stride: int) -> tuple[Array, Array, Array]:
    """Points, normals and colours of some nodes: (m, 3) each."""
    ny, nx = field.heights.shape
    chosen = np.ix_(rows % ny, columns % nx)
    heights = field.heights[chosen]
    if field.grain > 0.0:
        heights = gaussian_filter(heights, 2.0 * field.grain / (stride * field.spacing))
    gy, gx = np.gradient(heights, stride * field.spacing)
    normals = np.stack([-gx, -gy, np.ones_like(gx)], -1)
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    x, y = (field.corner[k] + field.spacing * each for k, each in enumerate((columns, rows)))
    points = np.stack([*np.broadcast_arrays(x[None, :], y[:, None]), heights], -1)
    # A cheap hash of the node's number.
    mottled = np.sin(12.9898 * (columns % nx)[None, :] + 78.233 * (rows % ny)[:, None]) * 43758.5453
    colours = field.colours[chosen] * (1.0 + RUBBING * (2.0 * (mottled % 1.0) - 1.0))[..., None]
    return points.reshape(-1, 3), normals.reshape(-1, 3), colours.reshape(-1, 3)


def cells_mesh(field: HeightField) -> Mesh:
    """Flat squares at the heights of the cells, with walls between neighbours and around the edge."""
    heights, s = field.heights, field.spacing
    ny, nx = heights.shape
    base = min(float(heights.min()), 0.0) - s
    i, j = (each.ravel() for each in np.indices((ny, nx)))
    x, y = field.corner[0] + s * j, field.corner[1] + s * i
    around = np.pad(heights, 1, constant_values=base)
    tops = _quads(x, y, s, np.stack([heights.ravel()] * 4, -1), ((-1, -1), (1, -1), (1, 1), (-1, 1)))
    quads, colours = [tops], [field.colours.reshape(-1, 3)]
    for (di, dj), ends in {
        (0, 1): ((1, -1), (1, 1)),
        (0, -1): ((-1, 1), (-1, -1)),
        (1, 0): ((1, 1), (-1, 1)),
        (-1, 0): ((-1, -1), (1, -1)),
    }.items():
        beside = around[1 + di : 1 + di + ny, 1 + dj : 1 + dj + nx].ravel()
        k = np.flatnonzero(heights.ravel() > beside)
        low, high = beside[k], heights.ravel()[k]
        quads.append(_quads(x[k], y[k], s, np.stack([low, low, high, high], -1), (ends[0], ends[1], ends[1], ends[0])))
        colours.append(field.colours.reshape(-1, 3)[k])
    corners = np.concatenate(quads)
    faces = _split(np.arange(4 * len(corners)).reshape(-1, 4))
    return _flat(corners.reshape(-1, 3), faces, np.repeat(np.concatenate(colours), 4, axis=0))


def _quads(x: Array, y: Array, side: float, heights: Array, corners: tuple[tuple[int, int], ...]) -> Array:
    """Four corners of each cell: (n, 4, 3); signs of their offsets from the middle, and their heights (n, 4)."""
    offsets = 0.5 * side * np.array(corners, np.float64)
    return np.stack([x[:, None] + offsets[:, 0], y[:, None] + offsets[:, 1], heights], -1)


def points_mesh(points: Points) -> Mesh:
    """Each point as an octahedron."""
    tips = points.radius * np.concatenate([np.eye(3), -np.eye(3)])
    faces = np.array([(0, 1, 2), (1, 3, 2), (3, 4, 2), (4, 0, 2), (1, 0, 5), (3, 1, 5), (4, 3, 5), (0, 4, 5)])
    corners = (points.positions[:, None] + tips).reshape(-1, 3)
    every = (6 * np.arange(len(points.positions))[:, None, None] + faces).reshape(-1, 3)
    colours = np.repeat([each[:3] for each in each_colour(points.colours, len(points.positions))], 6, axis=0)
    return _flat(corners, every, colours)


def lines_mesh(lines: Lines, view: Array, pixel: float) -> Mesh:
    """Each line as a ribbon that faces the viewer."""
    along = lines.ends[:, 1] - lines.ends[:, 0]
    across = np.cross(along, view)
    across *= 0.5 * lines.width * pixel / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-12)
    a, b = lines.ends[:, 0], lines.ends[:, 1]
    corners = np.stack([a - across, a + across, b + across, b - across], 1).reshape(-1, 3)
    colours = np.repeat([each[:3] for each in each_colour(lines.colours, len(a))], 4, axis=0).astype(np.float64)
    return Mesh(corners, np.zeros_like(corners), colours, _split(np.arange(len(corners)).reshape(-1, 4)))


def area_mesh(area: Area) -> Mesh:
    """A flat area as a fan of triangles around its first corner."""
    n, faces = len(area.outline), fan(area.outline)
    colours = np.tile(np.array(area.colour[:3], np.float64), (n, 1))
    opacity = area.colour[3] / 255.0 if len(area.colour) > 3 else 1.0
    return Mesh(np.asarray(area.outline, np.float64), np.zeros((n, 3)), colours, faces, opacity)


def fan(outline: Array) -> IntArray:
    """Triangles (n - 2, 3) of an outline of n corners that can be seen whole from the first of them."""
    k = np.arange(1, max(len(outline) - 1, 1))
    return np.column_stack([np.zeros_like(k), k, k + 1])


def walls(ends: Array, height: float) -> tuple[Array, IntArray]:
    """Upright rectangles over lines: corners (4 n, 3) [m] and triangles (2 n, 3).

    Args:
        ends: (n, 2, 3) of the lines [m].
        height: Of the walls [m].
    """
    corners = np.concatenate([ends, ends[:, ::-1] + (0.0, 0.0, height)], axis=1).reshape(-1, 3)
    return corners, _split(np.arange(len(corners)).reshape(-1, 4))


def _flat(points: Array, faces: IntArray, colours: Colour | Image | Array) -> Mesh:
    """Triangles with sharp edges: every one has its own corners. Colours are one, or one for each point."""
    corners = points[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    given = np.asarray(colours, np.float64)
    own = np.tile(given[:3], (3 * len(faces), 1)) if given.ndim == 1 else given[faces].reshape(-1, 3)
    return Mesh(corners.reshape(-1, 3), np.repeat(normals, 3, axis=0), own, np.arange(3 * len(faces)).reshape(-1, 3))


def _split(quads: IntArray) -> IntArray:
    """Two triangles of each of (n, 4) corners: (2 n, 3)."""
    return np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
