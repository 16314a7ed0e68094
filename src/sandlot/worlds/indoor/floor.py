"""The floor of a plan as a grid of small squares: where robots can be, and what each has covered."""

import math

import numpy as np
from scipy import ndimage

from sandlot.errors import PlaceError
from sandlot.geometry.walls import block
from sandlot.kernels import kernel
from sandlot.places.plans import Plan
from sandlot.typing import Array, BoolArray, IntArray

SPACING = 0.1
"""Side of a square [m]; larger where a plan would have too many squares."""
MAX_SQUARES = 2**22

AROUND = 0.5 * np.stack(np.meshgrid(np.arange(-4, 5), np.arange(-4, 5), indexing="ij"), axis=-1).reshape(-1, 2)
"""Points around a robot whose coverage can be observed: (81, 2) ahead and to the left of it [m]."""


class Floor:
    """Squares of a plan's floor.

    The centre of a robot can be where its disc touches nothing. Of the connected regions of such places only one is
    used: the largest one that is enclosed by walls and, if the plan is an image, light. So the inside of furniture and
    the outside of the walls do not count as floor.

    Attributes:
        corner: (2,) x and y of the corner of the first square [m].
        spacing: Side of a square [m].
        free: (ny, nx) whether the centre of a robot can be in the centre of a square.
        reachable: (ny, nx) whether the body of a robot can cover the centre of a square.
        covered: (robots, ny, nx) whether the body of each robot has covered it.
    """

    def __init__(self, plan: Plan, radius: float, robots: int = 1) -> None:
        """Find the free floor.

        Args:
            plan: Walls and boxes.
            radius: Radius of a robot [m].
            robots: How many there are, each with a floor for itself.

        Raises:
            PlaceError: If a robot of this radius fits nowhere.
        """
        low, high = plan.bounds[:2] - SPACING, plan.bounds[2:] + SPACING
        width, depth = high - low
        self.spacing = max(min(SPACING, 0.5 * radius), math.sqrt(width * depth / MAX_SQUARES))
        self.corner, self._plan, self._radius = low, plan, radius
        nx, ny = (math.ceil(side / self.spacing) for side in (width, depth))
        free = np.ones((ny, nx), np.bool_)
        block(plan.walls, radius, self.corner, self.spacing, free)
        labels, count = ndimage.label(free)
        outside = np.unique(np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]]))
        sizes = np.bincount(labels.ravel(), minlength=count + 1)
        sizes[0] = 0
        if len(plan.floor):  # points that are known to be floor
            column, row = ((plan.floor - low) / self.spacing).astype(int).T
            known = np.zeros_like(sizes)
            known[labels[np.clip(row, 0, ny - 1), np.clip(column, 0, nx - 1)]] = 1
            sizes *= known
        closed = sizes.copy()
        closed[outside] = 0
        sizes = closed if closed.any() else sizes
        if not sizes.any():
            raise PlaceError(f"there is no room in this plan for a robot of radius {radius:g} m")
        self.free: BoolArray = labels == sizes.argmax()
        self._squares = np.argwhere(self.free)
        reach = math.ceil(radius / self.spacing)
        offsets = np.arange(-reach, reach + 1) * self.spacing
        disc = np.hypot(offsets[:, None], offsets) <= radius
        self.reachable: BoolArray = ndimage.binary_dilation(self.free, disc)
        self.covered: BoolArray = np.zeros((robots, ny, nx), np.bool_)

    @property
    def area(self) -> float:
        """Area that a robot's body can cover [m^2]."""
        return float(self.reachable.sum()) * self.spacing**2

    def draw_pose(self, rng: np.random.Generator) -> Array:
        """A random free pose: (3,) x, y [m], yaw [rad]."""
        row, column = self._squares[rng.integers(len(self._squares))]
        square = self.corner + self.spacing * np.array([column, row])
        place, yaw = square + self.spacing * rng.random(2), rng.uniform(-math.pi, math.pi)
        if self._plan.clearance(place) <= self._radius:
            place = square + 0.5 * self.spacing
        return np.array([*place, yaw])

    def forget(self, which: IntArray) -> None:
        """Mark everything as not covered by some robots."""
        self.covered[which] = False

    def around(self, poses: Array) -> Array:
        """What each robot at a true pose (robots, 3) [m, m, rad] has covered at the points `AROUND` it: (robots, n).

        1 for a point that its body has covered, 0 for one that it has not, -1 for one that no body can cover.
        """
        c, s = np.cos(poses[:, 2:]), np.sin(poses[:, 2:])
        x = poses[:, :1] + c * AROUND[:, 0] - s * AROUND[:, 1]
        y = poses[:, 1:2] + s * AROUND[:, 0] + c * AROUND[:, 1]
        ny, nx = self.reachable.shape
        column = np.floor((x - self.corner[0]) / self.spacing).astype(np.int64)
        row = np.floor((y - self.corner[1]) / self.spacing).astype(np.int64)
        inside = (column >= 0) & (column < nx) & (row >= 0) & (row < ny)
        column, row = np.where(inside, column, 0), np.where(inside, row, 0)
        covered = self.covered[np.arange(len(poses))[:, None], row, column]
        return np.where(inside & self.reachable[row, column], covered, -1.0)

    def cover(self, which: IntArray, places: Array) -> Array:
        """Mark what is under the bodies of some robots as covered.

        Args:
            which: (n,) robots.
            places: (n, 2) their centres [m].

        Returns:
            (n,) area that was not covered before [m^2].
        """
        squares = np.zeros(len(which), np.int64)
        cover_discs(which, places, self._radius, self.corner, self.spacing, self.reachable, self.covered, squares)
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
    """Mark reachable squares whose centre is under a disc as covered.

    Args:
        which: (n,) index of the floor of each disc.
        places: (n, 2) centres of the discs [m].
        radius: Radius of the discs [m].
        corner: (2,) x and y of the corner of the first square [m].
        spacing: Side of a square [m].
        reachable: (ny, nx)
        covered: (floors, ny, nx) changed in place.
        squares: (n,) changed in place: the number of squares that were not covered before is added.
    """
    ny, nx = reachable.shape
    for k in range(which.size):
        x, y = places[k, 0] - corner[0], places[k, 1] - corner[1]
        left = max(math.floor((places[k, 0] - radius - corner[0]) / spacing), 0)
        right = min(math.ceil((places[k, 0] + radius - corner[0]) / spacing), nx)
        low = max(math.floor((places[k, 1] - radius - corner[1]) / spacing), 0)
        high = min(math.ceil((places[k, 1] + radius - corner[1]) / spacing), ny)
        x, y = x / spacing - (left + 0.5), y / spacing - (low + 0.5)  # in squares, from the centre of the first one
        floor = covered[which[k]]
        for i in range(low, high):
            for j in range(left, right):
                if reachable[i, j] and not floor[i, j] and math.hypot(j - left - x, i - low - y) * spacing <= radius:
                    floor[i, j] = True
                    squares[k] += 1
