"""One step of bodies in the fast model: two sweeps along the chain, repeated until every motor fits.

Velocities of all links are unknown; hinges and motors connect them. `gather` goes from the tail to the head and finds
how the rest of the body resists when a joint is moved (the articulated-body method). `solve` goes back from the head,
finds all velocities, and checks each motor.

A motor holds its joint at the wanted rate with a torque up to its maximum. So every joint is in one of these modes:

- 0: it has the wanted rate; the torque is what that takes.
- 1 or -1: its motor is at its largest torque, to either side, and does not reach the wanted rate.
- 2 or -2: at its largest torque the motor cannot keep the joint from one of its stops, which holds it.

Which mode fits is not known beforehand. A step begins with the modes of two steps ago, since with two steps between
commands that was the step at the same distance from a command. Joints whose mode does not fit are changed, and the
sweeps are repeated: first all of these joints at once, then some of them, which ends cycles, and at last one by one
(Murty's least-index rule), which is slow but finite.
"""

from typing import Any

import numpy as np

from sandlot.kernels import kernel
from sandlot.physics.swimming.lanes import (
    ANGLE,
    BLOCK,
    COMMANDED,
    EX,
    EY,
    HELD,
    LANES,
    LAST_MODE,
    MISFITS,
    MODE,
    NEW_SPIN,
    PT,
    PX,
    PY,
    REAR_VX,
    REAR_VY,
    RX,
    RY,
    SPIN,
    TARGET,
    TT,
    VX,
    VY,
    WANTED,
    XT,
    XX,
    XY,
    YT,
    YY,
    Lanes,
)
from sandlot.physics.swimming.rows import ANGULAR_MOMENTUM, DRIVE, HEAT, YAW, X, Y
from sandlot.physics.swimming.series import cosine, sine
from sandlot.typing import Array

ALL_AT_ONCE = 8
"""Sweeps in which all joints whose mode does not fit are changed."""
ONE_BY_ONE = 1000
"""Sweeps after which only the first of these joints is changed."""
MAX_SWEEPS = 3000
"""Random gaits of 17 links need 400 at most. A body that needs more has exploded."""
ROUNDING = 1e-9
"""A torque or rate that exceeds its limit by no more than this share still fits."""
TERMS = 1e-12
"""A torque is the difference of two terms; it also fits if it exceeds its limit by no more than this share of them."""

_MX, _MY, _SVX, _SVY, _L, _I = (LANES * row for row in range(6))
"""Sums over links: centre of mass from the head link's centre [m], velocities [m/s], angular momentum [kg*m^2/s],
moment of inertia [kg*m^2]."""


@kernel(error_model="numpy", nogil=True)
def advance(body: Any, lanes: Lanes) -> None:
    """Go from one command to the next; the commanded angles are in the lanes."""
    links = lanes.links
    _set_rates(body, links)
    for _ in range(body.substeps):
        _place(body, links)
        _keep_spinning(body, lanes)
        misfits = 1.0
        for sweep in range(MAX_SWEEPS):
            gather(body, links)
            misfits = solve(body, links, sweep)
            if misfits == 0.0:
                break
        if misfits > 0.0:
            _give_up(body, links)
        _move(body, lanes)


@kernel(error_model="numpy", nogil=True)
def _set_rates(body: Any, links: Array) -> None:
    """The commanded rates of the motors: proportional to the errors of the joints' angles."""
    gain, max_rate, max_angle = body.gain, body.max_rate, body.max_angle
    for k in range(1, body.links):
        own = links[k * BLOCK : (k + 1) * BLOCK]
        for i in range(LANES):
            target = min(max(own[TARGET + i], -max_angle), max_angle)
            own[COMMANDED + i] = min(max(gain * (target - own[ANGLE + i]), -max_rate), max_rate)


@kernel(error_model="numpy", nogil=True)
def _place(body: Any, links: Array) -> None:
    """Directions and places of the links from the joint angles; wanted rates within the stops; first modes."""
    half, stop, per_step = 0.5 * body.length, body.max_angle, body.substeps / body.interval
    for k in range(1, body.links):
        own = links[(k - 1) * BLOCK : (k + 1) * BLOCK]
        for i in range(LANES):
            angle, ex, ey = own[BLOCK + ANGLE + i], own[EX + i], own[EY + i]
            c, s = cosine(angle), sine(angle)
            fx, fy = ex * c + ey * s, ey * c - ex * s
            own[BLOCK + EX + i], own[BLOCK + EY + i] = fx, fy
            own[BLOCK + RX + i], own[BLOCK + RY + i] = own[RX + i] - half * (ex + fx), own[RY + i] - half * (ey + fy)
            low, high = (-stop - angle) * per_step, (stop - angle) * per_step
            wanted = min(max(own[BLOCK + COMMANDED + i], low), high)
            mode = own[BLOCK + LAST_MODE + i]
            own[BLOCK + LAST_MODE + i] = own[BLOCK + MODE + i]
            own[BLOCK + MODE + i] = mode
            own[BLOCK + WANTED + i] = wanted
            own[BLOCK + HELD + i] = wanted if mode == 0.0 else (0.5 * mode * stop - angle) * per_step


