"""From a path that a person walks to an equation that steers a robot along it."""

import functools
import math
import warnings
from dataclasses import dataclass

import numpy as np
from pydantic import Field

from sandlot.kernels.randomness import children
from sandlot.places.plans import load_plan
from sandlot.studies.base import Study
from sandlot.studies.indoor import walks
from sandlot.studies.indoor.shared import LABELS, METHODS, look
from sandlot.studies.indoor.walks import SPACING
from sandlot.surrogates.narmax import FitWarning, Narmax
from sandlot.surrogates.sensor_models import SensorModel
from sandlot.typing import Array
from sandlot.worlds.indoor.learned import SAMPLES, explore
from sandlot.worlds.indoor.settings import IndoorSettings

WORLD = IndoorSettings()
EVERY = 5
"""Readings are estimated at every fifth of the walker's positions."""


@dataclass(frozen=True)
class Lesson:
    """What was learned from a walk.

    Attributes:
        walk: (points, 2) positions of the walker [m]; the path is closed.
        equation: From medians to a turn rate.
        nearest: (segments,) smallest medians that the equation was fitted to [m].
        furthest: (segments,) largest medians [m].
        wrong: Mean absolute error of the estimated medians along the walk [m].
    """

    walk: Array
    equation: Narmax
    nearest: Array
    furthest: Array
    wrong: float

    def limits(self, name: str) -> str:
        """Input and output of the equation, and the range to which its inputs must be clipped, in a line."""
        known = zip(LABELS, self.nearest, self.furthest, strict=True)
        ranges = ", ".join(f"{label} {low:.2f} to {high:.2f}" for label, low, high in known)
        return f"{name} [rad/s], from medians [m], clipped to: {ranges}"


class LessonStudy(Study):
    """A study in which a robot learns from a person's walk.

    Attributes:
        samples: Scans of the robot's log.
        walked: Rounds of the walker.
        uneven: Standard deviation of the walker from the path [m].
        speed: Of walker and robot [m/s].
        ahead: Distance along the path from the robot to its aim [m].
        beside: For ``around``: poses added for each of the walker's.
        side: Maximum distance of these poses from the path [m].
        turned: Maximum angle by which these poses are turned away from the path [rad].
        degree: Of the equation.
        terms: Maximum number of terms of the equation.
    """

    samples: int = Field(SAMPLES, ge=100, le=100_000)
    walked: int = Field(3, ge=1, le=100)
    uneven: float = Field(0.05, ge=0.0, le=0.3)
    speed: float = Field(0.4, gt=0.0, le=WORLD.robot.top_speed)
    ahead: float = Field(1.0, ge=0.1, le=3.0)
    beside: int = Field(10, ge=1, le=1000)
    side: float = Field(0.2, ge=0.0, le=1.0)
    turned: float = Field(math.radians(15.0), ge=0.0, le=math.pi / 2)
    degree: int = Field(4, ge=1, le=5)
    terms: int = Field(60, ge=1, le=200)

    def learn(self, path: str, perception: str, variant: str, replicate: int) -> Lesson:
        """Estimate readings along a walk, and fit an equation from readings to turn rates that lead to the path."""
        log_seed, walk_seed, reading_seed, _ = self.seeds(replicate)
        walk = walks.walk(path, self.walked, self.uneven, np.random.default_rng(walk_seed))
        rng = np.random.default_rng(reading_seed)
        here = np.arange(0, len(walk), EVERY)
        along = walks.poses(walk)[here]
        plan = load_plan(WORLD.plan)
        truth = look(WORLD, plan, along, rng).segments()
        index, poses = here, along
        if variant == "around":
            index = np.repeat(here, self.beside)
            sides, angles = rng.uniform(-1.0, 1.0, (2, len(index)))
            poses = walks.shifted(np.repeat(along, self.beside, 0), self.side * sides, self.turned * angles)
            index, poses = np.concatenate([here, index]), np.concatenate([along, poses])
        if perception == "actual":
            medians = noisy = look(WORLD, plan, poses, rng).segments()
        else:
            model, error = _model(perception, self.samples, number(log_seed))
            medians = model.predict(poses)
            noisy = medians + error * rng.normal(size=medians.shape)
        known = np.isfinite(medians).all(1)
        turn_rates = walks.pursue(poses, walk[(index + round(self.ahead / SPACING)) % len(walk)], self.speed)
        equation = Narmax(self.degree, max_terms=self.terms, names=LABELS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FitWarning)  # on a path, some terms are nearly collinear
            equation.fit(noisy[known], turn_rates[known])
        wrong = float(np.nanmean(np.abs(medians[: len(here)] - truth)))
        return Lesson(walk, equation, medians[known].min(0), medians[known].max(0), wrong)

    def middle(self, walk: Array) -> Array:
        """The demonstrated path: the mean of all rounds of a walk, (points, 2) [m]."""
        mean: Array = walk.reshape(self.walked, -1, 2).mean(0)
        return mean

    def seeds(self, replicate: int) -> list[np.random.SeedSequence]:
        """Of the log, the walk, the readings and the drive."""
        return children(np.random.SeedSequence(self.seed, spawn_key=(replicate,)), 4)


@functools.lru_cache(maxsize=4)
def _model(method: str, samples: int, seed: int) -> tuple[SensorModel, Array]:
    """A sensor model and its mean absolute error on its own log, (segments,) [m]; jobs of a replicate share it."""
    log = _log(samples, seed)
    model = METHODS[method]().fit(log)
    return model, np.nanmean(np.abs(model.predict(log.poses) - log.segments()), 0)


_log = functools.lru_cache(maxsize=2)(functools.partial(explore, WORLD))


def number(seed: np.random.SeedSequence) -> int:
    """A seed as an integer."""
    return int(seed.generate_state(1)[0])
