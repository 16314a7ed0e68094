"""The study of maneuvers: its claims about made-up results, and a small run."""

import io
import math

import numpy as np
import pytest

from claims import assert_fails, failing
from sandlot.studies.indoor.maneuvers import ManeuverStudy
from sandlot.studies.runner import run

STUDY = ManeuverStudy(replicates=20)
CENTIMETRES = {"blind": 40.0, "source": 14.0, "less slip": 8.0, "ours": 0.4}
DEGREES = {"blind": 9.0, "source": 1.5, "less slip": 1.0, "ours": 0.2}


def series(value):
    """The same error after every maneuver."""
    return np.full(10, value)


def likely(**changes):
    """Errors that differ by replicate, from half to one and a half times the usual one."""

    def spread(job):
        return 0.5 + job["replicate"] / 19.0

    def position(job):
        return series(0.01 * CENTIMETRES[job["method"]] * spread(job) * changes.get(f"{job['method']} cm", 1.0))

    def yaw(job):
        large = 2.0 if job["method"] == "source" and job["kind"] == "moves" else 1.0
        return series(math.radians(large * DEGREES[job["method"]] * spread(job) * changes.get(job["method"], 1.0)))

    return {"position": position, "yaw": yaw, "end": lambda _: np.zeros(2)}


def test_all_claims_hold_for_likely_results():
    assert failing(STUDY, **likely()) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"source cm": 3.0}, ["With the source's method, 10 moves", "With the source's method, 10 turns"]),
        ({"source": 4.0}, ["With the source's method, 10 moves", "With the source's method, 10 turns"]),
        ({"less slip cm": 3.0}, ["With a quarter of the slip"]),
        ({"ours cm": 2.0}, ["With ours, 10 turns"]),
        ({"ours cm": 4.0}, ["With ours, 10 moves", "With ours, 10 turns"]),
        ({"ours": 2.0}, ["With ours, 10 moves"]),
        ({"blind cm": 0.005}, ["after 10 moves", "after 10 turns"]),
    ],
)
def test_each_claim_can_fail(changes, words):
    assert_fails(STUDY, likely(**changes), words)


def test_claims_of_methods_that_were_not_run_are_left_out():
    study = ManeuverStudy(methods=("ours",), replicates=20)
    assert failing(study, **likely()) == []


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    study = ManeuverStudy(methods=("blind", "ours"), iterations=2, distance=0.5, angle=0.5, replicates=1)
    return run(study, tmp_path_factory.mktemp("maneuvers"), workers=1)


def test_a_small_run_draws_and_claims(outcome):
    study, results = outcome.study, outcome.results
    assert results.sizes["job"] == 4
    assert len(outcome.claims) == 2
    assert all(claim.holds for claim in outcome.claims)
    assert (results["given_up"].values == 0.0).all()
    for figure in [study.figure(results), *(picture.figure for picture in study.scenes(results))]:
        figure.savefig(io.BytesIO(), format="png", dpi=30)


def test_rovers_of_both_methods_start_alike(outcome):
    """The same seed for every method: the first blind job repeats, whatever else runs."""
    study = outcome.study
    job = next(iter(study.jobs()))
    for name, value in study.run(job).items():
        assert np.array_equal(value, outcome.results[name].values[job.index])
