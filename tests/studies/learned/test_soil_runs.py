import numpy as np
import pytest

from sandlot.studies.learned.soil_runs import Correction, SoilRun, integrate, motion_of


def drive(frames, seed=0):
    rng = np.random.default_rng(seed)
    motion = np.column_stack([rng.normal(0.1, 0.05, frames), rng.normal(0.0, 0.01, frames), rng.normal(0, 0.5, frames)])
    poses = integrate(np.array([0.3, -0.2, 3.0]), motion, 0.01)
    six = np.column_stack([poses[:, :2], np.zeros((frames + 1, 3)), poses[:, 2]])
    return SoilRun(six, rng.normal(size=(frames, 2)), 0.01), motion


def test_motion_and_poses_are_inverses_of_each_other():
    run, motion = drive(200)
    assert run.motion == pytest.approx(motion, abs=1e-9)
    assert motion_of(run.poses[:, [0, 1, 5]], 0.01) == pytest.approx(motion, abs=1e-9)


def test_a_straight_drive_goes_where_it_looks():
    end = integrate(np.array([1.0, 2.0, 0.5 * np.pi]), np.tile((0.2, 0.0, 0.0), (100, 1)), 0.01)[-1]
    assert end == pytest.approx((1.0, 2.2, 0.5 * np.pi))


def test_a_net_learns_that_soil_is_too_fast():
    """Where the recorded rover has 80% of the speed, and drifts to the left."""
    runs, motions = zip(*(drive(300, seed) for seed in range(3)), strict=True)
    wanted = [motion * (0.8, 1.0, 1.0) + (0.0, 0.01, 0.0) for motion in motions]
    net = Correction(list(runs[:2]), np.vstack(wanted[:2]), 0)
    truth = integrate(runs[2].poses[0, [0, 1, 5]], wanted[2], 0.01)
    corrected = net.poses(runs[2])
    off = np.hypot(*(corrected[-1, :2] - truth[-1, :2]))
    assert off < 0.1 * np.hypot(*(runs[2].poses[-1, :2] - truth[-1, :2]))
