"""The claim about currents, on made-up results, and the speed they are measured by."""

import numpy as np
import pytest
import xarray as xr

from sandlot.control.fetching import SURE
from sandlot.studies.water.currents import Currents, swimming_speed


@pytest.mark.parametrize(("good", "holds"), [(90, True), (89, False)])
def test_claim_of_currents(good, holds):
    when = np.full(100, np.nan)
    when[:good] = 100.0
    results = xr.Dataset({"when": (("job", "target"), when.reshape(25, 4)), "strength": ("job", np.full(25, 0.2))})
    (claim,) = Currents(strengths=(0.2,)).claims(results)
    assert claim.holds == holds


def test_the_swimming_speed_is_that_of_the_gait():
    study = Currents()
    assert 2.0 < swimming_speed(study.snake, SURE.swim) < 12.0
