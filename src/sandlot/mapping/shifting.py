"""The source's way to measure the error of a maneuver: shift or rotate the grid of a scan until it looks like the next.

The thesis of the indoor rover, sections 6.4.2 (translation) and 6.4.3 (rotation). A scan becomes a binary grid. The
grid before a maneuver, shifted or rotated as commanded, predicts the grid after it. Both are blurred; the further shift
or rotation with the least difference is the error of the maneuver. A maneuver is taken to be a pure translation forward
or a pure rotation, so sideways motion spoils the result; `sandlot.mapping.matching` searches all three at once.
"""

import math
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter

from sandlot.geometry.planar import rotate
from sandlot.typing import Array

Cells: TypeAlias = NDArray[np.float32]

FILLED = 255.0
"""Value of a cell with at least one point."""


class Discretisation(NamedTuple):
    """How scans become grids.

    Attributes:
        size: Side of the square grid around the robot, the source's maximum range [m]. Its figure has 7, of which a
            third or more slides out of view during a move of 2 m; the default is the range of the lidar.
        resolution: Side of a cell, the source's resolution division [m]; 10 mm in its tests.
        blur: Standard deviation of the Gaussian blur [m]. It is the same for any resolution, as in the source, which
            does not give a number.
    """

    size: float = 12.0
    resolution: float = 0.01
    blur: float = 0.05

    @property
    def cells(self) -> int:
        """Rows and columns of a grid."""
        return int(self.size / self.resolution)


DEFAULT = Discretisation()


class Offset(NamedTuple):
    """The error of a maneuver.

    Attributes:
        value: How much further the robot went or turned than commanded [m] or [rad].
        difference: Mean absolute difference of the grids there, 0 to 255.
    """

    value: float
    difference: float


def discretise(points: Array, how: Discretisation = DEFAULT) -> Cells:
    """A grid (cells, cells) of the points (n, 2) in the robot's frame [m]: rows lie along x, columns along y."""
    grid = np.zeros((how.cells, how.cells), np.float32)
    rows, columns = np.floor((points + how.size / 2.0) / how.resolution).astype(np.int64).T
    inside = (rows >= 0) & (rows < how.cells) & (columns >= 0) & (columns < how.cells)
    grid[rows[inside], columns[inside]] = FILLED
    return grid


def shifted(grid: Cells, distance: float, how: Discretisation = DEFAULT) -> Cells:
    """The grid that is expected after a drive forward by this [m]; the rows that come into view are empty."""
    rows = int(abs(distance) / how.resolution + 1e-9) * (1 if distance > 0.0 else -1)
    found = np.zeros_like(grid)
    if abs(rows) < len(grid):
        found[max(-rows, 0) : len(grid) - max(rows, 0)] = grid[max(rows, 0) : len(grid) - max(-rows, 0)]
    return found


def rotated(grid: Cells, angle: float, how: Discretisation = DEFAULT) -> Cells:
    """The grid that is expected after a turn to the left [rad]: each filled cell moves to the one at its new place."""
    centres = (np.argwhere(grid > 0.0) + 0.5) * how.resolution - how.size / 2.0
    return discretise(rotate(centres, -angle), how)


def translation_error(
    before: Array, after: Array, distance: float, how: Discretisation = DEFAULT, limit: float = 0.25, first: float = 0.0
) -> Offset:
    """Compare scans before and after a drive forward.

    Args:
        before: (n, 2) points in the robot's frame [m].
        after: (m, 2) the same, later.
        distance: Commanded [m], negative for backward.
        how: Discretisation.
        limit: Offsets are searched up to this share of the grid, forward and backward.
        first: Offset in the middle of those that are searched [m].
    """
    sigma, size = how.blur / how.resolution, how.cells
    commanded, middle, most = (round(each / how.resolution) for each in (distance, first, limit * how.size))
    later = discretise(after, how)
    later[max(size - max(commanded, 0), 0) :] = 0.0  # rows that were out of view before say nothing
    later[: max(-commanded, 0)] = 0.0
    expected, later = (
        gaussian_filter(grid, sigma) for grid in (shifted(discretise(before, how), distance, how), later)
    )
    filled, best = expected.sum(axis=1), Offset(0.0, math.inf)
    for k in sorted(range(middle - most, middle + most + 1), key=lambda each: abs(each - middle)):
        if abs(k) >= size:
            continue
        # The later grid slides by k rows; rows of the expected one beside it are compared with empty ones.
        low, high = max(k, 0), size + min(k, 0)
        overlap = np.abs(expected[low:high] - later[low - k : high - k]).sum()
        difference = float(overlap + filled[:low].sum() + filled[high:].sum()) / size**2
        if difference < best.difference:
            best = Offset(k * how.resolution, difference)
    return best


def rotation_error(
    before: Array,
    after: Array,
    angle: float,
    how: Discretisation = DEFAULT,
    limit: float = math.radians(20.0),
    step: float = math.radians(0.5),
) -> Offset:
    """Compare scans before and after a turn on the spot.

    Args:
        before: (n, 2) points in the robot's frame [m].
        after: (m, 2) the same, later.
        angle: Commanded, to the left [rad].
        how: Discretisation.
        limit: Offsets are searched up to this, to the left and right [rad].
        step: From one offset to the next [rad].
    """
    sigma, grid = how.blur / how.resolution, discretise(before, how)
    later = gaussian_filter(discretise(after, how), sigma)
    best, most = Offset(0.0, math.inf), int(limit / step + 1e-9)
    for k in sorted(range(-most, most + 1), key=abs):
        expected = gaussian_filter(rotated(grid, angle + k * step, how), sigma)
        difference = float(np.abs(expected - later).mean())
        if difference < best.difference:
            best = Offset(k * step, difference)
    return best
