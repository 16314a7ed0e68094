"""Driving to gather data: Algorithm 5 of Cook (2017), section 5.3, for any number of rovers at once.

A session of n frames has eight blocks: forwards, backwards, turning left, turning right, then the four combinations.
Every 250 frames each rover draws a new r from 0.25 to 1, by which the speeds of its block are multiplied. What it
observes does not matter.

The source's full speeds are 3 of its units a second and pi/2 rad/s. Here they are the rover's own: all that its motors
can give forwards, and 0.6 of that for turning, which for the Rover 5 are 0.25 m/s and pi/2 rad/s, the same at the scale
at which 12 of the source's units are a metre. Where a combination of the two is more than the motors can give, the
rover drives the same curve more slowly (`sandlot.robots.rover.wheel_speeds`).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

FRAMES = 64_000
"""Of a session, unless said otherwise."""
SEGMENT = 250
"""Frames that share an r."""
BLOCKS = np.array([(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (-1, 1), (1, -1)], np.float64)
"""Signs of the linear and the angular speed."""
TURNING = 0.6
"""Share of the fastest turn that stands for the source's pi/2 rad/s."""


class Session:
    """A controller that drives a session; after its last frame it begins another.

    Attributes:
        frames: Of a session.
        speeds: (rovers, 2) linear [m/s] and angular [rad/s] speed where r is 1.
    """

    def __init__(self, speeds: ArrayLike, seed: np.random.SeedSequence, frames: int = FRAMES) -> None:
        """Get ready.

        Args:
            speeds: (rovers, 2) the highest linear [m/s] and angular [rad/s] speed that each can be told.
            seed: For r.
            frames: Of a session.
        """
        self.frames = frames
        self.speeds = np.asarray(speeds, np.float64) * (1.0, TURNING)
        self._rng = np.random.default_rng(seed)
        self._frame = 0
        self._r = np.ones((len(self.speeds), 1))

    def __call__(self, _: object = None) -> NDArray[np.float64]:
        """What the rovers should do in the next frame: (rovers, 2) [m/s, rad/s]."""
        if self._frame % SEGMENT == 0:
            self._r = self._rng.uniform(0.25, 1.0, (len(self.speeds), 1))
        block = block_of(self._frame, self.frames)
        self._frame = (self._frame + 1) % self.frames
        return self._r * self.speeds * BLOCKS[block]


def block_of(frame: int, frames: int) -> int:
    """Which of the eight blocks a frame is in; as in the source, the first has one frame more if they are equal."""
    return 0 if 8 * frame <= frames else 8 * frame // frames
