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
from sandlot.surrogates.terrain.contact import SEEN, give_of
from sandlot.surrogates.terrain.drives import Drive
from sandlot.surrogates.terrain.feet import STANCE, Ground, has_moved, make_ground, stand
from sandlot.surrogates.terrain.imprint import MAX_FEET, stand_on
from sandlot.surrogates.terrain.inputs import NO_SOIL, soil_inputs
from sandlot.surrogates.terrain.looking import ABOVE, NEVER, STATE, has_left, higher, look_below
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


def open_drives(path: Path, kind: SoilKind | None = None) -> xr.Dataset:
    """Open a recording that has all that a learned rover is trained on.

    Args:
        path: Of the recording.
        kind: Soil that its ground is taken for, if it was not recorded on soil.

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
    known = kind_of(recordings.settings(recording)) is not None
    return recording if kind is None or known else recording.assign_attrs(taken_for=kind.model_dump_json())


def soil_below(recording: xr.Dataset) -> SoilKind | None:
    """The soil that a recording was made on, or is taken for; None for other ground."""
    if "taken_for" in recording.attrs:
        return SoilKind.model_validate_json(recording.attrs["taken_for"])
    return kind_of(recordings.settings(recording))


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
    lever: float,
    give: Give,
    state: np.void,
    held: Array,
    springs: Springs,
    ground: Ground,
    poses: Poses,
    rows: IntArray,
    columns: IntArray,
    changes: NDArray[np.float32],
    deforms: bool,
    seen: Array,
    rests: Array,
) -> None:
    """Follow a recorded drive: look at the ground as a learned rover does, and change it as was recorded.

    Args:
        body: The rover.
        lever: As of `has_moved` [m].
        give: How the ground gives way.
        state: Of STATE; changed in place.
        held: (SEEN,) what was seen last; changed in place.
        springs: Room for those below the rover.
        ground: As it was in the frame before the first; changed in place.
        poses: Of all frames.
        rows: (frames,) of the first node of each window.
        columns: (frames,) of the same.
        changes: (frames, rows, columns) [m].
        deforms: Whether the ground yields.
        seen: (frames, SEEN) what is seen in each frame, to be filled.
        rests: (frames,) heights at which the rover would rest, to be filled [m].
    """
    stances = np.zeros(len(body.feet), STANCE)
    position, attitude, before, turned = (
        state["position"],
        state["attitude"],
        state["last_position"],
        state["last_attitude"],
    )
    for k in range(len(rows)):
        for m in range(3):
            position[m], attitude[m] = poses.position[k, m], poses.attitude[k, m]
        for m in range(2):
            state["wheels"][m] = poses.wheels[k, m]
        if has_left(lever, state):
            look_below(body, give, state, ground, springs, held)
        rests[k] = state["at_rest"][0] + higher(state)
        for m in range(SEEN):
            seen[k, m] = held[m]
        add_window(ground.heights, rows[k], columns[k], changes[k])
        state["waited"] += 1
        if deforms and has_moved(position, attitude, before, turned, lever, ground.spacing):
            frame = 1 if state["since"] == NEVER else state["since"] // MAX_FEET + 1
            stand(body.feet, position, attitude, stances)
            stand_on(ground, body.feet, stances, give, frame, springs.covers[0])
            state["since"], state["waited"] = frame * MAX_FEET, 0
            state["imprints"] += 1
            for m in range(3):
                before[m], turned[m] = position[m], attitude[m]


class Follower:
    """Follows a recorded episode.

    Attributes:
        ground: As it is now.
        state: (1,) of STATE: where the rover is now, and what it has seen.
    """

    def __init__(self, recording: xr.Dataset, shape: Shape, soil: Array, first: int) -> None:
        """Begin before the first frame of an episode."""
        self._recording, self._shape, self._first, self._now = recording, shape, first, first
        self._give = give_of(soil, shape)
        self._deforms = ground_yields(recording)
        self.ground, self.state, self._held = ground_before(recording, first), np.zeros(1, STATE), np.zeros(SEEN)
        self._springs = make_springs(shape.feet, self.ground.spacing)
        self.state["since"], self.state["looked"] = NEVER, np.nan

    def follow(self, poses: Poses, end: int) -> tuple[Array, Array]:
        """Follow until before a frame; returns what is seen (frames, SEEN), and heights at rest (frames,) [m]."""
        shape, frames, state = self._shape, range(self._now, end), self.state[0]
        seen, rests = np.zeros((len(frames), SEEN)), np.zeros(len(frames))
        if self._now == self._first:
            height, (roll, pitch, _) = poses.position[1, 2], poses.attitude[1]
            state["at_rest"] = height, pitch, roll
            state["last_position"], state["last_attitude"] = poses.position[1] + (0.0, 0.0, ABOVE), poses.attitude[1]
        for low in range(0, len(frames), CHUNK):
            part = frames[low : low + CHUNK]
            some = self._recording[["window_row", "window_column", "height_change"]].isel(
                time=slice(part.start, part.stop), rover=0
            )
            at, done = slice(part.start - self._first + 1, part.stop - self._first + 1), slice(low, low + len(part))
            follow(
                shape.body,
                shape.lever,
                self._give,
                state,
                self._held,
                self._springs,
                self.ground,
                Poses(poses.position[at], poses.attitude[at], poses.wheels[at]),
                np.ascontiguousarray(some["window_row"].values),
                np.ascontiguousarray(some["window_column"].values),
                np.ascontiguousarray(some["height_change"].values),
                self._deforms,
                seen[done],
                rests[done],
            )
        self._now = end
        return seen, rests


def ground_yields(recording: xr.Dataset) -> bool:
    """Whether the ground of a recording yields."""
    return bool(recordings.settings(recording).get("ground", "soil") != "rigid")


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
    kind, part = soil_below(recording), recording.isel(time=slice(first, end), rover=0)
    column = {name: part[name].values.astype(np.float64) for name in (*MOTION, *COMMANDS)}
    shift = np.column_stack([column["dx"], column["dy"]])
    shift[0] = 0.0
    start = np.array([column["x"][0], column["y"][0]])
    position = np.column_stack([start + np.cumsum(shift, axis=0), column["z"]])
    attitude = np.column_stack([column["roll"], column["pitch"], column["yaw"]])
    # One frame before the first: the rover is where it will be, and nothing has touched the ground.
    position, attitude = np.vstack([position[:1], position]), np.vstack([attitude[:1], attitude])
    wheels = np.column_stack([column["wheel_speed_left"], column["wheel_speed_right"]])
    wheels = np.vstack([wheels[:1], wheels])
    soil = NO_SOIL if kind is None else soil_inputs(kind, shape)
    seen, middles = Follower(recording, shape, soil, first).follow(Poses(position, attitude, wheels), end)
    commands = np.column_stack([column[name] for name in COMMANDS])
    commands[0] = 0.0
    interval, deforms = float(given["interval"]), ground_yields(recording)
    return Drive(position, attitude, wheels, commands, seen, middles, soil, interval, kind, deforms)


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


def read_drives(paths: Sequence[Path], shape: Shape, kind: SoilKind | None = None) -> list[Drive]:
    """All episodes of several recordings; arguments as of `open_drives` and `drives_of`.

    Raises:
        RecordingError: If one cannot be read, lacks quantities, or has no episode that is long enough.
    """
    found = [drive for path in paths for drive in drives_of(open_drives(path, kind), shape)]
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
