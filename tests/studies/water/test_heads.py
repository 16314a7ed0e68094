"""The study of folded heads."""

import numpy as np
import pytest
import xarray as xr

from claims import assert_fails, changed, failing, scaled
from sandlot.studies.water.base import PARAMETERS
from sandlot.studies.water.heads import Heads
from sandlot.studies.water.shared import prepared


def test_the_head_is_folded_before_the_body_swims():
    study = Heads()
    square, circle = (job for job in study.jobs() if job.parameters["replicate"] == 0)
    for job in (square, circle):
        ready = prepared(study.snake, study.before(job), study.begin())
        assert np.allclose(ready.angles[0], study.head(job), atol=0.02)
        assert ready.drive[0] > 0.95
    assert np.degrees(study.head(square)[:8]) == pytest.approx([0, -90, 0, -90, 0, -90, 0, 45])
    assert np.degrees(study.head(circle)[:8]) == pytest.approx([-360 / 7] * 7 + [45])


def test_the_figure_shows_minimum_and_maximum():
    study = Heads(replicates=3)
    rows = np.arange(6.0)[:, None] + np.arange(1.0, 5.0)
    heads = [job.parameters["head"] for job in study.jobs()]
    results = xr.Dataset(
        {
            "best": (("job", "generation"), rows),
            "genes": (("job", "generation", "gene"), np.repeat(rows[..., None], 3, axis=2)),
            "head": ("job", heads),
        }
    )
    for axes in study.figure(results).axes:
        lines = [np.asarray(line.get_ydata()) for line in axes.lines]
        for group in (rows[:3], rows[3:]):
            for edge in (group.min(axis=0), group.max(axis=0)):
                assert any(line.shape == edge.shape and np.allclose(line, edge) for line in lines)


def test_claims_hold_for_the_sources_values_and_fail_for_others():
    study = Heads(replicates=2)

    def curve(name):
        return lambda job: np.full(3, study.SOURCE[job["head"]][name])

    def gait(job):
        return np.array([study.SOURCE[job["head"]][name] for name in PARAMETERS])

    ideal = {
        "best": curve("distance"),
        "mean": curve("average"),
        "genes": lambda job: np.tile(gait(job), (3, 1)),
        "champion": gait,
        "own": lambda job: study.SOURCE[job["head"]]["distance"],
    }
    assert not failing(study, **ideal)
    assert_fails(study, changed(ideal, mean=scaled(0.8, head="square")), ["square head: The average individuals"])
    assert_fails(study, changed(ideal, own=scaled(1.2, head="circle")), ["circle head: The source's best gait"])
    assert_fails(study, changed(ideal, best=scaled(1.2)), ["square head: 24.07 m", "circle head: 23.18 m"])


def test_the_sources_best_gait_is_the_same_in_every_replicate():
    study = Heads(replicates=2, seconds=4.0)
    for head in study.SOURCE:
        own = [study.judge(job, np.zeros(3))["own"] for job in study.jobs() if job.parameters["head"] == head]
        assert own[0] == own[1] > 0.0