@kernel(error_model="numpy", nogil=True)
def _sum_moments(body: Any, lanes: Lanes) -> None:
    """Angular momentum and moment of inertia of every body about its centre of mass, which is placed, too."""
    w, links, n = lanes.sums, lanes.links, body.links
    mass, inertia, share = body.mass, body.inertia, 1.0 / body.links
    for i in range(LANES):
        w[_MX + i] = w[_MY + i] = w[_SVX + i] = w[_SVY + i] = w[_L + i] = w[_I + i] = 0.0
    for k in range(n):
        own = links[k * BLOCK : (k + 1) * BLOCK]
        for i in range(LANES):
            x, y, vx, vy = own[RX + i], own[RY + i], own[VX + i], own[VY + i]
            w[_MX + i] += x
            w[_MY + i] += y
            w[_SVX + i] += vx
            w[_SVY + i] += vy
            w[_L + i] += mass * (x * vy - y * vx) + inertia * own[SPIN + i]
            w[_I + i] += mass * (x * x + y * y) + inertia
    for i in range(LANES):
        w[_MX + i] *= share
        w[_MY + i] *= share
        w[_L + i] -= mass * (w[_MX + i] * w[_SVY + i] - w[_MY + i] * w[_SVX + i])
        w[_I + i] -= n * mass * (w[_MX + i] * w[_MX + i] + w[_MY + i] * w[_MY + i])


@kernel(error_model="numpy", nogil=True)
def _keep_spinning(body: Any, lanes: Lanes) -> None:
    """Turn every body a little faster or slower, so that it has the angular momentum that drag has left.

    Links move along straight lines within a step, but joints turn, so that their positions do not quite fit the
    velocities. Linear momentum is not affected; angular momentum would be, by an error of first order.
    """
    z, links, w = lanes.state, lanes.links, lanes.sums
    _sum_moments(body, lanes)
    for i in range(LANES):
        w[_L + i] = (z[LANES * ANGULAR_MOMENTUM + i] - w[_L + i]) / w[_I + i]
    for k in range(body.links):
        own = links[k * BLOCK : (k + 1) * BLOCK]
        for i in range(LANES):
            own[SPIN + i] += w[_L + i]
            own[VX + i] -= w[_L + i] * (own[RY + i] - w[_MY + i])
            own[VY + i] += w[_L + i] * (own[RX + i] - w[_MX + i])


