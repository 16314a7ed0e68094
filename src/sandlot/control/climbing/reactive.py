"""The reactive controller of Vincent 2008, section 5.1: point the front tracks at the highest ground ahead.

The rear tracks repeat what the front tracks did when they were there, as the links of a snake.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sandlot.control.climbing.memory import Delay
from sandlot.control.climbing.sight import Sight, distances, split
from sandlot.control.controller import Action, Controller, Observation
from sandlot.robots.climber import AXLE_LIMIT, NOMINAL_SPEED, Climber
from sandlot.robots.climbers import INTERVAL
from sandlot.sensing.panned_laser import MAP_ROWS, PAN_ANGLES
from sandlot.typing import Array, IntArray

SAFETY = 0.1
"""SF: looks further than the tracks reach by this [m]."""
NEAREST = 0.05
"""Shortest distance of a cell from P_0 [m]; chosen."""
UPRIGHT = 0.5 * math.pi


@dataclass(frozen=True, eq=False)
class Aim:
    """Where to point the bottom of the front tracks.

    Attributes:
        angle: (n,) delta_max, above the horizontal [rad].
        height: (n,) of the point P_k of the ground that it leads to, above the middle of the body [m].
    """

    angle: Array
    height: Array


def origin(climber: Climber, sight: Sight) -> Array:
    """Base P_0 of the front tracks' big wheels in the robot's horizontal frame: (n, 3) [m], equations 23 and 24."""
    roll, pitch, track = sight.roll, sight.pitch, sight.pitch - sight.axles[:, 0]
    half, height, wheel = 0.5 * climber.axles.span, climber.axles.height, climber.track.wheel
    forward = half * np.cos(pitch) + height * np.sin(pitch) - wheel * np.sin(track)
    up = height * np.cos(pitch) - half * np.sin(pitch) - wheel * np.cos(track)
    return np.stack([forward, -np.sin(roll) * up, np.cos(roll) * up], axis=1)


def aim(climber: Climber, sight: Sight, reach: Array) -> Aim:
    """The steepest way from P_0 to the ground within the evaluation distance (equations 27 and 28).

    Equation 28 divides by the distance from P_0. A cell that is nearer than `NEAREST` counts as so far away; otherwise
    a millimetre of noise right below P_0 would turn the tracks by any angle.

    Args:
        climber: The robot.
        sight: Of n robots.
        reach: (n,) evaluation distance d [m].
    """
    _, rows, cells = sight.maps.shape
    x, base = distances(cells), origin(climber, sight)
    y = np.tan(PAN_ANGLES[MAP_ROWS[rows]])[:, None] * x
    away = np.hypot(x - base[:, 0, None, None], y - base[:, 1, None, None])
    angles = np.arctan2(sight.maps - base[:, 2, None, None], np.maximum(away, NEAREST))
    angles = np.where((x <= reach[:, None])[:, None], angles, -np.inf).reshape(len(base), -1)
    best = angles.argmax(axis=1)
    pick = np.arange(len(best)), best
    return Aim(angles[pick], sight.maps.reshape(len(base), -1)[pick])


def steady(front: Array, back: Array, pitch: Array) -> tuple[Array, Array]:
    """Keep the mass centre of the tracks from passing above or below that of the body (equation 34).

    The first two rules of the printed equation turn the front tracks to the opposite of the angle at which their
    condition begins; here they stop at that angle.

    Args:
        front: (n,) desired angle of the front axle [rad].
        back: (n,) of the rear axle [rad].
        pitch: (n,) [rad]
    """
    up, down = pitch < 0.0, pitch > 0.0
    front = np.where(up, np.minimum(front, UPRIGHT + pitch), front)
    front = np.where(down, np.maximum(front, pitch - UPRIGHT), front)
    back = np.where(down, np.minimum(back, UPRIGHT - pitch), back)
    back = np.where(up, np.minimum(back, UPRIGHT + pitch), back)
    return front, back


class Reactive(Controller):
    """Front tracks along the steepest ground ahead, rear tracks after them.

    Attributes:
        aims: What it saw last, for each of the members that it acted for.
        delay: After which the rear axle repeats the front axle.
    """

    def __init__(self, climber: Climber, rows: int = 1, speed: float = NOMINAL_SPEED, stable: bool = True) -> None:
        """Begin with `reset`.

        Args:
            climber: The robot.
            rows: Of the elevation map.
            speed: Nominal speed of the belts [m/s], above 0.
            stable: Whether the rules of equation 34 apply.
        """
        self.climber, self.rows, self.speed, self.stable = climber, rows, speed, stable
        self.delay = Delay(max(round(climber.axles.span / speed / INTERVAL), 1))
        # Equation 29; `Track.taper` is the exact angle of the belt, with the arc sine.
        self._taper = math.atan((climber.track.wheel - climber.track.tip) / climber.track.reach)

    def reset(self, seeds: Sequence[np.random.SeedSequence], members: Sequence[int] | None = None) -> None:
        """Begin new episodes, at rest with the axles stretched."""
        self.delay.reset(len(seeds), members)
        if members is None:
            self._before = np.zeros(len(seeds))
        else:
            self._before[members] = 0.0

    def act(self, observations: Observation, members: Sequence[int] | None = None) -> Action:
        """(n, 4) angles of the front and the rear axle [rad], speeds of the left and the right belts [m/s]."""
        sight = split(observations, self.rows)
        who = np.arange(len(observations)) if members is None else np.asarray(members)
        self.aims = aim(self.climber, sight, self._reach(sight, who))
        # Equations 30 to 33: the angle of the axle cancels out.
        front = np.clip(self.aims.angle - self._taper + sight.pitch, -AXLE_LIMIT, AXLE_LIMIT)
        back = -self.delay.oldest(who)
        if self.stable:
            front, back = steady(front, back, sight.pitch)
        self.delay.replace(who, front)
        belts = np.full(len(who), self.speed)
        return np.stack([front, back, belts, belts], axis=1)

    def _reach(self, sight: Sight, who: IntArray) -> Array:
        """Evaluation distance d (equations 25 and 26): (n,) [m]."""
        speed = sight.velocity[:, 0]
        gain = (speed - self._before[who]) / INTERVAL
        moved = self._before[who] * INTERVAL + 0.5 * gain * INTERVAL**2
        self._before[who] = speed
        return self.climber.reach + moved + SAFETY
