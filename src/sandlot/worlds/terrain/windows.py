"""Ground in a recording: height changes in a window around each rover, and sometimes the whole map.

Heights are recorded in whole micrometres. Each frame stores the current height minus the height already recorded, so
that no change is lost by rounding, none is recorded twice where windows overlap, and all changes add up to the map.
"""

import math

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sandlot.errors import RecordingError
from sandlot.kernels import kernel
from sandlot.recordings import settings
from sandlot.typing import Array

RESOLUTION = 1e-6
"""Heights are recorded in multiples of this [m]."""
UNCHANGED = 0.4999 * RESOLUTION
"""Nodes of a row whose heights all differ from the recorded ones by less need no division each [m]."""


def rounded(heights: Array) -> NDArray[np.float32]:
    """Heights as they are recorded [m]."""
    return (np.floor(heights / RESOLUTION + 0.5) * RESOLUTION).astype(np.float32)


@kernel(error_model="numpy", allocates=False)
def may_differ(heights: Array, recorded: NDArray[np.int32]) -> bool:
    """Whether any of some heights (n,) [m] may differ from those recorded (n,) [micrometre]; compiled to SIMD."""
    found = False
    for j in range(len(heights)):
        found |= not abs(heights[j] - recorded[j] * RESOLUTION) < UNCHANGED
    return found


@kernel(error_model="numpy")
def record_windows(
    heights: Array,
    nodes: Array,
    wrap: bool,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    recorded: NDArray[np.int32],
    recorded_heights: NDArray[np.float32],
    changes: NDArray[np.float32],
) -> None:
    """Record what has changed in the windows around rovers.

    Args:
        heights: (ny, nx) now [m].
        nodes: (rovers, 2) row and column of each rover.
        wrap: Whether windows continue at the opposite edge; else they stay inside the map.
        rows: (rovers,) receives the row of each window's first node.
        columns: (rovers,) receives its column.
        recorded: (ny, nx) already recorded [micrometre]; updated.
        recorded_heights: (ny, nx) the same [m]; updated.
        changes: (rovers, rows, columns) to be recorded now [m]; overwritten.
    """
    ny, nx = heights.shape
    for k in range(len(nodes)):
        change = changes[k]
        row = math.floor(nodes[k, 0] + 0.5) - change.shape[0] // 2
        column = math.floor(nodes[k, 1] + 0.5) - change.shape[1] // 2
        if not wrap:
            row, column = min(max(row, 0), ny - change.shape[0]), min(max(column, 0), nx - change.shape[1])
        rows[k], columns[k] = row, column
        change[:] = 0.0
        first = column % nx  # and columns after the last node are the first ones again
        inside = min(change.shape[1], nx - first)
        for i in range(change.shape[0]):
            r = (row + i) % ny
            for begin, end, shift in ((0, inside, first), (inside, change.shape[1], first - nx)):
                part = slice(begin + shift, end + shift)
                if not may_differ(heights[r, part], recorded[r, part]):
                    continue
                for j in range(begin, end):
                    c = j + shift
                    difference = heights[r, c] / RESOLUTION - recorded[r, c]
                    if abs(difference) > 0.5:
                        steps = math.floor(difference + 0.5)
                        recorded[r, c] += steps
                        change[i, j] = steps * RESOLUTION
                        recorded_heights[r, c] = recorded[r, c] * RESOLUTION


class Windows:
    """The height changes of one recording, and the heights that it already holds.

    Attributes:
        change: (rovers, rows, columns) in the last frame [m].
        rows: (rovers,) row of each window's first node.
        columns: (rovers,) column of each window's first node.
        heights: (ny, nx) already recorded [m].
        recorded: (ny, nx) the same [micrometre].
    """

    def __init__(self, shape: tuple[int, int], rovers: int, window: int, wrap: bool) -> None:
        """Prepare windows; `restart` comes before the first frame.

        Args:
            shape: (ny, nx) of the map.
            rovers: How many.
            window: Nodes along each side; fewer if the map is smaller, 0 if changes are not recorded.
            wrap: Whether windows continue at the opposite edge; else they stay inside the map.
        """
        self._wrap = wrap
        self.change = np.zeros((rovers, *np.minimum(window, shape)), np.float32)
        self.rows, self.columns = np.zeros(rovers, np.int64), np.zeros(rovers, np.int64)
        self.recorded = np.zeros(shape, np.int32)
        self.heights = np.zeros(shape, np.float32)

    def restart(self, heights: Array) -> None:
        """Take the whole map (ny, nx) [m] as recorded."""
        self.recorded[:] = np.floor(heights / RESOLUTION + 0.5)
        np.multiply(self.recorded, RESOLUTION, out=self.heights, casting="same_kind")

    def record(self, heights: Array, nodes: Array) -> None:
        """Record what has changed around rovers.

        Args:
            heights: (ny, nx) now [m].
            nodes: (rovers, 2) row and column of each rover.
        """
        record_windows(heights, nodes, self._wrap, self.rows, self.columns, self.recorded, self.heights, self.change)


def rebuild(recording: xr.Dataset, frame: int) -> xr.DataArray:
    """The map of the whole ground at any frame, from the maps and changes of a recording.

    This adds the changes since the last recorded map of the same episode. The result is exact to a micrometre wherever
    windows have been. An episode without a recorded map so far began with the first map of the recording.

    Args:
        recording: Of the terrain world, as `sandlot.recordings.open` gives it.
        frame: Its number, from 0.

    Returns:
        (map_y, map_x) [m], with coordinates [m]

    Raises:
        RecordingError: If there is no such frame, or no map of these random hills was recorded yet.
    """
    frames = recording.sizes["time"]
    if frame not in range(frames):
        raise RecordingError(f"frame={frame} is not in this recording; allowed: whole numbers from 0 to {frames - 1}")
    frame, given = int(frame), settings(recording)
    maps, episode = recording["heights"], recording["episode"].values
    every, dim = maps.attrs.get("every", 1), str(maps.dims[0])
    first = int(np.searchsorted(episode, episode[frame]))
    last_map = frame - frame % every
    if last_map < first and given["terrain"] == "hills":
        raise RecordingError(
            f"no map was kept in frames {first} to {frame}, on new hills; record with a lower map_every"
        )
    heights = maps.isel({dim: last_map // every if last_map >= first else 0}).load()
    total = np.rint(heights.values.astype(np.float64) / RESOLUTION)
    names = ["height_change", "window_row", "window_column"]
    since = recording[names].isel(time=slice(max(last_map, first) + 1, frame + 1))
    for k in range(0, since.sizes["time"], 256):
        _add(total, since.isel(time=slice(k, k + 256)))
    places = {
        name: (name, given["spacing"] * (np.arange(size) - 0.5 * (size - 1)), {"units": "m"})
        for name, size in zip(maps.dims[1:], total.shape, strict=True)
    }
    return heights.copy(data=total * RESOLUTION).drop_vars(dim).assign_coords(places)


def _add(total: Array, since: xr.Dataset) -> None:
    """Add the changes of some frames to heights (ny, nx) [micrometre]."""
    change = since["height_change"].values
    time, rover, i, j = np.nonzero(change)
    steps = np.rint(change[time, rover, i, j].astype(np.float64) / RESOLUTION)
    rows, columns = since["window_row"].values[time, rover] + i, since["window_column"].values[time, rover] + j
    ny, nx = total.shape
    np.add.at(total, (rows % ny, columns % nx), steps)
