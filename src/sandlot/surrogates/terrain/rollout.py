"""Drives learned rovers for many frames in one call."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.models.dense import BLOCK
from sandlot.physics.soil import SoilKind
from sandlot.surrogates.terrain.drives import MOVES, RESTS, Drive
from sandlot.surrogates.terrain.feet import Ground
from sandlot.surrogates.terrain.ground_model import GroundModel
from sandlot.surrogates.terrain.imprint import MAX_FEET
from sandlot.surrogates.terrain.motion_model import MotionModel
from sandlot.surrogates.terrain.recorded import Follower, Poses, drives_of, episodes_of, open_drives
from sandlot.surrogates.terrain.step import Learned, Maps, Scratch, advance, make_maps, make_scratch
from sandlot.typing import Array, IntArray

LEAST_DEVIATION = 0.02
"""Few members may agree by chance. Where they end is said to deviate by this share of the distance driven, too."""
MIN_DISTANCE = 0.05
"""Stretches in which the rover drove less than this are not compared [m]."""


class RunError(NamedTuple):
    """How far a free run ended from where the recording did.

    Attributes:
        distance: Driven in the recording [m].
        error: Of the first member of the ensemble [m].
        mean_error: Of the mean of all members [m].
        deviation: Standard deviation of where members end, and `LEAST_DEVIATION` besides [m].
    """

    distance: float
    error: float
    mean_error: float
    deviation: float


class FreeRun(NamedTuple):
    """A stretch of a recording, driven again by its commands alone.

    Attributes:
        recorded: (frames + 1, 2) where the rover was [m].
        driven: (members, frames, 6) where each member of the ensemble is, as of `free_run`.
        error: At the end.
    """

    recorded: Array
    driven: Array
    error: RunError


@kernel(error_model="numpy", nogil=True)
def drive_on(
    learned: Learned,
    states: NDArray[np.void],
    seen: Array,
    soils: Array,
    commands: Array,
    maps: Maps,
    where: IntArray,
    spreading: Array,
    deforms: bool,
    scratch: Scratch,
    poses: Array,
) -> None:
    """Drive for several frames.

    Arguments are as of `advance`, but ``commands`` (frames, n, 2); rovers of a map follow each other. ``poses``
    (frames, n, 6) receives position [m] and attitude [rad] of each frame; it may be empty.
    """
    # Rovers on different maps do not meet, nor do those that do not change the ground: they drive all frames while
    # their part of the memory is in the cache.
    low = 0
    while low < len(states):
        high = min(low + BLOCK, len(states))
        if deforms:
            high = low + 1
            while high < len(states) and where[high] == where[low]:
                high += 1
        part = slice(low, high)
        for k in range(len(commands)):
            advance(
                learned,
                states[part],
                seen[part],
                soils[part],
                commands[k, part],
                maps,
                where[part],
                spreading[part],
                deforms,
                scratch,
            )
            if len(poses):
                for r in range(low, high):
                    for m in range(3):
                        poses[k, r, m], poses[k, r, 3 + m] = states[r]["position"][m], states[r]["attitude"][m]
        low = high


def drive_many(
    learned: Learned,
    states: NDArray[np.void],
    seen: Array,
    soils: Array,
    commands: Array,
    maps: Maps,
    where: IntArray,
    spreading: Array,
    deforms: bool,
    threads: int = 1,
) -> None:
    """Drive many rovers for several frames, on several threads; the result does not depend on their number.

    Arguments are as of `drive_on`; ``where`` must not decrease, so that the rovers of a map stay in one thread.
    """
    count = len(states)
    cuts = [round(k * count / threads) for k in range(threads + 1)]
    if deforms:
        cuts = [int(np.searchsorted(where, where[cut])) if cut < count else count for cut in cuts]

    def drive_part(low: int, high: int) -> None:
        part = slice(low, high)
        drive_on(
            learned,
            states[part],
            seen[part],
            soils[part],
            np.ascontiguousarray(commands[:, part]),
            maps,
            where[part],
            spreading[part],
            deforms,
            make_scratch(learned, maps.spacing),
            np.zeros((0, 0, 0)),
        )

    parts = [(low, high) for low, high in pairwise(cuts) if high > low]
    with ThreadPoolExecutor(threads) as pool:
        for each in [pool.submit(drive_part, *part) for part in parts]:
            each.result()


def free_run(
    model: MotionModel,
    ground: GroundModel,
    drive: Drive,
    start: Ground,
    state: NDArray[np.void],
    frame: int,
    frames: int,
) -> Array:
    """Drive as was commanded in a recording, from one of its frames on, by every member of the ensemble.

    Args:
        model: How the rover moves.
        ground: How it changes the ground.
        drive: Recorded.
        start: The ground of that frame.
        state: (1,) of STATE: where the rover is, and what it has seen.
        frame: At least 1.
        frames: How many to drive.

    Returns:
        (members, frames, 6) position [m] and attitude [rad].
    """
    members = len(model.drives)
    found, grips = np.zeros((members, frames, 6)), drive.grips(model.shape)
    spreading, deforms = ground.spreading(drive.kind)[None], drive.deforms
    for member in range(members):
        states, start_state = state.copy(), drive.states[frame - 1]
        states["motion"], states["rest"], states["change"] = start_state[:3], start_state[RESTS], start_state[-MOVES:]
        states["grip"] = grips[frame - 2] if frame > 1 else 0.0
        maps = make_maps(start.heights[None].copy(), start.initial[None], start.x0, start.y0, start.spacing, start.wrap)
        maps.firm[0], maps.marks[0], maps.covered[0], maps.surface[0] = (
            start.firm,
            start.marks,
            start.covered,
            start.surface,
        )
        maps.frames[0] = states["since"][0] // MAX_FEET
        learned = model.learned(member)
        poses = np.zeros((frames, 1, 6))
        drive_on(
            learned,
            states,
            drive.seen[frame - 1 : frame].copy(),
            model.soils(drive.soil[None], member),
            np.ascontiguousarray(drive.commands[frame : frame + frames, None]),
            maps,
            np.zeros(1, np.int64),
            spreading,
            deforms,
            make_scratch(learned, maps.spacing),
            poses,
        )
        found[member] = poses[:, 0]
    return found


def end_errors(
    model: MotionModel,
    ground: GroundModel,
    path: Path,
    seconds: float = 10.0,
    count: int = 20,
    kind: SoilKind | None = None,
) -> Iterator[RunError]:
    """Where `free_runs` end."""
    return (run.error for run in free_runs(model, ground, path, seconds, count, kind))


def free_runs(
    model: MotionModel,
    ground: GroundModel,
    path: Path,
    seconds: float = 10.0,
    count: int = 20,
    kind: SoilKind | None = None,
) -> Iterator[FreeRun]:
    """Drive stretches of a recording again without looking at it, and compare where they end.

    Args:
        model: How the rover moves.
        ground: How it changes the ground.
        path: Of the recording.
        seconds: Length of a stretch [s].
        count: Stretches of each episode at most, evenly apart.
        kind: As of `open_drives`.

    Raises:
        RecordingError: If it cannot be read, or lacks quantities.
    """
    recording = open_drives(path, kind)
    for (first, end), drive in zip(episodes_of(recording), drives_of(recording, model.shape), strict=True):
        span = round(seconds / drive.interval)
        every = max((end - first - 2) // span // count, 1) * span
        follower = Follower(recording, model.shape, drive.soil, first)
        # Frame k of the recording is frame k + 1 of the drive, which begins before the rover settles.
        for begin in range(first, end - span - 1, every):
            follower.follow(Poses(drive.position, drive.attitude, drive.wheels), begin + 1)
            frame = begin - first + 1
            runs = free_run(model, ground, drive, follower.ground, follower.state, frame, span)
            truth = drive.position[frame : frame + span + 1, :2]
            distance = float(np.hypot(*np.diff(truth, axis=0).T).sum())
            if distance > MIN_DISTANCE:
                ends = runs[:, -1, :2]
                error = RunError(
                    distance,
                    float(np.hypot(*(ends[0] - truth[-1]))),
                    float(np.hypot(*(ends.mean(axis=0) - truth[-1]))),
                    float(np.sqrt(ends.var(axis=0).sum() + (LEAST_DEVIATION * distance) ** 2)),
                )
                yield FreeRun(truth, runs, error)
