"""The task of the obstacles world for a batch of robots. `Obstacles` has one robot, `ObstaclesVector` many."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandlot.places.course_kinds import Kind
from sandlot.places.courses import Course
from sandlot.robots.climber import load_climber
from sandlot.robots.climber_models import make_climbers
from sandlot.robots.climbers import Start
from sandlot.typing import Array, BoolArray, IntArray
from sandlot.worlds.obstacles.elevation import Elevation, PerceivedElevation, TrueElevation
from sandlot.worlds.obstacles.settings import ObstaclesSettings

BEYOND = 0.6
"""The obstacle is behind a robot when the middle of its body is this far past its end [m]."""
UPRIGHT = 0.5
"""Cosine of the tilt, 60 degrees, within which a robot is upright."""
OVERTURNED = -0.5
"""Cosine of the tilt, 120 degrees, beyond which a robot lies on its back."""
FELL = 1.0
"""Taken off the reward of a robot that overturns [m]."""
PROGRESS = 0.02
"""Least advance that shows that a robot is not stuck [m]."""


class ObstaclesTask:
    """Robots, each on its own course.

    Attributes:
        climbers: The robots.
        elevation: What they know of the ground ahead; may be replaced by another `Elevation`.
        ahead: (count, rows, cells) what it read last [m].
        finish: (count,) x at which each robot has its obstacle behind it [m].
        furthest: (count,) furthest x of each robot [m].
        steepest: (count,) least cosine of its tilt.
        running: (count,) which robots `command` moves. All; whoever needs only one episode of each may take out those
            that have ended, which saves their simulation.
    """

    def __init__(self, settings: ObstaclesSettings, count: int = 1, threads: int = 1) -> None:
        """Make the robots; `restart` draws their courses and puts them there.

        Args:
            settings: Of the world.
            count: How many robots.
            threads: Number of robots that are simulated at the same time.

        Raises:
            SettingError: If the robot cannot be read.
        """
        self.settings, self.count = settings, count
        climber = load_climber(settings.robot)
        course = settings.course.draw(np.random.default_rng(0))
        self.climbers = make_climbers(settings.fidelity, climber, [course] * count, settings.friction, threads)
        cells, rows = settings.cells, settings.rows
        self.elevation: Elevation = (
            TrueElevation(cells, rows)
            if settings.perception == "exact"
            else PerceivedElevation(settings.laser, count, cells, rows)
        )
        self.ahead = np.zeros((count, rows, cells))
        self.finish, self.furthest, self.steepest = np.zeros(count), np.zeros(count), np.ones(count)
        self._since, self._marks, self.running = np.zeros(count), np.zeros(count), np.ones(count, np.bool_)

    def draw(
        self, rng: np.random.Generator, kind: Kind | None = None, yaw: float | None = None
    ) -> tuple[Course, Start]:
        """Draw a course of the settings' kind, or of another, and how the robot starts; its yaw [rad] may be given."""
        given = self.settings
        course = (given.course if kind is None else kind).draw(rng)
        x, turned = rng.uniform(*given.start), rng.uniform(-given.yaw, given.yaw) if given.yaw else 0.0
        return course, Start(x, turned if yaw is None else yaw)

    def restart(self, which: IntArray, drawn: Sequence[tuple[Course, Start]]) -> None:
        """Put these robots at the start of what was drawn for them; then they have to `look`."""
        self.climbers.restart(which, [each for each, _ in drawn], [each for _, each in drawn])
        self.finish[which] = [course.end + BEYOND for course, _ in drawn]
        self.elevation.restart(which)
        self.running[which] = True
        self._update()
        self.furthest[which], self.steepest[which] = self.x[which], self.tilt[which]
        self._marks[which], self._since[which] = self.x[which], 0.0

    def command(self, actions: Array) -> Array:
        """Simulate until the next command; ``actions`` (count, 4). Returns the rewards: (count,) [m]."""
        before, upright = np.minimum(self.x, self.finish), ~self.overturned
        self.climbers.command(actions, self.running)
        self._update()
        rewards = np.minimum(self.x, self.finish) - before - FELL * (upright & self.overturned)
        self.furthest, self.steepest = np.maximum(self.furthest, self.x), np.minimum(self.steepest, self.tilt)
        advanced = self.furthest > self._marks + PROGRESS
        self._marks = np.where(advanced, self.furthest, self._marks)
        self._since = np.where(advanced, self.climbers.time, self._since)
        return np.where(self.exploded, 0.0, rewards)

    def _update(self) -> None:
        """Read the robots once for each command."""
        climbers = self.climbers
        self.position, self.attitude, self.exploded = climbers.position, climbers.attitude, climbers.exploded
        self.x, self.tilt = self.position[:, 0], climbers.tilt

    def look(self, which: IntArray, generators: Sequence[np.random.Generator]) -> None:
        """Let robots read the elevation ahead, with the noise that their generators draw; once after each command."""
        self.ahead[which] = self.elevation.read(self.climbers, which, generators)

    @property
    def passed(self) -> BoolArray:
        """Which robots have their obstacle behind them, and are upright: (count,)."""
        return (self.x >= self.finish) & (self.tilt > UPRIGHT)

    @property
    def overturned(self) -> BoolArray:
        """Which robots are tilted by more than 120 degrees: (count,)."""
        return self.tilt < OVERTURNED

    @property
    def stuck(self) -> BoolArray:
        """Which robots have not come further for too long: (count,)."""
        return self.climbers.time - self._since >= self.settings.patience

    def ends(self) -> tuple[BoolArray, BoolArray]:
        """Which robots have passed, overturned or are stuck, and which have exploded or no time left: (count,) each."""
        ended = self.passed | self.overturned | self.stuck
        late = self.climbers.time >= self.settings.seconds - 1e-9
        return ended & ~self.exploded, self.exploded | (late & ~ended)

    def values(self) -> Mapping[str, NDArray[Any]]:
        """What ``info`` holds: (count,) each."""
        names = {"passed": self.passed, "overturned": self.overturned, "stuck": self.stuck, "exploded": self.exploded}
        return {"time": self.climbers.time, **names, "is_success": self.passed & ~self.exploded}

    def outcomes(self) -> dict[str, Array]:
        """Results so far, as `Obstacles` names them: (count,) each."""
        ends = {"passed": self.passed, "overturned": self.overturned, "stuck": self.stuck}
        return {
            **{name: value.astype(np.float64) for name, value in ends.items()},
            "pass_time": np.where(self.passed, self.climbers.time, np.nan),
            "advance": np.minimum(self.furthest, self.finish),
            "steepest": np.arccos(np.clip(self.steepest, -1.0, 1.0)),
        }

    def observe(self) -> Array:
        """The observations, as `Obstacles` describes them: (count, 10 + rows * cells)."""
        climbers = self.climbers
        states = (
            self.attitude[:, :2],
            climbers.velocity,
            climbers.rates,
            climbers.axles,
            self.ahead.reshape(self.count, -1),
        )
        return np.concatenate(states, axis=1)
