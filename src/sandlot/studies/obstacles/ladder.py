"""How high a controller gets: obstacles are raised step by step until it fails, as in sections 7.2.1 and 7.2.2."""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from sandlot.control.climbing.neural import ROWS, load_neural
from sandlot.control.climbing.policy import load_policy
from sandlot.control.climbing.reactive import Reactive
from sandlot.control.climbing.reinforced import Reinforced
from sandlot.control.controller import Controller
from sandlot.learning.imitation import Lessons, supervised, training_set
from sandlot.places.course_kinds import Flat, Kind
from sandlot.robots.climber import Climber, load_climber
from sandlot.robots.climbers import INTERVAL
from sandlot.typing import Array, BoolArray
from sandlot.worlds.obstacles.settings import ObstaclesSettings
from sandlot.worlds.obstacles.vector import ObstaclesVector
from sandlot.worlds.rollout import rollout

CONTROLLERS = ("reactive", "neural", "reinforced", "free", "trained")
"""Those of the source; ``free``, the reactive one without the rules of equation 34; and the net that was trained by
reinforcement in advance."""
EASY = Flat(distance=0.2, length=0.1)
"""For robots that are done."""
LESSONS = 0
"""Seed of the teacher's drives."""


def make_controller(name: str, climber: Climber, rows: int | None = None) -> Controller:
    """One of `CONTROLLERS`, for maps of so many rows; of as many as it needs if left out."""
    rows = map_rows(name) if rows is None else rows
    made: dict[str, Callable[[], Controller]] = {
        "reactive": lambda: Reactive(climber, rows),
        "free": lambda: Reactive(climber, rows, stable=False),
        "reinforced": lambda: Reinforced(climber, rows),
        "neural": lambda: load_neural(climber),
        "trained": lambda: load_policy(rows=rows),
    }
    return made[name]()


def map_rows(name: str) -> int:
    """Rows of the elevation map that a controller needs."""
    return ROWS if name == "neural" else 1


@lru_cache(maxsize=1)
def lessons() -> Lessons:
    """What the teacher does on the source's training set; the same in every process."""
    return supervised(load_climber(), list(training_set()), LESSONS)


def attempt(world: ObstaclesVector, controller: Controller, kinds: Sequence[Kind], seed: int) -> BoolArray:
    """Let robots try a course each; returns which get past their obstacle: (robots,)."""
    passed = np.zeros(len(kinds), np.bool_)
    steps = round(world.settings.seconds / INTERVAL)
    for step in rollout(world, controller, seed, steps, options={"courses": list(kinds)}):
        passed |= step.ended & world.task.passed
        world.task.running = step.running & ~step.ended
    return passed


def climb(
    settings: ObstaclesSettings,
    controller: Controller,
    kinds: Callable[[float, float], Kind],
    across: Sequence[float],
    levels: Sequence[float],
    lanes: int,
    attempts: int,
    seed: int,
) -> Array:
    """Raise obstacles until robots fail.

    Each robot begins with the lowest obstacle. When it passes, the next one is higher. When it fails, it tries again,
    and is done after so many failures in a row. Robots that learn keep what they have learned.

    Args:
        settings: Of the world.
        controller: Of all robots, as a batch.
        kinds: A course, of a value of ``across`` and one of ``levels``.
        across: Values of one dimension of the obstacle, such as depths.
        levels: Ascending values of the other, such as heights.
        lanes: Robots for each value of ``across``; each starts at another place.
        attempts: Failures in a row that end a robot's trials.
        seed: Of the first trial.

    Returns:
        (across, lanes) the highest level that each robot passed; 0 if none.
    """
    count = len(across) * lanes
    world = ObstaclesVector(num_envs=count, autoreset_mode="Disabled", settings=settings)
    level, failures = np.zeros(count, np.int64), np.zeros(count, np.int64)
    width = np.repeat(np.asarray(across), lanes)
    trials = 0
    while True:
        going = (level < len(levels)) & (failures < attempts)
        if not going.any():
            break
        courses = [kinds(float(width[k]), float(levels[level[k]])) if going[k] else EASY for k in range(count)]
        passed = attempt(world, controller, courses, seed + trials * count)
        trials += 1
        level += going & passed
        failures = np.where(going, np.where(passed, 0, failures + 1), failures)
    reached = np.concatenate([[0.0], np.asarray(levels)])[level]
    return reached.reshape(len(across), lanes)
