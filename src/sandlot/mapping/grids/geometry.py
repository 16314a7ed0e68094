"""The geometry of a grid map: where its cells lie, and what a cell can be."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sandlot.errors import PlaceError
from sandlot.typing import Array, BoolArray, IntArray

UNKNOWN, FREE, OBSTACLE, WALL = 0, 1, 2, 3
"""What a cell is. Maps that do not tell obstacles from walls call all of them walls."""
Kinds = NDArray[np.uint8]
"""(rows, columns) of `UNKNOWN`, `FREE`, `OBSTACLE`, `WALL`; the lowest row first."""
MAX_CELLS = 2**26
"""Of a grid: 8192 x 8192."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Square cells; rows lie along y, columns along x.

    Attributes:
        origin: x, y of the lower left corner [m].
        resolution: Side of a cell [m].
        shape: Number of rows and of columns.
    """

    origin: tuple[float, float]
    resolution: float
    shape: tuple[int, int]

    def __post_init__(self) -> None:
        if not (0.0 < self.resolution < math.inf and all(math.isfinite(each) for each in self.origin)):
            raise PlaceError(f"a grid with cells of {self.resolution:g} m from {self.origin} is not possible")
        if not (min(self.shape) >= 1 and self.shape[0] * self.shape[1] <= MAX_CELLS):
            rows, columns = self.shape
            raise PlaceError(
                f"a grid of {rows:,} x {columns:,} cells is not possible; allowed: 1 to {MAX_CELLS:,} cells"
            )

    @classmethod
    def around(cls, points: ArrayLike, resolution: float, margin: float = 0.0) -> Self:
        """The smallest grid with all points (..., 2) at least ``margin`` [m] from its border; NaN is left out.

        Its corners are at multiples of the resolution.
        """
        places = np.asarray(points, np.float64).reshape(-1, 2)
        if not np.isfinite(places).all(axis=1).any():
            raise PlaceError("a grid around no points is not possible")
        low = np.floor((np.nanmin(places, axis=0) - margin) / resolution)
        columns, rows = np.floor((np.nanmax(places, axis=0) + margin) / resolution) - low + 1.0
        if not rows * columns <= MAX_CELLS:
            raise PlaceError(f"points are {rows * resolution:g} m apart, too far for cells of {resolution:g} m")
        x, y = (low * resolution).tolist()
        return cls((x, y), resolution, (int(rows), int(columns)))

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, right, lower and upper border [m], as Matplotlib's ``imshow`` takes them."""
        (x, y), (rows, columns) = self.origin, self.shape
        return x, x + columns * self.resolution, y, y + rows * self.resolution

    def to_cells(self, points: ArrayLike) -> Array:
        """Points (..., 2) x, y [m] as distances from the origin [cell]; their floor is column and row."""
        return (np.asarray(points, np.float64) - self.origin) / self.resolution

    def cells(self, points: ArrayLike) -> IntArray:
        """Row and column of the cell around each point: (..., 2); it may lie outside."""
        return np.floor(self.to_cells(points)[..., ::-1]).astype(np.int64)

    def centres(self, cells: ArrayLike) -> Array:
        """Centres x, y [m] of cells (..., 2) given by row and column."""
        return (np.asarray(cells, np.float64)[..., ::-1] + 0.5) * self.resolution + self.origin

    def contains(self, cells: ArrayLike) -> BoolArray:
        """Whether each cell (..., 2), given by row and column, is one of this grid."""
        each = np.asarray(cells)
        return np.asarray(((each >= 0) & (each < self.shape)).all(axis=-1))
