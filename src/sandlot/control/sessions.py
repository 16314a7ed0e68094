"""Driving to gather data: Algorithm 5 of Cook (2017), section 5.3, for any number of rovers at once.

A session of n frames has eight blocks: forwards, backwards, turning left, turning right, then the four combinations.
Every 250 frames each rover draws a new r from 0.25 to 1, by which the speeds of its block are multiplied. Observations
are ignored.

The source's full speeds are 3 of its units a second and pi/2 rad/s. Here they are the rover's own: all that its motors
can give forwards, and 0.6 of that for turning, which for the Rover 5 are 0.25 m/s and pi/2 rad/s, the same at the scale
at which 12 of the source's units are a metre. Where a combination of the two is more than the motors can give, the
rover drives the same curve more slowly (`sandlot.robots.rover.wheel_speeds`).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from sandlot.control.controller import Observation, Scripted
from sandlot.typing import Array

FRAMES = 64_000
"""Default length of a session [frames]."""
SEGMENT = 250
"""Number of frames that share an r."""
BLOCKS = np.array([(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (-1, 1), (1, -1)], np.float64)
"""Signs of the linear and the angular speed in each block."""
VARIED_FRAMES = (30, 250)
"""`Varied` keeps a command for at least and less than so many frames."""
SPIN, FREE, RESTING = 0.8, 0.2, 0.05
"""Its largest turn rate, as a share of the rover's; its shares of freely mixed commands, and of rests."""
TURNING = 0.6
"""Share of the maximum turn rate that stands for the source's pi/2 rad/s."""


class Session(Scripted):
    """Drives a session, and after its last frame another one.

    When an episode ends early, the next one of the same batch continues the session where it was interrupted, so that
    a recording of n frames contains all eight blocks.

    Attributes:
        frames: Length of a session [frames].
        speeds: (rovers, 2) linear [m/s] and angular [rad/s] speed where r is 1.
    """

    def __init__(self, speeds: ArrayLike, frames: int = FRAMES) -> None:
        """Plan a session.

        Args:
            speeds: (rovers, 2) maximum linear [m/s] and angular [rad/s] speed of each rover.
            frames: Length of a session [frames].
        """
        self.frames = frames
        self.speeds = np.asarray(speeds, np.float64) * (1.0, TURNING)

    def reset(self, seeds: Sequence[np.random.SeedSequence], members: Sequence[int] | None = None) -> None:
        """Begin new episodes; each seed determines the random speed factors r of one episode."""
        if members is None:
            self._generators = [np.random.default_rng(seed) for seed in seeds]
            self._frame = np.zeros(len(seeds), np.int64)
            self._r = np.full((len(seeds), len(self.speeds), 1), np.nan)
            self._commands, self._until = np.zeros((len(seeds), *self.speeds.shape)), np.zeros(len(seeds), np.int64)
            return
        for member, seed in zip(members, seeds, strict=True):
            self._generators[member] = np.random.default_rng(seed)
            self._r[member], self._until[member] = np.nan, 0

    def act(self, observations: Observation, members: Sequence[int] | None = None) -> Array:
        """The commands of the next frame: (n, rovers, 2) [m/s, rad/s]."""
        which = list(range(len(self._frame)) if members is None else members)
        self._find(which)
        self._frame[which] = (self._frame[which] + 1) % self.frames
        return self._commands[which]

    def ahead(self) -> tuple[Array, int]:
        """The commands of the next frames: (n, rovers, 2) [m/s, rad/s], and how many these are."""
        self._find(list(range(len(self._frame))))
        return self._commands.copy(), int(np.min(self._until - self._frame))

    def skip(self, steps: int) -> None:
        """Go on by so many frames."""
        self._frame = (self._frame + steps) % self.frames

    def _find(self, members: Sequence[int]) -> None:
        """Find the commands of the next frame of some members, where those of the last frame do not last."""
        for member in members:
            frame = self._frame[member]
            if frame >= self._until[member] or frame == 0:
                self._command(member, int(frame))

    def _command(self, member: int, frame: int) -> None:
        """Find the command of a frame, and until which frame it stays the same."""
        if frame % SEGMENT == 0 or np.isnan(self._r[member]).any():
            self._r[member] = self._generators[member].uniform(0.25, 1.0, (len(self.speeds), 1))
        block, until = block_of(frame, self.frames), frame + 1
        while until % SEGMENT and until < self.frames and block_of(until, self.frames) == block:
            until += 1
        self._commands[member] = self._r[member] * self.speeds * BLOCKS[block]
        self._until[member] = until


class Varied(Scripted):
    """Drives ahead, back, on the spot and in curves in random order, each for a random time; now and then it rests.

    In a few seconds it shows more of how a rover moves than a session does, which takes minutes.

    Attributes:
        speeds: (rovers, 2) maximum linear [m/s] and angular [rad/s] speed.
    """

    def __init__(self, speeds: ArrayLike) -> None:
        """Prepare for rovers with these maximum speeds: (rovers, 2) [m/s, rad/s]."""
        self.speeds = np.asarray(speeds, np.float64) * (1.0, SPIN)

    def reset(self, seeds: Sequence[np.random.SeedSequence], members: Sequence[int] | None = None) -> None:
        """Begin new episodes; each seed determines the commands of one episode."""
        if members is None:
            self._generators = [np.random.default_rng(seed) for seed in seeds]
            self._commands = np.zeros((len(seeds), *self.speeds.shape))
            self._left = np.zeros((len(seeds), len(self.speeds)), np.int64)
            return
        for member, seed in zip(members, seeds, strict=True):
            self._generators[member], self._left[member] = np.random.default_rng(seed), 0

    def act(self, observations: Observation, members: Sequence[int] | None = None) -> Array:
        """The commands of the next frame: (n, rovers, 2) [m/s, rad/s]."""
        which = list(range(len(self._left)) if members is None else members)
        self._find(which)
        self._left[which] -= 1
        return self._commands[which]

    def ahead(self) -> tuple[Array, int]:
        """The commands of the next frames: (n, rovers, 2) [m/s, rad/s], and how many these are."""
        self._find(list(range(len(self._left))))
        return self._commands.copy(), int(self._left.min())

    def skip(self, steps: int) -> None:
        """Go on by so many frames."""
        self._left -= steps

    def _find(self, members: Sequence[int]) -> None:
        """Draw commands for the rovers whose last ones have ended."""
        for member in members:
            rng = self._generators[member]
            for rover in np.flatnonzero(self._left[member] == 0):
                self._left[member, rover] = rng.integers(*VARIED_FRAMES)
                shares = rng.uniform(-1.0, 1.0, 2) if rng.random() < FREE else BLOCKS[rng.integers(len(BLOCKS))]
                strength = 0.0 if rng.random() < RESTING else rng.uniform(0.2, 1.0)
                self._commands[member, rover] = strength * shares * self.speeds[rover]


def block_of(frame: int, frames: int) -> int:
    """The block, 0 to 7, of a frame.

    As in the source, block 0 also gets the first frame of block 1 if 8 divides ``frames``.
    """
    return 0 if 8 * frame <= frames else 8 * frame // frames
