"""What worlds ask of an action before they take it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandlot.errors import SandlotError


def check_action(action: NDArray[Any], shape: tuple[int, ...], meaning: str) -> NDArray[np.float64]:
    """Refuse an action of another shape, or one with numbers that are none.

    Args:
        action: What a world was told.
        shape: What it should have.
        meaning: What it is, for the error; with units.

    Raises:
        SandlotError: If it is so.
    """
    taken = np.asarray(action, np.float64)
    if taken.shape != shape:
        raise SandlotError(f"an action is {meaning}, of shape {shape}, not {taken.shape}")
    finite = np.isfinite(taken)
    if not finite.all():
        raise SandlotError(f"an action is {meaning}; {finite.size - finite.sum()} of {finite.size} are not finite")
    return taken
