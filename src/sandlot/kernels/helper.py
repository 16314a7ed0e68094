"""A second process that compiles some of the kernels that a large kernel calls, while the first compiles the others.

Numba compiles on one core. The helper begins with the kernels that the first process would reach last, and keeps them
on disk. Where the first process finds a kernel there, it loads it. Neither waits for the other, so that a slow helper,
or one that fails, costs nothing but its own time.
"""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from numba import typeof


@contextlib.contextmanager
def helper_process(module: str, wanted: str) -> Iterator[None]:
    """Run a module as a helper, as long as this process compiles.

    Args:
        module: Its name; none if empty.
        wanted: Name of the file of the kernel that is compiled, by which the helper knows the kinds of its arguments.
    """
    if not module or not sys.executable or (os.cpu_count() or 1) < 2:
        yield
        return
    paths = os.pathsep.join(each or str(Path.cwd()) for each in sys.path)
    nothing: Any = subprocess.DEVNULL
    try:
        helper = subprocess.Popen(
            [sys.executable, "-m", module, wanted],
            env={**os.environ, "PYTHONPATH": paths},
            stdin=nothing,
            stdout=nothing,
            stderr=nothing,
        )
    except OSError:
        yield
        return
    try:
        yield
    finally:
        helper.kill()
        helper.wait()


def signature(arguments: Sequence[Any]) -> tuple[Any, ...]:
    """The types of arguments."""
    return tuple(typeof(each) for each in arguments)  # type: ignore[no-untyped-call]


def compile_inner(kernel: Any, arguments: Sequence[Any]) -> None:
    """Compile a kernel as other kernels call it, for arguments like these."""
    kernel.inner.compile(signature(arguments))
