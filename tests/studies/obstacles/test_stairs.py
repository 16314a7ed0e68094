"""The study of steepest stairs."""

import numpy as np
import pytest

from claims import assert_fails, changed, failing, synthetic
from limit_results import limits
from sandlot.studies.obstacles.stairs import Stairs

STUDY = Stairs(reference=("trained",))
TREADS = np.array(STUDY.treads)
REACTIVE = np.interp(TREADS, [0.1, 0.2, 0.7], [45.0, 42.0, 18.0])
BETTER = np.array([0, -1, -1, -1, 0, -1, 1, 1, 0, 1, 1, 1])
CURVES = {
    "reactive": REACTIVE,
    "neural": REACTIVE + 2.0 * BETTER,
    "reinforced": np.minimum(np.interp(TREADS, [0.1, 0.2], [47.0, 45.0]), np.degrees(np.arctan(0.31 / TREADS))),
    "trained": np.interp(TREADS, [0.1, 0.34, 0.7], [50.0, 48.0, 30.0]),
    "planner": np.interp(TREADS, [0.1, 0.34, 0.7], [60.0, 58.0, 36.0]),
}
# Of the typical staircases, the steepest needs 38.6 degrees at 254 mm.
CURVES["reactive"][3], CURVES["neural"][3] = 38.0, 36.0
IDEAL = {"limit": limits(STUDY, {name: np.radians(each) for name, each in CURVES.items()})}


def only(name, change, fidelity=None):
    return lambda job, x: change(x) if job["controller"] == name and fidelity in (None, job["fidelity"]) else x


def test_a_study_as_the_source_reports_it_holds():
    assert failing(STUDY, **IDEAL) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            only("reinforced", lambda x: 0.8 * x),
            ["Only reinforcement", "up to about 45", "about 30 cm", "reactive controller at", "neural controller at"],
        ),
        (only("reactive", lambda x: x + np.radians(1.0), "fast"), ["Only reinforcement", "40% of treads"]),
        (only("neural", lambda x: np.where(TREADS[:, None] > 0.5, 0.1, x)), ["40% of treads", "deeper than 51"]),
        (only("trained", lambda x: x + 0.1, "reference"), ["Trained: both"]),
        (
            only("trained", lambda x: np.where(TREADS[:, None] > 0.6, np.radians(20.0), x)),
            ["Trained, at fast", "Trained, at reference", "three quarters"],
        ),
        (only("planner", lambda x: x + np.radians(2.0), "grid 2"), ["change the planner's limits"]),
    ],
    ids=[
        "reinforced lower",
        "reactive steeper",
        "neural deep",
        "reference steeper",
        "trained deep",
        "planner finer",
    ],
)
def test_each_claim_can_fail(change, words):
    assert_fails(STUDY, changed(IDEAL, limit=change), words)


def test_the_reactive_claims_can_fail():
    level = only("reactive", lambda x: np.where(np.isnan(x), np.nan, np.radians(20.0)))
    texts = failing(STUDY, **changed(IDEAL, limit=level))
    assert any("less steep stairs" in text for text in texts)
    assert any("38 degrees" in text for text in texts)
    flat = only("reactive", lambda x: np.where(TREADS[:, None] > 0.4, np.radians(5.0), x))
    assert any("risers are higher" in text for text in failing(STUDY, **changed(IDEAL, limit=flat)))


def test_stairs_are_those_of_figure_33():
    kind = STUDY.course(0.25, np.radians(30.0))
    assert (kind.steps, kind.landing, kind.distance, kind.way) == (6, 1.0, 2.0, "both")
    assert kind.rise == pytest.approx(0.25 * np.tan(np.radians(30.0)))
    assert np.degrees(STUDY.levels()[:2]) == pytest.approx([10.0, 11.0])


def test_the_planner_plans_the_way_up():
    for tread in STUDY.treads:
        kind = STUDY.planned(tread, np.radians(40.0))
        assert (kind.way, kind.tread) == ("up", tread)
        assert kind.steps == 6 or kind.steps * tread > 2.0 * np.cos(np.radians(40.0)) * 0.52


def test_a_small_run_has_a_figure_and_a_strip():
    study = Stairs(
        treads=(0.25, 0.45), steepest=11, lanes=1, attempts=1, controllers=("reactive",), reference=(), grids=()
    )
    (job,) = study.jobs()
    found = study.run(job)["limit"]
    np.testing.assert_allclose(np.degrees(found), 11.0)
    results = synthetic(study, limit=lambda _: found)
    assert len(study.figure(results).axes) == 2
    assert len(list(study.scenes(results))) == 1
