"""Made-up results of studies that raise obstacles until a controller fails."""

import numpy as np


def limits(study, curves):
    """An outcome of each job: the curve of its controller for all robots; NaN where none is tried."""

    def limit(job):
        found = np.tile(curves[job["controller"]][:, None], (1, study.lanes))
        tried = np.ones_like(found, np.bool_)
        if job["fidelity"] == "reference":
            tried[:, 1:] = False
        elif job["fidelity"] in [f"grid {each}" for each in study.grids[1:]]:
            tried[:] = np.isin(np.arange(len(found)), study.refined)[:, None]
        return np.where(tried, found, np.nan)

    return limit
