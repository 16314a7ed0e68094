"""The genetic algorithm finds optima, stays within bounds, and gives the same search for the same seed."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandlot.errors import SandlotError
from sandlot.learning.evolution import JOINT_BY_JOINT, SHARED, Genetic, evolve
from sandlot.settings import build

GOAL = np.array([0.3, -1.2, 2.0])
LOW, HIGH = (-3.0, -3.0, -3.0), (3.0, 3.0, 3.0)


def sphere(genes):
    return -((genes - GOAL) ** 2).sum(axis=1)


def search(genetic, seed=1, evaluate=sphere):
    return evolve(evaluate, LOW, HIGH, genetic, np.random.SeedSequence(seed))


@pytest.mark.parametrize("genetic", [JOINT_BY_JOINT, SHARED], ids=["7.1", "7.7"])
def test_finds_the_optimum(genetic):
    history = search(genetic.model_copy(update={"generations": 150}))
    assert np.abs(history.champion - GOAL).max() < 0.15
    assert history.best[-1] > history.best[0]
    assert history.mean[-1] > history.mean[0]


def test_blend_crossover_is_more_accurate_than_uniform_mutation():
    ends = [search(each.model_copy(update={"generations": 100})).best.max() for each in (JOINT_BY_JOINT, SHARED)]
    assert ends[1] > ends[0]


def test_only_the_same_seed_gives_the_same_search():
    quick = SHARED.model_copy(update={"generations": 20})
    one, same, other = search(quick, 5), search(quick, 5), search(quick, 6)
    assert np.array_equal(one.genes, same.genes)
    assert not np.array_equal(one.genes, other.genes)


def test_the_global_generator_is_unchanged():
    random.seed(7)
    expected = random.random()
    random.seed(7)
    search(SHARED.model_copy(update={"generations": 3}))
    assert random.random() == expected


@given(st.sampled_from(["one-point", "blend"]), st.sampled_from(["uniform", "polynomial"]), st.integers(2, 30))
@settings(max_examples=20, deadline=None)
def test_genes_stay_in_range_and_all_are_evaluated_once(crossover, mutation, population):
    seen = []

    def evaluate(genes):
        seen.append(genes)
        return sphere(genes)

    genetic = Genetic(population=population, generations=8, crossover=crossover, mutation=mutation, mutation_rate=0.5)
    history = search(genetic, evaluate=evaluate)
    genes = np.concatenate(seen)
    assert (genes >= LOW).all()
    assert (genes <= HIGH).all()
    assert history.evaluations[-1] == len(genes) <= 8 * population
    assert len(seen) <= 8, "one call for each generation"
    assert history.best.max() == sphere(genes).max()


def test_mean_and_best_are_those_of_the_population():
    pools = []

    def evaluate(genes):
        pools.append(genes)
        return sphere(genes)

    history = search(Genetic(population=10, generations=1), evaluate=evaluate)
    assert history.best[0] == sphere(pools[0]).max()
    assert history.mean[0] == pytest.approx(sphere(pools[0]).mean())


class TestExplosions:
    @staticmethod
    def half(genes):
        """Individuals with a negative first gene explode; the optimum is at that boundary."""
        return np.where(genes[:, 0] < 0.0, np.nan, -(genes**2).sum(axis=1))

    def test_they_are_counted_and_left_out_of_the_mean(self):
        pools = []

        def evaluate(genes):
            pools.append(self.half(genes))
            return pools[-1]

        history = search(Genetic(population=40, generations=1), evaluate=evaluate)
        (fitness,) = pools
        assert 0 < history.exploded[0] == np.isnan(fitness).sum() < 40
        assert history.mean[0] == pytest.approx(np.nanmean(fitness))
        assert history.best[0] == np.nanmax(fitness)

    @pytest.mark.parametrize("genetic", [JOINT_BY_JOINT, SHARED], ids=["7.1", "7.7"])
    def test_they_lose(self, genetic):
        history = search(genetic.model_copy(update={"generations": 60}), evaluate=self.half)
        assert np.isfinite(history.best).all()
        assert np.isfinite(history.mean).all()
        assert history.champion[0] >= 0.0
        assert np.abs(history.champion).max() < 0.3
        assert history.exploded[0] > 2 * history.exploded[-1]

    def test_without_them_nothing_is_counted(self):
        assert search(Genetic(population=10, generations=5)).exploded.tolist() == [0] * 5

    def test_a_generation_that_explodes_as_a_whole_is_an_error(self):
        with pytest.raises(SandlotError, match=r"^all simulations of generation 0 exploded"):
            search(Genetic(population=10, generations=2), evaluate=lambda genes: np.full(len(genes), np.nan))

    @pytest.mark.parametrize("wrong", [np.inf, -np.inf])
    def test_an_infinite_fitness_is_an_error(self, wrong):
        with pytest.raises(SandlotError, match=r"^a fitness of generation 0 is infinite"):
            search(Genetic(population=10, generations=2), evaluate=lambda genes: np.full(len(genes), wrong))


@pytest.mark.parametrize(("key", "value"), [("population", 1), ("mutation_rate", 1.5), ("crossover", "none")])
def test_impossible_settings_are_refused(key, value):
    with pytest.raises(SandlotError, match=key):
        build(Genetic, {key: value})
