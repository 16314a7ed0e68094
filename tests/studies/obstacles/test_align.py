"""The study of steering."""

import numpy as np
import pytest
from numba import config

from claims import assert_fails, changed, failing, synthetic
from sandlot.places.course_kinds import Box, Stairs
from sandlot.robots.climber import load_climber
from sandlot.studies.obstacles.align import Align
from sandlot.studies.obstacles.align_runs import obstacle, room

STUDY = Align()
WITHOUT, WITH = 0, 1


def pair(without, with_):
    """Outcomes of all runs of a job without steering and with it."""
    return np.repeat([[without], [with_]], STUDY.runs, axis=1)


def hard(job):
    return job["yaw"] >= 10 or job["ratio"] < 1.0


IDEAL = {
    "passed": lambda job: pair(0.0 if hard(job) else 1.0, 1.0),
    "drift": lambda job: pair(0.8, 0.05),
    "yaw_end": lambda job: pair(0.3, 0.02),
    "roll": lambda job: pair(0.3, 0.05),
    "path": lambda job: np.zeros((2, STUDY.runs, 3, 2)),
}


def of(name, change, which=hard):
    """A change of the outcomes of a robot with steering."""

    def made(job, x):
        x = x.copy()
        if job["robot"] == name and which(job):
            x[WITH] = change(x)
        return x

    return made


def test_a_study_in_which_steering_helps_holds():
    assert failing(STUDY, **IDEAL) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"passed": of("trained", lambda x: x[WITHOUT], lambda job: job["yaw"] >= 10)},
            ["Trained: steering passes more obstacles from skewed", "Trained: from skewed approaches"],
        ),
        (
            {"passed": of("reactive", lambda x: x[WITHOUT], lambda job: job["ratio"] < 1.0)},
            ["Reactive: steering passes more obstacles with uneven", "Reactive: with uneven friction"],
        ),
        (
            {"drift": of("trained, laser", lambda x: x[WITHOUT])},
            ["laser: from skewed approaches", "laser: with uneven friction", "laser: steering halves the drift"],
        ),
        ({"roll": of("trained", lambda x: 0.2)}, ["halves the largest roll"]),
        ({"yaw_end": of("reactive", lambda x: 0.1)}, ["aligned within 5 degrees"]),
        ({"passed": of("reactive", lambda x: 0.0, lambda job: not hard(job))}, ["costs no success"]),
    ],
    ids=["skewed", "friction", "drift", "roll", "yaw", "square"],
)
def test_each_claim_can_fail(change, words):
    assert_fails(STUDY, changed(IDEAL, **change), words)


def test_obstacles_are_typical_stairs_and_boxes():
    rng = np.random.default_rng(0)
    for name in ("up", "down"):
        kind = obstacle(name, rng)
        assert isinstance(kind, Stairs)
        assert kind.way == name
        assert 0.178 <= kind.rise <= 0.203
        assert 0.254 <= kind.tread <= 0.304
    assert isinstance(obstacle("box", rng), Box)
    assert room(load_climber()) == pytest.approx(0.6 - 0.28)  # the robot is 0.56 m wide


def test_the_jobs_are_yaws_with_even_friction_and_ratios_from_a_square_start():
    jobs = [job.parameters for job in STUDY.jobs()]
    assert len(jobs) == 3 * 3 * (5 + 3)
    assert all(job["yaw"] == 0 or job["ratio"] == 1.0 for job in jobs)


@pytest.mark.skipif(config.DISABLE_JIT, reason="runs take minutes without compilation")
def test_a_small_run_has_a_figure():
    study = Align(robots=("trained",), obstacles=("box",), yaws=(15,), ratios=(), runs=2, seconds=4.0)
    (job,) = study.jobs()
    found = study.run(job)
    assert found["path"].shape == (2, 2, 17, 2)
    assert (found["yaw_end"][WITH] < found["yaw_end"][WITHOUT]).all()
    assert (found["drift"][WITH] < found["drift"][WITHOUT]).all()
    results = synthetic(study, **{name: lambda _, value=value: value for name, value in found.items()})
    assert len(study.figure(results).axes) == 8
    assert study.claims(results)
    assert list(study.scenes(results)) == []


def test_friction_has_a_picture():
    assert len(list(STUDY.scenes(synthetic(STUDY, **IDEAL)))) == 1
