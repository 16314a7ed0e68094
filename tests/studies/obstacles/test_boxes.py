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
}
IDEAL = {"limit": limits(STUDY, CURVES)}


def only(name, change, fidelity="fast"):
    return lambda job, x: change(x) if (job["controller"], job["fidelity"]) == (name, fidelity) else x


def test_a_study_as_the_source_reports_it_holds():
    assert failing(STUDY, **IDEAL) == []
    assert len(STUDY.claims(synthetic(STUDY, **IDEAL))) == 19


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            only("reactive", lambda x: x - 0.05),
            ["30 cm depth [cm]", "highest deep box", "about 3 cm", "Reactive: both"],
        ),
        (
            only("neural", lambda x: np.where(DEPTHS[:, None] < 0.3, 0.1, x)),
            ["every narrow box", "Neural: both"],
        ),
        (only("free", lambda x: np.full_like(x, 0.2)), ["equation 34", "Reactive without stability rules: both"]),
        (only("free", lambda x: x + 0.03, "reference"), ["Reactive without stability rules: both"]),
        (
            only("reinforced", lambda x: np.where(DEPTHS[:, None] > 0.69, 0.3, x)),
            ["highest deep box", "roughly 15 cm", "controller at every", "loses least", "Reinforced: both"],
        ),
    ],
    ids=["reactive lower", "neural narrow", "free lower", "reference higher", "reinforced deep"],
)
def test_each_claim_can_fail(change, words):
    assert_fails(STUDY, changed(IDEAL, limit=change), words)


def test_heights_are_tried_by_centimetres():
    assert STUDY.levels()[:3] == pytest.approx([0.05, 0.06, 0.07])
    assert STUDY.levels()[-1] == pytest.approx(0.6)
    kind = STUDY.course(0.3, 0.2)
    assert (kind.depth, kind.height) == (0.3, 0.2)


def test_a_small_run_at_both_fidelities_has_a_figure_and_strips():
    study = Boxes(
        depths=(0.4,), highest=0.06, lanes=2, attempts=1, controllers=("reactive",), reference=(0,), patience=2.0
    )
    found = {job.parameters["fidelity"]: study.run(job)["limit"] for job in study.jobs()}
    np.testing.assert_allclose(found["fast"], 0.06)
    assert found["reference"][0, 0] == pytest.approx(0.06)
    assert np.isnan(found["reference"][0, 1])
    results = synthetic(study, limit=lambda job: found[job["fidelity"]])
    assert len(study.figure(results).axes) == 1
    (picture,) = study.scenes(results)
    assert "5 cm" in picture.caption
    assert len(picture.figure.axes) == 12
    assert study.claims(results)


def test_obstacles_for_the_reference_must_exist():
    with pytest.raises(SettingError, match="allowed: indices of obstacles, 0 to 1"):
        Boxes(depths=(0.3, 0.5), reference=(2,)).check()
    Boxes(depths=(0.3, 0.5), reference=(1,)).check()
