import numpy as np
import pytest
from neat.activations import sigmoid_activation
from neat.nn import RecurrentNetwork

from sandlot.models.nets import Nets, activate
from sandlot.physics.swimming import chain, rows
from sandlot.physics.swimming.lanes import LANES
from sandlot.physics.swimming.nets import swim_nets
from sandlot.robots.snake import Snake

SNAKE = Snake(links=4, mass=75.0)
INPUTS, OUTPUTS = 5, 3


def random_nets(count, rng):
    """Nets of different sizes, for the kernel and as neat-python's; every node has links, some of them loops."""
    first_node, first_link, source, weight, bias, response, theirs = [0], [0], [], [], [], [], []
    for k in range(count):
        nodes = OUTPUTS + k % 4
        evals = []
        for node in range(nodes):
            sources = rng.choice(INPUTS + nodes, rng.integers(1, 6), replace=False).tolist()
            weights = rng.normal(0.0, 2.0, len(sources)).tolist()
            keys = [-s - 1 if s < INPUTS else s - INPUTS for s in sources]
            own_bias, own_response = rng.normal(), rng.uniform(0.5, 1.5)
            evals.append((node, sigmoid_activation, sum, own_bias, own_response, list(zip(keys, weights, strict=True))))
            source += sources
            weight += weights
            bias.append(own_bias)
            response.append(own_response)
            first_link.append(len(source))
        first_node.append(first_node[-1] + nodes)
        theirs.append(RecurrentNetwork([-i - 1 for i in range(INPUTS)], list(range(OUTPUTS)), evals))
    packed = Nets(*map(np.array, (first_node, first_link, source, weight, bias, response)))
    return packed, theirs


def test_bodies_swim_as_with_neat_pythons_networks():
    count, commands, rng = LANES + 3, 8, np.random.default_rng(5)
    ours, theirs = random_nets(count, rng)
    frequencies = rng.uniform(0.01, 4.0, count)
    state, expected = rows.rest(OUTPUTS, count), rows.rest(OUTPUTS, count)
    body = SNAKE.record()
    swim_nets(body, state, ours, frequencies, commands)
    for k in range(commands):
        clock = np.sin(2.0 * np.pi * frequencies * k * SNAKE.interval)
        targets = np.empty((OUTPUTS, count))
        for b, net in enumerate(theirs):
            angles = expected[rows.joint_angles(OUTPUTS), b].tolist()
            targets[:, b] = net.activate([*angles, clock[b], 1.0])
        chain.command(body, expected, (2.0 * targets - 1.0) * SNAKE.max_angle)
    assert np.ptp(expected[rows.X]) > 1e-4
    np.testing.assert_allclose(state, expected, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("x", [-100.0, -12.0, -1.3, -1e-9, 0.0, 0.4, 3.0, 11.9, 100.0])
def test_the_sigmoid_equals_neat_pythons(x):
    values = np.array([x, 0.0])
    one, zero = np.ones(1), np.zeros(1)
    net = Nets(np.array([0, 1]), np.array([0, 1]), np.zeros(1, np.int64), one, zero, one)
    activate(net, 0, values, np.empty(1))
    assert values[1] == pytest.approx(sigmoid_activation(x), abs=1e-13, rel=1e-11)


def test_a_net_without_links_keeps_the_body_straight():
    state = rows.rest(OUTPUTS, 1)
    none, nodes = np.zeros(0), np.array([0, OUTPUTS])
    empty = Nets(nodes, np.zeros(OUTPUTS + 1, np.int64), none.astype(np.int64), none, np.zeros(3), np.ones(3))
    swim_nets(SNAKE.record(), state, empty, np.ones(1), 3)
    assert np.array_equal(state[: rows.DRIVE], rows.rest(OUTPUTS, 1)[: rows.DRIVE])
    assert not state[rows.FIXED :].any()
