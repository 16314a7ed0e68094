"""The reduced model agrees with its plain twin, and with physics."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config

from sandlot.physics.swimming import reduced, rows
from sandlot.robots.snake import Snake
from twins.swimming import TwinSwimmer, rotation

SLOW = bool(config.DISABLE_JIT)
"""Without compilation a step takes a thousand times as long, so tests use fewer and smaller cases."""
EXAMPLES, COMMANDS = (3, 4) if SLOW else (20, 40)

pytestmark = pytest.mark.filterwarnings("ignore:divide by zero")
"""A joint that needs no torque divides by zero, which compiled code does silently."""

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


def random_commands(seed, joints, commands=COMMANDS, count=1, reach=0.8):
    """Random commands that change slowly enough for the servos: (commands, joints, count) [rad]."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(0.0, 0.05, (commands, joints, count))
    return np.clip(np.cumsum(steps, axis=0), -reach, reach)


def follow(snake, targets, state=None):
    state = rows.rest(snake.joints, targets.shape[2]) if state is None else state.copy()
    body = snake.record()
    for each in targets:
        reduced.command(body, state, np.ascontiguousarray(each))
    return state


def place(state, snake, velocity, yaw=0.0, centre=(0.0, 0.0)):
    """Give all bodies of a state a velocity [m/s], a yaw [rad] and a position [m]."""
    state = state.copy()
    state[rows.X], state[rows.Y] = np.reshape(centre, (2, 1))
    state[rows.YAW], state[rows.COS], state[rows.SIN] = yaw, np.cos(yaw), np.sin(yaw)
    state[rows.MOMENTUM_X], state[rows.MOMENTUM_Y] = snake.mass * np.reshape(velocity, (2, 1))
    state[rows.SURGE], state[rows.SWAY] = np.reshape(rotation(-yaw) @ velocity, (2, 1))
    return state


TWINS = {
    "default": {},
    "three links": {"links": 3},
    "all faces": {"links": 8, "mass": 0.3, "faces": "all"},
    "weak motors": {"links": 8, "mass": 5.0, "max_torque": 500.0},
    "slow joints": {"links": 6, "max_rate": 1.5},
    "narrow stops": {"links": 6, "max_angle": 0.3},
    "long steps": {"links": 5, "step": 0.02},
    "short steps": {"links": 5, "step": 0.001},
}


@pytest.mark.parametrize("velocity", [(0.0, 0.0), (1.5, -0.7)], ids=["still water", "current"])
@pytest.mark.parametrize("changes", TWINS.values(), ids=TWINS)
def test_the_kernel_agrees_with_its_twin(changes, velocity):
    snake = Snake(**changes)
    if SLOW and snake.links > 8:
        pytest.skip("too slow without compilation")
    targets = random_commands(1, snake.joints, 4 if SLOW else 40, reach=1.0) * 2.0
    yaw = 0.4
    twin = TwinSwimmer(snake.record(), yaw, np.array(velocity))
    state = place(rows.rest(snake.joints, 1), snake, velocity, yaw)
    for each in targets:
        twin.command(each[:, 0])
        reduced.command(snake.record(), state, each)
    found = state[:, 0]
    pose = np.array([*twin.centre, twin.yaw])
    assert found[[rows.X, rows.Y, rows.YAW]] == pytest.approx(pose, rel=1e-6, abs=1e-7)
    momenta = np.array([*twin.momentum, twin.angular_momentum])
    assert found[[rows.MOMENTUM_X, rows.MOMENTUM_Y, rows.ANGULAR_MOMENTUM]] == pytest.approx(
        momenta, rel=1e-6, abs=1e-6 * snake.mass
    )
    assert found[rows.joint_angles(snake.joints)] == pytest.approx(twin.angles, abs=1e-7)
    assert found[rows.DRIVE] == pytest.approx(twin.shares, rel=1e-6)
    assert found[rows.HEAT] == pytest.approx(twin.heat, rel=1e-6)


def test_the_compared_cases_reach_the_torque_limit():
    """Otherwise the comparison would not test it."""
    twins = {}
    for name in ("three links", "weak motors"):
        snake = Snake(**TWINS[name])
        twins[name] = TwinSwimmer(snake.record(), 0.4, np.array([1.5, -0.7]))
        for each in random_commands(1, snake.joints, 40, reach=1.0) * 2.0:
            twins[name].command(each[:, 0])
    assert twins["three links"].shares == 40
    assert 4 < twins["weak motors"].shares < 36


