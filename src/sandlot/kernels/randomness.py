"""Random numbers inside kernels: one small stream per agent.

A stream is the ``uint64`` field ``stream`` of a record, stepped by SplitMix64
(Steele, Lea and Flood 2014). Because every agent owns its stream, what an agent
draws does not depend on the order in which agents are visited.
"""

import math

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel

STEP = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
SHIFT_1, SHIFT_2, SHIFT_3 = np.uint64(30), np.uint64(27), np.uint64(31)
TOP_53 = np.uint64(11)


def children(seed: np.random.SeedSequence, n: int) -> list[np.random.SeedSequence]:
    """Give ``n`` independent children of a seed; the same ones every time, where ``spawn`` would give new ones."""
    return [np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, k)) for k in range(n)]


def streams(seed: np.random.SeedSequence, n: int) -> NDArray[np.uint64]:
    """Start ``n`` independent streams from one seed; shape ``(n,)``."""
    return seed.generate_state(n, np.uint64).astype(np.uint64, copy=False)


@kernel(inline="always")
def uniform(owner: np.void) -> float:
    """Draw from [0, 1) with the owner's ``stream``, and advance it."""
    z = owner["stream"] + STEP
    owner["stream"] = z
    z = (z ^ (z >> SHIFT_1)) * MIX_1
    z = (z ^ (z >> SHIFT_2)) * MIX_2
    z = z ^ (z >> SHIFT_3)
    return (z >> TOP_53) * (1.0 / 9007199254740992.0)


@kernel(inline="always")
def below(owner: np.void, n: int) -> int:
    """Draw a whole number from 0 to ``n - 1`` with the owner's ``stream``, and advance it."""
    return int(uniform(owner) * n)


@kernel(inline="always")
def normal(owner: np.void) -> float:
    """Draw a standard normal number with the owner's ``stream`` (Box and Muller 1958), and advance it by two."""
    radius = math.sqrt(-2.0 * math.log(1.0 - uniform(owner)))
    return radius * math.cos(2.0 * math.pi * uniform(owner))
