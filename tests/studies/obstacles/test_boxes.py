"""The study of highest boxes."""

import numpy as np
import pytest

from claims import assert_fails, changed, failing, synthetic
from limit_results import limits
from sandlot.errors import SettingError
from sandlot.studies.obstacles.boxes import Boxes

STUDY = Boxes()
DEPTHS = np.array(STUDY.depths)
CURVES = {
    "reactive": np.interp(DEPTHS, [0.1, 0.25, 0.3, 0.7], [0.2, 0.25, 0.45, 0.31]),
    "neural": np.interp(DEPTHS, [0.1, 0.25, 0.3, 0.7], [0.25, 0.3, 0.42, 0.30]),
    "reinforced": np.interp(DEPTHS, [0.1, 0.25, 0.3, 0.7], [0.35, 0.4, 0.485, 0.45]),
    "free": np.interp(DEPTHS, [0.1, 0.25, 0.3, 0.7], [0.3, 0.4, 0.52, 0.31]),
    "trained": np.full(len(DEPTHS), 0.58),
    "planner": np.full(len(DEPTHS), 0.7),
}
IDEAL = {"limit": limits(STUDY, CURVES)}


def only(name, change, fidelity="fast"):
    return lambda job, x: change(x) if (job["controller"], job["fidelity"]) == (name, fidelity) else x


def test_a_study_as_the_source_reports_it_holds():
    assert failing(STUDY, **IDEAL) == []
    assert len(STUDY.claims(synthetic(STUDY, **IDEAL))) == 21


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            only("reactive", lambda x: x - 0.05),
            ["30 cm depth [cm]", "highest deep box", "about 3 cm"],
        ),
        (
            only("neural", lambda x: np.where(DEPTHS[:, None] < 0.3, 0.1, x)),
            ["every narrow box"],
        ),
        (only("free", lambda x: np.full_like(x, 0.2)), ["equation 34"]),
        (only("trained", lambda x: x + 0.04, "reference"), ["Trained: both"]),
        (only("trained", lambda x: x - 0.12, "reference"), ["Trained, at reference", "Trained: both"]),
        (
            only("trained", lambda x: np.where(DEPTHS[:, None] > 0.9, 0.44, x)),
            ["Trained, at fast", "three quarters", "Trained: both"],
        ),
        (only("planner", lambda x: x + 0.02, "grid 2"), ["change the planner's limits"]),
        (
            only("reinforced", lambda x: np.where(DEPTHS[:, None] > 0.69, 0.3, x)),
            ["highest deep box", "roughly 15 cm", "controller at every", "loses least"],
        ),
    ],
    ids=[
        "reactive lower",
        "neural narrow",
        "free lower",
        "reference higher",
        "reference lower",
        "trained deep",
        "planner finer",
        "reinforced deep",
    ],
)
def test_each_claim_can_fail(change, words):
    assert_fails(STUDY, changed(IDEAL, limit=change), words)


def test_the_processor_time_can_be_too_long():
    texts = failing(STUDY, **IDEAL, seconds=lambda job: 400.0 if job["controller"] == "planner" else 20.0)
    assert texts == ["All jobs take at most 15 minutes of processor time together [min]."]


def test_nothing_is_asked_where_geometry_does_not_allow_it():
    low = changed(
        IDEAL, limit=lambda job, x: {"trained": 0 * x + 0.3, "planner": 0 * x + 0.4}.get(job["controller"], x)
    )
    assert failing(STUDY, **low) == []


def test_heights_are_tried_by_centimetres():
    assert STUDY.levels()[:3] == pytest.approx([0.05, 0.06, 0.07])
    assert STUDY.levels()[-1] == pytest.approx(1.0)
    kind = STUDY.course(0.3, 0.2)
    assert (kind.depth, kind.height) == (0.3, 0.2)


def test_a_small_run_at_both_fidelities_has_a_figure_and_strips():
    study = Boxes(
        depths=(0.4,),
        highest=0.06,
        lanes=2,
        attempts=1,
        controllers=("reactive",),
        reference=("reactive",),
        refined=(0,),
        patience=2.0,
    )
    study.check()
    runs = {job.parameters["fidelity"]: study.run(job) for job in study.jobs()}
    found = {fidelity: each["limit"] for fidelity, each in runs.items()}
    assert list(found) == ["grid 2", "grid 1", "reference", "fast"]
    for fidelity in ("fast", "grid 1", "grid 2"):
        np.testing.assert_allclose(found[fidelity], 0.06)
    assert found["reference"][0, 0] == pytest.approx(0.06)
    assert np.isnan(found["reference"][0, 1])
    assert all(each["seconds"] >= 0.0 for each in runs.values())
    results = synthetic(study, limit=lambda job: found[job["fidelity"]])
    assert len(study.figure(results).axes) == 1
    (picture,) = study.scenes(results)
    assert "5 cm" in picture.caption
    assert len(picture.figure.axes) == 12
    assert study.claims(results)


def test_impossible_settings_are_refused():
    with pytest.raises(SettingError, match="allowed: indices of obstacles, 0 to 1"):
        Boxes(depths=(0.3, 0.5), refined=(2,)).check()
    with pytest.raises(SettingError, match="reference=trained is not possible; allowed: reactive"):
        Boxes(controllers=("reactive",)).check()
    Boxes(depths=(0.3, 0.5), refined=(1,)).check()
