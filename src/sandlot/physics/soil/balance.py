"""Forces of soil in balance with the velocities that they cause.

The force of soil depends on where a body will be at the end of a step. Newton's method finds the velocities of a robot
for which both agree, in its present pose and for all its parts together. So a step is stable for feet of any mass.

What the joints' limits and friction, or contacts with other bodies, will do in the step is not known yet; that they do
what they did in the last step is a guess. So the derivative of the force by the velocity is added to MuJoCo's mass
matrix: the acceleration that MuJoCo finds then changes the forces as the soil would, to first order. MuJoCo keeps no
room for that in the mass matrix of bodies whose axes are independent, such as single free ones. These get a constant
force.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.physics.mujoco_bridge import Dynamics, Simulation
from sandlot.physics.soil.mass_matrix import dense_mass, factorise, solve
from sandlot.physics.soil.parts import (
    COMPONENTS,
    joint_tangent,
    lose,
    motion_of,
    part_velocity,
    tangent_product,
    wrench_row,
)
from sandlot.physics.soil.sums import press_part
from sandlot.typing import Array, IntArray

TOLERANCE = 0.001
"""Newton's method ends if its next step would change no force by more than this fraction of the largest one."""
MAX_ITERATIONS, MAX_SEARCHES = 30, 20
OVERSHOOT = 0.3
"""A step is shortened if the residual along it has changed its sign and is more than this fraction of what it was."""

TREE = np.dtype([("first", np.int64), ("count", np.int64), ("coupled", np.int64), ("touches", np.int64)])
"""A kinematic tree: its first degree of freedom, how many it has, whether MuJoCo's mass matrix has room for the
tangents of the soil, and whether soil touches it in this step."""


class Joints(NamedTuple):
    """The degrees of freedom of robots on soil, and working memory.

    Attributes:
        trees: (trees,) of TREE.
        dofs: (shapes, columns) degrees of freedom that move a part.
        damping: (degrees of freedom,) of joints and servos, which MuJoCo's integrator adds to the mass [N*m*s/rad].
        jacobians: (shapes, 7, columns) of all parts; the number of columns is one of whole vectors.
        mass: (n, n) room for the mass matrix of a tree.
        matrix: (n, n) room for a matrix that is factorised.
        tangent: (n, n) room for the tangent of all parts of a tree.
        half: (7, columns) room for the tangent of a part, times its Jacobian.
        product: (columns, columns) room for the same, times the transposed Jacobian.
        sums: (7, 7) room for the tangent of all shapes of a body.
        vectors: (6, n) room for velocities and forces of a tree.
    """

    trees: NDArray[np.void]
    dofs: IntArray
    damping: Array
    jacobians: Array
    mass: Array
    matrix: Array
    tangent: Array
    half: Array
    product: Array
    sums: Array
    vectors: Array


@kernel(error_model="numpy", allocates=False)
def residual(
    joints: Joints, tree: np.void, touched: IntArray, shapes: NDArray[np.void], loads: NDArray[np.void], dt: float
) -> None:
    """Momentum that is missing for a balance, into ``vectors[3]``; from the change of velocity in ``vectors[1]``."""
    first, count, mass, vectors = tree["first"], tree["count"], joints.mass, joints.vectors
    for a in range(count):
        total = -vectors[2, a]
        for b in range(count):
            total += mass[a, b] * vectors[1, b]
        vectors[3, a] = total
    for s in touched:
        shape = shapes[s]
        if shape["tree_dof"] == first:
            part, load = joints.jacobians[s], loads[s]
            for k in range(shape["columns"]):
                a = joints.dofs[s, k] - first
                total = vectors[3, a]
                for row in range(COMPONENTS):
                    total -= part[row, k] * (dt * wrench_row(load, row))
                vectors[3, a] = total


