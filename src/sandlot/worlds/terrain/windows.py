"""What is told of the ground in a recording: the changes in a window around each rover, and the map now and then.

Heights are told in whole micrometres, as integers: what is told now is what they are less what was told before. So no
change is lost by rounding, none is told twice where windows overlap, and the sum of what was told is the map.
"""

import math

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sandlot.errors import SandlotError
from sandlot.kernels import kernel
from sandlot.recordings import settings
from sandlot.typing import Array

GRAIN = 1e-6
"""Changes are told in multiples of this [m]."""


@kernel(error_model="numpy")
def look(
    heights: Array,
    row: int,
    column: int,
    told: NDArray[np.int32],
    shown: NDArray[np.float32],
    change: NDArray[np.float32],
) -> None:
    """Tell what has changed in a window.

    Args:
        heights: (ny, nx) as they are [m].
        row: Of the window's first node; beyond the map it goes on at the other edge.
        column: Of the window's first node.
        told: (ny, nx) as they have been told, in grains; changed.
        shown: (ny, nx) the same in metres; changed.
        change: (rows, columns) what is told now [m].
    """
    ny, nx = heights.shape
    change[:] = 0.0
    for i in range(change.shape[0]):
        r = (row + i) % ny
        for j in range(change.shape[1]):
            c = column + j
            c = c + nx if c < 0 else (c - nx if c >= nx else c)
            off = heights[r, c] / GRAIN - told[r, c]
            if abs(off) > 0.5:
                grains = math.floor(off + 0.5)
                told[r, c] += grains
                change[i, j] = grains * GRAIN
                shown[r, c] = told[r, c] * GRAIN


@kernel(error_model="numpy")
def sample(heights: Array, row: float, column: float, wrap: bool) -> float:
    """Height between nodes [m]; beyond the map that of its edge, unless it goes on at the other one."""
    ny, nx = heights.shape
    if not wrap:
        row, column = min(max(row, 0.0), ny - 1.0), min(max(column, 0.0), nx - 1.0)
    i, j = math.floor(row), math.floor(column)
    v, u = row - i, column - j
    below, above, left, right = i % ny, (i + 1) % ny, j % nx, (j + 1) % nx
    south = heights[below, left] * (1.0 - u) + heights[below, right] * u
    north = heights[above, left] * (1.0 - u) + heights[above, right] * u
    return south * (1.0 - v) + north * v


@kernel(error_model="numpy")
def sample_patch(heights: Array, row: float, column: float, yaw: float, wrap: bool, patch: Array) -> None:
    """Heights around a rover, turned with it, into ``patch`` (n, n) [m]: rows to its left, columns ahead."""
    n, c, s = len(patch), math.cos(yaw), math.sin(yaw)
    for i in range(n):
        left = i - 0.5 * (n - 1)
        for j in range(n):
            ahead = j - 0.5 * (n - 1)
            patch[i, j] = sample(heights, row + s * ahead + c * left, column + c * ahead - s * left, wrap)


class Windows:
    """Keeps account of what has been told.

    Attributes:
        change: (rovers, rows, columns) what was told last [m].
        rows: (rovers,) of each window's first node.
        columns: (rovers,) of each window's first node.
        shown: (ny, nx) the map as it has been told [m].
    """

    def __init__(self, shape: tuple[int, int], rovers: int, window: int, wrap: bool) -> None:
        """Nothing is told yet.

        Args:
            shape: (ny, nx) of the map.
            rovers: How many.
            window: Nodes along each side; fewer if the map is smaller.
            wrap: Whether windows go on at the other edge; else they stay inside the map.
        """
        self._shape, self._wrap = np.array(shape), wrap
        self._size = np.minimum(window, shape)
        self.change = np.zeros((rovers, *self._size), np.float32)
        self.rows, self.columns = np.zeros((2, rovers), np.int64)
        self._told = np.zeros(shape, np.int32)
        self.shown = np.zeros(shape, np.float32)

    def restart(self, heights: Array) -> None:
        """Take the whole map as told."""
        self._told[:] = np.floor(heights / GRAIN + 0.5)
        np.multiply(self._told, GRAIN, out=self.shown, casting="same_kind")
        self.change[:] = 0.0

    def place(self, nodes: Array) -> None:
        """Put the windows around rovers at ``nodes`` (rovers, 2), row and column."""
        first = np.floor(nodes + 0.5).astype(np.int64) - self._size // 2
        if not self._wrap:
            first = np.clip(first, 0, self._shape - self._size)
        self.rows, self.columns = first.T

    def tell(self, heights: Array) -> None:
        """Tell what has changed in the windows."""
        for change, row, column in zip(self.change, self.rows.tolist(), self.columns.tolist(), strict=True):
            look(heights, row, column, self._told, self.shown, change)


def rebuild(recording: xr.Dataset, frame: int) -> xr.DataArray:
    """The map of the whole ground at any frame, from the maps and changes of a recording.

    To the last map that was kept in the same episode, the changes told since are added: that is exact to a micrometre
    wherever windows have been. Where none was kept yet, an episode begins with the map of the first one.

    Args:
        recording: Of the terrain world, as `sandlot.recordings.open` gives it.
        frame: Its number, from 0.

    Returns:
        (map_y, map_x) [m], with coordinates [m]

    Raises:
        SandlotError: If there is no such frame, or the terrain was drawn anew and no map of it kept yet.
    """
    frames = recording.sizes["time"]
    if frame not in range(frames):
        raise SandlotError(f"frame={frame} is not in this recording; allowed: whole numbers from 0 to {frames - 1}")
    frame, given = int(frame), settings(recording)
    maps, episode = recording["heights"], recording["episode"].values
    every, dim = maps.attrs.get("every", 1), str(maps.dims[0])
    first = int(np.searchsorted(episode, episode[frame]))
    kept = frame - frame % every
    if kept < first and given["terrain"] == "hills":
        raise SandlotError(f"no map was kept in frames {first} to {frame}, on new hills; record with a lower map_every")
    heights = maps.isel({dim: kept // every if kept >= first else 0}).load()
    told = np.rint(heights.values.astype(np.float64) / GRAIN)
    since = recording[["change", "window_row", "window_column"]].isel(time=slice(max(kept, first) + 1, frame + 1))
    for k in range(0, since.sizes["time"], 256):
        _add(told, since.isel(time=slice(k, k + 256)))
    places = {
        name: (name, given["spacing"] * (np.arange(size) - 0.5 * (size - 1)), {"units": "m"})
        for name, size in zip(maps.dims[1:], told.shape, strict=True)
    }
    return heights.copy(data=told * GRAIN).drop_vars(dim).assign_coords(places)


def _add(told: Array, since: xr.Dataset) -> None:
    """Add the changes of some frames, in grains."""
    change = since["change"].values
    time, rover, i, j = np.nonzero(change)
    grains = np.rint(change[time, rover, i, j].astype(np.float64) / GRAIN)
    rows, columns = since["window_row"].values[time, rover] + i, since["window_column"].values[time, rover] + j
    ny, nx = told.shape
    np.add.at(told, (rows % ny, columns % nx), grains)
