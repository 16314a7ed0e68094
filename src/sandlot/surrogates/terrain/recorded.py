"""Reads drives from recordings of the terrain world, or of real rovers with the same quantities."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from sandlot import recordings
from sandlot.errors import RecordingError
from sandlot.kernels import kernel
from sandlot.physics.soil import PRESETS, SoilKind
from sandlot.recordings.needs import COMMANDS, MESSAGES, MOTION, ROVER
from sandlot.settings import build
from sandlot.surrogates.terrain.contact import SEEN, give_of, look
from sandlot.surrogates.terrain.drives import Drive
from sandlot.surrogates.terrain.feet import STANCE, Ground, make_ground, stand
from sandlot.surrogates.terrain.imprint import MAX_FEET, stand_on
from sandlot.surrogates.terrain.inputs import NO_SOIL, soil_inputs
from sandlot.surrogates.terrain.shape import Shape
from sandlot.surrogates.terrain.springs import Body, Give, Springs, make_springs
from sandlot.typing import Array, IntArray

CHUNK = 256
"""Frames whose height changes are read at once."""
MIN_FRAMES = 3


class Poses(NamedTuple):
    """Of a rover in all frames: position (T + 1, 3) [m], attitude (T + 1, 3) [rad] and wheels (T + 1, 2) [rad/s]."""

    position: Array
    attitude: Array
    wheels: Array


def open_drives(path: Path) -> xr.Dataset:
    """Open a recording that has all that a learned rover is trained on.

    Raises:
        RecordingError: If it cannot be read, has several rovers, lacks frames, or quantities, which the message names.
    """
    recording = recordings.open(path)
    missing = [name for name in ROVER if name not in recording]
    if missing:
        raise RecordingError(MESSAGES[ROVER].format(path=path, missing=", ".join(missing)))
    if recording.sizes.get("rover", 1) > 1:
        raise RecordingError(f"{path} has {recording.sizes['rover']} rovers; a model is fitted to recordings of one")
    skip = recordings.settings(recording).get("frame_skip", 1)
    if skip > 1:
        raise RecordingError(
            f"{path} has one of every {skip} frames; a model is fitted to recordings with frame_skip=1"
        )
    return recording


def kind_of(given: dict[str, Any]) -> SoilKind | None:
    """The soil that a recording was made on, from its settings; None for other ground."""
    if given.get("ground", "soil") == "rigid":
        return PRESETS["rigid"]
    soil = given.get("soil") if given.get("ground", "soil") == "soil" else None
    return soil if soil is None else PRESETS[soil] if isinstance(soil, str) else build(SoilKind, soil)


@kernel(error_model="numpy", allocates=False)
def add_window(heights: Array, row: int, column: int, change: NDArray[np.float32]) -> None:
    """Add a recorded change (rows, columns) [m] to a map (ny, nx); the window's first node is given."""
    ny, nx = heights.shape
    for i in range(change.shape[0]):
        r = (row + i) % ny
        for j in range(change.shape[1]):
            if change[i, j] != 0.0:
                heights[r, (column + j) % nx] += change[i, j]


@kernel(error_model="numpy")
def follow(
    body: Body,
    springs: Springs,
    give: Give,
    ground: Ground,
    position: Array,
    attitude: Array,
    wheels: Array,
    rows: IntArray,
    columns: IntArray,
    changes: NDArray[np.float32],
    number: int,
    seen: Array,
    rests: Array,
) -> None:
    """Follow a recorded drive: in each frame, look at the ground below the rover, and then change it as was recorded.

    Args:
        body: The rover.
        springs: Room for those below it.
        give: As of `look`.
        ground: As it was in the frame before the first; changed in place.
        position: (frames, 3) of the rover [m].
        attitude: (frames, 3) of the rover [rad].
        wheels: (frames, 2) speeds of its left and right wheels [rad/s].
        rows: (frames,) of the first node of each window.
        columns: (frames,) of the same.
        changes: (frames, rows, columns) [m].
        number: Of the first frame, at least 2.
        seen: (frames, SEEN) to be filled, as of `look`.
        rests: (frames, 3) height [m], pitch and roll [rad] at which the rover would rest, to be filled.
    """
    stances = np.zeros(len(body.feet), STANCE)
    for k in range(len(position)):
        since = (number + k - 1) * MAX_FEET
        look(body, ground, position[k], attitude[k, 2], wheels[k], give, springs, seen[k])
        rests[k] = springs.rest
        stand(body.feet, position[k], attitude[k], stances)
        stand_on(ground, body.feet, stances, give.ratio, since + MAX_FEET, since)
        add_window(ground.heights, rows[k], columns[k], changes[k])


def follow_recording(
    recording: xr.Dataset,
    shape: Shape,
    soil: Array,
    ground: Ground,
    drive: Drive | Poses,
    frames: range,
    first: int,
) -> tuple[Array, Array]:
    """`follow` some frames of an episode; ``first`` is its first. Returns what is seen, and heights at rest [m]."""
    seen, rests = np.zeros((len(frames), SEEN)), np.zeros((len(frames), 3))
    springs = make_springs(shape.feet, ground.spacing)
    give = give_of(soil, shape.weight, shape.radius, shape.width)
    start = frames.start - first + 1
    springs.rest[0] = drive.position[start, 2]
    springs.rest[1], springs.rest[2] = drive.attitude[start, 1], drive.attitude[start, 0]
    for low in range(0, len(frames), CHUNK):
        part = frames[low : low + CHUNK]
        some = recording[["window_row", "window_column", "height_change"]].isel(
            time=slice(part.start, part.stop), rover=0
        )
        at, done = slice(part.start - first + 1, part.stop - first + 1), slice(low, low + len(part))
        follow(
            shape.body,
            springs,
            give,
            ground,
            drive.position[at],
            drive.attitude[at],
            drive.wheels[at],
            np.ascontiguousarray(some["window_row"].values),
            np.ascontiguousarray(some["window_column"].values),
            np.ascontiguousarray(some["height_change"].values),
            number_of(part.start, first),
            seen[done],
            rests[done],
        )
    return seen, rests[:, 0]


