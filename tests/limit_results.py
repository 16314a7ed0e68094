"""Made-up results of studies that raise obstacles until a controller fails."""

import numpy as np


def limits(study, curves):
    """An outcome of each job: the curve of its controller for all robots; at ``reference`` only where it is tried."""

    def limit(job):
        found = np.tile(curves[job["controller"]][:, None], (1, study.lanes))
        if job["fidelity"] == "reference":
            tried = np.zeros_like(found, np.bool_)
            tried[list(study.reference), 0] = True
            found = np.where(tried, found, np.nan)
        return found

    return limit
