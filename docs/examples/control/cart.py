"""Bringing a cart to rest in the middle: a spring and a damper."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


class SpringDamper:
    """A controller that pulls like a spring and brakes like a damper.

    Attributes:
        stiffness: Of the spring [N/m].
        damping: Of the damper [N*s/m].
    """

    def __init__(self, stiffness: float = 1.0, damping: float = 2.0) -> None:
        self.stiffness = stiffness
        self.damping = damping

    def __call__(self, observation: NDArray[Any]) -> NDArray[np.float32]:
        """The force for a position and a velocity: (2,) to (1,)."""
        position, velocity = observation
        force = -self.stiffness * position - self.damping * velocity
        return np.clip([force], -1.0, 1.0).astype(np.float32)
