"""A step of a MuJoCo simulation on soil, compiled: bodies and ground act on each other, then MuJoCo goes on."""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.physics.ground import Ground, release, slide, spill
from sandlot.physics.soil_contact import LANES, REPOSE, ROWS, find, tread

Array: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]

SLIDES = 256
"""Nodes that are looked at for slides, at most, in one step."""


class Bodies(NamedTuple):
    """The shapes that may touch the ground, for kernels; a row for each.

    Attributes:
        whole: (shapes, 9) kind, body, root of its tree, driving degree of freedom or -1, geom or -1, and of its mesh
            the first point, number of points, first face, number of faces.
        real: (shapes, 16) size (3), position (3) and rotation (9) in the body if it is no geom, elastic stiffness.
        points: (points, 3) of all meshes [m].
        faces: (faces, 3) of all meshes.
        under: Nodes that are touched, shape by shape.
        patch: (nodes, 4) as in `sandlot.physics.soil_contact.find`.
        line: (2, columns) room for one row of the ground.
        before: Nodes that were touched in the last step.
        counts: (3,) how many these are; and number of steps and of rims so far.
        rim: Room for a rim.
        weight: Room for a rim.
        sums: (shapes, 10) what the ground did in the last step, as in `sandlot.physics.soil_contact.scatter`.
    """

    whole: Whole
    real: Array
    points: Array
    faces: NDArray[np.int32]
    under: Whole
    patch: Array
    line: Array
    before: Whole
    counts: Whole
    rim: Whole
    weight: Array
    sums: Array


class Simulation(NamedTuple):
    """The arrays of a MuJoCo simulation that the soil reads and writes, for kernels."""

    xpos: Array
    xmat: Array
    xipos: Array
    geom_xpos: Array
    geom_xmat: Array
    cvel: Array
    subtree_com: Array
    qvel: Array
    xfrc_applied: Array
    qfrc_applied: Array


@kernel(error_model="numpy")
def place(bodies: Bodies, shape: int, simulation: Simulation, pos: Array, mat: Array) -> None:
    """Where a shape is now: into ``pos`` (3,) [m] and ``mat`` (9,)."""
    body, geom = bodies.whole[shape, 1], bodies.whole[shape, 4]
    if geom >= 0:
        pos[:] = simulation.geom_xpos[geom]
        mat[:] = simulation.geom_xmat[geom]
        return
    real, xmat = bodies.real[shape], simulation.xmat[body]
    for row in range(3):
        pos[row] = simulation.xpos[body, row]
        for k in range(3):
            pos[row] += xmat[3 * row + k] * real[3 + k]
            mat[3 * row + k] = 0.0
            for m in range(3):
                mat[3 * row + k] += xmat[3 * row + m] * real[6 + 3 * m + k]


@kernel(error_model="numpy")
def exchange(ground: Ground, soil: Array, bodies: Bodies, simulation: Simulation, dt: float) -> None:
    """Let bodies and ground act on each other for one step: forces into ``bodies.sums``, traces into the ground."""
    whole, counts = bodies.whole, bodies.counts
    counts[1] += 1
    step, total = float(counts[1]), 0
    pos, mat, work, sums = np.empty(3), np.empty(9), np.empty(ROWS * LANES), bodies.sums
    parts = np.zeros(len(whole) + 1, np.int64)
    for k in range(len(whole)):
        kind, body, dof = whole[k, 0], whole[k, 1], whole[k, 3]
        size = (bodies.real[k, 0], bodies.real[k, 1], bodies.real[k, 2])
        place(bodies, k, simulation, pos, mat)
        points = bodies.points[whole[k, 5] : whole[k, 5] + whole[k, 6]]
        faces = bodies.faces[whole[k, 7] : whole[k, 7] + whole[k, 8]]
        under, patch = bodies.under[total:], bodies.patch[total:]
        count = find(ground, kind, size, pos, mat, points, faces, under, patch, bodies.line)
        total += count
        parts[k + 1] = total
        sums[k] = 0.0
        if count > 0:
            belt = simulation.qvel[dof] * size[1] if dof >= 0 else 0.0
            tread(
                ground, soil, bodies.real[k, 15], under[:count], patch[:count], step, dt, kind, size, pos, mat, belt,
                simulation.cvel[body], simulation.subtree_com[whole[k, 2]], simulation.xipos[body], sums[k], work,
            )  # fmt: skip
    release(ground, bodies.before[: counts[0]], step)
    for k in range(len(whole)):
        volume = sums[k, 7]
        if volume > 0.0:
            counts[2] += 1
            under, mark = bodies.under[parts[k] : parts[k + 1]], float(counts[2])
            x, y = sums[k, 8] / volume, sums[k, 9] / volume
            spill(ground, under, step, mark, volume, x, y, bodies.rim, bodies.weight)
    bodies.before[:total] = bodies.under[:total]
    counts[0] = total
    slide(ground, soil[REPOSE], step, SLIDES)


def _call(_context: Any, _address: Any, _model: Any, _data: Any) -> Any:
    """Typing and code of a call of a C function by its address, which Numba has no word for."""

    def make(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, cgutils.voidptr_t])
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        pointers = [builder.inttoptr(each, cgutils.voidptr_t) for each in arguments[1:]]
        builder.call(function, pointers)
        return ir.Constant(cgutils.voidptr_t, None)

    return types.none(types.uint64, types.uint64, types.uint64), make


_run: Any = intrinsic(_call)


@kernel(error_model="numpy", nogil=True)
def advance(
    ground: Ground, soil: Array, bodies: Bodies, simulation: Simulation, dt: float, steps: int, first: np.uint64,
    second: np.uint64, model: np.uint64, data: np.uint64,
) -> None:  # fmt: skip
    """Make steps of a simulation on soil.

    Args:
        ground: Changed in place.
        soil: As in `sandlot.physics.soil_contact`.
        bodies: What touches it.
        simulation: Arrays of the simulation.
        dt: A step [s].
        steps: How many.
        first: Address of MuJoCo's ``mj_step1``.
        second: Address of MuJoCo's ``mj_step2``.
        model: Address of the model.
        data: Address of the simulation.
    """
    whole, forces, torques = bodies.whole, simulation.xfrc_applied, simulation.qfrc_applied
    # What the user applies stays as it is.
    mine, yours = forces.copy(), torques.copy()
    for _ in range(steps):
        _run(first, model, data)
        exchange(ground, soil, bodies, simulation, dt)
        for k in range(len(whole)):
            forces[whole[k, 1]] += bodies.sums[k, :6]
            if whole[k, 3] >= 0:
                torques[whole[k, 3]] += bodies.sums[k, 6] * bodies.real[k, 1]
        _run(second, model, data)
        forces[:] = mine
        torques[:] = yours
