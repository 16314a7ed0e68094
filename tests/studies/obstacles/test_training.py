"""The study of training methods."""

import numpy as np
import pytest

from claims import assert_fails, changed, failing, scaled, synthetic
from sandlot.learning.imitation import Lessons
from sandlot.studies.obstacles import training
from sandlot.studies.obstacles.training import SOURCE, Training

STUDY = Training()
FALL = np.linspace(10.0, 1.0, STUDY.epochs + 1)
IDEAL = {
    "error": lambda job: 0.9 * SOURCE[job["method"]][0] * FALL,
    "seconds": lambda job: 20.0 if job["method"] == "lm" else 1.0,
}


def test_a_study_as_the_source_reports_it_holds():
    assert failing(STUDY, **IDEAL) == []


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("error", scaled(10.0, method="lm"), ["smallest error", "several times", "at most that"]),
        ("error", scaled(0.3, method="gd"), ["is worst"]),
        ("error", lambda job, x: 0.003 / x, ["smallest", "several", "is worst", "ordered", "at most that"]),
        ("seconds", scaled(10.0, method="lm"), ["a hundredth"]),
        ("seconds", scaled(100.0, method="rp"), ["takes longest"]),
    ],
)
def test_each_claim_can_fail(name, change, words):
    assert_fails(STUDY, changed(IDEAL, **{name: change}), words)


def test_a_small_run_trains_by_every_method(monkeypatch):
    rng = np.random.default_rng(0)
    seen = rng.uniform(-1, 1, (100, 15))
    made = Lessons(seen, np.tanh(seen[:, 0]) + 0.1 * seen[:, 1], np.ones(1, np.bool_))
    monkeypatch.setattr(training, "lessons", lambda: made)
    study = Training(trials=1, epochs=8)
    found = {job.parameters["method"]: study.run(job) for job in study.jobs()}
    assert len({each["error"][0] for each in found.values()}) == 1
    assert all(each["error"].shape == (9,) and each["error"][-1] < each["error"][0] for each in found.values())
    results = synthetic(study, error=lambda job: found[job["method"]]["error"])
    assert len(study.figure(results).axes) == 2
    assert study.claims(results)
