"""The study of currents: its claims about made-up results, and the swimming speed."""

import numpy as np
import pytest
import xarray as xr

from sandlot.control.snake.fetching import CAREFUL
from sandlot.studies.water.currents import Currents, swimming_speed


def made_up(good: dict[float, int], lost: int = 0) -> xr.Dataset:
    """Results with a number of 100 balls delivered by strength, and a number of exploded simulations in each."""
    whens, strengths = [], np.repeat(list(good), 25)
    for count in good.values():
        whens.append(np.where(np.arange(100) < count, 100.0, np.nan).reshape(25, 4))
    exploded = np.tile((np.arange(100) >= 100 - lost).reshape(25, 4), (len(good), 1))
    return xr.Dataset(
        {
            "when": (("job", "target"), np.concatenate(whens)),
            "exploded": (("job", "target"), exploded.astype(float)),
            "strength": ("job", strengths),
            "set": ("job", np.tile(np.repeat(np.arange(5), 5), len(good))),
        }
    )


@pytest.mark.parametrize(("good", "holds"), [(90, True), (89, False)])
def test_the_claim_needs_90_percent(good, holds):
    (claim,) = Currents(strengths=(0.2,)).claims(made_up({0.2: good}))
    assert claim.holds == holds


def test_every_strength_has_a_claim_that_counts_exploded_simulations():
    claims = Currents(strengths=(0.1, 0.35)).claims(made_up({0.1: 95, 0.35: 40}, lost=3))
    assert [claim.holds for claim in claims] == [True, False]
    assert ["10% of" in claims[0].text, "35% of" in claims[1].text] == [True, True]
    assert all("3 exploded" in claim.note for claim in claims)


def test_the_note_has_the_worst_and_the_best_set():
    (claim,) = Currents(strengths=(0.2,)).claims(made_up({0.2: 93}))
    assert claim.measured == "93 of 100 (93.0%)"
    assert claim.note.startswith("65.0% to 100.0% in 5 sets")


def test_jobs_cover_all_sets():
    jobs = list(Currents(strengths=(0.1, 0.2), targets=8, sets=3).jobs())
    assert len(jobs) == 2 * 3 * 2
    assert sorted({job.parameters["set"] for job in jobs}) == [0, 1, 2]


def test_the_swimming_speed_is_that_of_the_gait():
    study = Currents()
    assert 2.0 < swimming_speed(study.snake, CAREFUL.swim) < 12.0
