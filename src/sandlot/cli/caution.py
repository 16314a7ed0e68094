"""Prints warnings about a user's files as one line, as errors are."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sandlot.errors import RobotWarning


@contextmanager
def one_line_warnings() -> Iterator[None]:
    """Leave out the line of the program that a `RobotWarning` comes from; other warnings keep it."""
    usual = warnings.formatwarning

    def shown(message: Any, category: type[Warning], *where: Any, **more: Any) -> str:
        return (
            f"warning: {message}\n" if issubclass(category, RobotWarning) else usual(message, category, *where, **more)
        )

    warnings.formatwarning = shown
    try:
        yield
    finally:
        warnings.formatwarning = usual
