"""Deep Q-learning, compiled: one agent plays episodes, remembers its moves, and learns from batches of them.

The loop is that of Huete 2020, 6.10: moves are remembered; every few episodes the net learns from batches, with targets
from a second net, which becomes a copy of the first one every some episodes; moves are random with a probability that
falls after each episode. What has been learned since can be switched on: double Q-learning (van Hasselt et al. 2016),
dueling heads (Wang et al. 2016), returns over several moves, prioritised replay (Schaul et al. 2016), Munchausen
rewards (Vieillard et al. 2020) and averaged weights (Izmailov et al. 2018).
"""

import math
from typing import Any, NamedTuple

import numpy as np

from sandlot.kernels import kernel
from sandlot.kernels.randomness import uniform
from sandlot.learning.q_net import Floats, Work, adam, backward, descend, forward
from sandlot.learning.replay import Memory, judge, remember, sample
from sandlot.places.situations import KINDS
from sandlot.typing import Array, IntArray
from sandlot.worlds.avoid.moves import MOVES, REACHED, RUNNING, Rovers, Rules, move, restart

ACTIONS = len(MOVES)
SCALE, TEMPERATURE, LOWEST = 0.9, 0.03, -1.0
"""Of Munchausen rewards: their scale, the temperature of the softmax, and the least logarithm; as their authors use."""
OWNER = np.dtype([("stream", np.uint64)])


class Recipe(NamedTuple):
    """How an agent learns; `sandlot.learning.dqn.Dqn` describes the fields."""

    rate: float
    adam: bool
    clip: float
    discount: float
    epsilon_decay: float
    epsilon_least: float
    by_moves: bool
    train_every: int
    updates: int
    target_every: int
    double: bool
    dueling: bool
    steps: int
    prioritised: bool
    munchausen: bool
    average: float
    reward_scale: float


class Agent(NamedTuple):
    """What an agent is and has learned.

    Attributes:
        sizes: (layers + 1,) of its net.
        online: (parameters,) of the net that acts.
        target: (parameters,) of the net that gives targets.
        moments: (2, parameters) of Adam.
        memory: Its last moves.
        owner: (1,) of `OWNER`: its random numbers.
        counts: (4,) episodes, updates and moves so far, and episodes in ``mean``.
        mean: (parameters,) sum of the nets after each of the last episodes.
        epsilon: (1,) probability of a random move.
        work: Scratch of the net that learns.
        other: (layers + 1, batch, widest) scratch of the net that gives targets.
        chosen: (batch,) scratch.
        weights: (batch,) scratch.
        wrong: (batch,) scratch.
        recent: (steps, inputs) observations of the last moves.
        recent_actions: (steps,)
        recent_rewards: (steps,)
    """

    sizes: IntArray
    online: Floats
    target: Floats
    moments: Floats
    memory: Memory
    owner: Any
    counts: IntArray
    mean: Array
    epsilon: Array
    work: Work
    other: Floats
    chosen: IntArray
    weights: Floats
    wrong: Array
    recent: Floats
    recent_actions: IntArray
    recent_rewards: Array


@kernel(error_model="numpy", allocates=False)
def head(outputs: Floats, dueling: bool, values: Array) -> None:
    """Values of the actions (actions,) from the outputs of a net."""
    if not dueling:
        for a in range(ACTIONS):
            values[a] = outputs[a]
        return
    mean = 0.0
    for a in range(ACTIONS):
        mean += outputs[1 + a] / ACTIONS
    for a in range(ACTIONS):
        values[a] = outputs[0] + outputs[1 + a] - mean


@kernel(error_model="numpy", allocates=False)
def best(values: Array) -> int:
    """The action with the largest value; the first of equal ones."""
    found = 0
    for a in range(1, values.shape[0]):
        if values[a] > values[found]:
            found = a
    return found


@kernel(error_model="numpy")
def act(agent: Agent, seen: Array, dueling: bool) -> int:
    """What the net would do."""
    values = np.empty(ACTIONS)
    for k in range(seen.shape[0]):
        agent.work.values[0, 0, k] = seen[k]
    forward(agent.online, agent.sizes, 1, agent.work.values)
    head(agent.work.values[agent.sizes.shape[0] - 1, 0], dueling, values)
    return best(values)


@kernel(error_model="numpy", allocates=False)
def soften(values: Array, logs: Array) -> None:
    """Logarithms of the softmax of values at `TEMPERATURE`."""
    top, total = values[best(values)], 0.0
    for a in range(ACTIONS):
        total += math.exp((values[a] - top) / TEMPERATURE)
    for a in range(ACTIONS):
        logs[a] = (values[a] - top) / TEMPERATURE - math.log(total)


