"""A net that learns to climb from a teacher."""

import numpy as np
import pytest

from sandlot.control.climbing.kicking import Kicking
from sandlot.control.climbing.neural import Neural
from sandlot.errors import SettingError
from sandlot.learning.imitation import EVERY, learn, scaled, supervised, train, training_set
from sandlot.models.dense import forward
from sandlot.places.course_kinds import Box, Stairs
from sandlot.robots.climber import load_climber
from sandlot.worlds.obstacles.vector import ObstaclesVector
from sandlot.worlds.rollout import rollout

CLIMBER = load_climber()
KINDS = [Box(distance=0.8, height=0.05 + 0.03 * k, depth=0.5) for k in range(6)] + [Box(distance=0.8, height=0.6)]


@pytest.fixture(scope="module")
def lessons():
    return supervised(CLIMBER, KINDS, seed=0)


def test_the_training_set_is_that_of_the_source():
    kinds = list(training_set())
    stairs, boxes = (([each for each in kinds if isinstance(each, kind)]) for kind in (Stairs, Box))
    assert len(stairs) == 100
    assert {round(each.tread, 2) for each in stairs} == {round(0.05 * k, 2) for k in range(1, 11)}
    assert {round(np.rad2deg(each.angle)) for each in stairs} == set(range(5, 51, 5))
    assert {round(each.depth, 2) for each in boxes} == {round(0.1 * k, 1) for k in range(1, 11)}
    assert min(each.height for each in boxes) == 0.05


def test_only_successful_runs_are_learned_from(lessons):
    assert lessons.passed.tolist() == [True] * 6 + [False]
    alone = [supervised(CLIMBER, [kind], seed=k) for k, kind in enumerate(KINDS[:6])]
    assert len(lessons.observations) == sum(len(each.observations) for each in alone)
    assert lessons.observations.shape[1] == 10 + 5 * 201
    assert EVERY == 5


def test_samples_pair_what_was_seen_with_what_was_done(lessons):
    """The teacher has no memory for the front axle while it is not stuck: it does the same when it sees the same."""
    again = Kicking(CLIMBER, 5)
    again.reset([np.random.SeedSequence(0)] * len(lessons.observations))
    found = again.act(lessons.observations)[:, 0]
    assert np.mean(np.abs(found - lessons.angles) < 0.02) > 0.9


def test_the_net_imitates_and_climbs(lessons):
    net, trained = learn(lessons, np.random.default_rng(0))
    assert trained.errors[-1] < 0.1 * np.var(lessons.angles / np.pi)
    np.testing.assert_allclose(
        np.mean((forward(net, lessons.observations)[:, 0] - lessons.angles) ** 2) / np.pi**2,
        trained.errors[-1],
        rtol=1e-6,
    )
    world = ObstaclesVector(num_envs=2, autoreset_mode="Disabled", rows=5)
    kinds, passed = [Box(distance=0.8, height=0.1), Box(distance=0.8, height=0.15)], np.zeros(2, np.bool_)
    for step in rollout(world, Neural(CLIMBER, net), 3, 600, options={"courses": kinds}):
        passed |= step.ended & world.task.passed
    assert passed.all()


def test_inputs_are_scaled_to_their_range():
    low, high = np.array([0.0, -2.0, 1.0]), np.array([4.0, 2.0, 1.0])
    np.testing.assert_allclose(
        scaled(np.array([[0.0, 2.0, 7.0], [1.0, 0.0, 1.0]]), low, high), [[-1, 1, 0], [-0.5, 0, 0]]
    )


def test_the_card_says_what_was_taught(monkeypatch, lessons):
    monkeypatch.setattr("sandlot.learning.imitation.supervised", lambda *_: lessons)
    net, card = train(CLIMBER)
    found = forward(net, lessons.observations)[:, 0] / np.pi
    (error,) = card.errors.values()
    assert error == pytest.approx(np.mean((found - lessons.angles / np.pi) ** 2), abs=1e-6)
    assert card.settings["training"]["passed"] == 6
    assert card.valid_ranges["pitch [rad]"] == (lessons.observations[:, 1].min(), lessons.observations[:, 1].max())


def test_courses_of_a_reset_are_one_for_each_world():
    world = ObstaclesVector(num_envs=2)
    with pytest.raises(SettingError, match="must be 2 course kinds"):
        world.reset(seed=0, options={"courses": KINDS[:1]})
    world.reset(seed=0, options={"courses": KINDS[:2]})
    heights = [course.heights(np.array([1.0]))[0] for course in world.task.climbers.courses]
    assert heights == pytest.approx([0.05, 0.08])
