"""One frame of learned rovers, compiled: they drive, look at the ground, and change it."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.geometry.planar import wrap_compiled
from sandlot.kernels import kernel
from sandlot.models.dense import BLOCK, Dense, forward_block, forward_one
from sandlot.surrogates.terrain.contact import LOAD, QUARTERS, SEEN, UNDER
from sandlot.surrogates.terrain.drives import MOVES, STATES
from sandlot.surrogates.terrain.feet import STANCE, Ground, has_moved, stand
from sandlot.surrogates.terrain.grip import hold
from sandlot.surrogates.terrain.imprint import MAX_FEET, Spreading, imprint
from sandlot.surrogates.terrain.inputs import SOIL_INPUTS
from sandlot.surrogates.terrain.looking import ABOVE, has_left, higher, look_below
from sandlot.surrogates.terrain.motors import Motors, turned
from sandlot.surrogates.terrain.springs import Body, Give, Springs, make_springs
from sandlot.typing import Array, IntArray

RESTS = 3
"""Height, pitch and roll relative to where it would rest."""
STILL_WHEELS, STILL_SPEED = 0.02, 0.003
"""A rover whose motors and wheels turn by less than this [rad/s], and that is slower than this [m/s], stays as it is:
small errors of the nets would let it creep and sink."""
SHEAR = len(SOIL_INPUTS)
"""Of the values of a soil, this is its shear length [m]; soil inputs come before it."""
GIVE = SHEAR + 1
"""From here on, how it gives way, as of `Give`."""
GAINS = GIVE + len(Give._fields)
"""Gains of the inputs of the net, and further inputs."""
FEW = 16
"""So many rovers are computed together; fewer, one after the other."""
MAX_PUSHED = 200
"""Nodes of which one foot can push soil aside in a frame."""


class Learned(NamedTuple):
    """A learned rover, for kernels.

    Attributes:
        body: What touches the ground, and what it carries.
        spots: (SPOTS, 2) where its grip is kept [m].
        means: (inputs,) of what the net gets that moves it, besides the soil.
        motors: That turn its wheels.
        drive: Net that moves it, beside ``linear``.
        linear: Linear function of the same inputs; the changes of its state are the sums of both.
        settle: Net that puts it on the ground at first.
        limits: (3,) largest speeds [m/s, rad/s].
        ranges: (RESTS, 2) of height, pitch and roll relative to the rest [m, rad].
        interval: Between frames [s].
        radius: Of the wheels [m].
        base: Distance of the left from the right wheels [m].
        top_speed: Of the motors [rad/s].
        lever: As of `has_moved` [m].
    """

    body: Body
    spots: Array
    means: Array
    motors: Motors
    drive: Dense
    linear: Dense
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
        firm: (maps, ny, nx) as of `Ground` [m].
        marks: (maps, ny, nx) as of `Ground`.
        covered: (maps, ny, nx) as of `Ground`.
        surface: (maps, ny, nx) as of `Ground` [m].
        frames: (maps,) number of the last imprint of each.
        x0: X of the first node [m].
        y0: Y of the first node [m].
        spacing: Of nodes [m].
        wrap: Whether they continue at the opposite edge.
    """

    heights: Array
    initial: Array
    firm: Array
    marks: IntArray
    covered: Array
    surface: Array
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
        linear: (MOVES, BLOCK) outputs of the linear function.
        before: (feet,) of STANCE.
        after: (feet,) of STANCE.
        work: (feet, 3).
        pushed: (feet, MAX_PUSHED, 3).
        springs: Below a rover.
    """

    block: NDArray[np.float32]
    line: NDArray[np.float32]
    linear: NDArray[np.float32]
    before: NDArray[np.void]
    after: NDArray[np.void]
    work: Array
    pushed: Array
    springs: Springs


def make_scratch(learned: Learned, spacing: float) -> Scratch:
    """Room for one thread, on maps with nodes so far apart [m]."""
    most, feet = int(max(learned.drive.sizes.max(), learned.settle.sizes.max())), len(learned.body.feet)
    return Scratch(
        np.zeros((2, most + 1, BLOCK), np.float32),
        np.zeros((2, most), np.float32),
        np.zeros((MOVES, BLOCK), np.float32),
        np.zeros(feet, STANCE),
        np.zeros(feet, STANCE),
        np.zeros((feet, 3)),
        np.zeros((feet, MAX_PUSHED, 3)),
        make_springs(learned.body.feet, spacing),
    )


@kernel(error_model="numpy", allocates=False)
def ground_of(maps: Maps, k: int) -> Ground:
    """One of the maps."""
    return Ground(
        maps.heights[k],
        maps.initial[k],
        maps.firm[k],
        maps.marks[k],
        maps.covered[k],
        maps.surface[k],
        maps.x0,
        maps.y0,
        maps.spacing,
        maps.wrap,
    )


@kernel(error_model="numpy", allocates=False)
def give_in(soil: Array) -> Give:
    """How ground gives way, from the values of its soil."""
    return Give(soil[GIVE], soil[GIVE + 1], soil[GIVE + 2], soil[GIVE + 3], soil[GIVE + 4], soil[GIVE + 5])


@kernel(error_model="numpy", allocates=False)
def fill_inputs(
    learned: Learned, state: np.void, seen: Array, soil: Array, command: Array, values: NDArray[np.float32]
) -> None:
    """Fill the inputs of the net that moves a rover: values (inputs or more,); its grip changes."""
    means, k, gain = learned.means, SEEN, soil[GAINS:]
    half = 0.5 * learned.base * command[1]
    left, right = (command[0] - half) / learned.radius, (command[0] + half) / learned.radius
    slower = min(1.0, learned.top_speed / max(abs(left), abs(right), 1e-12))
    left, right = left * slower, right * slower
    motion, wheels, rest, change, grip = state["motion"], state["wheels"], state["rest"], state["change"], state["grip"]
    state["commanded"][0], state["commanded"][1] = left, right
    turning = max(abs(left), abs(right), abs(wheels[0]), abs(wheels[1]))
    moving = abs(motion[0]) + abs(motion[1]) + learned.base * abs(motion[2])
    state["still"] = 1.0 if turning < STILL_WHEELS and moving < STILL_SPEED else 0.0
    hold(learned.spots, learned.interval, soil[SHEAR], seen, motion, wheels[0], wheels[1], grip)
    for m in range(k):
        values[m] = (seen[m] - means[m]) * gain[m]
    values[k], values[k + 1] = (left - means[k]) * gain[k], (right - means[k + 1]) * gain[k + 1]
    k += 2
    for m in range(3):
        values[k + m] = (motion[m] - means[k + m]) * gain[k + m]
        values[k + 5 + m] = (rest[m] - means[k + 5 + m]) * gain[k + 5 + m]
    for m in range(2):
        values[k + 3 + m] = (wheels[m] - means[k + 3 + m]) * gain[k + 3 + m]
    for m in range(MOVES):
        values[k + 8 + m] = (change[m] - means[k + 8 + m]) * gain[k + 8 + m]
    k += STATES
    for quarter in range(QUARTERS):
        for m in range(2):
            wheel, under = k + 2 * quarter + m, k + 2 * (QUARTERS + quarter) + m
            values[wheel] = (grip[2 * quarter + m] * seen[LOAD + quarter] - means[wheel]) * gain[wheel]
            values[under] = (grip[2 * (QUARTERS + quarter) + m] * seen[UNDER + quarter] - means[under]) * gain[under]
    for m in range(means.size, gain.size):
        values[m] = gain[m]


@kernel(error_model="numpy", allocates=False)
def move(learned: Learned, state: np.void, changes: NDArray[np.float32]) -> None:
    """Change the state of a rover by the outputs of a net (MOVES or more,), and drive for one frame."""
    limits, ranges, dt = learned.limits, learned.ranges, learned.interval
    if state["still"] > 0.0:
        for m in range(3):
            state["motion"][m] = 0.0  # its grip stays
        for m in range(MOVES):
            state["change"][m] = 0.0
        state["wheels"][0] = state["wheels"][1] = 0.0
        return
    for m in range(3):
        speed = min(max(state["motion"][m] + changes[m], -limits[m]), limits[m])
        state["change"][m] = speed - state["motion"][m]
        state["motion"][m] = speed
        state["change"][3 + m] = changes[3 + m]
        state["rest"][m] = min(max(state["rest"][m] + changes[3 + m], ranges[m, 0]), ranges[m, 1])
    for m in range(2):
        state["wheels"][m] = turned(learned.motors, state["wheels"][m], state["commanded"][m])
        state["angles"][m] += dt * state["wheels"][m]
    turn = dt * state["motion"][2]
    middle = state["attitude"][2] + 0.5 * turn
    c, s = math.cos(middle), math.sin(middle)
    state["position"][0] += dt * (c * state["motion"][0] - s * state["motion"][1])
    state["position"][1] += dt * (s * state["motion"][0] + c * state["motion"][1])
    state["attitude"][2] = wrap_compiled(state["attitude"][2] + turn)


@kernel(error_model="numpy", allocates=False)
def stand_up(state: np.void) -> None:
    """Height, pitch and roll of a rover, from those at which it would rest."""
    state["position"][2] = state["at_rest"][0] + state["rest"][0] + higher(state)
    state["attitude"][1] = state["at_rest"][1] + state["rest"][1]
    state["attitude"][0] = state["at_rest"][2] + state["rest"][2]


@kernel(error_model="numpy", allocates=False)
def lay_down(learned: Learned, state: np.void, soil: Array, maps: Maps, at: int, springs: Springs, seen: Array) -> None:
    """Let a rover rest where its position and yaw say; it may be at any height before."""
    x, y = (state["position"][0] - maps.x0) / maps.spacing, (state["position"][1] - maps.y0) / maps.spacing
    heights, (ny, nx) = maps.heights[at], maps.heights[at].shape
    column, row = math.floor(x + 0.5), math.floor(y + 0.5)
    column = column % nx if maps.wrap else min(max(column, 0), nx - 1)
    row = row % ny if maps.wrap else min(max(row, 0), ny - 1)
    foot = learned.body.feet[0]
    state["at_rest"][0] = heights[row, column] + foot["radius"] - foot["z"]
    state["at_rest"][1] = state["at_rest"][2] = 0.0
    state["looked"][0] = np.nan  # nowhere yet
    look_below(learned.body, give_in(soil), state, ground_of(maps, at), springs, seen)


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
        lay_down(learned, state, soils[k], maps, where[k], scratch.springs, seen[k])
        for m in range(SEEN):
            line[0, m] = seen[k, m]
        for m in range(SHEAR):
            line[0, SEEN + m] = soils[k, m]
        found = line[forward_one(learned.settle, line)]
        for m in range(3):
            state["rest"][m] = min(max(found[m], ranges[m, 0]), ranges[m, 1])
        stand_up(state)
        for m in range(3):
            state["last_position"][m], state["last_attitude"][m] = state["position"][m], state["attitude"][m]
        state["last_position"][2] += ABOVE
    if deforms:
        deform(learned, states, soils, maps, where, spreading, scratch)


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
        seen: (n, SEEN) what each saw of the ground last; changed in place.
        soils: (n, values) of the soil under each, as `MotionModel.soils` gives them.
        commands: (n, 2) forward speed [m/s] and turn rate to the left [rad/s].
        maps: Changed in place.
        where: (n,) map that each is on.
        spreading: (n, 4) as of `Spreading`.
        deforms: Whether they change the ground.
        scratch: Room to work.
    """
    n, line, block, linear = len(states), scratch.line, scratch.block, scratch.linear
    for low in range(0, n, BLOCK):
        count = min(BLOCK, n - low)
        if count < FEW:
            for k in range(low, low + count):
                fill_inputs(learned, states[k], seen[k], soils[k], commands[k], line[0])
                of_linear = line[forward_one(learned.linear, line)]
                for m in range(MOVES):
                    linear[m, 0] = of_linear[m]
                of_net = line[forward_one(learned.drive, line)]
                for m in range(MOVES):
                    of_net[m] += linear[m, 0]
                move(learned, states[k], of_net)
        else:
            for r in range(count):
                k = low + r
                fill_inputs(learned, states[k], seen[k], soils[k], commands[k], block[0, :, r])
            all_linear = block[forward_block(learned.linear, block)]
            for m in range(MOVES):
                for r in range(BLOCK):
                    linear[m, r] = all_linear[m, r]
            all_net = block[forward_block(learned.drive, block)]
            for m in range(MOVES):
                for r in range(BLOCK):
                    all_net[m, r] += linear[m, r]
            for r in range(count):
                move(learned, states[low + r], all_net[:, r])
        for k in range(low, low + count):
            if states[k]["still"] == 0.0:
                if has_left(learned.lever, states[k]):
                    ground = ground_of(maps, where[k])
                    look_below(learned.body, give_in(soils[k]), states[k], ground, scratch.springs, seen[k])
                stand_up(states[k])
    if deforms:
        deform(learned, states, soils, maps, where, spreading, scratch)