@kernel(error_model="numpy")
def update(agent: Agent, recipe: Recipe) -> None:
    """Learn from one batch of moves."""
    memory, work, sizes, chosen = agent.memory, agent.work, agent.sizes, agent.chosen
    batch, last, inputs = chosen.shape[0], sizes.shape[0] - 1, sizes[0]
    values, logs = np.empty(ACTIONS), np.empty(ACTIONS)
    sample(memory, agent.owner[0], recipe.prioritised, chosen, agent.weights)
    if recipe.double:  # which action is best says the net that learns
        for i in range(batch):
            for k in range(inputs):
                work.values[0, i, k] = memory.after[chosen[i], k]
        forward(agent.online, sizes, batch, work.values)
    for i in range(batch):
        for k in range(inputs):
            agent.other[0, i, k] = memory.after[chosen[i], k]
    forward(agent.target, sizes, batch, agent.other)
    for i in range(batch):
        k = chosen[i]
        action = -1
        if recipe.double:
            head(work.values[last, i], recipe.dueling, values)
            action = best(values)
        head(agent.other[last, i], recipe.dueling, values)
        if recipe.munchausen:
            soften(values, logs)
            after = 0.0
            for a in range(ACTIONS):
                after += math.exp(logs[a]) * (values[a] - TEMPERATURE * logs[a])
        else:
            after = values[action if recipe.double else best(values)]
        agent.wrong[i] = memory.rewards[k] + memory.discounts[k] * after
    for i in range(batch):
        for k in range(inputs):
            work.values[0, i, k] = memory.before[chosen[i], k]
            agent.other[0, i, k] = work.values[0, i, k]
    if recipe.munchausen:
        forward(agent.target, sizes, batch, agent.other)
        for i in range(batch):
            head(agent.other[last, i], recipe.dueling, values)
            soften(values, logs)
            agent.wrong[i] += SCALE * max(TEMPERATURE * logs[memory.actions[chosen[i]]], LOWEST)
    forward(agent.online, sizes, batch, work.values)
    for i in range(batch):
        action = memory.actions[chosen[i]]
        head(work.values[last, i], recipe.dueling, values)
        agent.wrong[i] = values[action] - agent.wrong[i]
        error = agent.wrong[i] * agent.weights[i] / batch
        if recipe.clip > 0.0:
            error = min(max(error, -recipe.clip / batch), recipe.clip / batch)
        errors = work.errors[0, i]
        if recipe.dueling:
            errors[0] = error
            for a in range(ACTIONS):
                errors[1 + a] = error * ((1.0 if a == action else 0.0) - 1.0 / ACTIONS)
        else:
            for a in range(ACTIONS):
                errors[a] = error if a == action else 0.0
    backward(agent.online, sizes, batch, work)
    agent.counts[1] += 1
    if recipe.adam:
        adam(agent.online, work.gradient, agent.moments, agent.counts[1], recipe.rate)
    else:
        descend(agent.online, work.gradient, recipe.rate)
    if recipe.prioritised:
        judge(memory, chosen, agent.wrong)


@kernel(error_model="numpy", allocates=False)
def keep(agent: Agent, recipe: Recipe, filled: int, first: int, after: Floats, ended: bool) -> None:
    """Remember the oldest of the recent moves, with the rewards from it on.

    Args:
        agent: Whose move it is.
        recipe: How it learns.
        filled: So many recent moves count.
        first: Index of the oldest.
        after: (inputs,) the present observation.
        ended: Whether the episode has ended.
    """
    total, factor = 0.0, 1.0
    for k in range(filled):
        total += factor * agent.recent_rewards[(first + k) % recipe.steps]
        factor *= recipe.discount
    before, action = agent.recent[first], agent.recent_actions[first]
    remember(agent.memory, before, action, total, after, 0.0 if ended else factor, recipe.prioritised)


@kernel(error_model="numpy")
def study(agent: Agent, recipe: Recipe, number: int) -> None:
    """Learn, and copy the net, if it is time for that after so many episodes or moves."""
    if number % recipe.train_every == 0 and agent.memory.counts[0] >= agent.chosen.shape[0]:
        for _ in range(recipe.updates):
            update(agent, recipe)
    if number % recipe.target_every == 0:
        for k in range(agent.online.shape[0]):
            agent.target[k] = agent.online[k]


