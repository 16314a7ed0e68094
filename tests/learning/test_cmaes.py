import numpy as np
import pytest

from sandlot.errors import SandlotError
from sandlot.learning.cmaes import Adaptive, adapt

LOW, HIGH = [-2.0, 0.0, 10.0], [3.0, 1.0, 500.0]
PEAK = np.array([1.5, 0.9, 33.0])


def shifted_sphere(genes):
    return -(((genes - PEAK) / np.subtract(HIGH, LOW)) ** 2).sum(axis=1)


def rosenbrock(genes):
    x, y = genes[:, :-1], genes[:, 1:]
    return -(100.0 * (y - x**2) ** 2 + (1.0 - x) ** 2).sum(axis=1)


def test_finds_a_peak_whose_genes_have_very_different_ranges():
    history = adapt(shifted_sphere, LOW, HIGH, Adaptive(generations=150), np.random.SeedSequence(1))
    np.testing.assert_allclose(history.champion, PEAK, rtol=1e-3)


def test_finds_the_minimum_of_rosenbrock():
    history = adapt(rosenbrock, [-2.0] * 4, [3.0] * 4, Adaptive(), np.random.SeedSequence(2))
    np.testing.assert_allclose(history.champion, 1.0, atol=1e-5)
    assert len(history.best) < 1000, "it ends once converged"


def test_stays_within_the_box_and_finds_its_corner():
    seen = []

    def climb(genes):
        seen.append(genes)
        return (genes / np.array(HIGH)).sum(axis=1)

    history = adapt(climb, LOW, HIGH, Adaptive(generations=80), np.random.SeedSequence(3))
    every = np.concatenate(seen)
    assert (every >= LOW).all()
    assert (every <= HIGH).all()
    np.testing.assert_allclose(history.champion, HIGH, rtol=1e-3)
    assert history.evaluations.tolist() == [12 * (k + 1) for k in range(len(history.best))]
    assert history.genes.shape == (len(history.best), 3)


def test_the_same_seed_gives_the_same_search_and_nothing_is_printed(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - checks that the global generator is unchanged
    settings = Adaptive(generations=10)
    first, second, other = (
        adapt(shifted_sphere, LOW, HIGH, settings, np.random.SeedSequence(seed)) for seed in (5, 5, 6)
    )
    assert np.array_equal(first.genes, second.genes)
    assert not np.array_equal(first.genes, other.genes)
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    assert capsys.readouterr() == ("", "")
    assert not list(tmp_path.iterdir())


def test_bad_input_is_refused():
    with pytest.raises(SandlotError, match="at least two genes"):
        adapt(shifted_sphere, [0.0], [1.0], Adaptive(), np.random.SeedSequence(1))
    for wrong, words in (
        (np.nan, "all simulations of generation 0 exploded"),
        (np.inf, "a fitness of generation 0 is infinite"),
    ):
        with pytest.raises(SandlotError, match=f"^{words}"):
            adapt(
                lambda genes, wrong=wrong: np.full(len(genes), wrong), LOW, HIGH, Adaptive(), np.random.SeedSequence(1)
            )


def test_exploded_individuals_lose_and_are_left_out_of_the_mean():
    seen = []

    def half(genes):
        seen.append(np.where(genes[:, 0] < 1.0, np.nan, shifted_sphere(genes)))
        return seen[-1]

    history = adapt(half, LOW, HIGH, Adaptive(generations=150), np.random.SeedSequence(1))
    np.testing.assert_allclose(history.champion, PEAK, rtol=1e-3)
    assert history.exploded.tolist() == [int(np.isnan(each).sum()) for each in seen]
    assert history.exploded[0] > 0
    np.testing.assert_allclose(history.mean, [np.nanmean(each) for each in seen])