@kernel(error_model="numpy", allocates=False)
def evaluate(
    joints: Joints,
    tree: np.void,
    touched: IntArray,
    shapes: NDArray[np.void],
    loads: NDArray[np.void],
    batches: NDArray[np.void],
    soils: NDArray[np.void],
    dt: float,
    spacing: float,
) -> None:
    """Forces on all parts of a tree at the velocities ``vectors[0]``, and the residual there."""
    first, count, vectors = tree["first"], tree["count"], joints.vectors
    for a in range(count):
        vectors[1, a] = vectors[0, a] - vectors[5, a]
    for s in touched:
        shape, load = shapes[s], loads[s]
        if shape["tree_dof"] == first:
            part_velocity(joints.dofs[s, : shape["columns"]], joints.jacobians[s], vectors[0], first, load["velocity"])
            press_part(shape, load, batches, soils, motion_of(load["velocity"], load["centre"]), dt, spacing)
    residual(joints, tree, touched, shapes, loads, dt)


@kernel(error_model="numpy", allocates=False)
def tree_tangent(
    joints: Joints, tree: np.void, touched: IntArray, shapes: NDArray[np.void], loads: NDArray[np.void], dt: float
) -> None:
    """Sum the tangents of all parts of a tree, times the length of the step, in the lower triangle of ``tangent``."""
    first, count, tangent, sums = tree["first"], tree["count"], joints.tangent, joints.sums
    for a in range(count):
        for b in range(a + 1):
            tangent[a, b] = 0.0
    sums[:] = 0.0
    for n in range(len(touched)):
        s = touched[n]
        shape, part = shapes[s], loads[s]["tangent"]
        if shape["tree_dof"] != first:
            continue
        for row in range(COMPONENTS):
            for k in range(COMPONENTS):
                sums[row, k] += part[row, k]
        if shape["dof"] < 0 and n + 1 < len(touched):
            # Shapes of one body have the same Jacobian.
            other = shapes[touched[n + 1]]
            if other["body"] == shape["body"] and other["dof"] < 0:
                continue
        joint_tangent(sums, joints.jacobians[s], shape["columns"], joints.half, joints.product)
        sums[:] = 0.0
        for a in range(shape["columns"]):
            i = joints.dofs[s, a] - first
            for b in range(a + 1):
                j = joints.dofs[s, b] - first
                tangent[max(i, j), min(i, j)] += dt * joints.product[a, b]


@kernel(error_model="numpy", allocates=False)
def newton_step(
    joints: Joints, tree: np.void, touched: IntArray, shapes: NDArray[np.void], loads: NDArray[np.void], dt: float
) -> tuple[float, bool]:
    """Find Newton's next step, into ``vectors[4]``.

    Returns:
        Twice the energy that the step removes [J]; and whether it changes no force by more than the tolerance.
    """
    first, count, matrix, vectors = tree["first"], tree["count"], joints.matrix, joints.vectors
    tree_tangent(joints, tree, touched, shapes, loads, dt)
    for a in range(count):
        for b in range(a + 1):
            matrix[a, b] = joints.mass[a, b] + joints.tangent[a, b]
    factorise(matrix, count)
    removed = 0.0
    for a in range(count):
        vectors[4, a] = -vectors[3, a]
    solve(matrix, count, vectors[4])
    for a in range(count):
        removed -= vectors[3, a] * vectors[4, a]
    largest, change = 0.0, 0.0
    for s in touched:
        shape, load = shapes[s], loads[s]
        if shape["tree_dof"] == first:
            part_velocity(joints.dofs[s, : shape["columns"]], joints.jacobians[s], vectors[4], first, load["room"])
            now, lost = 0.0, 0.0
            for row in range(3):
                now += load["force"][row] ** 2
                lost += tangent_product(load, load["room"], row) ** 2
            largest, change = max(largest, now), max(change, lost)
    return removed, change <= TOLERANCE * TOLERANCE * largest


