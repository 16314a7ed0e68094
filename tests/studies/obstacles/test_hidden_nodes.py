"""The study of the size of the net."""

import numpy as np
import pytest

from claims import assert_fails, changed, failing, scaled, synthetic
from sandlot.learning.imitation import Lessons
from sandlot.studies.obstacles import hidden_nodes
from sandlot.studies.obstacles.hidden_nodes import SOURCE, HiddenNodes

STUDY = HiddenNodes(trials=2)
FALL = np.linspace(10.0, 1.0, STUDY.epochs + 1)
IDEAL = {
    "error": lambda job: 0.7 * SOURCE[job["nodes"]][0] * FALL,
    "seconds": lambda job: 10.0,
}


def test_a_study_as_the_source_reports_it_holds():
    assert failing(STUDY, **IDEAL) == []


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("error", scaled(1.5, nodes=4), ["Four hidden nodes", "with 4 hidden nodes", "0.4%"]),
        ("error", scaled(0.5, nodes=5), ["Four hidden nodes"]),
        ("error", scaled(1.5, nodes=1), ["with 1 hidden node "]),
        ("seconds", scaled(10.0, nodes=4), ["takes a tenth"]),
    ],
)
def test_each_claim_can_fail(name, change, words):
    assert_fails(STUDY, changed(IDEAL, **{name: change}), words)


def test_a_small_run_trains_nets(monkeypatch):
    rng = np.random.default_rng(0)
    seen = rng.uniform(-1, 1, (200, 15))
    made = Lessons(seen, np.tanh(seen[:, 0]) + 0.1 * seen[:, 1], np.ones(1, np.bool_))
    monkeypatch.setattr(hidden_nodes, "lessons", lambda: made)
    study = HiddenNodes(nodes=(1, 2), trials=1, epochs=4)
    found = [study.run(job) for job in study.jobs()]
    assert all(each["error"].shape == (5,) and each["error"][-1] < each["error"][0] for each in found)
    assert all(each["seconds"] >= 0.0 for each in found)
    results = synthetic(study, error=lambda job: found[job["nodes"] - 1]["error"])
    assert len(study.figure(results).axes) == 2
    assert study.claims(results)
