"""The inner loops of `sandlot.physics.swimming.water`: servos, torques and steps of many bodies at once.

Arrays have one lane for each body, innermost. They are flat, with rows at constant offsets: only then can the compiler
tell that rows do not overlap, and turn the loops over lanes into vector instructions.
"""

from typing import Any

from sandlot.kernels import kernel
from sandlot.typing import Array

LANES = 64
"""Bodies that are stepped together: their scratch arrays fit the nearest cache."""

X, Y, HEADING, COS, SIN, PX, PY, L, U, V, W, LAST_W, HEAT, DRIVE = range(14)
FIXED = 14
"""Rows of the state: centre of mass [m], angle of the head link [rad] with its cosine and sine, momentum [kg*m/s] and
angular momentum about the centre of mass [kg*m^2/s], velocities at the last mid-step in the head's frame [m/s, rad/s],
head rate before that, energy lost to the water [J], and sum over commands of the share the motors could give. Then
``joints`` rows each of angles [rad], rates [rad/s] and last commands [rad]."""

GAIN = 0.5
"""Of the servo, per command: an error in position shrinks by half with each."""

YIELD = 0.3
"""By this share joints slow down with each command when the motors cannot keep up what they are doing."""

# Offsets of rows in the flat scratch arrays.
(
    _EX,
    _EY,
    _RX,
    _RY,
    _VX,
    _VY,
    _SPIN,
    _SX,
    _SY,
    _SXX,
    _SVX,
    _SVY,
    _SXV,
    _SVV,
    _NN,
    _NM,
    _NQ,
    _MQ,
    _QQ,
    _WN,
    _WM,
    _WQ,
    _WW,
    _AX,
    _AY,
    _BX,
    _BY,
    _SAX,
    _SAY,
    _SBX,
    _SBY,
    _GX,
    _GY,
    _GT,
    _HX,
    _HY,
    _HT,
    _SHARE,
    _SPINS,
) = (LANES * row for row in range(39))
SCRATCH_ROWS = 39
ANGLE, RATE, ACC, LAST, TARGET, _HAVE, _NEED = (LANES * row for row in range(7))
JOINT_ROWS = 7 * LANES
_LX, _LY, _LEX, _LEY, _LVX, _LVY, _LAX, _LAY, _LBX, _LBY, _LAL = (LANES * row for row in range(11))
LINK_ROWS = 11 * LANES


@kernel(inline="always")
def _sine(x: float) -> float:
    """Sine to 1e-9 for angles up to a joint's limit; unlike the library's, it vectorises."""
    y = x * x
    return x * (
        1.0
        + y * (-1 / 6 + y * (1 / 120 + y * (-1 / 5040 + y * (1 / 362880 + y * (-1 / 39916800 + y * (1 / 6227020800))))))
    )


@kernel(inline="always")
def _cosine(x: float) -> float:
    y = x * x
    high = 1 / 40320 + y * (-1 / 3628800 + y * (1 / 479001600 + y * (-1 / 87178291200)))
    return 1.0 + y * (-0.5 + y * (1 / 24 + y * (-1 / 720 + y * high)))


@kernel(fastmath={"contract"}, error_model="numpy", nogil=True)
def aim(body: Any, joints: Array) -> None:
    """Set the acceleration each joint wants, to be where it was told with the next command."""
    interval, fastest, furthest = body.interval, body.max_rate, body.max_angle
    for j in range(body.links - 1):
        o = j * JOINT_ROWS
        for i in range(LANES):
            target = joints[o + TARGET + i]
            target = target if target < furthest else furthest
            target = target if target > -furthest else -furthest
            last = joints[o + LAST + i]
            rate = (target - last) / interval
            rate = rate if rate < fastest else fastest
            rate = rate if rate > -fastest else -fastest
            joints[o + LAST + i] = last + rate * interval
            rate += GAIN * (last - joints[o + ANGLE + i]) / interval
            rate = rate if rate < fastest else fastest
            rate = rate if rate > -fastest else -fastest
            joints[o + ACC + i] = (rate - joints[o + RATE + i]) / interval


