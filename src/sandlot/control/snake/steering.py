"""Steering of a swimming snake: reading observations, estimating motion, and bending towards a goal.

There are two methods of steering, both from Draschwandtner (2015): a state machine with four states (section 7.3), and
a bend in proportion to the angle between the body and the direction to the goal (section 7.11, used by `fetching`). The
coil turn (section 3.3) is a fixed plan without feedback.

Angles are averaged as unit vectors, since the mean of 179 and -179 degrees is 180 and not 0. The signs in the source
depend on its axes; here positive is to the left.
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
"""Number of entries of an observation of the water world before the joint angles."""


@dataclass(frozen=True)
class Seen:
    """An observation of the water world, by names.

    Attributes:
        time: [s]
        centre: Centre of mass: (2,) [m].
        directions: Yaw of the links: (links,) [rad].
        links: Centres of the links: (links, 2) [m].
        target: (2,) [m]
        destination: (2,) [m]
        angles: Joint angles: (joints,) [rad].
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
        SandlotError: If its length does not fit the body.
    """
    values = np.asarray(observation, np.float64)
    if values.shape != (OBSERVED + 2 * snake.joints,):
        raise SandlotError(
            f"an observation for {snake.joints} joints has {OBSERVED + 2 * snake.joints} entries, not {values.size}"
        )
    angles = values[OBSERVED : OBSERVED + snake.joints]
    # The same as `link_angles` and `link_centres`, but much faster for a single body.
    directions = np.full(snake.links, values[3])
    directions[1:] -= angles.cumsum()
    along = np.array([np.cos(directions), np.sin(directions)])
    links = along.cumsum(axis=1)
    links = (0.5 * along - links) * snake.length
    links += (values[1:3] - links.mean(axis=1))[:, None]
    return Seen(float(values[0]), values[1:3], directions, links.T, values[4:6], values[6:8], angles)


def angle_between(a: Array, b: Array) -> float:
    """Angle from ``a`` to ``b``, both (2,): in (-pi, pi] [rad], positive to the left (equation 7.3)."""
    (ax, ay), (bx, by) = a, b
    return math.atan2(ax * by - ay * bx, ax * bx + ay * by)


class Average:
    """Moving average of an angle, as the direction of the mean unit vector [rad].

    Attributes:
        window: Number of values.
    """

    def __init__(self, window: int) -> None:
        self.window = window
        self._values: deque[tuple[float, float]] = deque()
        self._sum = (0.0, 0.0)

    def __call__(self, angle: float) -> float:
        """Add an angle, and return the mean."""
        c, s = math.cos(angle), math.sin(angle)
        self._values.append((c, s))
        oldest = self._values.popleft() if len(self._values) > self.window else (0.0, 0.0)
        self._sum = (self._sum[0] + c - oldest[0], self._sum[1] + s - oldest[1])
        return math.atan2(self._sum[1], self._sum[0])


class Speed:
    """Velocity of a point over a window of observations; one period of the wave averages the oscillation out."""

    def __init__(self, window: int) -> None:
        self._seen: deque[tuple[float, Array]] = deque(maxlen=window + 1)

    def __call__(self, time: float, place: Array) -> Array:
        """Add the position [m] at a time [s], and return the velocity: (2,) [m/s]."""
        self._seen.append((time, place.copy()))
        (then, before), (now, after) = self._seen[0], self._seen[-1]
        return (after - before) / (now - then) if now > then else np.zeros(2)


class Rate:
    """Rate of change of an angle over a window of observations."""

    def __init__(self, window: int, interval: float) -> None:
        self._interval = interval
        self._angles: deque[float] = deque(maxlen=window + 1)

    def __call__(self, angle: float) -> float:
        """Add the angle [rad], and return its rate [rad/s]."""
        self._angles.append(angle)
        change = wrap(angle - self._angles[0])
        return change / (self._interval * max(len(self._angles) - 1, 1))


class StateSteering:
    """The state machine of section 7.3: forward, left, right, stop.

    Attributes:
        state: The present state.
    """

    def __init__(
        self, veer: float = 0.05, threshold: float = math.radians(10.0), window: int = 300, reach: float = 2.0
    ) -> None:
        """A machine in the state ``forward``.

        Args:
            veer: Bend of every joint for a turn [rad].
            threshold: Angle to the goal above which to turn [rad].
            window: Length of the moving average [commands].
            reach: Distance from the head link to the goal at which to stop [m].
        """
        self.veer, self.threshold, self.reach = veer, threshold, reach
        self.state: Literal["forward", "left", "right", "stop"] = "forward"
        self._average = Average(window)

    def __call__(self, seen: Seen, goal: Array) -> float:
        """The bend of every joint [rad]."""
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
    """A policy that swims to the target by `StateSteering` and stops there (section 7.3); for one episode.

    Attributes:
        steering: Its state machine.
    """

    def __init__(self, snake: Snake, gait: Gait, steering: StateSteering | None = None) -> None:
        self.snake, self.gait = snake, gait
        self.steering = steering or StateSteering()

    def __call__(self, observation: Array) -> Array:
        """Target angles of the joints: (joints,) [rad]."""
        seen = see(observation, self.snake)
        veer = self.steering(seen, seen.target)
        if self.steering.state == "stop":
            return np.zeros(self.snake.joints)
        return self.gait.veering(veer).targets(seen.time + self.snake.interval, self.snake.joints)


@dataclass(frozen=True)
class Coil:
    """The coil turn (section 3.3): swim; then each joint holds its peak for a while, one after the other, and swims on.

    Attributes:
        gait: The wave; one frequency for all joints.
        start: Earliest time at which the first joint holds; it does so at its next peak [s].
        hold: How long a joint holds [s].
        left: Whether to turn to the left.
    """

    gait: Gait
    start: float
    hold: float
    left: bool = True

    def targets(self, time: float, snake: Snake) -> Array:
        """Target angles of the joints at ``time``: (joints,) [rad].

        Raises:
            SandlotError: If the gait has no travelling wave, or is for another body.
        """
        beat, peak = self.gait.beat(), 0.25 if self.left else 0.75
        amplitude, frequency, phase, veer = self.gait.waves(snake.joints)
        first = (math.ceil(self.start * beat - peak) + peak) / beat
        # Each joint repeats what the first joint did at this earlier time.
        own = time - phase / frequency
        own = np.where(own < first, own, np.maximum(own - self.hold, first))
        return np.asarray(amplitude * np.sin(frequency * own) + veer)
