"""Bringing a cart to rest in the middle: a spring and a damper."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sandlot.control.controller import Controller, Observation


class SpringDamper(Controller):
    """A controller that pulls like a spring and brakes like a damper.

    Attributes:
        stiffness: Of the spring [N/m].
        damping: Of the damper [N*s/m].
    """

    def __init__(self, stiffness: float = 1.0, damping: float = 2.0) -> None:
        self.stiffness = stiffness
        self.damping = damping

    def reset(self, seeds: Sequence[np.random.SeedSequence], members: Sequence[int] | None = None) -> None:
        """Begin new episodes: this controller has no memory and draws no random numbers."""

    def act(self, observations: Observation, members: Sequence[int] | None = None) -> NDArray[np.float32]:
        """The forces for positions and velocities: (members, 2) to (members, 1)."""
        position, velocity = observations[:, :1], observations[:, 1:]
        return np.clip(-self.stiffness * position - self.damping * velocity, -1.0, 1.0).astype(np.float32)