@kernel(fastmath={"contract"}, error_model="numpy", nogil=True)
def _torques(body: Any, z: Array, joints: Array, links: Array, w: Array) -> None:
    """Inverse dynamics of the chain: the torque each joint needs for what it is doing, and for its acceleration.

    The former is due to drag and centripetal forces (sums named g), the latter linear in the accelerations (sums
    named h).
    """
    n, half, mass, inertia = body.links, 0.5 * body.length, body.mass, body.inertia
    joint_count = n - 1
    for i in range(LANES):
        w[_EX + i] = 1.0
        w[_EY + i] = 0.0
        w[_RX + i] = w[_RY + i] = w[_VX + i] = w[_VY + i] = w[_SPIN + i] = w[_GT + i] = 0.0
        w[_AX + i] = w[_AY + i] = w[_BX + i] = w[_BY + i] = 0.0
        w[_SX + i] = w[_SY + i] = w[_SVX + i] = w[_SVY + i] = 0.0
        w[_SAX + i] = w[_SAY + i] = w[_SBX + i] = w[_SBY + i] = 0.0
        links[_LX + i] = links[_LY + i] = links[_LVX + i] = links[_LVY + i] = 0.0
        links[_LAX + i] = links[_LAY + i] = links[_LBX + i] = links[_LBY + i] = links[_LAL + i] = 0.0
        links[_LEX + i] = 1.0
        links[_LEY + i] = 0.0
    for j in range(joint_count):
        o, p = j * JOINT_ROWS, (j + 1) * LINK_ROWS
        for i in range(LANES):
            angle = joints[o + ANGLE + i]
            cosine, sine = _cosine(angle), _sine(angle)
            ex, ey, spin, turn = w[_EX + i], w[_EY + i], w[_SPIN + i], w[_GT + i]
            fx, fy = ex * cosine + ey * sine, ey * cosine - ex * sine
            next_spin, next_turn = spin - joints[o + RATE + i], turn - joints[o + ACC + i]
            rate, next_rate = spin + z[LANES * W + i], next_spin + z[LANES * W + i]
            x, y = w[_RX + i] - half * (ex + fx), w[_RY + i] - half * (ey + fy)
            vx, vy = w[_VX + i] + half * (spin * ey + next_spin * fy), w[_VY + i] - half * (spin * ex + next_spin * fx)
            ax, ay = w[_AX + i] + half * (turn * ey + next_turn * fy), w[_AY + i] - half * (turn * ex + next_turn * fx)
            bx = w[_BX + i] + half * (rate * rate * ex + next_rate * next_rate * fx)
            by = w[_BY + i] + half * (rate * rate * ey + next_rate * next_rate * fy)
            w[_EX + i], w[_EY + i], w[_SPIN + i], w[_GT + i] = fx, fy, next_spin, next_turn
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
            links[p + _LVX + i], links[p + _LVY + i], links[p + _LAL + i] = vx, vy, next_turn
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
        # Sums over links: force, its moment, moment of inertia, angular momentum of both accelerations.
        w[_GX + i] = w[_GY + i] = w[_GT + i] = w[_HT + i] = w[_SXX + i] = 0.0
    for k in range(n):
        p = k * LINK_ROWS
        head = body.tip_drag if k == 0 else 0.0
        tail = body.tip_drag if k == n - 1 else 0.0
        for i in range(LANES):
            x, y = links[p + _LX + i] - w[_SX + i], links[p + _LY + i] - w[_SY + i]
            ex, ey = links[p + _LEX + i], links[p + _LEY + i]
            vx = z[LANES * U + i] - z[LANES * W + i] * y + links[p + _LVX + i] - w[_SVX + i]
            vy = z[LANES * V + i] + z[LANES * W + i] * x + links[p + _LVY + i] - w[_SVY + i]
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
            w[_HT + i] -= mass * (x * ay - y * ax) + inertia * links[p + _LAL + i]
            w[_SXX + i] += mass * (x * x + y * y) + inertia
            links[p + _LX + i], links[p + _LY + i] = x, y
            links[p + _LAX + i], links[p + _LAY + i] = mass * ax, mass * ay
            links[p + _LBX + i], links[p + _LBY + i] = mass * bx - force_x, mass * by - force_y
    for i in range(LANES):
        w[_AX + i], w[_AY + i] = w[_GX + i] * inverse, w[_GY + i] * inverse
        w[_BX + i], w[_BY + i] = w[_GT + i] / w[_SXX + i], w[_HT + i] / w[_SXX + i]
        w[_GX + i] = w[_GY + i] = w[_GT + i] = w[_HX + i] = w[_HY + i] = w[_HT + i] = 0.0
    for j in range(joint_count - 1, -1, -1):
        p = (j + 1) * LINK_ROWS
        for i in range(LANES):
            x, y = links[p + _LX + i], links[p + _LY + i]
            turn_g, turn_h = w[_BX + i], w[_BY + i]
            gx = w[_AX + i] - mass * turn_g * y + links[p + _LBX + i]
            gy = w[_AY + i] + mass * turn_g * x + links[p + _LBY + i]
            hx, hy = links[p + _LAX + i] - mass * turn_h * y, links[p + _LAY + i] + mass * turn_h * x
            sgx, sgy, shx, shy = w[_GX + i] + gx, w[_GY + i] + gy, w[_HX + i] + hx, w[_HY + i] + hy
            sgt = w[_GT + i] + x * gy - y * gx + inertia * turn_g
            sht = w[_HT + i] + x * hy - y * hx + inertia * (turn_h + links[p + _LAL + i])
            w[_GX + i], w[_GY + i], w[_GT + i], w[_HX + i], w[_HY + i], w[_HT + i] = sgx, sgy, sgt, shx, shy, sht
            px, py = x + half * links[p + _LEX + i], y + half * links[p + _LEY + i]
            o = j * JOINT_ROWS
            joints[o + _HAVE + i], joints[o + _NEED + i] = px * sgy - py * sgx - sgt, px * shy - py * shx - sht


