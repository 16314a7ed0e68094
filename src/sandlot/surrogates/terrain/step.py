"""One frame of learned rovers, compiled: they drive, settle on the ground, and change it."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.geometry.planar import wrap_compiled
from sandlot.kernels import kernel
from sandlot.models.dense import BLOCK, Dense, forward_block, forward_one
from sandlot.surrogates.terrain.feet import STANCE, Ground, stand
from sandlot.surrogates.terrain.imprint import MAX_FEET, Spreading, imprint
from sandlot.surrogates.terrain.looking import Support, look
from sandlot.typing import Array, IntArray

STATE = np.dtype(
    [
        ("position", np.float64, 3),
        ("attitude", np.float64, 3),
        ("motion", np.float64, 3),
        ("wheels", np.float64, 2),
        ("angles", np.float64, 2),
        ("clearance", np.float64),
        ("still", np.float64),
        ("since", np.int64),
        ("last_position", np.float64, 3),
        ("last_attitude", np.float64, 3),
    ]
)
"""A learned rover: position [m]; roll, pitch and yaw [rad]; its horizontal speed ahead and to the left [m/s] and its
turn rate [rad/s]; speeds [rad/s] and angles [rad] of its left and its right wheels; its height above the plane through
the ground below its feet [m]; 1 if it stands still, else 0;
least mark of the nodes below it; position and attitude in the frame before."""
MOVES = 5
"""The first net gives changes of three speeds and two wheel speeds."""
RESTS = 3
"""The second one gives height above the plane, pitch and roll relative to it."""
STILL_WHEELS, STILL_SPEED = 0.02, 0.003
"""A rover whose motors and wheels turn by less than this [rad/s], and that is slower than this [m/s], stays as it is:
small errors of the nets would let it creep and sink."""
ABOVE = 1.0
"""A rover that is put down was higher by this before [m]."""
NEVER = 2**62
"""``since`` of a rover that is above no node yet."""
MAX_PUSHED = 200
"""Nodes of which one foot can push soil aside in a frame."""


class Learned(NamedTuple):
    """A learned rover, for kernels.

    Attributes:
        support: Where it looks at the ground.
        feet: (feet,) of FOOT.
        drive: Net that moves it.
        rest: Net that puts it on the ground.
        limits: (MOVES,) largest speeds [m/s, rad/s].
        ranges: (RESTS, 2) of the second net's outputs [m, rad].
        interval: Between frames [s].
        radius: Of the wheels [m].
        base: Distance of the left from the right wheels [m].
        top_speed: Of the motors [rad/s].
    """

    support: Support
    feet: NDArray[np.void]
    drive: Dense
    rest: Dense
    limits: Array
    ranges: Array
    interval: float
    radius: float
    base: float
    top_speed: float


class Maps(NamedTuple):
    """Height maps of the same size.

    Attributes:
        heights: (maps, ny, nx) [m].
        initial: (maps, ny, nx) before anything touched them [m].
        marks: (maps, ny, nx) as of `Ground`.
        above: (maps, ny, nx) as of `Ground`.
        untouched: (maps, ny, nx) as of `Ground` [m].
        frames: (maps,) number of the last imprint of each.
        x0: X of the first node [m].
        y0: Y of the first node [m].
        spacing: Of nodes [m].
        wrap: Whether they continue at the opposite edge.
    """

    heights: Array
    initial: Array
    marks: IntArray
    above: IntArray
    untouched: Array
    frames: IntArray
    x0: float
    y0: float
    spacing: float
    wrap: bool


class Scratch(NamedTuple):
    """Room for one thread.

    Attributes:
        block: (2, largest layer, BLOCK).
        line: (2, largest layer).
        planes: (BLOCK, 3).
        before: (feet,) of STANCE.
        after: (feet,) of STANCE.
        work: (feet, 3).
        pushed: (feet, MAX_PUSHED, 3).
    """

    block: Array
    line: Array
    planes: Array
    before: NDArray[np.void]
    after: NDArray[np.void]
    work: Array
    pushed: Array


def make_scratch(learned: Learned) -> Scratch:
    """Room for one thread."""
    most, feet = int(max(learned.drive.sizes.max(), learned.rest.sizes.max())), len(learned.feet)
    return Scratch(
        np.zeros((2, most, BLOCK)),
        np.zeros((2, most)),
        np.zeros((BLOCK, 3)),
        np.zeros(feet, STANCE),
        np.zeros(feet, STANCE),
        np.zeros((feet, 3)),
        np.zeros((feet, MAX_PUSHED, 3)),
    )


@kernel(error_model="numpy", allocates=False)
def ground_of(maps: Maps, k: int) -> Ground:
    """One of the maps."""
    return Ground(
        maps.heights[k], maps.marks[k], maps.above[k], maps.untouched[k], maps.x0, maps.y0, maps.spacing, maps.wrap
    )


@kernel(error_model="numpy", allocates=False)
def drive_inputs(learned: Learned, state: np.void, seen: Array, soil: Array, command: Array, values: Array) -> None:
    """Fill the inputs of the net that moves a rover: values (inputs or more,)."""
    k = 0
    for m in range(2):
        values[k] = state["attitude"][m]
        k += 1
    values[k] = state["clearance"]
    k += 1
    for m in range(seen.size):
        values[k] = seen[m]
        k += 1
    for m in range(soil.size):
        values[k] = soil[m]
        k += 1
    for m in range(3):
        values[k] = state["motion"][m]
        k += 1
    half = 0.5 * learned.base * command[1]
    left, right = (command[0] - half) / learned.radius, (command[0] + half) / learned.radius
    slower = min(1.0, learned.top_speed / max(abs(left), abs(right), 1e-12))
    values[k], values[k + 1] = state["wheels"][0], state["wheels"][1]
    values[k + 2], values[k + 3] = left * slower, right * slower
    turning = max(abs(values[k]), abs(values[k + 1]), abs(values[k + 2]), abs(values[k + 3]))
    motion = state["motion"]
    moving = abs(motion[0]) + abs(motion[1]) + learned.base * abs(motion[2])
    still = state["clearance"] != 0.0 and turning < STILL_WHEELS and moving < STILL_SPEED
    state["still"] = 1.0 if still else 0.0


@kernel(error_model="numpy", allocates=False)
def move(learned: Learned, state: np.void, changes: Array) -> None:
    """Change the speeds of a rover by the outputs of a net (MOVES or more,), and drive for one frame."""
    limits, dt = learned.limits, learned.interval
    for m in range(3):
        state["last_position"][m], state["last_attitude"][m] = state["position"][m], state["attitude"][m]
    if state["still"] > 0.0 or state["clearance"] == 0.0:  # the latter was put down only now
        for m in range(3):
            state["motion"][m] = 0.0
        state["wheels"][0] = state["wheels"][1] = 0.0
        return
    for m in range(3):
        state["motion"][m] = min(max(state["motion"][m] + changes[m], -limits[m]), limits[m])
    for m in range(2):
        state["wheels"][m] = min(max(state["wheels"][m] + changes[3 + m], -limits[3 + m]), limits[3 + m])
        state["angles"][m] += dt * state["wheels"][m]
    turn = dt * state["motion"][2]
    middle = state["attitude"][2] + 0.5 * turn
    c, s = math.cos(middle), math.sin(middle)
    state["position"][0] += dt * (c * state["motion"][0] - s * state["motion"][1])
    state["position"][1] += dt * (s * state["motion"][0] + c * state["motion"][1])
    state["attitude"][2] = wrap_compiled(state["attitude"][2] + turn)


@kernel(error_model="numpy", allocates=False)
def rest_inputs(state: np.void, seen: Array, soil: Array, ahead: float, left: float, values: Array) -> None:
    """Fill the inputs of the net that puts a rover on the ground: values (inputs or more,)."""
    k = 0
    for m in range(seen.size):
        values[k] = seen[m]
        k += 1
    for m in range(soil.size):
        values[k] = soil[m]
        k += 1
    values[k], values[k + 1] = ahead, left
    k += 2
    for m in range(3):
        values[k] = state["motion"][m]
        k += 1
    values[k], values[k + 1] = state["wheels"][0], state["wheels"][1]


@kernel(error_model="numpy", allocates=False)
def settle(learned: Learned, state: np.void, rests: Array, plane: Array) -> None:
    """Put a rover on the ground: outputs of a net (RESTS or more,), and slopes and height of a plane (3,)."""
    if state["still"] > 0.0:
        return
    ranges = learned.ranges
    clearance = min(max(rests[0], ranges[0, 0]), ranges[0, 1])
    state["position"][2] = plane[2] + clearance
    if state["clearance"] == 0.0:
        state["last_position"][2] = state["position"][2] + ABOVE
    state["clearance"] = clearance
    state["attitude"][1] = min(max(rests[1], ranges[1, 0]), ranges[1, 1]) - math.atan(plane[0])
    state["attitude"][0] = min(max(rests[2], ranges[2, 0]), ranges[2, 1]) + math.atan(plane[1])


@kernel(error_model="numpy", nogil=True, allocates=False)
def advance(
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
) -> None:
    """Drive rovers for one frame.

    Args:
        learned: What they are like.
        states: (n,) of STATE; changed in place.
        seen: (n, width) what each saw of the ground last; changed in place.
        soils: (n, soil inputs) under each.
        commands: (n, 2) forward speed [m/s] and turn rate to the left [rad/s].
        maps: Changed in place.
        where: (n,) map that each is on.
        spreading: (n, 4) as of `Spreading`.
        deforms: Whether they change the ground.
        scratch: Room to work.
    """
    n, line, block = len(states), scratch.line, scratch.block
    for low in range(0, n, BLOCK):
        count = min(BLOCK, n - low)
        single = count == 1
        for r in range(count):
            k = low + r
            drive_inputs(learned, states[k], seen[k], soils[k], commands[k], line[0] if single else block[0, :, r])
        if single:
            move(learned, states[low], line[forward_one(learned.drive, line)])
        else:
            found = block[forward_block(learned.drive, block)]
            for r in range(count):
                move(learned, states[low + r], found[:, r])
        for r in range(count):
            k = low + r
            state, at = states[k], where[k]
            x, y, yaw = state["position"][0], state["position"][1], state["attitude"][2]
            ahead, left, middle = look(
                learned.support, ground_of(maps, at), state["since"], maps.initial[at], x, y, yaw, seen[k]
            )
            plane = scratch.planes[r]
            plane[0], plane[1], plane[2] = ahead, left, middle
            rest_inputs(state, seen[k], soils[k], ahead, left, line[0] if single else block[0, :, r])
        if single:
            settle(learned, states[low], line[forward_one(learned.rest, line)], scratch.planes[0])
        else:
            found = block[forward_block(learned.rest, block)]
            for r in range(count):
                settle(learned, states[low + r], found[:, r], scratch.planes[r])
    if deforms:
        deform(learned, states, maps, where, spreading, scratch)


@kernel(error_model="numpy", allocates=False)
def deform(
    learned: Learned, states: NDArray[np.void], maps: Maps, where: IntArray, spreading: Array, scratch: Scratch
) -> None:
    """Change the ground under rovers that have moved, one after the other; arguments as of `advance`."""
    for k in range(len(states)):
        state, at, share = states[k], where[k], spreading[k]
        if state["still"] > 0.0:
            continue
        stand(learned.feet, state["last_position"], state["last_attitude"], scratch.before)
        stand(learned.feet, state["position"], state["attitude"], scratch.after)
        maps.frames[at] += 1
        imprint(
            ground_of(maps, at),
            learned.feet,
            scratch.before,
            scratch.after,
            learned.interval,
            Spreading(share[0], share[1], share[2], share[3]),
            maps.frames[at],
            state["since"],
            scratch.work,
            scratch.pushed,
        )
        state["since"] = maps.frames[at] * MAX_FEET


def make_maps(heights: Array, initial: Array, x0: float, y0: float, spacing: float, wrap: bool) -> Maps:
    """Maps with nothing on them; heights and initial (maps, ny, nx) [m] are not copied."""
    (marks, above), frames = np.zeros((2, *heights.shape), np.int64), np.zeros(len(heights), np.int64)
    return Maps(heights, initial, marks, above, np.zeros(heights.shape), frames, x0, y0, spacing, wrap)
