"""Whether a model has left anything unexplained: its residuals must not know of themselves, nor of the inputs.

The five correlations of Billings and Voon (1986) find what a linear check would miss. Of a model that is valid, each
stays within 1.96 / sqrt(samples) for 95 of 100 lags.
"""

import numpy as np
import xarray as xr
from numpy.typing import NDArray

Array = NDArray[np.float64]
LONG_NAMES = {
    "residual": "of residuals with themselves",
    "input": "of residuals with the input",
    "input_squared": "of residuals with the input's square",
    "squares": "of squared residuals with the input's square",
    "product": "of residuals with residuals times input",
}


def correlations(residuals: Array, inputs: Array, lags: int = 20) -> xr.Dataset:
    """The five correlations, for every input.

    Args:
        residuals: (samples,)
        inputs: (samples, inputs) at the same moments.
        lags: How many steps to look ahead, and for some back.

    Returns:
        Each correlation with dims ``(input, lag)``; those that a valid model does not keep within bounds at negative lags
        are not a number there. Attributes: ``bound``, and ``outside``, the share of lags beyond it.
    """
    samples = residuals.size
    lags = min(lags, samples - 1)
    shifts = np.arange(-lags, lags + 1)
    e, squares = _centred(residuals), _centred(residuals**2)
    found: dict[str, list[Array]] = {name: [] for name in LONG_NAMES}
    for u in inputs.T:
        v, w = _centred(u), _centred(u**2)
        found["residual"].append(np.where(shifts > 0, _correlate(e, e, lags), np.nan))
        found["input"].append(_correlate(v, e, lags))
        found["input_squared"].append(_correlate(w, e, lags))
        found["squares"].append(_correlate(w, squares, lags))
        # With residuals and inputs both shifted by one step, as in the source.
        later = np.append((e * v)[1:], 0.0)
        found["product"].append(np.where(shifts >= 0, _correlate(later, e, lags), np.nan))
    bound = 1.96 / np.sqrt(samples)
    data = xr.Dataset(
        {
            name: (("input", "lag"), np.array(rows), {"units": "1", "long_name": f"correlation {LONG_NAMES[name]}"})
            for name, rows in found.items()
        },
        {"lag": shifts},
    )
    checked = np.concatenate([data[name].values.ravel() for name in LONG_NAMES])
    checked = checked[np.isfinite(checked)]
    data.attrs = {"bound": bound, "outside": float((np.abs(checked) > bound).mean()) if checked.size else 0.0}
    return data


def _centred(values: Array) -> Array:
    return values - values.mean()


def _correlate(a: Array, b: Array, lags: int) -> Array:
    """Correlation of ``a`` now with ``b`` a number of steps later: (2 lags + 1,)."""
    norm = np.sqrt((a @ a) * (b @ b))
    if norm == 0.0:
        return np.zeros(2 * lags + 1)
    samples = a.size
    return np.array(
        [
            a[max(0, -shift) : samples - max(0, shift)] @ b[max(0, shift) : samples + min(0, shift)]
            for shift in range(-lags, lags + 1)
        ]
    ) / norm
