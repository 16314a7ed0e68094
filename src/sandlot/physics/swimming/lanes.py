"""How the bodies that are stepped together lie in memory: 64 lanes, one for each body.

The arrays are flat, with the lane as the innermost index and rows at constant offsets: ``array[ROW + i]`` is a row of
lane ``i``. Only then can the compiler tell that rows do not overlap, and turn the loops over lanes into vector
instructions. Row offsets are therefore multiples of `LANES`.
"""

from typing import Any, NamedTuple

import numpy as np

from sandlot.kernels import kernel
from sandlot.physics.swimming.rows import FIXED
from sandlot.typing import Array

LANES = 64
"""Bodies that are stepped together: their scratch rows fit the first-level cache."""

ANGLE, RATE, ACC, LAST, TARGET, HAVE, NEED = (LANES * row for row in range(7))
JOINT_ROWS = 7 * LANES
"""Rows of joint j, from ``j * JOINT_ROWS`` on: angle [rad], rate [rad/s], acceleration until the next command
[rad/s^2], angle that the last command reached for [rad], commanded angle [rad], torque that keeps the rate [N*m], and
torque that the acceleration needs on top of that [N*m]."""

LINK_ROWS = 11 * LANES
"""Link k, from the head on, has its rows from ``k * LINK_ROWS`` on; `torques` names them."""

SCRATCH_ROWS = 31
"""As many as `torques` uses; `servo` and `step` use the same memory with rows of their own."""


class Lanes(NamedTuple):
    """Flat arrays of the bodies that are stepped together.

    Attributes:
        state: Rows of `sandlot.physics.swimming.rows`: row r begins at ``LANES * r``.
        joints: Rows of every joint.
        links: Rows of every link, in the head's frame.
        scratch: Rows that only one function uses at a time.
    """

    state: Array
    joints: Array
    links: Array
    scratch: Array


@kernel(nogil=True)
def allocate(body: Any) -> Lanes:
    """Uninitialised lanes for bodies of this record of `SWIMMER`."""
    return Lanes(
        np.empty(FIXED * LANES),
        np.empty((body.links - 1) * JOINT_ROWS),
        np.empty(body.links * LINK_ROWS),
        np.empty(SCRATCH_ROWS * LANES),
    )


@kernel(nogil=True)
def load(lanes: Lanes, state: Array, first: int, count: int) -> None:
    """Copy bodies ``first`` to ``first + count`` of a state into the lanes; spare lanes repeat the last body."""
    z, joints = lanes.state, lanes.joints
    joint_count = (state.shape[0] - FIXED) // 3
    for i in range(LANES):
        b = first + min(i, count - 1)
        for row in range(FIXED):
            z[LANES * row + i] = state[row, b]
        for j in range(joint_count):
            joints[j * JOINT_ROWS + ANGLE + i] = state[FIXED + j, b]
            joints[j * JOINT_ROWS + RATE + i] = state[FIXED + joint_count + j, b]
            joints[j * JOINT_ROWS + LAST + i] = state[FIXED + 2 * joint_count + j, b]


@kernel(nogil=True)
def save(lanes: Lanes, state: Array, first: int, count: int) -> None:
    """Copy the bodies in the lanes back to where `load` took them from."""
    z, joints = lanes.state, lanes.joints
    joint_count = (state.shape[0] - FIXED) // 3
    for i in range(count):
        b = first + i
        for row in range(FIXED):
            state[row, b] = z[LANES * row + i]
        for j in range(joint_count):
            state[FIXED + j, b] = joints[j * JOINT_ROWS + ANGLE + i]
            state[FIXED + joint_count + j, b] = joints[j * JOINT_ROWS + RATE + i]
            state[FIXED + 2 * joint_count + j, b] = joints[j * JOINT_ROWS + LAST + i]


@kernel(nogil=True)
def set_targets(lanes: Lanes, targets: Array, first: int, count: int) -> None:
    """Copy the commanded angles (joints, bodies) [rad] of bodies ``first`` to ``first + count`` into the lanes."""
    joints = lanes.joints
    for j in range(targets.shape[0]):
        for i in range(LANES):
            joints[j * JOINT_ROWS + TARGET + i] = targets[j, first + min(i, count - 1)]
