"""Whether a learned rover stays within the physical range in every frame, whatever is commanded."""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.models.dense import BLOCK
from sandlot.physics.soil import SoilKind
from sandlot.surrogates.terrain.contact import SEEN, TILT
from sandlot.surrogates.terrain.ground_model import GroundModel
from sandlot.surrogates.terrain.inputs import soil_inputs
from sandlot.surrogates.terrain.looking import NEVER, STATE
from sandlot.surrogates.terrain.motion_model import MotionModel
from sandlot.surrogates.terrain.step import (
    Learned,
    Maps,
    Scratch,
    advance,
    make_maps,
    make_scratch,
    put_down,
)
from sandlot.typing import Array, BoolArray, IntArray

BOUNDS = (
    *("speed ahead", "speed to the left", "turn rate"),
    *("height above the rest", "pitch", "roll", "pose"),
)
"""What a bound is of; the pose must be finite, and that of a rover on its wheels: `TILT` and `RIDE`."""
RIDE = -0.15, 0.3
"""Height of the chassis above the ground below its middle [m]."""
HOLD = 100
"""Frames for which commands stay."""
AT_BOUND = 1e-9
TOGETHER = 256
"""Rovers that are driven at a time, at most."""


def reached(
    model: MotionModel,
    heights: Array,
    kinds: Sequence[SoilKind],
    starts: int,
    steps: int,
    seed: int,
    deforms: bool = False,
    threads: int = 1,
) -> BoolArray:
    """Which bounds of the model rovers reach in any frame after a random start: (starts, `BOUNDS`).

    A bound is beyond all that was recorded, and holds what reaches it. Places, headings and commands are random.

    Args:
        model: How the rovers move.
        heights: (ny, nx) nodes of 1 cm [m]; they wrap.
        kinds: Soils, which rovers have in turn.
        starts: How many.
        steps: Frames.
        seed: Of places and commands.
        deforms: Whether rovers change the ground, each on a map of its own.
        threads: To use; the result does not depend on it.
    """

    def drive(low: int) -> BoolArray:
        count = min(TOGETHER, starts - low)
        mine = [kinds[k % len(kinds)] for k in range(low, low + count)]
        return _drive(model, heights, mine, steps, np.random.default_rng([seed, low]), deforms)

    if starts == 0:
        return np.zeros((0, len(BOUNDS)), np.bool_)
    with ThreadPoolExecutor(threads) as pool:
        return np.concatenate(list(pool.map(drive, range(0, starts, TOGETHER))))


@kernel(error_model="numpy", allocates=False)
def note_bounds(learned: Learned, state: np.void, maps: Maps, at: int, found: BoolArray) -> None:
    """Note in (`BOUNDS`,) which bounds a rover is at on one of the maps, which wrap. NaN counts: it compares false."""
    motion, rest = state["motion"], state["rest"]
    limits, ranges, position = learned.limits, learned.ranges, state["position"]
    for m in range(3):
        found[m] |= not abs(motion[m]) < limits[m] - AT_BOUND
        found[3 + m] |= not ranges[m, 0] + AT_BOUND < rest[m] < ranges[m, 1] - AT_BOUND
        found[6] |= not math.isfinite(position[m])
    if not found[6]:
        (ny, nx), attitude = maps.heights[at].shape, state["attitude"]
        row = math.floor((position[1] - maps.y0) / maps.spacing + 0.5) % ny
        column = math.floor((position[0] - maps.x0) / maps.spacing + 0.5) % nx
        above = position[2] - maps.heights[at, row, column]
        found[6] |= not (abs(attitude[0]) < TILT and abs(attitude[1]) < TILT and RIDE[0] < above < RIDE[1])


@kernel(error_model="numpy", allocates=False, nogil=True)
def drive_watched(
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
    found: BoolArray,
) -> None:
    """Drive and note bounds (n, `BOUNDS`) before the first frame and after each.

    Arguments are as of `advance`, but ``commands`` (frames, n, 2).
    """
    for low in range(0, len(states), BLOCK):
        part = slice(low, min(low + BLOCK, len(states)))
        for k in range(len(commands) + 1):
            if k > 0:
                advance(
                    learned,
                    states[part],
                    seen[part],
                    soils[part],
                    commands[k - 1, part],
                    maps,
                    where[part],
                    spreading[part],
                    deforms,
                    scratch,
                )
            for r in range(low, min(low + BLOCK, len(states))):
                note_bounds(learned, states[r], maps, where[r], found[r])


def _drive(
    model: MotionModel,
    heights: Array,
    kinds: Sequence[SoilKind],
    steps: int,
    rng: np.random.Generator,
    deforms: bool,
) -> BoolArray:
    """A rover on each of some soils: (rovers, `BOUNDS`)."""
    learned, shape, count = model.learned(), model.shape, len(kinds)
    own = np.arange(count) if deforms else np.zeros(count, np.int64)
    initial = np.tile(heights, (own[-1] + 1, 1, 1))
    maps = make_maps(initial.copy(), initial, 0.0, 0.0, 0.01, True)
    size = 0.01 * np.array(heights.shape[::-1])
    states = np.zeros(count, STATE)
    states["since"] = NEVER
    states["position"][:, :2] = rng.uniform(0.0, size, (count, 2))
    states["attitude"][:, 2] = rng.uniform(-np.pi, np.pi, count)
    seen = np.zeros((count, SEEN))
    soils = model.soils(np.array([soil_inputs(kind, shape) for kind in kinds]))
    spreading, scratch = (
        np.array([GroundModel().spreading(kind) for kind in kinds]),
        make_scratch(learned, maps.spacing),
    )
    put_down(learned, states, seen, soils, maps, own, spreading, deforms, scratch)
    top = shape.top_speed * shape.radius * np.array([1.0, 2.0 / shape.base])
    found = np.zeros((count, len(BOUNDS)), np.bool_)
    for low in range(0, steps, HOLD):
        given = np.repeat(rng.uniform(-1.0, 1.0, (1, count, 2)) * top, min(HOLD, steps - low), axis=0)
        drive_watched(learned, states, seen, soils, given, maps, own, spreading, deforms, scratch, found)
    return found
