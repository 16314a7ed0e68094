"""Gaits: the wave of each joint, when it begins, and which gaits are refused."""

import numpy as np
import pytest

from sandlot.control.snake.gaits import STRAIGHT, Gait, GaitController, Schedule, fold, grasp_poses, pose, spin, then
from sandlot.errors import SandlotError
from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.robots.snake import Snake

GAIT = Gait(amplitude=0.2, frequency=1.0, phase=2.0 * np.pi / 16.0, veer=0.3)
SLOW = Snake(links=4, mass=75.0, interval=0.05, step=0.05)


def test_a_gait_is_equation_3_4():
    amplitude, frequency, phase, veer = GAIT.waves(3)
    np.testing.assert_allclose(amplitude, 0.2)
    np.testing.assert_allclose(frequency, 2.0 * np.pi)
    np.testing.assert_allclose(phase, np.arange(3) * np.pi / 8.0)
    np.testing.assert_allclose(veer, 0.3)
    np.testing.assert_allclose(GAIT.targets(0.25, 3)[0], 0.5)


def test_a_lag_is_added_to_the_phase():
    lags = (0.1, 0.2, 0.3)
    np.testing.assert_allclose(Gait(phase=1.0, lag=lags).waves(3)[2], np.arange(3) + lags)
    with pytest.raises(SandlotError, match="lag has 3 values; this body has 4 joints"):
        Gait(lag=lags).waves(4)


def test_a_later_gait_is_shifted_in_time():
    each = Gait(amplitude=0.5, frequency=(1.0, 2.0, 0.5), phase=0.7, veer=0.1)
    for gait in (GAIT, each):
        np.testing.assert_allclose(gait.later(3.1).targets(4.0, 3), gait.targets(0.9, 3), atol=1e-12)


def test_a_reversed_wave_travels_from_tail_to_head():
    gait = spin(GAIT, 4)
    np.testing.assert_array_equal(gait.reversed().waves(4)[2], -gait.waves(4)[2])
    assert GAIT.reversed().phase == -GAIT.phase


@pytest.mark.parametrize("left", [True, False])
def test_a_spin_has_the_phases_of_equations_3_6_and_3_7(left):
    amplitude, frequency, phase, veer = spin(GAIT, 16, left).waves(16)
    n, beta = 16, 2.0 * np.pi / 16.0
    # By equation 3.6, with the sign that lets waves run from the middle to the ends: later joints lead in front.
    steps = np.array([i - n / 2 if i <= n / 2 else n / 2 + 1 - i for i in range(1, n + 1)])
    np.testing.assert_allclose(phase, -steps * beta)
    np.testing.assert_allclose(phase, phase[::-1])
    sides = np.array([1.0 if i <= n / 2 else -1.0 for i in range(1, n + 1)])
    np.testing.assert_allclose(veer, 0.3 * sides * (-1.0 if left else 1.0))
    np.testing.assert_allclose(amplitude, 0.2)
    np.testing.assert_allclose(frequency, 2.0 * np.pi)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"phase": (0.1, 0.2, 0.3)}, "phase has 3 values; allowed here: one for all joints"),
        ({"veer": (0.1, 0.2, 0.3)}, "veer has 3 values"),
        ({"frequency": (1.0, 2.0, 3.0)}, "frequency has 3 values"),
        ({"frequency": 0.0}, "frequency=0 is not possible here; allowed: a number above 0"),
    ],
)
def test_a_gait_that_cannot_spin_is_explained(changes, message):
    with pytest.raises(SandlotError, match=message):
        spin(GAIT.model_copy(update=changes), 3)


def test_the_kernel_and_a_schedule_change_gaits_at_the_same_command():
    """Also where starts lie between commands, and where several gaits begin within one."""
    starts = (0.0, 0.06, 0.09, 0.1, 0.12, 0.28, 0.29)
    plan = Schedule(starts, tuple(pose(np.full(3, 0.01 * k)) for k in range(len(starts))))
    by_kernel, by_schedule = FastSwimmers(SLOW, 1), FastSwimmers(SLOW, 1)
    by_kernel.swim(plan.starts, plan.waves(3)[..., None], 0.5)
    for k in range(10):
        by_schedule.command(plan.targets((k + 1) * SLOW.interval, SLOW)[None])
    np.testing.assert_allclose(by_kernel.state, by_schedule.state, atol=1e-12)


def test_a_fold_interpolates_linearly():
    end = np.array([0.1, 0.2, 0.3])
    plan = fold(np.zeros(3), end, 0.5, SLOW.interval)
    commands = [plan.targets((k + 1) * SLOW.interval, SLOW) for k in range(12)]
    np.testing.assert_allclose(np.diff(commands, axis=0)[:9], np.tile(end / 10, (9, 1)))
    np.testing.assert_allclose(commands[9:], np.tile(end, (3, 1)))


def test_schedules_can_be_concatenated():
    plan = then(Schedule((0.0,), (STRAIGHT,)), Schedule((0.5,), (GAIT,)))
    assert not plan.targets(0.5, SLOW).any()
    np.testing.assert_allclose(plan.targets(0.55, SLOW), GAIT.targets(0.55, 3))


def test_a_grasp_needs_three_joints_and_one_to_spare():
    assert len(grasp_poses(7, 3)) == 5
    for joints, grasping in ((7, 2), (7, 7)):
        with pytest.raises(SandlotError, match=f"{grasping} grasping joints are not possible .* 3 to 6"):
            grasp_poses(joints, grasping)
    with pytest.raises(SandlotError, match="this body has 3"):
        grasp_poses(3, 3)
    assert np.abs(grasp_poses(7, 3)).max() <= Snake().max_angle


def test_a_gait_as_a_controller_gives_the_targets_of_the_next_command():
    times = np.array([1.0, 0.0, 2.34])
    observations = np.zeros((3, 14))
    observations[:, 0] = times
    controller = GaitController(GAIT, SLOW)
    actions = controller.act(observations)
    for action, observation, time in zip(actions, observations, times, strict=True):
        np.testing.assert_allclose(action, GAIT.targets(time + 0.05, 3), atol=1e-12)
        np.testing.assert_array_equal(action, controller.act(observation[None])[0])
    wide = GaitController(Gait(veer=9.0), SLOW).act(observations)
    np.testing.assert_array_equal(wide, np.full((3, 3), SLOW.max_angle))