def test_the_kernel_agrees_with_its_twin_when_motors_cannot_keep_the_joint_rates():
    snake = Snake(links=6, mass=5.0, max_torque=1.0)
    rates = np.array([3.0, -2.0, 4.0, -3.0, 2.0])
    twin, state = TwinSwimmer(snake.record()), rows.rest(5, 1)
    twin.rates = rates
    state[rows.joint_rates(5), 0] = rates
    for each in random_commands(1, 5, 4 if SLOW else 20):
        twin.command(each[:, 0])
        reduced.command(snake.record(), state, each)
    assert twin.yields > 0
    pose = np.array([*twin.centre, twin.yaw])
    assert state[[rows.X, rows.Y, rows.YAW], 0] == pytest.approx(pose, rel=1e-6, abs=1e-7)
    assert state[rows.joint_angles(5), 0] == pytest.approx(twin.angles, abs=1e-7)
    assert state[rows.DRIVE, 0] == pytest.approx(twin.shares, rel=1e-6)


def test_planned_accelerations_are_those_that_a_command_applies():
    snake = Snake(links=5, mass=5.0, max_torque=500.0)
    body, state, joints = snake.record(), rows.rest(4, 2), snake.joints
    for targets in 2.0 * random_commands(1, joints, 4 if SLOW else 20, count=2):
        planned, accelerations = state.copy(), np.empty((joints, 2))
        reduced.plan(body, planned, targets, accelerations)
        before = state[rows.joint_rates(joints)].copy()
        reduced.command(body, state, targets)
        assert state[rows.joint_rates(joints)] == pytest.approx(before + snake.interval * accelerations, abs=1e-9)
        assert np.array_equal(state[rows.last_commands(joints)], planned[rows.last_commands(joints)])
        assert np.array_equal(state[rows.DRIVE], planned[rows.DRIVE])
        assert np.abs(accelerations).max() > 0.0


@settings(max_examples=EXAMPLES)
@given(bodies, seeds, st.floats(-2.0, 2.0))
def test_without_drag_momentum_is_conserved_exactly(snake, seed, speed):
    snake = snake.model_copy(update={"drag": 0.0})
    before = place(rows.rest(snake.joints, 1), snake, (speed, 0.3))
    after = follow(snake, random_commands(seed, snake.joints), before)
    for row in (rows.MOMENTUM_X, rows.MOMENTUM_Y, rows.ANGULAR_MOMENTUM, rows.HEAT):
        assert after[row] == before[row]
    distance = COMMANDS * snake.interval * np.array([speed, 0.3])
    assert after[[rows.X, rows.Y], 0] == pytest.approx(distance, rel=1e-5, abs=1e-9)


@settings(max_examples=EXAMPLES)
@given(bodies, seeds)
def test_without_drag_the_centre_of_mass_stays(snake, seed):
    snake = snake.model_copy(update={"drag": 0.0})
    after = follow(snake, random_commands(seed, snake.joints))
    assert np.abs(after[[rows.X, rows.Y, rows.MOMENTUM_X, rows.MOMENTUM_Y, rows.ANGULAR_MOMENTUM]]).max() == 0.0


@settings(max_examples=EXAMPLES)
@given(bodies, seeds)
def test_drag_never_adds_energy(snake, seed):
    state, heat = rows.rest(snake.joints, 1), [0.0]
    for each in random_commands(seed, snake.joints):
        reduced.command(snake.record(), state, each)
        heat.append(state[rows.HEAT, 0])
    assert np.all(np.diff(heat) >= -1e-12 * max(heat))
    assert heat[-1] > 0.0


