"""A product and a sum rounded once, as processors compute them in one instruction.

Compilers may fuse ``a * b + c`` or not, and results then depend on how a kernel was compiled; `fma` always does.
"""

from typing import Any

from numba import types
from numba.extending import intrinsic, overload


def fma(a: float, b: float, c: float) -> float:
    """``a * b + c``, rounded once in compiled kernels; with Numba off, the product is rounded, too."""
    return a * b + c


@intrinsic
def _fused(context: Any, a: Any, b: Any, c: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.fma(*values)

    return types.float64(types.float64, types.float64, types.float64), generate


@overload(fma)
def _compiled(a, b, c):  # type: ignore[no-untyped-def]  # Numba compares the names and annotations of both signatures.
    fused: Any = _fused
    return lambda a, b, c: fused(a, b, c)
