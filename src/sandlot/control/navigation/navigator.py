"""Takes a robot to waypoints, or lets it explore: scans and estimated poses in, commands out (6.2, 6.8).

It knows nothing of the world but its map. Whatever is wrong with what it gets is reported in one line, and the robot
stops.
"""

import math
from typing import Literal

import numpy as np

from sandlot.control.navigation.astar import find_path
from sandlot.control.navigation.driving import STOP, Command, Mobility, steer
from sandlot.control.navigation.exploring import Explorer
from sandlot.control.navigation.following import ahead_of, is_crossed, pursued
from sandlot.control.navigation.local import Local, find_strangers, look_around
from sandlot.control.navigation.turns import shorten
from sandlot.errors import SettingError
from sandlot.geometry.planar import between
from sandlot.mapping.grids.cell_map import CellMap
from sandlot.mapping.grids.geometry import OBSTACLE
from sandlot.mapping.matching.points import scan_points
from sandlot.mapping.trajectories import Trajectory
from sandlot.recordings.scans import Pose, Scan
from sandlot.typing import Array

Mode = Literal["manual", "semi-autonomous", "autonomous"]
State = Literal["idle", "driving", "arrived", "explored", "stopped"]
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
LONGEST_DRIVE = 2.0
"""Longest manual drive, as in the source [s]."""
SURE = 10
"""So many scans in a row must show that there is no way, or nothing left to explore, before the robot stops."""
EXPLORED = "explored: nothing that can be reached is unknown"
PATIENCE, PROGRESS = 10.0, 0.1
"""A robot that has not moved by the second [m] in the first [s] is blocked."""
APART = 2
"""When the map is built again, one in so many scans is used."""
WIDEST = 0.5
"""Largest side of a cell, relative to the radius of the robot."""


