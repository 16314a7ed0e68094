"""Agents that learn the avoid world."""

import copy

import numpy as np
import pytest

from sandlot.control.navigation.avoiding import Avoider, load_avoider
from sandlot.errors import SettingError
from sandlot.kernels.randomness import streams
from sandlot.learning.avoider import AvoiderTraining, train
from sandlot.learning.dqn import ALL, MODERN, STEPPED, Dqn, Learner, Stage, shares_of, train_population
from sandlot.models.dense import forward, save_dense
from sandlot.places.situations import KINDS
from sandlot.worlds.avoid.settings import AvoidSettings
from sandlot.worlds.avoid.world import Avoid

EASY = (Stage(kinds={"easy": 1.0}),)
QUICK = MODERN.model_copy(update={"hidden": (32, 32), "epsilon_decay": 0.99})
STARTS = streams(np.random.SeedSequence(7), 200)


def learners(count, settings=QUICK, **world):
    return [Learner(settings, AvoidSettings(**world), seed) for seed in np.random.SeedSequence(0).spawn(count)]


def test_an_agent_learns_easy_situations():
    (agent,) = learners(1)
    before = agent.test("easy", STARTS).success
    curve = agent.learn(shares_of(EASY, 700))
    assert before < 0.3
    assert agent.test("easy", STARTS).success > 0.7
    assert curve[-1, 2] == pytest.approx(0.99**699)


def test_a_population_gives_what_each_agent_gives_alone():
    together = train_population(two := learners(2), STEPPED, 40, threads=2)
    alone = learners(2)
    for k in range(2):
        np.testing.assert_array_equal(alone[k].learn(shares_of(STEPPED, 40)), together[k])
        np.testing.assert_array_equal(alone[k].agent.online, two[k].agent.online)
    assert not np.array_equal(together[0], together[1])


@pytest.mark.parametrize("average", [0.0, 0.25, 0.75])
def test_learning_in_parts_gives_the_same(average):
    given = QUICK.model_copy(update={"average": average})
    whole, parts = learners(1, given)[0], learners(1, given)[0]
    shares = shares_of(STEPPED, 60)
    one = whole.learn(shares)
    both = np.concatenate([parts.learn(shares[:25], 60), parts.learn(shares[25:], 60)])
    np.testing.assert_array_equal(one, both)
    np.testing.assert_array_equal(whole.agent.online, parts.agent.online)


def test_the_net_that_is_kept_acts_as_the_agent():
    (agent,) = learners(1)
    agent.learn(shares_of(EASY, 50))
    agent.agent.epsilon[0] = 0.0
    seen = np.random.default_rng(0).uniform(0.0, 1.0, (20, 9))
    moves = Avoider(agent.net, 5).act(seen)
    assert [agent.act(each) for each in seen] == moves.tolist()


def test_a_test_changes_nothing_and_repeats_itself():
    (agent,) = learners(1)
    before = agent.agent.online.copy()
    first, second = (agent.test("medium", STARTS[:20]) for _ in range(2))
    np.testing.assert_array_equal(first.rewards, second.rewards)
    np.testing.assert_array_equal(agent.agent.online, before)


def test_a_diverging_agent_stays_usable():
    agent = Learner(Dqn(rate=10.0, discount=1.0), AvoidSettings(prize=50.0), np.random.SeedSequence(0))
    agent.learn(shares_of(EASY, 60))
    assert 0.0 <= agent.test("easy", STARTS[:20]).success <= 1.0


def test_it_continues_to_learn_on_a_robot():
    """From moves that a Gymnasium world makes, one at a time."""
    (other,) = learners(1)
    other.learn(shares_of(EASY, 60))
    agent = Learner(QUICK, AvoidSettings(), np.random.SeedSequence(5))
    agent.continue_from(other, epsilon=0.1)
    np.testing.assert_array_equal(agent.agent.online, other.agent.online)
    world = Avoid(fidelity="reference", situation="easy")
    seen, _ = world.reset(seed=0)
    for _ in range(150):
        action = agent.act(seen)
        after, reward, ended, _, _ = world.step(action)
        agent.take(seen, action, reward, after, ended)
        seen = world.reset()[0] if ended else after
    assert agent.agent.memory.counts[0] == 150
    assert not np.array_equal(agent.agent.online, other.agent.online)
    small = Learner(QUICK.model_copy(update={"hidden": (8,)}), AvoidSettings(lines=0), np.random.SeedSequence(0))
    with pytest.raises(SettingError, match=r"cannot go on as one of \[4, 8, 5\]"):
        small.continue_from(other, 0.1)


def test_shares_of_a_curriculum():
    shares = shares_of(STEPPED, 10)
    np.testing.assert_array_equal(shares[:4], 1.0)
    np.testing.assert_allclose(shares[4:, :2], [[0.3, 1.0]] * 6)
    assert shares_of(ALL, 100).shape == (100, len(KINDS))


def test_the_best_of_several_avoiders_is_kept(tmp_path):
    given = AvoiderTraining(dqn=QUICK, episodes=30, agents=2, tests=10, world=AvoidSettings())
    net, card = train(given, threads=2)
    again, _ = train(given, threads=1)
    np.testing.assert_array_equal(net.weights, again.weights)
    assert len(card.errors) == len(KINDS)
    save_dense(tmp_path / "a", net, card)
    seen = np.zeros((1, 9))
    np.testing.assert_array_equal(forward(load_avoider(tmp_path / "a").net, seen), forward(net, seen))


def test_averaged_weights_are_the_mean_after_the_last_episodes():
    given = QUICK.model_copy(update={"average": 0.25})
    (averaged,), (plain,) = learners(1, given), learners(1)
    shares, nets = shares_of(EASY, 40), []
    averaged.learn(shares)
    for k in range(40):
        plain.learn(shares[k : k + 1])
        nets.append(plain.agent.online.astype(np.float64))
    np.testing.assert_allclose(averaged.agent.online, np.mean(nets[30:], axis=0), rtol=1e-6, atol=1e-7)
    assert np.abs(averaged.agent.online - plain.agent.online).max() > 1e-3
    np.testing.assert_array_equal(averaged.agent.online, averaged.agent.target)


def test_a_training_that_goes_on_after_its_end_averages_what_it_learns_then():
    (agent,) = learners(1, QUICK.model_copy(update={"average": 0.5}))
    agent.learn(shares_of(EASY, 40))
    single, nets = copy.deepcopy(agent), []
    agent.learn(shares_of(EASY, 20))  # all of the last 30 episodes that came after the first end
    for _ in range(20):
        single.learn(shares_of(EASY, 1), total=1000)
        nets.append(single.agent.online.astype(np.float64))
    np.testing.assert_allclose(agent.agent.online, np.mean(nets, axis=0), rtol=1e-6, atol=1e-7)
