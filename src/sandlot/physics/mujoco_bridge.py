"""Everything that touches MuJoCo's memory: arrays, addresses of functions, callbacks, and the layout of its structs.

Kernels read and write the arrays of a simulation through `Simulation`. They step it by calling MuJoCo's C functions at
their addresses, without the interpreter. A C callback finds the fields of ``mjData`` and ``mjModel`` at the offsets
that MuJoCo's own description of its structs gives.
"""

import ctypes
from collections.abc import Iterator, Sequence
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
from numba.np.numpy_support import carray

from sandlot.errors import SandlotError
from sandlot.kernels import c_callback, kernel
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
_pointer: Any = intrinsic(_to_pointer)


class Layout(NamedTuple):
    """Where the fields that passive forces need are: in ``mjData``, and sizes in ``mjModel`` [8 byte]."""

    qpos: int
    qvel: int
    qfrc_passive: int
    userdata: int
    time: int
    nq: int
    nv: int
    nuserdata: int


class Passive(NamedTuple):
    """What passive forces depend on, and where they are added, with MuJoCo's names; arrays are views of its memory."""

    qpos: Array
    qvel: Array
    qfrc_passive: Array
    userdata: Array
    time: float


@kernel(error_model="numpy")
def _word(struct: Any, index: int) -> np.uint64:
    """A word of a struct, which is given as a pointer."""
    return carray(struct, (index + 1,), np.uint64)[index]


@kernel(error_model="numpy")
def passive_state(model: Any, data: Any, layout: Layout) -> Passive:
    """The simulation for which MuJoCo called a callback with these two pointers."""
    nq, nv, nuserdata = _word(model, layout.nq), _word(model, layout.nv), _word(model, layout.nuserdata)
    return Passive(
        carray(_pointer(_word(data, layout.qpos)), (nq,), np.float64),
        carray(_pointer(_word(data, layout.qvel)), (nv,), np.float64),
        carray(_pointer(_word(data, layout.qfrc_passive)), (nv,), np.float64),
        carray(_pointer(_word(data, layout.userdata)), (nuserdata,), np.float64),
        carray(data, (layout.time + 1,), np.float64)[layout.time],
    )


def passive_layout() -> Layout:
    """The layout that `passive_state` needs.

    Raises:
        SandlotError: If MuJoCo's description of its structs does not match its memory.
    """
    names = Layout._fields
    found = field_offsets("mjData", names[:5]) | field_offsets("mjModel", names[5:])
    return Layout(**{name: offset // 8 for name, offset in found.items()})


PASSIVE = types.void(types.voidptr, types.voidptr)
"""Signature of a passive callback."""


def set_passive(callback: Any) -> None:
    """Make MuJoCo call a compiled callback of signature `PASSIVE` whenever it sums up passive forces.

    There is one for the whole process. MuJoCo calls it for every simulation, and also while a model compiles.
    """
    mujoco.set_mjcb_passive(callback.ctypes)


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


C_TYPES: dict[str, Any] = {
    "int": ctypes.c_int,
    "size_t": ctypes.c_size_t,
    "uintptr_t": ctypes.c_void_p,
    "uint64_t": ctypes.c_uint64,
    "mjtNum": ctypes.c_double,
    "mjtSize": ctypes.c_int64,
    "mjtBool": ctypes.c_bool,
}
"""Scalar types of the fields of ``mjData`` and ``mjModel``, and of the structs in them."""


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
        raise SandlotError(f"MuJoCo {mujoco.__version__} has an unknown type, {declared.name}; allowed: 4.0")
    return _c_struct(declared.name, STRUCTS[declared.name].fields)


def _c_struct(name: str, fields: Sequence[Any]) -> Any:
    """The ctypes equivalent of a struct with these fields."""
    return type(name, (ctypes.Structure,), {"_fields_": [(field.name, _c_type(field.type)) for field in fields]})


def field_offsets(struct: str, names: Sequence[str]) -> dict[str, int]:
    """Offsets of fields in a struct [byte], by name.

    They come from `mujoco.introspect`, and are checked against a small simulation, in which no two of these arrays have
    the same address.

    Args:
        struct: ``mjData`` or ``mjModel``.
        names: Of ``mjData``, pointers to arrays, or the time; of ``mjModel``, sizes.

    Raises:
        SandlotError: If MuJoCo's description of the struct does not match its memory.
    """
    from mujoco.introspect.structs import STRUCTS

    model = mujoco.MjModel.from_xml_string(
        "<mujoco><size nuserdata='5'/><worldbody><body mocap='true'/><body><freejoint/><geom size='1'/></body>"
        "</worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    data.time = 1.0 / 3.0
    fields = STRUCTS[struct].fields
    last = max((index for index, field in enumerate(fields) if field.name in names), default=-1)
    layout = _c_struct(struct, fields[: last + 1])
    offsets = {name: int(getattr(layout, name).offset) for name in names}
    owner: Any = data if struct == "mjData" else model
    for name, offset in offsets.items():
        value = getattr(owner, name)
        kind = ctypes.c_double if isinstance(value, float) else ctypes.c_uint64
        expected = value.ctypes.data if isinstance(value, np.ndarray) else value
        if kind.from_address(owner._address + offset).value != expected:
            raise SandlotError(
                f"MuJoCo {mujoco.__version__} does not keep {name} at byte {offset} of {struct}, as it describes it; "
                "allowed: 4.0"
            )
    return offsets
