"""A net learns to climb from what a teacher does on courses that the teacher passes: Vincent 2008, section 5.2."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sandlot.control.climbing.kicking import Kicking
from sandlot.control.climbing.neural import ROWS, FrontNet, scaled
from sandlot.control.controller import Controller
from sandlot.learning.levenberg import Trained, train
from sandlot.places.course_kinds import Box, Kind, Stairs
from sandlot.robots.climber import Climber
from sandlot.robots.climbers import INTERVAL
from sandlot.typing import Array, BoolArray
from sandlot.worlds.obstacles.settings import ObstaclesSettings
from sandlot.worlds.obstacles.vector import ObstaclesVector
from sandlot.worlds.rollout import rollout

EVERY = 5
"""Each so many commands one sample is taken; chosen."""
NODES, EPOCHS = 4, 25
"""Of the source's net and its training."""
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
    world = ObstaclesVector(num_envs=len(kinds), autoreset=False, **settings.model_dump(exclude_defaults=True))
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


def learn(
    lessons: Lessons, rng: np.random.Generator, nodes: int = NODES, epochs: int = EPOCHS
) -> tuple[FrontNet, Trained]:
    """Train a net on lessons; its targets are angles over pi."""
    low, high = lessons.observations.min(axis=0), lessons.observations.max(axis=0)
    trained = train(scaled(lessons.observations, low, high), lessons.angles / np.pi, nodes, epochs, rng)
    return FrontNet(low, high, trained.hidden, trained.output), trained


def supervised(climber: Climber, kinds: Sequence[Kind], seed: int) -> Lessons:
    """Lessons of the kicking reactive controller on these courses."""
    return teach(Kicking(climber, ROWS), kinds, ObstaclesSettings(rows=ROWS), seed)
