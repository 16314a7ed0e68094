"""Situations of the avoid world are free at start and goal, and of the kind that was asked for."""

import numpy as np
import pytest

from sandlot.geometry.walls import Walls, nearest
from sandlot.places.situations import FAR, GOAL_ROOM, KINDS, START_ROOM, draw, make_situations

RADIUS = 0.17
OWNER = np.dtype([("stream", np.uint64)])


def situations(kind, count=40, seed=0):
    owners = np.zeros(count, OWNER)
    owners["stream"] = np.random.default_rng(seed).integers(2**64, size=count, dtype=np.uint64)
    made = make_situations(count)
    for k in range(count):
        draw(owners[k], KINDS.index(kind), RADIUS, made, k)
    return made


@pytest.mark.parametrize("kind", KINDS)
def test_start_and_goal_are_free(kind):
    made = situations(kind)
    for k in range(len(made.goals)):
        walls = Walls(made.segments[k], made.circles[k])
        assert nearest(*made.starts[k, :2], walls)[0] >= RADIUS + START_ROOM
        assert nearest(*made.goals[k], walls)[0] >= RADIUS + GOAL_ROOM


@pytest.mark.parametrize(
    ("kind", "walls"), [("easy", {0}), ("medium", {1}), ("hard", {1, 2}), ("obstacle", {0}), ("wall", {1})]
)
def test_a_kind_has_its_walls_and_an_obstacle(kind, walls):
    made = situations(kind)
    assert set(made.counts[:, 0].tolist()) == walls
    assert (made.counts[:, 1] == 1).all()
    absent = np.arange(2) >= made.counts[:, :1]
    assert (made.segments[absent] >= FAR).all()
    assert (np.abs(made.segments[~absent]) < 10.0).all()


def test_between_wall_and_obstacle_there_is_room_for_the_rover():
    made = situations("wall")
    for k in range(len(made.goals)):
        x, y, size = made.circles[k, 0]
        gap = nearest(x, y, Walls(made.segments[k], made.circles[k, :0]))[0] - size
        assert 0.6 - 1e-9 <= gap <= 0.9 + 1e-9


def test_the_simple_obstacle_is_in_the_way():
    made = situations("obstacle")
    offset, size = np.abs(made.circles[:, 0, 1]), made.circles[:, 0, 2]
    assert (offset - size < RADIUS).all()


def test_a_stream_gives_the_same_situation_again():
    one, same, other = situations("hard"), situations("hard"), situations("hard", seed=1)
    np.testing.assert_array_equal(one.segments, same.segments)
    assert not np.array_equal(one.segments, other.segments)
