"""The study of folded heads."""

import numpy as np
import pytest
import xarray as xr

from sandlot.studies.water.base import FOLLOWED
from sandlot.studies.water.heads import Heads
from sandlot.studies.water.shared import prepared


def test_the_head_is_folded_before_the_body_swims():
    study = Heads()
    square, circle = (job for job in study.jobs() if job.parameters["replicate"] == 0)
    for job in (square, circle):
        ready = prepared(study.snake, study.before(job), study.begin())
        assert np.allclose(ready.angles[0], study.head(job), atol=0.02)
        assert ready.drive[0] > FOLLOWED
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
