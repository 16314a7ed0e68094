"""Goals of rovers: where they are, how far it is to them, and who has reached one."""

import numpy as np

from sandlot.errors import PlaceError
from sandlot.geometry.planar import wrap
from sandlot.typing import Array, BoolArray, IntArray
from sandlot.worlds.terrain.grid import Grid
from sandlot.worlds.terrain.settings import TerrainSettings

INNER, TRIES = 0.9, 100
"""Random goals lie within this share of the ground; after so many tries that do not, the last is moved there."""
OBSERVED = 2
"""Numbers that a rover observes of its goal: distance [m] and bearing [rad]."""


class Goals:
    """A goal for each of a number of rovers.

    Attributes:
        places: (rovers, 2) x and y [m].
        left: (rovers,) distance to the goal [m]; 0 once it was reached.
        reached: (rovers,) whether each has reached its goal.
    """

    def __init__(self, settings: TerrainSettings, grid: Grid, count: int) -> None:
        """Make room for the goals; `restart` places them.

        Raises:
            PlaceError: If the goal of the settings is beyond the ground.
        """
        self._settings, self._half, self._wrap = settings, 0.5 * grid.size, grid.wrap
        self.places, self.left, self.reached = np.zeros((count, 2)), np.zeros(count), np.zeros(count, np.bool_)
        if settings.goal is not None and not grid.contains(np.array([settings.goal])):
            x, y = settings.goal
            raise PlaceError(f"goal: ({x:g}, {y:g}) is beyond the ground, {grid.size[0]:g} x {grid.size[1]:g} m")

    def restart(self, which: IntArray, positions: Array, rng: np.random.Generator) -> None:
        """Draw goals of some rovers around their positions (n, 2) [m], unless the settings give one."""
        given = self._settings
        for k, position in zip(which.tolist(), positions, strict=True):
            if given.goal is not None:
                self.places[k] = given.goal
                continue
            for _ in range(TRIES):
                bearing, distance = rng.uniform(-np.pi, np.pi), rng.uniform(0.5, 1.0) * given.goal_range
                place = position + distance * np.array([np.cos(bearing), np.sin(bearing)])
                if self._wrap or (np.abs(place) <= INNER * self._half).all():
                    break
            self.places[k] = place if self._wrap else np.clip(place, -INNER * self._half, INNER * self._half)
        self.reached[which] = False
        self.left[which] = np.hypot(*(self.places[which] - positions).T)

    def advance(self, positions: Array, moved: BoolArray | None = None) -> Array:
        """Progress of each rover to its goal, from positions (rovers, 2): (rovers,) [m].

        Args:
            positions: (rovers, 2) after the step [m].
            moved: (rovers,) which rovers count; all if left out.
        """
        counts = ~self.reached if moved is None else moved & ~self.reached
        left = np.hypot(*(self.places - positions).T)
        arrived = counts & (left <= self._settings.goal_distance)
        progress = np.where(counts, self.left - left, 0.0)
        self.left = np.where(counts, np.where(arrived, 0.0, left), self.left)
        self.reached = self.reached | arrived
        return progress

    def observe(self, positions: Array, yaws: Array) -> Array:
        """Distance [m] and bearing relative to the yaw, positive to the left [rad]: (rovers, 2)."""
        # Contiguous: NumPy has other loops for strided numbers, with other last digits.
        x, y = np.ascontiguousarray((self.places - positions).T)
        return np.column_stack([np.hypot(x, y), wrap(np.arctan2(y, x) - yaws)])
