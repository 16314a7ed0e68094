"""The fast model: as its plain twin says, and as physics demands."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config

from sandlot.physics.swimming import water
from sandlot.robots.snake import Snake
from twins.water import TwinSwimmer, turn

SLOW = bool(config.DISABLE_JIT)
"""Without compilation a step takes a thousand times as long: fewer of everything."""
EXAMPLES, COMMANDS = (3, 4) if SLOW else (20, 40)

pytestmark = pytest.mark.filterwarnings("ignore:divide by zero")
"""A joint that needs no torque has endless room; compiled code divides silently."""

compiled = pytest.mark.skipif(SLOW, reason="too much without compilation")
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


def wander(seed, joints, commands=COMMANDS, count=1, reach=0.8):
    """Random commands that a servo can nearly follow: (commands, joints, count) [rad]."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(0.0, 0.05, (commands, joints, count))
    return np.clip(np.cumsum(steps, axis=0), -reach, reach)


def follow(snake, targets, state=None):
    state = water.rest(snake.joints, targets.shape[2]) if state is None else state.copy()
    body = snake.record()
    for each in targets:
        water.command(body, state, np.ascontiguousarray(each))
    return state


def push(state, snake, velocity, heading=0.0, centre=(0.0, 0.0)):
    """Give all bodies of a state a velocity [m/s], a heading [rad] and a place [m]."""
    state = state.copy()
    state[water.X], state[water.Y] = np.reshape(centre, (2, 1))
    state[water.HEADING], state[water.COS], state[water.SIN] = heading, np.cos(heading), np.sin(heading)
    state[water.PX], state[water.PY] = snake.mass * np.reshape(velocity, (2, 1))
    state[water.U], state[water.V] = np.reshape(turn(-heading) @ velocity, (2, 1))
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
        pytest.skip("too much without compilation")
    targets = wander(1, snake.joints, 4 if SLOW else 40, reach=1.0) * 2.0
    heading = 0.4
    twin = TwinSwimmer(snake.record(), heading, np.array(velocity))
    state = push(water.rest(snake.joints, 1), snake, velocity, heading)
    for each in targets:
        twin.command(each[:, 0])
        water.command(snake.record(), state, each)
    mine = state[:, 0]
    place = np.array([*twin.centre, twin.heading])
    assert mine[[water.X, water.Y, water.HEADING]] == pytest.approx(place, rel=1e-6, abs=1e-7)
    momenta = np.array([*twin.momentum, twin.angular_momentum])
    assert mine[[water.PX, water.PY, water.L]] == pytest.approx(momenta, rel=1e-6, abs=1e-6 * snake.mass)
    assert mine[water.FIXED : water.FIXED + snake.joints] == pytest.approx(twin.angles, abs=1e-7)
    assert mine[water.DRIVE] == pytest.approx(twin.shares, rel=1e-6)
    assert mine[water.HEAT] == pytest.approx(twin.heat, rel=1e-6)


def test_the_twins_cases_reach_the_limits():
    """Or else agreement would say nothing about them."""
    twins = {}
    for name in ("three links", "weak motors"):
        snake = Snake(**TWINS[name])
        twins[name] = TwinSwimmer(snake.record(), 0.4, np.array([1.5, -0.7]))
        for each in wander(1, snake.joints, 40, reach=1.0) * 2.0:
            twins[name].command(each[:, 0])
    assert twins["three links"].shares == 40
    assert 4 < twins["weak motors"].shares < 36


def test_the_kernel_agrees_with_its_twin_where_motors_yield():
    """Joints that move faster than their motors can keep up."""
    snake = Snake(links=6, mass=5.0, max_torque=1.0)
    rates = np.array([3.0, -2.0, 4.0, -3.0, 2.0])
    twin, state = TwinSwimmer(snake.record()), water.rest(5, 1)
    twin.rates = rates
    state[water.FIXED + 5 : water.FIXED + 10, 0] = rates
    for each in wander(1, 5, 4 if SLOW else 20):
        twin.command(each[:, 0])
        water.command(snake.record(), state, each)
    assert twin.yields > 0
    place = np.array([*twin.centre, twin.heading])
    assert state[[water.X, water.Y, water.HEADING], 0] == pytest.approx(place, rel=1e-6, abs=1e-7)
    assert state[water.FIXED : water.FIXED + 5, 0] == pytest.approx(twin.angles, abs=1e-7)
    assert state[water.DRIVE, 0] == pytest.approx(twin.shares, rel=1e-6)


@settings(max_examples=EXAMPLES)
@given(bodies, seeds, st.floats(-2.0, 2.0))
def test_without_drag_momentum_is_kept(snake, seed, speed):
    snake = snake.model_copy(update={"drag": 0.0})
    before = push(water.rest(snake.joints, 1), snake, (speed, 0.3))
    after = follow(snake, wander(seed, snake.joints), before)
    for row in (water.PX, water.PY, water.L, water.HEAT):
        assert after[row] == before[row], "exactly"
    way = COMMANDS * snake.interval * np.array([speed, 0.3])
    assert after[[water.X, water.Y], 0] == pytest.approx(way, rel=1e-5, abs=1e-9)


