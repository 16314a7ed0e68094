"""One frame of learned rovers, compiled: they drive, look at the ground, and change it."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.geometry.planar import wrap_compiled
from sandlot.kernels import kernel
from sandlot.models.dense import BLOCK, Dense, forward_block, forward_one
from sandlot.surrogates.terrain.feet import STANCE, Ground, has_moved, stand
from sandlot.surrogates.terrain.grip import GRIPS, hold
from sandlot.surrogates.terrain.imprint import MAX_FEET, Spreading, imprint
from sandlot.surrogates.terrain.inputs import SOIL_INPUTS
from sandlot.surrogates.terrain.looking import Support, look
from sandlot.typing import Array, IntArray

STATE = np.dtype(
    [
        ("position", np.float64, 3),
        ("attitude", np.float64, 3),
        ("motion", np.float64, 3),
        ("wheels", np.float64, 2),
        ("angles", np.float64, 2),
        ("rest", np.float64, 3),
        ("change", np.float64, 3),
        ("grip", np.float64, GRIPS),
        ("still", np.float64),
        ("since", np.int64),
        ("waited", np.int64),
        ("last_position", np.float64, 3),
        ("last_attitude", np.float64, 3),
    ]
)
"""A learned rover: position [m]; roll, pitch and yaw [rad]; its horizontal speed ahead and to the left [m/s] and its
turn rate [rad/s]; speeds [rad/s] and angles [rad] of its left and its right wheels; its height above the plane through
the ground below its feet [m], its pitch and roll relative to it [rad], and their last changes; its grip; 1 if it stands
still, else 0; least mark of the nodes below it; frames since it last changed the ground, and its
position and attitude then."""
RESTS = 3
"""Height above the plane, pitch and roll relative to it."""
STILL_WHEELS, STILL_SPEED = 0.02, 0.003
"""A rover whose motors and wheels turn by less than this [rad/s], and that is slower than this [m/s], stays as it is:
small errors of the nets would let it creep and sink."""
ABOVE = 1.0
"""A rover that is put down was higher by this before [m]."""
NEVER = 2**62
"""``since`` of a rover that is above no node yet."""
SHEAR = len(SOIL_INPUTS)
"""Of the values of a soil, this is its shear length [m]. Soil inputs come before it; gains of the inputs of the net,
and further inputs, come after it."""
MAX_PUSHED = 200
"""Nodes of which one foot can push soil aside in a frame."""


class Learned(NamedTuple):
    """A learned rover, for kernels.

    Attributes:
        support: Where it looks at the ground.
        feet: (feet,) of FOOT.
        spots: (SPOTS, 2) where its grip is kept [m].
        means: (inputs,) of what the net gets that moves it, besides the soil.
        drive: Net that moves it.
        settle: Net that puts it on the ground at first.
        limits: (5,) largest speeds [m/s, rad/s].
        ranges: (RESTS, 2) of height above the plane, and pitch and roll relative to it [m, rad].
        interval: Between frames [s].
        radius: Of the wheels [m].
        base: Distance of the left from the right wheels [m].
        top_speed: Of the motors [rad/s].
        lever: As of `has_moved` [m].
    """

    support: Support
    feet: NDArray[np.void]
    spots: Array
    means: Array
    drive: Dense
    settle: Dense
    limits: Array
    ranges: Array
    interval: float
    radius: float
    base: float
    top_speed: float
    lever: float


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
        block: (2, largest layer + 1, BLOCK).
        line: (2, largest layer).
        before: (feet,) of STANCE.
        after: (feet,) of STANCE.
        work: (feet, 3).
        pushed: (feet, MAX_PUSHED, 3).
    """

    block: NDArray[np.float32]
    line: NDArray[np.float32]
    before: NDArray[np.void]
    after: NDArray[np.void]
    work: Array
    pushed: Array


