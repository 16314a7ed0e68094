"""Made-up results, to see which claims of a study hold."""

import numpy as np
import xarray as xr

from sandlot.studies import Study


def synthetic(study: Study, **outcomes) -> xr.Dataset:
    """Results as if each job had given what ``outcomes`` say of its parameters."""
    jobs = [dict(job.parameters) for job in study.jobs()]
    columns = {name: ("job", [job[name] for job in jobs]) for name in jobs[0]}
    for name, quantity in study.outcomes.items():
        values = np.array([outcomes.get(name, lambda job: 1.0)(job) for job in jobs])
        columns[name] = (("job", *quantity.dims), values)
    return xr.Dataset(columns)


def holding(study: Study, **outcomes) -> list[bool]:
    return [claim.holds for claim in study.claims(synthetic(study, **outcomes))]