@kernel(error_model="numpy", allocates=False)
def balance(
    joints: Joints,
    tree: np.void,
    touched: IntArray,
    shapes: NDArray[np.void],
    loads: NDArray[np.void],
    batches: NDArray[np.void],
    soils: NDArray[np.void],
    qvel: Array,
    dynamics: Dynamics,
    dt: float,
    spacing: float,
) -> None:
    """Find the forces of soil on the parts of a tree.

    Args:
        joints: With the Jacobians of all parts that soil touches.
        tree: Record of TREE.
        touched: Numbers of the shapes that soil touches.
        shapes: (shapes,) of SOIL_SHAPE.
        loads: (shapes,) of SOIL_LOAD. Forces, tangents and the velocities for which they are right are changed.
        batches: Nodes under all shapes.
        soils: (kinds,) of `sandlot.physics.soil.kinds.SOIL`.
        qvel: Present velocities.
        dynamics: How forces accelerate the tree; its mass matrix is changed.
        dt: Length of the step [s].
        spacing: Distance of nodes [m].
    """
    first, count, vectors, moved = tree["first"], tree["count"], joints.vectors, False
    dense_mass(tree, dynamics, joints.damping, dt, joints.mass)
    for a in range(count):
        dof = first + a
        vectors[0, a] = vectors[5, a] = qvel[dof]
        vectors[2, a] = dt * (dynamics.qfrc_smooth[dof] + dynamics.qfrc_constraint[dof])
    evaluate(joints, tree, touched, shapes, loads, batches, soils, dt, spacing)
    for iteration in range(MAX_ITERATIONS):
        removed, settled = newton_step(joints, tree, touched, shapes, loads, dt)
        if settled or iteration == MAX_ITERATIONS - 1:
            break
        moved = True
        # The residual along the step is -removed at its start. A full step may go too far, since soil does not pull:
        # then search between both ends, by regula falsi (Illinois).
        low, high, taken, below, above = 0.0, 1.0, 0.0, -removed, 0.0
        share = 1.0
        for _ in range(MAX_SEARCHES):
            for a in range(count):
                vectors[0, a] += (share - taken) * vectors[4, a]
            taken = share
            evaluate(joints, tree, touched, shapes, loads, batches, soils, dt, spacing)
            along = 0.0
            for a in range(count):
                along += vectors[3, a] * vectors[4, a]
            if along <= OVERSHOOT * removed and (share == 1.0 or along >= -OVERSHOOT * removed):
                break
            if along > 0.0:
                below = 0.5 * below if above > 0.0 and high == taken else below
                high, above = share, along
            else:
                above = 0.5 * above
                low, below = share, along
            share = (low * above - high * below) / (above - below)
    if tree["coupled"]:
        # A row of the mass matrix has all degrees of freedom that move the one it belongs to.
        for a in range(count):
            start = dynamics.M_rowadr[first + a]
            for k in range(start, start + dynamics.M_rownnz[first + a]):
                dynamics.M[k] += joints.tangent[a, dynamics.M_colind[k] - first]
    for s in touched:
        shape, load = shapes[s], loads[s]
        if shape["tree_dof"] != first:
            continue
        if not tree["coupled"]:
            part_velocity(joints.dofs[s, : shape["columns"]], joints.jacobians[s], vectors[4], first, load["room"])
            lose(load, load["room"])
            for k in range(COMPONENTS):
                load["velocity"][k] += load["room"][k]
        elif moved:
            # The force at the present velocity; MuJoCo's acceleration changes it by the tangent.
            part_velocity(joints.dofs[s, : shape["columns"]], joints.jacobians[s], vectors[5], first, load["room"])
            for k in range(COMPONENTS):
                now = load["room"][k]
                load["room"][k] = now - load["velocity"][k]
                load["velocity"][k] = now
            lose(load, load["room"])
        load["drive_torque"] = load["belt_force"] * shape["size"][1] if shape["dof"] >= 0 else 0.0


@kernel(error_model="numpy", allocates=False)
def finish(
    joints: Joints,
    touched: IntArray,
    shapes: NDArray[np.void],
    loads: NDArray[np.void],
    simulation: Simulation,
    dt: float,
) -> None:
    """Correct the forces by the velocities that MuJoCo found, and count the energy that the soil gave."""
    for s in touched:
        shape, load = shapes[s], loads[s]
        room = load["room"]
        part_velocity(joints.dofs[s, : shape["columns"]], joints.jacobians[s], simulation.qvel, 0, room)
        if joints.trees[shape["tree"]]["coupled"]:
            for k in range(COMPONENTS):
                load["velocity"][k] = room[k] - load["velocity"][k]
            lose(load, load["velocity"])
            load["drive_torque"] = load["belt_force"] * shape["size"][1] if shape["dof"] >= 0 else 0.0
        power = 0.0
        for row in range(COMPONENTS):
            power += wrench_row(load, row) * room[row]
        more = load["elastic_energy"] - load["energy_before"]
        load["energy_debt"] = max(load["energy_debt"] + power * dt + more, 0.0)
        load["energy_before"] = load["elastic_energy"]
