"""Water and servos for MuJoCo: drag on a planar chain, and the torques that move its joints, as one compiled callback.

MuJoCo calls ``mjcb_passive`` whenever it sums up forces. There is one for the whole process, and it also runs while a
model compiles: so this one looks for a mark in a simulation's user data, and leaves every other simulation alone.

The servos are computed-torque ones. With plain position servos, stiff enough to move this body, MuJoCo is only first
order in the step and gains momentum in violent gaits; clamped ones become unstable. Here a joint is given the torque
that its acceleration needs, by inverse dynamics of the chain, and only errors are fed back, at the rate ``stiffness``.
Nothing is stiff any more, so that the fourth-order integrator can be used, and converges. Accelerations are
planned within the torque limit at every command, as in `swimming.water`; should some joint need more in between,
all accelerations shrink alike, and what keeps a joint's rate is never cut off: the water would tear it from its course,
faster than any servo could bring it back.
"""

import ctypes
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import mujoco
import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.numpy_support import carray

from sandlot.errors import SandlotError
from sandlot.kernels import c_callback, kernel
from sandlot.typing import Array

MARK = 20150703.0
"""In the first user datum of a simulation: it swims."""
WORDS = 2**15
"""Of eight bytes, within which ``mjData`` has all that is looked for; in MuJoCo 4.0 by the 20,171st."""

(
    MARKED,
    LINKS,
    LENGTH,
    SIDE_DRAG,
    END_DRAG,
    TIP_DRAG,
    CURRENT_X,
    CURRENT_Y,
    MASS,
    INERTIA,
    STIFFNESS,
    MAX_TORQUE,
    SINCE,
    SHARES,
    COMMANDS,
    BALL_DRAG,
) = range(16)
USER_ROWS = 16
"""Where things are in the user data: as in `swimming.water.SWIMMER`; then the time of the last command [s], sum
over commands of the share of acceleration the motors could give, number of commands, and the ball's drag [N*s/m],
negative without a ball. These are `USER_ROWS`. Then for every joint its angle [rad] and rate [rad/s] at the last
command, and the acceleration it wants [rad/s^2]."""


@kernel(error_model="numpy")
def push(position: Array, velocity: Array, force: Array, time: float, user: Array) -> None:
    """Add drag and joint torques to the generalised forces of a chain.

    Args:
        position: x, y, angle of the head link, joint angles, and x, y of the ball if there is one.
        velocity: Their rates.
        force: Generalised forces, added to.
        time: Now [s].
        user: As described by this module's constants.
    """
    n, half, mass, inertia = int(user[LINKS]), 0.5 * user[LENGTH], user[MASS], user[INERTIA]
    stiffness, limit, since = user[STIFFNESS], user[MAX_TORQUE], time - user[SINCE]
    joints = n - 1
    side, end, tip = user[SIDE_DRAG], user[END_DRAG], user[TIP_DRAG]
    # Links: where, which way, force of the water; accelerations within the shape, had and wanted.
    x, y, ex, ey, fx, fy = np.zeros((6, n))
    bx, by, ax, ay, turn = np.zeros((5, n))
    angle, rate = position[2], velocity[2]
    vx, vy = velocity[0] - user[CURRENT_X], velocity[1] - user[CURRENT_Y]
    for k in range(n):
        if k > 0:
            j = k - 1
            acc = user[USER_ROWS + 2 * joints + j]
            wanted_rate = user[USER_ROWS + joints + j] + acc * since
            wanted_angle = user[USER_ROWS + j] + since * (user[USER_ROWS + joints + j] + 0.5 * acc * since)
            acc += 2.0 * stiffness * (wanted_rate - velocity[3 + j])
            acc += stiffness * stiffness * (wanted_angle - position[3 + j])
            c, s, last = ex[j], ey[j], rate
            angle -= position[3 + j]
            rate -= velocity[3 + j]
            turn[k] = turn[j] - acc
            ex[k], ey[k] = math.cos(angle), math.sin(angle)
            x[k], y[k] = x[j] - half * (c + ex[k]), y[j] - half * (s + ey[k])
            vx += half * (last * s + rate * ey[k])
            vy -= half * (last * c + rate * ex[k])
            bx[k] = bx[j] + half * (last * last * c + rate * rate * ex[k])
            by[k] = by[j] + half * (last * last * s + rate * rate * ey[k])
            ax[k] = ax[j] + half * (turn[j] * s + turn[k] * ey[k])
            ay[k] = ay[j] - half * (turn[j] * c + turn[k] * ex[k])
        else:
            ex[0], ey[0] = math.cos(angle), math.sin(angle)
        across, along = vy * ex[k] - vx * ey[k], vx * ex[k] + vy * ey[k]
        drag = end + (tip if (k == 0 and along > 0.0) or (k == n - 1 and along < 0.0) else 0.0)
        fx[k], fy[k] = -drag * along * ex[k] + side * across * ey[k], -drag * along * ey[k] - side * across * ex[k]
    cx, cy = x.mean(), y.mean()
    x -= cx
    y -= cy
    bx -= bx.mean()
    by -= by.mean()
    ax -= ax.mean()
    ay -= ay.mean()
    about = mass * (x * x + y * y).sum() + n * inertia
    pull = (x * fy - y * fx).sum()
    turn_b = (pull - mass * (x * by - y * bx).sum()) / about
    turn_a = -(mass * (x * ay - y * ax).sum() + inertia * turn.sum()) / about
    bx += fx.sum() / (n * mass) - turn_b * y
    by += fy.sum() / (n * mass) + turn_b * x
    ax -= turn_a * y
    ay += turn_a * x
    turn += turn_a
    # From the tail on: water's force, and mass times acceleration, with their moments.
    have, need, water = np.zeros((3, n))
    wx, wy, wt, gx, gy, gt, hx, hy, ht = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(n - 1, 0, -1):
        wx += fx[k]
        wy += fy[k]
        wt += x[k] * fy[k] - y[k] * fx[k]
        gx += mass * bx[k]
        gy += mass * by[k]
        gt += mass * (x[k] * by[k] - y[k] * bx[k]) + inertia * turn_b
        hx += mass * ax[k]
        hy += mass * ay[k]
        ht += mass * (x[k] * ay[k] - y[k] * ax[k]) + inertia * turn[k]
        px, py = x[k] + half * ex[k], y[k] + half * ey[k]
        water[k] = px * wy - py * wx - wt
        have[k] = px * gy - py * gx - gt - water[k]
        need[k] = px * hy - py * hx - ht
    share = 1.0
    for k in range(1, n):
        room = limit - have[k] if need[k] > 0.0 else limit + have[k]
        if share * abs(need[k]) > room:
            share = max(room, 0.0) / abs(need[k])
    for k in range(1, n):
        force[2 + k] += water[k] + have[k] + share * need[k]
    wx, wy = wx + fx[0], wy + fy[0]
    force[0] += wx
    force[1] += wy
    force[2] += pull - (x[0] * wy - y[0] * wx)
    if user[BALL_DRAG] >= 0.0:
        force[n + 2] -= user[BALL_DRAG] * (velocity[n + 2] - user[CURRENT_X])
        force[n + 3] -= user[BALL_DRAG] * (velocity[n + 3] - user[CURRENT_Y])


