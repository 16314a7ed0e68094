"""One step of the bodies in the lanes: the implicit midpoint rule, with the shape of the body at mid-step.

Drag is linear in the three unknowns (surge, sway and yaw rate), so that a step is a symmetric 3 x 3 linear system. All
in the head's frame.
"""

from typing import Any

from sandlot.kernels import kernel
from sandlot.physics.swimming.lanes import ACC, ANGLE, JOINT_ROWS, LANES, RATE, Lanes
from sandlot.physics.swimming.rows import (
    ANGULAR_MOMENTUM,
    COS,
    HEAT,
    LAST_YAW_RATE,
    MOMENTUM_X,
    MOMENTUM_Y,
    SIN,
    SURGE,
    SWAY,
    YAW,
    YAW_RATE,
    X,
    Y,
)
from sandlot.physics.swimming.series import cosine, sine
from sandlot.physics.swimming.servo import aim, limit

# Scratch rows.
_EX, _EY, _RX, _RY, _VX, _VY, _SPIN = (LANES * row for row in range(7))
"""The link that the loop has reached, relative to the head link: direction e, centre r = (x, y) [m], velocity v of the
centre [m/s], rate [rad/s]."""
_SX, _SY, _SXX, _SVX, _SVY, _SXV, _SVV, _SPINS = (LANES * row for row in range(7, 15))
"""Sums over links of x, y, x^2 + y^2, vx, vy, x vy - y vx, vx^2 + vy^2 and rate."""
_NN, _NM, _NQ, _MQ, _QQ, _SN, _SM, _SQ, _SS = (LANES * row for row in range(15, 24))
"""Sums over links of products of n, m, q and s: (n, m) = (-ey, ex) is the normal, q = r . e its moment about the head,
and s the velocity v along the normal."""


@kernel(fastmath={"contract"}, error_model="numpy", nogil=True)
def advance(body: Any, lanes: Lanes) -> None:
    """Simulate from one command to the next."""
    joints = lanes.joints
    aim(body, lanes)
    limit(body, lanes)
    interval = body.interval
    dt = interval / body.substeps
    for step in range(body.substeps):
        _sum_links(body, lanes, (step + 0.5) * dt)
        _move(body, lanes, dt)
    for j in range(body.links - 1):
        o = j * JOINT_ROWS
        for i in range(LANES):
            change = interval * joints[o + ACC + i]
            joints[o + ANGLE + i] += interval * (joints[o + RATE + i] + 0.5 * change)
            joints[o + RATE + i] += change


@kernel(fastmath={"contract"}, error_model="numpy", nogil=True)
def _sum_links(body: Any, lanes: Lanes, time: float) -> None:
    """Sums over links for the shape ``time`` [s] after the command."""
    joints, w = lanes.joints, lanes.scratch
    n, half = body.links, 0.5 * body.length
    for i in range(LANES):
        w[_EX + i] = 1.0
        w[_QQ + i] = 0.0
        w[_EY + i] = w[_RX + i] = w[_RY + i] = w[_VX + i] = w[_VY + i] = w[_SPIN + i] = 0.0
        w[_SX + i] = w[_SY + i] = w[_SXX + i] = w[_SVX + i] = w[_SVY + i] = w[_SXV + i] = 0.0
        w[_SVV + i] = w[_SPINS + i] = 0.0
        # The head link adds nothing: in its own frame it lies at the origin, at rest, with the normal (0, 1).
        w[_NN + i] = w[_NM + i] = w[_NQ + i] = w[_MQ + i] = 0.0
        w[_SN + i] = w[_SM + i] = w[_SQ + i] = w[_SS + i] = 0.0
    for j in range(n - 1):
        o = j * JOINT_ROWS
        for i in range(LANES):
            rate, acc = joints[o + RATE + i], joints[o + ACC + i]
            angle = joints[o + ANGLE + i] + time * (rate + 0.5 * time * acc)
            c, s = cosine(angle), sine(angle)
            ex, ey, spin = w[_EX + i], w[_EY + i], w[_SPIN + i]
            fx, fy = ex * c + ey * s, ey * c - ex * s
            next_spin = spin - rate - time * acc
            x, y = w[_RX + i] - half * (ex + fx), w[_RY + i] - half * (ey + fy)
            vx, vy = w[_VX + i] + half * (spin * ey + next_spin * fy), w[_VY + i] - half * (spin * ex + next_spin * fx)
            w[_EX + i], w[_EY + i], w[_SPIN + i] = fx, fy, next_spin
            w[_RX + i], w[_RY + i], w[_VX + i], w[_VY + i] = x, y, vx, vy
            q, across = x * fx + y * fy, vy * fx - vx * fy
            w[_SX + i] += x
            w[_SY + i] += y
            w[_SXX + i] += x * x + y * y
            w[_SVX + i] += vx
            w[_SVY + i] += vy
            w[_SXV + i] += x * vy - y * vx
            w[_SPINS + i] += next_spin
            w[_SVV + i] += vx * vx + vy * vy
            w[_NN + i] += fy * fy
            w[_NM + i] -= fy * fx
            w[_NQ + i] -= fy * q
            w[_MQ + i] += fx * q
            w[_QQ + i] += q * q
            w[_SN + i] -= across * fy
            w[_SM + i] += across * fx
            w[_SQ + i] += across * q
            w[_SS + i] += across * across


