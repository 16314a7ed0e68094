"""Everything that touches MuJoCo's memory: arrays, addresses of functions, and the callback for warnings.

Kernels read and write the arrays of a simulation through `Simulation`. They step it by calling MuJoCo's C functions at
their addresses, without the interpreter.
"""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import mujoco
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from sandlot.kernels import c_callback, kernel
from sandlot.typing import Array, IntArray

NO_RESET = int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
"""The flag of a model that keeps MuJoCo from resetting a simulation."""


class Simulation(NamedTuple):
    """Arrays of a MuJoCo simulation, with MuJoCo's names and shapes."""

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


COLUMNS = {"xmat": 9, "geom_xmat": 9, "cvel": 6, "xfrc_applied": 6, "qvel": 0, "qfrc_applied": 0}
"""Columns of the arrays of `Simulation` that are not points; 0 for arrays with one axis."""


def simulation_arrays(data: mujoco.MjData) -> Simulation:
    """The arrays of a simulation, as views of MuJoCo's memory."""
    return Simulation(*(getattr(data, name) for name in Simulation._fields))


class Dynamics(NamedTuple):
    """Arrays that say how forces accelerate the bodies of a simulation, with MuJoCo's names and shapes."""

    M: Array
    M_rownnz: IntArray
    M_rowadr: IntArray
    M_colind: IntArray
    dof_parentid: IntArray
    body_dofadr: IntArray
    body_dofnum: IntArray
    cdof: Array
    qfrc_smooth: Array
    qfrc_constraint: Array
    qacc: Array


DYNAMICS_OF_MODEL = {"M_rownnz", "M_rowadr", "M_colind", "dof_parentid", "body_dofadr", "body_dofnum"}
"""Arrays of `Dynamics` that are the model's."""


def dynamics_arrays(model: mujoco.MjModel, data: mujoco.MjData) -> Dynamics:
    """The arrays of a simulation that say how forces accelerate it, as views of MuJoCo's memory."""
    names = Dynamics._fields
    return Dynamics(*(getattr(model if name in DYNAMICS_OF_MODEL else data, name) for name in names))


def empty_simulation() -> Simulation:
    """A simulation without bodies."""
    columns = (COLUMNS.get(name, 3) for name in Simulation._fields)
    return Simulation(*(np.empty((0, count) if count else 0) for count in columns))


class AppliedForces(NamedTuple):
    """Copies of the forces that the user applies to a simulation, kept while the ground adds its own.

    Attributes:
        forces: (bodies, 6) as ``xfrc_applied``.
        torques: (degrees of freedom,) as ``qfrc_applied``.
    """

    forces: Array
    torques: Array


def applied_forces(model: mujoco.MjModel) -> AppliedForces:
    """Zeroed arrays for the applied forces of a model."""
    return AppliedForces(np.zeros((model.nbody, 6)), np.zeros(model.nv))


@kernel(error_model="numpy", allocates=False)
def _copy_forces(source: AppliedForces, target: AppliedForces) -> None:
    for k in range(len(source.forces)):
        for m in range(6):
            target.forces[k, m] = source.forces[k, m]
    for k in range(len(source.torques)):
        target.torques[k] = source.torques[k]


@kernel(error_model="numpy", allocates=False)
def keep_forces(simulation: Simulation, kept: AppliedForces) -> None:
    """Copy the user's forces out of a simulation."""
    _copy_forces(AppliedForces(simulation.xfrc_applied, simulation.qfrc_applied), kept)


@kernel(error_model="numpy", allocates=False)
def restore_forces(simulation: Simulation, kept: AppliedForces) -> None:
    """Copy the user's forces back into a simulation."""
    _copy_forces(kept, AppliedForces(simulation.xfrc_applied, simulation.qfrc_applied))


class Addresses(NamedTuple):
    """Where functions of MuJoCo, a model and a simulation lie in memory.

    The functions are the two halves of a step, those that find the forces of actuators and the acceleration without
    constraints, and the one that factorises the mass matrix.
    """

    mj_step1: np.uint64
    mj_step2: np.uint64
    mj_fwdActuation: np.uint64  # noqa: N815
    mj_fwdAcceleration: np.uint64  # noqa: N815
    mj_factorM: np.uint64  # noqa: N815
    model: np.uint64
    data: np.uint64


def addresses(model: mujoco.MjModel, data: mujoco.MjData) -> Addresses:
    """The addresses that kernels need to step a simulation."""
    return Addresses(*(np.uint64(each) for each in (*_functions(), model._address, data._address)))


@cache
def _functions() -> tuple[int, ...]:
    """Addresses of the functions that `Addresses` names."""
    folder = Path(mujoco.__file__).parent
    (file,) = (path for path in folder.iterdir() if path.name.startswith(("libmujoco", "mujoco.dll")))
    library = ctypes.CDLL(str(file))
    names = (name for name in Addresses._fields if name.startswith("mj_"))
    return tuple(int(ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0) for name in names)


class Prepared(NamedTuple):
    """What kernels need of a simulation. Its memory stays where it is as long as ``data`` is kept."""

    data: mujoco.MjData
    simulation: Simulation
    dynamics: Dynamics
    addresses: Addresses


def prepare(model: mujoco.MjModel, data: mujoco.MjData) -> Prepared:
    """What kernels need of a simulation."""
    return Prepared(data, simulation_arrays(data), dynamics_arrays(model, data), addresses(model, data))


def _call(_context: Any, _address: Any, _model: Any, _data: Any) -> Any:
    """Typing and code of ``address(model, data)``, a C function called by its address."""

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, cgutils.voidptr_t])
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        builder.call(function, [builder.inttoptr(each, cgutils.voidptr_t) for each in arguments[1:]])
        return ir.Constant(cgutils.voidptr_t, None)

    return types.none(types.uint64, types.uint64, types.uint64), generate


call: Any = intrinsic(_call)
"""In a kernel: ``call(function, model, data)`` calls a C function, all three given by their addresses."""


@cache
def _silence() -> Any:
    """A callback that ignores a warning."""

    @c_callback(types.void(types.voidptr))
    def ignore(_message: Any) -> None:
        pass

    return ignore


@contextmanager
def quietly() -> Iterator[None]:
    """Keep MuJoCo from writing warnings to standard error and ``MUJOCO_LOG.TXT``."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(_silence().ctypes)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)


@contextmanager
def without_reset(model: mujoco.MjModel) -> Iterator[None]:
    """Keep MuJoCo from resetting a simulation that diverges, so that its state tells what happened."""
    before = model.opt.disableflags
    if before & NO_RESET:
        yield
        return
    model.opt.disableflags = before | NO_RESET
    try:
        yield
    finally:
        model.opt.disableflags = before
