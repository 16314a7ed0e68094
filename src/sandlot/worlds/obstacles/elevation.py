"""What the robot knows of the ground ahead: the seam between the world and perception."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from sandlot.mapping.elevation_map import CELL, ElevationMap
from sandlot.physics.climbing.elevation import elevations
from sandlot.robots.climbers import INTERVAL, Climbers
from sandlot.sensing.panned_laser import MAP_ROWS, PAN_ANGLES, PANS, PannedLaser, View
from sandlot.typing import Array, IntArray


class Elevation(Protocol):
    """An elevation map ahead of each robot. The task calls ``restart`` at each reset, and then ``read`` once a step."""

    def restart(self, which: IntArray) -> None:
        """Forget what these robots have seen."""

    def read(self, climbers: Climbers, which: IntArray, generators: Sequence[np.random.Generator]) -> Array:
        """Look ahead and return the map.

        Args:
            climbers: All robots.
            which: (some,) the robots that look.
            generators: Of each of them, for the noise of its sensor.

        Returns:
            (some, rows, cells) heights above the middle of the body [m]. Cell i of a row of pan angle p is `CELL` i
            ahead of the middle of the body, along its heading, and tan(p) times its distance from the laser to the
            left.
        """


class TrueElevation:
    """The ground as it is: the highest point of each cell."""

    def __init__(self, cells: int, rows: int = 1) -> None:
        """Of so many cells and rows; ``rows`` is one of `MAP_ROWS`."""
        self._cells, self._slopes = cells, np.tan(PAN_ANGLES[MAP_ROWS[rows]])

    def restart(self, which: IntArray) -> None:
        """Nothing to forget."""

    def read(self, climbers: Climbers, which: IntArray, generators: Sequence[np.random.Generator]) -> Array:
        """Read the map from the course."""
        middles, yaw = np.ascontiguousarray(climbers.position[which][:, [0, 2]]), climbers.attitude[which, 2]
        rows, mount = [np.empty((len(which), self._cells)) for _ in self._slopes], climbers.climber.laser.ahead
        for heights, slope in zip(rows, self._slopes, strict=True):
            # The row leads through the laser, not through the middle of the body.
            starts = middles + np.stack([mount * slope * np.sin(yaw), np.zeros_like(yaw)], axis=1)
            elevations(climbers.ground, which, starts, np.cos(yaw) - np.sin(yaw) * slope, CELL, heights)
        return np.stack(rows, axis=1)


class PerceivedElevation:
    """The ground as a panned laser sees it: one scan after each command, fused into a map.

    Only the lines of pan angles that have a row are scanned. The map moves by the true displacement of the robot.

    Attributes:
        map: What the robots know.
    """

    def __init__(self, laser: PannedLaser, count: int, cells: int, rows: int = 1) -> None:
        """Know nothing yet.

        Args:
            laser: On each robot.
            count: Of robots.
            cells: Of a row.
            rows: One of `MAP_ROWS`.
        """
        self._laser, self._rows = laser, MAP_ROWS[rows]
        self.map = ElevationMap(count, cells, self._rows)
        self._driven, self._last = np.zeros(count), np.full((count, 2), np.nan)

    def restart(self, which: IntArray) -> None:
        """Forget what these robots have seen."""
        self.map.forget(which)
        self._driven[which], self._last[which] = 0.0, np.nan

    def read(self, climbers: Climbers, which: IntArray, generators: Sequence[np.random.Generator]) -> Array:
        """Scan, and read the map. A robot whose simulation has exploded sees nothing new."""
        position, attitude, now = climbers.position, climbers.attitude, climbers.time
        looks = np.zeros(climbers.count, np.bool_)
        looks[which] = True
        looks &= ~climbers.exploded
        (dx, dy), yaw = np.nan_to_num(position[:, :2] - self._last).T, attitude[:, 2]
        self._driven[looks] += (dx * np.cos(yaw) + dy * np.sin(yaw))[looks]
        self._last[looks] = position[looks, :2]
        middles, laser = np.ascontiguousarray(position[:, [0, 2]]), climbers.climber.laser
        pans = np.where(looks[:, None], self._pans(now), -1)
        view = View(middles, np.ascontiguousarray(attitude), np.array([laser.ahead, laser.above]), pans)
        ranges = self._laser.scan(climbers.ground, view, dict(zip(which.tolist(), generators, strict=True)))
        self.map.add(ranges, view, self._laser.fan, self._driven, now)
        return self.map.read(self._driven, np.nan_to_num(middles[:, 1]), now, np.nan_to_num(yaw))[which]

    def _pans(self, now: Array) -> IntArray:
        """Pan angles that are scanned now: (count, lines), -1 for those without a row."""
        if self._laser.lines == PANS:
            return np.tile(self._rows, (len(now), 1))
        pans = self._laser.sweep(np.rint(now / INTERVAL).astype(np.int64))
        return np.where(np.isin(pans, self._rows), pans, -1)