@kernel(error_model="numpy", allocates=False)
def deform(
    learned: Learned,
    states: NDArray[np.void],
    soils: Array,
    maps: Maps,
    where: IntArray,
    spreading: Array,
    scratch: Scratch,
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
        stand(learned.body.feet, before, turned, scratch.before)
        stand(learned.body.feet, position, attitude, scratch.after)
        maps.frames[at] += 1
        imprint(
            ground_of(maps, at),
            learned.body.feet,
            scratch.before,
            scratch.after,
            learned.interval * state["waited"],
            Spreading(share[0], share[1], share[2], share[3]),
            give_in(soils[k]),
            maps.frames[at],
            state["since"],
            scratch.springs.covers[0],
            scratch.work,
            scratch.pushed,
        )
        state["since"] = maps.frames[at] * MAX_FEET
        state["waited"] = 0
        state["imprints"] += 1
        for m in range(3):
            before[m], turned[m] = position[m], attitude[m]


def make_maps(heights: Array, initial: Array, x0: float, y0: float, spacing: float, wrap: bool) -> Maps:
    """Maps with nothing on them; heights and initial (maps, ny, nx) [m] are not copied."""
    marks, frames = np.zeros(heights.shape, np.int64), np.zeros(len(heights), np.int64)
    firm, (covered, surface) = np.minimum(heights, initial), np.zeros((2, *heights.shape))
    return Maps(heights, initial, firm, marks, covered, surface, frames, x0, y0, spacing, wrap)
