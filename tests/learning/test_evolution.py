"""The genetic algorithm: finds what is there, stays within bounds, and is the same for the same seed."""

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


def course(genetic, seed=1, evaluate=sphere):
    return evolve(evaluate, LOW, HIGH, genetic, np.random.SeedSequence(seed))


@pytest.mark.parametrize("genetic", [JOINT_BY_JOINT, SHARED], ids=["7.1", "7.7"])
def test_finds_the_optimum(genetic):
    history = course(genetic.model_copy(update={"generations": 150}))
    assert np.abs(history.champion - GOAL).max() < 0.15
    assert history.best[-1] > history.best[0]
    assert history.mean[-1] > history.mean[0]


def test_blending_finds_it_more_exactly_than_drawing_anew():
    ends = [course(each.model_copy(update={"generations": 100})).best.max() for each in (JOINT_BY_JOINT, SHARED)]
    assert ends[1] > ends[0]


def test_same_seed_same_course_and_other_seed_another():
    quick = SHARED.model_copy(update={"generations": 20})
    one, same, other = course(quick, 5), course(quick, 5), course(quick, 6)
    assert np.array_equal(one.genes, same.genes)
    assert not np.array_equal(one.genes, other.genes)


def test_leaves_the_global_generator_alone():
    random.seed(7)
    expected = random.random()
    random.seed(7)
    course(SHARED.model_copy(update={"generations": 3}))
    assert random.random() == expected


@given(st.sampled_from(["one-point", "blend"]), st.sampled_from(["uniform", "polynomial"]), st.integers(2, 30))
@settings(max_examples=20, deadline=None)
def test_genes_stay_in_range_and_all_are_evaluated_once(crossover, mutation, population):
    seen = []

    def evaluate(genes):
        seen.append(genes)
        return sphere(genes)

    genetic = Genetic(population=population, generations=8, crossover=crossover, mutation=mutation, mutation_rate=0.5)
    history = course(genetic, evaluate=evaluate)
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

    history = course(Genetic(population=10, generations=1), evaluate=evaluate)
    assert history.best[0] == sphere(pools[0]).max()
    assert history.mean[0] == pytest.approx(sphere(pools[0]).mean())


@pytest.mark.parametrize(("key", "value"), [("population", 1), ("mutation_rate", 1.5), ("crossover", "none")])
def test_impossible_settings_are_refused(key, value):
    with pytest.raises(SandlotError, match=key):
        build(Genetic, {key: value})
