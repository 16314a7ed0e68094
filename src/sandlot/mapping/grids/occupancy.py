"""An occupancy grid: the log-odds that a cell is occupied, from independent scans (Moravec and Elfes 1985)."""

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.mapping.grids.cell_map import CellMap
from sandlot.mapping.grids.geometry import FREE, OBSTACLE, UNKNOWN, WALL, Grid, Kinds

HIT, MISS = 0.85, -0.4
"""Log-odds that a scan adds where a beam ends, and where it passes: OctoMap's (Hornung et al. 2013)."""
LOWEST, HIGHEST = -2.0, 3.5
"""Bounds of the log-odds, also OctoMap's: so a cell can change its mind."""
OCCUPIED, EMPTY = 0.62, -0.35
"""A cell is a wall above the first (65%), free below the second, so that one beam that passes is enough."""


class OccupancyGrid(CellMap):
    """A grid of log-odds. It does not tell obstacles from walls: all that is occupied is a wall.

    Attributes:
        log_odds: (rows, columns) 0 where nothing is known.
    """

    def __init__(self, grid: Grid, max_range: float = 16.0) -> None:
        """Know nothing; arguments as of `CellMap`."""
        super().__init__(grid, max_range)
        self.log_odds = np.zeros(grid.shape, np.float32)

    @classmethod
    def known(cls, grid: Grid, kinds: Kinds, max_range: float = 16.0) -> "OccupancyGrid":
        """A map that is as sure of each cell as it can be."""
        made = cls(grid, max_range)
        made.kinds[:] = np.where(kinds == OBSTACLE, WALL, kinds)
        made.log_odds[:] = np.array([0.0, LOWEST, HIGHEST, HIGHEST], np.float32)[kinds]
        made._window[:] = (0, grid.shape[0], 0, grid.shape[1])
        return made

    @property
    def probability(self) -> NDArray[np.float32]:
        """That a cell is occupied: (rows, columns)."""
        return (1.0 / (1.0 + np.exp(-self.log_odds))).astype(np.float32)

    @property
    def darkness(self) -> NDArray[np.float32]:
        """Log-odds of walls, relative to the highest: (rows, columns)."""
        return np.where(self.kinds == WALL, self.log_odds / np.float32(HIGHEST), np.float32(0.0))

    def _apply(self, reached: NDArray[np.int32]) -> None:
        add_evidence(reached, self._marks, self.log_odds, self.kinds, self._window)


@kernel(error_model="numpy", allocates=False)
def widen(window: NDArray[np.int32], row: int, column: int) -> None:
    """Make a window (4,), first row, end row, first column, end column, contain a cell."""
    window[0], window[1] = min(window[0], row), max(window[1], row + 1)
    window[2], window[3] = min(window[2], column), max(window[3], column + 1)


@kernel(error_model="numpy", nogil=True, allocates=False)
def add_evidence(
    reached: NDArray[np.int32], marks: Kinds, log_odds: NDArray[np.float32], kinds: Kinds, window: NDArray[np.int32]
) -> None:
    """Add the log-odds of the marks of a scan, and clear the marks.

    Args:
        reached: (n,) indices of the marked cells.
        marks: (rows, columns) what the scan says, cleared in place.
        log_odds: (rows, columns) changed in place.
        kinds: (rows, columns) changed in place.
        window: (4,) of cells that were reached, widened in place.
    """
    columns = marks.shape[1]
    for k in range(reached.size):
        row, column = reached[k] // columns, reached[k] % columns
        odds = log_odds[row, column] + (MISS if marks[row, column] == FREE else HIT)
        odds = min(max(odds, LOWEST), HIGHEST)
        log_odds[row, column] = odds
        kinds[row, column] = WALL if odds > OCCUPIED else FREE if odds < EMPTY else UNKNOWN
        marks[row, column] = 0
        widen(window, row, column)
