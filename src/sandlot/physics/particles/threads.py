"""Steps of particles on several cores, when many are awake.

A contact writes to both of its particles. The container is therefore cut into slabs that are wider than particles on
both sides can reach. All slabs of even number are computed at the same time, then the others. No two threads write to
the same particle, and the forces on a particle are added in the same order for any number of threads.
"""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from numba import get_num_threads

from sandlot.kernels import kernel
from sandlot.physics.particles.bodies import Bodies, advance, press
from sandlot.physics.particles.contacts import collide, move
from sandlot.physics.particles.law import Law
from sandlot.physics.particles.neighbours import update_neighbours
from sandlot.physics.particles.state import NEIGHBOUR_MARGIN, State
from sandlot.typing import IntArray

THREADED_FROM = 10_000
"""Several threads are used from this number of particles awake on; below it, one is as fast."""
SLAB_WIDTH = 2.01
"""Width of a slab over the maximum distance of neighbours: two, and a margin for rounding."""


@kernel(error_model="numpy", nogil=True)
def prepare(
    law: Law, state: State, bodies: Bodies, share: float, dt: float, width: float, who: IntArray, starts: IntArray
) -> None:
    """Do what a step needs before particles collide, and sort the particles that are awake into slabs.

    Args:
        law: As for `advance`.
        state: As for `advance`.
        bodies: As for `advance`.
        share: Weight of this step in the mean load on bodies.
        dt: Length of the step [s].
        width: Width of a slab [m].
        who: (n,) receives the particles that are awake, slab by slab: first those of even number, then the others.
        starts: (slabs + 1,) receives where each slab begins in ``who``, in that order, and where the last one ends.
    """
    update_neighbours(law, state, dt)
    press(law, state, bodies, share, dt)
    box, slabs, awake = state.box, len(starts) - 1, state.counters[0]["awake"]
    along_x = box.x_max - box.x_min > box.y_max - box.y_min
    axis, low = (0, box.x_min) if along_x else (1, box.y_min)
    slot = np.empty(awake, np.int64)
    starts[:] = 0
    for a in range(awake):
        # Lists of neighbours are made by anchors, not by positions.
        slab = int((state.marks[state.awake[a]]["anchor"][axis] - low) / width)
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
    """Divide slabs into parts of about the same size; returns begin and end of each.

    Args:
        starts: Where slabs begin, and where the last one ends.
        count: Maximum number of parts; empty ones are left out.
    """
    low, high = starts[0], starts[-1]
    wanted = [low + k * (high - low) / count for k in range(1, count)]
    ends = [low, *(min(starts, key=lambda start: abs(start - place)) for place in wanted), high]
    return [(first, end) for first, end in pairwise(ends) if first < end]


def advance_threaded(law: Law, state: State, bodies: Bodies, dt: float, steps: int) -> None:
    """Advance particles by some steps, as `advance` does: on as many cores as Numba may use, if many are awake."""
    done = advance(law, state, bodies, dt, 0, steps, THREADED_FROM)
    if done == steps:
        return
    box, threads, width = state.box, get_num_threads(), SLAB_WIDTH * (2.0 + NEIGHBOUR_MARGIN) * law.radius
    slabs = math.ceil(max(box.x_max - box.x_min, box.y_max - box.y_min) / width)
    who, starts = np.empty_like(state.awake), np.empty(slabs + 1, np.int64)
    evens = (slabs + 1) // 2
    with ThreadPoolExecutor(threads) as pool:

        def run(work: Callable[..., None], pieces: list[tuple[int, int]]) -> None:
            """Run the first piece in this thread, and the others in the pool."""
            others = [pool.submit(work, law, state, who, first, end, dt) for first, end in pieces[1:]]
            for first, end in pieces[:1]:
                work(law, state, who, first, end, dt)
            for other in others:
                other.result()

        while done < steps:
            prepare(law, state, bodies, 1.0 / steps, dt, width, who, starts)
            cuts = starts.tolist()
            run(collide_part, parts(cuts[: evens + 1], threads))
            run(collide_part, parts(cuts[evens:], threads))
            run(move_part, parts([cuts[-1] * k // threads for k in range(threads + 1)], threads))
            state.counters[0]["step"] += 1
            done = advance(law, state, bodies, dt, done + 1, steps, THREADED_FROM)
