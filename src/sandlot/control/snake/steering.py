"""Where a swimming snake is going, where it should go, and by how much to bend for it.

Two ways to steer, both from Draschwandtner (2015): a machine of four states (section 7.3), and a bend in proportion to
the angle between the body and the way to the goal (section 7.11, used by `fetching`). And a third way
to turn, the coil (section 3.3), which is no way to steer: it is told beforehand.

Angles are averaged as directions, since the mean of 179 and -179 degrees is not 0. The source's own signs depend on
its axes; here, as everywhere, positive is to the left.
"""

import math
from collections import deque
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sandlot.control.snake.gaits import Gait
from sandlot.errors import SandlotError
from sandlot.geometry.planar import wrap
from sandlot.robots.snake import Snake
from sandlot.typing import Array

OBSERVED = 8
"""Entries of an observation of the water world before the joints."""


@dataclass(frozen=True)
class Seen:
    """What an observation of the water world says.

    Attributes:
        time: [s]
        centre: Of mass: (2,) [m].
        directions: Of the links: (links,) [rad].
        links: Their centres: (links, 2) [m].
        target: (2,) [m]
        destination: (2,) [m]
        angles: Of the joints: (joints,) [rad].
    """

    time: float
    centre: Array
    directions: Array
    links: Array
    target: Array
    destination: Array
    angles: Array


def see(observation: ArrayLike, snake: Snake) -> Seen:
    """Read an observation of the water world.

    Raises:
        SandlotError: If it is that of another body.
    """
    values = np.asarray(observation, np.float64)
    if values.shape != (OBSERVED + 2 * snake.joints,):
        raise SandlotError(
            f"an observation for {snake.joints} joints has {OBSERVED + 2 * snake.joints} entries, not {values.size}"
        )
    angles = values[OBSERVED : OBSERVED + snake.joints]
    # As `link_angles` and `link_centres`, for one body and much faster: controllers are asked often.
    directions = np.full(snake.links, values[3])
    directions[1:] -= angles.cumsum()
    along = np.array([np.cos(directions), np.sin(directions)])
    links = along.cumsum(axis=1)
    links = (0.5 * along - links) * snake.length
    links += (values[1:3] - links.mean(axis=1))[:, None]
    return Seen(float(values[0]), values[1:3], directions, links.T, values[4:6], values[6:8], angles)


def angle_between(a: Array, b: Array) -> float:
    """From direction ``a`` to ``b``, both (2,): in (-pi, pi] [rad], positive to the left (equation 7.3)."""
    (ax, ay), (bx, by) = a, b
    return math.atan2(ax * by - ay * bx, ax * bx + ay * by)


