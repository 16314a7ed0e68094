"""The fast model: its steps satisfy the laws that its dense twin states, and physics."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config

from sandlot.physics.swimming import chain, rows
from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.robots.snake import Snake
from twins.swimming import TwinStep

SLOW = bool(config.DISABLE_JIT)
"""Without compilation a step takes a thousand times as long, so tests use fewer and smaller cases."""
EXAMPLES, COMMANDS = (2, 3) if SLOW else (20, 40)

compiled = pytest.mark.skipif(SLOW, reason="too slow without compilation")
seeds = st.integers(0, 2**32 - 1)
bodies = st.builds(
    Snake,
    links=st.integers(3, 4 if SLOW else 12),
    length=st.floats(0.5, 2.0),
    mass=st.floats(1.0, 300.0),
    drag=st.floats(0.5, 20.0),
    faces=st.sampled_from(["open", "all"]),
    max_torque=st.sampled_from([1e2, 1e4, 1e9]),
)

TWINS = {
    "default": {},
    "three links": {"links": 3},
    "light": {"links": 8, "mass": 0.3, "faces": "all", "max_torque": 10.0, "interval": 0.005, "step": 0.005},
    "weak motors": {"links": 8, "mass": 15.0, "max_torque": 50.0},
    "no motors": {"links": 8, "mass": 15.0, "max_torque": 1e-9},
    "strong motors": {"links": 8, "max_torque": 1e9},
    "slow joints": {"links": 6, "max_rate": 1.5},
    "narrow stops": {"links": 6, "max_angle": 0.1, "max_torque": 300.0, "mass": 300.0},
    "high gain": {"links": 5, "gain": 200.0},
}


def random_commands(seed, joints, commands=COMMANDS, count=1, reach=0.8):
    """Commands that walk at random: (commands, joints, count) [rad]."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(0.0, 0.05, (commands, joints, count))
    return np.clip(np.cumsum(steps, axis=0), -reach, reach)


def follow(snake, targets, state=None):
    state = rows.rest(snake.joints, targets.shape[2]) if state is None else state.copy()
    body = snake.record()
    for each in targets:
        chain.command(body, state, np.ascontiguousarray(each))
    return state


def place(state, snake, velocity, yaw=0.0, centre=(0.0, 0.0)):
    """Give all bodies of a state a velocity [m/s], a yaw [rad] and a position [m]."""
    state = state.copy()
    state[rows.X], state[rows.Y] = np.reshape(centre, (2, 1))
    state[rows.YAW], state[rows.COS], state[rows.SIN] = yaw, np.cos(yaw), np.sin(yaw)
    speeds = np.repeat([*velocity, 0.0], snake.links)
    state[rows.velocities(snake.joints)] = speeds[:, None]
    return state


def link_velocities(state, snake):
    """(links, 3) of a state of one body."""
    return state[rows.velocities(snake.joints)].reshape(3, snake.links).T


