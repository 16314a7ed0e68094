"""Sums over the nodes of a part: the force of the soil on it, and the force's derivative by the part's velocity."""

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.physics.shapes import Three
from sandlot.physics.soil.kinds import soil_of
from sandlot.physics.soil.stress import Motion, Response, press


@kernel(error_model="numpy", allocates=False)
def add_forces(batch: np.void, count: int, centre: Three, load: np.void) -> None:
    """Add the forces of a batch of nodes to the load of a part.

    Args:
        batch: As `press` leaves it.
        count: Number of nodes.
        centre: Point about which torques are taken [m].
        load: Record of `sandlot.physics.soil.contacts.SOIL_LOAD`, added to.
    """
    x0, y0, z0 = centre
    fx = fy = fz = tx = ty = tz = 0.0
    for k in range(count):
        x, y, z = batch["x"][k] - x0, batch["y"][k] - y0, batch["z"][k] - z0
        px, py, pz = batch["force_x"][k], batch["force_y"][k], batch["force_z"][k]
        fx, fy, fz = fx + px, fy + py, fz + pz
        tx, ty, tz = tx + y * pz - z * py, ty + z * px - x * pz, tz + x * py - y * px
    force, torque = load["force"], load["torque"]
    force[0] += fx
    force[1] += fy
    force[2] += fz
    torque[0] += tx
    torque[1] += ty
    torque[2] += tz


@kernel(error_model="numpy", allocates=False)
def add_tangents(batch: np.void, count: int, centre: Three, load: np.void) -> None:
    """As `add_forces`, for the derivatives by the velocity of the part; its lower triangle is added to."""
    x0, y0, z0 = centre
    xx = xy = xz = yy = yz = zz = 0.0
    ax = ay = az = bx = by = bz = cx = cy = cz = 0.0
    aa = ab = ac = bb = bc = cc = 0.0
    for k in range(count):
        x, y, z = batch["x"][k] - x0, batch["y"][k] - y0, batch["z"][k] - z0
        c_xx, c_xy, c_xz = batch["c_xx"][k], batch["c_xy"][k], batch["c_xz"][k]
        c_yy, c_yz, c_zz = batch["c_yy"][k], batch["c_yz"][k], batch["c_zz"][k]
        xx, xy, xz, yy, yz, zz = xx + c_xx, xy + c_xy, xz + c_xz, yy + c_yy, yz + c_yz, zz + c_zz
        # Cross products of the arm with the columns, and of the arm with the rows of these.
        a_x, a_y, a_z = y * c_xz - z * c_xy, y * c_yz - z * c_yy, y * c_zz - z * c_yz
        b_x, b_y, b_z = z * c_xx - x * c_xz, z * c_xy - x * c_yz, z * c_xz - x * c_zz
        c_x, c_y, c_z = x * c_xy - y * c_xx, x * c_yy - y * c_xy, x * c_yz - y * c_xz
        ax, ay, az, bx, by, bz = ax + a_x, ay + a_y, az + a_z, bx + b_x, by + b_y, bz + b_z
        cx, cy, cz = cx + c_x, cy + c_y, cz + c_z
        aa, ab, ac = aa + y * a_z - z * a_y, ab + z * a_x - x * a_z, ac + x * a_y - y * a_x
        bb, bc, cc = bb + z * b_x - x * b_z, bc + x * b_y - y * b_x, cc + x * c_y - y * c_x
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
        add_forces(batch, count, motion.centre, load)
        add_tangents(batch, count, motion.centre, load)
        if shape["dof"] >= 0:
            add_belt(batch, count, motion.centre, load)
    for a in range(7):
        for b in range(a):
            tangent[b, a] = tangent[a, b]
