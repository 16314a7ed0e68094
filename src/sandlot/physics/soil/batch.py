"""Batches of nodes under a body: gathered from the ground as contiguous arrays, and scattered back to it.

Loops over the arrays of a batch compile to vector instructions.
"""

import math

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.physics.shapes import Three
from sandlot.physics.soil.ground import Ground
from sandlot.physics.soil.rims import push_aside
from sandlot.typing import IntArray

BATCH_SIZE = 64
"""Nodes of a patch that are processed together."""
BATCH = np.dtype(
    [
        (name, np.float64, BATCH_SIZE)
        for name in (
            *("x", "y", "z", "covered", "slope_x", "slope_y", "hollow_x", "hollow_y"),
            *("height", "undeformed", "sinkage", "loose", "shear_x", "shear_y", "covered_before"),
            *("belt_x", "belt_y", "belt_z", "depth", "yield_stress", "stretch"),
            *("force_x", "force_y", "force_z", "pressed", "pushed", "elastic_energy"),
        )
    ]
)
"""Nodes of a patch.

First come the fields of `sandlot.physics.soil.patch.PATCH_NODE`, then those of `sandlot.physics.soil.ground.NODE`. The
``covered`` of the latter is ``covered_before`` here. ``belt_x`` to ``belt_z`` is the direction in which a belt runs.
``depth`` [m] is measured along the normal; ``yield_stress`` [Pa] is Bekker's at this depth; ``stretch`` is the area of
the slope over that of its cell. ``force_x`` to ``force_z`` is the force on the body [N]. ``pressed`` is soil that the
body presses down, and ``pushed`` the soil that it pushes aside as it covers more of a cell, as heights of the cell [m].
``elastic_energy`` is the energy that the node stores [J]."""


@kernel(error_model="numpy", allocates=False)
def gather(ground: Ground, index: IntArray, contact: NDArray[np.void], batch: np.void) -> None:
    """Copy some nodes of a patch, at most BATCH_SIZE, into a batch; its belt stands still."""
    for k in range(len(index)):
        at = contact[k]
        batch["x"][k], batch["y"][k], batch["z"][k], batch["covered"][k] = at["x"], at["y"], at["z"], at["covered"]
        batch["slope_x"][k], batch["slope_y"][k] = at["slope_x"], at["slope_y"]
        batch["hollow_x"][k], batch["hollow_y"][k] = at["hollow_x"], at["hollow_y"]
    for k in range(len(index)):
        node = ground.nodes[index[k]]
        batch["undeformed"][k], batch["sinkage"][k], batch["loose"][k] = (
            node["undeformed"],
            node["sinkage"],
            node["loose"],
        )
        batch["shear_x"][k], batch["shear_y"][k] = node["shear_x"], node["shear_y"]
        batch["height"][k], batch["covered_before"][k] = node["height"], node["covered"]
    for k in range(BATCH_SIZE):
        batch["belt_x"][k] = batch["belt_y"][k] = batch["belt_z"][k] = 0.0


@kernel(error_model="numpy", allocates=False)
def belt_directions(batch: np.void, count: int, shape: np.void) -> None:
    """Directions in which the belt of a track runs above some nodes: around its pulleys, or straight."""
    position, mat, half = shape["position"], shape["rotation"], shape["size"][0]
    for k in range(count):
        x, y, z = batch["x"][k] - position[0], batch["y"][k] - position[1], batch["z"][k] - position[2]
        f, u = mat[0] * x + mat[3] * y + mat[6] * z, mat[2] * x + mat[5] * y + mat[8] * z
        over = f - min(max(f, -half), half)
        length = math.sqrt(over * over + u * u)
        f, u = u / length, -over / length
        batch["belt_x"][k] = mat[0] * f + mat[2] * u
        batch["belt_y"][k] = mat[3] * f + mat[5] * u
        batch["belt_z"][k] = mat[6] * f + mat[8] * u


@kernel(error_model="numpy", allocates=False, fastmath={"reassoc", "contract", "nsz"})
def add_up(batch: np.void, count: int, centre: Three, load: np.void) -> None:
    """Add what a batch of nodes does to the body to its load, in whichever order is fastest.

    Args:
        batch: As `press` leaves it.
        count: Number of nodes.
        centre: Point about which torques are taken [m].
        load: Record of `sandlot.physics.soil.contacts.SOIL_LOAD`, added to.
    """
    x0, y0, z0 = centre
    fx = fy = fz = tx = ty = tz = along = out = out_x = out_y = stored = 0.0
    for k in range(count):
        x, y, z = batch["x"][k], batch["y"][k], batch["z"][k] - z0
        px, py, pz = batch["force_x"][k], batch["force_y"][k], batch["force_z"][k]
        part = batch["pressed"][k]
        fx, fy, fz = fx + px, fy + py, fz + pz
        tx, ty, tz = tx + (y - y0) * pz - z * py, ty + z * px - (x - x0) * pz, tz + (x - x0) * py - (y - y0) * px
        along += px * batch["belt_x"][k] + py * batch["belt_y"][k] + pz * batch["belt_z"][k]
        out, out_x, out_y = out + part, out_x + part * x, out_y + part * y
        stored += batch["elastic_energy"][k]
    force, torque = load["force"], load["torque"]
    force[0] += fx
    force[1] += fy
    force[2] += fz
    torque[0] += tx
    torque[1] += ty
    torque[2] += tz
    load["belt_force"] += along
    load["displaced"] += out
    load["displaced_x"] += out_x
    load["displaced_y"] += out_y
    load["elastic_energy"] += stored


@kernel(error_model="numpy", allocates=False)
def scatter(ground: Ground, index: IntArray, batch: np.void, step: float) -> None:
    """Copy the new states of a batch of nodes back to the ground, and push soil aside."""
    for k in range(len(index)):
        node, ahead = ground.nodes[index[k]], batch["pushed"][k]
        node["height"] -= batch["pressed"][k] + ahead
        if ahead > 0.0:
            batch["pressed"][k] += push_aside(ground, index[k], ahead, step)
        node["covered"], node["sinkage"], node["loose"] = batch["covered"][k], batch["sinkage"][k], batch["loose"][k]
        node["shear_x"], node["shear_y"] = batch["shear_x"][k], batch["shear_y"][k]
