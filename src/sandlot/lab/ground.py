"""Height fields on the page, cut into tiles: only tiles whose heights have changed are sent again.

A tile is a mesh of few triangles with a texture that has a pixel for each node: its colour, and the light on its slope.
Triangles are costly where a page is drawn without a graphics card, and pixels of a texture are not. A tile that changes
is prepared out of sight and shown a moment later, because a browser needs some time to read a texture.
"""

from typing import Any

import numpy as np

from sandlot.lab.glb import surface_glb
from sandlot.typing import Array, Image, IntArray
from sandlot.worlds.scene import HeightField

TILE = 120
"""Cells along each side of a tile."""
NOTICED = 0.03
"""A tile is drawn anew when a height in it has changed by more than this, relative to the spacing of nodes."""
SUN = np.array([-0.5, -0.45, 0.74])
"""Direction to the sun."""
AMBIENT, DIFFUSE = 0.42, 0.82
"""Light on every slope, and on one that faces the sun."""
TRIANGLES = 7_000
"""Of all tiles around the focus."""
NEAR, FAR = (2, 3, 4, 5, 6, 10, 12, 15), 15
"""Nodes between two vertices of a tile around the focus, the first that keeps to `TRIANGLES`, and of any other tile."""
AT_ONCE = 1
"""Tiles that are drawn anew in one frame while a browser watches; the others wait for the next. A browser that gets
more than it can read shows holes."""
HIDDEN = 0.4
"""For so long a new tile is prepared out of sight [s]."""
DOWN = 2.0
"""A tile that was replaced lies this far below, relative to the spacing; a slow browser shows it instead of a hole."""
BELOW = 0.4
"""For so long it lies there [s]; then it is hidden, because a browser without a graphics card takes long to draw it."""
SKIRT = 4.0
"""Edges of tiles are drawn down by this, relative to the spacing, to close gaps between fine and coarse tiles."""


