"""The batch of climbing robots that policies are trained in."""

import numpy as np
import pytest

from sandlot.control.climbing.policy import SHIPPED
from sandlot.control.climbing.senses import BEHIND, CELL, STATES
from sandlot.errors import ModelError
from sandlot.learning.climber import ClimberTraining, failures, train
from sandlot.learning.climber_stages import STAGES, train_in_stages
from sandlot.learning.climbing import ClimbBatch, Randomness
from sandlot.learning.obstacle_pool import KINDS, LEVELS, NAMES, Pool, SteepStairs
from sandlot.learning.ppo import Ppo
from sandlot.models.dense import load_dense
from sandlot.robots.climber import load_climber

CLIMBER = load_climber()
EXACT = Randomness(size=0.0, mass=0.0, motor=0.0, load=0.0, friction=0.0, bias=0.0, noise=0.0, angle=0.0)
DRIVE = np.array([0.0, 0.0, 0.8])


def batch(count=24, **given):
    return ClimbBatch(CLIMBER, count, np.random.default_rng(0), each=2, **given)


def test_the_profile_is_the_highest_ground_of_each_cell():
    robots = batch(randomness=EXACT)
    seen = robots.reset()
    heights = seen[:, STATES:] / 2.0
    for k in range(robots.count):
        x, _, z = robots.climbers.position[k]
        for cell in (0, BEHIND, BEHIND + 13, BEHIND + 19):
            low = x + (cell - BEHIND) * CELL
            course = robots.climbers.courses[k]
            corners = course.profile[(course.profile[:, 0] >= low) & (course.profile[:, 0] <= low + CELL), 0]
            there = course.heights(np.array([low + 1e-9, low + CELL - 1e-9, *corners])).max() - z
            assert heights[k, cell] == pytest.approx(np.clip(there, -1.0, 1.0), abs=1e-6)


def test_robots_that_pass_go_up_a_level_and_those_that_do_not_go_down():
    robots = batch()
    robots.reset()
    before = robots.levels.copy()
    ended_once = np.zeros(robots.count, np.bool_)
    for _ in range(500):
        now = robots.levels.copy()
        _, rewards, ended, late = robots.step(np.tile(DRIVE, (robots.count, 1)))
        over = ended | late
        ended_once |= over
        assert (robots.levels[~over] == now[~over]).all()
        passed = over & (rewards > 0.5)
        assert (robots.levels[passed & (now < LEVELS - 1)] == now[passed & (now < LEVELS - 1)] + 1).all()
        failed = ended & (rewards < 0.0)
        assert (robots.levels[failed] == np.maximum(now[failed] - 1, 0)).all()
    assert ended_once.all()
    assert robots.outcomes[:, 0].sum() >= robots.count
    assert (robots.levels != before).any()


def test_robots_differ_and_masses_are_as_given():
    robots = batch(count=200)
    robots.reset()
    masses = robots.climbers.robots.body_mass / CLIMBER.body.mass
    assert 0.8 <= masses.min() < 0.85
    assert 1.15 < masses.max() <= 1.2
    exact = batch(randomness=EXACT)
    exact.reset()
    np.testing.assert_allclose(exact.climbers.robots.body_mass, CLIMBER.body.mass)


def test_higher_levels_are_higher():
    pool = Pool(3, np.random.default_rng(0), SteepStairs(share=0.5))
    heights = np.array([np.ptp(each.profile[:, 1]) for each in pool.courses]).reshape(len(NAMES), LEVELS, 3)
    for kind, name in enumerate(KINDS):
        if name != "trench":  # it grows in width
            assert heights[kind, -1].max() > 2.0 * heights[kind, 0].max()