def turned(vector: Array, angle: float) -> Array:
    """``vector`` (2,) turned to the left by ``angle`` [rad]."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([c * vector[0] - s * vector[1], s * vector[0] + c * vector[1]])


class Average:
    """Mean of the last values; of angles, their mean direction [rad].

    Attributes:
        window: How many values.
    """

    def __init__(self, window: int) -> None:
        self.window = window
        self._values: deque[tuple[float, float]] = deque()
        self._sum = (0.0, 0.0)

    def __call__(self, angle: float) -> float:
        """Take in an angle, and give the mean."""
        c, s = math.cos(angle), math.sin(angle)
        self._values.append((c, s))
        oldest = self._values.popleft() if len(self._values) > self.window else (0.0, 0.0)
        self._sum = (self._sum[0] + c - oldest[0], self._sum[1] + s - oldest[1])
        return math.atan2(self._sum[1], self._sum[0])


class Speed:
    """Velocity of a point, over the last so many sightings: as long as a wave lasts, so that wriggling averages out."""

    def __init__(self, window: int) -> None:
        self._seen: deque[tuple[float, Array]] = deque(maxlen=window + 1)

    def __call__(self, time: float, place: Array) -> Array:
        """Take in where the point is [m] at a time [s], and give its velocity: (2,) [m/s]."""
        self._seen.append((time, place.copy()))
        (then, before), (now, after) = self._seen[0], self._seen[-1]
        return (after - before) / (now - then) if now > then else np.zeros(2)


class Rate:
    """How fast an angle changes, over the last so many sightings."""

    def __init__(self, window: int, interval: float) -> None:
        self._interval = interval
        self._angles: deque[float] = deque(maxlen=window + 1)

    def __call__(self, angle: float) -> float:
        """Take in the angle [rad], and give its rate [rad/s]."""
        self._angles.append(angle)
        turn = wrap(angle - self._angles[0])
        return turn / (self._interval * max(len(self._angles) - 1, 1))


class StateSteering:
    """The state machine of section 7.3: forward, left, right, stop.

    Attributes:
        state: The present one.
    """

    def __init__(
        self, veer: float = 0.05, threshold: float = math.radians(10.0), window: int = 300, reach: float = 2.0
    ) -> None:
        """A machine that goes forward.

        Args:
            veer: How far to bend for a turn [rad].
            threshold: Angle to the goal from which on to turn [rad].
            window: Of the moving average [commands].
            reach: Distance from the head link to the goal at which to stop [m].
        """
        self.veer, self.threshold, self.reach = veer, threshold, reach
        self.state: Literal["forward", "left", "right", "stop"] = "forward"
        self._average = Average(window)

    def __call__(self, seen: Seen, goal: Array) -> float:
        """How far to bend [rad]."""
        angle = self._average(angle_between(seen.links[0] - seen.centre, goal - seen.centre))
        if self.state == "stop" or np.linalg.norm(goal - seen.links[0]) <= self.reach:
            self.state = "stop"
        elif angle > self.threshold:
            self.state = "left"
        elif angle < -self.threshold:
            self.state = "right"
        else:
            self.state = "forward"
        return {"left": self.veer, "right": -self.veer}.get(self.state, 0.0)


class Seeker:
    """A controller that swims to the target by `StateSteering`, and there stops at once (section 7.3).

    Attributes:
        steering: Its state machine.
    """

    def __init__(self, snake: Snake, gait: Gait, steering: StateSteering | None = None) -> None:
        self.snake, self.gait = snake, gait
        self.steering = steering or StateSteering()

    def __call__(self, observation: Array) -> Array:
        """Where the joints should be: (joints,) [rad]."""
        seen = see(observation, self.snake)
        veer = self.steering(seen, seen.target)
        if self.steering.state == "stop":
            return np.zeros(self.snake.joints)
        # The first wave grows out of the straight body, which a jump would tear at.
        return min(seen.time, 1.0) * self.gait.veering(veer).targets(seen.time, self.snake.joints)


@dataclass(frozen=True)
class Coil:
    """The coil turn (section 3.3), a plan: swim; then every joint in turn stays at its peak for a while, and swims on.

    Attributes:
        gait: The wave; one frequency for all joints.
        start: When the first joint should stop, at the earliest; it does so at its next peak [s].
        hold: For how long a joint stays [s].
        left: Which way to turn.
    """

    gait: Gait
    start: float
    hold: float
    left: bool = True

    def targets(self, time: float, snake: Snake) -> Array:
        """Where the joints should be at ``time``: (joints,) [rad].

        Raises:
            SandlotError: If the gait has no wave that runs, or is for another body.
        """
        beat, peak = self.gait.beat(), 0.25 if self.left else 0.75
        amplitude, frequency, phase, veer = self.gait.waves(snake.joints)
        first = (math.ceil(self.start * beat - peak) + peak) / beat
        # A joint's own time: what the first joint did so long ago, it does now.
        own = time - phase / frequency
        own = np.where(own < first, own, np.maximum(own - self.hold, first))
        # The first wave grows out of the straight body, which a jump would tear at.
        return min(time, 1.0) * (amplitude * np.sin(frequency * own) + veer)
