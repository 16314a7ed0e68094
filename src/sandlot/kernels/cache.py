"""Compiled kernels on disk, shared by every clone and environment of one machine.

Numba keeps machine code beside the source and looks for changes only in a function's own file. A kernel that calls a
kernel of another file would go on with the old one. Here the directory of a module's code is named after a digest of
every source that the module imports, directly or indirectly, and of the versions of the compiler.
"""

import contextlib
import functools
import hashlib
import inspect
import logging
import os
import pickle
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult

PACKAGE = Path(__file__).parents[1]
IMPORTS = re.compile(rb"^[ \t]*(?:from (sandlot[\w.]*) import (\([^)]*\)|[^\n]+)|import (sandlot[\w.]+))", re.MULTILINE)
UNUSED = 30 * 24 * 3600.0
"""Directories that nothing has been written to for this long are deleted when a new one is made [s]."""


def cache_directory() -> Path:
    """Where compiled kernels lie: ``SANDLOT_CACHE``, or a directory ``sandlot`` among the user's caches."""
    if given := os.environ.get("SANDLOT_CACHE"):
        return Path(given).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "sandlot"


@functools.cache
def imported(file: Path) -> frozenset[Path]:
    """Files of the package that a source imports by name."""
    found = set()
    for module, names, plain in IMPORTS.findall(file.read_bytes()):
        path = PACKAGE.joinpath(*(module or plain).decode().split(".")[1:])
        candidates = [path, *(path / name for name in re.findall(r"\w+", names.decode()))]
        for each in candidates:
            found |= {source for source in (each.with_suffix(".py"), each / "__init__.py") if source.is_file()}
    return frozenset(found - {file})


def closure(file: Path) -> set[Path]:
    """A source and every file of the package that it imports, directly or indirectly."""
    seen, waiting = set(), [file]
    while waiting:
        each = waiting.pop()
        if each not in seen:
            seen.add(each)
            waiting += imported(each)
    return seen


@functools.cache
def digest(file: Path) -> str:
    """Of a source, all that it imports, and the versions of what compiles it."""
    versions = (sys.version, numba.__version__, llvmlite.__version__, np.__version__)
    total = hashlib.sha256(repr(versions).encode())
    for source in sorted(closure(file)):
        total.update(source.read_bytes())
    return total.hexdigest()[:20]


class KernelCache(NullCache):
    """Keeps the machine code of one kernel: a file for each signature and processor, written whole or not at all.

    A directory that cannot be written, or a damaged file, costs a warning and the time to compile, nothing else.
    """

    warned = False

    def __init__(self, function: Callable[..., Any], form: str = "") -> None:
        """Where the code of a kernel is kept; several forms of it are kept by their names."""
        file = Path(inspect.getfile(function)).resolve()
        self._directory = cache_directory() / f"{file.stem}-{digest(file)}"
        self._name = f"{function.__qualname__.replace('<locals>', '')}-{function.__code__.co_firstlineno}{form}"
        self._function, self._form = function, form

    @property
    def cache_path(self) -> str:
        """Where the machine code lies."""
        return str(self._directory)

    def name(self, signature: Any, context: Any) -> str:
        """Name of the file for a signature, the same in every process."""
        return self._file(signature, context.codegen()).name

    def has(self, signature: Any, context: Any) -> bool:
        """Whether there is a file for a signature."""
        return self._file(signature, context.codegen()).is_file()

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The compiled kernel for a signature; None if it has to be compiled."""
        context.refresh()
        try:
            data = self._file(signature, context.codegen()).read_bytes()
        except FileNotFoundError:
            return None if self._form else announce(".".join(self._function.__module__.split(".")[:3]))
        except OSError as error:
            return self._warn(error)
        try:
            rebuild: Any = CompileResult._rebuild
            return rebuild(context, *pickle.loads(data))
        except Exception as error:
            return self._warn(error)

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep a compiled kernel."""
        if result.library.has_dynamic_globals or any(not each.can_cache for each in result.lifted):
            return
        try:
            if not self._directory.is_dir():
                self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)  # another process may be as far
                _delete_unused(self._directory.parent)
            with tempfile.NamedTemporaryFile(dir=self._directory, delete=False) as file:
                try:
                    # Numba's annotations are long texts that nobody reads.
                    file.write(pickle.dumps(result._replace(type_annotation="")._reduce()))
                    file.close()
                    Path(file.name).replace(self._file(signature, result.codegen))
                except BaseException:
                    Path(file.name).unlink(missing_ok=True)
                    raise
        except OSError as error:
            self._warn(error)

    def _file(self, signature: Any, codegen: Any) -> Path:
        enclosed = [cell.cell_contents for cell in self._function.__closure__ or ()]
        key = repr((signature, codegen.magic_tuple(), enclosed))
        return self._directory / f"{self._name}-{hashlib.sha256(key.encode()).hexdigest()[:20]}.nbc"

    def _warn(self, error: Exception) -> None:
        if not KernelCache.warned:
            KernelCache.warned = True
            why = (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
            logging.getLogger("sandlot").warning(
                "cannot read or write compiled kernels in %s: %s; compiling them again", self._directory, why
            )


@functools.cache
def announce(part: str) -> None:
    """Tell a user at a terminal why nothing happens for a while: kernels of a part of the package are compiled."""
    if sys.stderr.isatty():
        print(f"Compiling {part} for its first use, which takes up to half a minute, once ...", file=sys.stderr)


def _delete_unused(directory: Path) -> None:
    """Delete what older sources left behind."""
    for old in directory.iterdir():
        with contextlib.suppress(OSError):
            if old.is_dir() and time.time() - old.stat().st_mtime > UNUSED:
                for file in old.iterdir():
                    file.unlink()
                old.rmdir()
