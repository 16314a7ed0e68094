"""MuJoCo calls `forces.push` for the simulations of swimming bodies.

MuJoCo calls ``mjcb_passive`` whenever it sums up forces. There is one for the whole process, and it also runs while a
model compiles. So this callback looks for a mark in a simulation's user data, and leaves every other simulation alone.

User data of a swimming simulation are a record of `forces.SIMULATION`, then the plan of its joints (3, joints).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import mujoco
import numpy as np
from numba import types
from numba.np.numpy_support import carray

from sandlot.kernels import c_callback
from sandlot.physics.mujoco_bridge import data_offsets, to_pointer
from sandlot.physics.swimming.forces import MARK, SIMULATION, push

SIMULATION_WORDS = SIMULATION.itemsize // 8
"""User data before the plan."""


_installed: Any = None


def install() -> None:
    """Make MuJoCo call `push` for the swimming simulations of this process; calling it again has no effect."""
    global _installed
    if _installed is not None:
        return
    offsets = data_offsets(("qpos", "qvel", "qfrc_passive", "userdata", "time")).values()
    qpos, qvel, qfrc, userdata, now = (offset // 8 for offset in offsets)
    words = max(offsets) // 8 + 1

    @c_callback(types.void(types.voidptr, types.voidptr))
    def passive(_model: Any, data: Any) -> None:
        fields = carray(data, (words,), np.uint64)
        if fields[userdata] == 0:
            return
        if carray(to_pointer(fields[userdata]), (1,), np.float64)[0] != MARK:
            return
        simulation = carray(to_pointer(fields[userdata]), (1,), SIMULATION)[0]
        n = simulation.body.links
        size = n + 4 if simulation.ball_drag >= 0.0 else n + 2
        push(
            carray(to_pointer(fields[qpos]), (size,), np.float64),
            carray(to_pointer(fields[qvel]), (size,), np.float64),
            carray(to_pointer(fields[qfrc]), (size,), np.float64),
            carray(data, (words,), np.float64)[now],
            simulation,
            carray(to_pointer(fields[userdata] + np.uint64(8 * SIMULATION_WORDS)), (3, n - 1), np.float64),
        )

    @c_callback(types.void(types.voidptr))
    def quiet(_message: Any) -> None:
        pass

    mujoco.set_mjcb_passive(passive.ctypes)
    _installed = passive, quiet


@contextmanager
def quietly() -> Iterator[None]:
    """Keep MuJoCo from writing warnings to standard error and ``MUJOCO_LOG.TXT``; needs `install`.

    MuJoCo writes them when a simulation explodes, which `ReferenceSwimmers.exploded` reports instead.
    """
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(_installed[1].ctypes)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)
