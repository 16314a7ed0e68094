"""What a controller is: observations in, actions out, for a batch of worlds; one world is a batch of one."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Observation: TypeAlias = NDArray[Any]
Action: TypeAlias = NDArray[Any]
Policy: TypeAlias = Callable[[Observation], Action]
"""A function of one world's observation; may remember, so that each episode needs its own."""


class Controller(ABC):
    """Observations in, actions out.

    Call `reset` before the first `act` of an episode: a controller never guesses from an observation that a new
    episode has begun.
    """

    @abstractmethod
    def reset(self, seeds: Sequence[np.random.SeedSequence], members: Sequence[int] | None = None) -> None:
        """Begin new episodes.

        Args:
            seeds: One for each member of the batch; all randomness of its episode comes from it.
            members: Which members begin anew while the others go on, one for each seed; if not given, ``seeds`` makes a
                new batch.
        """

    @abstractmethod
    def act(self, observations: Observation) -> Action:
        """One action for each member: observations (members, ...) in, actions (members, ...) out."""


class Separate(Controller):
    """A controller that treats every member by itself, with a policy of its own for each episode."""

    def __init__(self, make: Callable[[np.random.SeedSequence], Policy]) -> None:
        """With what makes a policy for one episode from its seed."""
        self._make = make
        self._policies: list[Policy] = []

    def reset(self, seeds: Sequence[np.random.SeedSequence], members: Sequence[int] | None = None) -> None:
        """Begin new episodes."""
        if members is None:
            self._policies = [self._make(seed) for seed in seeds]
            return
        for member, seed in zip(members, seeds, strict=True):
            self._policies[member] = self._make(seed)

    def act(self, observations: Observation) -> Action:
        """One action for each member."""
        return np.stack([policy(each) for policy, each in zip(self._policies, observations, strict=True)])
