"""A step of a MuJoCo simulation on soil, compiled: bodies and ground act on each other, then MuJoCo goes on."""

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.physics.shapes import Three
from sandlot.physics.soil.contact import REPOSE, tread
from sandlot.physics.soil.find import find
from sandlot.physics.soil.ground import Ground, release, slide, spill
from sandlot.typing import Array, IntArray

SLIDES, SWEEP = 32, 8
"""Nodes that are looked at for slides in one step, at most: so many, or this part of all that wait if that is more."""


REBOUND = 0.03
"""Where a body leaves the ground at this speed [m/s], the stress is half as large: soil does not bounce. If that would
stop a light body more than once in a step, the speed is higher."""
STILL = 0.03
"""Under bodies that are slower than this [m/s], stress acts along the normal of the hollow that they have made, under
faster ones along that of the ground as it was before. In a hollow, the latter would not push a body back to the middle.
"""
SOAK, DULL = 3.0, 0.1
"""Which part of its motion soil takes in a second [1/s] from a body slower than this [m/s]."""
MOST = 0.1
"""Part of its motion that a body is made to pay back in a step, at most."""


class Bodies(NamedTuple):
    """The shapes that may touch the ground, for kernels; a row for each.

    Attributes:
        whole: (shapes, 9) kind, body, root of its tree, driving degree of freedom or -1, geom or -1, and of its mesh
            the first point, number of points, first face, number of faces.
        real: (shapes, 19) size (3), position (3) and rotation (9) in the body if it is no geom, elastic stiffness, mass
            and mean moment of inertia of the body, and how heavy it feels where it touches the ground [kg].
        points: (points, 3) of all meshes [m].
        faces: (faces, 3) of all meshes.
        under: Nodes that are touched, shape by shape.
        edge: Those at the edge of their patch, shape by shape.
        patch: (nodes, 8) as in `sandlot.physics.soil.find.find`.
        line: (2, columns) room for one row of the ground.
        before: Nodes that were touched in the last step.
        counts: (3,) how many these are; and number of steps and of rims so far.
        rim: Room for a rim.
        weight: Room for a rim.
        sums: (shapes, 11) what the ground did in the last step, as in `sandlot.physics.soil.contact.scatter`.
        account: (shapes, 2) elastic energy in the ground, and energy that came from nowhere [J].
        pose: (shapes, 12) where each is [m], and its rotation.
        ends: (shapes + 1,) where the edge of each begins, and where the last one ends.
        work: Room to work in, as in `sandlot.physics.soil.contact.tread`.
        forces: (bodies of the model, 6) room for what the user applies to them.
        torques: (degrees of freedom,) room for what the user applies to them.
    """

    whole: IntArray
    real: Array
    points: Array
    faces: NDArray[np.int32]
    under: IntArray
    edge: IntArray
    patch: Array
    line: Array
    before: IntArray
    counts: IntArray
    rim: IntArray
    weight: Array
    sums: Array
    account: Array
    pose: Array
    ends: IntArray
    work: Array
    forces: Array
    torques: Array


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


@kernel(error_model="numpy", allocates=False)
def place(bodies: Bodies, shape: int, simulation: Simulation) -> None:
    """Where a shape is now: into ``bodies.pose``."""
    body, geom, pose = bodies.whole[shape, 1], bodies.whole[shape, 4], bodies.pose[shape]
    if geom >= 0:
        for k in range(3):
            pose[k] = simulation.geom_xpos[geom, k]
        for k in range(9):
            pose[3 + k] = simulation.geom_xmat[geom, k]
        return
    real, xmat = bodies.real[shape], simulation.xmat[body]
    for row in range(3):
        pose[row] = simulation.xpos[body, row]
        for k in range(3):
            pose[row] += xmat[3 * row + k] * real[3 + k]
            pose[3 + 3 * row + k] = 0.0
            for m in range(3):
                pose[3 + 3 * row + k] += xmat[3 * row + m] * real[6 + 3 * m + k]


@kernel(error_model="numpy", allocates=False)
def speed(bodies: Bodies, shape: int, simulation: Simulation, point: Array) -> Three:
    """How fast a point (3 or more) [m] of a shape's body moves [m/s]."""
    v, about = simulation.cvel[bodies.whole[shape, 1]], simulation.subtree_com[bodies.whole[shape, 2]]
    x, y, z = point[0] - about[0], point[1] - about[1], point[2] - about[2]
    return v[3] + v[1] * z - v[2] * y, v[4] + v[2] * x - v[0] * z, v[5] + v[0] * y - v[1] * x


@kernel(error_model="numpy", allocates=False)
def stir(bodies: Bodies, shape: int, simulation: Simulation) -> float:
    """Square of the speed at which a shape's body would have its kinetic energy if it did not turn [m^2/s^2]."""
    body, turning = bodies.whole[shape, 1], bodies.real[shape, 17] / bodies.real[shape, 16]
    w, (vx, vy, vz) = simulation.cvel[body], speed(bodies, shape, simulation, simulation.xipos[body])
    return vx * vx + vy * vy + vz * vz + turning * (w[0] * w[0] + w[1] * w[1] + w[2] * w[2])


