"""Model validity tests: the residuals of a valid model are not correlated with themselves or with the inputs.

The five correlations of Billings and Voon (1986) also find what linear tests miss. For a valid model, 95 % of each lie
within +-1.96 / sqrt(samples).
"""

import numpy as np
import xarray as xr

from sandlot.errors import ModelError
from sandlot.typing import Array

LONG_NAMES = {
    "residual": "of residuals with themselves",
    "cross": "of residuals with the input",
    "cross_squared": "of residuals with the input's square",
    "squares": "of squared residuals with the input's square",
    "product": "of residuals with residuals times input",
}


def correlations(residuals: Array, inputs: Array, lags: int = 20) -> xr.Dataset:
    """The five correlations, for every input.

    Args:
        residuals: (samples,)
        inputs: (samples, inputs) at the same times.
        lags: Maximum lag, in steps; ``cross``, ``cross_squared`` and ``squares`` are also computed for negative lags.

    Returns:
        Each correlation with dims ``(input, lag)``; NaN at lags where the test does not apply. Attributes: ``bound``,
        and ``outside``, the share of lags beyond the bound, of all correlations and of each.

    Raises:
        ModelError: If inputs and residuals differ in length.
    """
    samples = residuals.size
    if inputs.shape[0] != samples:
        raise ModelError(f"{inputs.shape[0]} samples of inputs for {samples} residuals; give as many of both")
    lags = min(lags, samples - 1)
    shifts = np.arange(-lags, lags + 1)
    e, squares = _centred(residuals), _centred(residuals**2)
    found: dict[str, list[Array]] = {name: [] for name in LONG_NAMES}
    for u in inputs.T:
        v, w = _centred(u), _centred(u**2)
        found["residual"].append(np.where(shifts > 0, _correlate(e, e, lags), np.nan))
        found["cross"].append(_correlate(v, e, lags))
        found["cross_squared"].append(_correlate(w, e, lags))
        found["squares"].append(_correlate(w, squares, lags))
        # E[e(k) e(k-1-lag) u(k-1-lag)] in Billings and Voon: the product is lagged by one step more.
        found["product"].append(np.where(shifts >= 0, _correlate(_centred(e * v), e, lags + 1)[2:], np.nan))
    bound = 1.96 / np.sqrt(samples)
    data = xr.Dataset(coords={"lag": shifts})
    for name, rows in found.items():
        about = {
            "units": "1",
            "long_name": f"correlation {LONG_NAMES[name]}",
            "outside": _outside(np.array(rows), bound),
        }
        data[name] = ("input", "lag"), np.array(rows), about
    data.attrs = {"bound": bound, "outside": _outside(np.array(list(found.values())), bound)}
    return data


def _outside(values: Array, bound: float) -> float:
    known = values[np.isfinite(values)]
    return float((np.abs(known) > bound).mean()) if known.size else 0.0


def _centred(values: Array) -> Array:
    return values - values.mean() if np.ptp(values) > 0.0 else np.zeros_like(values)


def _correlate(a: Array, b: Array, lags: int) -> Array:
    """Correlation of ``a`` with ``b`` from ``-lags`` to ``lags`` steps later: (2 lags + 1,)."""
    norm = np.sqrt((a @ a) * (b @ b))
    if norm == 0.0:
        return np.zeros(2 * lags + 1)
    samples = a.size
    sums = [
        a[max(0, -shift) : samples - max(0, shift)] @ b[max(0, shift) : samples + min(0, shift)]
        for shift in range(-lags, lags + 1)
    ]
    return np.array(sums) / norm