@pytest.mark.parametrize("changes", TWINS.values(), ids=TWINS)
def test_every_step_satisfies_the_laws_of_the_twin(changes):
    snake = Snake(**changes)
    if SLOW and snake.links > 6:
        pytest.skip("too slow without compilation")
    # One step a command, so that each can be checked; large commands, so that motors reach their limits.
    snake = snake.model_copy(update={"interval": snake.step})
    body, rng = snake.record(), np.random.default_rng(1)
    state = place(rows.rest(snake.joints, 1), snake, (1.5, -0.7), 0.4)
    limit, at_limit, at_stop = snake.max_torque * snake.step, 0, 0
    for _ in range(6 if SLOW else 60):
        targets = rng.uniform(-1.5, 1.5, snake.joints)
        before = state[:, 0].copy()
        goal = np.clip(targets, -snake.max_angle, snake.max_angle) - before[rows.joint_angles(snake.joints)]
        twin = TwinStep(snake, before, np.clip(snake.gain * goal, -snake.max_rate, snake.max_rate))
        chain.command(body, state, targets[:, None])
        after, new = state[:, 0], link_velocities(state[:, 0], snake)
        impulse, unexplained = twin.impulses(new)
        scale = max(limit, snake.link_mass * np.abs(new).max())
        assert unexplained <= 1e-8 * scale
        assert np.abs(twin.hinges() @ new.ravel()).max() <= 1e-9 * max(1.0, np.abs(new).max())
        rate = twin.motors() @ new.ravel()
        close = 1e-6 * max(1.0, np.abs(rate).max())
        held = np.abs(rate - twin.wanted) <= close
        assert (rate >= twin.low - close).all()
        assert (rate <= twin.high + close).all()
        # Held at the wanted rate by at most the largest torque; slower or faster than that at the largest torque;
        # only stops give more.
        assert (
            np.abs(impulse[held & (rate < twin.high - close) & (rate > twin.low + close)]) <= 1.000001 * limit
        ).all()
        for slow, sign, stop in (
            (rate < twin.wanted - close, 1.0, twin.low),
            (rate > twin.wanted + close, -1.0, twin.high),
        ):
            stopped = slow & (np.abs(rate - stop) <= close)
            assert (sign * impulse[stopped] >= limit * (1.0 - 1e-6) - 1e-9 * scale).all()
            np.testing.assert_allclose(impulse[slow & ~stopped], sign * limit, rtol=1e-6, atol=1e-7 * scale)
            at_limit, at_stop = at_limit + int((slow & ~stopped).sum()), at_stop + int(stopped.sum())
        np.testing.assert_allclose(after[rows.joint_angles(snake.joints)], twin.angles + snake.step * rate, atol=1e-9)
        np.testing.assert_allclose(after[:2], twin.centre + snake.step * new[:, :2].mean(axis=0), atol=1e-10)
        np.testing.assert_allclose(after[rows.YAW], before[rows.YAW] + snake.step * new[0, 2], atol=1e-12)
        np.testing.assert_allclose(after[rows.ANGULAR_MOMENTUM], twin.moment(new), rtol=1e-9, atol=1e-9 * scale)
        np.testing.assert_allclose(after[rows.HEAT] - before[rows.HEAT], twin.heated(new), rtol=1e-7, atol=1e-9 * scale)
        least, most = (np.mean(held & (np.abs(impulse) <= limit * share)) for share in (1.0 - 1e-6, 1.0 + 1e-6))
        assert least - 1e-9 <= after[rows.DRIVE] - before[rows.DRIVE] <= most + 1e-9
    if changes.get("max_torque", 0.0) == 50.0:
        assert at_limit > 10
    if "max_angle" in changes and not SLOW:
        assert at_stop > 0


@settings(max_examples=EXAMPLES, deadline=None)
@given(snake=bodies, seed=seeds, speed=st.floats(-3.0, 3.0))
def test_without_drag_momentum_is_conserved_exactly(snake, seed, speed):
    snake = snake.model_copy(update={"drag": 0.0})
    state = place(rows.rest(snake.joints, 1), snake, (speed, -0.5 * speed))
    end = follow(snake, random_commands(seed, snake.joints), state)
    velocity = link_velocities(end[:, 0], snake)
    np.testing.assert_allclose(velocity[:, :2].mean(axis=0), (speed, -0.5 * speed), rtol=0.0, atol=1e-9)
    assert abs(end[rows.ANGULAR_MOMENTUM, 0]) <= 1e-9 * snake.mass * snake.arclength**2
    assert end[rows.HEAT, 0] == 0.0


@settings(max_examples=EXAMPLES, deadline=None)
@given(snake=bodies, seed=seeds)
def test_without_motors_and_stops_energy_never_grows(snake, seed):
    """Apart from the rotation that keeps angular momentum, which adds less than a thousandth."""
    snake = snake.model_copy(update={"max_torque": 1e-9, "drag": 0.0})
    rng = np.random.default_rng(seed)
    state, n = rows.rest(snake.joints, 1), snake.links
    # Velocities of a straight chain whose links turn at random, without momentum.
    spin = rng.uniform(-1.0, 1.0, n)
    vy = np.concatenate([[0.0], np.cumsum(-0.5 * snake.length * (spin[1:] + spin[:-1]))])
    vy -= vy.mean()
    state[rows.velocities(snake.joints), 0] = np.concatenate([np.zeros(n), vy, spin])
    x = -snake.length * (np.arange(n) - 0.5 * (n - 1))
    state[rows.ANGULAR_MOMENTUM] = snake.link_mass * (x * vy).sum() + snake.inertia * spin.sum()

    def energy():
        v = link_velocities(state[:, 0], snake)
        return 0.5 * snake.link_mass * (v[:, :2] ** 2).sum() + 0.5 * snake.inertia * (v[:, 2] ** 2).sum()

    start = energy()
    for _ in range(COMMANDS):
        chain.command(snake.record(), state, np.zeros((snake.joints, 1)))
        assert energy() <= 1.001 * start


