"""The study of drives: what it claims of made-up results, and that it runs."""

import io

import numpy as np
import pytest
from numba import config

from claims import synthetic
from sandlot.studies.runner import run
from sandlot.studies.terrain.drive import GROUNDS, PICTURE, PLACES, Drive
from sandlot.studies.tour import STOPS

compiled = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="MuJoCo is called by its address")


def likely(job):
    """Slip, rut and turn that fall from ground to ground and are better with tracks, and differ by replicate."""
    hard = GROUNDS.index(job["ground"])
    worse = (1.0 if job["rover"] == "wheeled" else 0.2) * 0.4**hard
    return worse * (1.0 + 0.01 * job["replicate"])


def texts(**changes):
    """Which claims do not hold."""
    study = Drive()
    outcomes = {"slip": likely, "rut": likely, "turned": lambda job: 1.0 - 0.5 * likely(job), "time": lambda _: 16.0}
    claims = study.claims(synthetic(study, **outcomes | changes))
    assert len(claims) == 6
    return [claim for claim in claims if not claim.holds]


def test_what_is_likely_holds():
    assert texts() == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"slip": lambda job: 0.1}, ["more rovers slip", "slip less"]),
        ({"slip": lambda job: likely(job | {"rover": "wheeled"})}, ["slip less"]),
        ({"slip": lambda job: likely(job | {"ground": "mid"})}, ["more rovers slip"]),
        ({"rut": lambda job: likely(job | {"ground": "mid"})}, ["deeper the ruts"]),
        ({"rut": lambda job: 1.0 / likely(job)}, ["deeper the ruts", "shallower ruts"]),
        ({"turned": lambda job: 1.0 - 0.5 * likely(job | {"ground": "mid"})}, ["less rovers turn"]),
        ({"turned": lambda job: 1.0 - 0.5 * likely(job | {"rover": "wheeled"})}, ["Tracks turn"]),
    ],
)
def test_each_claim_can_fail(changes, words):
    failing = texts(**changes)
    assert len(failing) == len(words)
    assert all(word in claim.text for word, claim in zip(words, failing, strict=True))
    assert all("Not so: " in claim.note for claim in failing)


def test_ruts_are_not_looked_for_where_nothing_yields():
    study = Drive()
    results = synthetic(study, slip=likely, rut=lambda job: likely(job) * (job["ground"] != "rigid"))
    assert not any(
        "rut" in test.quantity and "rigid" in (test.group, test.baseline) for test in study.softer(results, "rut")
    )
    assert [test.quantity for test in study.tracks(results, "rut")] == ["rut, soft", "rut, mid", "rut, LETE sand"]


def test_tests_are_corrected_together():
    study = Drive()
    alone = Drive(grounds=("soft", "mid"))
    many, few = (each.softer(synthetic(each, slip=likely), "slip")[0] for each in (study, alone))
    assert many.p == pytest.approx(3.0 * few.p)


def test_drives_that_ended_early_are_told():
    study = Drive()
    claims = study.claims(synthetic(study, slip=likely, time=lambda job: 16.0 - (job["replicate"] == 0)))
    assert all("8 drives ended early" in claim.note for claim in claims)


def test_grounds_are_put_in_order():
    assert Drive(grounds=("rigid", "soft")).ordered == ["soft", "rigid"]


def test_the_picture_has_room_for_the_rovers():
    assert np.all(np.abs(np.array(PLACES)[:, :2]) < 0.5 * 0.005 * np.array(PICTURE[::-1]))


def test_the_tour_has_enough_drives_for_its_tests():
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
def test_a_drive_is_a_drive(outcome):
    results = outcome.results
    assert np.all(results["time"] == pytest.approx(0.8))
    assert np.all(results["way"] > 0.01)
    soft = results["ground"].values == "soft"
    assert np.all(results["rut"].values[soft] > 1e-3)
    assert np.all(np.abs(results["rut"].values[~soft]) < 1e-6)
    assert np.all((results["turned"].values > -0.5) & (results["turned"].values < 1.2))


@compiled
def test_a_job_done_again_is_the_same(outcome):
    job = list(outcome.study.jobs())[-1]
    for name, value in outcome.study.run(job).items():
        assert value == outcome.results[name].values[job.index]