@kernel(error_model="numpy", allocates=False)
def calm(bodies: Bodies, shape: int, simulation: Simulation, belt: float, dt: float) -> None:
    """Let a body come to rest: soil soaks up slow motion, and takes back energy that it did not have to give.

    Stress along the normal of the ground, not of the body, can do work on a round body that slides in its own hollow
    though nothing was stored there, so that it would rock forever. What the soil gives is therefore compared with what
    it had stored, and the difference taken back; this is a passivity controller (Hannaford and Ryu 2002).

    Args:
        bodies: ``sums`` and ``account`` are changed.
        shape: Which.
        simulation: Where its body is and how it moves.
        belt: How fast its belt runs [m/s].
        dt: A step [s].
    """
    body, sums, mass, inertia = (
        bodies.whole[shape, 1],
        bodies.sums[shape],
        bodies.real[shape, 16],
        bodies.real[shape, 17],
    )
    w, (vx, vy, vz) = simulation.cvel[body], speed(bodies, shape, simulation, simulation.xipos[body])
    power = sums[0] * vx + sums[1] * vy + sums[2] * vz + sums[3] * w[0] + sums[4] * w[1] + sums[5] * w[2]
    power += sums[6] * belt
    owed = max(bodies.account[shape, 1] + power * dt + sums[10] - bodies.account[shape, 0], 0.0)
    square = stir(bodies, shape, simulation)
    twice = mass * square
    if twice > 0.0:
        rate = min(owed / (twice * dt), MOST / dt)
        owed -= rate * twice * dt
        rate += SOAK / (1.0 + square / (DULL * DULL)) ** 2
        sums[0] -= rate * mass * vx
        sums[1] -= rate * mass * vy
        sums[2] -= rate * mass * vz
        for k in range(3):
            sums[3 + k] -= rate * inertia * w[k]
    bodies.account[shape, 1] = owed


@kernel(error_model="numpy", allocates=False)
def exchange(ground: Ground, soil: Array, bodies: Bodies, simulation: Simulation, dt: float) -> None:
    """Let bodies and ground act on each other for one step: forces into ``bodies.sums``, traces into the ground."""
    whole, counts = bodies.whole, bodies.counts
    counts[1] += 1
    step, total = float(counts[1]), 0
    sums, ends = bodies.sums, bodies.ends
    for k in range(len(whole)):
        kind, body, dof = whole[k, 0], whole[k, 1], whole[k, 3]
        size = (bodies.real[k, 0], bodies.real[k, 1], bodies.real[k, 2])
        place(bodies, k, simulation)
        pos, mat = bodies.pose[k, :3], bodies.pose[k, 3:]
        points = bodies.points[whole[k, 5] : whole[k, 5] + whole[k, 6]]
        faces = bodies.faces[whole[k, 7] : whole[k, 7] + whole[k, 8]]
        under, patch = bodies.under[total:], bodies.patch[total:]
        count = find(ground, kind, size, pos, mat, points, faces, step, under, patch, bodies.line)
        total += count
        ends[k + 1] = ends[k]
        rebound = max(REBOUND, 4.0 * dt * sums[k, 2] / bodies.real[k, 18])
        sums[k] = 0.0
        if count > 0:
            belt = simulation.qvel[dof] * size[1] if dof >= 0 else 0.0
            still = 1.0 / (1.0 + stir(bodies, k, simulation) / (STILL * STILL)) ** 2
            ends[k + 1] += tread(
                ground, soil, bodies.real[k, 15], rebound, still, under[:count], patch[:count], step, dt, kind, size,
                pos, mat, belt, simulation.cvel[body], simulation.subtree_com[whole[k, 2]], simulation.xipos[body],
                sums[k], bodies.edge[ends[k] :], bodies.work,
            )  # fmt: skip
            calm(bodies, k, simulation, belt, dt)
        bodies.account[k, 0] = sums[k, 10]
    release(ground, bodies.before[: counts[0]], step)
    for k in range(len(whole)):
        volume = sums[k, 7]
        if volume > 0.0:
            counts[2] += 1
            edge, mark = bodies.edge[ends[k] : ends[k + 1]], float(counts[2])
            x, y, velocity = sums[k, 8] / volume, sums[k, 9] / volume, speed(bodies, k, simulation, bodies.pose[k])
            spill(ground, edge, step, mark, volume, x, y, velocity, bodies.rim, bodies.weight)
    for k in range(total):
        bodies.before[k] = bodies.under[k]
    counts[0] = total
    slide(ground, soil[REPOSE], step, max(SLIDES, ground.ends[1] // SWEEP))


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


@kernel(error_model="numpy", allocates=False, nogil=True)
def advance(
    ground: Ground, soil: Array, bodies: Bodies, simulation: Simulation, dt: float, steps: int, first: np.uint64,
    second: np.uint64, model: np.uint64, data: np.uint64,
) -> None:  # fmt: skip
    """Make steps of a simulation on soil.

    Args:
        ground: Changed in place.
        soil: As in `sandlot.physics.soil.contact`.
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
    mine, yours = bodies.forces, bodies.torques
    for k in range(len(mine)):
        for m in range(6):
            mine[k, m] = forces[k, m]
    for k in range(len(yours)):
        yours[k] = torques[k]
    for _ in range(steps):
        _run(first, model, data)
        exchange(ground, soil, bodies, simulation, dt)
        for k in range(len(whole)):
            for m in range(6):
                forces[whole[k, 1], m] += bodies.sums[k, m]
            if whole[k, 3] >= 0:
                torques[whole[k, 3]] += bodies.sums[k, 6] * bodies.real[k, 1]
        _run(second, model, data)
        for k in range(len(mine)):
            for m in range(6):
                forces[k, m] = mine[k, m]
        for k in range(len(yours)):
            torques[k] = yours[k]
