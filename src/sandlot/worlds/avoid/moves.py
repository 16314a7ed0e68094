"""One move of many rovers near obstacles, compiled: what they do, what they observe, what it is worth, how it ends."""

import math
from typing import Any, NamedTuple

import numpy as np

from sandlot.geometry.planar import wrap_compiled
from sandlot.geometry.walls import Walls, nearest
from sandlot.kernels import kernel
from sandlot.kernels.randomness import normal
from sandlot.places.situations import Situations, draw, make_situations
from sandlot.robots.tracked_rover import TRACKED, Grip, Motion, begin, drive_tracks
from sandlot.sensing.rays import Echoes, Fan, bearings, cast_fans
from sandlot.typing import Array, BoolArray, IntArray

MOVES = ("forward", "backward", "right", "left")
FORWARD, BACKWARD, RIGHT, LEFT = range(4)
RUNNING, REACHED, COLLIDED, LATE = range(4)
"""How an episode ended, if it has."""
REWARDS = ("proportional", "binary", "progress")
PROPORTIONAL, BINARY, PROGRESS = range(3)
FIXED = 4
"""Inputs besides the lines: distance and bearing of the nearest obstacle, and of the goal."""


class Rules(NamedTuple):
    """What does not change.

    Attributes:
        slips: Whether moves are those of the tracked rover; otherwise they are exact.
        stride: Length of a move forward or backward [m].
        turn: Angle of a move to the right or left [rad].
        speeds: (4, 2) of the left and the right track in each move [m/s].
        radius: Of the rover [m].
        reach: Distance that is observed as 1, and the longest that is observed [m].
        noise: Standard deviation of measured distances [m].
        near: Distance to the goal at which it is reached [m].
        longest: Number of moves after which an episode ends.
        reward: Index into `REWARDS`.
        exponent: Of the distance in the proportional reward.
        prize: Reward of the goal; a collision, and too many moves, cost as much.
        fan: The lines.
        motion: Of the tracked rover.
        grip: Of its floor.
    """

    slips: bool
    stride: float
    turn: float
    speeds: Array
    radius: float
    reach: float
    noise: float
    near: float
    longest: int
    reward: int
    exponent: float
    prize: float
    fan: Fan
    motion: Motion
    grip: Grip


class Rovers(NamedTuple):
    """State of n rovers.

    Attributes:
        states: (n,) of `TRACKED`.
        situations: Of each.
        seen: (n, 4 + lines) observations.
        distances: (n,) to the goal [m].
        moves: (n,) so far.
        endings: (n,) `RUNNING`, `REACHED`, `COLLIDED` or `LATE`.
        rewards: (n,) of the last move.
        ranges: (n, lines) of the lines, infinite where they meet nothing [m].
        hits: (n, lines) scratch.
        traces: (n, time steps of a move + 1, 5) of the last move, as `TrackedRover.drive` returns.
        bumped: (n,) scratch.
    """

    states: Any
    situations: Situations
    seen: Array
    distances: Array
    moves: IntArray
    endings: IntArray
    rewards: Array
    ranges: Array
    hits: Any
    traces: Array
    bumped: BoolArray


def make_rovers(n: int, lines: int, steps: int) -> Rovers:
    """Room for n rovers with so many lines, and so many time steps of a move."""
    return Rovers(
        np.zeros(n, TRACKED).view(np.recarray),
        make_situations(n),
        np.zeros((n, FIXED + lines)),
        np.zeros(n),
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        np.zeros(n),
        np.full((n, lines), np.inf),
        np.zeros((n, lines), np.int32),
        np.zeros((n, steps + 1, 5)),
        np.zeros(n, np.bool_),
    )


def make_fan(lines: int) -> Fan:
    """Lines 45 degrees apart around straight ahead, or all around if there are more than eight."""
    spread = 2.0 * math.pi / max(lines, 8)
    angles = bearings(lines, lines * spread) if lines else np.zeros(0)
    return Fan(np.ascontiguousarray([np.cos(angles), np.sin(angles)]), spread)


@kernel(error_model="numpy", nogil=True, allocates=False)
def restart(rovers: Rovers, which: IntArray, kinds: IntArray, rules: Rules) -> None:
    """Begin new episodes.

    Args:
        rovers: Whose states have the start of their random numbers in ``stream``; changed in place.
        which: (m,) indices of rovers that begin.
        kinds: (m,) of situations, indices into `sandlot.places.situations.KINDS`.
        rules: Of the world.
    """
    for i in range(which.shape[0]):
        k = which[i]
        rover, situations = rovers.states[k], rovers.situations
        draw(rover, kinds[i], rules.radius, situations, k)
        rover.x, rover.y, rover.yaw = situations.starts[k, 0], situations.starts[k, 1], situations.starts[k, 2]
        rover.left = rover.right = rover.speed_left = rover.speed_right = 0.0
        begin(rovers.states[k : k + 1])
        for step in range(rovers.traces.shape[1]):
            rovers.traces[k, step, 0], rovers.traces[k, step, 1], rovers.traces[k, step, 2] = (
                rover.x,
                rover.y,
                rover.yaw,
            )
            rovers.traces[k, step, 3] = rovers.traces[k, step, 4] = 0.0
        rovers.moves[k], rovers.endings[k], rovers.rewards[k] = 0, RUNNING, 0.0
        rovers.distances[k] = distance_to_goal(rovers, k)
        observe(rovers, k, rules)


