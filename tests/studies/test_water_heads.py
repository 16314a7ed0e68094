"""Heads are folded before the rest swims."""

import numpy as np
import pytest

from sandlot.studies.water.base import FOLLOWED
from sandlot.studies.water.heads import Heads
from sandlot.studies.water.shared import prepared


def test_heads_are_folded_before_they_swim():
    study = Heads()
    square, circle = (job for job in study.jobs() if job.parameters["replicate"] == 0)
    for job in (square, circle):
        ready = prepared(study.snake, study.before(job), study.begin())
        assert np.allclose(ready.angles[0], study.head(job), atol=0.02)
        assert ready.drive[0] > FOLLOWED
    assert np.degrees(study.head(square)[:8]) == pytest.approx([0, -90, 0, -90, 0, -90, 0, 45])
    assert np.degrees(study.head(circle)[:8]) == pytest.approx([-360 / 7] * 7 + [45])
