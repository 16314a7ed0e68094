"""Fits a model of how a rover moves to recorded drives, and measures how wrong it is on others."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sandlot.errors import ModelError, RecordingError
from sandlot.models.card import Card, TrainingData
from sandlot.models.dense import Dense
from sandlot.surrogates.terrain.drives import Drive
from sandlot.surrogates.terrain.motion_model import MotionModel, bounds, valid_ranges
from sandlot.surrogates.terrain.settling import train_settling
from sandlot.surrogates.terrain.shape import Shape
from sandlot.surrogates.terrain.training import Training, train_drives
from sandlot.typing import Array

MIN_SECONDS = 1.0
"""Of driving, in all."""
OUTPUTS = ("speed", "sideways speed", "turn rate")


def fit_motion(
    drives: Sequence[Drive],
    shape: Shape,
    given: Training,
    trained_on: Sequence[TrainingData] = (),
    report: Callable[[int, int, float], None] = lambda epoch, epochs, error: None,
    start: MotionModel | None = None,
) -> MotionModel:
    """Fit a model.

    Args:
        drives: Recorded.
        shape: Of the rover.
        given: Settings of the training.
        trained_on: Recordings, for the card.
        report: Called after each epoch with its number, how many there are, and its error.
        start: Model of the same rover that the search begins with; its motors, its band and how the rover settles
            are kept, and the settings ``members`` and ``hidden`` are those of the model.

    Raises:
        RecordingError: If there is too little driving to fit anything.
    """
    seconds = sum(drive.interval * len(drive.commands) for drive in drives)
    if seconds < MIN_SECONDS:
        raise RecordingError(f"the recordings hold {seconds:.2g} s of driving; a fit needs at least {MIN_SECONDS:g} s")
    if start is not None:
        check_start(start, shape, drives[0].interval)
    net = train_drives(
        drives,
        shape,
        given,
        lambda epoch, error: report(epoch + 1, given.epochs, error),
        None if start is None else start.trained,
    )
    settling = train_settling(drives, shape, given.rate, given.seed) if start is None else start.settle
    limits, ranges = bounds(drives, shape)
    if start is not None:
        limits = np.maximum(limits, start.limits)
        low, high = np.minimum(ranges, start.ranges)[:, 0], np.maximum(ranges, start.ranges)[:, 1]
        ranges = np.column_stack([low, high])
    card = Card(
        kind="motion",
        description="how a rover moves and stands on the ground",
        trained_on=tuple(trained_on),
        valid_ranges=valid_ranges(drives),
        settings={"training": given.model_dump(mode="json") | _sizes(net.drives), **_band_of(start)},
    )
    return MotionModel(shape, *net, settling, limits, ranges, drives[0].interval, card)


def _sizes(nets: Sequence[Dense]) -> dict[str, Any]:
    """Those settings of a training that a model to start with decides."""
    return {"members": len(nets), "hidden": nets[0].sizes[1:-1].tolist()}


def _band_of(start: MotionModel | None) -> dict[str, float]:
    """The band of the model to start with, which few recordings do not show anew."""
    return {} if start is None else {"band": start.band}


def check_start(start: MotionModel, shape: Shape, interval: float) -> None:
    """Refuse to go on with a model of another rover, or of other frames.

    Raises:
        ModelError: If it is one.
    """
    if not start.shape.is_like(shape):
        raise ModelError("the model to start with is of another rover")
    if abs(start.interval - interval) > 1e-6:
        raise ModelError(
            f"the model to start with has frames of {start.interval:g} s, the recordings of {interval:g} s"
        )


def one_step(model: MotionModel, drive: Drive) -> Array:
    """Motion one frame ahead, as all members predict it on the mean: (T - 1, 3) [m/s, rad/s]."""
    inputs = drive.inputs(model.shape)
    change = np.mean([model.changes(inputs, drive.soil, member) for member in range(len(model.drives))], axis=0)
    return np.asarray(drive.states[:-1, :3] + change[:, :3])


def determination(drive: Drive, predicted: Array) -> Array:
    """R^2 of predictions of the motion (T - 1, 3): (3,) of `OUTPUTS`."""
    truth = drive.motion[1:]
    return np.asarray(1.0 - np.mean((predicted - truth) ** 2, axis=0) / np.maximum(truth.var(axis=0), 1e-12))
