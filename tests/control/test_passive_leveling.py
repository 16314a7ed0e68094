"""Leveling by driving alone: each rule against readings that are made up."""

import math

import numpy as np
import pytest

from sandlot.control.passive_leveling import (
    PEAKS,
    SEEKING,
    SPINNING,
    WALKING,
    PassiveLeveling,
    PassiveRule,
    forget,
    is_high,
    remember,
)

TOP, RADIUS, INTERVAL = [(0.25, 2.6), (0.5, 1.0)], [0.03, 0.06], 0.01


def controller(kind, starts=((0.0, 0.0), (3.0, 4.0)), seed=0, **given):
    made = PassiveLeveling(PassiveRule(kind=kind, **given), TOP, RADIUS, starts, INTERVAL)
    made.reset([np.random.SeedSequence(seed)])
    return made


def reading(up=0.0, yaw=0.0, wheels=0.0):
    """Both rovers read the same attitude [rad] and wheel speeds [rad/s]."""
    seen = np.zeros((1, 2, 11), np.float32)
    seen[..., 1], seen[..., 2], seen[..., 9:] = -up, yaw, wheels
    return seen


def test_charges_straight_and_fast_exactly_while_the_nose_is_up():
    rule = controller("charge")
    walk = rule.act(reading(0.099))[0]
    assert (walk[:, 0] < 0.6 * np.array(TOP)[:, 0]).all()
    for _ in range(500):
        np.testing.assert_array_equal(rule.act(reading(0.101))[0], [(0.25, 0.0), (0.5, 0.0)])
    rule.act(reading(0.099))
    assert (rule.minds["doing"] == WALKING).all()
    assert (rule.minds["climbs"] == 1).all()


def test_a_rover_that_climbs_for_too_long_turns_and_walks_on():
    rule = controller("charge", climb_time=2.0)
    commands = np.array([rule.act(reading(0.2))[0] for _ in range(705)])
    assert (commands[:201, :, 1] == 0.0).all()
    np.testing.assert_allclose(np.abs(commands[201:701, :, 1]), np.tile(0.8 * np.array(TOP)[:, 1], (500, 1)))
    assert (rule.minds["stuck"] == 1).all()
    assert (rule.minds["spins"] == 0).all()


def test_walks_with_commands_that_last_and_cover_all_directions():
    rule = controller("walk")
    commands = np.array([rule.act(reading(0.5))[0] for _ in range(60_000)])
    changes = np.flatnonzero(np.any(np.diff(commands[:, 0], axis=0) != 0.0, axis=1))
    held = np.diff(changes) * INTERVAL
    assert 0.5 - 1e-9 <= held.min() < 0.55
    assert 2.45 < held.max() <= 2.5 + 1e-9
    shares = commands[:, 0] / TOP[0]
    assert shares[:, 0].min() >= 0.0
    assert 0.55 < shares[:, 0].max() <= 0.6
    assert -0.4 <= shares[:, 1].min() < -0.37
    assert 0.37 < shares[:, 1].max() <= 0.4
    assert abs(shares[:, 1].mean()) < 0.05
    assert not np.array_equal(commands[:, 0] / TOP[0], commands[:, 1] / TOP[1])


def test_spins_once_it_has_passed_a_peak():
    rule = controller("spin")
    rule.act(reading(0.2))
    for up in (0.05, 0.0, -0.019):
        np.testing.assert_array_equal(rule.act(reading(up))[0, :, 1], 0.0)
    for _ in range(500):
        command = rule.act(reading(-0.1))[0]
        np.testing.assert_array_equal(command[:, 0], 0.0)
        np.testing.assert_allclose(np.abs(command[:, 1]), 0.8 * np.array(TOP)[:, 1])
    for _ in range(2):
        rule.act(reading(-0.1))
    assert (rule.minds["doing"] == WALKING).all()
    assert (rule.minds["spins"] == 1).all()


def test_odometry_follows_wheels_yaw_and_pitch():
    rule = controller("memory")
    for _ in range(100):
        rule.act(reading(0.3, 0.5, 2.0))
    rolled = 2.0 * np.array(RADIUS)
    expected = np.stack(
        [
            rolled * math.cos(0.3) * math.cos(0.5) + [0.0, 3.0],
            rolled * math.cos(0.3) * math.sin(0.5) + [0.0, 4.0],
            rolled * math.sin(0.3),
        ],
        axis=1,
    )
    np.testing.assert_allclose(rule.minds["position"][0], expected, atol=1e-6)


