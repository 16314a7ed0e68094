"""What every world has: settings with a fidelity, named and united frames, ready controllers."""

import inspect
from abc import abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
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
        outcome_quantities: What its outcomes are; numbers.
        endless: Whether its episodes never end by themselves.
    """

    Settings: ClassVar[type[WorldSettings]]
    reward_units: ClassVar[str] = "1"
    outcome_quantities: ClassVar[Mapping[str, Quantity]] = {}
    endless: ClassVar[bool] = False
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

    @classmethod
    def fidelities(cls) -> list[str]:
        """Those it offers; the first is the usual one."""
        schema = cls.Settings.model_json_schema()["properties"]["fidelity"]
        return list(schema.get("enum") or [schema["const"]])

    @classmethod
    def about(cls) -> str:
        """The first line of its docstring."""
        return (inspect.getdoc(cls) or "").split("\n")[0]

    @abstractmethod
    def frame(self) -> Frame:
        """The quantities of the present moment."""

    def outcomes(self) -> dict[str, float]:
        """What has come of the episode so far, by the names of ``outcome_quantities``; what does not apply is NaN."""
        return {}

    @property
    def exploded(self) -> bool:
        """Whether the simulation is no longer to be trusted."""
        return False

    def controllers(self) -> dict[str, Callable[[np.random.SeedSequence], Controller]]:
        """Ready controllers by name, each made from a seed; the first is the one to show."""
        return {"random": self._random_controller}

    def controller(self, name: str, seed: np.random.SeedSequence, steps: int | None = None) -> Controller:
        """Make one of the ready controllers, or load one from a file.

        Args:
            name: Of a ready controller, or the path of a file.
            seed: For a ready one.
            steps: How many it will make, if that is known; for worlds where a controller plans ahead.

        Raises:
            SandlotError: If there is none of that name, or the file is not one for this world.
        """
        path, known = Path(name), self.controllers()
        if path.suffix or path.parent != Path():
            if not path.is_file():
                raise SandlotError(f"no controller file {path}; ready controllers: {', '.join(known)}")
            return self.load_controller(path)
        if name not in known:
            raise SandlotError(f"no controller {name!r}; {nearest(name, list(known))}")
        return known[name](seed)

    def load_controller(self, path: Path) -> Controller:
        """Load a controller that was kept in a file.

        Raises:
            SandlotError: If this world has none in files, or the file is not one for it.
        """
        raise SandlotError(f"cannot load {path}: controllers of this world are {', '.join(self.controllers())}")

    def _random_controller(self, seed: np.random.SeedSequence) -> Controller:
        self.action_space.seed(int(seed.generate_state(1)[0]))
        return lambda _: self.action_space.sample()
