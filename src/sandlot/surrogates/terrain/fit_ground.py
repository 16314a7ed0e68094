"""Fits where displaced soil goes: the footprints of a model on recorded drives, against the ruts that were recorded."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.optimize
import xarray as xr
from numpy.typing import NDArray

from sandlot import recordings
from sandlot.errors import RecordingError
from sandlot.kernels import kernel
from sandlot.physics.soil import SoilKind
from sandlot.surrogates.terrain.contact import give_of
from sandlot.surrogates.terrain.feet import STANCE, Ground, has_moved, make_row, stand
from sandlot.surrogates.terrain.ground_model import GroundModel
from sandlot.surrogates.terrain.imprint import MAX_FEET, Spreading, imprint, stand_on
from sandlot.surrogates.terrain.inputs import NO_SOIL, soil_inputs
from sandlot.surrogates.terrain.recorded import episodes_of, ground_before, open_drives, replay, soil_below
from sandlot.surrogates.terrain.shape import Shape
from sandlot.surrogates.terrain.springs import Give
from sandlot.surrogates.terrain.step import MAX_PUSHED
from sandlot.typing import Array

SECOND = 1.0
"""Changes of the ground are compared over this time [s]."""
CHANGED = 1e-6
"""Nodes whose heights change by more than this are compared [m]."""
EVALUATIONS = 80
"""Of the search."""
LARGEST = {"ahead": 1.0, "slow": 1.0, "shelter": 0.02, "repose": 2.0, "repose_share": 2.0}
SMALLEST = {"ahead": 1e-3, "slow": 1e-3, "shelter": 1e-4, "repose": 0.1, "repose_share": 0.3}


@dataclass(frozen=True, eq=False)
class Stretch:
    """A second of a recorded drive.

    Attributes:
        ground: At its beginning.
        position: (frames + 1, 3) of the chassis [m].
        attitude: (frames + 1, 3) [rad].
        change: (ny, nx) how the ground changed [m].
        kind: Of soil; None for other ground.
        interval: Between frames [s].
    """

    ground: Ground
    position: Array
    attitude: Array
    change: Array
    kind: SoilKind | None
    interval: float


def stretches_of(recording: xr.Dataset, count: int) -> Iterator[Stretch]:
    """Several seconds of a recording, evenly apart.

    Args:
        recording: As `open_drives` gives it.
        count: How many at most, of each episode.
    """
    given = recordings.settings(recording)
    interval, kind = float(given["interval"]), soil_below(recording)
    span = round(SECOND / interval)
    for first, end in episodes_of(recording):
        every = max((end - first - 1) // span // count, 1) * span
        ground, now = ground_before(recording, first), first
        for begin in range(first, end - span, every):
            replay(ground.heights, recording, now, begin + 1)
            heights = ground.heights.copy()
            start = ground._replace(heights=heights, firm=np.minimum(heights, ground.initial))
            replay(ground.heights, recording, begin + 1, begin + span + 1)
            now = begin + span + 1
            part = recording.isel(time=slice(begin, begin + span + 1), rover=0)
            shift = np.column_stack([part["dx"].values, part["dy"].values])
            shift[0] = part["x"].values[0], part["y"].values[0]
            position = np.column_stack([np.cumsum(shift, axis=0), part["z"].values])
            attitude = np.column_stack([part[name].values for name in ("roll", "pitch", "yaw")])
            yield Stretch(start, position, attitude, ground.heights - start.heights, kind, interval)


@kernel(error_model="numpy")
def imprint_along(
    ground: Ground,
    feet: NDArray[np.void],
    lever: float,
    position: Array,
    attitude: Array,
    interval: float,
    spreading: Spreading,
    give: Give,
    covers: Array,
) -> None:
    """Change the ground under a rover that drives as recorded: position (frames + 1, 3), attitude (frames + 1, 3)."""
    before, after = np.zeros(len(feet), STANCE), np.zeros(len(feet), STANCE)
    work, pushed = np.zeros((len(feet), 3)), np.zeros((len(feet), MAX_PUSHED, 3))
    last, since = 0, MAX_FEET
    stand(feet, position[0], attitude[0], after)
    stand_on(ground, feet, after, give, 1, covers)
    for k in range(1, len(position)):
        if not has_moved(position[k], attitude[k], position[last], attitude[last], lever, ground.spacing):
            continue
        stand(feet, position[last], attitude[last], before)
        stand(feet, position[k], attitude[k], after)
        imprint(ground, feet, before, after, (k - last) * interval, spreading, give, k + 1, since, covers, work, pushed)
        last, since = k, (k + 1) * MAX_FEET


def predicted(stretch: Stretch, shape: Shape, model: GroundModel) -> Array:
    """How the ground changes in a stretch according to a model: (ny, nx) [m]."""
    start = stretch.ground
    ground = start._replace(heights=start.heights.copy(), firm=start.firm.copy(), marks=np.zeros_like(start.marks))
    spreading, soil = Spreading(*model.spreading(stretch.kind).tolist()), NO_SOIL
    if stretch.kind is not None:
        soil = soil_inputs(stretch.kind, shape)
    give = give_of(soil, shape)
    feet, path = shape.feet, (stretch.position, stretch.attitude)
    covers = make_row(feet, ground.spacing)
    imprint_along(ground, feet, shape.lever, *path, stretch.interval, spreading, give, covers)
    return ground.heights - start.heights


def correlation(stretches: Sequence[Stretch], shape: Shape, model: GroundModel) -> float:
    """Of predicted and recorded changes, over all nodes where there are any."""
    pairs = [(predicted(each, shape, model), each.change) for each in stretches]
    ours, theirs = (np.concatenate([pair[k][_changed(*pair)] for pair in pairs]) for k in range(2))
    if ours.size < 2 or ours.std() == 0.0 or theirs.std() == 0.0:
        return 0.0
    return float(np.corrcoef(ours, theirs)[0, 1])


def _changed(ours: Array, theirs: Array) -> NDArray[np.bool_]:
    return np.abs(ours) + np.abs(theirs) > CHANGED


def fit_ground(
    paths: Sequence[Path],
    shape: Shape,
    count: int = 8,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[GroundModel, float]:
    """Fit a model, and its correlation with the recordings.

    Args:
        paths: Recordings.
        shape: Of the rover.
        count: Seconds of each episode that are compared.
        report: Called with how many evaluations are done, of how many.

    Raises:
        RecordingError: If one cannot be read, all are too short, or nothing changed in any.
    """
    stretches = [each for path in paths for each in stretches_of(open_drives(path), count)]
    if not stretches:
        raise RecordingError(f"the recordings have no episode that is longer than {SECOND:g} s")
    if not any(np.abs(each.change).max() > CHANGED for each in stretches):
        raise RecordingError("the ground does not change in these recordings; record them on soil or particles")
    repose = "repose" if stretches[0].kind is None else "repose_share"
    names = ("ahead", "slow", "shelter", repose)
    low, high = (np.log([bounds[name] for name in names]) for bounds in (SMALLEST, LARGEST))
    done = 0

    def model_of(logs: Array) -> GroundModel:
        return GroundModel(**dict(zip(names, np.exp(np.clip(logs, low, high)).tolist(), strict=True)))

    def error(logs: Array) -> float:
        nonlocal done
        done += 1
        report(min(done, EVALUATIONS), EVALUATIONS)
        outside = float(np.sum(np.maximum(low - logs, 0.0) + np.maximum(logs - high, 0.0)))
        return outside - correlation(stretches, shape, model_of(logs))

    first = np.log([getattr(GroundModel(), name) for name in names])
    found = scipy.optimize.minimize(
        error, first, method="Nelder-Mead", options={"maxfev": EVALUATIONS, "initial_simplex": _simplex(first)}
    )
    model = model_of(found.x)
    return model, correlation(stretches, shape, model)


def _simplex(first: Array) -> Array:
    """Around a first guess: every parameter doubled, one at a time."""
    return np.vstack([first, first + np.log(2.0) * np.eye(len(first))])
