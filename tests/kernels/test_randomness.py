import numpy as np

from sandlot.kernels.randomness import below, normal, streams, uniform
from twins.randomness import Stream

OWNER = np.dtype([("stream", np.uint64)])


def owner(state):
    one = np.zeros(1, OWNER)
    one["stream"] = state
    return one[0]


def test_agrees_with_published_values_of_splitmix64():
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    mine = owner(1234567)
    assert [uniform(mine) for _ in published] == [(value >> 11) / 2**53 for value in published]


def test_agrees_with_its_twin():
    for state in (0, 1, 2**63, 2**64 - 1):
        mine, twin = owner(state), Stream(state)
        assert [uniform(mine) for _ in range(20)] == [twin.uniform() for _ in range(20)]
        assert [below(mine, 10) for _ in range(20)] == [twin.below(10) for _ in range(20)]
        np.testing.assert_allclose([normal(mine) for _ in range(20)], [twin.normal() for _ in range(20)], rtol=1e-14)


def test_draws_are_even():
    mine = owner(7)
    counts = np.bincount([below(mine, 8) for _ in range(16_000)], minlength=8)
    assert counts.size == 8
    # Chi-square with 7 degrees of freedom: 24.3 is exceeded once in a thousand.
    assert ((counts - 2000) ** 2 / 2000).sum() < 24.3


def test_streams_differ_and_repeat():
    first, again = (streams(np.random.SeedSequence(3), 100) for _ in range(2))
    assert np.array_equal(first, again)
    assert np.unique(first).size == 100


def test_normal_draws_have_mean_0_and_deviation_1():
    mine = owner(3)
    drawn = np.array([normal(mine) for _ in range(10_000)])
    assert abs(drawn.mean()) < 0.03
    assert abs(drawn.std() - 1.0) < 0.03
    assert abs((drawn > 1.0).mean() - 0.1587) < 0.011  # three standard errors
