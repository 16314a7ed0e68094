"""State and rules of the indoor world for a number of robots. `Indoor` has one of them, `IndoorVector` many.

Robots do not meet: each has the floor for itself.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from sandlot.errors import PlaceError, SettingError
from sandlot.places.plans import load_plan
from sandlot.sensing.laser import Chance
from sandlot.typing import Array, BoolArray, IntArray
from sandlot.worlds.indoor.floor import Floor
from sandlot.worlds.indoor.settings import IndoorSettings

ACTION = "a speed [m/s] and a turn rate [rad/s]"
Sensor: TypeAlias = Callable[[Array, Chance], Array]
"""Poses (n, 3) x, y [m], yaw [rad] and random generators in, ranges (n, beams) [m] out; NaN without a return."""


class IndoorTask:
    """Robots that drive, scan and cover the floor.

    Attributes:
        plan: Walls and boxes.
        floor: Where robots can be, and what each has covered.
        laser: Gives the ranges of a scan.
        state: (count,) of the robots, as in `sandlot.robots.round_robot`.
        ranges: (count, beams) of each robot's last scan [m].
        steps: (count,) since the start.
        bumped: (count,) whether each touched a wall in its last step.
        bumps: (count,) number of steps in which it did.
        covered: (count,) area of the floor that its body has covered [m^2].
    """

    def __init__(self, settings: IndoorSettings, count: int = 1, threads: int | None = None) -> None:
        """Make the robots; `restart` puts them on the floor.

        Args:
            settings: Of the world.
            count: How many robots.
            threads: Of the laser, as in `sandlot.sensing.rays.cast`.

        Raises:
            SandlotError: If the plan or the model cannot be read, or there is no room.
        """
        self.settings = settings
        self.plan = load_plan(settings.plan, settings.resolution)
        self.floor = Floor(self.plan, settings.robot.radius, count)
        self.laser: Sensor = lambda poses, rng: settings.laser.scan(self.plan, poses, rng, threads)
        if settings.fidelity == "learned":
            from sandlot.worlds.indoor.learned import learned_laser  # imports this module, to record a log in the world

            self.laser = learned_laser(settings, self.plan)
        if settings.start is not None:
            self.check(settings.start)
        self.all: IntArray = np.arange(count)
        self.state = settings.robot.start(np.zeros((count, 3)))
        self.ranges = np.full((count, settings.laser.beams), np.nan, np.float32)
        self.steps, self.bumps = np.zeros((2, count), np.int64)
        self.bumped, self.covered = np.zeros(count, np.bool_), np.zeros(count)
        self._observed = spaces(settings)[0]

    def check(self, start: object) -> Array:
        """Refuse a start that is not a pose, or where there is no room.

        Returns:
            (3,) x, y [m], yaw [rad].
        """
        try:
            pose = np.asarray(start, np.float64)
        except (TypeError, ValueError):
            pose = np.empty(0)
        if pose.shape != (3,) or not np.isfinite(pose).all():
            raise SettingError("start is x [m], y [m] and yaw [rad]")
        (x, y), radius, bounds = pose[:2], self.settings.robot.radius, self.plan.bounds
        if not ((pose[:2] > bounds[:2]) & (pose[:2] < bounds[2:])).all():
            raise PlaceError(f"start: ({x:g}, {y:g}) is outside of the plan, from {bounds[:2]} to {bounds[2:]} m")
        if self.plan.clearance(pose[:2]) < radius:
            raise PlaceError(f"start: at ({x:g}, {y:g}) there is no room for a robot of radius {radius:g} m")
        return pose

    def restart(self, which: IntArray, poses: Array) -> None:
        """Put some robots at poses (n, 3) [m, m, rad], at rest; `scan` must follow."""
        self.state[which] = self.settings.robot.start(poses)
        self.steps[which] = self.bumps[which] = 0
        self.bumped[which] = False
        self.floor.forget(which)
        self.covered[which] = self.floor.cover(which, np.ascontiguousarray(poses[:, :2]))

    def drive(self, wanted: Array, slips: Array) -> Array:
        """Drive all robots for one interval.

        Args:
            wanted: (count, 2) commanded speed [m/s] and turn rate [rad/s].
            slips: (count, 2) shares of both that are lost to slip.

        Returns:
            (count,) area that is covered for the first time [m^2].
        """
        robot, interval = self.settings.robot, self.settings.interval
        self.bumped = robot.drive(self.state, wanted, slips, self.plan.walls, interval)
        self.steps += 1
        self.bumps += self.bumped
        new = self.floor.cover(self.all, np.ascontiguousarray(self.poses[:, :2]))
        self.covered += new
        return new

    def scan(self, which: IntArray, rng: Chance) -> None:
        """Let some robots scan."""
        self.ranges[which] = self.laser(self.poses[which], rng)

    @property
    def poses(self) -> Array:
        """Poses of the robots: (count, 3) x, y [m], yaw [rad]."""
        return np.stack([self.state.x, self.state.y, self.state.yaw], axis=-1)

    @property
    def time(self) -> Array:
        """Since the start: (count,) [s]."""
        return self.steps.astype(np.float64) * self.settings.interval

    def observe(self) -> NDArray[np.float32]:
        """Observations of the robots, as `Indoor` describes them: (count, beams + 2)."""
        beams, max_range = self.settings.laser.beams, np.float32(self.settings.laser.max_range)
        seen = np.empty((len(self.all), beams + 2), np.float32)
        seen[:, :beams] = np.where(np.isnan(self.ranges), max_range, self.ranges)
        seen[:, beams], seen[:, beams + 1] = self.state.speed, self.state.turn_rate
        return np.clip(seen, self._observed.low, self._observed.high, out=seen)

    def ends(self) -> tuple[BoolArray, BoolArray]:
        """Which robots have come to the end of their task, and whose episodes are cut off: (count,) each."""
        never = np.zeros(len(self.all), np.bool_)
        return never, never

    def values(self) -> Mapping[str, NDArray[Any]]:
        """What ``info`` holds: (count,) each."""
        return {"time": self.time, "bumped": self.bumped, "bumps": self.bumps, "covered": self.covered}


def spaces(settings: IndoorSettings) -> tuple[Box, Box]:
    """The observation and the action space of one robot."""
    top = np.array([settings.robot.top_speed, settings.robot.top_turn], np.float32)
    # Noise may make a range longer than the maximum.
    far = np.full(settings.laser.beams, 2.0 * settings.laser.max_range, np.float32)
    low, high = np.concatenate([0.0 * far, -top]), np.concatenate([far, top])
    return Box(low, high, dtype=np.float32), Box(-top, top, dtype=np.float32)
