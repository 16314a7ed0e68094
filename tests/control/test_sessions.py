import numpy as np
import pytest

from sandlot.control.sessions import BLOCKS, TURNING, Session, Varied, block_of

TOP = [(0.25, 2.6), (0.5, 1.0)]
NOTHING = np.zeros((1, 2, 11))


def drive(frames, seed=0, n=None):
    session = Session(TOP, frames)
    session.reset([np.random.SeedSequence(seed)])
    return np.array([session.act(NOTHING)[0] for _ in range(n or frames)])


def source(i, n, r):
    """Algorithm 5 as it is printed."""
    if i <= n / 8:
        return 3 * r, 0
    signs = [(-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (-1, 1), (1, -1)]
    for block, (linear, angular) in enumerate(signs, 1):
        if block * n / 8 <= i < (block + 1) * n / 8:
            return 3 * r * linear, r * np.pi / 2 * angular
    raise AssertionError


@pytest.mark.parametrize("frames", [8, 9, 1000, 4001])
def test_is_the_algorithm_of_the_source(frames):
    actions = drive(frames)
    full = np.array(TOP) * (1.0, TURNING)
    for i, action in enumerate(actions):
        r = np.abs(action / full).max(axis=1)
        for rover in range(2):
            linear, angular = source(i, frames, r[rover])
            wanted = (linear / 3 * full[rover, 0], angular / (np.pi / 2) * full[rover, 1])
            assert action[rover] == pytest.approx(wanted)


def test_r_changes_every_250_frames_and_for_each_rover():
    r = np.abs(drive(2000) / (np.array(TOP) * (1.0, TURNING))).max(axis=2)
    assert ((r >= 0.25) & (r < 1.0)).all()
    changes = np.flatnonzero(np.any(np.abs(np.diff(r, axis=0)) > 1e-12, axis=1)) + 1
    assert changes.tolist() == [250 * k for k in range(1, 8)]
    assert not np.isclose(r[:, 0], r[:, 1]).any()


def test_the_seed_determines_r():
    assert np.array_equal(drive(500, seed=1), drive(500, seed=1))
    assert not np.allclose(drive(500, seed=1), drive(500, seed=2))


def test_a_session_is_followed_by_another():
    actions = drive(100, n=250)
    assert (actions[100:113, :, 0] > 0).all()
    assert (actions[100:113, :, 1] == 0).all()


@pytest.mark.parametrize("frames", range(1, 30))
def test_blocks_are_in_order(frames):
    blocks = [block_of(i, frames) for i in range(frames)]
    assert blocks == sorted(blocks)
    assert 0 <= blocks[0] <= blocks[-1] <= 7


def test_the_next_episode_continues_the_session_with_its_own_seed():
    session = Session(TOP, 80)
    session.reset([np.random.SeedSequence(k) for k in (1, 2)])
    before = [session.act(np.zeros((2, 2, 11))) for _ in range(25)]
    session.reset([np.random.SeedSequence(5)], [1])
    after = [session.act(np.zeros((2, 2, 11))) for _ in range(10)]
    np.testing.assert_array_equal([each[0] for each in before + after], drive(80, seed=1, n=35))
    np.testing.assert_array_equal([each[1] for each in before], drive(80, seed=2, n=25))
    r = drive(80, seed=5, n=1)[0, :, 0] / np.array(TOP)[:, 0]
    turning = np.array([each[1] for each in after])
    np.testing.assert_array_equal(turning[:, :, 0], 0.0)
    np.testing.assert_allclose(turning[:5, :, 1], np.tile(r * np.array(TOP)[:, 1] * TURNING, (5, 1)))
    np.testing.assert_array_equal(session.act(NOTHING, [1]), [drive_from(session, 35, r)])


def drive_from(session, frame, r):
    """The commands of a frame with a given r."""
    return r[:, None] * session.speeds * BLOCKS[block_of(frame, session.frames)]


@pytest.mark.parametrize("make", [lambda: Session(TOP, 700), lambda: Varied(TOP)])
def test_actions_that_are_known_ahead_are_those_of_single_steps(make):
    """Also when fewer steps are made than the action would last, and when an episode ends."""
    one, other, rng = make(), make(), np.random.default_rng(0)
    for each in (one, other):
        each.reset([np.random.SeedSequence(4)])
    for stretch in range(60):
        actions, steps = one.ahead()
        assert steps >= 1
        made = int(rng.integers(1, steps + 1))
        for _ in range(made):
            assert np.array_equal(other.act(NOTHING), actions)
        one.skip(made)
        if stretch % 7 == 3:
            for each in (one, other):
                each.reset([np.random.SeedSequence(stretch)], [0])
