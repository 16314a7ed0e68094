"""Segments: parts of a series, such as episodes or recordings, between which no lag may reach."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from sandlot.errors import FitError
from sandlot.typing import Array, IntArray


def split(segments: ArrayLike | None, samples: int) -> IntArray:
    """Where segments begin.

    Args:
        segments: (samples,) any label of the segment of each sample; a new one begins wherever it changes. None for
            a single segment.
        samples: Number of samples.

    Returns:
        (segments + 1,) index of the first sample of each segment, and the number of samples.

    Raises:
        FitError: If there is not one label for each sample, or one is NaN.
    """
    if segments is None:
        return np.array([0, samples], np.int64)
    labels = np.asarray(segments)
    if labels.shape != (samples,):
        raise FitError(f"segments has shape {labels.shape} for {samples} samples; give one label for each sample")
    if (labels != labels).any():  # NaN differs from itself
        raise FitError("segments has NaN; give every sample a label")
    changes = np.flatnonzero(labels[1:] != labels[:-1]) + 1
    return np.concatenate([[0], changes, [samples]]).astype(np.int64)


def longest(bounds: IntArray) -> int:
    """Number of samples of the longest segment."""
    return int(bounds[1] if bounds.size == 2 else np.diff(bounds).max())


def rows(bounds: IntArray, lag: int) -> slice | IntArray:
    """Index of all samples but the first ``lag`` of each segment, which have no complete past."""
    if bounds.size == 2:
        return slice(lag, None)
    return np.concatenate([np.arange(begin + lag, end) for begin, end in itertools.pairwise(bounds)])


def join(recordings: Sequence[xr.Dataset], inputs: Sequence[str], output: str) -> tuple[Any, Array, IntArray]:
    """Several recordings as arguments of ``fit``, ``predict`` and ``score``.

    Args:
        recordings: Each with the same quantities over time.
        inputs: Their names; each a number per time step.
        output: The name of what is predicted.

    Returns:
        X as a DataFrame with a column for each input, y, and the number of the recording of each sample.

    Raises:
        FitError: If there is no recording, or a quantity is missing or is more than one number per time step.
    """
    if not recordings:
        raise FitError("there is no recording; give at least one")
    for k, recording in enumerate(recordings):
        for name in (*inputs, output):
            if name not in recording:
                raise FitError(f"recording {k} has no {name}; it has {', '.join(map(str, recording.data_vars))}")
            if recording[name].ndim != 1 or recording[name].dims != recording[output].dims:
                raise FitError(f"{name} of recording {k} is not one number per time step; select one of its columns")
    columns = {name: np.concatenate([each[name].values for each in recordings]) for name in (*inputs, output)}
    numbers = np.repeat(np.arange(len(recordings)), [each[output].size for each in recordings])
    table = xr.Dataset({name: ("sample", columns[name]) for name in inputs}).to_dataframe()
    return table[list(inputs)], columns[output].astype(np.float64), numbers
