import numpy as np
import pytest

from sandlot.control.sessions import TURNING, Session, block_of

TOP = [(0.25, 2.6), (0.5, 1.0)]


def drive(frames, seed=0, n=None):
    session = Session(TOP, np.random.SeedSequence(seed), frames)
    return np.array([session(None) for _ in range(n or frames)])


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


def test_the_seed_decides():
    assert np.array_equal(drive(500, seed=1), drive(500, seed=1))
    assert not np.allclose(drive(500, seed=1), drive(500, seed=2))


def test_a_session_follows_another():
    actions = drive(100, n=250)
    assert (actions[100:113, :, 0] > 0).all()
    assert (actions[100:113, :, 1] == 0).all()


@pytest.mark.parametrize("frames", range(1, 30))
def test_blocks_are_in_order(frames):
    blocks = [block_of(i, frames) for i in range(frames)]
    assert blocks == sorted(blocks)
    assert 0 <= blocks[0] <= blocks[-1] <= 7