@kernel(error_model="numpy", nogil=True)
def gather(body: Any, links: Array) -> None:
    """From the tail to the head: the momentum that it takes to move the rest of the body by its front joint.

    Let v and w be the new velocity of a link's front joint and the new yaw rate of the link. The impulse on that joint
    and its moment are then ``A (v, w) - p``, with the symmetric 3 x 3 matrix A in the rows XX to TT and p in PX to PT.
    Drag acts with the mean of the velocities before and after the step.
    """
    n, mass, inertia, half = body.links, body.mass, body.inertia, 0.5 * body.length
    h = 0.5 * body.interval / body.substeps
    side, every, tip = h * body.side_drag, h * body.end_drag, h * body.tip_drag
    limit = 2.0 * h * body.max_torque
    for k in range(n - 1, -1, -1):
        head = tip if k == 0 else 0.0
        tail = tip if k == n - 1 else 0.0
        if k == n - 1:
            own = links[k * BLOCK : (k + 1) * BLOCK]
            for i in range(LANES):
                ex, ey, vx, vy = own[EX + i], own[EY + i], own[VX + i], own[VY + i]
                along = vx * ex + vy * ey
                end = every + (head if along > 0.0 else tail) - side
                xx, xy, yy = mass + side + end * ex * ex, end * ex * ey, mass + side + end * ey * ey
                px, py = (mass - side) * vx - end * along * ex, (mass - side) * vy - end * along * ey
                nx, ny = -half * ey, half * ex
                ux, uy = xx * nx + xy * ny, xy * nx + yy * ny
                own[XX + i], own[XY + i], own[YY + i], own[PX + i], own[PY + i] = xx, xy, yy, px, py
                own[XT + i], own[YT + i], own[TT + i] = -ux, -uy, inertia + nx * ux + ny * uy
                own[PT + i] = inertia * own[SPIN + i] - nx * px - ny * py
        else:
            own = links[k * BLOCK : (k + 2) * BLOCK]
            for i in range(LANES):
                ex, ey, vx, vy = own[EX + i], own[EY + i], own[VX + i], own[VY + i]
                along = vx * ex + vy * ey
                end = every + (head if along > 0.0 else tail) - side
                # The part behind the rear joint: its yaw rate is this link's minus the held rate, or follows from the
                # torque, and is eliminated.
                mode, held = own[BLOCK + MODE + i], own[BLOCK + HELD + i]
                free = 1.0 if abs(mode) == 1.0 else 0.0
                keep, torque = 1.0 - free, free * mode * limit
                xt, yt, tt, pt = own[BLOCK + XT + i], own[BLOCK + YT + i], own[BLOCK + TT + i], own[BLOCK + PT + i]
                inverse = free / tt
                turn = keep * held - inverse * (torque + pt)
                xx = own[BLOCK + XX + i] - inverse * xt * xt
                xy = own[BLOCK + XY + i] - inverse * xt * yt
                yy = own[BLOCK + YY + i] - inverse * yt * yt
                px, py = own[BLOCK + PX + i] + xt * turn, own[BLOCK + PY + i] + yt * turn
                pt = keep * (pt + tt * held) - torque
                xt, yt, tt = keep * xt, keep * yt, keep * tt
                # From the rear joint to the link's centre, where the link itself is added, and on to its front joint.
                nx, ny = -half * ey, half * ex
                ux, uy = xx * nx + xy * ny, xy * nx + yy * ny
                tt += nx * ux + ny * uy - 2.0 * (nx * xt + ny * yt) + inertia
                xt, yt = xt - ux, yt - uy
                pt += inertia * own[SPIN + i] - nx * px - ny * py
                xx, xy, yy = xx + mass + side + end * ex * ex, xy + end * ex * ey, yy + mass + side + end * ey * ey
                px += (mass - side) * vx - end * along * ex
                py += (mass - side) * vy - end * along * ey
                ux, uy = xx * nx + xy * ny, xy * nx + yy * ny
                own[XX + i], own[XY + i], own[YY + i], own[PX + i], own[PY + i] = xx, xy, yy, px, py
                own[XT + i], own[YT + i] = xt - ux, yt - uy
                own[TT + i] = tt + nx * ux + ny * uy - 2.0 * (nx * xt + ny * yt)
                own[PT + i] = pt - nx * px - ny * py


@kernel(error_model="numpy", nogil=True)
def solve(body: Any, links: Array, sweep: int) -> float:
    """From the head to the tail: new velocities, and a new mode for joints whose mode does not fit.

    Args:
        body: A record of `SWIMMER`.
        links: After `gather`.
        sweep: Number of sweeps before this one in this step.

    Returns:
        Number of joints, of all lanes, whose mode did not fit.
    """
    n, length, stop = body.links, body.length, body.max_angle
    per_step = body.substeps / body.interval
    limit = body.max_torque / per_step
    single = 1.0 if sweep >= ONE_BY_ONE else 0.0
    for i in range(LANES):
        xx, xy, yy, xt, yt, tt = (
            links[XX + i],
            links[XY + i],
            links[YY + i],
            links[XT + i],
            links[YT + i],
            links[TT + i],
        )
        px, py, pt = links[PX + i], links[PY + i], links[PT + i]
        one = 1.0 / xx
        f, g = xy * one, xt * one
        yy, yt, py, tt, pt = yy - f * xy, yt - f * xt, py - f * px, tt - g * xt, pt - g * px
        two = 1.0 / yy
        f = yt * two
        spin = (pt - f * py) / (tt - f * yt)
        vy = (py - yt * spin) * two
        vx = (px - xy * vy - xt * spin) * one
        links[NEW_SPIN + i], links[MISFITS + i] = spin, 0.0
        links[REAR_VX + i], links[REAR_VY + i] = vx + length * spin * links[EY + i], vy - length * spin * links[EX + i]
    for k in range(1, n):
        # A subset of the joints that changes with every sweep, the same for all bodies.
        skip = ALL_AT_ONCE <= sweep < ONE_BY_ONE and ((k * 2654435761 + sweep * 40503) >> 7) % 2 == 0
        own = links[(k - 1) * BLOCK : (k + 1) * BLOCK]
        for i in range(LANES):
            vx, vy, last = own[REAR_VX + i], own[REAR_VY + i], own[NEW_SPIN + i]
            mode, wanted, angle = own[BLOCK + MODE + i], own[BLOCK + WANTED + i], own[BLOCK + ANGLE + i]
            tt = own[BLOCK + TT + i]
            rest = own[BLOCK + PT + i] - own[BLOCK + XT + i] * vx - own[BLOCK + YT + i] * vy
            free = abs(mode) == 1.0
            spin = (mode * limit + rest) / tt if free else last - own[BLOCK + HELD + i]
            torque, rate = tt * spin - rest, last - spin
            slack = ROUNDING * (abs(wanted) + abs(spin) + 1.0)
            sign = 1.0 if torque > 0.0 else -1.0
            from_held = sign if abs(torque) > limit * (1.0 + ROUNDING) + TERMS * abs(rest) else 0.0
            beyond = 2.0 * mode if mode * rate - (stop - mode * angle) * per_step > slack else mode
            from_limit = 0.0 if mode * (wanted - rate) > slack else beyond
            from_stop = mode if 0.5 * mode * torque > limit else 0.5 * mode
            new = from_held if mode == 0.0 else (from_limit if free else from_stop)
            before = own[MISFITS + i]
            own[BLOCK + MISFITS + i] = before + (1.0 if new != mode else 0.0)
            new = mode if (skip or single * before > 0.0) else new
            own[BLOCK + MODE + i] = new
            own[BLOCK + HELD + i] = wanted if new == 0.0 else (0.5 * new * stop - angle) * per_step
            own[BLOCK + NEW_SPIN + i] = spin
            own[BLOCK + REAR_VX + i] = vx + length * spin * own[BLOCK + EY + i]
            own[BLOCK + REAR_VY + i] = vy - length * spin * own[BLOCK + EX + i]
    misfits = 0.0
    for i in range(LANES):
        misfits += links[(n - 1) * BLOCK + MISFITS + i]
    return misfits