class Ground:
    """A height field whose nodes are joined.

    Attributes:
        sent: Number of tiles that were drawn or drawn anew so far.
    """

    def __init__(self, scene: Any, name: str, field: HeightField, at_once: int | None = AT_ONCE) -> None:
        """Prepare to draw it below ``name``, at most ``at_once`` tiles anew in one frame; all if None."""
        self._spacing, self._at_once, self.sent = field.spacing, at_once, 0
        ny, nx = field.heights.shape
        self._period = field.spacing * np.array([nx, ny]) if field.wrap else None
        self._corner = field.corner
        # A field that wraps has one more row and one more column, which join it to its other edge.
        rows, columns = (np.arange(n + field.wrap) for n in (ny, nx))
        self._tiles = [
            _Tile(scene, f"{name}/{i // TILE} {j // TILE}", field, rows[i : i + TILE + 1], columns[j : j + TILE + 1])
            for i in range(0, len(rows) - 1, TILE)
            for j in range(0, len(columns) - 1, TILE)
        ]
        self._counts = np.array([-(-(len(each) - 1) // TILE) for each in (columns, rows)])
        self._middles = np.array([tile.middle for tile in self._tiles])
        self._offsets = np.zeros_like(self._middles)
        self._last: tuple[HeightField, Array, float, float | None] | None = None  # drawn last, while tiles may wait

    def draw(self, field: HeightField, focus: Array, reach: float, now: float, crop: float | None = None) -> None:
        """Draw tiles that have changed.

        Args:
            field: The field as it is now.
            focus: (3,) around which the ground is drawn finely, and, if it wraps, drawn at all [m].
            reach: As far from the focus as this [m].
            now: Time by which new tiles are shown [s].
            crop: Tiles further from the focus than this are hidden [m].
        """
        if self._period is not None:
            self._move(self._period * np.rint((focus[:2] - self._middles) / self._period))
        away = np.abs(self._middles + self._offsets - focus[:2]).max(axis=1)
        near = away < 1.5 * reach + 0.5 * TILE * self._spacing
        fine = next((each for each in NEAR if near.sum() * 2 * (TILE / each + 2) ** 2 <= TRIANGLES), FAR)
        drawn = 0
        since = np.array([tile.since for tile in self._tiles])
        for k in np.lexsort((away, since)):  # those that have waited longest first, so that none is forgotten
            tile = self._tiles[k]
            tile.swap(now)
            if crop is not None:
                tile.frame.visible = bool(away[k] < crop)
            if self._at_once is None or drawn < self._at_once or not tile.shown:
                drawn += tile.draw(field, fine if near[k] else FAR, now)
        self.sent += drawn
        waits = drawn or any(tile.prepared for tile in self._tiles)
        self._last = (field, focus, reach, crop) if waits else None

    def settle(self, now: float) -> None:
        """Show tiles that were prepared, and draw those that still wait; for times when the field stays as it is."""
        if self._last is not None:
            field, focus, reach, crop = self._last
            self.draw(field, focus, reach, now, crop)
            return
        for tile in self._tiles:
            tile.swap(now)

    def _move(self, offsets: Array) -> None:
        for k in np.flatnonzero((offsets != self._offsets).any(axis=1)):
            self._tiles[k].frame.position = (*offsets[k], 0.0)
        self._offsets = offsets

    def nearest(self, positions: Array) -> Array:
        """Where things at ``positions`` (..., 3) [m] are drawn: on the tile that shows the ground below them."""
        if self._period is None:
            return positions
        placed, size = positions.copy(), TILE * self._spacing
        away = np.mod(positions[..., :2] - self._corner, self._period)
        column, row = np.minimum(away // size, self._counts - 1).astype(np.int64).T
        placed[..., :2] = self._corner + away + self._offsets[row * self._counts[0] + column]
        return placed

    def remove(self) -> None:
        """Take it off the page."""
        for tile in self._tiles:
            tile.frame.remove()


class _Tile:
    """A part of a field: two meshes, of which one is shown while the other is prepared.

    Attributes:
        middle: (2,) [m]
        frame: Both meshes are below it.
        shown: Number of the mesh that is shown, from 1; 0 if none is.
        since: When it was drawn last [s].
    """

    def __init__(self, scene: Any, name: str, field: HeightField, rows: IntArray, columns: IntArray) -> None:
        ny, nx = field.heights.shape
        self._scene, self._name, self._rows, self._columns = scene, name, rows, columns
        # One node more on each side, for slopes.
        around = [np.arange(each[0] - 1, each[-1] + 2) for each in (rows, columns)]
        self._nodes = np.ix_(
            *(each % n if field.wrap else np.clip(each, 0, n - 1) for each, n in zip(around, (ny, nx), strict=True))
        )
        # The tile's own nodes, as a slice, which is quick to compare.
        self._own = tuple(slice(int(each[0]), int(each[-1]) + 1) for each in (rows, columns))
        self._corner, self._spacing = field.corner, field.spacing
        self.middle = field.corner + 0.5 * field.spacing * np.array([columns[0] + columns[-1], rows[0] + rows[-1]])
        self.frame = scene.add_frame(name, show_axes=False)
        self.shown, self.since, self._stride, self._ready, self._over = 0, 0.0, 0, 0.0, 0.0
        self._meshes: dict[int, Any] = {}
        self._drawn, self._painted = np.zeros((0, 0)), np.zeros((0, 0, 3), np.uint8)

    @property
    def prepared(self) -> bool:
        """Whether a new mesh of it is still out of sight."""
        return self._ready > 0.0

    def draw(self, field: HeightField, stride: int, now: float) -> bool:
        """Prepare it anew, if it has changed and no other change is under way; whether it did."""
        if self._ready or not (stride != self._stride or self._changed(field)):
            return False
        self._stride, self.since = stride, now
        self._drawn, self._painted = field.heights[self._own].copy(), field.colours[self._own].copy()
        data = self._glb(field.heights[self._nodes], field.colours[self._nodes])
        number = 2 if self.shown == 1 else 1
        if number in self._meshes:
            self._meshes[number].visible, self._over = False, 0.0
            self._meshes[number].position = (0.0, 0.0, 0.0)
            self._meshes[number].glb_data = data
        else:
            self._meshes[number] = self._scene.add_glb(
                f"{self._name}/{number}", data, cast_shadow=False, visible=not self.shown
            )
        if self.shown:
            self._ready = now + HIDDEN
        else:
            self.shown = number
        return True

    def swap(self, now: float) -> None:
        """Show the mesh that was prepared, once a browser has read it, and later hide the one before."""
        if self._over and now >= self._over:
            self._over = 0.0
            self._meshes[3 - self.shown].visible = False
        if self._ready and now >= self._ready:
            self._ready, self._over = 0.0, now + BELOW
            self._meshes[3 - self.shown].visible = True
            self._meshes[self.shown].position = (0.0, 0.0, -DOWN * self._spacing)
            self.shown = 3 - self.shown

    def _changed(self, field: HeightField) -> bool:
        """Whether it looks different from what was drawn."""
        if not self.shown or np.abs(field.heights[self._own] - self._drawn).max() > NOTICED * self._spacing:
            return True
        # The colour of ground follows its height; a flat floor has only its colour.
        return field.cells and not np.array_equal(field.colours[self._own], self._painted)

    def _glb(self, heights: Array, colours: Image) -> bytes:
        return surface_glb(*self._mesh(heights), self._lit(heights, colours))

    def _mesh(self, heights: Array) -> tuple[Array, Array, IntArray]:
        """Vertices (n, 3) [m], their places in the texture (n, 2), and triangles (m, 3)."""
        rows, columns = (_every(len(each), self._stride) for each in (self._rows, self._columns))
        z = heights[1:-1, 1:-1][np.ix_(rows, columns)]
        z[[0, -1]] -= SKIRT * self._spacing
        z[1:-1, [0, -1]] -= SKIRT * self._spacing
        x = self._corner[0] + self._spacing * (self._columns[0] + columns)
        y = self._corner[1] + self._spacing * (self._rows[0] + rows)
        vertices = np.stack([*np.meshgrid(x, y), z], axis=-1).reshape(-1, 3)
        u, v = np.meshgrid((columns + 0.5) / len(self._columns), (rows + 0.5) / len(self._rows))
        return vertices, np.stack([u, v], axis=-1).reshape(-1, 2), quads(len(rows), len(columns))

    def _lit(self, heights: Array, colours: Image) -> Image:
        """The colours of the nodes, with the light on their slopes."""
        dx = (heights[1:-1, 2:] - heights[1:-1, :-2]) / (2.0 * self._spacing)
        dy = (heights[2:, 1:-1] - heights[:-2, 1:-1]) / (2.0 * self._spacing)
        facing = (SUN[2] - SUN[0] * dx - SUN[1] * dy) / np.sqrt(1.0 + dx * dx + dy * dy)
        light = AMBIENT + DIFFUSE * np.maximum(facing, 0.0)
        return np.minimum(colours[1:-1, 1:-1] * light[..., None], 255.0).astype(np.uint8)


def _every(count: int, stride: int) -> IntArray:
    """Numbers of nodes from the first to the last; both ends twice, for the skirt."""
    inner = np.unique(np.append(np.arange(0, count - 1, stride), count - 1))
    return np.concatenate([inner[:1], inner, inner[-1:]])


def quads(rows: int, columns: int) -> IntArray:
    """Two triangles for each cell between nodes: (2 cells, 3) vertex indices."""
    first = (columns * np.arange(rows - 1)[:, None] + np.arange(columns - 1)).reshape(-1, 1, 1)
    return np.asarray((first + np.array([[0, 1, columns + 1], [0, columns + 1, columns]])).reshape(-1, 3))
