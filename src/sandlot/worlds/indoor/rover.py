"""A simulated rover behind the interface of a real one (`sandlot.robots.driver`); its true pose is kept in `Truth`."""

import math
from typing import Any

import numpy as np

from sandlot.errors import SandlotError, SettingError
from sandlot.geometry.planar import between
from sandlot.places.plans import Plan
from sandlot.recordings.scans import Pose, Scan
from sandlot.robots.driver import Chassis, Sensed
from sandlot.robots.tracked_rover import TrackedRover, substeps
from sandlot.typing import Array
from sandlot.worlds.indoor.settings import IndoorSettings
from sandlot.worlds.indoor.task import IndoorTask, walk_around

LONGEST = 3600.0
"""Longest order [s]."""


class Truth:
    """What a rover cannot know, for scoring.

    Attributes:
        plan: Walls and furniture.
        start: (3,) pose at which the rover was switched on [m, m, rad].
        pose: (3,) present pose.
        path: Pose after each order: (3,) each.
        bumps: Number of pieces of an order, of at most one turn of the lidar, in which it touched something.
    """

    def __init__(self, plan: Plan, start: Array) -> None:
        """Of a rover that was switched on at a pose (3,)."""
        self.plan, self.start, self.pose, self.path, self.bumps = plan, start, start, [start], 0

    @property
    def moved(self) -> Array:
        """The present pose as seen from the start: what perfect odometry would say: (3,) [m, m, rad]."""
        return between(self.start, self.pose)


class IndoorRover:
    """A tracked rover in a floor plan; `simulate` makes one.

    Attributes:
        chassis: Size, speed and encoders.
    """

    def __init__(self, task: IndoorTask, truth: Truth, rng: np.random.Generator) -> None:
        """Take one rover of an indoor world, which has been restarted.

        Raises:
            SettingError: If its robot is not tracked.
        """
        settings = task.settings
        if not isinstance(settings.robot, TrackedRover):
            raise SettingError(f"a rover has tracks; robot.kind={settings.robot.kind} has none; set robot.kind=tracked")
        self._task, self._truth, self._rng = task, truth, rng
        self._rover, self._encoders, self._lidar = settings.robot, settings.encoders, settings.lidar
        self._state: Any = task.body.state
        streams = rng.integers(2**64, size=1, dtype=np.uint64)
        self._odometry = self._encoders.start(np.zeros((1, 3)), streams)
        self._turn = substeps(self._rover, self._lidar.period)  # ticks of a turn of the lidar
        self._ticks, self._trace = 0, [truth.start]
        rover, tick = self._rover, self._lidar.period / self._turn
        self.chassis = Chassis(rover.radius, rover.top_speed, rover.turning_width, self._encoders.travel, tick)

    def drive(self, left: float, right: float, seconds: float) -> Sensed:
        """Let the tracks run at these speeds [m/s] for a time [s]; they go on until the next order.

        Raises:
            SandlotError: If a number is not finite, or the time is not above 0 and at most an hour.
        """
        if not (math.isfinite(left) and math.isfinite(right)):
            raise SandlotError(f"drive: speeds of tracks are finite [m/s], not {left} and {right}")
        if not 0.0 < seconds <= LONGEST:
            raise SandlotError(f"drive: seconds={seconds} is not possible; allowed: above 0 and at most {LONGEST:g}")
        return self._sense(self._run(left, right, max(round(seconds / self.chassis.tick), 1)))

    def halt(self) -> Sensed:
        """Switch both motors off, and return when the tracks are at rest."""
        return self._sense(self._come_to_rest())

    def scan(self, turns: int = 1) -> Sensed:
        """Halt, and let the lidar make so many whole turns at rest; only these are returned."""
        if turns < 1:
            raise SandlotError(f"scan: turns={turns} is not possible; allowed: a whole number at least 1")
        self._come_to_rest()
        rest = -self._ticks % self._turn  # of the turn during which it came to rest
        scans = self._run(0.0, 0.0, rest + turns * self._turn)
        return self._sense(scans[-turns:])

    def _come_to_rest(self) -> list[Scan]:
        scans = []
        while self._state.speed_left[0] or self._state.speed_right[0]:
            scans += self._run(0.0, 0.0, 1)
        return scans

    def _run(self, left: float, right: float, ticks: int) -> list[Scan]:
        """Simulate; pieces end where a turn of the lidar ends."""
        scans, speeds = [], np.array([[left, right]])
        while ticks > 0:
            piece = min(ticks, self._turn - self._ticks % self._turn)
            seconds = piece * self.chassis.tick
            walk_around(self._task, 0, seconds)
            walls = self._task.surroundings(0).walls
            trace, bumped = self._rover.drive(self._state, speeds, walls, seconds, piece)
            self._encoders.read(self._odometry, trace[:, :, 3:], self.chassis.turning_width, seconds)
            self._trace.extend(trace[0, 1:, :3])
            self._ticks, ticks = self._ticks + piece, ticks - piece
            self._truth.pose = trace[0, -1, :3]
            self._truth.bumps += int(bumped[0])
            if self._ticks % self._turn == 0:
                scans.append(self._measure())
        self._truth.path.append(self._truth.pose)
        return scans

    def _measure(self) -> Scan:
        """The turn of the lidar that ends now."""
        lidar, odometry = self._lidar, self._odometry[0]
        ranges = lidar.sweep(self._task.surroundings(0), np.array(self._trace), self._rng).astype(np.float32)
        self._trace = self._trace[-1:]
        return Scan(
            self._ticks * self.chassis.tick,
            ranges,
            lidar.bearings,
            odometry=self._pose(),
            speed=float(odometry.speed),
            turn_rate=float(odometry.turn_rate),
            ages=lidar.ages,
        )

    def _pose(self) -> Pose:
        known = self._odometry[0]
        return Pose(float(known.odometry_x), float(known.odometry_y), float(known.odometry_yaw))

    def _sense(self, scans: list[Scan]) -> Sensed:
        counts = int(self._odometry[0].count_left), int(self._odometry[0].count_right)
        return Sensed(self._ticks * self.chassis.tick, self._pose(), counts, tuple(scans))


def simulate(settings: IndoorSettings, seed: int | np.random.SeedSequence = 0) -> tuple[IndoorRover, Truth]:
    """Switch on a rover in the place of the settings, at their start or at a random one.

    Args:
        settings: Of the indoor world; its robot is the tracked one.
        seed: Same seed, same start, slip, noise and people.

    Returns:
        The rover, and the truth about it.
    """
    rng, task = np.random.default_rng(seed), IndoorTask(settings)
    pose = task.floor.draw_pose(rng) if settings.start is None else task.check(settings.start)
    task.restart(task.all, pose[None], [rng])
    truth = Truth(task.plan, pose)
    return IndoorRover(task, truth, rng), truth
