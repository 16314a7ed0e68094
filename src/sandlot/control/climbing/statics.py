"""Whether a climbing robot can stand as it is: contact forces within friction and motor limits that carry its weight.

The forces are the solution of a small linear program. Its unknowns are the shares of each contact's force along both
edges of the friction cone. Three equations balance forces and moment; eight inequalities limit the thrust of both
pairs of belts and the torque of both axles.
"""

import math
from typing import Any

from sandlot.kernels import kernel
from sandlot.physics.climbing.contacts import NORMAL_X, NORMAL_Z, POINT_X, POINT_Z
from sandlot.physics.climbing.robot import CONTACTS
from sandlot.physics.climbing.step import GRAVITY
from sandlot.typing import Array, IntArray

EQUATIONS, LIMITS = 3, 8
ROWS = EQUATIONS + LIMITS + 1
"""Of the tableau; the last holds the reduced costs."""
COLUMNS = 2 * CONTACTS + LIMITS + 1
"""Shares, slacks, and the right-hand side."""
ARM = 0.3
"""Moments are divided by the weight and this [m]."""
TINY = 1e-9
PIVOTS = 200
"""At most so many."""


@kernel(error_model="numpy", allocates=False)
def stands(
    robot: Any, pose: Any, found: Array, labels: IntArray, count: int, move: int, tableau: Array, basis: IntArray
) -> bool:
    """Find out whether contact forces can carry the robot.

    Args:
        robot: Record of `ROBOT`.
        pose: x and z of the middle of the body [m], angles of body, front and rear tracks [rad].
        found: (contacts, 5) as `sandlot.physics.climbing.contacts.find` fills it.
        labels: (contacts, 2) their parts.
        count: Number of contacts.
        move: 1 or -1 if the robot drives forwards or backwards, so that friction of its body holds it back; if 0,
            friction of the body holds it either way.
        tableau: (ROWS, COLUMNS) scratch.
        basis: (ROWS,) scratch.
    """
    x, z, body, front, back = pose
    masses = robot.body_mass + robot.front_mass + robot.back_mass
    weight = masses * GRAVITY
    c, s = math.cos(body), math.sin(body)
    fx, fz = x + c * robot.half_span - s * robot.hip, z + s * robot.half_span + c * robot.hip
    kx, kz = x - c * robot.half_span - s * robot.hip, z - s * robot.half_span + c * robot.hip
    arm = 0.5 * robot.reach
    mass_x = robot.body_mass * (x + c * robot.load_x - s * robot.load_z)
    mass_x += robot.front_mass * (fx + arm * math.cos(front)) + robot.back_mass * (kx - arm * math.cos(back))
    mass_x /= masses
    if count == 0:
        return False
    shares = 2 * count
    width = shares + LIMITS + 1
    for i in range(ROWS):
        for j in range(width):
            tableau[i, j] = 0.0
    for n in range(count):
        part = labels[n, 0]
        nx, nz = found[n, NORMAL_X], found[n, NORMAL_Z]
        px, pz = found[n, POINT_X], found[n, POINT_Z]
        grip = robot.belly_grip if part == 2 else robot.grip
        for edge in range(2):
            way = grip if edge == 0 else -grip
            if part == 2 and move != 0:
                way = -move * grip
            ux, uz, j = nx + way * nz, nz - way * nx, 2 * n + edge
            tableau[0, j], tableau[1, j] = ux, uz
            tableau[2, j] = ((px - mass_x) * uz - (pz - z) * ux) / ARM
            if part < 2:
                row = EQUATIONS + 4 * part
                tableau[row, j], tableau[row + 1, j] = way, -way
                ax, az = (fx, fz) if part == 0 else (kx, kz)
                moment = ((px - ax) * uz - (pz - az) * ux) / ARM
                tableau[row + 2, j], tableau[row + 3, j] = moment, -moment
    last = width - 1
    tableau[1, last] = 1.0
    # The axle carries what the ground does not: torque + moments of contacts + moment of the track's weight is 0.
    for pair in range(2):
        row = EQUATIONS + 4 * pair
        tableau[row, last] = tableau[row + 1, last] = robot.thrust / weight
        drop = robot.front_mass * arm * math.cos(front) if pair == 0 else -robot.back_mass * arm * math.cos(back)
        drop *= GRAVITY / (weight * ARM)
        top = robot.axle_torque / (weight * ARM)
        tableau[row + 2, last], tableau[row + 3, last] = top + drop, top - drop
    # A row that its slack cannot begin with has an artificial unknown, without a column as it never comes back: -1.
    for i in range(ROWS - 1):
        basis[i] = -1
        if i >= EQUATIONS:
            slack = shares + i - EQUATIONS
            tableau[i, slack] = 1.0
            if tableau[i, last] >= 0.0:
                basis[i] = slack
                continue
            for j in range(width):  # an axle too weak to hold up its tracks
                tableau[i, j] = -tableau[i, j]
        for j in range(width):
            tableau[ROWS - 1, j] -= tableau[i, j]
    return _feasible(tableau, basis, width)


@kernel(error_model="numpy", allocates=False)
def _feasible(tableau: Array, basis: IntArray, width: int) -> bool:
    """First phase of the simplex method with Bland's rule: whether the artificial unknowns can all be 0."""
    last = width - 1
    for _ in range(PIVOTS):
        if tableau[ROWS - 1, last] > -1e-7:
            return True
        enter = -1
        for j in range(last):
            if tableau[ROWS - 1, j] < -TINY:
                enter = j
                break
        if enter < 0:
            return False
        leave, least = -1, 0.0
        for i in range(ROWS - 1):
            if tableau[i, enter] > TINY:
                ratio = tableau[i, last] / tableau[i, enter]
                if leave < 0 or ratio < least - TINY or (ratio <= least + TINY and basis[i] < basis[leave]):
                    leave, least = i, ratio
        if leave < 0:
            return False
        pivot = tableau[leave, enter]
        for j in range(width):
            tableau[leave, j] /= pivot
        for i in range(ROWS):
            factor = tableau[i, enter]
            if i != leave and factor != 0.0:
                for j in range(width):
                    tableau[i, j] -= factor * tableau[leave, j]
        basis[leave] = enter
    return False
