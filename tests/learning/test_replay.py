"""The memory of a learner."""

import numpy as np

from sandlot.learning.replay import CORRECTION, judge, make_memory, remember, sample, set_priority

OWNER = np.dtype([("stream", np.uint64)])


def filled(count, capacity=10, prioritised=True):
    memory = make_memory(capacity, 2)
    for k in range(count):
        row = np.full(2, k, np.float32)
        remember(memory, row, k % 4, float(k), row + 1, 0.9, prioritised)
    return memory


def drawn(memory, prioritised, batch=4000):
    chosen, weights = np.zeros(batch, np.int64), np.zeros(batch, np.float32)
    sample(memory, np.zeros(1, OWNER)[0], prioritised, chosen, weights)
    return chosen, weights


def test_the_oldest_moves_are_forgotten():
    memory = filled(13)
    assert sorted(memory.rewards.tolist()) == list(range(3, 13))
    np.testing.assert_array_equal(memory.after - memory.before, 1.0)


def test_without_priorities_all_moves_are_as_likely():
    chosen, weights = drawn(filled(7), False)
    counts = np.bincount(chosen, minlength=7)
    assert counts.shape == (7,)
    assert (np.abs(counts / len(chosen) - 1 / 7) < 0.03).all()
    assert (weights == 1.0).all()


def test_moves_are_drawn_by_priority_and_corrected_for_it():
    memory = filled(7)
    priorities = np.array([1.0, 2.0, 0.5, 4.0, 1.0, 1.0, 3.0])
    for k, each in enumerate(priorities):
        set_priority(memory, k, each)
    np.testing.assert_allclose(memory.tree[1], priorities.sum())
    chosen, weights = drawn(memory, True)
    shares = priorities / priorities.sum()
    np.testing.assert_allclose(np.bincount(chosen, minlength=7) / len(chosen), shares, atol=0.01)
    expected = (7 * shares) ** -CORRECTION
    np.testing.assert_allclose(weights, (expected / expected[chosen].max())[chosen], rtol=1e-5)


def test_large_errors_get_large_priorities_and_nan_changes_nothing():
    memory = filled(7)
    judge(memory, np.array([0, 1, 2]), np.array([5.0, -0.1, np.nan]))
    leaves = memory.tree[10:]
    assert leaves[0] > leaves[2] == 1.0 > leaves[1]
    assert memory.largest[0] == leaves[0]
