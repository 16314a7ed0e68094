"""Sobol indices: the share of each input in a model's variance, computed by SALib."""

from collections.abc import Callable, Sequence

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from sandlot.errors import ModelError
from sandlot.extras import need
from sandlot.typing import Array


def sobol(
    predict: Callable[[Array], Array],
    bounds: ArrayLike,
    names: Sequence[str] | None = None,
    samples: int = 1024,
    seed: int = 0,
) -> xr.Dataset:
    """Share of the variance of a prediction that each input causes, for inputs distributed evenly within bounds.

    Args:
        predict: Takes (samples, inputs), returns (samples,); for example a model's ``predict``.
        bounds: (inputs, 2) minimum and maximum of each input.
        names: Names of the inputs.
        samples: A power of two; the model is evaluated ``(inputs + 2)`` times as often.
        seed: The same seed gives the same result.

    Returns:
        Along ``input``: ``first``, the share of the input alone; ``total``, with its interactions; and ``first_error``
        and ``total_error``, half the widths of their 95 % confidence intervals.

    Raises:
        ModelError: If bounds are empty, or their number differs from that of the names.
    """
    analyze = need("SALib.analyze.sobol", "learn").analyze
    sample = need("SALib.sample.sobol", "learn").sample

    limits = np.asarray(bounds, np.float64)
    right = limits.ndim == 2 and limits.shape[1] == 2 and limits.size > 0 and np.isfinite(limits).all()
    if not right or not (limits[:, 0] < limits[:, 1]).all():
        raise ModelError("bounds must be (inputs, 2), each minimum below its maximum")
    names = list(names or [f"x{k + 1}" for k in range(limits.shape[0])])
    if len(names) != limits.shape[0]:
        raise ModelError(f"{len(names)} names for {limits.shape[0]} bounds; give one for each")
    problem = {"num_vars": len(names), "names": names, "bounds": limits.tolist()}
    values = predict(sample(problem, samples, calc_second_order=False, seed=seed))
    keys = ("S1", "ST", "S1_conf", "ST_conf")
    if np.ptp(values) <= 1e-12 * np.abs(values).max():  # a constant has no variance to share
        shares = dict.fromkeys(keys, np.zeros(len(names)))
    else:
        shares = analyze(problem, values, calc_second_order=False, seed=seed + 1)  # SALib takes 0 for no seed
    share, half = "share of variance", "half of the confidence interval"
    about = (
        f"{share} of the input alone",
        f"{share} of the input with its interactions",
        f"{half} of first",
        f"{half} of total",
    )
    return xr.Dataset(
        {
            name: ("input", np.asarray(shares[key], np.float64), {"units": "1", "long_name": words})
            for name, key, words in zip(("first", "total", "first_error", "total_error"), keys, about, strict=True)
        },
        {"input": names},
    )
