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
        segments: (samples,) any label of the segment of each sample; those of a segment are consecutive. None for a
            single segment.
        samples: Number of samples.

    Returns:
        (segments + 1,) index of the first sample of each segment, and the number of samples.

    Raises:
        FitError: If there is not one label for each sample, one is missing, or one returns after another.
    """
    if segments is None:
        return np.array([0, samples], np.int64)
    labels = np.asarray(segments)
    if labels.shape != (samples,):
        raise FitError(f"segments has shape {labels.shape} for {samples} samples; give one label for each sample")
    if bool(xr.DataArray(labels).isnull().any()):
        raise FitError("segments has None, NA or NaN; give every sample a label")
    changes = np.flatnonzero(labels[1:] != labels[:-1]) + 1
    begun = set()
    for label in [*labels[:1].tolist(), *labels[changes].tolist()]:
        if label in begun:
            raise FitError(f"segment {label!r} returns after another; the samples of a segment are consecutive")
        begun.add(label)
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
        FitError: If recordings or inputs are no sequence, or empty; if a quantity is named twice, is missing, or is
            more than one number per time step.
    """
    if not isinstance(recordings, Sequence):
        raise FitError(f"recordings is a {type(recordings).__name__}; give a list of recordings")
    if not recordings:
        raise FitError("there is no recording; give at least one")
    if isinstance(inputs, str) or not isinstance(inputs, Sequence):
        raise FitError(f"inputs={inputs!r} is not possible; give a sequence of names, such as ('u',)")
    if not inputs:
        raise FitError("there is no input; name at least one")
    if output in inputs:
        raise FitError(f"the output {output} is among the inputs; leave it out (output_lags are its past)")
    for name in inputs:
        if inputs.count(name) > 1:
            raise FitError(f"the input {name} is named {inputs.count(name)} times; name each once")
    for k, recording in enumerate(recordings):
        if not isinstance(recording, xr.Dataset):
            raise FitError(f"recording {k} is a {type(recording).__name__}; give a Dataset")
        for name in (*inputs, output):
            if name not in recording:
                raise FitError(f"recording {k} has no {name}; it has {', '.join(map(str, recording.data_vars))}")
            if recording[name].ndim != 1 or recording[name].dims != recording[output].dims:
                raise FitError(f"{name} of recording {k} is not one number per time step; select one of its columns")
    columns = {name: np.concatenate([each[name].values for each in recordings]) for name in (*inputs, output)}
    numbers = np.repeat(np.arange(len(recordings)), [each[output].size for each in recordings])
    table = xr.Dataset({name: ("sample", columns[name]) for name in inputs}).to_dataframe()
    return table[list(inputs)], columns[output].astype(np.float64), numbers
