"""One update of deep Q-learning, with every option, against the same in NumPy."""

import numpy as np
import pytest

from sandlot.learning.dqn import Dqn, Learner
from sandlot.learning.q_learning import SCALE, TEMPERATURE, update
from sandlot.learning.q_net import as_dense, layers_of
from sandlot.learning.replay import remember
from sandlot.models.dense import forward
from sandlot.worlds.avoid.settings import AvoidSettings

OPTIONS = [
    {},
    {"double": True},
    {"dueling": True},
    {"munchausen": True},
    {"double": True, "dueling": True, "clip": 0.1},
]


def softmax_logs(values):
    scaled = (values - values.max(axis=1, keepdims=True)) / TEMPERATURE
    return scaled - np.log(np.exp(scaled).sum(axis=1, keepdims=True))


@pytest.mark.parametrize("options", OPTIONS)
def test_an_update_follows_the_gradient_of_the_squared_error(options):
    """Compared through the change of the biases of the last layer, which is the mean error of each action."""
    settings = Dqn(hidden=(6, 6), batch=8, memory=50, rate=0.5, **options)
    learner = Learner(settings, AvoidSettings(lines=0, prize=1.0), np.random.SeedSequence(1))
    agent, rng = learner.agent, np.random.default_rng(2)
    agent.target[:] += rng.normal(0.0, 0.1, len(agent.target)).astype(np.float32)
    for _ in range(30):
        rows = rng.normal(size=(2, 4)).astype(np.float32)
        remember(agent.memory, rows[0], int(rng.integers(4)), float(rng.normal()), rows[1], 0.9, False)
    before = agent.online.copy()
    update(agent, learner._recipe)
    k, memory = agent.chosen, agent.memory
    online, target = (as_dense(each, agent.sizes, settings.dueling) for each in (before, agent.target))
    rows, after = memory.before[k].astype(np.float64), memory.after[k].astype(np.float64)
    there, each, actions = forward(target, after), np.arange(8), memory.actions[k]
    if settings.munchausen:
        logs = softmax_logs(there)
        value = (np.exp(logs) * (there - TEMPERATURE * logs)).sum(axis=1)
    else:
        value = there[each, (forward(online, after) if settings.double else there).argmax(axis=1)]
    wanted = memory.rewards[k] + memory.discounts[k] * value
    if settings.munchausen:
        wanted += SCALE * np.maximum(TEMPERATURE * softmax_logs(forward(target, rows))[each, actions], -1.0)
    error = forward(online, rows)[each, actions] - wanted
    np.testing.assert_allclose(agent.wrong, error, atol=1e-4)
    if settings.clip:
        error = np.clip(error, -settings.clip, settings.clip)
    chosen = np.eye(4)[actions]
    slopes = np.column_stack([np.ones(8), chosen - 0.25]) if settings.dueling else chosen
    expected = layers_of(before, agent.sizes)[-1][1] - settings.rate * (error[:, None] * slopes).mean(axis=0)
    np.testing.assert_allclose(layers_of(agent.online, agent.sizes)[-1][1], expected, atol=1e-4)


def test_returns_over_several_moves_are_discounted_sums():
    settings = Dqn(hidden=(4,), batch=2, memory=100, steps=3, discount=0.5, train_every=1000)
    world = AvoidSettings(lines=0, reward="progress", prize=1.0, longest=5, near=0.01)
    learner = Learner(settings, world, np.random.SeedSequence(3))
    learner.learn(np.array([[1.0] * 5]))
    memory, count = learner.agent.memory, int(learner.agent.counts[2])
    assert memory.counts[0] == count  # each move is remembered once
    last = memory.rewards[: memory.counts[0]]
    assert (memory.discounts[: count - 3] == np.float32(0.125)).all()
    assert (memory.discounts[max(count - 3, 0) : count] == 0.0).all()
    assert last[count - 1] == -1.0  # too many moves, or a collision
