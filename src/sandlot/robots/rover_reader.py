"""The state of rovers in MuJoCo, read in one call of a kernel."""

import mujoco
import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.robots.rover_model import RoverModel
from sandlot.robots.rover_state import RoverState
from sandlot.typing import Array, BoolArray

MAX_SPEED, MAX_RATE = 20.0, 300.0
"""A chassis that moves [m/s] or rotates [rad/s] faster than this has exploded."""
ADDRESSES = np.dtype(
    [(name, np.int64) for name in ("qpos", "dof", "dofs")] + [("angles", "i8", 2), ("speeds", "i8", 2)]
)
"""Where a rover is in the arrays of a simulation: its first position and speed, how many speeds it has, and the angles
and speeds of its first left and right wheel."""


@kernel(error_model="numpy")
def read_rovers(
    qpos: Array, qvel: Array, qacc: Array, gravity: Array, addresses: NDArray[np.void], rotation: Array
) -> tuple[Array, Array, Array, Array, Array, Array, BoolArray]:
    """The fields of `RoverState` other than the rotation (n, 9), from MuJoCo's arrays."""
    count = len(addresses)
    position, rates, acceleration, force = np.empty((4, count, 3))
    angles, speeds, exploded = np.empty((count, 2)), np.empty((count, 2)), np.empty(count, np.bool_)
    for k in range(count):
        at, dof, dofs = addresses[k]["qpos"], addresses[k]["dof"], addresses[k]["dofs"]
        for m in range(3):
            position[k, m], rates[k, m], acceleration[k, m] = qpos[at + m], qvel[dof + 3 + m], qacc[dof + 3 + m]
            # The linear half of a free joint is along the world's axes, the angular half about the body's own.
            force[k, m] = 0.0
            for n in range(3):
                force[k, m] += rotation[k, 3 * n + m] * (qacc[dof + n] - gravity[n])
        for m in range(2):
            angles[k, m], speeds[k, m] = qpos[addresses[k]["angles"][m]], qvel[addresses[k]["speeds"][m]]
        # NaN compares false, so it counts as exploded. A free joint has one position more than speeds.
        sound = abs(qpos[at + dofs]) < np.inf
        for m in range(dofs):
            limit = MAX_SPEED if m < 3 else MAX_RATE if m < 6 else np.inf
            sound &= (abs(qvel[dof + m]) < limit) & (abs(qpos[at + m]) < np.inf)
        exploded[k] = not sound
    return position, rates, acceleration, force, angles, speeds, exploded


class RoverReader:
    """Reads the state of all rovers of a simulation.

    Attributes:
        addresses: (rovers,) of ADDRESSES.
    """

    def __init__(self, rover_model: RoverModel, data: mujoco.MjData) -> None:
        """Find where the rovers are in the memory of the simulation, which stays where it is."""
        model, rovers = rover_model.model, rover_model.rovers
        roots = model.body_rootid[model.dof_bodyid]
        self.addresses = np.zeros(len(rovers), ADDRESSES)
        for parts, address in zip(rovers, self.addresses, strict=True):
            address["qpos"], address["dof"], address["dofs"] = parts.qpos, parts.dof, np.sum(roots == parts.chassis)
            address["angles"] = [wheel.qpos for wheel in parts.first]
            address["speeds"] = [wheel.dof for wheel in parts.first]
        self._data = data  # keeps the memory
        self._arrays = data.qpos, data.qvel, data.qacc, model.opt.gravity
        self._turns = [data.qpos[parts.qpos + 3 : parts.qpos + 7] for parts in rovers]

    def read(self) -> RoverState:
        """The state of all rovers after a step, from ``data.qpos``: ``data.xmat`` is still that of before the step."""
        rotation = np.empty((len(self._turns), 9))
        for mat, turn in zip(rotation, self._turns, strict=True):
            mujoco.mju_quat2Mat(mat, turn)
        found = read_rovers(*self._arrays, self.addresses, rotation)
        return RoverState(found[0], rotation.reshape(-1, 3, 3), *found[1:])

    def read_several(self, qpos: Array, qvel: Array, qacc: Array) -> RoverState:
        """The states of all n rovers at several moments, those of the first moment first: (moments * n, ...).

        Args:
            qpos: (moments, positions) of the simulation, which is sound at all of them.
            qvel: (moments, velocities) of it.
            qacc: (moments, velocities) accelerations of it.
        """
        at, dof = self.addresses["qpos"][:, None], self.addresses["dof"][:, None]
        along, about, gravity = dof + np.arange(3), dof + np.arange(3, 6), self._arrays[3]
        turns = qpos[:, at + np.arange(3, 7)].reshape(-1, 4)
        matrices = np.empty((len(turns), 9))
        for mat, turn in zip(matrices, turns, strict=True):
            mujoco.mju_quat2Mat(mat, turn)
        rotation, felt = matrices.reshape(-1, 3, 3), qacc[:, along].reshape(-1, 3) - gravity
        force = sum(rotation[:, n] * felt[:, n, None] for n in range(3))
        return RoverState(
            qpos[:, at + np.arange(3)].reshape(-1, 3),
            rotation,
            qvel[:, about].reshape(-1, 3),
            qacc[:, about].reshape(-1, 3),
            np.asarray(force),
            qpos[:, self.addresses["angles"]].reshape(-1, 2),
            qvel[:, self.addresses["speeds"]].reshape(-1, 2),
            np.zeros(len(turns), np.bool_),
        )


def read_state(rover_model: RoverModel, data: mujoco.MjData) -> RoverState:
    """The state of all rovers after a step; `RoverReader` is for many steps of one simulation."""
    return RoverReader(rover_model, data).read()
