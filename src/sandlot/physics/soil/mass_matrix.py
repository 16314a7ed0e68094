"""The mass matrix of a kinematic tree, and linear systems with it."""

import math

import numpy as np

from sandlot.kernels import kernel
from sandlot.physics.mujoco_bridge import Dynamics
from sandlot.typing import Array


@kernel(error_model="numpy", allocates=False)
def dense_mass(tree: np.void, dynamics: Dynamics, damping: Array, dt: float, mass: Array) -> None:
    """The mass matrix of a tree, and the damping that MuJoCo's integrator adds to it."""
    first, count = tree["first"], tree["count"]
    for a in range(count):
        for b in range(count):
            mass[a, b] = 0.0
    for a in range(count):
        dof = first + a
        start = dynamics.M_rowadr[dof]
        for k in range(start, start + dynamics.M_rownnz[dof]):
            b = dynamics.M_colind[k] - first
            mass[a, b] = mass[b, a] = dynamics.M[k]
        mass[a, a] += dt * damping[dof]


@kernel(error_model="numpy", allocates=False)
def factorise(matrix: Array, count: int) -> None:
    """Replace the lower triangle of a positive matrix by L, so that the matrix is L.T @ L.

    It begins with the last degree of freedom, so that L is zero where a degree of freedom does not move another: legs
    stay apart (Featherstone 2008, Rigid Body Dynamics Algorithms, section 6.5).
    """
    for k in range(count - 1, -1, -1):
        matrix[k, k] = math.sqrt(max(matrix[k, k], 1e-300))
        per = 1.0 / matrix[k, k]
        for a in range(k):
            matrix[k, a] *= per
        for a in range(k):
            factor = matrix[k, a]
            if factor != 0.0:
                for b in range(a + 1):
                    matrix[a, b] -= factor * matrix[k, b]


@kernel(error_model="numpy", allocates=False)
def solve(matrix: Array, count: int, vector: Array) -> None:
    """Solve a linear system in place, with the factor that `factorise` leaves."""
    for k in range(count - 1, -1, -1):
        vector[k] /= matrix[k, k]
        for a in range(k):
            vector[a] -= matrix[k, a] * vector[k]
    for k in range(count):
        total = vector[k]
        for a in range(k):
            total -= matrix[k, a] * vector[a]
        vector[k] = total / matrix[k, k]