@settings(max_examples=EXAMPLES)
@given(bodies, seeds)
def test_without_drag_the_centre_of_mass_stays(snake, seed):
    snake = snake.model_copy(update={"drag": 0.0})
    after = follow(snake, wander(seed, snake.joints))
    assert np.abs(after[[water.X, water.Y, water.PX, water.PY, water.L]]).max() == 0.0


@settings(max_examples=EXAMPLES)
@given(bodies, seeds)
def test_the_water_only_takes_energy(snake, seed):
    state, heat = water.rest(snake.joints, 1), [0.0]
    for each in wander(seed, snake.joints):
        water.command(snake.record(), state, each)
        heat.append(state[water.HEAT, 0])
    assert np.all(np.diff(heat) >= -1e-12 * max(heat))
    assert heat[-1] > 0.0


@settings(max_examples=EXAMPLES)
@given(bodies, st.floats(-3.0, 3.0), st.floats(-3.0, 3.0))
def test_a_stiff_body_loses_to_the_water_what_it_had(snake, vx, vy):
    before = push(water.rest(snake.joints, 1), snake, (vx, vy))
    after = follow(snake, np.zeros((COMMANDS, snake.joints, 1)), before)

    def energy(state):
        along = (state[[water.PX, water.PY], 0] ** 2).sum() / (2.0 * snake.mass)
        inertia = snake.mass * snake.arclength**2 / 12.0 - snake.links * snake.link_mass * snake.length**2 / 12.0
        return along + state[water.L, 0] ** 2 / (2.0 * (inertia + snake.links * snake.inertia))

    assert energy(before) - energy(after) == pytest.approx(after[water.HEAT, 0], rel=1e-9, abs=1e-12)


@settings(max_examples=EXAMPLES)
@given(bodies, seeds)
def test_mirrored_commands_give_mirrored_motion(snake, seed):
    targets = wander(seed, snake.joints)
    one, other = follow(snake, targets), follow(snake, -targets)
    turned = [water.Y, water.HEADING, water.PY, water.L, water.V, water.W]
    same = [water.X, water.PX, water.U, water.HEAT, water.DRIVE]
    assert other[same] == pytest.approx(one[same], rel=1e-9, abs=1e-12)
    assert other[turned] == pytest.approx(-one[turned], rel=1e-9, abs=1e-12)


@settings(max_examples=EXAMPLES)
@given(bodies, seeds, st.floats(-7.0, 7.0), st.floats(-50.0, 50.0))
def test_where_and_which_way_it_starts_does_not_matter(snake, seed, heading, x):
    targets, velocity = wander(seed, snake.joints), np.array([0.5, 0.2])
    rest = water.rest(snake.joints, 1)
    one = follow(snake, targets, push(rest, snake, velocity))
    other = follow(snake, targets, push(rest, snake, turn(heading) @ velocity, heading, (x, 2.0)))
    moved = turn(heading) @ one[[water.X, water.Y], 0] + [x, 2.0]
    assert other[[water.X, water.Y], 0] == pytest.approx(moved, rel=1e-7, abs=1e-7)
    assert other[water.HEADING, 0] == pytest.approx(one[water.HEADING, 0] + heading, abs=1e-7)
    assert other[[water.L, water.DRIVE, water.HEAT]] == pytest.approx(
        one[[water.L, water.DRIVE, water.HEAT]], rel=1e-6, abs=1e-7
    )


@compiled
def test_lanes_do_not_know_of_each_other():
    snake, count = Snake(links=6), 130
    targets = wander(0, snake.joints, count=count)
    together = follow(snake, targets)
    for b in (0, 1, 63, 64, 127, 128, 129):
        alone = follow(snake, targets[:, :, b : b + 1])
        assert np.array_equal(alone[:, 0], together[:, b])


@compiled
def test_a_body_that_is_not_a_number_spoils_no_other():
    snake, targets = Snake(links=6), wander(0, 5, count=3)
    expected = follow(snake, targets)
    state = water.rest(5, 3)
    state[water.PX, 1] = np.nan
    broken = follow(snake, targets, state)
    assert np.isnan(broken[water.X, 1])
    assert np.array_equal(broken[:, [0, 2]], expected[:, [0, 2]])


def test_a_run_in_two_parts_is_the_same():
    snake = Snake(links=5)
    targets = wander(3, snake.joints)
    half = COMMANDS // 2
    assert np.array_equal(follow(snake, targets[half:], follow(snake, targets[:half])), follow(snake, targets))


