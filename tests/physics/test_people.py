"""People walk about in a room, stay out of walls, and keep away from a robot."""

import math

import numpy as np
from numba import config

from sandlot.geometry.walls import Walls
from sandlot.physics.people import Gait, start, walk
from twins import walls
from twins.randomness import Stream

ROOM = Walls(
    np.array([(-3, -3, 3, -3), (3, -3, 3, 3), (3, 3, -3, 3), (-3, 3, -3, -3)], np.float64), np.array([(1.5, 1.5, 0.3)])
)
GAIT = Gait()
STEPS = 10 if config.DISABLE_JIT else 400


def crowd(count=5):
    rng = np.random.default_rng(2)
    return start(rng.uniform(-2.5, 0.0, (2, count, 2)), rng.integers(2**64, size=(2, count), dtype="u8"))


def test_they_walk_and_stay_out_of_walls_and_away_from_the_robot():
    people, robots = crowd(), np.array([(0.5, 0.5), (2.0, -2.0)])
    first = people.copy()
    for _ in range(STEPS):
        walk(people, robots, 0.17, ROOM, 0.2, GAIT)
        places = np.stack([people["x"], people["y"]], axis=-1)
        assert walls.clearance(places.reshape(-1, 2), *ROOM).min() > GAIT.radius - 1e-9
        assert np.hypot(*np.moveaxis(places - robots[:, None], -1, 0)).min() > 0.17 + GAIT.radius
    assert np.hypot(people["x"] - first["x"], people["y"] - first["y"]).mean() > (0.5 if STEPS > 100 else 0.1)


def test_they_go_straight_on_at_their_speed():
    people = start(np.zeros((1, 1, 2)), np.array([[7]], np.uint64))
    yaw, straight = float(people["yaw"][0, 0]), GAIT._replace(turning=0.0)
    walk(people, np.array([(9.0, 9.0)]), 0.1, ROOM, 1.0, straight)
    np.testing.assert_allclose(people["x"][0, 0], 0.7 * math.cos(yaw), atol=1e-12)
    np.testing.assert_allclose(people["y"][0, 0], 0.7 * math.sin(yaw), atol=1e-12)


def test_they_turn_as_their_twin_does():
    people, stream = start(np.zeros((1, 1, 2)), np.array([[7]], np.uint64)), Stream(7)
    x, y, yaw = 0.0, 0.0, float(people["yaw"][0, 0])
    steps = max(math.ceil(1.0 / 0.05), math.ceil(8.0 * GAIT.speed / GAIT.radius))
    for _ in range(steps):
        yaw += GAIT.turning * math.sqrt(1.0 / steps) * stream.normal()
        x, y = x + GAIT.speed / steps * math.cos(yaw), y + GAIT.speed / steps * math.sin(yaw)
    walk(people, np.array([(9.0, 9.0)]), 0.1, ROOM, 1.0, GAIT)
    np.testing.assert_allclose([people["x"][0, 0], people["y"][0, 0]], [x, y], atol=1e-12)
