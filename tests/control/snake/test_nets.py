import numpy as np
import pytest

from sandlot.control.snake.nets import NetController, from_card, make_net, pack, to_card, unpack
from sandlot.control.snake.steering import OBSERVED
from sandlot.errors import SandlotError
from sandlot.physics.swimming.nets import swim_nets
from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.robots.snake import Snake

SNAKE = Snake(links=4, mass=75.0)


def a_net(seed=0, hidden=2, frequency=1.3):
    rng = np.random.default_rng(seed)
    nodes, links = 3 + hidden, 14
    source, target = rng.integers(0, 5 + nodes, links), rng.integers(0, nodes, links)
    bias, response = rng.normal(size=nodes), rng.uniform(0.5, 1.5, nodes)
    return make_net(3, frequency, source, target, rng.normal(0.0, 2.0, links), bias, response)


def test_the_controller_swims_as_the_kernel_does():
    nets = [a_net(1), a_net(2, hidden=0)]
    commands = 8
    for net, other in (nets, nets[::-1]):
        swimmers, kernel = FastSwimmers(SNAKE, 1), FastSwimmers(SNAKE, 2)
        frequencies = np.array([net.frequency, other.frequency])
        swim_nets(SNAKE.record(), kernel.state, pack([net, other]), frequencies, commands)
        controller = NetController(net, SNAKE)
        controller.reset([np.random.SeedSequence(0)])
        for _ in range(commands):
            swimmers.command(controller.act(observation(swimmers)[None]))
        np.testing.assert_allclose(swimmers.state[:, 0], kernel.state[:, 0], atol=1e-9)


def test_members_of_a_batch_have_their_own_memory():
    """And start again from zero when they are reset."""
    controller, single = NetController(a_net(1), SNAKE), NetController(a_net(1), SNAKE)
    seeds = [np.random.SeedSequence(k) for k in range(3)]
    observations = np.random.default_rng(0).normal(size=(6, 3, OBSERVED + 6))
    controller.reset(seeds)
    batched = [controller.act(each) for each in observations[:3]]
    controller.reset(seeds[:1], [1])
    batched += [controller.act(each) for each in observations[3:5]]
    some = controller.act(observations[5][[0, 1]], [0, 1])
    for member, begins in ((0, {0}), (1, {0, 3}), (2, {0})):
        for k in range(5):
            if k in begins:
                single.reset(seeds[:1])
            np.testing.assert_array_equal(batched[k][member], single.act(observations[k, member][None])[0])
        if member < 2:
            np.testing.assert_array_equal(some[member], single.act(observations[5, member][None])[0])


def observation(swimmers):
    fixed = np.zeros(OBSERVED)
    fixed[0] = swimmers.time[0]
    return np.concatenate([fixed, swimmers.angles[0], swimmers.rates[0]])


def test_links_are_ordered_by_their_target():
    net = make_net(2, 1.0, [0, 5, 2], [2, 0, 2], [1.0, 2.0, 3.0], np.zeros(3), np.ones(3))
    assert net.first_link.tolist() == [0, 1, 1, 3]
    assert net.source.tolist() == [5, 0, 2]
    assert net.weight.tolist() == [2.0, 1.0, 3.0]
    assert net.target.tolist() == [0, 2, 2]
    assert net.hidden == 1


def test_packed_nets_can_be_unpacked():
    nets = [a_net(k, hidden=k) for k in range(3)]
    packed = pack(nets)
    for k, net in enumerate(nets):
        assert same(net, unpack(packed, k, 3, net.frequency))


def test_a_card_holds_a_whole_net():
    net = a_net(4)
    assert same(net, from_card(to_card(net)))


def same(one, other):
    names = ("first_link", "source", "weight", "bias", "response")
    return one.frequency == other.frequency and all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in names
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"links": 9}, "links of a net for 3 joints must be 4, not 9"),
        ({"inputs": ("angle 0",)}, "inputs of a net for 3 joints must be"),
        ({"outputs": ("joint 0",)}, "outputs of a net for 3 joints must be"),
        ({"nodes": ()}, "the first nodes of a net for 3 joints must be"),
    ],
)
def test_a_card_that_does_not_fit_is_refused(change, message):
    with pytest.raises(SandlotError, match=message):
        from_card(to_card(a_net()).model_copy(update=change))


def test_connections_must_name_nodes():
    card = to_card(a_net())
    link = card.connections[0]
    for update in ({"source": "angel 0"}, {"target": "clock"}):
        wrong = card.model_copy(update={"connections": (link.model_copy(update=update),)})
        with pytest.raises(SandlotError, match=r"a connection of the net names '(angel 0|clock)'"):
            from_card(wrong)
    twice = card.model_copy(update={"nodes": (*card.nodes, card.nodes[0])})
    with pytest.raises(SandlotError, match="must all differ"):
        from_card(twice)


def test_a_net_for_another_body_is_refused():
    with pytest.raises(SandlotError, match="a net for 3 joints cannot drive 16"):
        NetController(a_net(), Snake())
