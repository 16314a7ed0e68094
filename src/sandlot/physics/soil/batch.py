"""Batches of nodes under a body: gathered from the ground as contiguous arrays, and scattered back to it.

Loops over the arrays of a batch compile to vector instructions.
"""

import math

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.physics.shapes import LANES, whole_vectors
from sandlot.physics.soil.ground import Ground, KindArray, loosen, uncover
from sandlot.physics.soil.rims import push_aside
from sandlot.typing import IntArray

BATCH_SIZE = 64
"""Nodes of a patch that are processed together. The arrays of a batch are longer by a vector: if their addresses
differed by a power of 2, they would compete for the same lines of the processor's cache."""
BATCH = np.dtype(
    [
        (name, np.float64, BATCH_SIZE + LANES)
        for name in (
            *("x", "y", "z", "covered", "slope_x", "slope_y", "hollow_x", "hollow_y"),
            *("height", "undeformed", "sinkage", "loose", "shear_x", "shear_y", "fill", "covered_before"),
            *("belt_x", "belt_y", "belt_z", "stretch", "push_x", "push_y"),
            *("now", "start", "firm", "yield_depth", "begin", "begin_stress"),
            *("depth", "plastic", "stress", "new_shear_x", "new_shear_y", "force_x", "force_y", "force_z"),
            *("c_xx", "c_xy", "c_xz", "c_yy", "c_yz", "c_zz", "torque_x", "torque_y", "torque_z"),
            *("turn_xx", "turn_xy", "turn_xz", "turn_yx", "turn_yy", "turn_yz", "turn_zx", "turn_zy", "turn_zz"),
            *("spin_xx", "spin_yx", "spin_yy", "spin_zx", "spin_zy", "spin_zz"),
            *("pressed", "pushed", "elastic_energy"),
        )
    ]
    + [("first", np.int64), ("count", np.int64), ("kind", np.int64), ("modulus", np.float64), ("unused", np.int64, 4)]
)
"""Nodes of a patch, all on one kind of soil.

First come the fields of `sandlot.physics.soil.patch.PATCH_NODE`, then those of `sandlot.physics.soil.ground.NODE`. The
``covered`` of the latter is ``covered_before`` here; ``undeformed`` and ``sinkage`` are those of the fill, if there is
one. ``belt_x`` to ``belt_z`` is the direction in which a belt runs.

``prepare`` sets what does not depend on the motion in this step: ``stretch``, the area of the slope over that of its
cell; ``push_x`` and ``push_y``, the direction in which stress acts, whose upward part is one over ``stretch``; and
depths along the normal [m]: ``now``, of the body at the start of the step; ``start``, half a step before;
``firm``, the surface of deformed soil; ``yield_depth``, where it begins to yield; ``begin``, where it does so on the
path from ``start``; and ``begin_stress``, its stress there [Pa]. ``press`` sets what does: ``depth`` half a step after
``now`` [m]; ``plastic``, Bekker's stress there, and ``stress``, without damping [Pa]; the new shear; the force on the
body [N]; and ``c_xx`` to ``c_zz``, how much of that force is lost by velocity [N*s/m]; the torque [N*m] about the
body's centre; ``turn_xx`` to ``turn_zz``, how much of it is lost by the velocity of the centre [N*s]; and ``spin_xx``
to ``spin_zz``, by rotation [N*m*s]. ``deform`` sets ``pressed``,
soil that the body presses down, and ``pushed``, soil that it pushes aside as it covers more of a cell, both as heights
of the cell [m]; and ``elastic_energy``, the energy that the node stores [J].

Last come what all nodes share: where they are in the room for patches, their number, the number of their kind of soil,
and Bekker's modulus of that kind for this patch [Pa/m^n]; and room that fills a line of the processor's cache."""


@kernel(error_model="numpy", allocates=False)
def batch_end(kinds: KindArray, indices: IntArray, first: int, end: int) -> int:
    """Where the batch ends that begins at ``first`` of nodes that are sorted by kind, and end at ``end``."""
    last = min(first + BATCH_SIZE, end)
    while kinds[indices[last - 1]] != kinds[indices[first]]:
        last -= 1
    return last


@kernel(error_model="numpy", allocates=False)
def gather(ground: Ground, index: IntArray, contact: NDArray[np.void], batch: np.void) -> None:
    """Copy some nodes of a patch, at most BATCH_SIZE, into a batch; its belt stands still.

    The fill of nodes whose pressed soil the body has reached becomes loose.
    """
    for k in range(len(index)):
        at = contact[k]
        batch["x"][k], batch["y"][k], batch["z"][k], batch["covered"][k] = at["x"], at["y"], at["z"], at["covered"]
        batch["slope_x"][k], batch["slope_y"][k] = at["slope_x"], at["slope_y"]
        batch["hollow_x"][k], batch["hollow_y"][k] = at["hollow_x"], at["hollow_y"]
    for k in range(len(index)):
        node = ground.nodes[index[k]]
        if node["fill"] > 0.0 and contact[k]["z"] < node["undeformed"] - node["sinkage"] - node["fill"]:
            loosen(node)  # the body has reached the pressed soil
        # Depths in a fill are counted from its own undeformed surface.
        lower = max(node["origin"], 0.0)
        batch["undeformed"][k], batch["sinkage"][k] = node["undeformed"] - lower, node["sinkage"] - lower
        batch["loose"][k], batch["fill"][k] = node["loose"], node["fill"]
        batch["shear_x"][k], batch["shear_y"][k] = node["shear_x"], node["shear_y"]
        batch["height"][k], batch["covered_before"][k] = node["height"], node["covered"]
    for k in range(whole_vectors(len(index))):
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


@kernel(error_model="numpy", allocates=False)
def scatter(ground: Ground, index: IntArray, batch: np.void, step: float) -> None:
    """Copy the new states of a batch of nodes back to the ground, and push soil aside."""
    for k in range(len(index)):
        node, ahead = ground.nodes[index[k]], batch["pushed"][k]
        node["height"] -= batch["pressed"][k] + ahead
        if ahead > 0.0:
            batch["pressed"][k] += push_aside(ground, index[k], ahead, step)
        node["covered"], node["loose"], node["fill"] = batch["covered"][k], batch["loose"][k], batch["fill"][k]
        node["sinkage"] = batch["sinkage"][k] + max(node["origin"], 0.0)
        uncover(node)
        node["shear_x"], node["shear_y"] = batch["new_shear_x"][k], batch["new_shear_y"][k]
