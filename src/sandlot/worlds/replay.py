"""A recording as scenes again: its world is simulated with its seed and actions; a log is drawn from its scans."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xarray as xr

from sandlot import recordings
from sandlot.errors import RecordingError, quote
from sandlot.recordings.logs.recorded import check_scans, load_frames, scan_bearings
from sandlot.settings import build
from sandlot.typing import Array
from sandlot.worlds import WORLDS, load, world_id
from sandlot.worlds.base import World
from sandlot.worlds.scene import FRONT, RETURN, ROBOT, Area, Item, Points, Scene, Shape, upright

LOG_PIXELS, LOG_RADIUS, LOG_HEIGHT = 640, 0.25, 0.2
"""Longer side of a picture of a log, and radius and half the height of the robot in it [m]."""
TOLERANCE = 1e-6
"""A replayed reward may differ by this, and by a thousandth of itself: other machines round differently."""


@dataclass(frozen=True, eq=False)
class Moment:
    """One frame of a recording, to be drawn.

    Attributes:
        number: Of the frame.
        time: Since the start of the recording; goes on from one episode to the next [s].
        episode: Number of the episode.
        scene: What there is to draw.
        numbers: Quantities that are one number, by name.
    """

    number: int
    time: float
    episode: int
    scene: Scene
    numbers: Mapping[str, float]


def moments(path: str | Path, every: int = 1) -> Iterator[Moment]:
    """Replay a recording.

    Args:
        path: Of the recording.
        every: Only every so many frames are drawn; all are simulated.

    Raises:
        RecordingError: There is no recording, it is damaged, it has no actions, or this version of Sandlot, or this
            machine, does not repeat it.
    """
    with recordings.open(path) as dataset:
        if dataset.sizes["time"] == 0:
            raise RecordingError(f"{quote(path)} has no frames")
        name = next((each for each in WORLDS if world_id(each) == dataset.attrs.get("world")), None)
        yield from _scans(dataset, Path(path), every) if name is None else _replayed(dataset, name, path, every)


def steps_a_second(path: str | Path) -> float:
    """How many frames of a recording are a second of real time: as in the metadata of its world, or by its times."""
    with recordings.open(path) as dataset:
        name = next((each for each in WORLDS if world_id(each) == dataset.attrs.get("world")), None)
        if name is not None:
            return float(_world(dataset, name, path).metadata["render_fps"])
        gaps = np.diff(dataset["time"].values)
        usual = float(np.median(gaps[gaps > 0.0])) if (gaps > 0.0).any() else 1.0
        return 1.0 / usual


def _world(dataset: xr.Dataset, name: str, path: str | Path) -> World:
    kind = load(name)
    if "seed" not in dataset.attrs or "action" not in dataset:
        raise RecordingError(f"{quote(path)} cannot be replayed: it has no seed or no actions; record it with a seed")
    given, only = recordings.settings(dataset), kind.Settings.of_one_fidelity()
    fidelity = given.get("fidelity")
    return kind(settings=build(kind.Settings, {k: v for k, v in given.items() if only.get(k, fidelity) == fidelity}))


def _replayed(dataset: xr.Dataset, name: str, path: str | Path, every: int) -> Iterator[Moment]:
    world = _world(dataset, name, path)
    episodes, rewards, times = (_load(dataset, key, path) for key in ("episode", "reward", "time"))
    actions = _load(dataset, "action", path)
    offset = 0.0
    for number, episode in enumerate(episodes.tolist()):
        if number == 0 or episode != episodes[number - 1]:
            offset += float(times[number - 1]) if number else 0.0
            world.reset(seed=int(dataset.attrs["seed"]) if number == 0 else None)
        else:
            reward = float(world.step(actions[number])[1])
            if not abs(reward - rewards[number]) <= TOLERANCE + 1e-3 * abs(reward):
                raise RecordingError(
                    f"{quote(path)} cannot be replayed: frame {number} has a reward of {rewards[number]:g}, and here "
                    f"it is {reward:g}; it was recorded by Sandlot {dataset.attrs.get('version')}, or not with its seed"
                )
        if number % every == 0:
            frame = world.frame()
            plain = {key: float(value) for key, value in frame.items() if np.ndim(value) == 0 and key != "time"}
            plain["reward"] = float(rewards[number])
            yield Moment(number, offset + float(times[number]), int(episode), world.scene(), plain)


def _scans(dataset: xr.Dataset, path: Path, every: int) -> Iterator[Moment]:
    """Moments of a log: the robot and its scan."""
    check_scans(dataset, path)
    bearings = scan_bearings(dataset)
    poses = np.column_stack([_load(dataset, key, path) for key in ("x", "y", "yaw")])
    if not np.isfinite(poses).all(axis=1).any():
        poses = np.column_stack([_load(dataset, f"odometry_{key}", path) for key in ("x", "y", "yaw")])
    known = poses[np.isfinite(poses).all(axis=1)]
    if not len(known):
        raise RecordingError(f"{quote(path)} has no poses, so there is nothing to draw; map it first: sandlot map")
    low, high = known[:, :2].min(axis=0) - 8.0, known[:, :2].max(axis=0) + 8.0
    for number in range(0, len(poses), every):
        block = load_frames(dataset, slice(number, number + 1))
        pose, ranges = poses[number], block["ranges"].values[0].astype(np.float64)
        time = float(block["time"].values[0])
        numbers = {
            key: float(block[key].values[0]) for key in ("speed", "turn_rate") if np.isfinite(block[key].values[0])
        }
        numbers |= dict(zip(("x", "y", "yaw"), pose.tolist(), strict=True))
        yield Moment(number, time, 0, log_scene(pose, ranges, bearings, low, high, time), numbers)


def log_scene(pose: Array, ranges: Array, bearings: Array, low: Array, high: Array, time: float) -> Scene:
    """A robot at a pose (3,) [m, rad] and the returns of its scan, (beams,) ranges [m] and bearings [rad]."""
    x, y, yaw = pose
    seen = np.isfinite(ranges) & np.isfinite(pose).all()
    angles = yaw + bearings[seen]
    ends = np.column_stack([x + ranges[seen] * np.cos(angles), y + ranges[seen] * np.sin(angles), np.zeros(seen.sum())])
    nose = np.array([(1.0, 0.0), (0.3, 0.5), (0.3, -0.5)]) * LOG_RADIUS
    turned = nose @ np.array([[np.cos(yaw), np.sin(yaw)], [-np.sin(yaw), np.cos(yaw)]]) + (x, y)
    items: tuple[Item, ...] = (
        Points("returns", ends, 0.04, RETURN),
        Shape("robot", "cylinder", (LOG_RADIUS, LOG_HEIGHT), *upright(x, y, yaw=yaw), ROBOT),
        Area("nose", np.column_stack([turned, np.full(3, 2.0 * LOG_HEIGHT)]), FRONT),
    )
    legend = (("robot", ROBOT), ("front", FRONT), ("returns", RETURN))
    return Scene(items, low, high, LOG_PIXELS, caption=f"{time:.1f} s", legend=legend)


def _load(dataset: xr.Dataset, name: str, path: str | Path) -> Array:
    """All values of a quantity.

    Raises:
        RecordingError: It is missing or damaged.
    """
    if name not in dataset.variables:
        raise RecordingError(f"{quote(path)} has no {name}")
    try:
        return np.asarray(dataset[name].values)
    except Exception as error:  # Zarr and its codecs raise nearly every kind
        raise RecordingError(f"{quote(path)} is damaged: {name}: {type(error).__name__}: {quote(error)}") from error