def _places(words: int = WORDS) -> dict[str, int]:
    """Where in ``mjData`` the fields are that the callback needs, in words of eight bytes.

    MuJoCo's bindings give the address of a simulation and of its arrays, not the layout of the structure between them:
    it is found by looking for these addresses, and for a time that nothing else holds, in the first so many ``words``.

    Raises:
        SandlotError: If they are not there.
    """
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><size nuserdata='1'/><worldbody><body><joint/><geom size='1'/></body></worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    data.time = 1.0 / 3.0 + 1e-9
    wanted = {getattr(data, name).ctypes.data: name for name in ("qpos", "qvel", "qfrc_passive", "userdata")}
    wanted[np.float64(data.time).view(np.uint64).item()] = "time"
    found: dict[str, int] = {}
    for word in range(words):
        value = ctypes.c_uint64.from_address(data._address + 8 * word).value
        if value in wanted:
            found.setdefault(wanted[value], word)
            if len(found) == len(wanted):
                return found
    missing = ", ".join(sorted(set(wanted.values()) - set(found)))
    raise SandlotError(f"MuJoCo {mujoco.__version__} does not keep {missing} where the reference looks; allowed: 4.0")


def _to_pointer(_context: Any, _address: Any) -> Any:
    """Typing and code of an integer taken for an address, which Numba has no word for."""

    def make(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(types.uint64), make


_pointer: Any = intrinsic(_to_pointer)
_installed: Any = None


def install() -> None:
    """Make this process's MuJoCo call `push` for swimming simulations; more than once does no harm."""
    global _installed
    if _installed is not None:
        return
    places = _places()
    qpos, qvel, qfrc, userdata, now = (places[k] for k in ("qpos", "qvel", "qfrc_passive", "userdata", "time"))
    words = max(places.values()) + 1

    @c_callback(types.void(types.voidptr, types.voidptr))
    def passive(_model: Any, data: Any) -> None:
        fields = carray(data, (words,), np.uint64)
        if fields[userdata] == 0:
            return
        user = carray(_pointer(fields[userdata]), (USER_ROWS,), np.float64)
        if user[MARKED] != MARK:
            return
        n = int(user[LINKS])
        size = n + 4 if user[BALL_DRAG] >= 0.0 else n + 2
        push(
            carray(_pointer(fields[qpos]), (size,), np.float64),
            carray(_pointer(fields[qvel]), (size,), np.float64),
            carray(_pointer(fields[qfrc]), (size,), np.float64),
            carray(data, (words,), np.float64)[now],
            carray(_pointer(fields[userdata]), (USER_ROWS + 3 * (n - 1),), np.float64),
        )

    @c_callback(types.void(types.voidptr))
    def quiet(_message: Any) -> None:
        pass

    mujoco.set_mjcb_passive(passive.ctypes)
    _installed = passive, quiet


@contextmanager
def quietly() -> Iterator[None]:
    """Keep MuJoCo from writing to standard error and to ``MUJOCO_LOG.TXT`` in here, once `install` has been called.

    It does so of its own accord when a simulation explodes; ours look for that themselves.
    """
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(_installed[1].ctypes)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)