def visit(rule, yaw):
    """Let both rovers drive over a peak, spin, and walk for a while without moving."""
    for _ in range(100):
        rule.act(reading(0.2, yaw, 5.0))
    for _ in range(502):
        rule.act(reading(-0.05, yaw))


@pytest.mark.parametrize("kind", ["memory", "shared"])
def test_returns_to_the_highest_peak_and_spins_there(kind):
    rule = controller(kind)
    visit(rule, 0.5)
    peak = rule.minds["position"][0].copy()
    memory = rule.peaks[0, 0, :1] if kind == "memory" else rule.peaks[0, 0, :2]
    np.testing.assert_allclose(memory[0, :2], peak[0, :2], atol=1e-9)
    np.testing.assert_array_equal(rule.known[0, :, 0], [1, 1] if kind == "memory" else [2, 0])
    for _ in range(2003):
        rule.act(reading(0.0, 2.0, 1.0))
    assert (rule.minds["doing"] == SEEKING).all()
    highest = memory[np.argmax(memory[:, 2]), :2]
    np.testing.assert_array_equal(rule.minds["goal"][0, 0], highest)
    if kind == "shared":
        np.testing.assert_array_equal(rule.minds["goal"][0, 1], highest)


def test_a_rover_that_seeks_a_peak_turns_to_it_and_arrives():
    rule = controller("memory")
    rule.minds["doing"], rule.minds["goal"], rule.minds["frames"] = SEEKING, (0.3, 0.4), 2000
    rule.minds["position"][:] = 0.0
    yaw = -2.0
    for _ in range(2000):
        speed, turn = rule.act(reading(0.0, yaw, 0.0))[0, 0]
        yaw += INTERVAL * turn
        rule.minds["position"][0, 0, :2] += INTERVAL * speed * np.array([math.cos(yaw), math.sin(yaw)])
        if rule.minds["doing"][0, 0] == SPINNING:
            break
    assert rule.minds["visits"][0, 0] == 1
    assert math.dist(rule.peaks[0, 0, 0, :2], (0.3, 0.4)) < 0.11


def test_forgets_a_peak_that_it_cannot_reach():
    rule = controller("memory", seek_time=1.0)
    remember(rule.peaks[0, 0], rule.known[0, 0], 5.0, 5.0, 1.0, 0.3)
    rule.minds["doing"], rule.minds["goal"], rule.minds["frames"] = SEEKING, (5.0, 5.0), 100
    for _ in range(101):
        rule.act(reading())
    assert rule.known[0, 0, 0] == 0
    assert rule.minds["doing"][0, 0] == WALKING


def test_memory_keeps_the_highest_peaks_and_merges_close_ones():
    peaks, known = np.zeros((PEAKS, 3)), np.zeros(1, np.int64)
    assert is_high(peaks, known, -1.0)
    for k in range(PEAKS):
        remember(peaks, known, float(k), 0.0, 0.1 * k, 0.3)
    remember(peaks, known, 3.1, 0.1, 0.9, 0.3)
    assert known[0] == PEAKS
    np.testing.assert_array_equal(peaks[3], (3.1, 0.1, 0.9))
    remember(peaks, known, 50.0, 0.0, -1.0, 0.3)
    assert peaks[:, 0].max() < 50.0
    remember(peaks, known, 60.0, 0.0, 0.5, 0.3)
    np.testing.assert_array_equal(peaks[0], (60.0, 0.0, 0.5))
    mean = peaks[:, 2].mean()
    assert is_high(peaks, known, mean + 1e-9)
    assert not is_high(peaks, known, mean - 1e-9)
    forget(peaks, known, 3.0, 0.0, 0.3)
    assert known[0] == PEAKS - 1
    assert np.abs(peaks[: PEAKS - 1, 0] - 3.1).min() > 0.5


def test_members_of_a_batch_are_independent_of_each_other():
    seeds = [np.random.SeedSequence(k) for k in (7, 8)]
    together, alone = controller("spin"), controller("spin", seed=8)
    together.reset(seeds)
    seen = np.concatenate([reading(0.2), reading(-0.1)])
    for _ in range(300):
        both = together.act(seen)
        np.testing.assert_array_equal(both[1], alone.act(seen[1:])[0])
    before = together.minds[0].copy()
    together.reset([np.random.SeedSequence(9)], [1])
    together.act(seen[1:], [1])
    assert np.array_equal(together.minds[0], before)
    assert together.minds["climbs"][1].sum() == 0
