"""How wrong a learned rover is on recordings that it was not fitted to."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sandlot.physics.soil import SoilKind
from sandlot.surrogates.terrain.fit_motion import determination, one_step
from sandlot.surrogates.terrain.ground_model import GroundModel
from sandlot.surrogates.terrain.motion_model import MotionModel
from sandlot.surrogates.terrain.recorded import read_drives
from sandlot.surrogates.terrain.rollout import RunError, end_errors

SECONDS = 10.0
"""Length of free runs, unless recordings are shorter [s]."""


def evaluate(
    model: MotionModel, paths: Sequence[Path], ground: GroundModel | None = None, kind: SoilKind | None = None
) -> dict[str, float]:
    """Errors of a model, by name and unit, as for its card.

    Args:
        model: How a rover moves.
        paths: Recordings.
        ground: How it changes the ground; the default model of soil if left out.
        kind: As of `open_drives`.

    Raises:
        RecordingError: If one cannot be read, or lacks quantities.
    """
    shares = [determination(drive, one_step(model, drive)) for drive in read_drives(paths, model.shape, kind)]
    runs = [run for path in paths for run in end_errors(model, ground or GroundModel(), path, kind=kind)]
    speed, _, turn = np.mean(shares, axis=0).tolist()
    found = {"R^2 of the speed one frame ahead [1]": speed, "R^2 of the turn rate one frame ahead [1]": turn}
    if runs:
        relative = np.array([run.error / run.distance for run in runs])
        found["median error after 10 s, of the distance driven [1]"] = float(np.median(relative))
        found["its 90% quantile [1]"] = float(np.quantile(relative, 0.9))
    return {name: round(value, 4) for name, value in found.items()}


def calibrated(model: MotionModel, paths: Sequence[Path], ground: GroundModel | None = None) -> MotionModel:
    """The same model whose band holds 90% of its free runs on recordings that it was not fitted to.

    Args:
        model: An ensemble.
        paths: Recordings.
        ground: How it changes the ground; the default model of soil if left out.

    Raises:
        RecordingError: If one cannot be read, or lacks quantities.
    """
    runs: list[RunError] = []
    for path in paths:
        frames = min(len(drive.commands) for drive in read_drives([path], model.shape))
        seconds = min(0.99 * (frames - 3) * model.interval, SECONDS)
        runs += end_errors(model, ground or GroundModel(), path, seconds, 2)
    if not runs:
        return model
    return model.with_settings(band=float(np.quantile([run.mean_error / run.deviation for run in runs], 0.9)))
