"""How a world talks to a controller: in SI units, or normalised for learners."""

import math
from typing import Any

import numpy as np
from gymnasium.spaces import Box, MultiDiscrete, Space
from numpy.typing import NDArray

from sandlot.errors import SandlotError
from sandlot.typing import Array


class Interface:
    """The normalised interface of a world: one row of float32 to the learner, one row in [-1, 1] from it.

    Learners of other libraries assume this. Discrete actions stay as they are, in one row.

    Attributes:
        observation_space: (numbers,) float32.
        action_space: (numbers,) float32 in [-1, 1], or the choices of a discrete world in one row.
    """

    def __init__(self, observation: Box, action: Space[Any], scale: Array | None = None) -> None:
        """Make the interface of a world.

        Args:
            observation: What the world gives.
            action: What the world takes.
            scale: Observations are divided by it; of the shape of an observation. 1 if left out.
        """
        self._scale = np.ones(math.prod(observation.shape)) if scale is None else np.ravel(scale)
        low, high = (np.ravel(side) / self._scale for side in (observation.low, observation.high))
        self._axes = len(observation.shape)
        self.observation_space = Box(low.astype(np.float32), high.astype(np.float32), dtype=np.float32)
        self._action, self.action_space = action, action
        if isinstance(action, Box):
            self.action_space = Box(-1.0, 1.0, (math.prod(action.shape),), np.float32)
            low, high = action.low.astype(np.float64), action.high.astype(np.float64)
            self._middle, self._half = 0.5 * (high + low), 0.5 * (high - low)
        elif isinstance(action, MultiDiscrete):
            self.action_space = MultiDiscrete(action.nvec.ravel())

    def take(self, actions: NDArray[Any], batch: tuple[int, ...] = ()) -> NDArray[Any]:
        """What a learner gives, (*batch, numbers), in the units and the shape that the world takes.

        Raises:
            SandlotError: If it has another shape.
        """
        if not isinstance(self._action, Box | MultiDiscrete):
            return actions
        given, shape = np.asarray(actions), (*batch, *self.action_space.shape)  # type: ignore[misc]
        if given.shape != shape:
            raise SandlotError(f"a normalised action is one row of numbers, of shape {shape}, not {given.shape}")
        given = given.reshape((*batch, *self._action.shape))
        return self._middle + self._half * given if isinstance(self._action, Box) else given

    def show(self, observations: NDArray[Any]) -> NDArray[np.float32]:
        """What a world gives, (..., *shape), as a learner gets it: (..., numbers), within the space."""
        rows = observations.reshape((*observations.shape[: observations.ndim - self._axes], -1))
        space = self.observation_space
        return np.clip((rows / self._scale).astype(np.float32), space.low, space.high)
