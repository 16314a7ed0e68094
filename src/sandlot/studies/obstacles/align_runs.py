"""Runs of the study of steering: a robot that starts turned, or with uneven friction, drives over an obstacle."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sandlot.control.climbing.policy import load_policy
from sandlot.control.climbing.reactive import Reactive
from sandlot.control.controller import Controller
from sandlot.places.course_kinds import Box, Kind, Stairs
from sandlot.robots.climber import Climber
from sandlot.robots.climbers import INTERVAL
from sandlot.studies.obstacles.trials import TYPICAL_RISERS as RISERS
from sandlot.studies.obstacles.trials import TYPICAL_TREADS as TREADS
from sandlot.typing import Array
from sandlot.worlds.obstacles.vector import ObstaclesVector
from sandlot.worlds.rollout import rollout

ROWS = 19
"""Of the elevation map."""
DISTANCE = 1.5
"""From the start to the obstacle [m]."""
BOXES = (0.15, 0.30)
"""Heights of boxes [m]."""
SAMPLE = 5
"""Commands between two points of a path."""
WIDTH = 1.2
"""Of stairs between walls [m]."""


@dataclass(frozen=True, eq=False)
class Drive:
    """One run.

    Attributes:
        passed: Whether the robot passed its obstacle.
        drift: Largest distance to the side of where it met the obstacle [m]; 0 if it did not meet it.
        yaw: At the end, to either side [rad].
        roll: Largest, to either side [rad].
        path: (points, 2) x and y of the middle of the body [m].
    """

    passed: bool
    drift: float
    yaw: float
    roll: float
    path: Array


def room(climber: Climber) -> float:
    """How far a robot in the middle of stairs `WIDTH` wide may drift before it touches a wall [m]."""
    return 0.5 * WIDTH - climber.axles.back_offset - 0.5 * climber.track.width


def controller(name: str, climber: Climber) -> Controller:
    """The controller of a robot, without steering."""
    return Reactive(climber, ROWS) if name == "reactive" else load_policy(rows=ROWS)


def obstacle(name: str, rng: np.random.Generator) -> Kind:
    """An obstacle of random size."""
    if name == "box":
        return Box(distance=DISTANCE, height=rng.uniform(*BOXES), depth=0.5)
    way: Literal["up", "down"] = "up" if name == "up" else "down"
    return Stairs(distance=DISTANCE, riser=rng.uniform(*RISERS), tread=rng.uniform(*TREADS), way=way)


def drive(world: ObstaclesVector, driver: Controller, kind: Kind, yaw: float, seed: int) -> Drive:
    """One run.

    Args:
        world: Of one robot.
        driver: Of the robot.
        kind: Of the obstacle.
        yaw: At the start [rad].
        seed: Of the run.
    """
    task, steps = world.task, round(world.settings.seconds / INTERVAL)
    meets = kind.distance - task.climbers.climber.reach
    places, turns = [], []
    for _ in rollout(world, driver, seed, steps, options={"courses": [kind], "yaws": [yaw]}):
        places.append(task.position[0, :2])
        turns.append(task.attitude[0])
    path, attitudes = np.array(places), np.array(turns)
    beside = path[path[:, 0] >= meets, 1]
    drift = float(np.abs(beside - beside[0]).max()) if len(beside) else 0.0
    roll = float(np.abs(attitudes[:, 0]).max())
    return Drive(bool(task.passed[0]), drift, float(abs(attitudes[-1, 2])), roll, path[::SAMPLE])