@kernel(error_model="numpy", nogil=True, allocates=False)
def move(rovers: Rovers, which: IntArray, actions: IntArray, rules: Rules) -> None:
    """Make one move.

    Args:
        rovers: Changed in place.
        which: (m,) indices of rovers that move.
        actions: (m,) indices into `MOVES`.
        rules: Of the world.
    """
    for i in range(which.shape[0]):
        k = which[i]
        before = rovers.distances[k]
        touched = drive(rovers, k, actions[i], rules)
        rovers.distances[k] = distance_to_goal(rovers, k)
        rovers.moves[k] += 1
        ending = RUNNING
        if touched:
            ending = COLLIDED
        elif rovers.distances[k] <= rules.near:
            ending = REACHED
        elif rovers.moves[k] >= rules.longest:
            ending = LATE
        rovers.endings[k] = ending
        rovers.rewards[k] = worth(before, rovers.distances[k], ending, rules)
        observe(rovers, k, rules)


@kernel(error_model="numpy", allocates=False)
def drive(rovers: Rovers, k: int, action: int, rules: Rules) -> bool:
    """Move a rover; returns whether it touches something."""
    rover, situations = rovers.states[k], rovers.situations
    walls = Walls(situations.segments[k], situations.circles[k])
    if rules.slips:
        one = slice(k, k + 1)
        rovers.bumped[k] = False
        speeds = rules.speeds[action : action + 1]
        drive_tracks(
            rovers.states[one], speeds, rules.motion, rules.grip, walls, rovers.traces[one], rovers.bumped[one]
        )
        return rovers.bumped[k]
    trace = rovers.traces[k]
    steps = trace.shape[0] - 1
    ahead = (rules.stride if action == FORWARD else -rules.stride if action == BACKWARD else 0.0) / steps
    turn = (rules.turn if action == LEFT else -rules.turn if action == RIGHT else 0.0) / steps
    touched = False
    for step in range(steps + 1):
        if step > 0 and not touched:
            rover.x += ahead * math.cos(rover.yaw)
            rover.y += ahead * math.sin(rover.yaw)
            rover.yaw = wrap_compiled(rover.yaw + turn)
            touched = ahead != 0.0 and nearest(rover.x, rover.y, walls)[0] < rules.radius
        trace[step, 0], trace[step, 1], trace[step, 2] = rover.x, rover.y, rover.yaw
    return touched


@kernel(error_model="numpy", allocates=False)
def distance_to_goal(rovers: Rovers, k: int) -> float:
    """Of a rover [m]."""
    rover, goals = rovers.states[k], rovers.situations.goals
    return math.hypot(goals[k, 0] - rover.x, goals[k, 1] - rover.y)


@kernel(error_model="numpy", allocates=False)
def worth(before: float, after: float, ending: int, rules: Rules) -> float:
    """Reward of a move that changed the distance to the goal [m]."""
    if ending == REACHED:
        return rules.prize
    if ending != RUNNING:
        return -rules.prize
    if rules.reward == PROPORTIONAL:
        return 1.0 - (after / rules.reach) ** rules.exponent
    if rules.reward == PROGRESS:
        return (before - after) / rules.stride
    return 0.0


@kernel(error_model="numpy", allocates=False)
def observe(rovers: Rovers, k: int, rules: Rules) -> None:
    """Write what a rover observes."""
    rover, situations, seen = rovers.states[k], rovers.situations, rovers.seen[k]
    best, bx, by = math.inf, math.inf, 0.0
    for n in range(situations.counts[k, 1]):
        dx, dy = situations.circles[k, n, 0] - rover.x, situations.circles[k, n, 1] - rover.y
        centre = math.hypot(dx, dy)
        away = centre - situations.circles[k, n, 2]
        if away < best:
            share = away / max(centre, 1e-9)
            best, bx, by = away, share * dx, share * dy
    see_point(rover, bx, by, rules, seen[0:2])
    see_point(rover, situations.goals[k, 0] - rover.x, situations.goals[k, 1] - rover.y, rules, seen[2:4])
    lines = seen.shape[0] - FIXED
    if lines > 0:
        one = slice(k, k + 1)
        straight = Walls(situations.segments[k], situations.circles[k, :0])
        end = rovers.traces.shape[1] - 1
        cast_fans(
            straight,
            rovers.traces[one, end, :3],
            rules.fan,
            1.0 / rules.reach,
            Echoes(rovers.ranges[one], rovers.hits[one]),
        )
        for n in range(lines):
            measured = rovers.ranges[k, n]
            if rules.noise > 0.0:
                measured += rules.noise * normal(rover)
            seen[FIXED + n] = min(max(measured / rules.reach, 0.0), 1.0)


@kernel(error_model="numpy", allocates=False)
def see_point(rover: Any, dx: float, dy: float, rules: Rules, seen: Array) -> None:
    """Write distance and bearing (2,) of a point that is (dx, dy) from a rover [m]; far away it has no bearing."""
    if rules.noise > 0.0:
        dx += rules.noise * normal(rover)
        dy += rules.noise * normal(rover)
    seen[0] = min(math.hypot(dx, dy) / rules.reach, 1.0)
    seen[1] = wrap_compiled(math.atan2(dy, dx) - rover.yaw) if dx < math.inf else 0.0
