"""Made-up results, to check which claims of a study hold."""

import numpy as np
import xarray as xr

from sandlot.studies import Study


def synthetic(study: Study, **outcomes) -> xr.Dataset:
    """Results in which each outcome is a function of the job's parameters; 1 where none is given."""
    jobs = [dict(job.parameters) for job in study.jobs()]
    columns = {name: ("job", [job[name] for job in jobs]) for name in jobs[0]}
    for name, quantity in study.outcomes.items():
        values = np.array([outcomes.get(name, lambda job: 1.0)(job) for job in jobs])
        columns[name] = (("job", *quantity.dims), values)
    return xr.Dataset(columns)


def holding(study: Study, **outcomes) -> list[bool]:
    return [claim.holds for claim in study.claims(synthetic(study, **outcomes))]


def failing(study: Study, **outcomes) -> list[str]:
    """Texts of the claims that do not hold; every claim must be complete."""
    claims = study.claims(synthetic(study, **outcomes))
    assert claims
    assert all(type(claim.holds) is bool and claim.text and claim.source and claim.measured for claim in claims)
    return [claim.text for claim in claims if not claim.holds]


def changed(ideal, **changes):
    """Outcomes as functions of the parameters, some of them changed by functions of the parameters and the value."""
    return ideal | {name: lambda job, n=name, f=change: f(job, ideal[n](job)) for name, change in changes.items()}


def scaled(factor, **only):
    """A change that multiplies the jobs whose parameters are as ``only`` says."""
    return lambda job, x: x * (factor if all(job[k] == v for k, v in only.items()) else 1.0)


def bumped(at, size):
    """A change that adds to the value at one index."""

    def change(job, x):
        x = np.array(x, float)
        x[..., at] += size
        return x

    return change


def assert_fails(study: Study, outcomes, words) -> None:
    """Check that as many claims fail as there are words, and that each word is in one of them."""
    texts = failing(study, **outcomes)
    assert len(texts) == len(words), texts
    assert all(any(word in text for text in texts) for word in words), texts
