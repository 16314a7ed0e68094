"""What the robot knows of the ground ahead: the seam between the world and perception."""

from typing import Protocol

import numpy as np

from sandlot.mapping.elevation_map import CELL, ElevationMap
from sandlot.physics.climbing.elevation import elevations
from sandlot.robots.climbers import INTERVAL, Climbers
from sandlot.sensing.panned_laser import PAN_ANGLES, PANS, PannedLaser, View
from sandlot.typing import Array, IntArray

ROWS = {1: np.array([9]), 5: np.array([5, 7, 9, 11, 13]), PANS: np.arange(PANS)}
"""Pan angles of the rows, as indices of `PAN_ANGLES`, by the number of rows: straight ahead; -20 to 20 degrees in steps
of 10 (section 5.2 of the source); -45 to 45 degrees in steps of 5 (equation 27)."""


class Elevation(Protocol):
    """An elevation map ahead of each robot. The task calls ``restart`` at each reset and ``read`` once a step."""

    def restart(self, which: IntArray, generators: list[np.random.Generator]) -> None:
        """Forget what these robots have seen; the sensors' noise is drawn from their generators."""

    def read(self, climbers: Climbers) -> Array:
        """Heights of the cells above the middle of the body: (count, rows, cells) [m].

        Cell i of a row of pan angle p is `CELL` i ahead of the middle of the body, along its heading, and tan(p) times
        that to the left.
        """


class TrueElevation:
    """The ground as it is: the highest point of each cell."""

    def __init__(self, cells: int, rows: int = 1) -> None:
        """Of so many cells and rows; ``rows`` is one of `ROWS`."""
        self._cells, self._slopes = cells, np.tan(PAN_ANGLES[ROWS[rows]])

    def restart(self, which: IntArray, generators: list[np.random.Generator]) -> None:
        """Nothing to forget."""

    def read(self, climbers: Climbers) -> Array:
        """Heights of the cells above the middle of the body: (count, rows, cells) [m]."""
        yaw, rows = climbers.attitude[:, 2], len(self._slopes)
        scales = np.cos(yaw)[:, None] - np.sin(yaw)[:, None] * self._slopes
        found = np.empty((climbers.count, rows, self._cells))
        starts = np.ascontiguousarray(climbers.position[:, [0, 2]])
        for row in range(rows):
            heights = np.empty((climbers.count, self._cells))
            elevations(climbers.ground, starts, np.ascontiguousarray(scales[:, row]), CELL, heights)
            found[:, row] = heights
        return found


class PerceivedElevation:
    """The ground as a panned laser sees it: one scan after each command, fused into a map.

    Only the lines of pan angles that have a row are scanned. The map moves by the true displacement of the robot.
    """

    def __init__(self, laser: PannedLaser, count: int, cells: int, rows: int = 1) -> None:
        """Know nothing yet.

        Args:
            laser: On each robot.
            count: Of robots.
            cells: Of a row.
            rows: One of `ROWS`.
        """
        self._laser, self._rows = laser, ROWS[rows]
        self.map = ElevationMap(count, cells, self._rows)
        self._driven, self._last, self._time = np.zeros(count), np.zeros((count, 2)), np.full(count, np.nan)
        self._generators = [np.random.default_rng(0)] * count

    def restart(self, which: IntArray, generators: list[np.random.Generator]) -> None:
        """Forget what these robots have seen."""
        self.map.forget(which)
        self._driven[which], self._time[which] = 0.0, np.nan
        for k, each in zip(np.asarray(which).tolist(), generators, strict=True):
            self._generators[k] = each

    def read(self, climbers: Climbers) -> Array:
        """Scan with robots for which time has passed, and read all maps: (count, rows, cells) [m]."""
        position, attitude, now = climbers.position, climbers.attitude, climbers.time
        due = (now != self._time) & np.isfinite(position).all(axis=1) & np.isfinite(attitude).all(axis=1)
        moved = np.where((due & (now > self._time))[:, None], position[:, :2] - self._last, 0.0)
        yaw = attitude[:, 2]
        self._driven += np.where(due, moved[:, 0] * np.cos(yaw) + moved[:, 1] * np.sin(yaw), 0.0)
        self._last = np.where(due[:, None], position[:, :2], self._last)
        self._time = np.where(due, now, self._time)
        middles = np.ascontiguousarray(position[:, [0, 2]])
        mount = np.array([climbers.climber.laser.ahead, climbers.climber.laser.above])
        view = View(middles, np.ascontiguousarray(attitude), mount, np.where(due[:, None], self._pans(now), -1))
        ranges = self._laser.scan(climbers.ground, view, self._generators)
        self.map.add(ranges, view, self._laser.fan, self._driven, now)
        return self.map.read(self._driven, middles[:, 1], now)

    def _pans(self, now: Array) -> IntArray:
        """Pan angles that are scanned now: (count, lines), -1 for those without a row."""
        if self._laser.lines == PANS:
            return np.tile(self._rows, (len(now), 1))
        pans = self._laser.sweep(np.rint(now / INTERVAL).astype(np.int64))
        return np.where(np.isin(pans, self._rows), pans, -1)
