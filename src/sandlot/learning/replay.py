"""The memory of a learner: past moves, drawn at random or by how wrong they were predicted (Schaul et al. 2016)."""

from typing import Any, NamedTuple

import numpy as np

from sandlot.kernels import kernel
from sandlot.kernels.randomness import uniform
from sandlot.learning.q_net import Floats
from sandlot.typing import Array, IntArray

PRIORITY = 0.6
"""Exponent of errors in priorities."""
CORRECTION = 0.4
"""Exponent by which moves that are drawn more often count less."""
LEAST = 0.01
"""Added to errors, so that every move has a chance."""


class Memory(NamedTuple):
    """The last moves.

    Attributes:
        before: (capacity, inputs) observations.
        after: (capacity, inputs) observations so many moves later.
        actions: (capacity,)
        rewards: (capacity,) discounted sum of the rewards in between.
        discounts: (capacity,) of what comes after; 0 at the end of an episode.
        tree: (2 * capacity,) sums of priorities: node k has the children 2 k and 2 k + 1; the leaves are the last half.
        counts: (1,) moves that were ever put in.
        largest: (1,) largest priority so far.
    """

    before: Floats
    after: Floats
    actions: IntArray
    rewards: Floats
    discounts: Floats
    tree: Array
    counts: IntArray
    largest: Array


def make_memory(capacity: int, inputs: int) -> Memory:
    """An empty memory."""
    return Memory(
        np.zeros((capacity, inputs), np.float32),
        np.zeros((capacity, inputs), np.float32),
        np.zeros(capacity, np.int64),
        np.zeros(capacity, np.float32),
        np.zeros(capacity, np.float32),
        np.zeros(2 * capacity),
        np.zeros(1, np.int64),
        np.ones(1),
    )


@kernel(error_model="numpy", allocates=False)
def set_priority(memory: Memory, k: int, priority: float) -> None:
    """Change the priority of a move."""
    tree = memory.tree
    node = tree.shape[0] // 2 + k
    tree[node] = priority
    node //= 2
    while node >= 1:
        tree[node] = tree[2 * node] + tree[2 * node + 1]
        node //= 2


@kernel(error_model="numpy", allocates=False)
def remember(
    memory: Memory, before: Floats, action: int, reward: float, after: Floats, discount: float, prioritised: bool
) -> None:
    """Put a move in, in place of the oldest if the memory is full; a new one has the largest priority."""
    k = memory.counts[0] % memory.actions.shape[0]
    for i in range(before.shape[0]):
        memory.before[k, i] = before[i]
        memory.after[k, i] = after[i]
    memory.actions[k], memory.rewards[k], memory.discounts[k] = action, reward, discount
    memory.counts[0] += 1
    if prioritised:
        set_priority(memory, k, memory.largest[0])


@kernel(error_model="numpy", allocates=False)
def sample(memory: Memory, owner: Any, prioritised: bool, chosen: IntArray, weights: Floats) -> None:
    """Draw moves.

    Args:
        memory: With at least one move.
        owner: Record with a ``stream`` of random numbers.
        prioritised: Whether by priority; otherwise all are as likely.
        chosen: (batch,) indices of moves, written.
        weights: (batch,) how much each counts, written; the largest is 1.
    """
    batch, filled = chosen.shape[0], min(memory.counts[0], memory.actions.shape[0])
    if not prioritised:
        for i in range(batch):
            chosen[i] = int(uniform(owner) * filled)
            weights[i] = 1.0
        return
    tree = memory.tree
    half, total, most = tree.shape[0] // 2, tree[1], 0.0
    for i in range(batch):
        mass, node = (i + uniform(owner)) * total / batch, 1  # one from each of so many equal parts
        while node < half:
            node *= 2
            if mass >= tree[node] and tree[node + 1] > 0.0:
                mass -= tree[node]
                node += 1
        chosen[i] = min(node - half, filled - 1)
        weights[i] = (filled * tree[node] / total) ** -CORRECTION
        most = max(most, weights[i])
    for i in range(batch):
        weights[i] /= most


@kernel(error_model="numpy", allocates=False)
def judge(memory: Memory, chosen: IntArray, errors: Array) -> None:
    """Set the priorities of moves by how wrong they were predicted: errors (batch,)."""
    for i in range(chosen.shape[0]):
        priority = (min(abs(errors[i]), 1e3) + LEAST) ** PRIORITY
        if priority == priority:  # not NaN, as of a net that has diverged
            memory.largest[0] = max(memory.largest[0], priority)
            set_priority(memory, chosen[i], priority)
