"""Inverse dynamics of the chain: the torques that its joints need.

All in the head's frame. The chain is free: its motion as a whole follows from the drag, so that only joints need
torques. The torque of a joint is linear in the joint accelerations: one part (sums named g) keeps the present rates
against drag and centripetal forces, the other (sums named h) is proportional to the accelerations.
"""

from typing import Any

from sandlot.kernels import kernel
from sandlot.physics.swimming.lanes import ACC, ANGLE, HAVE, JOINT_ROWS, LANES, LINK_ROWS, NEED, RATE, Lanes
from sandlot.physics.swimming.rows import SURGE, SWAY, YAW_RATE
from sandlot.physics.swimming.series import cosine, sine

_LX, _LY, _LEX, _LEY, _LVX, _LVY, _LAX, _LAY, _LBX, _LBY, _LALPHA = (LANES * row for row in range(11))
"""Rows of a link: centre [m], direction, velocity [m/s], acceleration by the joints' accelerations [m/s^2], centripetal
acceleration [m/s^2], angular acceleration by the joints' accelerations [rad/s^2]. `_sum_forces` multiplies the
accelerations by the mass, and subtracts the drag from the centripetal part."""

# Scratch rows.
_EX, _EY, _RX, _RY, _VX, _VY, _SPIN, _ALPHA, _AX, _AY, _BX, _BY = (LANES * row for row in range(12))
"""The link that the loop has reached, relative to the head link: direction, centre, velocity, rate, angular
acceleration, and both accelerations as in the rows of a link."""
_SX, _SY, _SVX, _SVY, _SAX, _SAY, _SBX, _SBY = (LANES * row for row in range(12, 20))
"""Sums over links of centre, velocity and accelerations, then their means: those of the centre of mass."""
_GX, _GY, _GT, _HX, _HY, _HT = (LANES * row for row in range(20, 26))
"""Sums over links of forces [N] and of their moments about the centre of mass [N*m], of both parts."""
_INERTIA, _FX, _FY, _TURN_G, _TURN_H = (LANES * row for row in range(26, 31))
"""The whole body: moment of inertia [kg*m^2], drag by number of links [N], angular acceleration of both parts."""


@kernel(fastmath={"contract"}, error_model="numpy", nogil=True)
def find_torques(body: Any, lanes: Lanes) -> None:
    """Set `HAVE` and `NEED` of every joint from its angle, rate and acceleration."""
    _place_links(body, lanes)
    _sum_forces(body, lanes)
    _sum_moments(body, lanes)


@kernel(fastmath={"contract"}, error_model="numpy", nogil=True)
def _place_links(body: Any, lanes: Lanes) -> None:
    """Position, velocity and accelerations of every link relative to the head, and of the centre of mass."""
    z, joints, links, w = lanes
    n, half = body.links, 0.5 * body.length
    for i in range(LANES):
        w[_EX + i] = 1.0
        w[_EY + i] = 0.0
        w[_RX + i] = w[_RY + i] = w[_VX + i] = w[_VY + i] = w[_SPIN + i] = w[_ALPHA + i] = 0.0
        w[_AX + i] = w[_AY + i] = w[_BX + i] = w[_BY + i] = 0.0
        w[_SX + i] = w[_SY + i] = w[_SVX + i] = w[_SVY + i] = 0.0
        w[_SAX + i] = w[_SAY + i] = w[_SBX + i] = w[_SBY + i] = 0.0
        links[_LX + i] = links[_LY + i] = links[_LVX + i] = links[_LVY + i] = 0.0
        links[_LAX + i] = links[_LAY + i] = links[_LBX + i] = links[_LBY + i] = links[_LALPHA + i] = 0.0
        links[_LEX + i] = 1.0
        links[_LEY + i] = 0.0
    for j in range(n - 1):
        o, p = j * JOINT_ROWS, (j + 1) * LINK_ROWS
        for i in range(LANES):
            angle = joints[o + ANGLE + i]
            c, s = cosine(angle), sine(angle)
            ex, ey, spin, alpha = w[_EX + i], w[_EY + i], w[_SPIN + i], w[_ALPHA + i]
            fx, fy = ex * c + ey * s, ey * c - ex * s
            next_spin, next_alpha = spin - joints[o + RATE + i], alpha - joints[o + ACC + i]
            rate, next_rate = spin + z[LANES * YAW_RATE + i], next_spin + z[LANES * YAW_RATE + i]
            x, y = w[_RX + i] - half * (ex + fx), w[_RY + i] - half * (ey + fy)
            vx, vy = w[_VX + i] + half * (spin * ey + next_spin * fy), w[_VY + i] - half * (spin * ex + next_spin * fx)
            ax = w[_AX + i] + half * (alpha * ey + next_alpha * fy)
            ay = w[_AY + i] - half * (alpha * ex + next_alpha * fx)
            bx = w[_BX + i] + half * (rate * rate * ex + next_rate * next_rate * fx)
            by = w[_BY + i] + half * (rate * rate * ey + next_rate * next_rate * fy)
            w[_EX + i], w[_EY + i], w[_SPIN + i], w[_ALPHA + i] = fx, fy, next_spin, next_alpha
            w[_RX + i], w[_RY + i], w[_VX + i], w[_VY + i] = x, y, vx, vy
            w[_AX + i], w[_AY + i], w[_BX + i], w[_BY + i] = ax, ay, bx, by
            w[_SX + i] += x
            w[_SY + i] += y
            w[_SVX + i] += vx
            w[_SVY + i] += vy
            w[_SAX + i] += ax
            w[_SAY + i] += ay
            w[_SBX + i] += bx
            w[_SBY + i] += by
            links[p + _LX + i], links[p + _LY + i], links[p + _LEX + i], links[p + _LEY + i] = x, y, fx, fy
            links[p + _LVX + i], links[p + _LVY + i], links[p + _LALPHA + i] = vx, vy, next_alpha
            links[p + _LAX + i], links[p + _LAY + i], links[p + _LBX + i], links[p + _LBY + i] = ax, ay, bx, by
    inverse = 1.0 / n
    for i in range(LANES):
        w[_SX + i] *= inverse
        w[_SY + i] *= inverse
        w[_SVX + i] *= inverse
        w[_SVY + i] *= inverse
        w[_SAX + i] *= inverse
        w[_SAY + i] *= inverse
        w[_SBX + i] *= inverse
        w[_SBY + i] *= inverse