def number_of(frame: int, first: int) -> int:
    """Number by which `follow` marks the nodes below the rover in a frame of an episode."""
    return frame - first + 2


def drives_of(recording: xr.Dataset, shape: Shape) -> Iterator[Drive]:
    """Every episode of a recording.

    Args:
        recording: As `open_drives` gives it.
        shape: Of the rover.
    """
    for first, end in episodes_of(recording):
        yield _episode(recording, shape, first, end)


def episodes_of(recording: xr.Dataset) -> list[tuple[int, int]]:
    """First frame, and that after the last, of each episode of at least `MIN_FRAMES`."""
    number = recording["episode"].values
    starts = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(number)]
    return [(first, end) for first, end in pairwise(starts) if end - first >= MIN_FRAMES]


def _episode(recording: xr.Dataset, shape: Shape, first: int, end: int) -> Drive:
    given = recordings.settings(recording)
    kind, part = kind_of(given), recording.isel(time=slice(first, end), rover=0)
    column = {name: part[name].values.astype(np.float64) for name in (*MOTION, *COMMANDS)}
    shift = np.column_stack([column["dx"], column["dy"]])
    shift[0] = 0.0
    start = np.array([column["x"][0], column["y"][0]])
    position = np.column_stack([start + np.cumsum(shift, axis=0), column["z"]])
    attitude = np.column_stack([column["roll"], column["pitch"], column["yaw"]])
    ground = ground_before(recording, first)
    # One frame before the first: the rover is where it will be, and nothing has touched the ground.
    position, attitude = np.vstack([position[:1], position]), np.vstack([attitude[:1], attitude])
    wheels = np.column_stack([column["wheel_speed_left"], column["wheel_speed_right"]])
    wheels = np.vstack([wheels[:1], wheels])
    soil = NO_SOIL if kind is None else soil_inputs(kind, shape.width)
    seen, middles = follow_recording(
        recording, shape, soil, ground, Poses(position, attitude, wheels), range(first, end), first
    )
    commands = np.column_stack([column[name] for name in COMMANDS])
    commands[0] = 0.0
    deforms = given.get("ground", "soil") != "rigid"
    return Drive(position, attitude, wheels, commands, seen, middles, soil, float(given["interval"]), kind, deforms)


def _wraps(given: dict[str, Any]) -> bool:
    if given.get("wrap") is not None:
        return bool(given["wrap"])
    return given.get("ground") != "particles" and given["terrain"] in ("A", "B", "hills", "flat")


def ground_before(recording: xr.Dataset, first: int) -> Ground:
    """The ground before the episode that begins with a frame; nothing has touched it.

    Raises:
        RecordingError: If its map was not recorded.
    """
    given, heights = recordings.settings(recording), _first_map(recording, first)
    spacing, (ny, nx) = float(given["spacing"]), heights.shape
    corner = -0.5 * spacing * (nx - 1), -0.5 * spacing * (ny - 1)
    return make_ground(heights, corner, spacing, _wraps(given))


def _first_map(recording: xr.Dataset, first: int) -> Array:
    """The ground before an episode, which nothing has touched: (ny, nx) [m]."""
    maps, episodes = recording["heights"], recording["episode"].values
    every = maps.attrs.get("every", 1)
    frame = first if recordings.settings(recording)["terrain"] == "hills" else 0
    if frame % every:
        raise RecordingError(
            f"the map of episode {episodes[first]} was not recorded, and its hills are random; record it with "
            "map_every=1, or in a recording of its own"
        )
    heights = np.array(maps.isel({maps.dims[0]: frame // every}).values, np.float64)
    at = recording.isel(time=frame, rover=0)
    ny, nx = heights.shape
    change = at["height_change"].values
    rows, columns = (
        int(at["window_row"]) + np.arange(len(change)),
        int(at["window_column"]) + np.arange(change.shape[1]),
    )
    heights[np.ix_(rows % ny, columns % nx)] -= change
    return heights


def read_drives(paths: Sequence[Path], shape: Shape) -> list[Drive]:
    """All episodes of several recordings.

    Raises:
        RecordingError: If one cannot be read, lacks quantities, or has no episode that is long enough.
    """
    found = [drive for path in paths for drive in drives_of(open_drives(path), shape)]
    if not found:
        raise RecordingError("the recordings have no episode of at least 3 frames")
    return found


def replay(heights: Array, recording: xr.Dataset, first: int, end: int) -> None:
    """Change a map as it was recorded from one frame to before another."""
    part = recording.isel(time=slice(first, end), rover=0)
    for change, row, column in zip(
        part["height_change"].values, part["window_row"].values, part["window_column"].values, strict=True
    ):
        add_window(heights, int(row), int(column), change)
