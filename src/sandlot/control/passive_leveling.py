"""Leveling by driving alone: the rules of Cook (2017), section 7.1.1, for any number of rovers at once.

A rover has no blade and no bucket. It walks at random, and what it measures of a hill decides what it does there:

- ``walk``: nothing. It only walks; the other rules are compared with this one.
- ``charge`` (Algorithm 6): while its nose points up by more than a threshold, it drives straight on, and faster.
- ``spin``: it goes on straight until its nose points down, so that it has passed a peak, and spins there for a while.
- ``memory``: it also keeps the peaks that it has found, by odometry, and returns to the highest now and then. It does
  not spin at a peak that is lower than the mean of those that it knows: the source calls that a local maximum.
- ``shared``: as ``memory``, but all rovers of a world keep their peaks together. They know where each of them started.

Where the source leaves a choice, it is made as follows:

- ``rand()`` is drawn anew every half to two and a half seconds, not in every frame of 10 ms: such commands would cancel
  out. The rover walks ahead and turns to either side.
- The threshold, the speeds, and how long a rover spins are settings; the source names no numbers.
- The memory has room for eight peaks, as many as the heights that agents keep in the source's section 4.2.1.
- The height of a peak counts above the mean of the heights where the rover has been in the last minutes, so that rovers
  that started at different heights can compare them, and drift matters less.
- A rover that has climbed for too long turns on the spot for a while, and walks on: on loose soil, wheels dig in before
  the peak, and it would stay there. One that has not reached a remembered peak in time forgets it: wheels slip, so that
  odometry drifts.
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from sandlot.control.controller import Controller, Observation
from sandlot.geometry.planar import wrap_compiled
from sandlot.kernels import kernel
from sandlot.kernels.randomness import streams, uniform
from sandlot.settings import Settings
from sandlot.typing import Array, IntArray

Kind: TypeAlias = Literal["walk", "charge", "spin", "memory", "shared"]
KINDS: tuple[Kind, ...] = get_args(Kind)
PEAKS = 8
"""Peaks that a memory has room for."""
PITCH, YAW, LEFT, RIGHT = 1, 2, 9, 10
"""Where an observation of the terrain world has pitch, yaw, and the speeds of the left and the right wheels."""
WALKING, CLIMBING, SPINNING, SEEKING = range(4)
MEAN_TIME = 120.0
"""Time constant of the mean height where a rover has been [s]."""
AHEAD = 0.5
"""A rover that seeks a peak turns on the spot until it points at it within this [rad]."""


class PassiveRule(Settings):
    """Which rule rovers follow, and its settings.

    Attributes:
        kind: ``walk``, ``charge``, ``spin``, ``memory`` or ``shared``.
        incline: A nose that points up by more than this is on a hill [rad].
        decline: A nose that points down by more than this has passed the peak [rad].
        climb: Speed on a hill, as a share of the rover's highest.
        climb_time: It gives up a hill after this time [s].
        walk: Highest speed of the random walk, as such a share.
        turn: Highest turn rate of the random walk, as a share of the rover's highest.
        hold: Shortest and longest time between random commands [s].
        spin: Turn rate at a peak, as a share of the rover's highest.
        spin_time: How long it spins there [s].
        seek_every: With a memory, it walks for this time before it returns to a peak [s].
        seek_time: It forgets a peak that it has not reached in this time [s].
        same: Peaks that are closer to each other than this are one [m].
        arrived: A peak is reached at this distance [m].
    """

    kind: Kind = "charge"
    incline: float = Field(0.1, ge=0.0, le=1.5)
    decline: float = Field(0.02, ge=0.0, le=1.5)
    climb: float = Field(1.0, gt=0.0, le=1.0)
    climb_time: float = Field(10.0, gt=0.0)
    walk: float = Field(0.6, gt=0.0, le=1.0)
    turn: float = Field(0.4, ge=0.0, le=1.0)
    hold: tuple[float, float] = (0.5, 2.5)
    spin: float = Field(0.8, gt=0.0, le=1.0)
    spin_time: float = Field(5.0, gt=0.0)
    seek_every: float = Field(20.0, ge=0.0)
    seek_time: float = Field(20.0, gt=0.0)
    same: float = Field(0.3, ge=0.0)
    arrived: float = Field(0.1, gt=0.0)


MIND = np.dtype(
    [
        ("stream", np.uint64),
        ("doing", np.int64),
        ("frames", np.int64),
        ("walked", np.int64),
        ("side", np.float64),
        ("command", np.float64, 2),
        ("position", np.float64, 3),
        ("mean", np.float64),
        ("goal", np.float64, 2),
        ("climbs", np.int64),
        ("stuck", np.int64),
        ("spins", np.int64),
        ("visits", np.int64),
    ],
    align=True,
)
"""What one rover remembers.

