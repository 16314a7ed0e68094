"""Types of operators and functions, found once for each kind of arguments while kernels are compiled.

Numba asks for the type of ``float + float`` at every such sum, and tries every implementation of a sum until one fits:
more than 10,000 times in the step of soil, for 500 different questions.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

from numba.core import types
from numba.core.targetconfig import ConfigStack

_found: dict[Any, Any] = {}


@contextlib.contextmanager
def remembered_types() -> Iterator[None]:
    """Let Numba remember what it found for the same function, arguments and flags of the compiler."""
    kind: Any = types.BaseFunction
    search = kind.get_call_type

    def get_call_type(function: Any, context: Any, args: Any, kws: Any) -> Any:
        if kws or not all(each.is_precise() for each in args):
            return search(function, context, args, kws)
        flags: Any = ConfigStack.top_or_none()  # type: ignore[no-untyped-call]
        given = None if flags is None else repr(sorted(flags._values.items()))
        key = (context, function, len(function.templates), tuple(args), given)
        if key not in _found:
            _found[key] = search(function, context, args, kws)
        return _found[key]

    kind.get_call_type = get_call_type
    try:
        yield
    finally:
        kind.get_call_type = search
