"""Height fields for other viewers: in tiles, each of which is sent again only when it has changed."""

from collections.abc import Iterator

import numpy as np

from sandlot.typing import Array, Image, IntArray
from sandlot.worlds.meshes import Mesh, cells_mesh
from sandlot.worlds.scene import HeightField

TILE = 32
"""Nodes or cells along a side of a tile."""
COARSE = 4
"""Of a tile that nothing has touched, every so many nodes are sent."""
CHANGE = 2e-4
"""Heights that changed by less are not sent again [m]."""


class Tiles:
    """The tiles of all height fields, as they were sent last."""

    def __init__(self) -> None:
        self._sent: dict[str, tuple[Array, Image]] = {}

    def changed(self, field: HeightField) -> Iterator[tuple[str, Mesh]]:
        """Tiles that are new or have changed: a name each, and triangles without normals."""
        ny, nx = field.heights.shape
        for i in range(0, ny, TILE):
            for j in range(0, nx, TILE):
                name = f"{field.name} {i // TILE} {j // TILE}"
                rows, columns = _span(i, ny, field.cells), _span(j, nx, field.cells)
                heights, colours = field.heights[rows, columns], field.colours[rows, columns]
                before = self._sent.get(name)
                if before is not None and before[0].shape == heights.shape:
                    moved = np.abs(heights - before[0]).max() > CHANGE
                    painted = field.cells and not np.array_equal(colours, before[1])
                    if not (moved or painted):
                        continue
                self._sent[name] = heights.copy(), colours.copy()
                corner = field.corner + field.spacing * np.array([j, i])
                part = HeightField(name, heights, field.spacing, corner, colours)
                if field.cells:
                    yield name, flat_mesh(part) if not np.ptp(field.heights) else cells_mesh(part)
                else:
                    yield name, _nodes_mesh(part, COARSE if before is None else 1)


def _span(start: int, end: int, cells: bool) -> slice:
    """Nodes of a tile; neighbours share the nodes between them, but no cells."""
    return slice(start, min(start + TILE + (0 if cells else 1), end))


def _nodes_mesh(field: HeightField, stride: int) -> Mesh:
    rows, columns = (np.unique([*range(0, n, stride), n - 1]) for n in field.heights.shape)
    y, x = np.meshgrid(field.spacing * rows, field.spacing * columns, indexing="ij")
    heights = field.heights[np.ix_(rows, columns)]
    points = np.stack([field.corner[0] + x, field.corner[1] + y, heights], -1).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(len(rows) - 1), np.arange(len(columns) - 1), indexing="ij")
    first, wide = (i * len(columns) + j).ravel(), len(columns)
    faces = np.concatenate(
        [
            np.column_stack([first, first + 1, first + wide + 1]),
            np.column_stack([first, first + wide + 1, first + wide]),
        ]
    )
    colours = field.colours[np.ix_(rows, columns)].reshape(-1, 3).astype(np.float64)
    return Mesh(points, np.zeros_like(points), colours, faces)


def flat_mesh(field: HeightField) -> Mesh:
    """Level cells, one rectangle for each run of the same colour in a row."""
    points: list[Array] = []
    colours: list[Array] = []
    s = field.spacing
    for i, row in enumerate(field.colours):
        starts = np.flatnonzero(np.r_[True, (row[1:] != row[:-1]).any(axis=1)])
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(row)], strict=True):
            x, y = field.corner + s * (np.array([start, i]) - 0.5)
            z, wide = float(field.heights[i, start]), s * (end - start)
            points.append(np.array([(x, y, z), (x + wide, y, z), (x + wide, y + s, z), (x, y + s, z)]))
            colours.append(np.tile(row[start].astype(np.float64), (4, 1)))
    first = 4 * np.arange(len(points))[:, None]
    faces: IntArray = np.concatenate([first + np.array([0, 1, 2]), first + np.array([0, 2, 3])])
    corners = np.concatenate(points)
    return Mesh(corners, np.zeros_like(corners), np.concatenate(colours), faces)
