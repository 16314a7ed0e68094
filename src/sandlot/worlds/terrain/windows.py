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


def rounded(heights: Array) -> NDArray[np.float32]:
    """Heights as they are recorded [m]."""
    return (np.floor(heights / RESOLUTION + 0.5) * RESOLUTION).astype(np.float32)


@kernel(error_model="numpy")
def record_window(
    heights: Array,
    row: int,
    column: int,
    recorded: NDArray[np.int32],
    recorded_heights: NDArray[np.float32],
    change: NDArray[np.float32],
) -> None:
    """Record what has changed in a window.

    Args:
        heights: (ny, nx) now [m].
        row: Of the window's first node; beyond the map it continues at the opposite edge.
        column: Of the window's first node.
        recorded: (ny, nx) already recorded [micrometre]; updated.
        recorded_heights: (ny, nx) the same [m]; updated.
        change: (rows, columns) to be recorded now [m]; overwritten.
    """
    ny, nx = heights.shape
    change[:] = 0.0
    for i in range(change.shape[0]):
        r = (row + i) % ny
        for j in range(change.shape[1]):
            c = column + j
            c = c + nx if c < 0 else (c - nx if c >= nx else c)
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
    """

    def __init__(self, shape: tuple[int, int], rovers: int, window: int, wrap: bool) -> None:
        """Prepare windows; `restart` comes before the first frame.

        Args:
            shape: (ny, nx) of the map.
            rovers: How many.
            window: Nodes along each side; fewer if the map is smaller.
            wrap: Whether windows continue at the opposite edge; else they stay inside the map.
        """
        self._shape, self._wrap = np.array(shape), wrap
        self._size = np.minimum(window, shape)
        self.change = np.zeros((rovers, *self._size), np.float32)
        self.rows, self.columns = np.zeros((2, rovers), np.int64)
        self._recorded = np.zeros(shape, np.int32)
        self.heights = np.zeros(shape, np.float32)

    def restart(self, heights: Array) -> None:
        """Take the whole map (ny, nx) [m] as recorded."""
        self._recorded[:] = np.floor(heights / RESOLUTION + 0.5)
        np.multiply(self._recorded, RESOLUTION, out=self.heights, casting="same_kind")

    def record(self, heights: Array, nodes: Array) -> None:
        """Record what has changed around rovers.

        Args:
            heights: (ny, nx) now [m].
            nodes: (rovers, 2) row and column of each rover.
        """
        first = np.floor(nodes + 0.5).astype(np.int64) - self._size // 2
        if not self._wrap:
            first = np.clip(first, 0, self._shape - self._size)
        self.rows, self.columns = first.T
        for change, row, column in zip(self.change, self.rows.tolist(), self.columns.tolist(), strict=True):
            record_window(heights, row, column, self._recorded, self.heights, change)


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
