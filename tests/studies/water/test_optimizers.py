"""The study of optimizers: evaluations until the goal."""

import numpy as np
import xarray as xr

from sandlot.studies.water.optimizers import Optimizers


def test_evaluations_needed_are_counted_up_to_the_goal():
    study = Optimizers(replicates=2)
    counts = np.arange(1.0, 6.0) * 100
    best = np.array([[1, 2, 3, 9.95, 10], [1, 10, 10, 10, 10], [1, 1, 1, 1, 1], [0, 0, 9.9, 9.9, 9.9]])
    results = xr.Dataset(
        {
            "best": (("job", "sample"), best),
            "evaluations": (("job", "sample"), np.tile(counts, (4, 1))),
            "method": ("job", ["genetic", "genetic", "CMA-ES", "CMA-ES"]),
        }
    )
    needed = study.needed(results)
    assert needed["genetic"].tolist() == [400.0, 200.0]
    assert needed["CMA-ES"].tolist() == [np.inf, 300.0]
