"""Sums over the nodes of a part: the force of the soil on it, and the force's derivative by the part's velocity."""

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.physics.shapes import Three
from sandlot.physics.soil.kinds import soil_of
from sandlot.physics.soil.motion import Motion
from sandlot.physics.soil.stress import Response, press


@kernel(error_model="numpy", allocates=False)
def add_forces(batch: np.void, count: int, load: np.void) -> None:
    """Add the forces of a batch of nodes, as `press` leaves it, to the load of a part: a record of SOIL_LOAD."""
    fx = fy = fz = tx = ty = tz = 0.0
    for k in range(count):
        fx, fy, fz = fx + batch["force_x"][k], fy + batch["force_y"][k], fz + batch["force_z"][k]
        tx, ty, tz = tx + batch["torque_x"][k], ty + batch["torque_y"][k], tz + batch["torque_z"][k]
    force, torque = load["force"], load["torque"]
    force[0] += fx
    force[1] += fy
    force[2] += fz
    torque[0] += tx
    torque[1] += ty
    torque[2] += tz


@kernel(error_model="numpy", allocates=False)
def add_tangents(batch: np.void, count: int, load: np.void) -> None:
    """As `add_forces`, for the derivatives by the velocity of the part; its lower triangle is added to."""
    xx = xy = xz = yy = yz = zz = 0.0
    ax = ay = az = bx = by = bz = cx = cy = cz = 0.0
    aa = ab = ac = bb = bc = cc = 0.0
    for k in range(count):
        xx, xy, xz = xx + batch["c_xx"][k], xy + batch["c_xy"][k], xz + batch["c_xz"][k]
        yy, yz, zz = yy + batch["c_yy"][k], yz + batch["c_yz"][k], zz + batch["c_zz"][k]
        ax, ay, az = ax + batch["turn_xx"][k], ay + batch["turn_xy"][k], az + batch["turn_xz"][k]
        bx, by, bz = bx + batch["turn_yx"][k], by + batch["turn_yy"][k], bz + batch["turn_yz"][k]
        cx, cy, cz = cx + batch["turn_zx"][k], cy + batch["turn_zy"][k], cz + batch["turn_zz"][k]
        aa, ab, ac = aa + batch["spin_xx"][k], ab + batch["spin_yx"][k], ac + batch["spin_zx"][k]
        bb, bc, cc = bb + batch["spin_yy"][k], bc + batch["spin_zy"][k], cc + batch["spin_zz"][k]
    t = load["tangent"]
    t[0, 0] += xx
    t[1, 0] += xy
    t[1, 1] += yy
    t[2, 0] += xz
    t[2, 1] += yz
    t[2, 2] += zz
    t[3, 0] += ax
    t[3, 1] += ay
    t[3, 2] += az
    t[3, 3] += aa
    t[4, 0] += bx
    t[4, 1] += by
    t[4, 2] += bz
    t[4, 3] += ab
    t[4, 4] += bb
    t[5, 0] += cx
    t[5, 1] += cy
    t[5, 2] += cz
    t[5, 3] += ac
    t[5, 4] += bc
    t[5, 5] += cc


@kernel(error_model="numpy", allocates=False)
def add_belt(batch: np.void, count: int, centre: Three, load: np.void) -> None:
    """As `add_forces` and `add_tangents`, for the force along the belt."""
    x0, y0, z0 = centre
    last = load["tangent"][6]
    for k in range(count):
        x, y, z = batch["x"][k] - x0, batch["y"][k] - y0, batch["z"][k] - z0
        b_x, b_y, b_z = batch["belt_x"][k], batch["belt_y"][k], batch["belt_z"][k]
        load["belt_force"] += batch["force_x"][k] * b_x + batch["force_y"][k] * b_y + batch["force_z"][k] * b_z
        p_x = batch["c_xx"][k] * b_x + batch["c_xy"][k] * b_y + batch["c_xz"][k] * b_z
        p_y = batch["c_xy"][k] * b_x + batch["c_yy"][k] * b_y + batch["c_yz"][k] * b_z
        p_z = batch["c_xz"][k] * b_x + batch["c_yz"][k] * b_y + batch["c_zz"][k] * b_z
        last[0] += p_x
        last[1] += p_y
        last[2] += p_z
        last[3] += y * p_z - z * p_y
        last[4] += z * p_x - x * p_z
        last[5] += x * p_y - y * p_x
        last[6] += b_x * p_x + b_y * p_y + b_z * p_z


@kernel(error_model="numpy", allocates=False)
def press_part(
    shape: np.void,
    load: np.void,
    batches: NDArray[np.void],
    soils: NDArray[np.void],
    motion: Motion,
    dt: float,
    spacing: float,
) -> None:
    """Find the force of the soil on a part that moves in some way, and its derivative by the velocity.

    Args:
        shape: Record of `sandlot.physics.soil.contacts.SOIL_SHAPE`.
        load: Record of `sandlot.physics.soil.contacts.SOIL_LOAD`, whose force and tangent are replaced.
        batches: Nodes under all shapes, as `prepare` leaves them.
        soils: (kinds,) of `sandlot.physics.soil.kinds.SOIL`.
        motion: How the part moves.
        dt: Length of the step [s].
        spacing: Distance of nodes [m].
    """
    force, torque, tangent = load["force"], load["torque"], load["tangent"]
    for a in range(7):
        for b in range(7):
            tangent[a, b] = 0.0
    # Damping of the whole body.
    damped, turned = load["damping"] * shape["mass"], load["damping"] * shape["inertia"]
    for k in range(3):
        force[k], torque[k] = -damped * motion.linear[k], -turned * motion.angular[k]
        tangent[k, k], tangent[3 + k, 3 + k] = damped, turned
    load["belt_force"] = 0.0
    for k in range(shape["batch_start"], shape["batch_end"]):
        batch, count = batches[k], batches[k]["count"]
        response = Response(dt, spacing, batch["modulus"], load["rest"])
        press(batch, count, soil_of(soils, batch["kind"]), response, motion)
        add_forces(batch, count, load)
        add_tangents(batch, count, load)
        if shape["dof"] >= 0:
            add_belt(batch, count, motion.centre, load)
    for a in range(7):
        for b in range(a):
            tangent[b, a] = tangent[a, b]
