"""The study of fidelities: convergence, its claims about made-up results, and a small run."""

import io

import numpy as np
import pytest
import xarray as xr

from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.robots.snake import Snake
from sandlot.studies.runner import run
from sandlot.studies.water.base import HIGH, LOW
from sandlot.studies.water.fidelity import SETS, Fidelity

CLAIMS = (
    "converges",
    "rank",
    "distances",
    "near the fast",
    "near the source's",
    "sensitive",
    "at fast",
    "at reference",
)


def synthetic(study, **outcomes):
    """Results in which both fidelities agree, except for ``outcomes``: functions of a set's name and a generator."""
    rng = np.random.default_rng(0)
    rows = []
    for job in study.jobs():
        name, size = job.parameters["set"], study.block
        distance = 1e-12 * np.ones(size) if name == "without drag" else rng.uniform(5.0, 90.0, size)
        row = dict.fromkeys(study.outcomes, distance) | {"drive": np.ones(size), "exploded": np.zeros(size)}
        row |= {"sensitivity": np.full(size, 1e-4), "fast_spin": np.zeros(size), "spin": np.zeros(size)}
        for word, change in outcomes.items():
            row[word] = change(name, row[word], rng)
        rows.append({**job.parameters, **row})
    names = ("set", "block")
    data = {word: (("job",) if word in names else ("job", "gait"), [row[word] for row in rows]) for word in rows[0]}
    return xr.Dataset(data)


def failing(study, **outcomes):
    claims = study.claims(synthetic(study, **outcomes))
    assert len(claims) == len(CLAIMS)
    assert all(type(claim.holds) is bool for claim in claims)
    return {word for word, claim in zip(CLAIMS, claims, strict=True) if not claim.holds}


def test_claims_can_all_hold():
    assert failing(Fidelity()) == set()


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ({"fast": lambda name, x, rng: x * (1.04 if name == "random" else 1.0)}, {"distances"}),
        ({"fast": lambda name, x, rng: x * (1.06 if "fast" in name else 1.0)}, {"near the fast"}),
        ({"fast": lambda name, x, rng: x * (0.94 if "source" in name else 1.0)}, {"near the source's"}),
        ({"fast": lambda name, x, rng: rng.permuted(x) if name == "random" else x}, {"rank", "distances"}),
        (
            {"reference": lambda name, x, rng: x * np.where(rng.random(x.size) < 0.6 * (name == "random"), 1.03, 1.0)},
            {"converges"},
        ),
        ({"fast": lambda name, x, rng: x + 0.1 * (name == "without drag")}, {"at fast"}),
        ({"reference": lambda name, x, rng: x + 1.0 * (name == "without drag")}, {"at reference"}),
        ({"spin": lambda name, x, rng: x + 1e5 * (name == "without drag")}, {"at reference"}),
        ({"fast_spin": lambda name, x, rng: x + 1.0}, {"at fast"}),
    ],
)
def test_each_claim_can_fail_alone(outcomes, expected):
    assert failing(Fidelity(), **outcomes) == expected


def test_gaits_that_exploded_or_did_not_converge_are_left_out():
    def wrong(name, x, rng):
        return np.where(np.arange(x.size) % 20 == 0, 5.0 * x, x)

    def shaken(name, x, rng):
        return np.where(np.arange(x.size) % 20 == 0, 1.03 * x, x)

    def lost(name, x, rng):
        return np.where(np.arange(x.size) % 20 == 0, np.nan, x)

    def flag(name, x, rng):
        return (np.arange(x.size) % 20 == 0).astype(float)

    assert failing(Fidelity(), fast=wrong, reference=shaken, sensitivity=flag) == set()
    assert failing(Fidelity(), fast=lost, reference=lost, halved=lost, exploded=flag, sensitivity=flag) == set()


def test_the_note_counts_exploded_simulations():
    study = Fidelity()
    claims = study.claims(synthetic(study, exploded=lambda name, x, rng: x + (np.arange(x.size) == 3)))
    assert "190 of 200 gaits; 10 exploded" in claims[0].measured


