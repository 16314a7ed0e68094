"""The floor of a plan, in small squares: where a robot can be, and where it has been."""

import math

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from sandlot.errors import SandlotError
from sandlot.physics.walls import block
from sandlot.sensing.plans import Plan

Array = NDArray[np.float64]
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
        covered: (ny, nx) whether it has.
    """

    def __init__(self, plan: Plan, radius: float) -> None:
        """Look where there is room.

        Args:
            plan: Walls and boxes.
            radius: Of the robot [m].

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
        self.free: NDArray[np.bool_] = labels == sizes.argmax()
        self._squares = np.argwhere(self.free)
        reach = math.ceil(radius / self.spacing)
        offsets = np.arange(-reach, reach + 1) * self.spacing
        disc = np.hypot(offsets[:, None], offsets) <= radius
        self.reachable: NDArray[np.bool_] = ndimage.binary_dilation(self.free, disc)
        self.covered = np.zeros_like(self.free)

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

    def forget(self) -> None:
        """Nothing has been covered."""
        self.covered[:] = False

    def cover(self, place: Array) -> float:
        """Cover what the robot's body is on at (2,) [m]; returns how much of it is new [m^2]."""
        low = np.floor((place - self._radius - self._corner) / self.spacing).astype(int)
        high = np.ceil((place + self._radius - self._corner) / self.spacing).astype(int)
        (left, bottom), (right, top) = np.maximum(low, 0), np.maximum(high, 0)
        window = (slice(bottom, top), slice(left, right))
        part = self.covered[window]
        y, x = np.ogrid[: part.shape[0], : part.shape[1]]
        middle = (place - self._corner) / self.spacing - (left + 0.5, bottom + 0.5)
        under = np.hypot(x - middle[0], y - middle[1]) * self.spacing <= self._radius
        new = under & ~part & self.reachable[window]
        part |= new
        return float(new.sum()) * self.spacing**2
