"""Proximal policy optimisation on a tiny task, and the training of climbers in small."""

import numpy as np
import pytest

from sandlot.errors import ModelError
from sandlot.learning.ppo import Ppo, learn
from sandlot.models.dense import forward

pytest.importorskip("torch")
PPO = Ppo(iterations=40, horizon=16, hidden=(16,), batches=4)


class Points:
    """Points on a line that must be moved to 0; the reward is minus the distance after the step."""

    count, features, actions = 64, 1, 1

    def __init__(self, seed):
        self._rng = np.random.default_rng(seed)

    def reset(self):
        self._x, self._age = self._rng.uniform(-1.0, 1.0, (self.count, 1)), np.zeros(self.count, np.int64)
        return self._x.copy()

    def step(self, actions):
        self._x = np.clip(self._x + 0.3 * np.clip(actions, -1.0, 1.0), -2.0, 2.0)
        rewards, late = -np.abs(self._x[:, 0]), self._age >= 10
        self._age = np.where(late, 0, self._age + 1)
        self._x[late] = self._rng.uniform(-1.0, 1.0, (late.sum(), 1))
        return self._x.copy(), rewards, np.zeros(self.count, np.bool_), late


def test_it_learns_a_tiny_task():
    updates = []
    net, _ = learn(Points(0), PPO, np.random.SeedSequence(0), updates.append)
    x = np.array([[-0.8], [0.8]])
    for _ in range(6):
        x = x + 0.3 * np.clip(forward(net, x), -1.0, 1.0)
    assert np.abs(x).max() < 0.15
    assert updates[-1].reward > 0.6 * updates[0].reward  # rewards are negative
    assert [each.number for each in updates] == list(range(1, 41))


def test_the_same_seed_gives_the_same_net():
    few = PPO.model_copy(update={"iterations": 3})
    nets = [learn(Points(0), few, np.random.SeedSequence(seed)).policy for seed in (1, 1, 2)]
    np.testing.assert_array_equal(nets[0].weights, nets[1].weights)
    assert np.abs(nets[0].weights - nets[2].weights).max() > 1e-3


def test_training_goes_on_from_a_net_with_the_same_layers_only():
    trained = learn(Points(0), PPO, np.random.SeedSequence(0))
    few, updates = PPO.model_copy(update={"iterations": 2, "deviation": 0.1}), []
    learn(Points(0), few, np.random.SeedSequence(1), updates.append, trained)
    fresh = []
    learn(Points(0), few, np.random.SeedSequence(1), fresh.append)
    assert updates[0].reward > 0.6 * fresh[0].reward  # rewards are negative
    with pytest.raises(ModelError, match="cannot be trained further"):
        learn(Points(0), PPO.model_copy(update={"hidden": (5,)}), np.random.SeedSequence(1), start=trained)


def test_running_out_of_time_is_not_worth_less():
    """With a reward of 1 in each step the value is that of going on for ever, though episodes are cut off."""
    from sandlot.learning.ppo import _advantages

    rewards, values = np.ones((4, 1)), np.full((5, 1), 10.0)
    late = np.array([[False], [True], [False], [False]])
    np.testing.assert_allclose(
        _advantages(rewards + 0.9 * values[:-1] * late, values, late, 0.9, 0.95), 0.0, atol=1e-12
    )