@settings(max_examples=EXAMPLES, deadline=None)
@given(snake=bodies, seed=seeds)
def test_drag_never_adds_energy(snake, seed):
    state, body, last = rows.rest(snake.joints, 1), snake.record(), 0.0
    for each in random_commands(seed, snake.joints):
        chain.command(body, state, np.ascontiguousarray(each))
        assert state[rows.HEAT, 0] >= last
        last = state[rows.HEAT, 0]


@settings(max_examples=EXAMPLES, deadline=None)
@given(snake=bodies, vx=st.floats(-5.0, 5.0), vy=st.floats(-5.0, 5.0))
def test_the_kinetic_energy_of_a_rigid_body_goes_into_heat(snake, vx, vy):
    snake = snake.model_copy(update={"max_torque": 1e9})
    state = place(rows.rest(snake.joints, 1), snake, (vx, vy))
    end = follow(snake, np.zeros((COMMANDS, snake.joints, 1)), state)
    before, after = (0.5 * snake.link_mass * (link_velocities(s[:, 0], snake)[:, :2] ** 2).sum() for s in (state, end))
    np.testing.assert_allclose(end[rows.HEAT, 0], before - after, rtol=1e-6, atol=1e-9)


@settings(max_examples=EXAMPLES, deadline=None)
@given(snake=bodies, seed=seeds)
def test_mirrored_commands_give_mirrored_motion(snake, seed):
    targets = random_commands(seed, snake.joints)
    one, other = follow(snake, targets), follow(snake, -targets)
    np.testing.assert_allclose(one[rows.X], other[rows.X], rtol=0.0, atol=1e-7)
    for row in (rows.Y, rows.YAW, rows.joint_angles(snake.joints)):
        np.testing.assert_allclose(one[row], -other[row], rtol=0.0, atol=1e-7)


@settings(max_examples=EXAMPLES, deadline=None)
@given(snake=bodies, seed=seeds, yaw=st.floats(-3.0, 3.0), x=st.floats(-50.0, 50.0))
def test_motion_is_the_same_from_any_pose(snake, seed, yaw, x):
    targets, start = random_commands(seed, snake.joints), rows.rest(snake.joints, 1)
    one, other = follow(snake, targets, start), follow(snake, targets, place(start, snake, (0.0, 0.0), yaw, (x, -x)))
    c, s = np.cos(yaw), np.sin(yaw)
    np.testing.assert_allclose(other[rows.X], c * one[rows.X] - s * one[rows.Y] + x, rtol=0.0, atol=1e-7)
    np.testing.assert_allclose(other[rows.Y], s * one[rows.X] + c * one[rows.Y] - x, rtol=0.0, atol=1e-7)
    np.testing.assert_allclose(other[rows.joint_angles(snake.joints)], one[rows.joint_angles(snake.joints)], atol=1e-7)


@compiled
def test_a_body_moves_the_same_alone_and_in_a_batch():
    """Also when its motors reach their limits, and others of its lanes need more sweeps."""
    snake, rng = Snake(), np.random.default_rng(3)
    gaits = np.stack([rng.uniform(0.1, 1.5, 24), rng.uniform(2.0, 19.0, 24), rng.uniform(0.0, 6.0, 24), np.zeros(24)])
    waves = np.repeat(gaits[:, None], snake.joints, axis=1)[None]
    waves[:, 2] *= np.arange(snake.joints)[:, None]
    together = rows.rest(snake.joints, 24)
    chain.swim(snake.record(), together, np.array([0]), waves, 100)
    for b in range(24):
        alone = rows.rest(snake.joints, 1)
        chain.swim(snake.record(), alone, np.array([0]), np.ascontiguousarray(waves[..., b : b + 1]), 100)
        assert np.array_equal(alone[:, 0], together[:, b])
    assert together[rows.DRIVE].min() < 90.0


def test_a_body_with_nan_does_not_affect_others():
    snake = Snake(links=4)
    targets = random_commands(2, snake.joints, 3, count=3)
    sound = follow(snake, targets)
    start = rows.rest(snake.joints, 3)
    start[rows.velocities(snake.joints), 1] = np.nan
    broken = follow(snake, targets, start)
    assert np.isnan(broken[rows.X, 1])
    assert np.array_equal(broken[:, [0, 2]], sound[:, [0, 2]])


@compiled
@settings(max_examples=EXAMPLES, deadline=None)
@given(seed=seeds)
def test_following_gaits_equals_single_commands(seed):
    rng, snake = np.random.default_rng(seed), Snake(links=6)
    starts, gaits = np.array([0, 7]), rng.uniform(0.1, 1.0, (2, 4, snake.joints, 3))
    state = rows.rest(snake.joints, 3)
    chain.swim(snake.record(), state, starts, gaits, 15)
    expected = rows.rest(snake.joints, 3)
    for t in range(15):
        amplitude, frequency, phase, offset = gaits[int(t >= 7)]
        targets = amplitude * np.sin(frequency * (t + 1) * snake.interval - phase) + offset
        chain.command(snake.record(), expected, targets)
    np.testing.assert_allclose(state, expected, rtol=0.0, atol=1e-9)