@kernel(error_model="numpy", nogil=True)
def _give_up(body: Any, links: Array) -> None:
    """Make the velocities of bodies NaN whose motors do not fit."""
    for i in range(LANES):
        if links[(body.links - 1) * BLOCK + MISFITS + i] > 0.0:
            for k in range(body.links):
                links[k * BLOCK + REAR_VX + i] = links[k * BLOCK + NEW_SPIN + i] = np.nan


@kernel(error_model="numpy", nogil=True)
def _move(body: Any, lanes: Lanes) -> None:
    """Take over the new velocities, and move by them; sum up the heat and how many motors are below their limits."""
    z, links = lanes.state, lanes.links
    n, half, h = body.links, 0.5 * body.length, body.interval / body.substeps
    side, every, tip = body.side_drag, body.end_drag, body.tip_drag
    per_link, per_motor = h / n, 1.0 / ((n - 1) * body.substeps)
    for k in range(n):
        head = tip if k == 0 else 0.0
        tail = tip if k == n - 1 else 0.0
        own = links[k * BLOCK : (k + 1) * BLOCK]
        for i in range(LANES):
            ex, ey, spin = own[EX + i], own[EY + i], own[NEW_SPIN + i]
            vx, vy = own[REAR_VX + i] - half * spin * ey, own[REAR_VY + i] + half * spin * ex
            drag = every + (head if own[VX + i] * ex + own[VY + i] * ey > 0.0 else tail)
            mx, my = 0.5 * (own[VX + i] + vx), 0.5 * (own[VY + i] + vy)
            along, across = mx * ex + my * ey, my * ex - mx * ey
            own[VX + i], own[VY + i], own[SPIN + i] = vx, vy, spin
            z[LANES * HEAT + i] += h * (drag * along * along + side * across * across)
            z[LANES * X + i] += per_link * vx
            z[LANES * Y + i] += per_link * vy
    _sum_moments(body, lanes)
    for i in range(LANES):
        z[LANES * ANGULAR_MOMENTUM + i] = lanes.sums[_L + i]
    for k in range(1, n):
        own = links[(k - 1) * BLOCK : (k + 1) * BLOCK]
        for i in range(LANES):
            own[BLOCK + ANGLE + i] += h * (own[NEW_SPIN + i] - own[BLOCK + NEW_SPIN + i])
            z[LANES * DRIVE + i] += per_motor if own[BLOCK + MODE + i] == 0.0 else 0.0
    for i in range(LANES):
        turn = h * links[SPIN + i]
        z[LANES * YAW + i] += turn
        c, s = cosine(turn), sine(turn)
        ex, ey = links[EX + i] * c - links[EY + i] * s, links[EY + i] * c + links[EX + i] * s
        # One Newton step keeps the direction's length at 1.
        scale = 1.5 - 0.5 * (ex * ex + ey * ey)
        links[EX + i], links[EY + i] = scale * ex, scale * ey
