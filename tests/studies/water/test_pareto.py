"""The study of speed and cost of transport."""

import numpy as np
import xarray as xr

from sandlot.studies.water.pareto import PriceOfSpeed


def test_axis_labels_give_the_duration():
    study = PriceOfSpeed(seconds=2.5)
    results = xr.Dataset(
        {
            "speed": (("job", "individual"), [[1.0, 2.0]]),
            "cost": (("job", "individual"), [[0.1, 0.5]]),
            "genes": (("job", "individual", "gene"), np.ones((1, 2, 3))),
        }
    )
    assert {axes.get_xlabel() for axes in study.figure(results).axes} == {"mean speed over 2.5 s [m/s]"}


def test_gaits_that_hardly_move_are_not_on_the_front():
    study = PriceOfSpeed(seconds=2.0)
    swims, turned, rests = study.evaluate(np.array([[0.4, 1.0, 0.7], [0.4, 1.0, 2.0 * np.pi - 0.7], [0.1, 0.1, 0.7]]))
    assert swims[0] > 0.01 * study.snake.arclength / study.seconds
    assert -1e6 < swims[1] < 0.0
    assert turned.tolist() == rests.tolist() == [-1.0, -1e6]
