"""Checks of an action before a world takes it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandlot.errors import SandlotError, quote
from sandlot.typing import Array


def check_action(action: NDArray[Any], shape: tuple[int, ...], meaning: str) -> Array:
    """Refuse an action that has another shape, or contains NaN or infinity.

    Args:
        action: What a controller gave.
        shape: The shape it must have.
        meaning: What the action is, with units, for the error message.

    Returns:
        The action as float64.

    Raises:
        SandlotError: If it is not of numbers, the shape differs or a value is not finite.
    """
    try:
        taken = np.asarray(action, np.float64)
    except (TypeError, ValueError):
        raise SandlotError(f"an action is {meaning}, not {quote(action)!r}") from None
    if taken.shape != shape:
        raise SandlotError(f"an action is {meaning}, of shape {shape}, not {taken.shape}")
    finite = np.isfinite(taken)
    if not finite.all():
        raise SandlotError(f"an action is {meaning}; {finite.size - finite.sum()} of {finite.size} are not finite")
    return taken
