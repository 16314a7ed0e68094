"""The study of stuck robots."""

import numpy as np
import pytest

from claims import assert_fails, changed, failing, scaled, synthetic
from sandlot.control.climbing.neural import ROWS
from sandlot.places.course_kinds import Box, Stairs
from sandlot.robots.climber import load_climber
from sandlot.studies.obstacles import stuck
from sandlot.studies.obstacles.situations import SITUATIONS, Handover, Situation
from sandlot.studies.obstacles.stuck import Stuck

STUDY = Stuck()
OUT = {"reactive": 0.0, "neural": 3.0, "reinforced": 19.0, "trained": 20.0}
IDEAL = {
    "cases": lambda job: 20.0,
    "out": lambda job: OUT[job["controller"]],
    "duration": lambda job: np.array([1.0, 2.0, 3.0]) * (1.0 if job["controller"] == "trained" else 2.0),
}


def test_a_study_as_the_source_reports_it_holds():
    assert failing(STUDY, **IDEAL) == []
    assert len(STUDY.figure(synthetic(STUDY, **IDEAL)).axes) == 2


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("cases", scaled(0.0, situation="c"), ["gets stuck in every"]),
        ("out", scaled(0.5, controller="reinforced", situation="a"), ["eventually"]),
        ("out", scaled(0.0, controller="reinforced", situation="a"), ["eventually", "gets more robots out"]),
        ("out", scaled(0.9, controller="trained", situation="h"), ["95% out"]),
        ("out", lambda job, x: x + 3.0 * (job["controller"] == "reactive"), ["stays stuck"]),
        ("duration", scaled(3.0, controller="trained", situation="b"), ["sooner"]),
    ],
)
def test_each_claim_can_fail(name, change, words):
    assert_fails(STUDY, changed(IDEAL, **{name: change}), words)


def test_without_cases_there_is_one_claim():
    assert len(STUDY.claims(synthetic(STUDY, **changed(IDEAL, cases=lambda job, x: 0.0)))) == 1


def test_strips_show_a_robot_that_is_stuck_and_one_that_climbs():
    stuck_, climbs = Stuck().scenes(synthetic(STUDY, **IDEAL))
    assert "is stuck" in stuck_.caption
    assert "trained controller climbs" in climbs.caption


def test_every_situation_of_the_figure_has_courses():
    assert list(SITUATIONS) == list("abcdefgh")
    assert all(each.kinds for each in SITUATIONS.values())
    last, rest = (Situation("", (), part=part) for part in ("last", "rest"))
    kind = Stairs(tread=0.3, riser=0.1, steps=6, way="up")
    assert (last.counts(kind, 1.3), rest.counts(kind, 1.3)) == (True, False)
    assert (last.counts(kind, 1.0), rest.counts(kind, 1.0)) == (False, True)
    assert last.counts(Box(), 0.0)


def test_robots_that_are_stuck_are_handed_over_and_get_out(monkeypatch):
    """A box on which the reactive controller stops with its belly on the edge, and one that it climbs."""
    few = Situation("", (Box(distance=0.7, depth=0.8, height=0.32), Box(distance=0.7, depth=0.8, height=0.1)))
    monkeypatch.setitem(stuck.SITUATIONS, "a", few)
    study = Stuck(situations=("a",), controllers=("reactive", "trained"), halted=1.0, patience=10.0, seconds=12.0)
    found = {job.parameters["controller"]: study.run(job) for job in study.jobs()}
    assert all((each["robots"], each["cases"]) == (2.0, 1.0) for each in found.values())
    assert (found["reactive"]["out"], found["trained"]["out"]) == (0.0, 1.0)
    assert np.isnan(found["reactive"]["duration"]).all()
    assert (found["trained"]["duration"] < 10.0).all()


@pytest.mark.parametrize("name", ["trained", "reinforced"])
def test_the_reactive_controller_drives_until_robots_are_handed_over(name):
    made, plain = Handover(load_climber(), name), Handover(load_climber(), "reactive")
    seen = np.tile(np.concatenate([np.zeros(10), np.full(ROWS * 201, -0.1)]), (3, 1))
    for each in (made, plain):
        each.reset([np.random.SeedSequence(k) for k in range(3)])
    np.testing.assert_array_equal(made.act(seen), plain.act(seen))
    made.take(np.array([False, True, False]))
    assert made.taken.tolist() == [False, True, False]
    for _ in range(20):
        mine, theirs = made.act(seen), plain.act(seen)
    np.testing.assert_array_equal(mine[[0, 2]], theirs[[0, 2]])
    assert (mine[1] != theirs[1]).any()
    made.reset([np.random.SeedSequence(1)], [1])
    assert not made.taken.any()