@settings(max_examples=EXAMPLES)
@given(bodies, st.floats(-3.0, 3.0), st.floats(-3.0, 3.0))
def test_the_kinetic_energy_of_a_rigid_body_goes_into_heat(snake, vx, vy):
    before = place(rows.rest(snake.joints, 1), snake, (vx, vy))
    after = follow(snake, np.zeros((COMMANDS, snake.joints, 1)), before)

    def energy(state):
        along = (state[[rows.MOMENTUM_X, rows.MOMENTUM_Y], 0] ** 2).sum() / (2.0 * snake.mass)
        inertia = snake.mass * snake.arclength**2 / 12.0 - snake.links * snake.link_mass * snake.length**2 / 12.0
        return along + state[rows.ANGULAR_MOMENTUM, 0] ** 2 / (2.0 * (inertia + snake.links * snake.inertia))

    assert energy(before) - energy(after) == pytest.approx(after[rows.HEAT, 0], rel=1e-9, abs=1e-12)


@settings(max_examples=EXAMPLES)
@given(bodies, seeds)
def test_mirrored_commands_give_mirrored_motion(snake, seed):
    targets = random_commands(seed, snake.joints)
    one, other = follow(snake, targets), follow(snake, -targets)
    mirrored = [rows.Y, rows.YAW, rows.MOMENTUM_Y, rows.ANGULAR_MOMENTUM, rows.SWAY, rows.YAW_RATE]
    same = [rows.X, rows.MOMENTUM_X, rows.SURGE, rows.HEAT, rows.DRIVE]
    assert other[same] == pytest.approx(one[same], rel=1e-9, abs=1e-12)
    assert other[mirrored] == pytest.approx(-one[mirrored], rel=1e-9, abs=1e-12)


@settings(max_examples=EXAMPLES)
@given(bodies, seeds, st.floats(-7.0, 7.0), st.floats(-50.0, 50.0))
def test_motion_is_the_same_from_any_pose(snake, seed, yaw, x):
    targets, velocity = random_commands(seed, snake.joints), np.array([0.5, 0.2])
    rest = rows.rest(snake.joints, 1)
    one = follow(snake, targets, place(rest, snake, velocity))
    other = follow(snake, targets, place(rest, snake, rotation(yaw) @ velocity, yaw, (x, 2.0)))
    moved = rotation(yaw) @ one[[rows.X, rows.Y], 0] + [x, 2.0]
    assert other[[rows.X, rows.Y], 0] == pytest.approx(moved, rel=1e-7, abs=1e-7)
    assert other[rows.YAW, 0] == pytest.approx(one[rows.YAW, 0] + yaw, abs=1e-7)
    assert other[[rows.ANGULAR_MOMENTUM, rows.DRIVE, rows.HEAT]] == pytest.approx(
        one[[rows.ANGULAR_MOMENTUM, rows.DRIVE, rows.HEAT]], rel=1e-6, abs=1e-7
    )


@compiled
def test_a_body_moves_the_same_alone_and_in_a_batch():
    snake, count = Snake(links=6), 130
    targets = random_commands(0, snake.joints, count=count)
    together = follow(snake, targets)
    for b in (0, 1, 63, 64, 127, 128, 129):
        alone = follow(snake, targets[:, :, b : b + 1])
        assert np.array_equal(alone[:, 0], together[:, b])


@compiled
def test_a_body_with_nan_does_not_affect_others():
    snake, targets = Snake(links=6), random_commands(0, 5, count=3)
    expected = follow(snake, targets)
    state = rows.rest(5, 3)
    state[rows.MOMENTUM_X, 1] = np.nan
    broken = follow(snake, targets, state)
    assert np.isnan(broken[rows.X, 1])
    assert np.array_equal(broken[:, [0, 2]], expected[:, [0, 2]])


def test_a_run_in_two_parts_equals_one_run():
    snake = Snake(links=5)
    targets = random_commands(3, snake.joints)
    half = COMMANDS // 2
    assert np.array_equal(follow(snake, targets[half:], follow(snake, targets[:half])), follow(snake, targets))


