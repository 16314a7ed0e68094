"""What every world has: settings with a fidelity, named and united frames, ready controllers."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeAlias

import gymnasium
import numpy as np
from numpy.typing import NDArray

from sandlot.errors import SandlotError
from sandlot.recordings import Frame, Quantity
from sandlot.settings import Settings, build, nearest

Controller: TypeAlias = Callable[[NDArray[Any]], NDArray[Any]]
"""Observation in, action out."""


class WorldSettings(Settings):
    """What can be set in any world. A world narrows ``fidelity`` to those it offers."""

    fidelity: str


class World(gymnasium.Env[NDArray[Any], NDArray[Any]]):
    """A place with a task.

    A subclass names its settings, makes its spaces and quantities in ``__init__``, and adds ``reset``, ``step`` and
    ``frame``. Time limits and recording are wrappers. Its docstring is its documentation page.

    Attributes:
        settings: What this world was made with.
        quantities: What its frames hold.
        reward_units: Of its reward.
    """

    Settings: ClassVar[type[WorldSettings]]
    reward_units: ClassVar[str] = "1"
    quantities: Mapping[str, Quantity]
    settings: WorldSettings

    def __init__(self, render_mode: str | None = None, **settings: Any) -> None:
        """Make a world; ``settings`` are the fields of its ``Settings``.

        Raises:
            SandlotError: If a setting is unknown or impossible.
        """
        modes = self.metadata["render_modes"]
        if render_mode is not None and render_mode not in modes:
            raise SandlotError(f"render_mode={render_mode} is not possible; allowed: {', '.join(modes)}")
        self.render_mode = render_mode
        self.settings = build(self.Settings, settings)

    @abstractmethod
    def frame(self) -> Frame:
        """The quantities of the present moment."""

    def controllers(self) -> dict[str, Callable[[np.random.SeedSequence], Controller]]:
        """Ready controllers by name, each made from a seed; the first is the one to show."""
        return {"random": self._random_controller}

    def controller(self, name: str, seed: np.random.SeedSequence) -> Controller:
        """Make one of the ready controllers.

        Raises:
            SandlotError: If there is none of that name.
        """
        known = self.controllers()
        if name not in known:
            raise SandlotError(f"no controller {name!r}; {nearest(name, list(known))}")
        return known[name](seed)

    def _random_controller(self, seed: np.random.SeedSequence) -> Controller:
        self.action_space.seed(int(seed.generate_state(1)[0]))
        return lambda _: self.action_space.sample()
