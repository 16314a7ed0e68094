import random

import numpy as np
import pytest

from sandlot.errors import SandlotError
from sandlot.learning.pareto import Pareto, find_front

SMALL = Pareto(population=60, generations=150)


def zdt1(genes):
    """ZDT1 (Zitzler, Deb and Thiele), negated to be maximised; on its front all genes but the first are 0."""
    first = genes[:, 0]
    rest = 1.0 + 9.0 * genes[:, 1:].mean(axis=1)
    return -np.stack([first, rest * (1.0 - np.sqrt(first / rest))], axis=1)


def test_finds_the_front_of_zdt1():
    front = find_front(zdt1, [0.0] * 10, [1.0] * 10, SMALL, np.random.SeedSequence(1))
    first, second = -front.objectives.T
    assert np.abs(second - (1.0 - np.sqrt(first))).max() < 0.03
    assert first.min() < 0.01
    assert first.max() > 0.99
    assert np.abs(np.diff(first)).max() < 0.1, "it has no gaps"
    np.testing.assert_allclose(zdt1(front.genes), front.objectives)


def test_no_individual_of_a_front_dominates_another():
    front = find_front(zdt1, [0.0] * 4, [1.0] * 4, Pareto(population=20, generations=5), np.random.SeedSequence(2))
    values = front.objectives
    better = (values[:, None] >= values).all(axis=-1) & (values[:, None] > values).any(axis=-1)
    assert not better.any()
    assert (np.diff(values[:, 0]) >= 0.0).all()
    assert front.best.shape == (5, 2)
    assert (np.diff(front.best, axis=0) >= 0.0).all()
    assert front.evaluations.tolist() == [20, 40, 60, 80, 100]
    assert (front.genes >= 0.0).all()
    assert (front.genes <= 1.0).all()


def test_the_same_seed_gives_the_same_front():
    random.seed(1)
    before = random.getstate()
    settings = Pareto(population=12, generations=4)
    first, second, other = (
        find_front(zdt1, [0.0] * 3, [1.0] * 3, settings, np.random.SeedSequence(seed)) for seed in (5, 5, 6)
    )
    assert np.array_equal(first.genes, second.genes)
    assert not np.array_equal(first.genes, other.genes)
    assert random.getstate() == before


@pytest.mark.parametrize(
    ("wrong", "words"),
    [(np.inf, "a fitness of generation 0 is infinite"), (np.nan, "all simulations of generation 0 exploded")],
)
def test_infinite_and_missing_objectives_are_errors(wrong, words):
    with pytest.raises(SandlotError, match=f"^{words}"):
        find_front(lambda genes: genes * wrong, [1.0] * 2, [2.0] * 2, SMALL, np.random.SeedSequence(1))


def test_exploded_individuals_are_not_in_the_front():
    calls = []

    def half(genes):
        calls.append(genes[:, 1] > 0.5)
        return np.where(calls[-1][:, None], (np.nan, 1.0), zdt1(genes))

    settings = Pareto(population=20, generations=30)
    front = find_front(half, [0.0] * 3, [1.0] * 3, settings, np.random.SeedSequence(2))
    assert front.exploded.tolist() == [int(each.sum()) for each in calls]
    assert front.exploded[0] > 0
    assert (front.genes[:, 1] <= 0.5).all()
    np.testing.assert_array_equal(front.objectives, zdt1(front.genes))
    assert (front.best <= 0.0).all()


def test_a_later_generation_may_explode_as_a_whole():
    calls = []

    def once(genes):
        calls.append(len(genes))
        return zdt1(genes) if len(calls) == 1 else np.full((len(genes), 2), np.nan)

    front = find_front(once, [0.0] * 3, [1.0] * 3, Pareto(population=8, generations=3), np.random.SeedSequence(2))
    assert front.exploded.tolist() == [0, 8, 8]
    assert np.isfinite(front.objectives).all()
