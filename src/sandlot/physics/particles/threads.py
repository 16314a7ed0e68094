"""Steps of particles on several cores, when many are awake.

A contact writes to both of its particles. So the container is cut into slabs, which are wider than two particles can
reach from both sides: every second slab goes first, at the same time, then those between them. No two threads write to
the same particle, and each adds up its forces in the same order, however many threads there are.
"""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from numba import get_num_threads

from sandlot.kernels import kernel
from sandlot.physics.particles.bodies import Bodies, Shapes, advance, press
from sandlot.physics.particles.contacts import collide, move
from sandlot.physics.particles.neighbours import attend
from sandlot.physics.particles.state import ANCHOR, AWAKE, SKIN, STEP, Law, State
from sandlot.typing import IntArray

MANY = 10_000
"""As long as fewer are awake, one thread is as fast."""
SLAB = 2.01
"""Width of a slab, over the greatest distance of neighbours: two, and a little for rounding."""


@kernel(error_model="numpy", nogil=True)
def prepare(
    law: Law,
    state: State,
    shapes: Shapes,
    bodies: Bodies,
    share: float,
    dt: float,
    width: float,
    who: IntArray,
    starts: IntArray,
) -> None:
    """Do what a step needs before particles collide, and sort who is awake into slabs.

    Args:
        law: As `advance`.
        state: As `advance`.
        shapes: As `advance`.
        bodies: As `advance`.
        share: Of the force on bodies that is to count.
        dt: Length of the step [s].
        width: Of a slab [m].
        who: (n,) gets who is awake, slab by slab: first those of even number, then the others.
        starts: (slabs + 1,) gets where each slab begins in ``who``, in that order, and where the last one ends.
    """
    attend(law, state, dt)
    press(law, state, shapes, bodies, share, dt)
    box, slabs, awake = state.box, len(starts) - 1, state.tally[AWAKE]
    axis = 0 if box[1] - box[0] > box[3] - box[2] else 1
    slot = np.empty(awake, np.int64)
    starts[:] = 0
    for a in range(awake):
        # Neighbours are those whose anchors are near each other.
        slab = int((state.marks[state.awake[a], ANCHOR + axis] - box[2 * axis]) / width)
        slab = min(max(slab, 0), slabs - 1)
        slot[a] = slab // 2 if slab % 2 == 0 else (slabs + 1) // 2 + slab // 2
        starts[slot[a] + 1] += 1
    for slab in range(slabs):
        starts[slab + 1] += starts[slab]
    free = starts.copy()
    for a in range(awake):
        who[free[slot[a]]] = state.awake[a]
        free[slot[a]] += 1


@kernel(allocates=False, error_model="numpy", nogil=True)
def collide_part(law: Law, state: State, who: IntArray, first: int, end: int, dt: float) -> None:
    """`collide`, for Python to call."""
    collide(law, state, who, first, end, dt)


@kernel(allocates=False, error_model="numpy", nogil=True)
def move_part(law: Law, state: State, who: IntArray, first: int, end: int, dt: float) -> None:
    """`move`, for Python to call."""
    move(law, state, who, first, end, dt)


def parts(starts: list[int], count: int) -> list[tuple[int, int]]:
    """Begin and end of so many parts of about the same size, which are cut only where slabs begin.

    Args:
        starts: Where slabs begin, and where the last one ends.
        count: Of parts, at most; those that are empty are left out.
    """
    low, high = starts[0], starts[-1]
    wanted = [low + k * (high - low) / count for k in range(1, count)]
    ends = [low, *(min(starts, key=lambda start: abs(start - place)) for place in wanted), high]
    return [(first, end) for first, end in pairwise(ends) if first < end]


def proceed(law: Law, state: State, shapes: Shapes, bodies: Bodies, dt: float, steps: int) -> None:
    """Let particles go on by some steps, as `advance` does: on as many cores as Numba may use, if many are awake."""
    done = advance(law, state, shapes, bodies, dt, 0, steps, MANY)
    if done == steps:
        return
    threads, width = get_num_threads(), SLAB * (2.0 + SKIN) * law.radius
    slabs = math.ceil(max(state.box[1] - state.box[0], state.box[3] - state.box[2]) / width)
    who, starts = np.empty_like(state.awake), np.empty(slabs + 1, np.int64)
    evens = (slabs + 1) // 2
    with ThreadPoolExecutor(threads) as pool:

        def together(work: Callable[..., None], pieces: list[tuple[int, int]]) -> None:
            """Do the first piece here, and the others elsewhere."""
            others = [pool.submit(work, law, state, who, first, end, dt) for first, end in pieces[1:]]
            for first, end in pieces[:1]:
                work(law, state, who, first, end, dt)
            for other in others:
                other.result()

        while done < steps:
            prepare(law, state, shapes, bodies, 1.0 / steps, dt, width, who, starts)
            cuts = starts.tolist()
            together(collide_part, parts(cuts[: evens + 1], threads))
            together(collide_part, parts(cuts[evens:], threads))
            together(move_part, parts([cuts[-1] * k // threads for k in range(threads + 1)], threads))
            state.tally[STEP] += 1
            done = advance(law, state, shapes, bodies, dt, done + 1, steps, MANY)
