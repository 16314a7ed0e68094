"""The reinforcement learning controller: its reward, its net, and who is in control."""

import gymnasium
import numpy as np
import pytest

from sandlot.control.climbing.online_net import OnlineNets, draw_net
from sandlot.control.climbing.reinforced import INPUTS, LIMIT, Reinforced
from sandlot.control.climbing.reward import Motion, reward
from sandlot.robots.climber import load_climber
from sandlot.worlds import register
from sandlot.worlds.rollout import rollout

register()
CLIMBER = load_climber()
SEEDS = [np.random.SeedSequence(k) for k in range(2)]


def rewarded(forward=0.0, up=0.0, pitch=0.0, aim=-0.1, centre=(0.1, 0.0), before=(0.1, 0.0)):
    values = [np.array([each], np.float64) for each in (forward, up, pitch, aim, centre, before)]
    return reward(Motion(*values), 0.5)[0]


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        # Narrow box: P_k below -0.15 m, pitch above -5 degrees.
        ({"aim": -0.2}, -0.17),
        ({"aim": -0.2, "forward": 0.2}, 0.17 + 0.33 * 0.4),
        ({"aim": -0.2, "up": 0.1}, -0.17 - 0.5 * 0.2),
        ({"aim": -0.2, "pitch": np.pi / 4}, -0.17 + 0.5 * 0.5),
        ({"aim": -0.2, "centre": (0.12, 0.01)}, -0.17 + 0.17 + 0.03 * 0.2),
        ({"aim": -0.2, "centre": (-0.12, -0.01), "before": (-0.1, 0.0)}, -0.17 - 0.17 - 0.03 * 0.2),
        # Up stairs: P_k positive, nose up.
        ({"aim": 0.1, "pitch": -0.5}, -0.17),
        ({"aim": 0.1, "pitch": -0.5, "up": 0.1}, -0.17 + 0.17 * 0.2),
        ({"aim": 0.1, "pitch": -0.5, "centre": (0.11, 0.01)}, -0.17 + 0.08 + 0.08),
        # Elsewhere.
        ({"aim": -0.2, "pitch": -np.pi / 4}, -0.17 - 0.5 * 0.5),
        ({"aim": 0.1, "pitch": np.pi / 4}, -0.17 + 0.5 * 0.5),
        ({"up": 0.3}, -0.17),
        ({"centre": (0.12, 0.5)}, -0.17 + 0.17 * 0.2),
        ({"centre": (0.12, 0.0), "before": (0.0, 0.0)}, -0.17),  # no infinite reward
    ],
)
def test_the_reward_is_that_of_equation_35(given_, expected):
    assert rewarded(**given_) == pytest.approx(expected)


def test_progress_is_more_than_a_tenth_of_a_metre_a_second():
    assert rewarded(forward=0.101) - rewarded(forward=0.099) == pytest.approx(0.34, abs=0.01)


def nets(count=2, inputs=5):
    rng = np.random.default_rng(0)
    return OnlineNets(
        *(np.stack(each) for each in zip(*(draw_net(rng, inputs, 4, 2) for _ in range(count)), strict=True))
    )


def test_a_net_learns_a_sample_at_one_output():
    made, x = nets(), np.random.default_rng(1).uniform(-1, 1, (2, 5))
    who, before = np.arange(2), nets()(np.arange(2), x)
    made.learn(who, x, np.array([0, 1]), np.array([1.5, -2.0]))
    after = made(who, x)
    np.testing.assert_allclose([after[0, 0], after[1, 1]], [1.5, -2.0], atol=1e-6)
    assert (before != after)[0, 0]
    one = nets()
    one.learn(np.array([1]), x[1:], np.array([1]), np.array([-2.0]))
    np.testing.assert_array_equal(one.hidden[1], made.hidden[1])
    np.testing.assert_array_equal(one.hidden[0], nets().hidden[0])


def test_its_first_step_is_that_of_levenberg_marquardt(monkeypatch):
    """Against the damped normal equations with a numerical gradient."""
    monkeypatch.setattr("sandlot.control.climbing.online_net.EPOCHS", 1)
    made, x, who = nets(1), np.random.default_rng(1).uniform(-1, 1, (1, 5)), np.array([0])
    flat = np.concatenate([made.hidden.ravel(), made.output.ravel()])

    def output(weights):
        hidden, out = weights[: made.hidden.size], weights[made.hidden.size :]
        return OnlineNets(hidden.reshape(made.hidden.shape), out.reshape(made.output.shape))(who, x)[0, 1]

    gradient = np.array([(output(flat + h) - output(flat - h)) / 2e-6 for h in 1e-6 * np.eye(len(flat))])
    damped = np.outer(gradient, gradient) + 1e-3 * np.eye(len(flat))
    expected = flat - np.linalg.solve(damped, gradient * (output(flat) - 0.9))
    made.learn(who, x, np.array([1]), np.array([0.9]))
    np.testing.assert_allclose(np.concatenate([made.hidden.ravel(), made.output.ravel()]), expected, atol=1e-6)