@pytest.mark.parametrize(("able", "holds"), [(18, True), (17, False), (0, False)])
def test_the_claim_about_an_optimum_needs_nine_tenths_of_its_gaits(able, holds):
    study = Fidelity()
    shaken = {
        "reference": lambda name, x, rng: np.where(np.arange(x.size) < able, x, x * (1.0 + 0.03 * ("near" in name)))
    }
    claim = study.claims(synthetic(study, **shaken))[3]
    assert claim.holds is holds
    assert f"{2 * able} of 40" in claim.measured if able else claim.measured == "none of 40 can be judged"
    assert f"{40 - 2 * able} not converged" in claim.note


@pytest.mark.parametrize(("sensitive", "holds"), [(10, True), (9, True), (8, False)])
def test_gaits_that_do_not_converge_must_be_sensitive(sensitive, holds):
    study = Fidelity()
    outcomes = {
        "reference": lambda name, x, rng: np.where(np.arange(x.size) < 10, x * (1.0 + 0.03 * ("fast" in name)), x),
        "sensitivity": lambda name, x, rng: np.where(np.arange(x.size) < sensitive, 0.02, x),
    }
    claim = study.claims(synthetic(study, **outcomes))[5]
    assert claim.holds is holds
    assert claim.measured == f"{2 * sensitive} of 20"
    assert claim.note == "so are 0 of 20 that converge"


def test_an_exploded_gait_does_not_converge_and_nan_counts_as_sensitive():
    study = Fidelity()
    outcomes = {
        "exploded": lambda name, x, rng: x + (np.arange(x.size) == 3),
        "sensitivity": lambda name, x, rng: np.where(np.arange(x.size) == 3, np.nan, x),
    }
    assert study.claims(synthetic(study, **outcomes))[5].measured == "2 of 2"


def test_the_sensitivity_is_the_largest_change_by_one_parameter():
    study = Fidelity(seconds=2.0, snake=Snake(links=5, mass=100.0))
    genes = np.array([[0.3, 1.0, 0.7], [0.5, 2.0, 0.6]])

    def swim(genes):
        return study.swim(FastSwimmers(study.snake, len(genes)), genes)

    found = study.sensitivity(study.snake, genes, swim(genes))
    by_one = [abs(swim(genes * np.where(np.arange(3) == k, 1.0001, 1.0)) / swim(genes) - 1.0) for k in range(3)]
    np.testing.assert_allclose(found, np.max(by_one, axis=0), rtol=1e-6)
    assert (found < 0.01).all()


def test_claims_without_drag_fail_if_all_exploded():
    study = Fidelity()
    claims = study.claims(synthetic(study, exploded=lambda name, x, rng: x + (name == "without drag")))
    assert [claim.holds for claim in claims[-2:]] == [False, False]


def test_gaits_are_drawn_around_their_optimum_and_within_range():
    study = Fidelity(seconds=0.04, snake=Snake(links=3))
    seen = {}
    for job in study.jobs():
        if job.parameters["block"] == 0:
            found = study.run(job)
            seen[job.parameters["set"]] = np.stack(
                [found[word] for word in ("amplitude", "frequency", "phase")], axis=1
            )
    for name, middle in SETS.items():
        low, high = (LOW, HIGH) if middle is None else (0.9 * np.array(middle), 1.1 * np.array(middle))
        assert seen[name].shape == (20, 3)
        assert np.all(seen[name] >= low)
        assert np.all(seen[name] <= high)
        assert np.all((seen[name] >= LOW) & (seen[name] <= HIGH)), "what evolution may not choose is not asked for"
    assert not np.array_equal(seen["random"], seen["without drag"])


def test_jobs_cover_all_gaits():
    jobs = list(Fidelity().jobs())
    assert len(jobs) == 16
    assert [job.index for job in jobs] == list(range(16))
    assert len(list(Fidelity(gaits=21, near=4, block=20).jobs())) == 5


def test_a_tiny_run_draws_and_claims(tmp_path):
    study = Fidelity(gaits=6, near=4, block=4, seconds=0.5, snake=Snake(links=5, mass=100.0))
    outcome = run(study, tmp_path)
    results = outcome.results
    assert study.table(results, "random").sizes["row"] == 6, "and not the eight of two blocks"
    assert study.table(results, *SETS).sizes["row"] == 18
    assert outcome.claims
    study.figure(results).savefig(io.BytesIO(), format="png", dpi=30)
    for job in reversed(list(study.jobs())):
        for word, value in study.run(job).items():
            assert np.array_equal(value, results[word].values[job.index], equal_nan=True)