def test_steep_stairs_get_their_share_of_the_robots_and_the_other_kinds_keep_theirs():
    robots = ClimbBatch(CLIMBER, 1000, np.random.default_rng(0), each=2, steep=SteepStairs(share=0.4))
    shares = np.bincount(robots.kinds, minlength=len(NAMES)) / 1000
    assert shares == pytest.approx([0.6 * share for _, share in KINDS.values()] + [0.4], abs=0.002)
    kind = len(KINDS)
    for level, (low, high) in ((0, (31.6, 34.0)), (LEVELS - 1, (50.2, 54.0))):
        for course in robots.pool.courses[(kind * LEVELS + level) * 2 :][:2]:
            _, edge, inner = course.profile[course.profile[:, 0] >= course.near][:3]
            assert low <= np.degrees(np.arctan2(edge[1], inner[0] - edge[0])) <= high
    without = ClimbBatch(CLIMBER, 1000, np.random.default_rng(0), each=2)
    assert kind not in without.kinds
    assert len(without.pool.courses) == len(KINDS) * LEVELS * 2


def test_the_card_counts_the_failures_of_the_last_tenth_of_the_iterations():
    """Two episodes of each kind in each iteration; in the last two of 20, one more fails."""
    outcomes = [np.tile([2, 2], (len(NAMES), 1)) for _ in range(18)] + [np.tile([2, 1], (len(NAMES), 1))] * 2
    outcomes[-1] = outcomes[-1].copy()
    outcomes[-1][0] = 6, 0
    found = failures(outcomes)
    assert len(found) == len(NAMES)
    assert found["failures on box in the last 2 iterations of training [1]"] == pytest.approx(7 / 8)
    assert found["failures on rubble in the last 2 iterations of training [1]"] == pytest.approx(0.5)


def test_a_short_training_makes_a_climber_and_its_card():
    pytest.importorskip("torch")
    settings = ClimberTraining(robots=64, courses=1, ppo=Ppo(iterations=2, horizon=8))
    reports = []
    nets, card = train(CLIMBER, settings, progress=lambda update, kinds: reports.append(kinds))
    (again, _), _ = train(CLIMBER, settings, threads=2)
    net = nets.policy
    assert net.sizes.tolist() == [46, 64, 64, 3]
    np.testing.assert_array_equal(net.weights, again.weights)
    assert list(reports[-1]) == list(KINDS)
    assert ClimberTraining.model_validate(card.settings["training"]) == settings
    further, later = train(CLIMBER, settings.model_copy(update={"steep": SteepStairs(share=0.5)}), start=(nets, card))
    for new, old in zip(further, nets, strict=True):
        assert 0.0 < np.abs(new.weights - old.weights).max() < 0.1  # random nets differ by more than 1
    assert later.settings["training"]["before"] == card.settings["training"]


def test_training_in_stages_goes_on_after_the_last_finished_one(tmp_path):
    pytest.importorskip("torch")
    first = ClimberTraining(robots=32, courses=1, ppo=Ppo(iterations=1, horizon=8))
    second = first.model_copy(update={"seed": 1})
    begun, card = train(CLIMBER, first)
    nets, _ = train(CLIMBER, second, start=(begun, card))
    train_in_stages(CLIMBER, (first,), tmp_path)
    done = []
    again, later = train_in_stages(
        CLIMBER, (first, second), tmp_path, progress=lambda stage, update: done.append(stage)
    )
    assert done == [1]
    for new, old in zip(again, nets, strict=True):
        np.testing.assert_array_equal(new.weights, old.weights)
    assert later.settings["training"]["before"] == card.settings["training"]
    with pytest.raises(ModelError, match="other settings"):
        train_in_stages(CLIMBER, (second,), tmp_path)


def test_the_shipped_climber_was_trained_in_the_stages_that_the_command_runs():
    """Its card holds the settings of every stage, the last one outermost."""
    _, card = load_dense(SHIPPED)
    kept = card.settings["training"]
    for stage in reversed(STAGES):
        before = kept.pop("before", None)
        assert ClimberTraining.model_validate(kept) == stage
        kept = before
    assert kept is None
