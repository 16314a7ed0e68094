"""Targets of the fetching studies, and their claims."""

import numpy as np
import pytest
import xarray as xr

from sandlot.studies.water.capture import Capture
from sandlot.studies.water.deliver import Deliver
from sandlot.studies.water.fetching import BLOCK, SAMPLES, quadrants


def test_there_is_one_target_in_each_quadrant():
    assert len({tuple(np.sign(each)) for each in quadrants(3.0)}) == 4


def test_random_targets_are_within_the_distance_and_differ_between_jobs():
    study = Deliver(targets=8, sets=1)
    *_, one, other = study.jobs()
    first, second = study.draw_targets(one, 60.0), study.draw_targets(other, 60.0)
    assert first.shape == (BLOCK, 2)
    assert not np.array_equal(first, second)
    assert np.array_equal(first, study.draw_targets(one, 60.0))
    assert (np.linalg.norm(np.concatenate([first, second]), axis=1) <= 60.0).all()


def captured(when, away):
    """Results of `water.capture` in which snakes swim once around their ball, ``away`` from it [m], every 30."""
    angles = 2.0 * np.pi / 30.0 * np.arange(SAMPLES)
    path = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    dims = ("job", "target", "sample", "axis")
    return xr.Dataset(
        {
            "how": ("job", ["source", "sure"]),
            "when": (("job", "target"), [when, [9.0] * 4]),
            "attempts": (("job", "target"), np.ones((2, 4))),
            "exploded": (("job", "target"), [[0.0, 0.0, 1.0, 1.0], [0.0] * 4]),
            "body": (dims, 30.0 + np.broadcast_to(np.asarray(away)[:, None, None] * path, (2, 4, SAMPLES, 2))),
            "ball": (dims, np.full((2, 4, SAMPLES, 2), 30.0)),
        }
    )


def test_the_note_counts_exploded_simulations():
    first, second, _ = Capture().claims(captured([9.0, 9.0, np.nan, np.nan], [18.0] * 4))
    assert (first.holds, first.note) == (False, "2 exploded")
    assert (second.holds, second.note) == (True, "0 exploded")
    assert second.text == "Balls in all four quadrants are captured, with care."


@pytest.mark.parametrize(
    ("when", "away", "holds", "measured"),
    [
        ([np.nan] * 4, [18.0, 18.5, 18.0, 18.0], True, "4 of 4, of 18.0 to 18.5 m radius, never closer than 18.0 m"),
        ([np.nan] * 4, [8.0, 18.0, 18.0, 18.0], False, "3 of 4, of 18.0 to 18.0 m radius, never closer than 18.0 m"),
        ([9.0, 9.0, 9.0, np.nan], [1.0, 1.0, 1.0, 1.0], False, "0 of 1"),
        ([9.0] * 4, [18.0] * 4, True, "0 of 0"),
    ],
    ids=["circles", "one within reach", "too close", "none missed"],
)
def test_the_claim_about_circles_can_hold_and_fail(when, away, holds, measured):
    *_, claim = Capture().claims(captured(when, away))
    assert (claim.holds, claim.measured) == (holds, measured)


def test_a_path_that_ended_early_is_no_circle():
    results = captured([np.nan] * 4, [18.0] * 4)
    results["body"][0, 2, 100:] = np.nan
    *_, claim = Capture().claims(results)
    assert not claim.holds
    assert claim.measured.startswith("3 of 4")