def make_scratch(learned: Learned) -> Scratch:
    """Room for one thread."""
    most, feet = int(max(learned.drive.sizes.max(), learned.settle.sizes.max())), len(learned.feet)
    return Scratch(
        np.zeros((2, most + 1, BLOCK), np.float32),
        np.zeros((2, most), np.float32),
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
def fill_inputs(
    learned: Learned, state: np.void, seen: Array, soil: Array, command: Array, values: NDArray[np.float32]
) -> None:
    """Fill the inputs of the net that moves a rover: values (inputs or more,); its grip changes."""
    means, k, gain = learned.means, seen.size, soil[SHEAR + 1 :]
    half = 0.5 * learned.base * command[1]
    left, right = (command[0] - half) / learned.radius, (command[0] + half) / learned.radius
    slower = min(1.0, learned.top_speed / max(abs(left), abs(right), 1e-12))
    left, right = left * slower, right * slower
    motion, wheels, rest, change, grip = state["motion"], state["wheels"], state["rest"], state["change"], state["grip"]
    turning = max(abs(left), abs(right), abs(wheels[0]), abs(wheels[1]))
    moving = abs(motion[0]) + abs(motion[1]) + learned.base * abs(motion[2])
    state["still"] = 1.0 if turning < STILL_WHEELS and moving < STILL_SPEED else 0.0
    hold(learned.spots, learned.radius, learned.interval, soil[SHEAR], motion, wheels[0], wheels[1], grip)
    for m in range(k):
        values[m] = (seen[m] - means[m]) * gain[m]
    values[k], values[k + 1] = (left - means[k]) * gain[k], (right - means[k + 1]) * gain[k + 1]
    k += 2
    for m in range(3):
        values[k + m] = (motion[m] - means[k + m]) * gain[k + m]
        values[k + 5 + m] = (rest[m] - means[k + 5 + m]) * gain[k + 5 + m]
        values[k + 8 + m] = (change[m] - means[k + 8 + m]) * gain[k + 8 + m]
    for m in range(2):
        values[k + 3 + m] = (wheels[m] - means[k + 3 + m]) * gain[k + 3 + m]
    k += 11
    for m in range(GRIPS):
        values[k + m] = (grip[m] - means[k + m]) * gain[k + m]
    for m in range(means.size, gain.size):
        values[m] = gain[m]


@kernel(error_model="numpy", allocates=False)
def move(learned: Learned, state: np.void, changes: NDArray[np.float32]) -> None:
    """Change the state of a rover by the outputs of a net (MOVES or more,), and drive for one frame."""
    limits, ranges, dt = learned.limits, learned.ranges, learned.interval
    if state["still"] > 0.0:
        for m in range(3):
            state["motion"][m] = state["change"][m] = 0.0  # its grip stays
        state["wheels"][0] = state["wheels"][1] = 0.0
        return
    for m in range(3):
        state["motion"][m] = min(max(state["motion"][m] + changes[m], -limits[m]), limits[m])
        rest = min(max(state["rest"][m] + changes[5 + m], ranges[m, 0]), ranges[m, 1])
        state["change"][m] = rest - state["rest"][m]
        state["rest"][m] = rest
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
def stand_up(state: np.void, seen: Array, middle: float) -> None:
    """Height, pitch and roll of a rover, from what it sees of the ground, and the height of the ground's plane [m]."""
    rest = state["rest"]
    state["position"][2] = middle + rest[0]
    state["attitude"][1] = rest[1] - math.atan(seen[seen.size - 2])
    state["attitude"][0] = rest[2] + math.atan(seen[seen.size - 1])


@kernel(error_model="numpy", allocates=False)
def look_below(learned: Learned, state: np.void, maps: Maps, at: int, yields: bool, seen: Array) -> float:
    """`look` at one of the maps below a rover."""
    x, y, yaw = state["position"][0], state["position"][1], state["attitude"][2]
    return look(learned.support, ground_of(maps, at), state["since"], maps.initial[at], yields, x, y, yaw, seen)


@kernel(error_model="numpy", nogil=True, allocates=False)
def put_down(
    learned: Learned,
    states: NDArray[np.void],
    seen: Array,
    soils: Array,
    maps: Maps,
    where: IntArray,
    spreading: Array,
    deforms: bool,
    scratch: Scratch,
) -> None:
    """Put rovers down where their positions and yaws say; arguments as of `advance`."""
    line, ranges = scratch.line, learned.ranges
    for k in range(len(states)):
        state = states[k]
        middle = look_below(learned, state, maps, where[k], deforms, seen[k])
        width = seen.shape[1]
        for m in range(width):
            line[0, m] = seen[k, m]
        for m in range(SHEAR):
            line[0, width + m] = soils[k, m]
        found = line[forward_one(learned.settle, line)]
        for m in range(3):
            state["rest"][m] = min(max(found[m], ranges[m, 0]), ranges[m, 1])
        stand_up(state, seen[k], middle)
        for m in range(3):
            state["last_position"][m], state["last_attitude"][m] = state["position"][m], state["attitude"][m]
        state["last_position"][2] += ABOVE
    if deforms:
        deform(learned, states, maps, where, spreading, scratch)


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
        soils: (n, values) of the soil under each, as `MotionModel.soils` gives them.
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
        if count == 1:
            fill_inputs(learned, states[low], seen[low], soils[low], commands[low], line[0])
            move(learned, states[low], line[forward_one(learned.drive, line)])
        else:
            for r in range(count):
                k = low + r
                fill_inputs(learned, states[k], seen[k], soils[k], commands[k], block[0, :, r])
            found = block[forward_block(learned.drive, block)]
            for r in range(count):
                move(learned, states[low + r], found[:, r])
        for k in range(low, low + count):
            if states[k]["still"] == 0.0:
                middle = look_below(learned, states[k], maps, where[k], deforms, seen[k])
                stand_up(states[k], seen[k], middle)
    if deforms:
        deform(learned, states, maps, where, spreading, scratch)


@kernel(error_model="numpy", allocates=False)
def deform(
    learned: Learned, states: NDArray[np.void], maps: Maps, where: IntArray, spreading: Array, scratch: Scratch
) -> None:
    """Change the ground under rovers that have moved far enough, one after the other; arguments as of `advance`."""
    for k in range(len(states)):
        state, at, share = states[k], where[k], spreading[k]
        position, attitude = state["position"], state["attitude"]
        before, turned = state["last_position"], state["last_attitude"]
        if state["still"] > 0.0:
            continue
        state["waited"] += 1
        if not has_moved(position, attitude, before, turned, learned.lever, maps.spacing):
            continue
        stand(learned.feet, before, turned, scratch.before)
        stand(learned.feet, position, attitude, scratch.after)
        maps.frames[at] += 1
        imprint(
            ground_of(maps, at),
            learned.feet,
            scratch.before,
            scratch.after,
            learned.interval * state["waited"],
            Spreading(share[0], share[1], share[2], share[3]),
            maps.frames[at],
            state["since"],
            scratch.work,
            scratch.pushed,
        )
        state["since"] = maps.frames[at] * MAX_FEET
        state["waited"] = 0
        for m in range(3):
            before[m], turned[m] = position[m], attitude[m]


def make_maps(heights: Array, initial: Array, x0: float, y0: float, spacing: float, wrap: bool) -> Maps:
    """Maps with nothing on them; heights and initial (maps, ny, nx) [m] are not copied."""
    (marks, above), frames = np.zeros((2, *heights.shape), np.int64), np.zeros(len(heights), np.int64)
    return Maps(heights, initial, marks, above, np.zeros(heights.shape), frames, x0, y0, spacing, wrap)
