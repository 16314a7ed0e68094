"""An occupancy grid: the log-odds that a cell is occupied, from independent scans (Moravec and Elfes 1985)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.mapping.grids.cell_map import CellMap
from sandlot.mapping.grids.geometry import FREE, OBSTACLE, UNKNOWN, WALL, Grid, Kinds

HIT, MISS = 0.85, -0.4
"""Log-odds that a scan adds where a beam ends, and where it passes: OctoMap's (Hornung et al. 2013)."""
LOWEST, HIGHEST = -2.0, 3.5
"""Bounds of the log-odds, also OctoMap's: so that a few scans can change whether a cell is occupied."""
OCCUPIED, EMPTY = 1.0, -0.7
"""A cell is a wall above the first (73%), and free below the second (33%): two scans must agree."""


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

    def clear(self) -> None:
        """Know nothing again."""
        super().clear()
        self.log_odds[:] = 0.0

    @property
    def probability(self) -> NDArray[np.float32]:
        """That a cell is occupied: (rows, columns)."""
        return (1.0 / (1.0 + np.exp(-self.log_odds))).astype(np.float32)

    def sureness(self, where: Any) -> NDArray[np.float32]:
        """Log-odds of walls, relative to the highest."""
        return np.where(self.kinds[where] == WALL, self.log_odds[where] / np.float32(HIGHEST), np.float32(0.0))

    def _apply(self, reached: NDArray[np.int32]) -> None:
        add_evidence(reached, self._marks.ravel(), self.log_odds.ravel(), self.kinds.ravel())


@kernel(error_model="numpy", nogil=True, allocates=False)
def add_evidence(reached: NDArray[np.int32], marks: Kinds, log_odds: NDArray[np.float32], kinds: Kinds) -> None:
    """Add the log-odds of the marks of a scan, and clear the marks.

    Args:
        reached: (n,) indices of the marked cells.
        marks: (cells,) what the scan says, cleared in place.
        log_odds: (cells,) changed in place.
        kinds: (cells,) changed in place.
    """
    for k in range(reached.size):
        cell = reached[k]
        odds = log_odds[cell] + (MISS if marks[cell] == FREE else HIT)
        odds = min(max(odds, LOWEST), HIGHEST)
        log_odds[cell] = odds
        kinds[cell] = WALL if odds > OCCUPIED else FREE if odds < EMPTY else UNKNOWN
        marks[cell] = 0