def test_a_run_in_two_parts_equals_one_run():
    snake = Snake(links=4)
    targets = random_commands(4, snake.joints, 6, count=2)
    assert np.array_equal(follow(snake, targets[3:], follow(snake, targets[:3])), follow(snake, targets))


@compiled
def test_the_error_shrinks_with_the_step():
    snake = Snake(links=8, mass=150.0, max_torque=1e9)
    ends = []
    for step in (0.01, 0.005, 0.0025, 0.00125):
        swimmers = FastSwimmers(snake.model_copy(update={"step": step}), 1)
        gait = np.array([0.5, 6.0, 0.0, 0.0])[:, None, None] * np.ones((4, snake.joints, 1))
        gait[2, :, 0] = 0.8 * np.arange(snake.joints)
        swimmers.swim([0.0], gait[None], 2.0)
        ends.append(swimmers.centre[0, 0])
    errors = np.abs(np.diff(ends))
    assert errors[0] > 1.5 * errors[1] > 2.25 * errors[2]


@compiled
def test_overloaded_motors_give_more_in_long_steps():
    """The best gait of section 7.7's search, where a fifth of the motors are at their limits."""
    ends = []
    for step in (0.01, 0.005, 0.0025):
        swimmers = FastSwimmers(Snake(step=step), 1)
        gait = np.array([0.58, 6.0 * np.pi, 0.0, 0.0])[:, None, None] * np.ones((4, 16, 1))
        gait[2, :, 0] = 0.61 * np.arange(16)
        swimmers.swim([0.0], gait[None], 10.0)
        ends.append(swimmers.centre[0, 0] + 12.75)
    assert ends[0] > 1.02 * ends[1] > 1.04 * ends[2]


@compiled
def test_long_bodies_stand_commands_that_jump():
    """A third of the motors are at their limits then; a body whose modes are not found would be NaN."""
    swimmers, rng = FastSwimmers(Snake(links=48), 16), np.random.default_rng(0)
    for _ in range(20):
        swimmers.command(rng.uniform(-1.5, 1.5, (16, 47)))
    assert not swimmers.exploded.any()
    assert swimmers.drive.max() < 0.7


@compiled
def test_weaker_motors_are_at_their_limits_more_often():
    shares = []
    for torque in (1e9, 1e5, 1e4, 1e3):
        swimmers = FastSwimmers(Snake(max_torque=torque), 1)
        gait = np.array([0.46, 4.0 * np.pi, 0.0, 0.0])[:, None, None] * np.ones((4, 16, 1))
        gait[2, :, 0] = 0.68 * np.arange(16)
        swimmers.swim([0.0], gait[None], 4.0)
        shares.append(swimmers.drive[0])
    assert shares[0] == pytest.approx(1.0)
    assert np.all(np.diff(shares) < 0.0)


@settings(max_examples=EXAMPLES, deadline=None)
@given(snake=bodies, seed=seeds)
def test_joints_stay_within_their_stops(snake, seed):
    snake = snake.model_copy(update={"max_angle": 0.5})
    state, body = rows.rest(snake.joints, 1), snake.record()
    for each in 3.0 * random_commands(seed, snake.joints):
        chain.command(body, state, np.ascontiguousarray(each))
        assert np.abs(state[rows.joint_angles(snake.joints)]).max() <= 0.5 + 1e-9


def test_a_straight_body_slows_down_exponentially():
    snake = Snake(links=4, mass=75.0, faces="all", step=0.001)
    body = snake.record()
    state = place(rows.rest(snake.joints, 1), snake, (2.0, 0.0))
    end = follow(snake, np.zeros((5, snake.joints, 1)), state)
    expected = 2.0 * np.exp(-body["end_drag"] / snake.link_mass * 5 * snake.interval)
    assert link_velocities(end[:, 0], snake)[:, 0] == pytest.approx(expected, rel=1e-6)


def test_a_straight_body_at_rest_stays_at_rest():
    state = follow(Snake(links=5), np.zeros((3, 4, 2)))
    assert np.array_equal(state[: rows.DRIVE], rows.rest(4, 2)[: rows.DRIVE])
    assert not state[rows.velocities(4)].any()
