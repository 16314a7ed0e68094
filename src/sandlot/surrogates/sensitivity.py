"""Which input matters: Sobol's shares of a model's variance, by SALib."""

from collections.abc import Callable, Sequence

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from sandlot.errors import SandlotError
from sandlot.typing import Array


def sobol(
    predict: Callable[[Array], Array],
    bounds: ArrayLike,
    names: Sequence[str] | None = None,
    samples: int = 1024,
    seed: int = 0,
) -> xr.Dataset:
    """How much of the variance of a prediction is due to each input, if these are anywhere within bounds.

    Args:
        predict: (samples, inputs) in, (samples,) out; such as a model's ``predict``.
        bounds: (inputs, 2) least and greatest value of each input.
        names: Of the inputs.
        samples: A power of two; the model is asked ``(inputs + 2)`` times as often.
        seed: Same seed, same numbers.

    Returns:
        Along ``input``: ``first``, the share of the input alone, and ``total``, with all it does together with others;
        and ``first_error`` and ``total_error``, half of their 95% confidence intervals.

    Raises:
        SandlotError: If bounds are empty, or not as many as names.
    """
    from SALib.analyze.sobol import analyze
    from SALib.sample.sobol import sample

    limits = np.asarray(bounds, np.float64)
    right = limits.ndim == 2 and limits.shape[1] == 2 and limits.size > 0 and np.isfinite(limits).all()
    if not right or not (limits[:, 0] < limits[:, 1]).all():
        raise SandlotError("bounds must be (inputs, 2), each least below its greatest")
    names = list(names or [f"x{k + 1}" for k in range(limits.shape[0])])
    if len(names) != limits.shape[0]:
        raise SandlotError(f"{len(names)} names for {limits.shape[0]} bounds; give one for each")
    problem = {"num_vars": len(names), "names": names, "bounds": limits.tolist()}
    values = predict(sample(problem, samples, calc_second_order=False, seed=seed))
    keys = ("S1", "ST", "S1_conf", "ST_conf")
    if np.ptp(values) <= 1e-12 * np.abs(values).max():  # of a constant, no input has a share
        shares = dict.fromkeys(keys, np.zeros(len(names)))
    else:
        shares = analyze(problem, values, calc_second_order=False, seed=seed + 1)  # to SALib, 0 is no seed
    share, half = "share of variance", "half of the confidence interval"
    about = (
        f"{share} of the input alone",
        f"{share} of the input with all others",
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