def observe(speed=0.0, front=0.0, back=0.0, pitch=-0.3, ground=0.1):
    return np.concatenate([[0.0, pitch, speed, 0.0, 0.0, 0.0, 0.0, 0.0, front, back], np.full(201, ground)])


def begun(count=1):
    made = Reinforced(CLIMBER)
    made.reset(SEEDS[:count])
    return made


def test_it_takes_over_when_stuck_for_an_iteration_and_returns_control():
    made = begun()
    assert made.iteration == 7, "30 degrees at 1.6 rad/s, in commands of 0.05 s"
    taken = []
    for _ in range(10):
        made.act(observe()[None])
        taken.append(bool(made.taken[0]))
    assert taken == [False] * 6 + [True] * 4
    for _ in range(7):
        made.act(observe(speed=0.5)[None])
    assert not made.taken[0]
    np.testing.assert_array_equal(made.act(observe(speed=0.5)[None])[0, 2:], [made.speed] * 2)


def test_a_moving_robot_is_driven_by_the_reactive_controller():
    made = begun()
    for _ in range(30):
        seen = observe(speed=0.3)[None]
        action = made.act(seen)
    again = begun().reactive
    again.reset(SEEDS[:1])
    for _ in range(30):
        expected = again.act(observe(speed=0.3)[None])
    np.testing.assert_array_equal(action, expected)


def test_axles_alternate_and_turn_by_at_most_30_degrees():
    made = begun()
    front, back, seen = 0.0, 0.0, []
    for _ in range(7 + 7 * 12):
        action = made.act(observe(front=front, back=back)[None])[0]
        if made.taken[0]:
            assert abs(action[0] - front) <= LIMIT + 1e-12
            assert abs(action[1] - back) <= LIMIT + 1e-12
            seen.append((action[0], action[1]))
            if made._clock[0] == 0:
                front, back = action[0], action[1]
    changes = np.diff(np.array(seen)[::7], axis=0) != 0.0
    assert not changes.all(axis=1).any()
    assert changes[:, 0].sum() >= 3
    assert changes[:, 1].sum() >= 3


def test_a_worse_reward_reverses_the_search_of_its_axle():
    made = begun()
    for _ in range(7):
        made.act(observe()[None])
    before = made._search[0].copy()
    made._last_reward[0] = 0.5  # rewards of a robot at rest are below 0.4
    for _ in range(7):
        made.act(observe()[None])
    np.testing.assert_array_equal(made._search[0], before * (-1.0, 1.0))
    for _ in range(7):
        made.act(observe()[None])
    np.testing.assert_array_equal(made._search[0], -before)
    for _ in range(14):  # rewards now stay as they are
        made.act(observe()[None])
    np.testing.assert_array_equal(made._search[0], -before)


def test_the_net_learns_the_present_angle_plus_the_reward():
    made = begun()
    for _ in range(7):
        made.act(observe()[None])
    inputs, search = made._inputs.copy(), made._search[0, 0]
    for _ in range(7):
        made.act(observe(front=0.2)[None])
    found = made._last_reward[0, 0]
    direction = made._search[0, 0]
    assert direction == search, "a first reward has nothing to be worse than"
    assert made.nets(np.array([0]), inputs)[0, 0] == pytest.approx(0.2 + found * direction, abs=1e-6)
    assert inputs.shape == (1, INPUTS)
    assert np.abs(inputs).max() <= 1.0


def test_what_was_learned_is_kept_until_it_is_forgotten():
    made = begun()
    for _ in range(40):
        made.act(observe()[None])
    learned = made.nets.hidden.copy()
    made.reset(SEEDS[:1])
    np.testing.assert_array_equal(made.nets.hidden, learned)
    made.forget()
    made.reset(SEEDS[:1])
    np.testing.assert_array_equal(made.nets.hidden, begun().nets.hidden)
    assert (made.nets.hidden != learned).any()


def test_members_are_independent():
    both, alone = begun(2), Reinforced(CLIMBER)
    alone.reset(SEEDS[1:])
    for k in range(50):
        seen = np.stack([observe(front=0.1), observe(front=0.01 * k, pitch=-0.2)])
        np.testing.assert_array_equal(both.act(seen)[1], alone.act(seen[1:])[0])


def test_it_gets_over_a_box_on_which_the_reactive_controller_is_stuck():
    course = {"kind": "box", "height": 0.3, "depth": 1.0, "distance": 1.0}
    passed = {}
    for name in ("reactive", "reinforced"):
        world = gymnasium.make("sandlot/Obstacles-v0", interface="units", course=course, start=(0.0, 0.0))
        for step in rollout(world, world.unwrapped.controller(name), seed=0, steps=1200):
            if step.ended.all():
                break
        passed[name] = world.unwrapped.outcomes()["passed"]
    assert passed == {"reactive": 0.0, "reinforced": 1.0}
