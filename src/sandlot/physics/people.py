"""People who walk about: discs that go straight on, turn at walls, and keep away from a robot."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.geometry.planar import wrap_compiled
from sandlot.geometry.walls import Walls
from sandlot.kernels import kernel
from sandlot.kernels.randomness import normal, uniform
from sandlot.physics.walls import slide
from sandlot.typing import Array

PERSON = np.dtype(
    [
        ("x", np.float64),  # [m]
        ("y", np.float64),
        ("yaw", np.float64),  # [rad]
        ("stream", np.uint64),  # of random numbers
    ]
)
MAX_STEP = 0.05
"""Longest time step [s]."""


class Gait(NamedTuple):
    """How people walk.

    Attributes:
        radius: Of a person [m].
        speed: [m/s]
        turning: Standard deviation of the change of direction in 1 s [rad].
        distance: People stop, and turn away, if the next step would bring them this near to the robot's hull [m].
    """

    radius: float = 0.22
    speed: float = 0.7
    turning: float = 0.6
    distance: float = 0.4


def start(places: Array, streams: NDArray[np.uint64]) -> Any:
    """People at places (..., 2) [m], who look in random directions: (...) of `PERSON`; streams (...)."""
    people = np.zeros(places.shape[:-1], PERSON)
    people["x"], people["y"], people["stream"] = places[..., 0], places[..., 1], streams
    people["yaw"] = (streams >> np.uint64(11)).astype(np.float64) * (2.0 * math.pi / 2.0**53) - math.pi
    return people


def walk(people: Any, robots: Array, robot_radius: float, walls: Walls, interval: float, gait: Gait) -> None:
    """Let people walk.

    Args:
        people: (n, m) of `PERSON`, m around each robot, changed in place.
        robots: (n, 2) places of the robots [m].
        robot_radius: [m]
        walls: Around them.
        interval: How long [s].
        gait: How they walk.
    """
    steps = max(math.ceil(interval / MAX_STEP), math.ceil(8.0 * interval * gait.speed / gait.radius))
    _walk(
        people.view(np.recarray),
        robots,
        robot_radius + gait.radius + gait.distance,
        walls,
        interval / steps,
        steps,
        gait,
    )


@kernel(error_model="numpy", nogil=True, allocates=False)
def _walk(people: Any, robots: Array, away: float, walls: Walls, step: float, steps: int, gait: Gait) -> None:
    """Compute the steps of `walk`."""
    for k in range(people.shape[0]):
        for n in range(people.shape[1]):
            person = people[k, n]
            for _ in range(steps):
                person.yaw = wrap_compiled(person.yaw + gait.turning * math.sqrt(step) * normal(person))
                dx, dy = gait.speed * step * math.cos(person.yaw), gait.speed * step * math.sin(person.yaw)
                here = math.hypot(person.x - robots[k, 0], person.y - robots[k, 1])
                there = math.hypot(person.x + dx - robots[k, 0], person.y + dy - robots[k, 1])
                if there < away and there < here:
                    person.yaw = math.atan2(person.y - robots[k, 1], person.x - robots[k, 0]) + uniform(person) - 0.5
                    continue
                x, y, touched = slide(person.x, person.y, dx, dy, gait.radius, walls)
                person.x, person.y = x, y
                if touched:
                    person.yaw = 2.0 * math.pi * uniform(person) - math.pi