@settings(max_examples=EXAMPLES)
@given(seeds)
def test_swimming_is_a_row_of_commands(seed):
    """Also when gaits follow each other."""
    snake, count, commands = Snake(links=4 if SLOW else 8), 1 if SLOW else 3, 4 if SLOW else 150
    rng = np.random.default_rng(seed)
    gaits = rng.uniform([0.1, 1.0, 0.0, -0.1], [0.6, 12.0, 6.0, 0.1], (2, snake.joints, count, 4)).transpose(0, 3, 1, 2)
    starts, body = np.array([0, commands // 2]), snake.record()
    swum, told = water.rest(snake.joints, count), water.rest(snake.joints, count)
    water.swim(body, swum, starts, np.ascontiguousarray(gaits), commands)
    for t in range(commands):
        amplitude, frequency, phase, offset = gaits[int(t >= starts[1])]
        water.command(body, told, amplitude * np.sin(frequency * (t + 1) * snake.interval - phase) + offset)
    assert swum == pytest.approx(told, rel=1e-9, abs=1e-9)


def test_of_gaits_that_begin_within_one_command_the_last_counts():
    snake = Snake(links=4)
    gaits = np.zeros((3, 4, 3, 1))
    gaits[:, 3] = np.array([0.01, 0.02, -0.03])[:, None, None]
    several, last = water.rest(3, 1), water.rest(3, 1)
    water.swim(snake.record(), several, np.array([0, 0, 0]), gaits, 2)
    water.swim(snake.record(), last, np.array([0]), gaits[2:], 2)
    assert np.array_equal(several, last)


@compiled
@pytest.mark.parametrize("faces", ["all", "open"])
def test_half_the_step_is_a_quarter_of_the_error(faces):
    """On average: tips are switched by the sign of a velocity, when it is first seen, and errors may cancel."""
    ends = []
    for step in (0.02, 0.01, 0.005, 0.0025, 0.00125, 0.000625, 0.0001):
        snake = Snake(links=8, faces=faces, max_torque=1e12, step=step)
        state = water.rest(7, 1)
        wave = np.stack([np.full(7, 0.5), np.full(7, 6.0), 0.8 * np.arange(7), np.full(7, 0.05)])
        water.swim(snake.record(), state, np.array([0]), wave[None, :, :, None], 10)
        ends.append(state[[water.X, water.Y, water.HEADING], 0])
    errors = np.array([np.abs(end - ends[-1]).max() for end in ends[:-1]])
    assert errors[0] < 1e-3
    assert np.log2(errors[0] / errors[-1]) / 5 > 1.9
    if faces == "all":
        assert np.log2(errors[2:-1] / errors[3:]) == pytest.approx(2.0, abs=0.1)


@settings(max_examples=EXAMPLES)
@given(bodies, seeds)
def test_motors_without_a_limit_always_give_all(snake, seed):
    snake = snake.model_copy(update={"max_torque": 1e15})
    after = follow(snake, wander(seed, snake.joints))
    assert after[water.DRIVE, 0] == COMMANDS


@compiled
def test_the_weaker_the_motors_the_less_they_give():
    drives = []
    for torque in (10.0, 1e3, 1e4, 1e6):
        snake = Snake(links=8, mass=5.0, max_torque=torque)
        drives.append(follow(snake, 3.0 * wander(0, 7))[water.DRIVE, 0] / COMMANDS)
    assert drives == sorted(drives)
    assert drives[0] < 0.2
    assert drives[-1] > 0.9


@settings(max_examples=EXAMPLES)
@given(bodies, seeds)
def test_joints_keep_to_their_limits(snake, seed):
    snake = snake.model_copy(update={"max_rate": 3.0, "max_angle": 0.5})
    state = water.rest(snake.joints, 1)
    for each in 10.0 * wander(seed, snake.joints):
        water.command(snake.record(), state, each)
        angles, rates = np.split(state[water.FIXED :, 0], 3)[:2]
        assert np.abs(angles).max() <= 0.5 + 1e-9
        assert np.abs(rates).max() <= 3.0 + 1e-9


def test_a_straight_body_drifts_as_the_formula_says():
    snake = Snake(links=4, mass=10.0)
    seconds, expected = COMMANDS * snake.interval, snake.drag * snake.width * snake.height / snake.mass
    after = follow(snake, np.zeros((COMMANDS, 3, 1)), push(water.rest(3, 1), snake, (2.0, 0.0)))
    assert after[water.PX, 0] / snake.mass == pytest.approx(2.0 * np.exp(-expected * seconds), rel=1e-6)


def test_nothing_told_nothing_done():
    snake = Snake(links=5)
    after = follow(snake, np.zeros((COMMANDS, 4, 1)))
    expected = water.rest(4, 1)
    expected[water.DRIVE] = COMMANDS
    assert np.array_equal(after, expected)
