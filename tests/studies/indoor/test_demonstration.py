"""The study of demonstrated paths: its walks and lessons, its claims about made-up results, and a small run."""

import io

import numpy as np
import pytest

from claims import synthetic
from sandlot.studies.indoor import walks
from sandlot.studies.indoor.demonstration import PERCEPTIONS, VARIANTS, Demonstration
from sandlot.studies.indoor.lessons import WORLD
from sandlot.studies.indoor.shared import LABELS
from sandlot.studies.runner import run
from sandlot.surrogates.narmax import Narmax
from sandlot.worlds.indoor.world import Indoor

SMALL = Demonstration(samples=150, walked=1, beside=1, degree=2, terms=10, rounds=0.2, replicates=1)


def likely(job):
    """A distance that is larger for the source's estimates and for the path only, and differs by replicate."""
    worse = 5.0 if job["perception"] == "sectors" else 1.0
    return 0.1 * worse * (1.0 if job["variant"] == "around" else 3.0) * (1.0 + 0.01 * job["replicate"])


def failing(**changes):
    """Texts of the claims that do not hold."""
    study = Demonstration()
    outcomes = {"deviation": likely, "back": likely, "rounds": lambda _: 4.2, "bumps": lambda _: 0.0}
    outcomes["track"] = lambda _: np.zeros((2, 2))
    claims = study.claims(synthetic(study, **outcomes | changes))
    assert len(claims) == 7
    return [claim.text for claim in claims if not claim.holds]


def test_all_claims_hold_for_likely_results():
    assert failing() == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rounds": lambda job: 4.2 - (job["perception"] == "local")}, ["our models"]),
        (
            {"rounds": lambda job: 4.2 - (job["perception"] == "sectors") * (job["replicate"] == 3)},
            ["the source's models"],
        ),
        ({"bumps": lambda job: job["replicate"] == 9}, ["the source's models", "our models"]),
        ({"bumps": lambda job: job["variant"] == "path only"}, []),
        ({"deviation": lambda job: 3.0 * likely(job)}, ["below 0.25 m"]),
        ({"deviation": lambda job: likely(job) + 0.1 * (job["perception"] == "local")}, ["as closely with our"]),
        ({"deviation": lambda job: likely(job | {"variant": "around"})}, ["on the path only"]),
        ({"back": lambda job: likely(job | {"variant": "around"})}, ["returns"]),
        ({"deviation": lambda job: likely(job | {"perception": "local"})}, ["the source's (sectors)."]),
    ],
)
def test_each_claim_can_fail(changes, words):
    found = failing(**changes)
    assert len(found) == len(words)
    assert all(word in text for word, text in zip(words, found, strict=True))


def test_one_path_is_enough_for_a_claim_to_fail():
    one = {"deviation": lambda job: likely(job | ({"variant": "around"} if job["path"] == "kidney" else {}))}
    assert len(failing(**one)) == 1


@pytest.mark.parametrize("path", ["loop", "kidney"])
def test_walks_are_uneven_and_leave_room_for_the_robot(path):
    study = Demonstration()
    walk, same, other = (walks.walk(path, 3, 0.05, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(walk, same)
    steps = np.hypot(*(np.roll(walk, -1, 0) - walk).T)
    assert np.all((steps > 0.015) & (steps < 0.025))
    assert 0.01 < np.abs(walk - other).mean() < 0.1
    plan = Indoor(settings=WORLD).plan
    assert plan.clearance(walk).min() > WORLD.robot.radius + 0.5
    exact = walks.walk(path, 3, 0.0, np.random.default_rng(1))
    assert np.abs(study.middle(walk) - study.middle(exact)).max() < np.abs(walk - exact).max() < 0.25


def test_only_one_of_the_paths_bends_both_ways():
    bends = {}
    for path in ("loop", "kidney"):
        step = np.diff(walks.walk(path, 1, 0.0, np.random.default_rng(0)), axis=0)
        bends[path] = np.diff(np.unwrap(np.arctan2(step[:, 1], step[:, 0])))
    assert bends["loop"].min() > -1e-3
    assert bends["kidney"].min() < -0.005


def test_pursuit_turns_along_the_arc_to_the_aim():
    poses, aims = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, np.pi / 2]]), np.array([[2.0, 2.0], [1.0, 3.0]])
    assert walks.pursue(poses, aims, 0.4) == pytest.approx([0.4, 0.0])


def test_with_actual_readings_the_robot_follows_the_path_and_returns_to_it():
    study = Demonstration(paths=("loop",), walked=2, rounds=1.0, replicates=1)
    jobs = [job for job in study.jobs() if job.parameters["perception"] == "actual"]
    around = study.run(jobs[0])
    assert around["deviation"] < 0.3
    assert around["rounds"] > 0.9
    assert around["bumps"] == 0.0
    assert around["back"] < 0.4
    assert around["wrong"] < 0.1


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    return run(SMALL, tmp_path_factory.mktemp("demonstration"), workers=1)


def test_a_small_run_draws_and_claims(outcome):
    study, results = outcome.study, outcome.results
    assert results.sizes["job"] == len(PERCEPTIONS) * len(VARIANTS) * 2
    assert len(outcome.claims) == 7
    assert len(study.comparisons(results)) == 12
    pictures = list(study.scenes(results))
    assert len(pictures) == 2
    for figure in [study.figure(results), *(picture.figure for picture in pictures)]:
        figure.savefig(io.BytesIO(), format="png", dpi=30)


def test_outcomes_are_in_range(outcome):
    results = outcome.results
    assert np.all(results["deviation"] <= results["worst"])
    assert np.all((results["within"] >= 0.0) & (results["within"] <= 1.0))
    assert np.all(np.abs(results["rounds"]) < 0.4)
    by = {name: results["wrong"].values[results["perception"].values == name] for name in PERCEPTIONS}
    assert by["actual"].max() < by["local"].min()
    starts = results["track"].values[:, 0]
    assert np.all(np.hypot(*(starts - 5.0).T) > 1.5)


def test_a_repeated_job_gives_the_same_values(outcome):
    job = list(outcome.study.jobs())[-1]
    for name, value in outcome.study.run(job).items():
        assert np.array_equal(value, outcome.results[name].values[job.index])


def test_the_controller_is_saved_as_code_that_runs(outcome):
    files = outcome.study.files(outcome.results)
    assert set(files) == {"controller.txt", "controller.py", "controller.c"}
    found = {}
    exec(files["controller.py"], found)
    equation = outcome.study.learn("kidney", "local", "around", 0).equation
    assert isinstance(equation, Narmax)
    medians = np.array([2.0, 3.0, 4.0, 3.5, 2.5, 1.5])
    function = found["turn_kidney"]
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    turn = function(**{name: value for name, value in zip(LABELS, medians, strict=True) if name in names})
    assert turn == pytest.approx(equation.predict(medians[None])[0])
    for name, text in files.items():
        assert text.count("clipped to") == 2, name
