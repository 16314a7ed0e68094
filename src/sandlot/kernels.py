"""The decorator for kernels: compiled by Numba once, and kept on disk until their sources change.

Numba looks for changes only in a function's own file. A kernel that calls one of
another file would go on with the old one, so what is kept here is bound to the
sources of all kernels together.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


def sources(package: Path) -> bytes:
    """A digest of every file below ``package`` that defines kernels."""
    files = (file.read_bytes() for file in sorted(package.rglob("*.py")))
    return hashlib.sha256(b"".join(text for text in files if b"sandlot.kernels" in text)).digest()


STAMP = sources(Path(__file__).parent)


def kernel(allocates: bool = True, **options: Any) -> Callable[[F], F]:
    """Compile a pure function on arrays.

    Args:
        allocates: Whether it makes arrays. One that does not need not count references to any, and is compiled and run
            more quickly if it says so.
        options: Those of ``numba.njit``.
    """

    def compile_(function: F) -> F:
        compiled: Any = numba.njit(**{"cache": True, "_nrt": allocates, **options})(function)
        if compiled is not function:  # as it is when NUMBA_DISABLE_JIT is set
            kept = compiled._cache._cache_file
            # The version is looked at first: what old sources left may not even be readable.
            kept._version, kept._source_stamp = f"{numba.__version__} {STAMP.hex()}", STAMP
        return compiled

    return compile_
