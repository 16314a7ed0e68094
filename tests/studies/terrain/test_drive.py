"""The study of drives: its claims about made-up results, and a small run."""

import io

import numpy as np
import pytest
from numba import config

from claims import synthetic
from sandlot.studies.runner import run
from sandlot.studies.terrain.drive import PICTURE, START_POSES, Drive
from sandlot.studies.terrain.shared import GROUNDS
from sandlot.studies.tour import STOPS

compiled = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="MuJoCo is called by its address")


def likely(job):
    """Slip or rut that decreases from ground to ground, is smaller with tracks, and differs by replicate."""
    hard = GROUNDS.index(job["ground"])
    worse = (1.0 if job["rover"] == "wheeled" else 0.2) * 0.4**hard
    return worse * (1.0 + 0.01 * job["replicate"])


def failing_claims(**changes):
    """The claims that do not hold."""
    study = Drive()
    outcomes = {"slip": likely, "rut_depth": likely, "turned": lambda job: 1.0 - 0.5 * likely(job)}
    outcomes["time"] = lambda _: 16.0
    claims = study.claims(synthetic(study, **outcomes | changes))
    assert len(claims) == 6
    return [claim for claim in claims if not claim.holds]


def test_all_claims_hold_for_likely_results():
    assert failing_claims() == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"slip": lambda job: 0.1}, ["more rovers slip", "slip less"]),
        ({"slip": lambda job: likely(job | {"rover": "wheeled"})}, ["slip less"]),
        ({"slip": lambda job: likely(job | {"ground": "mid"})}, ["more rovers slip"]),
        ({"rut_depth": lambda job: likely(job | {"ground": "mid"})}, ["deeper the ruts"]),
        ({"rut_depth": lambda job: 1.0 / likely(job)}, ["deeper the ruts", "shallower ruts"]),
        ({"turned": lambda job: 1.0 - 0.5 * likely(job | {"ground": "mid"})}, ["less rovers turn"]),
        ({"turned": lambda job: 1.0 - 0.5 * likely(job | {"rover": "wheeled"})}, ["Tracks turn"]),
    ],
)
def test_each_claim_can_fail(changes, words):
    failing = failing_claims(**changes)
    assert len(failing) == len(words)
    assert all(word in claim.text for word, claim in zip(words, failing, strict=True))
    assert all("Fails for: " in claim.note for claim in failing)


def test_ruts_are_not_compared_on_rigid_ground():
    study = Drive()
    results = synthetic(study, slip=likely, rut_depth=lambda job: likely(job) * (job["ground"] != "rigid"))
    assert not any("rigid" in (test.group, test.baseline) for test in study.softer(results, "rut_depth"))
    compared = [test.quantity for test in study.tracks(results, "rut_depth")]
    assert compared == ["rut_depth, soft", "rut_depth, mid", "rut_depth, LETE sand"]


def test_p_values_are_corrected_for_all_tests_together():
    study = Drive()
    alone = Drive(grounds=("soft", "mid"))
    many, few = (each.softer(synthetic(each, slip=likely), "slip")[0] for each in (study, alone))
    assert many.p == pytest.approx(3.0 * few.p)


def test_notes_count_drives_that_ended_early():
    study = Drive()
    claims = study.claims(synthetic(study, slip=likely, time=lambda job: 16.0 - (job["replicate"] == 0)))
    assert all("8 drives ended early" in claim.note for claim in claims)


def test_grounds_are_sorted_from_soft_to_hard():
    assert Drive(grounds=("rigid", "soft")).ordered == ["soft", "rigid"]


def test_rovers_start_inside_the_picture():
    assert np.all(np.abs(np.array(START_POSES)[:, :2]) < 0.5 * 0.005 * np.array(PICTURE[::-1]))


def test_the_tour_has_enough_drives_for_significance():
    study = Drive(**STOPS["terrain.drive"])
    results = synthetic(study, slip=likely, time=lambda _: study.frames * 0.01)
    assert all(test.above() for test in study.softer(results, "slip"))


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    small = Drive(grounds=("soft", "rigid"), frames=80, replicates=2, picture_frames=20)
    return run(small, tmp_path_factory.mktemp("drive"), workers=1)


@compiled
def test_a_small_run_draws_and_claims(outcome):
    study, results = outcome.study, outcome.results
    assert len(outcome.claims) == 6
    assert len(study.comparisons(results)) == 9
    for figure in [study.figure(results), *(picture.figure for picture in study.scenes(results))]:
        figure.savefig(io.BytesIO(), format="png", dpi=30)


@compiled
def test_drives_have_plausible_outcomes(outcome):
    results = outcome.results
    assert np.all(results["time"] == pytest.approx(0.8))
    assert np.all(results["path_length"] > 0.01)
    soft = results["ground"].values == "soft"
    assert np.all(results["rut_depth"].values[soft] > 1e-3)
    assert np.all(np.abs(results["rut_depth"].values[~soft]) < 1e-6)
    assert np.all((results["turned"].values > -0.5) & (results["turned"].values < 1.2))


@compiled
def test_a_repeated_job_gives_the_same_values(outcome):
    job = list(outcome.study.jobs())[-1]
    for name, value in outcome.study.run(job).items():
        assert value == outcome.results[name].values[job.index]