@kernel(error_model="numpy")
def play(agent: Agent, recipe: Recipe, rovers: Rovers, rules: Rules, kind: int, learns: bool) -> float:
    """One episode; returns the sum of its rewards.

    Args:
        agent: Who plays.
        recipe: How it learns.
        rovers: One rover.
        rules: Of the world.
        kind: Of the situation, index into `sandlot.places.situations.KINDS`.
        learns: Whether it makes random moves, and remembers.
    """
    only, kinds, action = np.zeros(1, np.int64), np.full(1, kind), np.zeros(1, np.int64)
    inputs, owner, total = agent.sizes[0], agent.owner[0], 0.0
    after = np.empty(inputs, np.float32)
    restart(rovers, only, kinds, rules)
    number = 0
    while rovers.endings[0] == RUNNING:
        slot = number % recipe.steps
        for k in range(inputs):
            agent.recent[slot, k] = rovers.seen[0, k]
        if learns and uniform(owner) < agent.epsilon[0]:
            action[0] = int(uniform(owner) * ACTIONS)
        else:
            action[0] = act(agent, rovers.seen[0], recipe.dueling)
        move(rovers, only, action, rules)
        total += rovers.rewards[0]
        agent.recent_actions[slot], agent.recent_rewards[slot] = action[0], recipe.reward_scale * rovers.rewards[0]
        number += 1
        if learns:
            for k in range(inputs):
                after[k] = rovers.seen[0, k]
            ended = rovers.endings[0] != RUNNING
            if number >= recipe.steps:
                keep(agent, recipe, recipe.steps, number % recipe.steps, after, ended)
            if ended:
                for left in range(min(number, recipe.steps - 1), 0, -1):
                    keep(agent, recipe, left, (number - left) % recipe.steps, after, True)
            agent.counts[2] += 1
            if recipe.by_moves:
                study(agent, recipe, agent.counts[2])
    return total


@kernel(error_model="numpy", nogil=True)
def learn(agent: Agent, recipe: Recipe, rovers: Rovers, rules: Rules, shares: Array, total: int, curve: Array) -> None:
    """Play and learn.

    Args:
        agent: Changed in place.
        recipe: How it learns.
        rovers: One rover, whose stream is set.
        rules: Of the world.
        shares: (episodes, kinds) probability of each kind of situation, summed up.
        total: Episodes of the whole training, at whose end the net becomes the mean of the last ones.
        curve: (episodes, 3) sum of rewards, whether the goal was reached, and epsilon; written.
    """
    owner = agent.owner[0]
    averaged = int(recipe.average * total)
    for episode in range(shares.shape[0]):
        drawn, kind = uniform(owner), 0
        while kind < len(KINDS) - 1 and drawn >= shares[episode, kind]:
            kind += 1
        curve[episode, 0] = play(agent, recipe, rovers, rules, kind, True)
        curve[episode, 1] = 1.0 if rovers.endings[0] == REACHED else 0.0
        curve[episode, 2] = agent.epsilon[0]
        agent.counts[0] += 1
        agent.epsilon[0] = max(agent.epsilon[0] * recipe.epsilon_decay, recipe.epsilon_least)
        if not recipe.by_moves:
            study(agent, recipe, agent.counts[0])
        if total - averaged < agent.counts[0] <= total:
            agent.counts[3] += 1
            for k in range(agent.mean.shape[0]):
                agent.mean[k] += agent.online[k]
        if agent.counts[0] == total and agent.counts[3] > 0:
            for k in range(agent.mean.shape[0]):
                agent.online[k] = agent.target[k] = agent.mean[k] / agent.counts[3]
                agent.mean[k] = 0.0
            agent.counts[3] = 0


@kernel(error_model="numpy", nogil=True)
def evaluate(agent: Agent, recipe: Recipe, rovers: Rovers, rules: Rules, kind: int, streams: Any, found: Array) -> None:
    """Play without random moves and without learning.

    Args:
        agent: Who plays; only its scratch changes.
        recipe: How it learned.
        rovers: One rover.
        rules: Of the world.
        kind: Of situations.
        streams: (episodes,) start of the random numbers of each.
        found: (episodes, 3) sum of rewards, how the episode ended, and its number of moves; written.
    """
    for episode in range(streams.shape[0]):
        rovers.states[0].stream = streams[episode]
        found[episode, 0] = play(agent, recipe, rovers, rules, kind, False)
        found[episode, 1], found[episode, 2] = rovers.endings[0], rovers.moves[0]