@kernel(fastmath={"contract"}, error_model="numpy", nogil=True)
def _sum_forces(body: Any, lanes: Lanes) -> None:
    """Drag on every link, and the acceleration of the whole body that results from each part."""
    z, _, links, w = lanes
    n, mass, inertia = body.links, body.mass, body.inertia
    inverse = 1.0 / n
    for i in range(LANES):
        w[_GX + i] = w[_GY + i] = w[_GT + i] = w[_HT + i] = w[_INERTIA + i] = 0.0
    for k in range(n):
        p = k * LINK_ROWS
        head = body.tip_drag if k == 0 else 0.0
        tail = body.tip_drag if k == n - 1 else 0.0
        for i in range(LANES):
            x, y = links[p + _LX + i] - w[_SX + i], links[p + _LY + i] - w[_SY + i]
            ex, ey = links[p + _LEX + i], links[p + _LEY + i]
            vx = z[LANES * SURGE + i] - z[LANES * YAW_RATE + i] * y + links[p + _LVX + i] - w[_SVX + i]
            vy = z[LANES * SWAY + i] + z[LANES * YAW_RATE + i] * x + links[p + _LVY + i] - w[_SVY + i]
            across, along = vy * ex - vx * ey, vx * ex + vy * ey
            tip = head if along > 0.0 else tail
            across *= -body.side_drag
            along *= -(body.end_drag + tip)
            force_x, force_y = along * ex - across * ey, along * ey + across * ex
            ax, ay = links[p + _LAX + i] - w[_SAX + i], links[p + _LAY + i] - w[_SAY + i]
            bx, by = links[p + _LBX + i] - w[_SBX + i], links[p + _LBY + i] - w[_SBY + i]
            w[_GX + i] += force_x
            w[_GY + i] += force_y
            w[_GT + i] += x * force_y - y * force_x - mass * (x * by - y * bx)
            w[_HT + i] -= mass * (x * ay - y * ax) + inertia * links[p + _LALPHA + i]
            w[_INERTIA + i] += mass * (x * x + y * y) + inertia
            links[p + _LX + i], links[p + _LY + i] = x, y
            links[p + _LAX + i], links[p + _LAY + i] = mass * ax, mass * ay
            links[p + _LBX + i], links[p + _LBY + i] = mass * bx - force_x, mass * by - force_y
    for i in range(LANES):
        w[_FX + i], w[_FY + i] = w[_GX + i] * inverse, w[_GY + i] * inverse
        w[_TURN_G + i], w[_TURN_H + i] = w[_GT + i] / w[_INERTIA + i], w[_HT + i] / w[_INERTIA + i]


@kernel(fastmath={"contract"}, error_model="numpy", nogil=True)
def _sum_moments(body: Any, lanes: Lanes) -> None:
    """From the tail on: the torque of a joint is the moment about it of the links behind it."""
    _, joints, links, w = lanes
    half, mass, inertia = 0.5 * body.length, body.mass, body.inertia
    for i in range(LANES):
        w[_GX + i] = w[_GY + i] = w[_GT + i] = w[_HX + i] = w[_HY + i] = w[_HT + i] = 0.0
    for j in range(body.links - 2, -1, -1):
        p = (j + 1) * LINK_ROWS
        for i in range(LANES):
            x, y = links[p + _LX + i], links[p + _LY + i]
            turn_g, turn_h = w[_TURN_G + i], w[_TURN_H + i]
            gx = w[_FX + i] - mass * turn_g * y + links[p + _LBX + i]
            gy = w[_FY + i] + mass * turn_g * x + links[p + _LBY + i]
            hx, hy = links[p + _LAX + i] - mass * turn_h * y, links[p + _LAY + i] + mass * turn_h * x
            sgx, sgy, shx, shy = w[_GX + i] + gx, w[_GY + i] + gy, w[_HX + i] + hx, w[_HY + i] + hy
            sgt = w[_GT + i] + x * gy - y * gx + inertia * turn_g
            sht = w[_HT + i] + x * hy - y * hx + inertia * (turn_h + links[p + _LALPHA + i])
            w[_GX + i], w[_GY + i], w[_GT + i], w[_HX + i], w[_HY + i], w[_HT + i] = sgx, sgy, sgt, shx, shy, sht
            px, py = x + half * links[p + _LEX + i], y + half * links[p + _LEY + i]
            o = j * JOINT_ROWS
            joints[o + HAVE + i], joints[o + NEED + i] = px * sgy - py * sgx - sgt, px * shy - py * shx - sht
