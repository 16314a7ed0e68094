"""Reads drives from recordings of the terrain world, or of real rovers with the same quantities."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sandlot import recordings
from sandlot.errors import RecordingError
from sandlot.kernels import kernel
from sandlot.physics.soil import PRESETS, SoilKind
from sandlot.settings import build
from sandlot.surrogates.terrain.drives import Drive
from sandlot.surrogates.terrain.feet import Ground
from sandlot.surrogates.terrain.inputs import SOIL_INPUTS, soil_inputs
from sandlot.surrogates.terrain.looking import Support, look
from sandlot.surrogates.terrain.shape import Shape
from sandlot.typing import Array, IntArray

MOTION = ("x", "y", "z", "roll", "pitch", "yaw", "dx", "dy", "wheel_speed_left", "wheel_speed_right")
COMMANDS = ("command_speed", "command_turn_rate")
GROUND = ("heights", "height_change", "window_row", "window_column")
CHUNK = 256
"""Frames whose height changes are read at once."""
MIN_FRAMES = 3


def open_drives(path: Path) -> xr.Dataset:
    """Open a recording that has all that a learned rover is trained on.

    Raises:
        RecordingError: If it cannot be read, or quantities are missing; the message names them.
    """
    recording = recordings.open(path)
    missing = [name for name in (*MOTION, *COMMANDS, *GROUND) if name not in recording]
    if missing:
        raise RecordingError(f"{path} lacks {', '.join(missing)}; a model of a rover needs them in its recordings")
    if recording.sizes.get("rover", 1) > 1:
        raise RecordingError(f"{path} has {recording.sizes['rover']} rovers; a model is fitted to recordings of one")
    return recording


def kind_of(given: dict[str, Any]) -> SoilKind | None:
    """The soil that a recording was made on, from its settings; None for other ground."""
    if given.get("ground", "soil") == "rigid":
        return PRESETS["rigid"]
    soil = given.get("soil") if given.get("ground", "soil") == "soil" else None
    return soil if soil is None else PRESETS[soil] if isinstance(soil, str) else build(SoilKind, soil)


@kernel(error_model="numpy")
def look_along(
    support: Support,
    ground: Ground,
    initial: Array,
    poses: Array,
    rows: IntArray,
    columns: IntArray,
    changes: NDArray[np.float32],
    seen: Array,
    planes: Array,
) -> None:
    """Change the ground as it was recorded, and look at it in every frame, below where the rover is one frame later.

    Args:
        support: Where to look.
        ground: As it was in the frame before; changed in place.
        initial: (ny, nx) before anything touched it [m].
        poses: (frames, 3) x, y [m] and yaw [rad] one frame later.
        rows: (frames,) of the first node of each window.
        columns: (frames,) of the same.
        changes: (frames, rows, columns) [m].
        seen: (frames, samples + groups) to be filled.
        planes: (frames, 3) to be filled.
    """
    heights, (ny, nx) = ground.heights, ground.heights.shape
    for k in range(len(poses)):
        for i in range(changes.shape[1]):
            row = (rows[k] + i) % ny
            for j in range(changes.shape[2]):
                if changes[k, i, j] != 0.0:
                    heights[row, (columns[k] + j) % nx] += changes[k, i, j]
        planes[k, 0], planes[k, 1], planes[k, 2] = look(
            support, ground, initial, poses[k, 0], poses[k, 1], poses[k, 2], seen[k]
        )


def drives_of(recording: xr.Dataset, shape: Shape) -> Iterator[Drive]:
    """Every episode of a recording.

    Args:
        recording: As `open_drives` gives it.
        shape: Of the rover.
    """
    episodes = recording["episode"].values
    starts = [0, *(np.flatnonzero(np.diff(episodes)) + 1).tolist(), len(episodes)]
    for first, end in pairwise(starts):
        if end - first >= MIN_FRAMES:
            yield _episode(recording, shape, first, end)


def _episode(recording: xr.Dataset, shape: Shape, first: int, end: int) -> Drive:
    given = recordings.settings(recording)
    kind, part = kind_of(given), recording.isel(time=slice(first, end), rover=0)
    column = {name: part[name].values.astype(np.float64) for name in (*MOTION, *COMMANDS)}
    shift = np.column_stack([column["dx"], column["dy"]])
    shift[0] = 0.0
    start = np.array([column["x"][0], column["y"][0]])
    position = np.column_stack([start + np.cumsum(shift, axis=0), column["z"]])
    attitude = np.column_stack([column["roll"], column["pitch"], column["yaw"]])
    heights = _first_map(recording, first)
    spacing, (ny, nx) = float(given["spacing"]), heights.shape
    ground = Ground(
        heights,
        np.zeros((1, 1), np.int64),
        -0.5 * spacing * (nx - 1),
        -0.5 * spacing * (ny - 1),
        spacing,
        _wraps(given),
    )
    frames, width = end - first - 1, len(shape.samples) + len(shape.groups)
    seen, planes = np.zeros((frames, width)), np.zeros((frames, 3))
    poses = np.column_stack([position[1:, :2], attitude[1:, 2]])
    initial, support = heights.copy(), Support(shape.samples, shape.groups, shape.plane)
    for low in range(0, frames, CHUNK):
        at = slice(low, min(low + CHUNK, frames))
        some = part[["height_change", "window_row", "window_column"]].isel(time=at)
        changes = np.ascontiguousarray(some["height_change"].values)
        if low == 0:
            changes[0] = 0.0  # the map of the first frame has them already
        look_along(
            support,
            ground,
            initial,
            poses[at],
            np.ascontiguousarray(some["window_row"].values),
            np.ascontiguousarray(some["window_column"].values),
            changes,
            seen[at],
            planes[at],
        )
    commands = np.column_stack([column[name][1:] for name in COMMANDS])
    soil = np.zeros(len(SOIL_INPUTS)) if kind is None else soil_inputs(kind, shape.width)
    wheels = np.column_stack([column["wheel_speed_left"], column["wheel_speed_right"]])
    name = given.get("soil") if isinstance(given.get("soil"), str) else given.get("ground", "soil")
    return Drive(position, attitude, wheels, commands, seen, planes, soil, float(given["interval"]), str(name))


def _wraps(given: dict[str, Any]) -> bool:
    if given.get("wrap") is not None:
        return bool(given["wrap"])
    return given.get("ground") != "particles" and given["terrain"] in ("A", "B", "hills", "flat")


def _first_map(recording: xr.Dataset, first: int) -> Array:
    """The ground at the first frame of an episode: (ny, nx) [m]."""
    maps, episodes = recording["heights"], recording["episode"].values
    every = maps.attrs.get("every", 1)
    if recordings.settings(recording)["terrain"] != "hills":
        return np.array(maps.isel({maps.dims[0]: 0}).values, np.float64)
    if first % every == 0:
        return np.array(maps.isel({maps.dims[0]: first // every}).values, np.float64)
    raise RecordingError(
        f"the map of episode {episodes[first]} was not recorded, and its hills are random; record it with map_every=1, "
        "or in a recording of its own"
    )


def read_drives(paths: Sequence[Path], shape: Shape) -> list[Drive]:
    """All episodes of several recordings.

    Raises:
        RecordingError: If one cannot be read, lacks quantities, or has no episode that is long enough.
    """
    found = [drive for path in paths for drive in drives_of(open_drives(path), shape)]
    if not found:
        raise RecordingError("the recordings have no episode of at least 3 frames")
    return found
