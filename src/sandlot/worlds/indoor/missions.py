"""The tasks of the indoor world: cover the floor, reach a goal, or see all of the floor."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandlot.geometry.planar import between, wrap
from sandlot.places.plans import MAX_COORDINATE
from sandlot.typing import Array, BoolArray, IntArray
from sandlot.worlds.indoor.floor import Floor
from sandlot.worlds.indoor.paths import Paths
from sandlot.worlds.indoor.settings import IndoorSettings
from sandlot.worlds.indoor.sight import see

FAR_ENOUGH, TRIES = 1.0, 20
"""A random goal is at least this far from the start [m], unless so many draws find none."""
GOAL_BOUNDS = np.array([4.0 * MAX_COORDINATE, 4.0 * MAX_COORDINATE, np.pi])
"""Of what is observed of a goal [m, m, rad]."""


class Cover:
    """Cover the floor with the body of the robot; this never ends.

    Attributes:
        units: Of the reward.
        observed: How many numbers an observation has besides the ranges and speeds.
        endless: Whether episodes never end.
    """

    units, observed, endless = "m^2", 0, True

    def __init__(self, settings: IndoorSettings, floor: Floor, count: int) -> None:
        self._settings, self._floor, self._count = settings, floor, count

    def restart(self, which: IntArray, poses: Array, rng: Sequence[np.random.Generator]) -> None:
        """Begin new episodes of some robots at poses (n, 3) [m, m, rad]."""

    def look(self, robot: int, beams: Array, ranges: Array) -> None:
        """Take note of a scan: beams (beams, 3) and ranges (beams,) as in `sandlot.worlds.indoor.sight.see`."""

    def reward(self, poses: Array, covered: Array, bumped: BoolArray) -> Array:
        """Rewards (count,) of a step.

        Args:
            poses: (count, 3) after it [m, m, rad].
            covered: (count,) area that was covered in it for the first time [m^2].
            bumped: (count,) whether the robot touched something.
        """
        return covered

    def observe(self, odometry: Array) -> Array:
        """What is observed besides the scan, with poses by odometry (count, 3): (count, observed)."""
        return np.zeros((self._count, self.observed))

    def ends(self, time: Array, bumped: BoolArray) -> tuple[BoolArray, BoolArray]:
        """Which robots have come to the end of their task, and whose episodes are cut off: (count,) each."""
        return np.zeros(self._count, np.bool_), np.zeros(self._count, np.bool_)

    def values(self) -> Mapping[str, NDArray[Any]]:
        """What ``info`` holds of the task: (count,) each."""
        return {}

    def outcomes(self) -> Mapping[str, Array]:
        """Results of the task so far: (count,) each."""
        return {}

    def late(self, time: Array) -> BoolArray:
        """Which robots have used up their time: (count,)."""
        over: BoolArray = time >= self._settings.time_limit - 1e-9
        return over


class Reach(Cover):
    """Reach a goal; the reward is how much shorter the shortest path to it has become.

    Attributes:
        goals: (count, 3) x, y [m], yaw [rad].
        left: (count,) length of the shortest path from each robot to its goal [m].
        reached: (count,) whether each is there.
    """

    units, observed, endless = "m", 3, False

    def __init__(self, settings: IndoorSettings, floor: Floor, count: int) -> None:
        super().__init__(settings, floor, count)
        self.goals, self.left, self.reached = np.zeros((count, 3)), np.zeros(count), np.zeros(count, np.bool_)
        self._offsets = np.zeros((count, 3))
        self._paths = Paths(floor)
        self._fields = np.zeros((count, *floor.free.shape))

    def restart(self, which: IntArray, poses: Array, rng: Sequence[np.random.Generator]) -> None:
        """Draw the goals of some robots, unless the settings give one."""
        for k, pose, chance in zip(which.tolist(), poses, rng, strict=True):
            goal = np.array(self._settings.goal or self._draw(pose, chance))
            self.goals[k] = goal
            self._fields[k] = self._paths.lengths_to(goal[:2])
        self.left[which] = self._paths.lengths(self._fields[which], poses[:, :2], self.goals[which, :2])
        self.reached[which] = False

    def _draw(self, pose: Array, rng: np.random.Generator) -> Array:
        for _ in range(TRIES):
            goal = self._floor.draw_pose(rng)
            if np.hypot(*(goal[:2] - pose[:2])) >= FAR_ENOUGH:
                break
        return goal

    def reward(self, poses: Array, covered: Array, bumped: BoolArray) -> Array:
        """By how much the shortest path to the goal has become shorter [m], and what settings add."""
        before = self.left
        self.left = self._paths.lengths(self._fields, poses[:, :2], self.goals[:, :2])
        near = np.hypot(*(poses[:, :2] - self.goals[:, :2]).T) <= self._settings.goal_distance
        self.reached = near & (np.abs(wrap(poses[:, 2] - self.goals[:, 2])) <= self._settings.goal_angle)
        given = self._settings
        return before - self.left + given.goal_reward * self.reached - given.bump_penalty * bumped

    def observe(self, odometry: Array) -> Array:
        """The goal as seen from the pose by odometry: ahead, to the left [m], and its yaw [rad]."""
        return np.clip(between(odometry, self.goals), -GOAL_BOUNDS, GOAL_BOUNDS)

    def ends(self, time: Array, bumped: BoolArray) -> tuple[BoolArray, BoolArray]:
        """At the goal or with a collision; cut off when time is up."""
        over = self.reached | bumped
        return over, self.late(time) & ~over

    def values(self) -> Mapping[str, NDArray[Any]]:
        """Whether the goal is reached."""
        return {"reached": self.reached.copy(), "is_success": self.reached.copy()}

    def outcomes(self) -> Mapping[str, Array]:
        """Whether the goal is reached, and the shortest path left to it [m]."""
        return {"reached": self.reached.astype(np.float64), "goal_path": self.left.copy()}


class Explore(Cover):
    """See the floor; the reward is the area that beams cross for the first time.

    Attributes:
        seen: (count, ny, nx) squares of the floor that each robot has seen.
        area: (count,) their area [m^2].
        total: Area of the floor within the reach of the robot [m^2].
    """

    endless = False

    def __init__(self, settings: IndoorSettings, floor: Floor, count: int) -> None:
        super().__init__(settings, floor, count)
        self.seen, self.area = np.zeros((count, *floor.reachable.shape), np.bool_), np.zeros(count)
        self.total = floor.area
        self._new = np.zeros(count)

    def restart(self, which: IntArray, poses: Array, rng: Sequence[np.random.Generator]) -> None:
        """Forget what some robots have seen."""
        self.seen[which] = False
        self.area[which] = self._new[which] = 0.0

    def look(self, robot: int, beams: Array, ranges: Array) -> None:
        """Mark what the beams cross."""
        floor = self._floor
        squares = see(beams, ranges, floor.corner, floor.spacing, floor.reachable, self.seen[robot])
        self._new[robot] = squares * floor.spacing**2
        self.area[robot] += self._new[robot]

    def reward(self, poses: Array, covered: Array, bumped: BoolArray) -> Array:
        """Area that was seen for the first time [m^2]."""
        return self._new.copy()

    def ends(self, time: Array, bumped: BoolArray) -> tuple[BoolArray, BoolArray]:
        """When enough was seen; cut off when time is up."""
        return self._enough, self.late(time) & ~self._enough

    @property
    def _enough(self) -> BoolArray:
        """Which robots have seen enough: (count,)."""
        enough: BoolArray = self.area >= self._settings.enough * self.total - 1e-9
        return enough

    def values(self) -> Mapping[str, NDArray[Any]]:
        """The area that was seen [m^2], and whether that is enough."""
        return {"seen": self.area.copy(), "is_success": self._enough}

    def outcomes(self) -> Mapping[str, Array]:
        """Share of the floor that was seen."""
        return {"seen_share": self.area / self.total}


MISSIONS: dict[str, type[Cover]] = {"cover": Cover, "goal": Reach, "explore": Explore}
