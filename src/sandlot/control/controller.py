"""What a controller is: observations in, actions out, for a batch of worlds; one world is a batch of one."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Observation: TypeAlias = NDArray[Any]
Action: TypeAlias = NDArray[Any]
Policy: TypeAlias = Callable[[Observation], Action]
"""A function of one world's observation; may remember, so that each episode needs its own."""
P = TypeVar("P", bound=Policy)


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
            members: Which members begin a new episode while the others go on, one for each seed; if not given,
                ``seeds`` makes a new batch.
        """

    @abstractmethod
    def act(self, observations: Observation, members: Sequence[int] | None = None) -> Action:
        """Choose one action for each observation.

        Args:
            observations: (n, ...) one for each member.
            members: Which members these are of, if not of all: the others' episodes have ended.

        Returns:
            (n, ...) actions.
        """


class Scripted(Controller):
    """A controller that ignores observations: it knows its next actions, and for how many steps they stay the same.

    Nobody has to observe for it, so that a world may make all of these steps at once.
    """

    @abstractmethod
    def ahead(self) -> tuple[Action, int]:
        """The next actions of all members: (n, ...), and the number of steps for which these stay the same."""

    @abstractmethod
    def skip(self, steps: int) -> None:
        """Go on by so many steps, at most as many as `ahead` said."""


class Separate(Controller, Generic[P]):
    """A controller that treats every member by itself, with a policy of its own for each episode.

    Attributes:
        policies: The present policy of each member.
    """

    def __init__(self, make: Callable[[np.random.SeedSequence], P]) -> None:
        """Take a function ``make`` that returns the policy of one episode, given its seed."""
        self._make = make
        self.policies: list[P] = []

    def reset(self, seeds: Sequence[np.random.SeedSequence], members: Sequence[int] | None = None) -> None:
        """Begin new episodes."""
        if members is None:
            self.policies = [self._make(seed) for seed in seeds]
            return
        for member, seed in zip(members, seeds, strict=True):
            self.policies[member] = self._make(seed)

    def act(self, observations: Observation, members: Sequence[int] | None = None) -> Action:
        """One action for each observation."""
        policies = self.policies if members is None else [self.policies[k] for k in members]
        return np.stack([policy(each) for policy, each in zip(policies, observations, strict=True)])


def as_controller(function: Policy) -> Controller:
    """Make a controller from a function without memory: one world's observation in, its action out."""
    return Separate(lambda seed: function)
