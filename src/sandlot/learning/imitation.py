"""A net learns to climb from what a teacher does on courses that the teacher passes: Vincent 2008, section 5.2.

``python -m sandlot.learning.imitation OUT`` makes the net that comes with the package.
"""

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sandlot.control.climbing.kicking import Kicking
from sandlot.control.climbing.neural import ROWS
from sandlot.control.controller import Controller
from sandlot.learning.levenberg import levenberg_marquardt
from sandlot.learning.shallow_net import Problem, Trained, pose
from sandlot.models.card import Card
from sandlot.models.dense import Dense, make_dense, save_dense
from sandlot.places.course_kinds import Box, Kind, Stairs
from sandlot.robots.climber import Climber, load_climber
from sandlot.robots.climbers import INTERVAL
from sandlot.typing import Array, BoolArray
from sandlot.worlds.obstacles.settings import ObstaclesSettings
from sandlot.worlds.obstacles.vector import ObstaclesVector
from sandlot.worlds.rollout import rollout

EVERY = 5
"""Each so many commands one sample is taken; chosen."""
NODES, EPOCHS = 4, 25
"""Of the source's net and its training."""
STATES = (
    "roll [rad]",
    "pitch [rad]",
    "velocity forward [m/s]",
    "velocity left [m/s]",
    "velocity up [m/s]",
    "roll rate [rad/s]",
    "pitch rate [rad/s]",
    "yaw rate [rad/s]",
    "front axle [rad]",
    "rear axle [rad]",
)
"""The inputs before the elevation map."""
HIGHEST = 0.6
"""Boxes of the training set end at the teacher's limit; higher ones than this are not tried [m]."""


@dataclass(frozen=True, eq=False)
class Lessons:
    """What a teacher did.

    Attributes:
        observations: (samples, inputs)
        angles: (samples,) what it commanded the front axle to [rad].
        passed: (courses,) which courses it passed; only they have samples.
    """

    observations: Array
    angles: Array
    passed: BoolArray


def training_set(distance: float = 1.0) -> Iterator[Kind]:
    """The courses of the source: stairs of 0.05 to 0.50 m tread and 5 to 50 degrees; boxes of 0.1 to 1 m depth.

    Stairs lead up and down. Boxes are 0.05 m high and more, by 0.01 m.
    """
    for tread in range(5, 51, 5):
        for angle in range(5, 51, 5):
            yield Stairs(distance=distance, tread=0.01 * tread, angle=math.radians(angle))
    for depth in range(1, 11):
        for height in range(5, round(100 * HIGHEST) + 1):
            yield Box(distance=distance, depth=0.1 * depth, height=0.01 * height)


def teach(teacher: Controller, kinds: Sequence[Kind], settings: ObstaclesSettings, seed: int) -> Lessons:
    """Let a teacher drive on each of the courses once, and keep samples of successful runs.

    Args:
        teacher: Whose observations have as many rows as the settings say.
        kinds: Courses.
        settings: Of the world.
        seed: Of the first course's episode; the next ones have the next seeds.
    """
    world = ObstaclesVector(
        num_envs=len(kinds), autoreset_mode="Disabled", **settings.model_dump(exclude_defaults=True)
    )
    seen, done, running = [], [], []
    before = np.zeros((len(kinds), 0))
    steps = math.ceil(settings.seconds / INTERVAL)
    passed = np.zeros(len(kinds), np.bool_)
    for step in rollout(world, teacher, seed, steps, options={"courses": list(kinds)}):
        if step.number and step.number % EVERY == 0:
            seen.append(before.astype(np.float32))
            done.append(step.actions[:, 0].copy())
            running.append(step.running)
        before = step.observations
        passed |= step.ended & world.task.passed
    mask = np.array(running) & passed
    return Lessons(np.array(seen)[mask].astype(np.float64), np.array(done)[mask], passed)


def problem(lessons: Lessons, nodes: int = NODES) -> Problem:
    """What a net of so many hidden nodes is to learn: angles over pi from inputs between -1 and 1."""
    low, high = _range(lessons)
    return pose(scaled(lessons.observations, low, high), lessons.angles / np.pi, nodes)


def learn(
    lessons: Lessons, rng: np.random.Generator, nodes: int = NODES, epochs: int = EPOCHS
) -> tuple[Dense, Trained]:
    """Train a net by Levenberg-Marquardt; what it does is from observations to angles of the front axle [rad]."""
    given = problem(lessons, nodes)
    trained = given.net(*levenberg_marquardt(given, given.draw(rng), epochs))
    low, high = _range(lessons)
    # The net takes observations as they are: their scaling becomes a part of its first layer.
    slope = np.where(high > low, 2.0 / np.where(high > low, high - low, 1.0), 0.0)
    shift = np.where(high > low, -low * slope - 1.0, 0.0)
    hidden, biases = trained.hidden[:, :-1], trained.hidden[:, -1]
    weights = (hidden * slope).T, np.pi * trained.output[:-1, None]
    return make_dense(weights, (biases + hidden @ shift, np.pi * trained.output[-1:]), ("tanh", "linear")), trained


def scaled(observations: Array, low: Array, high: Array) -> Array:
    """Inputs from -1 to 1 over their range in training; those that never varied are 0."""
    range_ = high - low
    return np.where(range_ > 0.0, 2.0 * (observations - low) / np.where(range_ > 0.0, range_, 1.0) - 1.0, 0.0)


def _range(lessons: Lessons) -> tuple[Array, Array]:
    return lessons.observations.min(axis=0), lessons.observations.max(axis=0)


def supervised(climber: Climber, kinds: Sequence[Kind], seed: int) -> Lessons:
    """Lessons of the kicking reactive controller on these courses."""
    return teach(Kicking(climber, ROWS), kinds, ObstaclesSettings(rows=ROWS), seed)


def train(climber: Climber, seed: int = 0) -> tuple[Dense, Card]:
    """The net of the neural controller, taught on the whole training set, and its card."""
    lessons = supervised(climber, list(training_set()), seed)
    net, trained = learn(lessons, np.random.default_rng(seed))
    low, high = _range(lessons)
    card = Card(
        kind="dense",
        description="climber: angle of the front axle of a tracked robot, taught by the reactive controller with kicks",
        errors={"mean squared error of the angle over pi [1]": round(float(trained.errors[-1]), 6)},
        valid_ranges={name: (float(low[k]), float(high[k])) for k, name in enumerate(STATES)},
        settings={
            "training": {
                "seed": seed,
                "epochs": EPOCHS,
                "every": EVERY,
                "samples": len(lessons.angles),
                "courses": len(lessons.passed),
                "passed": int(lessons.passed.sum()),
            }
        },
    )
    return net, card


if __name__ == "__main__":
    made = train(load_climber())
    save_dense(Path(sys.argv[1]), *made)
