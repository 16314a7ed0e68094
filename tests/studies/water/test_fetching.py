"""Targets of the fetching studies, and their claims."""

import numpy as np
import xarray as xr

from sandlot.studies.water.capture import Capture
from sandlot.studies.water.deliver import Deliver
from sandlot.studies.water.fetching import BLOCK, quadrants


def test_there_is_one_target_in_each_quadrant():
    assert len({tuple(np.sign(each)) for each in quadrants(3.0)}) == 4


def test_random_targets_are_within_the_distance_and_differ_between_jobs():
    study = Deliver(targets=8)
    *_, one, other = study.jobs()
    first, second = study.draw_targets(one, 60.0), study.draw_targets(other, 60.0)
    assert first.shape == (BLOCK, 2)
    assert not np.array_equal(first, second)
    assert np.array_equal(first, study.draw_targets(one, 60.0))
    assert (np.linalg.norm(np.concatenate([first, second]), axis=1) <= 60.0).all()


def test_the_note_counts_exploded_simulations():
    results = xr.Dataset(
        {
            "how": ("job", ["source", "sure"]),
            "when": (("job", "target"), [[9.0, 9.0, np.nan, np.nan], [9.0] * 4]),
            "attempts": (("job", "target"), np.ones((2, 4))),
            "exploded": (("job", "target"), [[0.0, 0.0, 1.0, 1.0], [0.0] * 4]),
        }
    )
    first, second = Capture().claims(results)
    assert (first.holds, first.note) == (False, "2 exploded")
    assert (second.holds, second.note) == (True, "0 exploded")
    assert second.text == "Balls in all four quadrants are captured, with care."
