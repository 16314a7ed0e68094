"""Drives towards a near point among what the scan shows: a search over speeds and turn rates that can always be braked.

Each candidate is a speed and a turn rate. The robot is predicted from its present speed and turn rate: it changes to
those of the candidate for one interval, and then brakes. If it would come too near to a point of the scan on the way,
the candidate is refused. Stopping is the candidate that remains. A skid-steered robot turns about a point that is not
exactly its centre, so while it turns its centre moves sideways: all places where it may then be are checked. It prefers
to keep a distance from everything, and must keep half of it. Where something is nearer already, the robot must not come
nearer and prefers to drive away; in a retreat that comes first, wherever the target is. Points that the map does not
know yet may belong to a person: they are taken to come nearer until the robot stands. (Fox, Burgard and Thrun 1997,
with braking as the only horizon.)
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
CREEP = 0.1
"""Share of the top speed with which a retreat may begin, ahead or back: in a gap of 2 cm, faster ones cannot brake."""
RELUCTANCE = 1.0
"""Driving backwards counts as this distance [m]: more than turning round, less than staying turned away."""
CRAMPED = 3.0
"""Ending where something is too near counts as this times the missing distance: the robot prefers to drive away."""
STEP = 0.03
"""Time step of predictions [s]."""
TOUCH = 0.003
"""Distance that must be left to the body however the robot turns [m]."""
SLACK = 0.002
"""Beside something that is too near, the robot may come nearer by this, about the error of a range [m]."""


class Mobility(Settings):
    """What a robot can do. The defaults are those of the simulated tracked rover, with some reserve.

    Attributes:
        radius: Of a disc around the body [m].
        top_speed: [m/s]
        top_turn: [rad/s]
        acceleration: [m/s^2]
        braking: Deceleration that it always reaches [m/s^2].
        turn_acceleration: Largest angular acceleration when it begins to turn [rad/s^2].
        turn_braking: Angular deceleration that it always reaches [rad/s^2].
        interval: Time between commands [s].
        safety: Distance to keep from everything, if possible; half of it is kept always [m].
        stranger: Speed at which things that are not in the map may come nearer [m/s].
        pivot: Largest distance from its centre to the point about which it turns [m]; 0 without skid steering.
        reverse: Whether it may drive backwards: only if its laser looks there.
    """

    radius: float = Field(0.17, gt=0.0)
    top_speed: float = Field(0.3, gt=0.0)
    top_turn: float = Field(1.2, gt=0.0)
    acceleration: float = Field(1.5, gt=0.0)
    braking: float = Field(0.5, gt=0.0)
    turn_acceleration: float = Field(10.0, gt=0.0)
    turn_braking: float = Field(3.0, gt=0.0)
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


class Limits(NamedTuple):
    """What predictions need of a `Mobility`; distances are from the centre of the robot: the least, and to keep [m]."""

    radius: float
    least: float
    keep: float
    interval: float
    acceleration: float
    braking: float
    turn_acceleration: float
    turn_braking: float
    stranger: float
    pivot: float


def steer(
    target: Array, points: Array, strange: BoolArray, now: Command, mobility: Mobility, retreat: bool = False
) -> Command:
    """The best command towards a point.

    Args:
        target: (2,) x, y relative to the robot [m].
        points: (n, 2) x, y of the scan relative to the robot [m].
        strange: (n,) which of them may move.
        now: Present speed, negative backwards, and turn rate.
        mobility: What the robot can do.
        retreat: Whether the robot is blocked and goes back: driving backwards is then as good as turning round, and
            first it drives away from what is too near.
    """
    given, reluctance = mobility, 0.0 if retreat else RELUCTANCE
    limits = limits_of(given)
    most = min(given.top_speed, max(now.speed, 0.0) + given.acceleration * given.interval)
    speeds = np.linspace(0.0, most, SPEEDS)
    others = [-BACKWARDS, CREEP, -CREEP] if retreat else [-BACKWARDS]
    speeds = np.append(speeds, [each * given.top_speed for each in others if each > 0.0 or given.reverse])
    turns = np.linspace(-given.top_turn, given.top_turn, TURNS)
    fastest = max(abs(now.speed), most)
    time = given.interval + fastest / given.braking
    # Points that no candidate can come near to are left out; the nearest come first.
    reach = limits.keep + ENOUGH + fastest * time + given.stranger * time * strange
    away = np.hypot(points[:, 0], points[:, 1])
    order = np.argsort(away)
    order = order[(away < reach)[order]]
    places, goal = np.ascontiguousarray(points[order], np.float64), np.asarray(target, np.float64)
    escape = retreat and away.min(initial=math.inf) < limits.least
    chosen = choose(goal, places, strange[order], now.speed, now.turn_rate, speeds, turns, reluctance, escape, limits)
    return Command(float(speeds[chosen // TURNS]), float(turns[chosen % TURNS]))


def limits_of(given: Mobility) -> Limits:
    """What predictions need of a mobility."""
    keep = given.radius + given.safety
    changes = given.acceleration, given.braking, given.turn_acceleration, given.turn_braking
    return Limits(
        given.radius, given.radius + 0.5 * given.safety, keep, given.interval, *changes, given.stranger, given.pivot
    )


@kernel(error_model="numpy", nogil=True, allocates=False)
def choose(
    target: Array,
    points: Array,
    strange: BoolArray,
    speed: float,
    turn_rate: float,
    speeds: Array,
    turns: Array,
    reluctance: float,
    escape: bool,
    limits: Limits,
) -> int:
    """The index of the best pair of a speed and a turn rate, speed by speed; arguments as of `steer`.

    Args:
        target: (2,) [m]
        points: (n, 2) the nearest first [m].
        strange: (n,)
        speed: Present speed [m/s].
        turn_rate: Present turn rate [rad/s].
        speeds: (s,) candidates, the first is 0 [m/s].
        turns: (t,) candidates, the middle one is 0 [rad/s].
        reluctance: Driving backwards counts as this distance [m].
        escape: Whether to drive away from the nearest point, wherever the target is.
        limits: Of the robot.
    """
    best, best_score = turns.size // 2, math.inf
    for s in range(speeds.size):
        for t in range(turns.size):
            v, w = speeds[s], turns[t]
            x, y, yaw = arc(v * HORIZON, w * HORIZON)
            dx, dy = target[0] - x, target[1] - y
            away = math.hypot(dx, dy)
            facing = yaw if v >= 0.0 else yaw + math.pi
            error = abs(wrap_compiled(math.atan2(dy, dx) - facing)) if away > 1e-6 else 0.0
            score = away + HEADING * min(away / 0.3, 1.0) * error + (reluctance if v < 0.0 else 0.0)
            if score >= best_score and not escape:
                continue
            room, left = clearance_of(v, w, speed, turn_rate, points, strange, limits)
            if room < 0.0 and (v != 0.0 or w != 0.0):
                continue
            score += ROOM * max(ENOUGH - max(room, 0.0), 0.0) + CRAMPED * max(-left, 0.0)
            if escape:
                score = limits.pivot * abs(w) * limits.interval - left  # a turn may push it sideways
            if score < best_score:
                best, best_score = s * turns.size + t, score
    return best


@kernel(error_model="numpy", allocates=False)
def arc(length: float, turn: float) -> tuple[float, float, float]:
    """Pose x, y [m], yaw [rad] after an arc of this length [m] and turn [rad]."""
    share = math.sin(0.5 * turn) / (0.5 * turn) if abs(turn) > 1e-9 else 1.0
    return length * share * math.cos(0.5 * turn), length * share * math.sin(0.5 * turn), turn


@kernel(error_model="numpy", allocates=False)
def change(now: float, wanted: float, gain: float, loss: float) -> float:
    """A speed after it has changed to the wanted one: by at most ``gain`` to speed up or reverse, or ``loss``."""
    most = gain if wanted != 0.0 and (now * wanted < 0.0 or abs(wanted) > abs(now)) else loss
    return now + min(max(wanted - now, -most), most)


@kernel(error_model="numpy", allocates=False)
def clearance_of(
    v: float, w: float, speed: float, turn_rate: float, points: Array, strange: BoolArray, limits: Limits
) -> tuple[float, float]:
    """Distances that are left beyond the one to keep, if the robot takes a command and then brakes [m].

    The robot may be as near to something as it is to the nearest point now, but no nearer.

    Args:
        v: Speed of the command [m/s].
        w: Its turn rate [rad/s].
        speed: Present speed [m/s].
        turn_rate: Present turn rate [rad/s].
        points: (n, 2) the nearest first [m].
        strange: (n,)
        limits: Of the robot.

    Returns:
        The smallest on the way, negative if the command is refused; and the one at its end.
    """
    near = math.hypot(points[0, 0], points[0, 1]) if points.shape[0] else math.inf
    floor = limits.radius + TOUCH
    least = min(limits.least, max(near - SLACK, floor))
    x, y, yaw, time, turned, driven, room = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, math.inf
    aside_x, aside_y = 0.0, 0.0  # how far the centre moves sideways, over the distance to the point it turns about
    while True:
        commanded = time < limits.interval - 1e-9
        step = min(STEP, limits.interval - time) if commanded else STEP
        to, turn_to = (v, w) if commanded else (0.0, 0.0)
        after = change(speed, to, limits.acceleration * step, limits.braking * step)
        turn_after = change(turn_rate, turn_to, limits.turn_acceleration * step, limits.turn_braking * step)
        turn, length = 0.5 * (turn_rate + turn_after) * step, 0.5 * (speed + after) * step
        x += length * math.cos(yaw + 0.5 * turn)
        y += length * math.sin(yaw + 0.5 * turn)
        aside_x -= turn * math.sin(yaw + 0.5 * turn)
        aside_y += turn * math.cos(yaw + 0.5 * turn)
        yaw, turned, time, driven = yaw + turn, turned + abs(turn), time + step, driven + abs(length)
        speed, turn_rate, left = after, turn_after, math.inf
        wide_x, wide_y = limits.pivot * aside_x, limits.pivot * aside_y
        wide = max(wide_x * wide_x + wide_y * wide_y, 1e-12)
        for n in range(points.shape[0]):
            dx, dy, before = points[n, 0] - x, points[n, 1] - y, math.hypot(points[n, 0], points[n, 1])
            if before - driven - limits.pivot * turned > max(left, limits.keep + limits.stranger * time):
                break  # this point and all that follow are too far to matter
            away = math.hypot(dx, dy)
            left = min(left, away)
            share = min(max((dx * wide_x + dy * wide_y) / wide, -1.0), 1.0)  # the centre may be anywhere between
            worst = math.hypot(dx - share * wide_x, dy - share * wide_y)
            too_near = (away < least and away < before - SLACK) or (worst < floor and worst < before - 1e-4)
            comes = strange[n] and away - limits.stranger * time < limits.keep and away < before
            if too_near or comes:
                return -1.0, 0.0
        room = min(room, left - limits.keep)
        if speed == 0.0 and turn_rate == 0.0 and not commanded:
            return max(room, 0.0), left - limits.keep