@settings(max_examples=EXAMPLES)
@given(seeds)
def test_following_gaits_equals_single_commands(seed):
    """Also when one gait follows another."""
    snake, count, commands = Snake(links=4 if SLOW else 8), 1 if SLOW else 3, 4 if SLOW else 150
    rng = np.random.default_rng(seed)
    gaits = rng.uniform([0.1, 1.0, 0.0, -0.1], [0.6, 12.0, 6.0, 0.1], (2, snake.joints, count, 4)).transpose(0, 3, 1, 2)
    starts, body = np.array([0, commands // 2]), snake.record()
    swum, commanded = rows.rest(snake.joints, count), rows.rest(snake.joints, count)
    reduced.swim(body, swum, starts, np.ascontiguousarray(gaits), commands)
    for t in range(commands):
        amplitude, frequency, phase, offset = gaits[int(t >= starts[1])]
        reduced.command(body, commanded, amplitude * np.sin(frequency * (t + 1) * snake.interval - phase) + offset)
    assert swum == pytest.approx(commanded, rel=1e-9, abs=1e-9)


def test_the_last_of_gaits_that_begin_at_one_command_is_used():
    snake = Snake(links=4)
    gaits = np.zeros((3, 4, 3, 1))
    gaits[:, 3] = np.array([0.01, 0.02, -0.03])[:, None, None]
    several, last = rows.rest(3, 1), rows.rest(3, 1)
    reduced.swim(snake.record(), several, np.array([0, 0, 0]), gaits, 2)
    reduced.swim(snake.record(), last, np.array([0]), gaits[2:], 2)
    assert np.array_equal(several, last)


@compiled
@pytest.mark.parametrize("faces", ["all", "open"])
def test_the_error_is_second_order_in_the_step(faces):
    """With open faces only on average, as drag on the tips depends on the sign of a velocity."""
    ends = []
    for step in (0.02, 0.01, 0.005, 0.0025, 0.00125, 0.000625, 0.0001):
        snake = Snake(links=8, faces=faces, max_torque=1e12, step=step)
        state = rows.rest(7, 1)
        wave = np.stack([np.full(7, 0.5), np.full(7, 6.0), 0.8 * np.arange(7), np.full(7, 0.05)])
        reduced.swim(snake.record(), state, np.array([0]), wave[None, :, :, None], 10)
        ends.append(state[[rows.X, rows.Y, rows.YAW], 0])
    errors = np.array([np.abs(end - ends[-1]).max() for end in ends[:-1]])
    assert errors[0] < 1e-3
    assert np.log2(errors[0] / errors[-1]) / 5 > 1.9
    if faces == "all":
        assert np.log2(errors[2:-1] / errors[3:]) == pytest.approx(2.0, abs=0.1)


@settings(max_examples=EXAMPLES)
@given(bodies, seeds)
def test_without_a_torque_limit_motors_give_the_whole_acceleration(snake, seed):
    snake = snake.model_copy(update={"max_torque": 1e15})
    after = follow(snake, random_commands(seed, snake.joints))
    assert after[rows.DRIVE, 0] == COMMANDS


@compiled
def test_weaker_motors_give_a_smaller_share():
    drives = []
    for torque in (10.0, 1e3, 1e4, 1e6):
        snake = Snake(links=8, mass=5.0, max_torque=torque)
        drives.append(follow(snake, 3.0 * random_commands(0, 7))[rows.DRIVE, 0] / COMMANDS)
    assert drives == sorted(drives)
    assert drives[0] < 0.2
    assert drives[-1] > 0.9


@settings(max_examples=EXAMPLES)
@given(bodies, seeds)
def test_joints_stay_within_their_limits(snake, seed):
    snake = snake.model_copy(update={"max_rate": 3.0, "max_angle": 0.5})
    state = rows.rest(snake.joints, 1)
    for each in 10.0 * random_commands(seed, snake.joints):
        reduced.command(snake.record(), state, each)
        assert np.abs(state[rows.joint_angles(snake.joints)]).max() <= 0.5 + 1e-9
        assert np.abs(state[rows.joint_rates(snake.joints)]).max() <= 3.0 + 1e-9


def test_a_straight_body_slows_down_exponentially():
    snake = Snake(links=4, mass=10.0)
    seconds, rate = COMMANDS * snake.interval, snake.drag * snake.width * snake.height / snake.mass
    after = follow(snake, np.zeros((COMMANDS, 3, 1)), place(rows.rest(3, 1), snake, (2.0, 0.0)))
    assert after[rows.MOMENTUM_X, 0] / snake.mass == pytest.approx(2.0 * np.exp(-rate * seconds), rel=1e-6)


def test_a_straight_body_at_rest_stays_at_rest():
    snake = Snake(links=5)
    after = follow(snake, np.zeros((COMMANDS, 4, 1)))
    expected = rows.rest(4, 1)
    expected[rows.DRIVE] = COMMANDS
    assert np.array_equal(after, expected)