class Navigator:
    """Drives a robot over a map that it updates.

    Modes are those of the source: ``manual`` drives for up to 2 s at a time and does not map; ``semi-autonomous``
    drives to the waypoint that it is given; ``autonomous`` explores until nothing that can be reached is unknown.

    Attributes:
        cells: The map.
        mode: Of autonomy.
        state: ``idle``, ``driving``, ``arrived`` at a waypoint, ``explored``, or ``stopped`` by a problem or `halt`.
        report: One line about the state.
        path: (n, 2) x, y of the path that it follows, from the robot on [m].
        plans: How often a path was found.
    """

    def __init__(self, cells: CellMap, mobility: Mobility | None = None, mode: Mode = "semi-autonomous") -> None:
        """Begin at rest.

        Raises:
            SettingError: If the cells of the map are too large for the robot.
        """
        self.mobility = mobility or Mobility()
        if cells.grid.resolution > WIDEST * self.mobility.radius:
            raise SettingError(
                f"the map has cells of {cells.grid.resolution:g} m; a robot of radius {self.mobility.radius:g} m needs "
                f"cells of at most {WIDEST * self.mobility.radius:g} m"
            )
        self.cells = cells
        self.reset(mode)

    def reset(self, mode: Mode = "semi-autonomous") -> None:
        """Forget all orders, but not the map."""
        self.mode: Mode = mode
        self.state: State = "driving" if mode == "autonomous" else "idle"
        self.report = ""
        self.path: Array = np.empty((0, 2))
        self.plans = 0
        self._waypoint: Array | None = None
        self._explorer = Explorer(self.cells.grid.shape, self.mobility.radius, MARGIN)
        self._scans: list[Scan] = []
        self._manual, self._seconds, self._until = STOP, 0.0, -math.inf
        self._pose: Pose | None = None
        self._time = self._planned = -math.inf
        self._doubts = 0
        self._seen: Local | None = None
        self._renewed = -math.inf
        self._anchor, self._since = np.zeros(2), -math.inf

    def set_mode(self, mode: Mode) -> None:
        """Change the mode; orders of the mode before are forgotten, the map is kept."""
        self.halt()
        self.mode, self._waypoint, self.report = mode, None, ""
        self.state = "driving" if mode == "autonomous" else "idle"

    def go_to(self, x: float, y: float) -> None:
        """Set the waypoint [m], at any time; only in the semi-autonomous mode.

        Raises:
            SettingError: If it is not in the map, or in another mode.
        """
        if self.mode != "semi-autonomous":
            raise SettingError(f"a waypoint needs the semi-autonomous mode; the mode is {self.mode}")
        point = np.array([x, y], np.float64)
        if not (np.isfinite(point).all() and self.cells.grid.contains(self.cells.grid.cells(point))):
            left, right, low, high = self.cells.grid.extent
            raise SettingError(
                f"the waypoint ({x:g}, {y:g}) is outside of the map, x {left:g} to {right:g} m, y {low:g} to {high:g} m"
            )
        self._waypoint, self._planned, self._doubts = point, -math.inf, 0
        self.path = np.empty((0, 2))
        self._since = -math.inf
        self.state, self.report = "driving", f"driving to the waypoint ({x:g}, {y:g})"

    def drive(self, speed: float, turn_rate: float, seconds: float) -> None:
        """Drive by hand from the next step on: at most 2 s, and only in the manual mode.

        Raises:
            SettingError: In another mode, or if a number is not possible.
        """
        if self.mode != "manual":
            raise SettingError(f"driving by hand needs the manual mode; the mode is {self.mode}")
        if not (math.isfinite(speed) and math.isfinite(turn_rate) and 0.0 < seconds <= LONGEST_DRIVE):
            raise SettingError(f"driving by hand takes finite speeds, and above 0 s and at most {LONGEST_DRIVE:g} s")
        top, turn = self.mobility.top_speed, self.mobility.top_turn
        self._manual = Command(min(max(speed, -top), top), min(max(turn_rate, -turn), turn))
        self._seconds, self._until, self.state = seconds, -math.inf, "driving"

    def halt(self) -> None:
        """Stop at once, in any mode; `go_to`, `drive` or `set_mode` go on."""
        self._stop("halted")
        self._seconds, self._until = 0.0, -math.inf

    def step(self, scan: Scan, pose: Pose) -> Command:
        """Add a scan to the map, and say what to do next.

        Args:
            scan: The next scan.
            pose: Where it was made, as far as is known.
        """
        if problem := self._problem(scan, pose):
            self.report = problem
            return STOP
        scan, self._time, self._pose = self._still(scan, pose), scan.time, pose
        if self.mode == "manual":
            if self._seconds > 0.0:  # The time of an order counts from its first step.
                self._seconds, self._until = 0.0, scan.time + self._seconds
            if scan.time < self._until:
                return self._manual
            self.state = "idle" if self.state == "driving" else self.state
            return STOP
        self.cells.update(scan, pose)
        self._scans.append(scan)
        if self.state != "driving":
            return STOP
        return self._drive(scan, pose)

    def rebuild(self, trajectory: Trajectory) -> None:
        """Build the map again after the poses of earlier scans have been corrected.

        Args:
            trajectory: The poses of all scans, as they are known now.
        """
        self.cells.clear()
        poses = trajectory.at(np.array([scan.time for scan in self._scans[::APART]]))
        for scan, pose in zip(self._scans[::APART], poses.tolist(), strict=True):
            self.cells.update(scan, Pose(*pose))
        self._pose, self._planned, self._seen = None, -math.inf, None

    def _problem(self, scan: Scan, pose: Pose) -> str:
        if not all(map(math.isfinite, (scan.time, *pose))):
            return "the pose is unknown"
        if scan.time <= self._time:
            return f"time went backwards, from {self._time:g} s to {scan.time:g} s"
        if not np.isfinite(scan.ranges).any():
            return "the scan has no returns"
        if not self.cells.grid.contains(self.cells.grid.cells(pose[:2])):
            return f"the robot is outside of the map, at ({pose.x:g}, {pose.y:g})"
        return ""

    def _still(self, scan: Scan, pose: Pose) -> Scan:
        """The scan as if all of its beams had been measured at its time."""
        if scan.ages is None or self._pose is None:
            return scan
        velocity = between(self._pose, pose) / max(scan.time - self._time, 1e-3)
        points = scan_points(scan, velocity=velocity)
        ranges, bearings = np.hypot(*points.T).astype(np.float32), np.arctan2(points[:, 1], points[:, 0])
        return Scan(scan.time, ranges, bearings, pose, scan.odometry, scan.speed, scan.turn_rate)

    def _drive(self, scan: Scan, pose: Pose) -> Command:
        place = np.array(pose[:2])
        if self._blocked(place, scan.time):
            return self._give_up(f"blocked at ({pose.x:.2f}, {pose.y:.2f}) for {PATIENCE:g} s")
        stale = not len(self.path) or scan.time - self._planned >= REPLAN
        if stale:
            self._seen = None
        local = self._local(place, scan.time)
        if stale or is_crossed(self.path, local):
            problem = self._plan(local, place, scan.time)
            self._doubts = self._doubts + 1 if problem else 0
            if problem:
                self.report, self.path = problem, np.empty((0, 2))
                return self._end(problem) if self._doubts >= SURE else STOP
            if not len(self.path):
                return STOP
        self.path = ahead_of(self.path, place, ARRIVED)
        if math.dist(self.path[-1], place) <= ARRIVED:
            return self._arrive()
        target = between(pose, np.append(pursued(self.path, place, local, LOOKAHEAD), 0.0))[:2]
        points = scan_points(scan)
        speed = scan.speed if math.isfinite(scan.speed) else self.mobility.top_speed
        return steer(target, points, find_strangers(self.cells, points, pose), speed, self.mobility)

    def _local(self, place: Array, time: float) -> Local:
        """The known part of the map, at most `RENEW` old: what is near is in the scan anyway."""
        if self._seen is None or not time - self._renewed < RENEW:
            points = np.array([place] if self._waypoint is None else [place, self._waypoint])
            unknown = self.mode != "autonomous"
            self._seen = look_around(self.cells, points, self.mobility.radius, MARGIN, unknown)
            self._renewed = time
        return self._seen

    def _plan(self, local: Local, place: Array, time: float) -> str:
        """Find a path to the waypoint or the next frontier; returns what is wrong."""
        if self._waypoint is None:
            view = self._explorer.next_view(local, place)
            if view is None:
                return EXPLORED
            goal, name = view, "frontier"
        else:
            x, y = self._waypoint
            goal, name = self._waypoint, f"waypoint ({x:g}, {y:g})"
            row, column = local.cell(goal)
            if self.cells.kinds[tuple(self.cells.grid.cells(goal))] >= OBSTACLE:
                return f"the {name} is inside a wall or an obstacle"
            if local.weights[row, column] == 0:
                return f"the {name} is nearer to a wall than the radius of the robot"
        found = find_path(local.weights, local.cell(place), local.cell(goal))
        if found is None:
            if self._waypoint is not None:
                return f"there is no way to the {name}"
            self._explorer.give_up()
            return ""
        self.path = self.cells.grid.centres(shorten(found.cells, local.weights) + local.corner)
        self.path[0], self.path[-1] = place, goal
        self.plans += 1
        self._planned, self.report = time, f"driving to the {name}"
        return ""

    def _arrive(self) -> Command:
        if self._waypoint is None:
            self._explorer.look()
            self.path = np.empty((0, 2))
            return STOP
        self.state, self.report = "arrived", f"arrived at ({self._waypoint[0]:g}, {self._waypoint[1]:g})"
        self.path = np.empty((0, 2))
        return STOP

    def _give_up(self, problem: str) -> Command:
        self._since = -math.inf
        if self.mode == "autonomous":
            self._explorer.give_up()
            self.path, self.report = np.empty((0, 2)), problem
            return STOP
        return self._stop(problem)

    def _end(self, report: str) -> Command:
        self._stop(report)
        self.state = "explored" if report == EXPLORED else "stopped"
        return STOP

    def _stop(self, report: str) -> Command:
        self.state, self.report, self.path = "stopped", report, np.empty((0, 2))
        return STOP

    def _blocked(self, place: Array, time: float) -> bool:
        if self._since == -math.inf or np.hypot(*(place - self._anchor)) > PROGRESS:
            self._anchor, self._since = place, time
        return time - self._since > PATIENCE
