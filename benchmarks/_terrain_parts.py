"""Time of a recorded frame, by part.

Methods are wrapped with a clock. Kernels call each other without returning to Python: they are compiled again from
their sources, with the processor's cycle counter read before and after each of the kernels named here.
"""

import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FunctionType
from typing import Any
from unittest import mock

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from sandlot.physics.mujoco_bridge import call
from sandlot.physics.soil import step as soil_step
from sandlot.recordings import Writer
from sandlot.worlds.record import LONG, record_world
from sandlot.worlds.terrain import stretches
from sandlot.worlds.terrain.task import TerrainTask
from sandlot.worlds.terrain.windows import record_windows

METHODS = {
    "sensors": (TerrainTask, "observe"),
    "writing": (Writer, "filled"),
    "compressing and writing, in another thread": (Writer, "_write"),
}
"""Parts of a frame besides physics and windows; the time that is left is another."""
FIRST = 300
"""At least so many frames at the start do not count."""
KERNELS = {
    "find touched nodes": "touch",
    "press and shear": "exchange",
    "release": "release",
    "spill to the rim": "spill",
    "slide": "slide",
}
"""Parts of a step of the soil; the time that is left is another."""


def _count(_context: Any, _address: Any, _sign: Any) -> Any:
    """Typing and code of: add the cycles so far, times a sign, to the number at an address."""

    def make(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        number = ir.IntType(64)
        counter = builder.module.declare_intrinsic("llvm.readcyclecounter", (), ir.FunctionType(number, []))
        cycles = builder.call(counter, [])
        place = builder.inttoptr(arguments[0], number.as_pointer())
        builder.store(builder.add(builder.load(place), builder.mul(cycles, arguments[1])), place)
        return ir.Constant(cgutils.voidptr_t, None)

    return types.none(types.int64, types.int64), make


_add_cycles: Any = intrinsic(_count)


def _counted(kernel: Any, place: int) -> Any:
    """The same kernel, which adds the cycles it takes to the number at an address."""

    @njit(error_model="numpy")
    def counted(*arguments: Any) -> Any:
        _add_cycles(place, -1)
        result = kernel(*arguments)
        _add_cycles(place, 1)
        return result

    return counted


def _again(kernel: Any, **others: Any) -> Any:
    """The same kernel, compiled with other ones in place of some that it calls."""
    function = kernel.py_func
    return njit(error_model="numpy", nogil=True)(FunctionType(function.__code__, {**function.__globals__, **others}))


def _driver(cycles: Any) -> Any:
    """`stretches.drive_frames`, which counts into ``cycles``: the whole, MuJoCo, windows, and each of ``KERNELS``."""
    whole, rigid, windows, *rest = (int(cycles.ctypes.data) + 8 * k for k in range(len(cycles)))
    parts = {
        name: _counted(getattr(soil_step, name), place) for name, place in zip(KERNELS.values(), rest, strict=True)
    }
    top = {name: parts.pop(name) for name in ("touch", "exchange")}
    traces = _again(soil_step.leave_traces, **parts)
    advance = _again(soil_step.advance, leave_traces=traces, call=_counted(call, rigid), **top)
    recorded = _counted(record_windows, windows)
    return _counted(_again(stretches.drive_frames, advance=advance, record_windows=recorded), whole)


def _timed(spent: dict[str, float], name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """The same method, which adds the processor time it takes in its own thread."""

    def timed(*arguments: Any) -> Any:
        start = time.thread_time()
        result = method(*arguments)
        spent[name] += time.thread_time() - start
        return result

    return timed


def frame_parts(frames: int) -> dict[str, float]:
    """Processor time of a frame of a recording, by part [s], and their sum."""
    cycles, spent = np.zeros(3 + len(KERNELS), np.int64), defaultdict[str, float](float)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        driver = _timed(spent, "physics", _driver(cycles))
        stack.enter_context(mock.patch.object(stretches, "drive_frames", driver))
        record_world("terrain", folder / "compile", LONG, observations=False)
        for name, (kind, method) in METHODS.items():
            stack.enter_context(mock.patch.object(kind, method, _timed(spent, name, getattr(kind, method))))
        began, started = 0, 0.0

        def begin(done: int, _total: int) -> None:
            """Reset the clocks after the world is made and the first frames are recorded."""
            nonlocal began, started
            if not began and done >= FIRST:
                spent.clear()
                cycles[:], began, started = 0, done, time.process_time()

        record_world("terrain", folder / "measure", FIRST + frames, progress=begin, observations=False)
        whole = time.process_time() - started
    # Cycles also count while other programs run: only their shares are used.
    shares = spent.pop("physics") * cycles / cycles[0]
    soil = {f"soil: {name}": share for name, share in zip(KERNELS, shares[3:], strict=True)}
    soil["soil: the rest"] = shares[0] - shares[1:].sum()
    parts = {"MuJoCo": shares[1], **soil, "windows": shares[2], **spent}
    parts["the rest"] = whole - sum(parts.values())
    return {name: seconds / (FIRST + frames - began) for name, seconds in {**parts, "the whole": whole}.items()}
