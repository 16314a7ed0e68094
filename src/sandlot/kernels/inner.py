# mypy: allow-untyped-calls
"""Kernels as other kernels call them: code that is linked into the callers, and optimised there, all of it together.

Numba optimises a kernel and translates it to machine code whenever it is compiled, and once more within each of its
callers, theirs, and so on; it also makes a wrapper by which Python calls it. For a kernel that only kernels call, all
of that is wasted: without it, the step of soil compiles in half the time.
"""

import contextlib
import gc
import hashlib
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numba
from llvmlite.binding import Linkage
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from sandlot.kernels.cache import KernelCache
from sandlot.kernels.helper import helper_process
from sandlot.kernels.operators import remembered_types

NO_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


class InnerLibrary(JITCodeLibrary):
    """Code as Numba wrote it, to be linked into other libraries; there is no machine code of it."""

    def _optimize_final_module(self) -> None:
        """The callers optimise it."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """There is none."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """The owner of this library; environments are set in the callers, which have the memory for them."""
        return SimpleNamespace(set_env=lambda name, env: None, magic_tuple=self._codegen.magic_tuple)

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        """As bitcode."""
        found: tuple[str, str, bytes] = self.serialize_using_bitcode()
        return found


class OuterLibrary(JITCodeLibrary):
    """Code of a kernel that Python calls, with that of all kernels that it calls, which nobody else needs."""

    def _optimize_final_module(self) -> None:
        own = [each for each in self._final_module.functions if not each.is_declaration]
        entries = "".join(each.name for each in own if each.linkage == Linkage.external)
        suffix = hashlib.sha256(entries.encode()).hexdigest()[:12]
        for function in own:
            if function.linkage == Linkage.linkonce_odr:
                # A function that nobody else calls is inlined where it is called once, and may take other arguments.
                # So it needs a name of its own: LLVM's linker takes the first function of a name, of any library.
                function.linkage, function.name = "internal", f"{function.name}.{suffix}"
        super()._optimize_final_module()


@contextlib.contextmanager
def libraries(kind: type[JITCodeLibrary]) -> Iterator[None]:
    """Let Numba make libraries of some kind."""
    codegen = cpu_target.target_context.codegen()
    before = codegen._library_class
    codegen._library_class = kind
    try:
        yield
    finally:
        codegen._library_class = before


@contextlib.contextmanager
def without_collection() -> Iterator[None]:
    """Put off Python's garbage collection: it would look through all of a growing compiler's memory again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def compile_as(dispatcher: Any, kind: type[JITCodeLibrary], helper: str = "") -> None:
    """Let a kernel be compiled to, or loaded as, a library of some kind, perhaps with the help of another process."""
    compile_ = dispatcher.compile

    def compiled(signature: Any) -> Any:
        # The kind of library belongs to the process, so one thread at a time sets it.
        with global_compiler_lock, libraries(kind), without_collection(), remembered_types():
            kept = signature in dispatcher.overloads or dispatcher._cache.has(signature, cpu_target.target_context)
            with helper_process("" if kept else helper, dispatcher._cache.name(signature, cpu_target.target_context)):
                return compile_(signature)

    dispatcher.compile = compiled


def link_inner(outer: Any, function: Callable[..., Any], options: dict[str, Any], helper: str = "") -> None:
    """Let kernels that call a kernel link its inner form.

    Args:
        outer: The kernel as Python calls it.
        function: Its source.
        options: Those of ``numba.njit``.
        helper: As for `sandlot.kernels.kernel`.
    """
    inner: Any = numba.njit(**{**options, **NO_WRAPPERS})(function)
    inner._cache = KernelCache(function, "inner")
    compile_as(inner, InnerLibrary)
    compile_as(outer, OuterLibrary, helper)

    def template(args: Any, kws: Any) -> Any:
        # In the first pass of Numba's type inference, a variable that begins as 0 is the literal 0: it would be
        # compiled for that, and once more for whole numbers.
        return inner.get_call_template([types.unliteral(each) for each in args], kws)

    outer.get_call_template, outer.get_overload, outer.inner = template, inner.get_overload, inner
