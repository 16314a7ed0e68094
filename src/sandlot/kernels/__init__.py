"""Decorators for kernels: pure functions on arrays, compiled by Numba once and kept until their sources change."""

from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.core import sigutils
from numba.core.ccallback import CFunc

from sandlot.kernels.cache import KernelCache
from sandlot.kernels.inner import link_inner

F = TypeVar("F", bound=Callable[..., Any])
EXACT = {"ninf", "nnan", "nsz"}
"""Flags of ``fastmath`` that change no sum or product of numbers; ``nsz`` may change the sign of a zero."""


def kernel(allocates: bool = True, helper: str = "", **options: Any) -> Callable[[F], F]:
    """Compile a pure function on arrays.

    Args:
        allocates: Whether it makes arrays. One that does not needs no reference counts, and is compiled and run more
            quickly if it says so.
        helper: Name of a module that compiles some of the kernels that it calls, in a second process, while this one
            compiles the others: see `sandlot.kernels.helper`.
        options: Those of ``numba.njit``. Of ``fastmath``, only flags that keep results bit for bit are allowed. With
            ``contract`` or ``reassoc``, a kernel that was just compiled gives other last digits than the same kernel
            loaded from disk: which of several compiled copies of an inner kernel runs depends on what was loaded first.

    Raises:
        ValueError: If ``fastmath`` would let results depend on how the kernel was compiled.
    """
    if loose := set(options.get("fastmath", ())) - EXACT:
        raise ValueError(f"fastmath={sorted(loose)} changes last digits; allowed: {sorted(EXACT)}")

    def compile_(function: F) -> F:
        given = {"_nrt": allocates, **options}
        compiled: Any = numba.njit(**given)(function)
        if compiled is not function:  # as it is when NUMBA_DISABLE_JIT is set
            compiled._cache = KernelCache(function)
            link_inner(compiled, function, given, helper)
        return compiled

    return compile_


def c_callback(signature: Any) -> Callable[[Callable[..., None]], Any]:
    """Compile a function that C code can call, such as MuJoCo; its address is the result's ``address``."""

    def compile_(function: Callable[..., None]) -> Any:
        normalize: Any = sigutils.normalize_signature
        compiled: Any = CFunc(function, normalize(signature), locals={}, options={})
        compiled._cache = KernelCache(function)
        compiled.compile()
        return compiled

    return compile_
