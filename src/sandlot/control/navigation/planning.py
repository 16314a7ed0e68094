"""Finds paths over what is known of a map, to a waypoint or to the next frontier, and keeps them up to date."""

import math

import numpy as np

from sandlot.control.navigation.astar import find_path
from sandlot.control.navigation.driving import Mobility
from sandlot.control.navigation.exploring import Explorer
from sandlot.control.navigation.following import ahead_of, is_crossed, pursued
from sandlot.control.navigation.local import Local, look_around
from sandlot.control.navigation.turns import shorten
from sandlot.mapping.grids.cell_map import CellMap
from sandlot.mapping.grids.geometry import OBSTACLE
from sandlot.typing import Array

COMFORT = 0.1
"""Paths stay further from walls than the radius of the robot by this, if there is such a path [m]."""
MARGIN = 0.3
"""Width of the soft boundary around walls [m]."""
LOOKAHEAD = 0.45
"""Distance along the path to the point that it drives to [m]."""
ARRIVED = 0.08
"""A waypoint or a view is reached at this distance [m]."""
REPLAN = 1.0
"""A path is planned anew at least this often [s]."""
RENEW = 0.5
"""Whether a wall has appeared on the path is checked this often [s]."""
EXPLORED = "explored: nothing that can be reached is unknown"
NOWHERE = np.empty((0, 2))


class Planner:
    """Plans over a map. Without a waypoint it explores: then it plans over known cells only.

    Attributes:
        path: (n, 2) x, y from the robot on [m]; empty if there is none.
        waypoint: (2,) x, y [m].
        explorer: Chooses frontiers.
        plans: How often a path was found.
        detours: How often a path was found because a wall had appeared on the one before.
        goal: What it drives to, in words.
    """

    def __init__(self, cells: CellMap, mobility: Mobility) -> None:
        """Begin without a path."""
        self._cells, self._mobility = cells, mobility
        self.explorer = Explorer(cells.grid.shape)
        self.waypoint: Array | None = None
        self.plans = self.detours = 0
        self.forget()

    def forget(self) -> None:
        """Forget the path."""
        self.path: Array = NOWHERE
        self.goal = ""
        self._local: Local | None = None
        self._room, self._trail = 0.0, NOWHERE
        self._planned = self._renewed = -math.inf

    def update(self, place: Array, time: float, trail: Array) -> str:
        """Find a path if there is none, if it is old, or if a wall has appeared on it; returns what is wrong.

        Args:
            place: (2,) where the robot is [m].
            time: Now [s].
            trail: (n, 2) where the robot has been [m]. If walls seem to enclose it, it goes back along that.
        """
        stale = time - self._planned >= REPLAN
        crossed = self._is_crossed(place, time, RENEW if not stale else 0.0)
        if not (crossed or stale) and len(self.path):
            return ""
        problem, least = "", self._mobility.safety + 0.5 * self._cells.grid.resolution
        for self._room, self._trail in ((max(COMFORT, least), NOWHERE), (least, NOWHERE), (least, trail)):
            local = self._look_around(place, time)
            problem = self._find(local, place)
            if not problem:
                self._local, self._planned = local, time
                self.detours += crossed
                return ""
        self.forget()
        return problem

    def next_point(self, place: Array) -> Array | None:
        """The point (2,) of the path to drive to from a place (2,) [m]; None at its end."""
        assert self._local is not None
        self.path = ahead_of(self.path, place, ARRIVED)
        if math.dist(self.path[-1], place) <= ARRIVED:
            return None
        return pursued(self.path, place, self._local, LOOKAHEAD)

    def _is_crossed(self, place: Array, time: float, oldest: float) -> bool:
        """Whether a wall has appeared on the path, by a map at most so old [s]: what is near is in the scan anyway."""
        if self._local is None or not len(self.path):
            return False
        if time - self._renewed >= oldest:
            self._local = self._look_around(place, time)
        return is_crossed(self.path, self._local)

    def _look_around(self, place: Array, time: float) -> Local:
        """The known part of the map, for a robot that stays ``_room`` from walls, except on its trail."""
        self._renewed = time
        points = np.array([place] if self.waypoint is None else [place, self.waypoint])
        radius, through_unknown = self._mobility.radius + self._room, self.waypoint is not None
        return look_around(self._cells, points, radius, MARGIN, through_unknown, self._trail)

    def _find(self, local: Local, place: Array) -> str:
        """Find a path over the known part of the map; returns what is wrong."""
        if self.waypoint is None:
            view = self.explorer.next_view(local, place)
            if view is None:
                return EXPLORED
            goal, name = view, "frontier"
        else:
            x, y = self.waypoint
            goal, name = self.waypoint, f"waypoint ({x:g}, {y:g})"
            if self._cells.kinds[tuple(self._cells.grid.cells(goal))] >= OBSTACLE:
                return f"the {name} is inside a wall or an obstacle"
            if local.weights[local.cell(goal)] == 0:
                return f"the {name} is nearer to a wall than the radius of the robot"
        self.goal = name
        found = find_path(local.weights, local.cell(place), local.cell(goal))
        if found is None:
            if self.waypoint is not None:
                return f"there is no way to the {name}"
            self.explorer.give_up()
            self.path = NOWHERE
            return ""
        self.path = self._cells.grid.centres(shorten(found.cells, local.weights) + local.corner)
        self.path[0], self.path[-1] = place, goal
        self.plans += 1
        return ""
