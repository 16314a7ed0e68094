"""A recorded drive of a rover as soil is fitted to it: where it was, how its wheels turned, and the ground under it."""

import math
from collections.abc import Container, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.ndimage
import xarray as xr

from sandlot import recordings
from sandlot.errors import RecordingError
from sandlot.recordings.needs import COMMANDS, GROUND, MESSAGES, SOIL
from sandlot.surrogates.terrain.recorded import episodes_of, ground_before, replay
from sandlot.typing import Array

WHEELS = ("wheel_speed_left", "wheel_speed_right")
SHIFT = ("dx", "dy")
TILT = ("z", "roll", "pitch")
TERRAIN = "sandlot/Terrain-v0"
SPACING = 0.01
"""Of nodes of level ground, where none was recorded [m]."""
MARGIN = 0.5
"""Level ground reaches so far around the path [m]."""
MAX_INTERVAL = 0.2
"""Longest time between frames [s]: wheels turn at a constant speed in between."""
UNEVEN = 1e-3
"""Intervals whose relative difference is less than this count as equal."""


@dataclass(frozen=True, eq=False)
class RoverLog:
    """A drive of T frames.

    Attributes:
        name: Of its recording.
        interval: Between frames [s].
        position: (T, 2) of the chassis, without jumps where the ground wraps [m].
        yaw: (T,) without jumps [rad].
        wheels: (T, 2) speeds of the left and the right wheels [rad/s].
        commands: (T, 2) forward speed [m/s] and turn rate [rad/s] until each frame; None if wheels are to turn as
            recorded.
        tilt: (T, 3) height of the chassis [m], roll and pitch [rad]; None if unknown.
        heights: (ny, nx) of the ground before the drive [m].
        corner: x and y of the first node [m].
        spacing: Of nodes [m].
        wrap: Whether the ground continues at its opposite edge.
        maps: (n, ny, nx) heights after every ``map_frames`` frames [m]; empty if not recorded.
        map_frames: Between these maps.
        grain: Radius of the grains that the ground is made of, if they are seen [m]; else 0. Where its surface is, is
            then known only to about this length.
    """

    name: str
    interval: float
    position: Array
    yaw: Array
    wheels: Array
    commands: Array | None
    tilt: Array | None
    heights: Array
    corner: tuple[float, float]
    spacing: float
    wrap: bool
    maps: Array
    map_frames: int
    grain: float

    @property
    def seconds(self) -> float:
        """Duration [s]."""
        return self.interval * (len(self.yaw) - 1)


def read_logs(path: Path, seconds: float, window: float) -> list[RoverLog]:
    """The drives of a recording, of each its beginning.

    Args:
        path: Of the recording.
        seconds: Of each drive that are used at most [s].
        window: Time between maps of the ground [s]; shorter drives are left out.

    Raises:
        RecordingError: If it cannot be read, has several rovers, or quantities are missing; the message names them.
    """
    recording = recordings.open(path)
    check_quantities(recording, path)
    if recording.sizes.get("rover", 1) > 1:
        raise RecordingError(f"{path} has {recording.sizes['rover']} rovers; soil is fitted to recordings of one")
    simulated = recording.attrs.get("world") == TERRAIN
    has_ground = all(name in recording for name in (*GROUND, *TILT))
    found = []
    for first, end in episodes_of(recording) if "episode" in recording else [(0, recording.sizes["time"])]:
        times = recording["time"].values[first:end]
        interval = interval_of(times, path)
        end = min(end, first + 1 + round(seconds / interval))
        if (end - first - 1) * interval < window - 1e-9:
            continue
        part = recording.isel(time=slice(first, end))
        part = part.isel(rover=0) if "rover" in part.dims else part
        names = [name for name in (*SOIL, *SHIFT, *TILT, *COMMANDS) if name in part]
        columns = {name: part[name].values.astype(np.float64) for name in names}
        ground = _recorded_ground(recording, first, end, round(window / interval)) if has_ground else None
        found.append(make_log(path, interval, columns, simulated, ground))
    return found