@kernel(fastmath={"contract"}, error_model="numpy", nogil=True)
def _move(body: Any, lanes: Lanes, dt: float) -> None:
    """Solve for surge, sway and yaw rate at mid-step, and move the bodies by ``dt`` [s]."""
    z, w = lanes.state, lanes.scratch
    n, mass, inertia = body.links, body.mass, body.inertia
    side, end, tip = body.side_drag, body.end_drag, body.tip_drag
    inverse, h = 1.0 / n, 0.5 * dt
    for i in range(LANES):
        # From sums about the head to sums about the centre of mass, which is at (x, y) and moves with (vx, vy) relative
        # to the head: n11 to n33 of products of the normals and their moments, r1 to r3 of these with the normal
        # velocity by joint rates alone, rr of its square.
        x, y, vx, vy = w[_SX + i] * inverse, w[_SY + i] * inverse, w[_SVX + i] * inverse, w[_SVY + i] * inverse
        n11, n12 = w[_NN + i], w[_NM + i]
        n22 = n - n11
        n13, n23 = w[_NQ + i] - x * n12 + y * n11, w[_MQ + i] - x * n22 + y * n12
        n33 = w[_QQ + i] - 2.0 * (x * w[_MQ + i] - y * w[_NQ + i]) + x * x * n22 - 2.0 * x * y * n12 + y * y * n11
        r1, r2 = w[_SN + i] - vx * n11 - vy * n12, w[_SM + i] - vx * n12 - vy * n22
        r3 = w[_SQ + i] - x * w[_SM + i] + y * w[_SN + i] - vx * n13 - vy * n23
        rr = (
            w[_SS + i] - 2.0 * (vx * w[_SN + i] + vy * w[_SM + i]) + vx * vx * n11 + 2.0 * vx * vy * n12 + vy * vy * n22
        )
        xx, vv = w[_SXX + i] - n * (x * x + y * y), w[_SVV + i] - n * (vx * vx + vy * vy)
        xv = w[_SXV + i] - n * (x * vy - y * vx)
        # Drag on the body as a whole is K (surge, sway, yaw rate) + g; g is due to the joint rates.
        k11, k12, k22 = side * n11 + end * (n - n11), (side - end) * n12, side * n22 + end * (n - n22)
        k13, k23, k33 = (side - end) * n13, (side - end) * n23, side * n33 + end * (xx - n33)
        g1, g2, g3 = (side - end) * r1, (side - end) * r2, side * r3 + end * (xv - r3)
        lost = side * rr + end * (vv - rr)
        # The front of the head and the rear of the tail have drag only when they move into the water.
        u, v, rate = z[LANES * SURGE + i], z[LANES * SWAY + i], z[LANES * YAW_RATE + i]
        q, s = y, -vx
        on = tip if u + rate * q + s > 0.0 else 0.0
        k11 += on
        k13 += on * q
        k33 += on * q * q
        g1 += on * s
        g3 += on * s * q
        lost += on * s * s
        ex, ey = w[_EX + i], w[_EY + i]
        q = (w[_RX + i] - x) * ey - (w[_RY + i] - y) * ex
        s = (w[_VX + i] - vx) * ex + (w[_VY + i] - vy) * ey
        on = tip if u * ex + v * ey + rate * q + s < 0.0 else 0.0
        k11 += on * ex * ex
        k12 += on * ex * ey
        k22 += on * ey * ey
        k13 += on * ex * q
        k23 += on * ey * q
        k33 += on * q * q
        g1 += on * s * ex
        g2 += on * s * ey
        g3 += on * s * q
        lost += on * s * s
        # Cosine and sine of the yaw at mid-step, extrapolated from the last two yaw rates.
        d = h * (rate + 0.75 * (rate - z[LANES * LAST_YAW_RATE + i]))
        c, s = 1.0 - 0.5 * d * d * (1.0 - d * d / 12.0), d * (1.0 - d * d / 6.0)
        c, s = z[LANES * COS + i] * c - z[LANES * SIN + i] * s, z[LANES * SIN + i] * c + z[LANES * COS + i] * s
        # (mass + h K) velocity = momentum - momentum by joint rates - h g, solved by elimination.
        q11, q12, q13 = n * mass + h * k11, h * k12, h * k13
        q22, q23, q33 = n * mass + h * k22, h * k23, mass * xx + n * inertia + h * k33
        f1 = z[LANES * MOMENTUM_X + i] * c + z[LANES * MOMENTUM_Y + i] * s - h * g1
        f2 = z[LANES * MOMENTUM_Y + i] * c - z[LANES * MOMENTUM_X + i] * s - h * g2
        f3 = z[LANES * ANGULAR_MOMENTUM + i] - mass * xv - inertia * w[_SPINS + i] - h * g3
        m2, m3 = q12 / q11, q13 / q11
        q22, q23, q33 = q22 - m2 * q12, q23 - m2 * q13, q33 - m3 * q13
        f2, f3 = f2 - m2 * f1, f3 - m3 * f1
        m3 = q23 / q22
        rate = (f3 - m3 * f2) / (q33 - m3 * q23)
        v = (f2 - q23 * rate) / q22
        u = (f1 - q12 * v - q13 * rate) / q11
        f1 = -(k11 * u + k12 * v + k13 * rate + g1)
        f2 = -(k12 * u + k22 * v + k23 * rate + g2)
        f3 = -(k13 * u + k23 * v + k33 * rate + g3)
        z[LANES * HEAT + i] += dt * (lost + g1 * u + g2 * v + g3 * rate - f1 * u - f2 * v - f3 * rate)
        z[LANES * MOMENTUM_X + i] += dt * (f1 * c - f2 * s)
        z[LANES * MOMENTUM_Y + i] += dt * (f1 * s + f2 * c)
        z[LANES * ANGULAR_MOMENTUM + i] += dt * f3
        z[LANES * X + i] += dt * (u * c - v * s)
        z[LANES * Y + i] += dt * (u * s + v * c)
        z[LANES * LAST_YAW_RATE + i] = z[LANES * YAW_RATE + i]
        z[LANES * SURGE + i], z[LANES * SWAY + i], z[LANES * YAW_RATE + i] = u, v, rate
        d = dt * rate
        c = 1.0 - 0.5 * d * d * (1.0 - d * d / 12.0 * (1.0 - d * d / 30.0))
        s = d * (1.0 - d * d / 6.0 * (1.0 - d * d / 20.0))
        c, s = z[LANES * COS + i] * c - z[LANES * SIN + i] * s, z[LANES * SIN + i] * c + z[LANES * COS + i] * s
        d = 1.5 - 0.5 * (c * c + s * s)  # keeps (cosine, sine) of length 1
        z[LANES * COS + i], z[LANES * SIN + i] = d * c, d * s
        z[LANES * YAW + i] += dt * rate