@kernel(fastmath={"contract"}, error_model="numpy", nogil=True)
def limit_torques(body: Any, z: Array, joints: Array, links: Array, w: Array) -> None:
    """Shrink the accelerations of a body so that no joint needs more than its torque.

    Where the motors cannot even keep up what the joints are doing, these slow down, all alike, until they can.
    """
    joint_count, limit, interval, furthest = body.links - 1, body.max_torque, body.interval, body.max_angle
    _torques(body, z, joints, links, w)
    for i in range(LANES):
        w[_SHARE + i] = 1.0
    for j in range(joint_count):
        o = j * JOINT_ROWS
        for i in range(LANES):
            # The share at which |have + share * need| reaches the limit on the side that need points to.
            have, need, share = joints[o + _HAVE + i], joints[o + _NEED + i], w[_SHARE + i]
            room = limit - have if need > 0.0 else limit + have
            size = abs(need)
            fits = room / size if room > 0.0 else 0.0
            w[_SHARE + i] = fits if share * size > room else share
    for i in range(LANES):
        z[LANES * DRIVE + i] += w[_SHARE + i]
    for j in range(joint_count):
        o = j * JOINT_ROWS
        for i in range(LANES):
            slower = -YIELD * joints[o + RATE + i] / interval
            joints[o + ACC + i] = slower if w[_SHARE + i] <= 0.0 else joints[o + ACC + i] * w[_SHARE + i]
    for j in range(joint_count):
        o = j * JOINT_ROWS
        for i in range(LANES):
            # Mechanical stops.
            rest = joints[o + ANGLE + i] + joints[o + RATE + i] * interval
            high, low = 2.0 * (furthest - rest), 2.0 * (-furthest - rest)
            acc = joints[o + ACC + i] * interval * interval
            acc = acc if acc < high else high
            acc = acc if acc > low else low
            joints[o + ACC + i] = acc / (interval * interval)


