"""The price of speed says over how long it was measured."""

import numpy as np
import xarray as xr

from sandlot.studies.water.pareto import PriceOfSpeed


def test_the_axes_name_the_time_it_swam():
    study = PriceOfSpeed(seconds=2.5)
    results = xr.Dataset(
        {
            "speed": (("job", "individual"), [[1.0, 2.0]]),
            "cost": (("job", "individual"), [[0.1, 0.5]]),
            "genes": (("job", "individual", "gene"), np.ones((1, 2, 3))),
        }
    )
    assert {axes.get_xlabel() for axes in study.figure(results).axes} == {"mean speed over 2.5 s [m/s]"}
