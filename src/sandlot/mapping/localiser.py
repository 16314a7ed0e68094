"""Finds a robot in a known map, scan by scan, also from an unknown start."""

import math
from pathlib import Path

import numpy as np

from sandlot.errors import MapError
from sandlot.geometry.planar import between, compose
from sandlot.mapping.grids.files import read_map
from sandlot.mapping.grids.geometry import OBSTACLE, WALL, Grid, Kinds
from sandlot.mapping.mapper import MAX_RANGE, Estimate
from sandlot.mapping.matching.field import CELL, add_points, make_field
from sandlot.mapping.matching.matcher import MIN_POINTS, Expected, Match, align, few_beams, match, refused
from sandlot.mapping.matching.points import sample, scan_points
from sandlot.mapping.matching.search import Window, search
from sandlot.mapping.motion import Motion
from sandlot.recordings.scans import UNKNOWN_POSE, Pose, Scan
from sandlot.typing import Array

LEVELS = 8
"""Of the likelihoods of a map: squares of 128 cells, 6.4 m, are the first to be judged."""
MARGIN = 1.0
"""The map is taken to be this much wider [m]."""
SEARCHED = 0.15
"""Distance between the points of a scan that the whole map is searched with [m]."""
MIN_SCORE, MIN_FIT, MIN_OVERLAP = 0.55, 0.7, 0.6
"""Score of a search of the whole map; and shares of the points that have to fit, and to lie near occupied cells."""
MAX_REFUSED = 3
"""After more scans than this that do not match, the robot is searched in the whole map: it may have been carried."""

WIDEST = 0.2
"""Widest cells of a map [m]: any scan fits into walls as thick as wider ones."""


class Localiser:
    """Finds a robot in a known map.

    The first scan, and one after several that did not match, is searched in the whole map, at all yaws. All others are
    matched near where they are expected.

    Args:
        grid: Where the cells of the map lie.
        kinds: (rows, columns) what they are; walls and obstacles are what scans are matched with.
        start: First pose [m, rad], if it is known; errors up to half a metre and 45 degrees are found.
        odometry: Whether to use the odometry and the inertial yaw of the scans, where they have any.
        mount: Position of the laser on the robot [m].

    Attributes:
        located: Whether the robot's pose is known.
        searches: How often the whole map was searched.

    Raises:
        MapError: The map has no walls, or cells too wide to locate a robot.
    """

    def __init__(
        self,
        grid: Grid,
        kinds: Kinds,
        start: Pose | None = None,
        odometry: bool = True,
        mount: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        if grid.resolution > WIDEST:
            raise MapError(
                f"the map has cells of {grid.resolution:g} m; to locate a robot, it needs at most {WIDEST:g} m; "
                "is the resolution right?"
            )
        walls = grid.centres(np.argwhere((kinds == WALL) | (kinds == OBSTACLE)))
        if len(walls) < MIN_POINTS:
            raise MapError(f"the map has {len(walls)} occupied cells; a robot can be located with {MIN_POINTS} or more")
        low, high = walls.min(axis=0), walls.max(axis=0)
        self._centre = np.array([*(low + high) / 2.0, 0.0])
        self._field = make_field(float((high - low).max()) / 2.0 + MARGIN, LEVELS)
        add_points(self._field, _dense(walls - self._centre[:2], grid.resolution))
        self.mount, self.located, self.searches = mount, start is not None, 0
        self._motion, self._refused = Motion(odometry), 0
        self._local = np.zeros(3) if start is None else between(self._centre, start)

    @classmethod
    def read(
        cls, path: str | Path, start: Pose | None = None, odometry: bool = True, mount: tuple[float, float] = (0.0, 0.0)
    ) -> "Localiser":
        """Read the map from a ``map.yaml``; arguments as of the class.

        Raises:
            PlaceError: The map cannot be read.
            MapError: It has no walls.
        """
        saved = read_map(path)
        return cls(saved.grid, saved.kinds, start, odometry, mount)

    def add(self, scan: Scan, yaw: float = math.nan) -> Estimate:
        """Locate a scan.

        Args:
            scan: The next scan.
            yaw: Of an inertial unit at the time of the scan; NaN for the one that the scan has, if any [rad].

        Returns:
            Pose in the map, NaN if it is not known. If the scan was refused, the pose is predicted.
        """
        moved = self._motion.predict(scan, yaw)
        points = scan_points(scan, self.mount, moved.velocity, MAX_RANGE)
        guess = compose(self._local, moved.pose)
        if self.located and self._refused <= MAX_REFUSED:
            found = strict(match(self._field, points, Expected(guess, moved.distance, moved.turn)))
        else:
            found = self.search(points)
            self.located = not found.reason
        pose = guess if found.reason else found.pose
        # A search may find the robot anywhere, which says nothing about its velocity.
        jumped = self._refused > MAX_REFUSED or not self.located
        self._motion.update(scan, yaw, moved.pose if jumped else between(self._local, pose))
        self._refused = self._refused + 1 if found.reason else 0
        self._local = pose
        where = Pose(*compose(self._centre, pose).tolist()) if self.located else UNKNOWN_POSE
        return Estimate(where, found.information, found.reason)

    def search(self, points: Array) -> Match:
        """Search the whole map for a scan (n, 2) in the robot's frame [m]."""
        self.searches += 1
        origin = np.zeros(3)
        if len(points) < MIN_POINTS:
            return refused(origin, few_beams(points))
        anywhere = Window(self._field.half, math.pi, math.inf, math.inf, 0.0)
        found = search(self._field, sample(points, SEARCHED), origin, anywhere, MIN_SCORE)
        if found.score <= MIN_SCORE:
            return refused(origin, "the scan fits nowhere in the map")
        return strict(align(self._field, points, np.array(found[:3]), score=found.score))


def strict(found: Match) -> Match:
    """Refuse a match that would do while a map grows, but not in a map that is complete."""
    if found.reason or (found.fit >= MIN_FIT and found.overlap >= MIN_OVERLAP):
        return found
    return refused(found.pose, f"at the best place in the map only {found.fit * found.overlap:.0%} of the scan fits")


def _dense(points: Array, resolution: float) -> Array:
    """Points (n, 2) of cells, several for each if cells are wider than those of a field [m]."""
    per = max(1, math.ceil(resolution / CELL - 1e-6))
    offsets = resolution * ((np.arange(per) + 0.5) / per - 0.5)
    grid = np.stack(np.meshgrid(offsets, offsets), axis=-1).reshape(-1, 2)
    return np.asarray((points[:, None] + grid).reshape(-1, 2))