@kernel(fastmath={"contract"}, error_model="numpy", nogil=True)
def _step(body: Any, z: Array, joints: Array, w: Array, time: float, dt: float) -> None:
    """One step: the shape at mid-step, ``time`` after the command, gives the 3 x 3 system for the body's velocity."""
    n, half, mass, inertia = body.links, 0.5 * body.length, body.mass, body.inertia
    side, end, tip = body.side_drag, body.end_drag, body.tip_drag
    for i in range(LANES):
        w[_EX + i] = 1.0
        w[_QQ + i] = 0.0
        w[_EY + i] = w[_RX + i] = w[_RY + i] = w[_VX + i] = w[_VY + i] = w[_SPIN + i] = 0.0
        w[_SX + i] = w[_SY + i] = w[_SXX + i] = w[_SVX + i] = w[_SVY + i] = w[_SXV + i] = w[_SVV + i] = w[
            _SPINS + i
        ] = 0.0
        # The head link, which points along x and rests in its own frame, has the normal (0, 1).
        w[_NN + i] = w[_NM + i] = w[_NQ + i] = w[_MQ + i] = 0.0
        w[_WN + i] = w[_WM + i] = w[_WQ + i] = w[_WW + i] = 0.0
    for j in range(n - 1):
        o = j * JOINT_ROWS
        for i in range(LANES):
            rate, acc = joints[o + RATE + i], joints[o + ACC + i]
            angle = joints[o + ANGLE + i] + time * (rate + 0.5 * time * acc)
            cosine, sine = _cosine(angle), _sine(angle)
            ex, ey, spin = w[_EX + i], w[_EY + i], w[_SPIN + i]
            fx, fy = ex * cosine + ey * sine, ey * cosine - ex * sine
            next_spin = spin - rate - time * acc
            x, y = w[_RX + i] - half * (ex + fx), w[_RY + i] - half * (ey + fy)
            vx, vy = w[_VX + i] + half * (spin * ey + next_spin * fy), w[_VY + i] - half * (spin * ex + next_spin * fx)
            w[_EX + i], w[_EY + i], w[_SPIN + i] = fx, fy, next_spin
            w[_RX + i], w[_RY + i], w[_VX + i], w[_VY + i] = x, y, vx, vy
            # The normal is (-fy, fx), q its moment about the head, across the normal velocity within the shape.
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
            w[_WN + i] -= across * fy
            w[_WM + i] += across * fx
            w[_WQ + i] += across * q
            w[_WW + i] += across * across
    inverse, h = 1.0 / n, 0.5 * dt
    for i in range(LANES):
        # From sums about the head to sums about the centre of mass, (x, y), which moves by (vx, vy) within the shape.
        x, y, vx, vy = w[_SX + i] * inverse, w[_SY + i] * inverse, w[_SVX + i] * inverse, w[_SVY + i] * inverse
        n11, n12 = w[_NN + i], w[_NM + i]
        n22 = n - n11
        n13, n23 = w[_NQ + i] - x * n12 + y * n11, w[_MQ + i] - x * n22 + y * n12
        n33 = w[_QQ + i] - 2.0 * (x * w[_MQ + i] - y * w[_NQ + i]) + x * x * n22 - 2.0 * x * y * n12 + y * y * n11
        r1, r2 = w[_WN + i] - vx * n11 - vy * n12, w[_WM + i] - vx * n12 - vy * n22
        r3 = w[_WQ + i] - x * w[_WM + i] + y * w[_WN + i] - vx * n13 - vy * n23
        rr = (
            w[_WW + i] - 2.0 * (vx * w[_WN + i] + vy * w[_WM + i]) + vx * vx * n11 + 2.0 * vx * vy * n12 + vy * vy * n22
        )
        xx, vv = w[_SXX + i] - n * (x * x + y * y), w[_SVV + i] - n * (vx * vx + vy * vy)
        xv = w[_SXV + i] - n * (x * vy - y * vx)
        k11, k12, k22 = side * n11 + end * (n - n11), (side - end) * n12, side * n22 + end * (n - n22)
        k13, k23, k33 = (side - end) * n13, (side - end) * n23, side * n33 + end * (xx - n33)
        g1, g2, g3 = (side - end) * r1, (side - end) * r2, side * r3 + end * (xv - r3)
        lost = side * rr + end * (vv - rr)
        # The front of the head, the rear of the tail: only when they move into the water.
        u, v, rate = z[LANES * U + i], z[LANES * V + i], z[LANES * W + i]
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
        # The head's frame at mid-step, from the rates of the last two.
        d = h * (rate + 0.75 * (rate - z[LANES * LAST_W + i]))
        c, s = 1.0 - 0.5 * d * d * (1.0 - d * d / 12.0), d * (1.0 - d * d / 6.0)
        c, s = z[LANES * COS + i] * c - z[LANES * SIN + i] * s, z[LANES * SIN + i] * c + z[LANES * COS + i] * s
        # (mass + h drag) velocity = momentum - h (drag of the changing shape)
        q11, q12, q13 = n * mass + h * k11, h * k12, h * k13
        q22, q23, q33 = n * mass + h * k22, h * k23, mass * xx + n * inertia + h * k33
        f1 = z[LANES * PX + i] * c + z[LANES * PY + i] * s - h * g1
        f2 = z[LANES * PY + i] * c - z[LANES * PX + i] * s - h * g2
        f3 = z[LANES * L + i] - mass * xv - inertia * w[_SPINS + i] - h * g3
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
        z[LANES * PX + i] += dt * (f1 * c - f2 * s)
        z[LANES * PY + i] += dt * (f1 * s + f2 * c)
        z[LANES * L + i] += dt * f3
        z[LANES * X + i] += dt * (u * c - v * s)
        z[LANES * Y + i] += dt * (u * s + v * c)
        z[LANES * LAST_W + i] = z[LANES * W + i]
        z[LANES * U + i], z[LANES * V + i], z[LANES * W + i] = u, v, rate
        d = dt * rate
        c = 1.0 - 0.5 * d * d * (1.0 - d * d / 12.0 * (1.0 - d * d / 30.0))
        s = d * (1.0 - d * d / 6.0 * (1.0 - d * d / 20.0))
        c, s = z[LANES * COS + i] * c - z[LANES * SIN + i] * s, z[LANES * SIN + i] * c + z[LANES * COS + i] * s
        d = 1.5 - 0.5 * (c * c + s * s)
        z[LANES * COS + i], z[LANES * SIN + i] = d * c, d * s
        z[LANES * HEADING + i] += dt * rate


@kernel(fastmath={"contract"}, error_model="numpy", nogil=True)
def go_on(body: Any, z: Array, joints: Array, links: Array, w: Array) -> None:
    """From one command to the next, for the bodies in the lanes."""
    aim(body, joints)
    limit_torques(body, z, joints, links, w)
    interval = body.interval
    dt = interval / body.substeps
    for step in range(body.substeps):
        _step(body, z, joints, w, (step + 0.5) * dt, dt)
    for j in range(body.links - 1):
        o = j * JOINT_ROWS
        for i in range(LANES):
            change = interval * joints[o + ACC + i]
            joints[o + ANGLE + i] += interval * (joints[o + RATE + i] + 0.5 * change)
            joints[o + RATE + i] += change