def check_quantities(names: Container[Any], path: Path) -> None:
    """Refuse a log that lacks quantities.

    Raises:
        RecordingError: The message names them.
    """
    missing = [name for name in ("time", *SOIL) if name not in names]
    if missing:
        raise RecordingError(MESSAGES[SOIL].format(path=path, missing=", ".join(missing), all=", ".join(SOIL)))


def interval_of(times: Array, path: Path) -> float:
    """Between frames [s].

    Raises:
        RecordingError: If they are not equally far apart in time, or too far.
    """
    steps = np.diff(times)
    if not len(steps) or not steps.min() > 0.0 or steps.max() - steps.min() > UNEVEN * steps.mean() + 1e-9:
        raise RecordingError(f"{path} has frames at uneven times; soil is fitted to logs with equal intervals")
    interval = float(np.round(steps.mean(), 9))
    if interval > MAX_INTERVAL:
        raise RecordingError(f"{path} has a frame every {interval:g} s; allowed: at most {MAX_INTERVAL:g} s")
    return interval


def make_log(
    path: Path, interval: float, columns: Mapping[str, Array], simulated: bool, ground: Mapping[str, Any] | None
) -> RoverLog:
    """A log of columns (frames,) by name.

    Args:
        path: For its name, and for messages.
        interval: Between frames [s].
        columns: At least `SOIL`.
        simulated: Whether the terrain world made it, whose motors follow commands as simulated here.
        ground: Fields of `RoverLog` about the ground; level ground if left out.

    Raises:
        RecordingError: If there are NaN or infinity.
    """
    for name, values in columns.items():
        if not np.isfinite(values).all():
            raise RecordingError(f"{path}: {name} has NaN or infinity; soil is fitted to whole logs")

    def together(names: tuple[str, ...]) -> Array:
        return np.column_stack([columns[name] for name in names])

    position = together(("x", "y"))
    if simulated:  # x and y jump where the ground wraps, dx and dy do not
        position[1:] = position[0] + np.cumsum(together(SHIFT)[1:], axis=0)
    commands = together(COMMANDS) if simulated else None
    tilt = together(TILT) if ground is not None else None
    about = _level_ground(position) if ground is None else ground
    yaw: Array = np.unwrap(columns["yaw"]).astype(np.float64, copy=False)
    return RoverLog(path.name, interval, position, yaw, together(WHEELS), commands, tilt, **about)


def _recorded_ground(recording: xr.Dataset, first: int, end: int, every: int) -> dict[str, Any]:
    ground, given = ground_before(recording, first), recordings.settings(recording)
    grain = float(given["particles"]["radius"]) if given.get("ground") == "particles" else 0.0
    now, maps = ground.heights, []
    before = envelope(now, grain, ground.spacing)
    for begin in range(first, end - every, every):
        replay(now, recording, begin if begin == first else begin + 1, begin + every + 1)
        maps.append(envelope(now, grain, ground.spacing))
    return {
        "heights": before,
        "corner": (ground.x0, ground.y0),
        "spacing": ground.spacing,
        "wrap": ground.wrap,
        "maps": np.array(maps),
        "map_frames": every,
        "grain": grain,
    }


def envelope(heights: Array, grain: float, spacing: float) -> Array:
    """What wheels that are larger than grains stand on: the tops of grains, averaged over a few: (ny, nx) [m].

    Args:
        heights: (ny, nx) [m].
        grain: Radius of grains [m]; 0 for a smooth surface, which stays as it is.
        spacing: Of nodes [m].
    """
    if grain == 0.0:
        return heights.copy()
    size = 2 * math.ceil(grain / spacing) + 1
    return np.asarray(scipy.ndimage.gaussian_filter(scipy.ndimage.maximum_filter(heights, size), 0.5 * size))


def _level_ground(position: Array) -> dict[str, Any]:
    low = position.min(axis=0) - MARGIN
    nx, ny = (np.ceil((position.max(axis=0) + MARGIN - low) / SPACING).astype(int) + 1).tolist()
    return {
        "heights": np.zeros((ny, nx)),
        "corner": tuple(low.tolist()),
        "spacing": SPACING,
        "wrap": False,
        "maps": np.zeros((0, ny, nx)),
        "map_frames": 1,
        "grain": 0.0,
    }
