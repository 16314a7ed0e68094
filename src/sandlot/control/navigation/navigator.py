"""Takes a robot to waypoints, or lets it explore: scans and estimated poses in, commands out (6.2, 6.8).

It knows nothing of the world but its map. Whatever is wrong with what it gets is reported in one line, and the robot
stops.
"""

import math
from typing import Literal

import numpy as np

from sandlot.control.navigation.driving import STOP, Command, Mobility, steer
from sandlot.control.navigation.local import find_strangers
from sandlot.control.navigation.memory import Memory
from sandlot.control.navigation.near import Avoidance
from sandlot.control.navigation.planning import EXPLORED, Planner
from sandlot.control.navigation.retreating import PATIENCE, Retreat
from sandlot.errors import SettingError
from sandlot.geometry.planar import between
from sandlot.mapping.grids.cell_map import CellMap
from sandlot.mapping.matching.points import scan_points
from sandlot.mapping.trajectories import Trajectory
from sandlot.recordings.scans import Pose, Scan
from sandlot.typing import Array

Mode = Literal["manual", "semi-autonomous", "autonomous"]
State = Literal["idle", "driving", "arrived", "explored", "stopped"]
LONGEST_DRIVE = 2.0
"""Longest manual drive, as in the source [s]."""
SURE = 10
"""So many scans in a row must show that there is no way, or nothing left to explore, before the robot stops."""
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
        planner: Finds its paths.
        avoidance: Steers near obstacles; None if the planner steers everywhere.
    """

    def __init__(
        self,
        cells: CellMap,
        mobility: Mobility | None = None,
        mode: Mode = "semi-autonomous",
        avoidance: Avoidance | None = None,
    ) -> None:
        """Begin at rest.

        Args:
            cells: The map.
            mobility: What the robot can do.
            mode: Of autonomy.
            avoidance: If given, it steers near obstacles.

        Raises:
            SettingError: If the cells of the map are too large for the robot.
        """
        self.mobility = mobility or Mobility()
        if cells.grid.resolution > WIDEST * self.mobility.radius:
            raise SettingError(
                f"the map has cells of {cells.grid.resolution:g} m; a robot of radius {self.mobility.radius:g} m needs "
                f"cells of at most {WIDEST * self.mobility.radius:g} m"
            )
        self.cells, self.avoidance = cells, avoidance
        self.reset(mode)

    def reset(self, mode: Mode = "semi-autonomous") -> None:
        """Forget all orders, but not the map."""
        self.mode: Mode = mode
        self.state: State = "driving" if mode == "autonomous" else "idle"
        self.report = ""
        self.planner = Planner(self.cells, self.mobility)
        self._memory, self._retreat = Memory(), Retreat()
        self._manual, self._seconds, self._until = STOP, 0.0, -math.inf
        self._pose: Pose | None = None
        self._time, self._doubts = -math.inf, 0

    @property
    def path(self) -> Array:
        """The path that it follows, from the robot on: (n, 2) x, y [m]."""
        return self.planner.path

    def set_mode(self, mode: Mode) -> None:
        """Change the mode; orders of the mode before are forgotten, the map is kept."""
        self.halt()
        self.mode, self.planner.waypoint, self.report = mode, None, ""
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
        self.planner.forget()
        self.planner.waypoint, self._doubts = point, 0
        self._retreat.restart()
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
        self._memory.add(scan, pose)
        if self.state != "driving":
            return STOP
        return self._drive(scan, pose)

    def rebuild(self, trajectory: Trajectory, always: bool = False) -> bool:
        """Build the map again after the poses of earlier scans have been corrected.

        Args:
            trajectory: The poses of all scans, as they are known now.
            always: Also if they have hardly changed.

        Returns:
            Whether any has changed so much that the map was built again.
        """
        changed = self._memory.correct(self.cells, trajectory, always)
        if changed is None:
            return False
        self.planner.explorer.move(self.cells.grid, *changed)
        self.planner.forget()
        self._retreat.forget()
        self._pose = None
        return True

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
        back = self._retreat.update(place, scan.time)
        if self._retreat.stuck:
            return self._give_up(f"blocked at ({pose.x:.2f}, {pose.y:.2f}) for {PATIENCE:g} s")
        if back is not None:
            self.planner.forget()
            self.report = "blocked: going back"
            return self._steer(back, scan, pose, retreat=True)
        problem = self.planner.update(place, scan.time, self._retreat.trail)
        self._doubts = self._doubts + 1 if problem else 0
        self.report = problem or f"driving to the {self.planner.goal}"
        if problem:
            return self._end(problem) if self._doubts >= SURE else STOP
        if not len(self.path):
            return STOP
        point = self.planner.next_point(place)
        return self._arrive() if point is None else self._steer(point, scan, pose)

    def _steer(self, goal: Array, scan: Scan, pose: Pose, retreat: bool = False) -> Command:
        """Drive to a near point (2,) [m] among what the scan shows, and what the map knows of the scans before."""
        target, points = between(pose, np.append(goal, 0.0))[:2], scan_points(scan)
        if self.avoidance is not None and not retreat:
            command = self.avoidance.steer(target, points, scan.time)
            if command is not None:
                self.report = "avoiding an obstacle"
                return command
        earlier = self._memory.points(pose)
        moving = self._memory.add_points(points, find_strangers(self.cells, points, pose), pose)
        speed = scan.speed if math.isfinite(scan.speed) else self.mobility.top_speed
        now = Command(speed, scan.turn_rate if math.isfinite(scan.turn_rate) else 0.0)
        still = np.zeros(len(earlier), np.bool_)
        return steer(target, np.vstack([points, earlier]), np.append(moving, still), now, self.mobility, retreat)

    def _arrive(self) -> Command:
        self._retreat.restart()
        waypoint = self.planner.waypoint
        if waypoint is None:
            self.planner.explorer.look()
        else:
            self.state, self.report = "arrived", f"arrived at ({waypoint[0]:g}, {waypoint[1]:g})"
        self.planner.forget()
        return STOP

    def _give_up(self, problem: str) -> Command:
        self._retreat.restart()
        if self.mode == "autonomous":
            self.planner.explorer.give_up()
            self.planner.forget()
            self.report = problem
            return STOP
        return self._stop(problem)

    def _end(self, report: str) -> Command:
        self._stop(report)
        self.state = "explored" if report == EXPLORED else "stopped"
        return STOP

    def _stop(self, report: str) -> Command:
        self.state, self.report = "stopped", report
        self.planner.forget()
        return STOP
