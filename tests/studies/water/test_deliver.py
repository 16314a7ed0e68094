"""The study of deliveries: its claims about made-up results."""

import numpy as np
import pytest
import xarray as xr

from sandlot.studies.water.deliver import Deliver


def made_up(delivered: float, failures: float = 0.0, quadrant: float = 50.0) -> xr.Dataset:
    """Results of `water.deliver` with a share of balls at random places delivered."""
    when = np.full((27, 4), 80.0)
    when[:2] = quadrant
    random = when[2:].ravel()
    random[: round((1.0 - delivered) * random.size)] = np.nan
    when[2:] = random.reshape(-1, 4)
    return xr.Dataset(
        {
            "when": (("job", "target"), when),
            "attempts": (("job", "target"), np.full(when.shape, 2.0)),
            "failures": (("job", "target"), np.full(when.shape, failures)),
            "exploded": (("job", "target"), np.zeros(when.shape)),
            "how": ("job", ["source"] + ["sure"] * 26),
            "place": ("job", ["quadrant"] * 2 + ["random"] * 25),
        }
    )


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        (made_up(0.96, 1.0), [True, True, True, True]),
        (made_up(0.94, 1.0), [True, True, True, False]),
        (made_up(1.0), [True, True, False, True]),
        (made_up(1.0, 1.0, np.nan), [False, False, True, True]),
    ],
    ids=["all", "too few", "no failed grasp", "no quadrant"],
)
def test_each_claim_can_hold_and_fail(results, expected):
    assert [claim.holds for claim in Deliver().claims(results)] == expected
