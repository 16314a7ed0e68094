"""Drives towards a near point among what the scan shows: a search over speeds and arcs that can always be braked from.

Each candidate is a speed and a turn rate. It is driven for one interval and then braked on the same arc; if the robot
would touch a point of the scan on the way, it is refused. Standing still touches nothing, so there is always a
candidate. A skid-steered robot turns about a point that is not exactly its centre, so it turns only as fast as
the nearest point allows; where something is too near, it rather drives away first. Points that the map does not know
yet may belong to a person: they are taken to come nearer while the robot brakes. (Fox, Burgard and Thrun 1997, with
braking as the only horizon.)
"""

import math
from typing import NamedTuple

import numpy as np
from pydantic import Field

from sandlot.geometry.planar import wrap_compiled
from sandlot.kernels import kernel
from sandlot.settings import Settings
from sandlot.typing import Array, BoolArray

SPEEDS, TURNS = 6, 17
"""Number of speeds, and of turn rates of each."""
HORIZON = 0.8
"""Candidates are judged by where they lead in this time [s]."""
HEADING = 0.4
"""Being turned away from the target by 1 rad counts as this distance [m]."""
ROOM, ENOUGH = 0.3, 0.2
"""Missing distance to obstacles counts this much, up to a distance that is enough [m]."""
BACKWARDS = 0.3
"""Share of the top speed for driving backwards, which is a last resort."""
CRAMPED = 20.0
"""Staying where something is too near counts as this times the missing distance: the robot rather drives away."""
RELUCTANCE = 0.25
"""Driving backwards counts as this distance [m]."""
STEP = 0.03
"""Arcs are checked at least this often [m]."""


class Mobility(Settings):
    """What a robot can do. The defaults are those of the simulated tracked rover, with some reserve.

    Attributes:
        radius: Of a disc around the body [m].
        top_speed: [m/s]
        top_turn: [rad/s]
        acceleration: [m/s^2]
        braking: Deceleration that it always reaches [m/s^2].
        interval: Time between commands [s].
        safety: Distance to keep from everything [m].
        stranger: Speed at which things that are not in the map may come nearer [m/s].
        pivot: Largest distance from its centre to the point about which it turns [m]; 0 without skid steering.
        reverse: Whether it may drive backwards: only if its laser looks there.
    """

    radius: float = Field(0.17, gt=0.0)
    top_speed: float = Field(0.3, gt=0.0)
    top_turn: float = Field(1.2, gt=0.0)
    acceleration: float = Field(1.5, gt=0.0)
    braking: float = Field(0.5, gt=0.0)
    interval: float = Field(0.182, gt=0.0)
    safety: float = Field(0.04, ge=0.0)
    stranger: float = Field(0.7, ge=0.0)
    pivot: float = Field(0.1, ge=0.0)
    reverse: bool = True


class Command(NamedTuple):
    """What the robot shall do until the next command: speed [m/s] and turn rate, to the left [rad/s]."""

    speed: float
    turn_rate: float


STOP = Command(0.0, 0.0)


