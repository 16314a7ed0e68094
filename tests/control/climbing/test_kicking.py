"""The teacher that kicks, and the net that it teaches."""

import numpy as np
import pytest

from sandlot.control.climbing.kicking import GROWTH, LARGEST, Kicking
from sandlot.control.climbing.neural import Neural, load_neural
from sandlot.control.climbing.reactive import Reactive
from sandlot.errors import ModelError
from sandlot.models.card import Card
from sandlot.models.dense import make_dense, save_dense
from sandlot.robots.climber import load_climber

CLIMBER = load_climber()
SEEDS = [np.random.SeedSequence(0)]


def observe(speed=0.0):
    return np.concatenate([[0.0, 0.0, speed, 0.0, 0.0, 0.0, 0.0, 0.0, 0.1, 0.2], np.full(201, -0.1)])[None]


def begun(kind):
    made = kind(CLIMBER)
    made.reset(SEEDS)
    return made


def test_kicks_grow_while_the_robot_is_stuck():
    made, plain = begun(Kicking), begun(Reactive)
    acts, rest = (np.array([each.act(observe())[0] for _ in range(160)]) for each in (made, plain))
    kicked = (acts != rest).any(axis=1)
    starts = np.flatnonzero(kicked & ~np.roll(kicked, 1))
    assert starts[0] == 6, "after 7 commands at rest"
    assert (np.diff(starts) == 14).all(), "7 commands of a kick, and 7 without"
    sizes = np.minimum(GROWTH * np.arange(1, len(starts) + 1), LARGEST)
    np.testing.assert_allclose(acts[starts, 0], 0.1 - sizes)
    np.testing.assert_allclose(acts[starts, 1], np.minimum(0.2 + sizes, np.pi))


def test_a_moving_robot_is_not_kicked_and_the_next_kick_is_small_again():
    made, plain = begun(Kicking), begun(Reactive)
    for _ in range(40):
        made.act(observe())
        plain.act(observe())
    for _ in range(30):
        action, expected = made.act(observe(0.5)), plain.act(observe(0.5))
    np.testing.assert_array_equal(action, expected)
    first = [made.act(observe())[0, 0] for _ in range(40)]
    assert np.isclose(min(first[:14]), 0.1 - GROWTH)


def test_the_net_commands_the_front_axle_and_the_rear_axle_follows():
    inputs = 10 + 5 * 201
    hidden = np.zeros((inputs, 4))
    hidden[2, 0] = 0.5
    output = np.array([[np.pi], [0.0], [0.0], [0.0]])
    net = make_dense((hidden, output), (np.zeros(4), np.array([0.1 * np.pi])), ("tanh", "linear"))
    made = Neural(CLIMBER, net)
    made.reset(SEEDS)
    seen = np.zeros((30, inputs))
    seen[:, 2] = np.linspace(-1, 1, 30)
    acts = np.array([made.act(each[None])[0] for each in seen])
    np.testing.assert_allclose(acts[:, 0], np.pi * (np.tanh(0.5 * seen[:, 2]) + 0.1))
    np.testing.assert_allclose(acts[11:, 1], -acts[:-11, 0])
    assert (acts[:11, 1] == 0.0).all()


def test_the_shipped_net_is_for_the_front_axle_of_this_world():
    made = load_neural(CLIMBER)
    assert made.net.sizes.tolist() == [10 + 5 * 201, 4, 1]


def test_another_net_is_refused(tmp_path):
    save_dense(tmp_path / "net", make_dense((np.zeros((3, 2)),), (np.zeros(2),), ("linear",)), Card(kind="dense"))
    with pytest.raises(ModelError, match="net: a net with 2 outputs is not for a front axle"):
        load_neural(CLIMBER, tmp_path / "net")
