"""Everything that touches MuJoCo's memory: arrays, addresses of functions, and the layout of ``mjData``.

Kernels read and write the arrays of a simulation through `Simulation`. They step it by calling MuJoCo's C functions at
their addresses, without the interpreter. A C callback finds the fields of ``mjData`` at the offsets that MuJoCo's own
description of its structs gives.
"""

import ctypes
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import mujoco
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from sandlot.errors import SandlotError
from sandlot.kernels import kernel
from sandlot.typing import Array


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


def empty_simulation() -> Simulation:
    """A simulation without bodies."""
    columns = (COLUMNS.get(name, 3) for name in Simulation._fields)
    return Simulation(*(np.empty((0, count) if count else 0) for count in columns))


class AppliedForces(NamedTuple):
    """Room to keep the forces that the user applies to a simulation while the ground adds its own.

    Attributes:
        forces: (bodies, 6) as ``xfrc_applied``.
        torques: (degrees of freedom,) as ``qfrc_applied``.
    """

    forces: Array
    torques: Array


def applied_forces(model: mujoco.MjModel) -> AppliedForces:
    """Room for the applied forces of a model."""
    return AppliedForces(np.zeros((model.nbody, 6)), np.zeros(model.nv))


@kernel(error_model="numpy", allocates=False)
def keep_forces(simulation: Simulation, kept: AppliedForces) -> None:
    """Copy the user's forces out of a simulation."""
    for k in range(len(kept.forces)):
        for m in range(6):
            kept.forces[k, m] = simulation.xfrc_applied[k, m]
    for k in range(len(kept.torques)):
        kept.torques[k] = simulation.qfrc_applied[k]


@kernel(error_model="numpy", allocates=False)
def restore_forces(simulation: Simulation, kept: AppliedForces) -> None:
    """Copy the user's forces back into a simulation."""
    for k in range(len(kept.forces)):
        for m in range(6):
            simulation.xfrc_applied[k, m] = kept.forces[k, m]
    for k in range(len(kept.torques)):
        simulation.qfrc_applied[k] = kept.torques[k]


class Addresses(NamedTuple):
    """Where MuJoCo's two halves of a step, a model and a simulation lie in memory."""

    mj_step1: np.uint64
    mj_step2: np.uint64
    model: np.uint64
    data: np.uint64


def addresses(model: mujoco.MjModel, data: mujoco.MjData) -> Addresses:
    """The addresses that kernels need to step a simulation."""
    return Addresses(*(np.uint64(each) for each in (*_step_functions(), model._address, data._address)))


@cache
def _step_functions() -> tuple[int, int]:
    """Addresses of ``mj_step1`` and ``mj_step2``."""
    folder = Path(mujoco.__file__).parent
    (file,) = (path for path in folder.iterdir() if path.name.startswith(("libmujoco", "mujoco.dll")))
    library = ctypes.CDLL(str(file))
    first, second = (ctypes.cast(each, ctypes.c_void_p).value for each in (library.mj_step1, library.mj_step2))
    return int(first or 0), int(second or 0)


def _call(_context: Any, _address: Any, _model: Any, _data: Any) -> Any:
    """Typing and code of ``address(model, data)``, a C function called by its address."""

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, cgutils.voidptr_t])
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        builder.call(function, [builder.inttoptr(each, cgutils.voidptr_t) for each in arguments[1:]])
        return ir.Constant(cgutils.voidptr_t, None)

    return types.none(types.uint64, types.uint64, types.uint64), generate


def _to_pointer(_context: Any, _address: Any) -> Any:
    """Typing and code of an integer used as a pointer."""

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(types.uint64), generate


call: Any = intrinsic(_call)
"""In a kernel: ``call(function, model, data)`` calls a C function, all three given by their addresses."""
to_pointer: Any = intrinsic(_to_pointer)
"""In a kernel: an address as a pointer, for ``numba.carray``."""

C_TYPES: dict[str, Any] = {
    "int": ctypes.c_int,
    "size_t": ctypes.c_size_t,
    "uintptr_t": ctypes.c_void_p,
    "uint64_t": ctypes.c_uint64,
    "mjtNum": ctypes.c_double,
    "mjtSize": ctypes.c_int64,
    "mjtBool": ctypes.c_bool,
}
"""Scalar types of the fields of ``mjData`` and of the structs in it."""


def _c_type(declared: Any) -> Any:
    """The ctypes equivalent of a type in MuJoCo's description of its structs."""
    from mujoco.introspect.ast_nodes import ArrayType, PointerType
    from mujoco.introspect.structs import STRUCTS

    if isinstance(declared, PointerType):
        return ctypes.c_void_p
    if isinstance(declared, ArrayType):
        kind = _c_type(declared.inner_type)
        for extent in reversed(declared.extents):
            kind = kind * extent
        return kind
    if declared.name in C_TYPES:
        return C_TYPES[declared.name]
    if declared.name not in STRUCTS:
        raise SandlotError(f"MuJoCo {mujoco.__version__} has an unknown type in mjData, {declared.name}; allowed: 4.0")
    fields = [(field.name, _c_type(field.type)) for field in STRUCTS[declared.name].fields]
    return type(declared.name, (ctypes.Structure,), {"_fields_": fields})


def data_offsets(names: Sequence[str]) -> dict[str, int]:
    """Offsets of fields in ``mjData`` [byte], by name; each is a pointer to an array, or the time.

    They come from `mujoco.introspect`, and are checked against a small simulation, in which no two of these arrays have
    the same address: the pointers must be the addresses of its arrays.

    Raises:
        SandlotError: If MuJoCo's description of ``mjData`` does not match its memory.
    """
    from mujoco.introspect.ast_nodes import ValueType

    model = mujoco.MjModel.from_xml_string(
        "<mujoco><size nuserdata='1'/><worldbody><body mocap='true'/><body><joint/><geom size='1'/></body></worldbody>"
        "</mujoco>"
    )
    data = mujoco.MjData(model)
    data.time = 1.0 / 3.0
    layout = _c_type(ValueType("mjData"))
    offsets = {name: int(getattr(layout, name).offset) for name in names}
    for name, offset in offsets.items():
        kind = ctypes.c_double if name == "time" else ctypes.c_uint64
        expected = data.time if name == "time" else getattr(data, name).ctypes.data
        if kind.from_address(data._address + offset).value != expected:
            raise SandlotError(
                f"MuJoCo {mujoco.__version__} does not keep {name} at byte {offset} of mjData, as it describes it; "
                "allowed: 4.0"
            )
    return offsets