``frames``: left of a random command, a spin or a search; ``walked``: since the last search; ``side``: 1 or -1, which
way it spins; ``command``: random forward speed [m/s] and turn rate [rad/s]; ``position``: x, y and height above the
start, by odometry [m]; ``mean``: of that height [m]; ``goal``: x and y of the peak that it seeks [m]; ``climbs``,
``stuck``, ``spins``, ``visits``: hills, hills that it gave up, spins at peaks, and remembered peaks that it reached.
"""


class Limits(NamedTuple):
    """A rule in numbers, for kernels: frames [1], angles [rad], lengths [m], and shares of the highest speeds.

    Attributes:
        kind: Index into ``KINDS``.
        shared: Whether all rovers keep their peaks together.
    """

    kind: int
    shared: bool
    incline: float
    decline: float
    climb: float
    climb_frames: int
    walk: float
    turn: float
    shortest: float
    longest: float
    spin: float
    spin_frames: int
    seek_every: int
    seek_frames: int
    same: float
    arrived: float
    interval: float


@kernel(error_model="numpy", allocates=False)
def remember(peaks: Array, known: IntArray, x: float, y: float, z: float, same: float) -> None:
    """Keep a peak: it replaces one at the same place, or else the lowest if there is no room and that one is lower.

    Args:
        peaks: (PEAKS, 3) x, y and height [m].
        known: (1,) how many of them are in use.
        x: Of the peak [m].
        y: Of the peak [m].
        z: Its height [m].
        same: Peaks that are closer to each other than this are one [m].
    """
    at, lowest = -1, 0
    for k in range(known[0]):
        if math.hypot(peaks[k, 0] - x, peaks[k, 1] - y) < same:
            at = k
        if peaks[k, 2] < peaks[lowest, 2]:
            lowest = k
    if at < 0 and known[0] < len(peaks):
        at = known[0]
        known[0] += 1
    elif at < 0 and peaks[lowest, 2] < z:
        at = lowest
    if at >= 0:
        peaks[at, 0], peaks[at, 1], peaks[at, 2] = x, y, z


@kernel(error_model="numpy", allocates=False)
def forget(peaks: Array, known: IntArray, x: float, y: float, same: float) -> None:
    """Drop the peaks that are closer to a place than ``same``; arguments as of `remember`."""
    k = 0
    while k < known[0]:
        if math.hypot(peaks[k, 0] - x, peaks[k, 1] - y) < same:
            known[0] -= 1
            for m in range(3):
                peaks[k, m] = peaks[known[0], m]
        else:
            k += 1


@kernel(error_model="numpy", allocates=False)
def is_high(peaks: Array, known: IntArray, z: float) -> bool:
    """Whether a height [m] is at least the mean of the known peaks."""
    total = 0.0
    for k in range(known[0]):
        total += peaks[k, 2]
    return z * known[0] >= total


@kernel(error_model="numpy", allocates=False)
def start_turn(mind: np.void, limits: Limits) -> None:
    """Let a rover turn on the spot, to a random side."""
    mind["doing"], mind["frames"] = SPINNING, limits.spin_frames
    mind["side"] = 1.0 if uniform(mind) < 0.5 else -1.0


@kernel(error_model="numpy", allocates=False)
def start_walk(mind: np.void) -> None:
    """Let a rover walk, with a new random command."""
    mind["doing"], mind["frames"] = WALKING, 0


@kernel(error_model="numpy", allocates=False)
def plan(mind: np.void, up: float, limits: Limits, peaks: Array, known: IntArray) -> None:
    """Decide what a rover does next.

    Args:
        mind: Of MIND; changed in place.
        up: How far its nose points up [rad].
        limits: The rule.
        peaks: (PEAKS, 3) that it knows, as of `remember`; changed in place.
        known: (1,) how many; changed in place.
    """
    x, y, z = mind["position"][0], mind["position"][1], mind["position"][2] - mind["mean"]
    remembers = limits.kind >= 3
    mind["frames"] -= 1
    if mind["doing"] == SPINNING:
        if mind["frames"] < 0:
            start_walk(mind)
            mind["walked"] = 0
    elif mind["doing"] == SEEKING:
        if math.hypot(mind["goal"][0] - x, mind["goal"][1] - y) < limits.arrived:
            mind["visits"] += 1
            remember(peaks, known, x, y, z, limits.same)
            mind["spins"] += 1
            start_turn(mind, limits)
        elif mind["frames"] < 0:
            forget(peaks, known, mind["goal"][0], mind["goal"][1], limits.same)
            start_walk(mind)
            mind["walked"] = 0
    elif mind["doing"] == CLIMBING:
        if mind["frames"] < 0:
            mind["stuck"] += 1
            start_turn(mind, limits)
        elif limits.kind == 1:
            if up <= limits.incline:
                start_walk(mind)
        elif up < -limits.decline:
            if remembers:
                remember(peaks, known, x, y, z, limits.same)
            if remembers and not is_high(peaks, known, z):
                start_walk(mind)
            else:
                mind["spins"] += 1
                start_turn(mind, limits)
    else:
        mind["walked"] += 1
        if limits.kind > 0 and up > limits.incline:
            mind["doing"], mind["frames"] = CLIMBING, limits.climb_frames
            mind["climbs"] += 1
        elif remembers and known[0] > 0 and mind["walked"] > limits.seek_every:
            highest = 0
            for k in range(known[0]):
                if peaks[k, 2] > peaks[highest, 2]:
                    highest = k
            mind["goal"][0], mind["goal"][1] = peaks[highest, 0], peaks[highest, 1]
            mind["doing"], mind["frames"] = SEEKING, limits.seek_frames


@kernel(error_model="numpy", allocates=False)
def decide(
    minds: NDArray[np.void],
    observed: Array,
    speeds: Array,
    radius: Array,
    limits: Limits,
    peaks: Array,
    known: IntArray,
    commands: Array,
) -> None:
    """Choose the next command of every rover of a world.

    Args:
        minds: (rovers,) of MIND; changed in place.
        observed: (rovers, 11 or more) as the terrain world gives them.
        speeds: (rovers, 2) highest forward speed [m/s] and turn rate [rad/s].
        radius: (rovers,) of the wheels [m].
        limits: The rule.
        peaks: (memories, PEAKS, 3) as of `remember`; one memory for each rover, or the first for all.
        known: (memories, 1)
        commands: (rovers, 2) receives forward speeds [m/s] and turn rates to the left [rad/s].
    """
    for k in range(len(minds)):
        mind, seen, own = minds[k], observed[k], 0 if limits.shared else k
        up, yaw = -float(seen[PITCH]), float(seen[YAW])  # pitch is positive with the nose down
        rolled = 0.5 * radius[k] * (float(seen[LEFT]) + float(seen[RIGHT])) * limits.interval
        mind["position"][0] += rolled * math.cos(up) * math.cos(yaw)
        mind["position"][1] += rolled * math.cos(up) * math.sin(yaw)
        mind["position"][2] += rolled * math.sin(up)
        mind["mean"] += (mind["position"][2] - mind["mean"]) * limits.interval / MEAN_TIME
        plan(mind, up, limits, peaks[own], known[own])
        if mind["doing"] == SPINNING:
            commands[k, 0], commands[k, 1] = 0.0, mind["side"] * limits.spin * speeds[k, 1]
        elif mind["doing"] == CLIMBING:
            commands[k, 0], commands[k, 1] = limits.climb * speeds[k, 0], 0.0
        elif mind["doing"] == SEEKING:
            x, y = mind["goal"][0] - mind["position"][0], mind["goal"][1] - mind["position"][1]
            error = wrap_compiled(math.atan2(y, x) - yaw)
            turn = min(max(2.0 * error / math.pi, -1.0), 1.0) * limits.spin
            speed = limits.climb if up > limits.incline else limits.walk
            commands[k, 0] = speed * speeds[k, 0] if abs(error) < AHEAD else 0.0
            commands[k, 1] = turn * speeds[k, 1]
        else:
            if mind["frames"] <= 0:
                held = limits.shortest + uniform(mind) * (limits.longest - limits.shortest)
                mind["frames"] = round(held / limits.interval)
                mind["command"][0] = uniform(mind) * limits.walk * speeds[k, 0]
                mind["command"][1] = (2.0 * uniform(mind) - 1.0) * limits.turn * speeds[k, 1]
            commands[k, 0], commands[k, 1] = mind["command"][0], mind["command"][1]


class PassiveLeveling(Controller):
    """A rule as a controller of the terrain world.

    Attributes:
        rule: The rule.
        minds: (members, rovers) of MIND: what each rover of each member of the batch remembers.
        peaks: (members, rovers, PEAKS, 3) x, y and height of the peaks in each memory [m]; a shared memory is that of
            the first rover.
        known: (members, rovers, 1) how many of these are in use.
    """

    def __init__(
        self, rule: PassiveRule, speeds: ArrayLike, radius: ArrayLike, starts: ArrayLike, interval: float
    ) -> None:
        """Prepare for these rovers.

        Args:
            rule: The rule.
            speeds: (rovers, 2) highest forward speed [m/s] and turn rate [rad/s].
            radius: (rovers,) of their wheels [m].
            starts: (rovers, 2 or more) x and y where each starts [m]; only a shared memory needs them.
            interval: Between observations [s].
        """
        self.rule = rule
        self._speeds, self._radius = np.asarray(speeds, np.float64), np.asarray(radius, np.float64)
        self._starts = np.asarray(starts, np.float64)[:, :2]
        climb_frames, spin_frames, seek_every, seek_frames = (
            round(time / interval) for time in (rule.climb_time, rule.spin_time, rule.seek_every, rule.seek_time)
        )
        self._limits = Limits(
            kind=KINDS.index(rule.kind),
            shared=rule.kind == "shared",
            incline=rule.incline,
            decline=rule.decline,
            climb=rule.climb,
            climb_frames=climb_frames,
            walk=rule.walk,
            turn=rule.turn,
            shortest=rule.hold[0],
            longest=rule.hold[1],
            spin=rule.spin,
            spin_frames=spin_frames,
            seek_every=seek_every,
            seek_frames=seek_frames,
            same=rule.same,
            arrived=rule.arrived,
            interval=interval,
        )
        self.reset([])

    def reset(self, seeds: Sequence[np.random.SeedSequence], members: Sequence[int] | None = None) -> None:
        """Begin new episodes; each seed determines the random walks of one member's rovers."""
        count = len(self._speeds)
        if members is None:
            members = range(len(seeds))
            self.minds = np.zeros((len(seeds), count), MIND)
            self.peaks, self.known = np.zeros((len(seeds), count, PEAKS, 3)), np.zeros((len(seeds), count, 1), np.int64)
        for member, seed in zip(members, seeds, strict=True):
            mind = self.minds[member]
            mind[:] = np.zeros((), MIND)
            mind["stream"], mind["position"][:, :2] = streams(seed, count), self._starts
            self.known[member] = 0

    def act(self, observations: Observation, members: Sequence[int] | None = None) -> Array:
        """The commands of the next frame: (n, rovers, 2) [m/s, rad/s]."""
        which = range(len(self.minds)) if members is None else members
        commands = np.zeros((len(observations), *self._speeds.shape))
        for member, seen, command in zip(which, observations, commands, strict=True):
            decide(
                self.minds[member],
                np.asarray(seen, np.float64),
                self._speeds,
                self._radius,
                self._limits,
                self.peaks[member],
                self.known[member],
                command,
            )
        return commands
