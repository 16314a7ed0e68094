"""Steering to targets."""

import numpy as np

from sandlot.studies.water.fetching import SAMPLES
from sandlot.studies.water.turn import Turn


def test_targets_in_all_quadrants_are_reached():
    study = Turn(veers=(0.1,))
    for job in study.jobs():
        found = study.run(job)
        assert (found["when"] < 30.0).all()
        assert found["body"].shape == (4, SAMPLES, 2)
        assert np.isnan(found["body"][:, -1]).all(), "a path ends when the target is reached"
