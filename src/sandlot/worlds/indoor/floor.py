"""The floor of a plan, in small squares: where robots can be, and where each has been."""

import math

import numpy as np
from scipy import ndimage

from sandlot.errors import SandlotError
from sandlot.geometry.walls import block
from sandlot.kernels import kernel
from sandlot.places.plans import Plan
from sandlot.typing import Array, BoolArray, IntArray

SPACING = 0.1
"""Of squares [m]; larger where a plan would have too many."""
MOST_SQUARES = 2**22


class Floor:
    """Squares of a plan's floor.

    A robot can be where its disc touches nothing and whence it can go to the rest of the floor: in the largest such
    part of the plan that is not outside of it, and of an image, that is light. Within furniture and beyond the walls
    there is no floor.

    Attributes:
        spacing: Of squares [m].
        free: (ny, nx) whether the middle of a robot can be in the middle of a square.
        reachable: (ny, nx) whether its body can cover the middle of a square.
        covered: (robots, ny, nx) whether the body of each has.
    """

    def __init__(self, plan: Plan, radius: float, robots: int = 1) -> None:
        """Look where there is room.

        Args:
            plan: Walls and boxes.
            radius: Of a robot [m].
            robots: How many there are, each with a floor for itself.

        Raises:
            SandlotError: If there is none.
        """
        low, high = plan.bounds[:2] - SPACING, plan.bounds[2:] + SPACING
        width, depth = high - low
        self.spacing = max(min(SPACING, 0.5 * radius), math.sqrt(width * depth / MOST_SQUARES))
        self._corner, self._plan, self._radius = low, plan, radius
        nx, ny = (math.ceil(side / self.spacing) for side in (width, depth))
        free = np.ones((ny, nx), np.bool_)
        block(plan.segments, plan.circles, radius, self._corner, self.spacing, free)
        labels, count = ndimage.label(free)
        outside = np.unique(np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]]))
        sizes = np.bincount(labels.ravel(), minlength=count + 1)
        sizes[0] = 0
        if len(plan.floor):  # else the largest part will be it
            column, row = ((plan.floor - low) / self.spacing).astype(int).T
            known = np.zeros_like(sizes)
            known[labels[np.clip(row, 0, ny - 1), np.clip(column, 0, nx - 1)]] = 1
            sizes *= known
        closed = sizes.copy()
        closed[outside] = 0
        sizes = closed if closed.any() else sizes
        if not sizes.any():
            raise SandlotError(f"there is no room in this plan for a robot of radius {radius:g} m")
        self.free: BoolArray = labels == sizes.argmax()
        self._squares = np.argwhere(self.free)
        reach = math.ceil(radius / self.spacing)
        offsets = np.arange(-reach, reach + 1) * self.spacing
        disc = np.hypot(offsets[:, None], offsets) <= radius
        self.reachable: BoolArray = ndimage.binary_dilation(self.free, disc)
        self.covered: BoolArray = np.zeros((robots, ny, nx), np.bool_)

    @property
    def area(self) -> float:
        """What a robot's body can cover [m^2]."""
        return float(self.reachable.sum()) * self.spacing**2

    def draw_pose(self, rng: np.random.Generator) -> Array:
        """Somewhere on the floor, with some heading: (3,) [m, m, rad]."""
        row, column = self._squares[rng.integers(len(self._squares))]
        square = self._corner + self.spacing * np.array([column, row])
        place, heading = square + self.spacing * rng.random(2), rng.uniform(-math.pi, math.pi)
        if self._plan.clearance(place) <= self._radius:
            place = square + 0.5 * self.spacing
        return np.array([*place, heading])

    def forget(self, which: IntArray) -> None:
        """Some robots have covered nothing."""
        self.covered[which] = False

    def cover(self, which: IntArray, places: Array) -> Array:
        """Cover what the bodies of some robots are on.

        Args:
            which: (n,) robots.
            places: (n, 2) where they are [m].

        Returns:
            (n,) how much of it is new [m^2].
        """
        squares = np.zeros(len(which), np.int64)
        cover_discs(which, places, self._radius, self._corner, self.spacing, self.reachable, self.covered, squares)
        return squares.astype(np.float64) * self.spacing**2


@kernel(error_model="numpy", allocates=False)
def cover_discs(
    which: IntArray,
    places: Array,
    radius: float,
    corner: Array,
    spacing: float,
    reachable: BoolArray,
    covered: BoolArray,
    squares: IntArray,
) -> None:
    """Cover squares whose middle is under a disc, and that can be reached.

    Args:
        which: (n,) floors to cover.
        places: (n, 2) middles of discs [m].
        radius: Of discs [m].
        corner: (2,) x and y of the corner of the first square [m].
        spacing: Of squares [m].
        reachable: (ny, nx)
        covered: (floors, ny, nx) changed.
        squares: (n,) how many are new is added to it.
    """
    ny, nx = reachable.shape
    for k in range(which.size):
        x, y = places[k, 0] - corner[0], places[k, 1] - corner[1]
        left = max(math.floor((places[k, 0] - radius - corner[0]) / spacing), 0)
        right = min(math.ceil((places[k, 0] + radius - corner[0]) / spacing), nx)
        low = max(math.floor((places[k, 1] - radius - corner[1]) / spacing), 0)
        high = min(math.ceil((places[k, 1] + radius - corner[1]) / spacing), ny)
        x, y = x / spacing - (left + 0.5), y / spacing - (low + 0.5)  # from the first square around
        floor = covered[which[k]]
        for i in range(low, high):
            for j in range(left, right):
                if reachable[i, j] and not floor[i, j] and math.hypot(j - left - x, i - low - y) * spacing <= radius:
                    floor[i, j] = True
                    squares[k] += 1
