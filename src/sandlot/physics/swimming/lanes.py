"""How the bodies that are stepped together lie in memory: 16 lanes, one for each body.

Each link has a block of rows, and a row holds one number for each lane: ``block[ROW + i]`` is a row of lane ``i``. The
compiler turns loops over lanes into vector instructions only if it can tell that rows do not overlap, and that no index
is negative. Kernels therefore take a slice of two neighbouring blocks and index it with constants.
"""

from typing import Any, NamedTuple

import numpy as np

from sandlot.kernels import kernel
from sandlot.physics.swimming.rows import COS, FIXED, SIN
from sandlot.typing import Array

LANES = 16
"""Bodies that are stepped together: with fewer, vectors stay empty; with more, bodies wait for the slowest one."""

(
    ANGLE,  # of the joint in front of the link [rad]
    TARGET,  # commanded angle of that joint [rad]
    COMMANDED,  # rate of its motor, until the next command [rad/s]
    WANTED,  # the same, within the joint's stops [rad/s]
    HELD,  # rate that the joint is held at, if its mode is not a torque [rad/s]
    MODE,  # what holds the joint (see `sweeps`)
    LAST_MODE,  # in the step before
    VX,  # velocity of the link's centre through the water [m/s]
    VY,
    SPIN,  # yaw rate of the link [rad/s]
    EX,  # direction of the link
    EY,
    RX,  # from the head link's centre to the link's centre [m]
    RY,
    XX,  # what the rest of the body does when its front joint is moved: see `sweeps.gather`
    XY,
    YY,
    XT,
    YT,
    TT,
    PX,
    PY,
    PT,
    REAR_VX,  # new velocity of the link's rear joint [m/s]
    REAR_VY,
    NEW_SPIN,  # new yaw rate of the link [rad/s]
    MISFITS,  # joints from the head to here whose mode does not fit
) = (LANES * row for row in range(27))
BLOCK = 27 * LANES
"""Numbers in a link's block. Rows of joints are unused in the block of the head."""


class Lanes(NamedTuple):
    """Flat arrays of the bodies that are stepped together.

    Attributes:
        state: The `FIXED` rows of `sandlot.physics.swimming.rows`: row r begins at ``LANES * r``.
        links: The block of every link, from the head on.
        sums: Rows for sums over links.
    """

    state: Array
    links: Array
    sums: Array


@kernel(nogil=True)
def allocate(body: Any) -> Lanes:
    """Lanes for bodies of this record of `SWIMMER`."""
    return Lanes(np.zeros(FIXED * LANES), np.zeros(body.links * BLOCK), np.zeros(6 * LANES))


@kernel(nogil=True)
def load(body: Any, lanes: Lanes, state: Array, first: int, count: int) -> None:
    """Copy bodies ``first`` to ``first + count`` of a state into the lanes; spare lanes repeat the last body."""
    z, links, n = lanes.state, lanes.links, body.links
    velocity = FIXED + n - 1
    mode = velocity + 3 * n
    for i in range(LANES):
        b = first + min(i, count - 1)
        for row in range(FIXED):
            z[LANES * row + i] = state[row, b]
        links[EX + i], links[EY + i] = state[COS, b], state[SIN, b]
        for k in range(n):
            p = k * BLOCK + i
            links[p + VX], links[p + VY] = state[velocity + k, b], state[velocity + n + k, b]
            links[p + SPIN] = state[velocity + 2 * n + k, b]
            if k > 0:
                links[p + ANGLE] = state[FIXED + k - 1, b]
                links[p + MODE], links[p + LAST_MODE] = state[mode + k - 1, b], state[mode + n + k - 2, b]


@kernel(nogil=True)
def save(body: Any, lanes: Lanes, state: Array, first: int, count: int) -> None:
    """Copy the bodies in the lanes back to where `load` took them from."""
    z, links, n = lanes.state, lanes.links, body.links
    velocity = FIXED + n - 1
    mode = velocity + 3 * n
    for i in range(count):
        b = first + i
        for row in range(FIXED):
            state[row, b] = z[LANES * row + i]
        state[COS, b], state[SIN, b] = links[EX + i], links[EY + i]
        for k in range(n):
            p = k * BLOCK + i
            state[velocity + k, b], state[velocity + n + k, b] = links[p + VX], links[p + VY]
            state[velocity + 2 * n + k, b] = links[p + SPIN]
            if k > 0:
                state[FIXED + k - 1, b] = links[p + ANGLE]
                state[mode + k - 1, b], state[mode + n + k - 2, b] = links[p + MODE], links[p + LAST_MODE]


@kernel(nogil=True)
def set_targets(lanes: Lanes, targets: Array, first: int, count: int) -> None:
    """Copy the commanded angles (joints, bodies) [rad] of bodies ``first`` to ``first + count`` into the lanes."""
    for j in range(targets.shape[0]):
        for i in range(LANES):
            lanes.links[(j + 1) * BLOCK + TARGET + i] = targets[j, first + min(i, count - 1)]
