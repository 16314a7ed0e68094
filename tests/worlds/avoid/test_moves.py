"""Moves of the avoid world against plain geometry."""

import math

import numpy as np
import pytest

from sandlot.worlds.avoid.moves import BACKWARD, COLLIDED, FIXED, FORWARD, LATE, LEFT, REACHED, RIGHT, RUNNING
from sandlot.worlds.avoid.settings import AvoidSettings
from sandlot.worlds.avoid.task import AvoidTask, make_rules

ONE = np.array([0])


def task(count=1, seed=0, **given):
    made = AvoidTask(AvoidSettings(**given), count)
    made.restart(np.arange(count), [np.random.default_rng(seed + k) for k in range(count)])
    return made


def place(made, pose, goal=(3.0, 0.0), wall=None, obstacle=None):
    """Put the rover, its goal, a wall and an obstacle somewhere."""
    state, situations = made.rovers.states, made.rovers.situations
    state["x"], state["y"], state["yaw"] = pose
    situations.goals[0] = goal
    situations.segments[0] = 1e6, 1e6, 1e6 + 1.0, 1e6
    situations.circles[0] = 1e6, 1e6, 1.0
    situations.counts[0] = wall is not None, obstacle is not None
    if wall is not None:
        situations.segments[0, 0] = wall
    if obstacle is not None:
        situations.circles[0, 0] = obstacle
    made.rovers.distances[0] = math.dist(pose[:2], goal)


def make(made, action):
    return float(made.move(np.full(made.count, action), np.ones(made.count, np.bool_))[0])


@pytest.mark.parametrize(
    ("action", "ahead", "turn"), [(FORWARD, 1, 0), (BACKWARD, -1, 0), (RIGHT, 0, -1), (LEFT, 0, 1)]
)
def test_an_exact_move_is_a_stride_or_a_turn(action, ahead, turn):
    made = task()
    place(made, (0.3, -0.2, 0.5))
    make(made, action)
    expected = 0.3 + 0.2 * ahead * math.cos(0.5), -0.2 + 0.2 * ahead * math.sin(0.5), 0.5 + turn * math.pi / 6
    np.testing.assert_allclose(made.poses[0], expected, atol=1e-12)
    assert made.lengths[0] == pytest.approx(0.2 * abs(ahead))


def test_observations_are_distances_and_bearings_seen_from_the_rover():
    made = task(lines=5)
    place(made, (1.0, 0.0, math.pi / 2), goal=(1.0, 0.9), wall=(-5.0, -0.6, 5.0, -0.6), obstacle=(0.1, 0.0, 0.2))
    make(made, LEFT)
    yaw = math.pi / 2 + math.pi / 6
    seen = made.observe()[0]
    np.testing.assert_allclose(seen[:FIXED], [0.7 / 1.5, math.pi - yaw, 0.6, math.pi / 2 - yaw], rtol=1e-6)
    expected = []
    for bearing in np.radians([-90, -45, 0, 45, 90]):
        down = -math.sin(yaw + bearing)
        expected.append(min(0.6 / down / 1.5, 1.0) if down > 0.0 else 1.0)
    np.testing.assert_allclose(seen[FIXED:], expected, rtol=1e-5)


def test_lines_are_45_degrees_apart_or_all_around():
    for count, expected in (
        (1, [0]),
        (3, [-45, 0, 45]),
        (8, np.arange(8) * 45 - 157.5),
        (16, np.arange(16) * 22.5 - 168.75),
    ):
        np.testing.assert_allclose(np.degrees(AvoidTask(AvoidSettings(lines=count)).bearings), expected)
    assert task(lines=0).observe().shape == (1, 4)


@pytest.mark.parametrize("fidelity", ["fast", "reference"])
def test_endings(fidelity):
    made = task(fidelity=fidelity, longest=3)
    place(made, (0.0, 0.0, 0.0), goal=(0.35, 0.0))
    assert (make(made, FORWARD), made.rovers.endings[0]) == (10.0, REACHED)
    made = task(fidelity=fidelity, longest=3)
    place(made, (0.0, 0.0, 0.0), wall=(0.25, -1.0, 0.25, 1.0))
    assert (make(made, FORWARD), made.rovers.endings[0]) == (-10.0, COLLIDED)
    made = task(fidelity=fidelity, longest=2)
    place(made, (0.0, 0.0, 0.0))
    make(made, LEFT)
    assert made.rovers.endings[0] == RUNNING
    assert (make(made, RIGHT), made.rovers.endings[0]) == (-10.0, LATE)


def test_rewards():
    for reward, expected in (("progress", 1.0), ("binary", 0.0), ("proportional", 1.0 - (1.0 / 1.5) ** 0.5)):
        made = task(reward=reward)
        place(made, (0.0, 0.0, 0.0), goal=(1.2, 0.0))
        assert make(made, FORWARD) == pytest.approx(expected)


def test_the_tracked_rover_slips_and_its_distances_are_noisy():
    ends, seen = [], []
    for seed in range(20):
        made = task(seed=seed, fidelity="reference")
        place(made, (0.0, 0.0, 0.0), wall=(-5.0, -1.0, 5.0, -1.0))
        make(made, FORWARD)
        ends.append(made.poses[0])
        seen.append(made.observe()[0])
    ahead = np.array(ends)[:, 0]
    assert 0.1 < ahead.mean() < 0.2  # it slips, and needs time to get going
    assert ahead.std() > 0.002
    assert 0.005 / 1.5 < np.std(np.array(seen)[:, FIXED]) < 0.05 / 1.5


def test_members_do_not_depend_on_each_other():
    for fidelity in ("fast", "reference"):
        many = task(5, seed=3, fidelity=fidelity)
        alone = [task(1, seed=3 + k, fidelity=fidelity) for k in range(5)]
        for action in (FORWARD, LEFT, FORWARD, RIGHT, BACKWARD):
            make(many, action)
            for k, each in enumerate(alone):
                make(each, action)
                np.testing.assert_array_equal(many.observe()[k], each.observe()[0])


def test_rules_have_the_tracks_of_each_move():
    speeds = make_rules(AvoidSettings()).speeds
    assert (speeds[FORWARD] > 0.0).all()
    assert (speeds[BACKWARD] < 0.0).all()
    assert speeds[RIGHT, 0] == -speeds[RIGHT, 1] > 0.0
    assert speeds[LEFT, 1] == -speeds[LEFT, 0] > 0.0