def steer(target: Array, points: Array, strange: BoolArray, speed: float, mobility: Mobility) -> Command:
    """The best command towards a point.

    Args:
        target: (2,) x, y relative to the robot [m].
        points: (n, 2) x, y of the scan relative to the robot [m].
        strange: (n,) which of them may move.
        speed: Present speed [m/s].
        mobility: What the robot can do.
    """
    given = mobility
    keep, scrub = given.radius + given.safety, 2.0 * given.pivot * given.interval
    values = np.array([keep, given.braking, given.interval, given.stranger, given.safety, scrub])
    most = min(given.top_speed, max(speed, 0.0) + given.acceleration * given.interval)
    speeds = np.linspace(0.0, most, SPEEDS)
    speeds = np.append(speeds, -BACKWARDS * given.top_speed) if given.reverse else speeds
    turns = np.linspace(-given.top_turn, given.top_turn, TURNS)
    chosen = choose(
        np.asarray(target, np.float64), np.ascontiguousarray(points), strange, abs(speed), speeds, turns, values
    )
    return Command(float(speeds[chosen // TURNS]), float(turns[chosen % TURNS]))


@kernel(error_model="numpy", nogil=True, allocates=False)
def choose(
    target: Array, points: Array, strange: BoolArray, speed: float, speeds: Array, turns: Array, values: Array
) -> int:
    """The index of the best pair of a speed and a turn rate, speed by speed; arguments as of `steer`.

    Args:
        target: (2,) [m]
        points: (n, 2) [m]
        strange: (n,)
        speed: Magnitude of the present speed [m/s].
        speeds: (s,) candidates [m/s].
        turns: (t,) candidates [rad/s].
        values: (6,) distance to keep from the centre [m], braking [m/s^2], interval [s], speed of strangers [m/s], the
            part of the distance to keep that is beyond the body [m], and how far the body may move sideways by
            turning until the next command has stopped it, for each unit of the turn rate [m s].
    """
    best, best_score = turns.size // 2, math.inf
    near = math.inf
    for n in range(points.shape[0]):
        near = min(near, math.hypot(points[n, 0], points[n, 1]))
    free, cramped = near - values[0] + values[4], max(values[0] - near, 0.0)
    for s in range(speeds.size):
        for t in range(turns.size):
            v, w = speeds[s], turns[t]
            x, y, yaw = arc(v * HORIZON, w * HORIZON)
            dx, dy = target[0] - x, target[1] - y
            away = math.hypot(dx, dy)
            error = abs(wrap_compiled(math.atan2(dy, dx) - yaw)) if away > 1e-6 else 0.0
            score = away + HEADING * min(away / 0.3, 1.0) * error + (RELUCTANCE if v < 0.0 else 0.0)
            if score >= best_score:
                continue
            if values[5] * abs(w) > max(free, 0.0):
                continue
            if v == 0.0:
                score += CRAMPED * cramped
            else:
                room = clearance_of(v, w, max(abs(v), speed), points, strange, values)
                if room < 0.0:
                    continue
                score += ROOM * max(ENOUGH - room, 0.0)
            if score < best_score:
                best, best_score = s * turns.size + t, score
    return best


@kernel(error_model="numpy", allocates=False)
def arc(length: float, turn: float) -> tuple[float, float, float]:
    """Pose x, y [m], yaw [rad] after an arc of this length [m] and turn [rad]."""
    share = math.sin(0.5 * turn) / (0.5 * turn) if abs(turn) > 1e-9 else 1.0
    return length * share * math.cos(0.5 * turn), length * share * math.sin(0.5 * turn), turn


@kernel(error_model="numpy", allocates=False)
def clearance_of(v: float, w: float, fastest: float, points: Array, strange: BoolArray, values: Array) -> float:
    """Smallest distance that is left to any point, beyond the one to keep [m]; negative if the arc is refused.

    A point that is too near already is only a reason to refuse if the arc comes nearer to it.
    """
    keep, braking, interval, stranger = values[0], values[1], values[2], values[3]
    length = fastest * interval + 0.5 * fastest * fastest / braking
    time = interval + fastest / braking
    steps = math.ceil(length / STEP)
    room = math.inf
    for k in range(1, steps + 1):
        share = k / steps
        x, y, _ = arc(math.copysign(length * share, v), w / abs(v) * length * share)
        for n in range(points.shape[0]):
            away = math.hypot(points[n, 0] - x, points[n, 1] - y)
            left = away - keep - (stranger * time * share if strange[n] else 0.0)
            if left < room:
                if left < 0.0:
                    # Moving away from it is allowed.
                    if away < math.hypot(points[n, 0], points[n, 1]):
                        return left
                    left = 0.0
                room = min(room, left)
    return room
