"""What every world has: settings with a fidelity, frames of named quantities with units, and ready controllers."""

import copy
import functools
import inspect
from abc import abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeAlias, TypeVar, cast

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Space
from numpy.typing import NDArray

from sandlot import worlds
from sandlot.control.controller import Controller, Policy, Separate
from sandlot.control.imported import import_controller
from sandlot.control.trained import load_trained
from sandlot.errors import ModelError, SandlotError, SettingError, quote
from sandlot.models.policies import KIND, settings_for
from sandlot.models.store import is_model, load_card
from sandlot.recordings import Frame, Quantity
from sandlot.settings import build, nearest
from sandlot.typing import Array, Image
from sandlot.worlds.interface import Interface
from sandlot.worlds.picture import picture
from sandlot.worlds.scene import Scene
from sandlot.worlds.settings import WorldSettings
from sandlot.worlds.time_limit import limit_of

StepResult: TypeAlias = tuple[NDArray[Any], float, bool, bool, dict[str, Any]]
"""What a step returns: observation, reward, whether the episode ended, whether it was cut off, and more facts."""


class Recorder:
    """Gives a recording its frames, one after each reset and each step; each recording has its own.

    A world whose recorded frames depend on the frames recorded before extends it, so that `World.frame` stays pure.

    Attributes:
        quantities: What the frames of a recording hold.
    """

    def __init__(self, world: "World") -> None:
        """Of this world."""
        self.quantities: Mapping[str, Quantity] = world.quantities
        self._world = world

    def restart(self) -> None:
        """Begin a new episode; called after each reset, before its first frame."""

    def frame(self) -> Frame:
        """The next frame of the recording. Its arrays may be reused for the one after it."""
        return self._world.frame()

    @property
    def can_hold(self) -> bool:
        """Whether `hold` can make several steps with one action; other worlds make them one by one."""
        return False

    @property
    def can_observe_held(self) -> bool:
        """Whether `hold` also writes observations."""
        return False

    def hold(self, action: NDArray[Any], rows: Mapping[str, NDArray[Any]]) -> tuple[Array, StepResult, Frame]:
        """Step the world several times with one action, until the episode ends, and write the frames.

        Args:
            action: As `World.step` takes it.
            rows: Of every quantity that is kept in every frame, room for as many frames as there are to be steps; only
                the last of these may keep others.

        Returns:
            (steps,) rewards; what the last step returned; and the quantities of the last frame that are not in rows.
        """
        raise NotImplementedError


S = TypeVar("S", bound=WorldSettings)


class World(gymnasium.Env[NDArray[Any], NDArray[Any]]):
    """A place with a task.

    A subclass names its settings, makes its spaces and quantities in ``__init__``, and adds ``reset``, ``step``,
    ``frame`` and ``scene``. Time limits and recording are wrappers. Its docstring is its documentation page.

    A subclass's ``reset`` and ``step`` are wrapped when the class is made. A step before the first reset is refused. If
    a step ends the episode, also at the time limit of a wrapper, its info has the ``outcomes``. With
    ``interface="normalised"``, both convert observations and actions, and ``random`` is the only ready controller; this
    is what ``gymnasium.make`` gives. With ``render_mode="human"``, a page in the browser shows each reset and each
    step, no faster than real time.

    Attributes:
        settings: What this world was made with.
        quantities: The quantities of its frames, from `sandlot.recordings.vocabulary`.
        reward_units: Unit of its reward.
        action_units: Unit of its actions, or of the elements of their last axis, separated by commas.
        outcome_quantities: Name, unit and meaning of its outcomes; all are numbers.
        endless: Whether its episodes never end by themselves.
    """

    Settings: ClassVar[type[WorldSettings]]
    reward_units: str = "1"
    action_units: str = "1"
    outcome_quantities: ClassVar[Mapping[str, Quantity]] = {}
    endless: bool = False
    quantities: Mapping[str, Quantity]
    settings: WorldSettings
    _show: Callable[[], None] | None
    _begun: bool
    _interface: Interface | None
    _calls: int
    _limit: int | None

    def __init__(
        self,
        render_mode: str | None = None,
        settings: WorldSettings | None = None,
        usual_interface: str = "units",
        **values: Any,
    ) -> None:
        """Make a world.

        Args:
            render_mode: None, or one of ``metadata["render_modes"]``.
            settings: The settings as an object, or
            values: the settings as keywords: fields of ``Settings``.
            usual_interface: The interface if the settings do not name one; Gymnasium gives ``normalised``.

        Raises:
            SandlotError: If a setting is unknown or impossible.
        """
        check_render_mode(render_mode, self.metadata["render_modes"])
        self.render_mode, self._show, self._begun = render_mode, None, False
        self._interface, self._limit = None, None
        self._calls, self._steps = 0, 0
        self.settings = take_settings(self.Settings, settings, values, usual_interface)

    def _offer(self, observation: Box, action: Space[Any], scale: Array | None = None) -> None:
        """Set the spaces, by those in units; a normalised observation is divided by ``scale``."""
        self.observation_space, self.action_space = observation, action
        if self.settings.interface == "normalised":
            self._interface = Interface(observation, action, scale)
            self.observation_space, self.action_space = (
                self._interface.observation_space,
                self._interface.action_space,
            )

    def __init_subclass__(cls, **options: Any) -> None:
        """Let ``reset`` and ``step`` do what they do in every world: see `_reset` and `_step`."""
        super().__init_subclass__(**options)
        for name, wrap in {"reset": _reset, "step": _step, "controllers": _controllers}.items():
            if name in cls.__dict__:
                setattr(cls, name, wrap(cls.__dict__[name]))

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the page that shows this world: a copy opens its own."""
        return {**self.__dict__, "_show": None}

    def _present(self) -> None:
        """Show the world, if it is to be seen by humans."""
        if self.render_mode == "human":
            if self._show is None:
                assert worlds.viewer is not None
                self._show = worlds.viewer(self)
            self._show()

    @classmethod
    def fidelities(cls) -> list[str]:
        """The fidelities that the world offers; the first is the default."""
        schema = cls.Settings.model_json_schema()["properties"]["fidelity"]
        return list(schema.get("enum") or [schema["const"]])

    @classmethod
    def about(cls) -> str:
        """The first line of the world's docstring."""
        return (inspect.getdoc(cls) or "").split("\n")[0]

    @abstractmethod
    def frame(self) -> Frame:
        """The present values of ``quantities``.

        Reading a frame never changes the world, and no later step changes a frame: arrays are copies.
        """

    @abstractmethod
    def scene(self) -> Scene:
        """Everything there is to draw now."""

    def render(self) -> Image | None:
        """A picture of the scene, with caption and legend: (rows, columns, 3); none if humans see it already."""
        return None if self.render_mode == "human" else picture(self.scene())

    def recorder(self) -> Recorder:
        """A new source of frames for a recording."""
        return Recorder(self)

    def outcomes(self) -> dict[str, float]:
        """Results of the episode so far, by the names of ``outcome_quantities``; NaN where one does not apply."""
        return {}

    @property
    def exploded(self) -> bool:
        """Whether the simulation has become numerically unstable, so that its state means nothing."""
        return False

    def controllers(self) -> dict[str, Controller]:
        """Ready controllers by name; the first is the default."""
        return {"random": Separate(self._random_policy)}

    def controller(self, name: str, steps: int | None = None) -> Controller:
        """Make one of the ready controllers, or load one from disk.

        Args:
            name: Name of a ready controller, the path of a file or of the directory of a model, or where your own is:
                ``module:Class`` or ``file.py:function``, as `sandlot.control.imported` explains.
            steps: How many steps there will be, if that is known; for controllers that plan ahead.

        Raises:
            SandlotError: If there is none of that name, or the file is not one for this world.
        """
        path, known = Path(name), self.controllers()
        if name in known:
            return known[name]
        if is_model(path):
            if path.is_dir() and load_card(path).kind == KIND:
                return self._trained(path)
            return self.load_controller(path)
        if ":" in name:
            return import_controller(name, self)
        if path.suffix or path.parent != Path():
            raise ModelError(f"no controller at {quote(path)}; ready controllers: {', '.join(known)}")
        if self.settings.interface == "normalised":
            raise SettingError(f"no controller {quote(name)!r} at interface=normalised; make the world with units")
        raise SettingError(f"no controller {quote(name)!r}; {nearest(name, list(known))}")

    def _trained(self, path: Path) -> Controller:
        """Load a controller that was trained by reinforcement at the normalised interface of this world."""
        needed = settings_for(str(path), type(self).__name__.lower())
        if self.settings.interface != "normalised":
            said = ", ".join(f"{name}={value}" for name, value in needed.items())
            raise ModelError(f"{quote(path)} needs a world with the settings that it was trained with: {said}")
        return load_trained(path, self.observation_space, self.action_space)

    def load_controller(self, path: Path) -> Controller:
        """Load a controller from a file or the directory of a model.

        Raises:
            SandlotError: If this world's controllers cannot be loaded, or this is not one for it.
        """
        raise worlds.refused_file(path, list(self.controllers()))

    def _random_policy(self, seed: np.random.SeedSequence) -> Policy:
        space = copy.deepcopy(self.action_space)
        space.seed(int(seed.generate_state(1)[0]))
        return lambda _: space.sample()


F = TypeVar("F", bound=Callable[..., Any])


def _reset(method: F) -> F:
    """A world's ``reset``, after which it is shown and may be stepped."""

    @functools.wraps(method)
    def wrapped(self: World, *given: Any, **named: Any) -> Any:
        if self._calls:  # of a subclass that extends the method
            return method(self, *given, **named)
        self._calls = 1
        try:
            seen, info = method(self, *given, **named)
        finally:
            self._calls = 0
        self._begun, self._steps, self._limit = True, 0, limit_of(self)
        self._present()
        return seen if self._interface is None else self._interface.show(seen), info

    return cast(F, wrapped)


def _step(method: F) -> F:
    """A world's ``step``: refused before a reset; the last info of an episode has its outcomes; then it is shown."""

    @functools.wraps(method)
    def wrapped(self: World, action: NDArray[Any]) -> Any:
        if not self._begun:
            raise SandlotError("before the first step, reset the world")
        if self._calls:  # of a subclass that extends the method
            return method(self, action)
        self._calls = 1
        try:
            given = action if self._interface is None else self._interface.take(action)
            seen, reward, terminated, truncated, info = method(self, given)
        finally:
            self._calls = 0
        self._steps += 1
        if terminated or truncated or self._steps == self._limit:
            info["outcomes"] = self.outcomes()
        self._present()
        return seen if self._interface is None else self._interface.show(seen), reward, terminated, truncated, info

    return cast(F, wrapped)


def _controllers(method: F) -> F:
    """A world's ``controllers``: those in units do not fit a normalised interface."""

    @functools.wraps(method)
    def wrapped(self: World) -> dict[str, Controller]:
        return World.controllers(self) if self.settings.interface == "normalised" else method(self)

    return cast(F, wrapped)


def take_settings(kind: type[S], settings: WorldSettings | None, values: Mapping[str, Any], interface: str) -> S:
    """Settings that were given as an object, which has been validated already, or as keywords.

    Args:
        kind: Of the settings.
        settings: As an object.
        values: As keywords.
        interface: If neither the object nor a keyword names one.

    Raises:
        SettingError: If both are given, the object is of another world, or a keyword is unknown or impossible.
    """
    if settings is None:
        return build(kind, {"interface": interface, **values})
    if values:
        raise SettingError(f"settings were given as an object and as keywords ({', '.join(values)}); give one of them")
    if not isinstance(settings, kind):
        raise SettingError(f"settings of type {type(settings).__name__} are not possible here; give {kind.__name__}")
    if "interface" in settings.model_fields_set or settings.interface == interface:
        return settings
    return settings.model_copy(update={"interface": interface})


def check_render_mode(mode: str | None, allowed: list[str]) -> None:
    """Raise a `SettingError` unless the mode is None or allowed."""
    if mode is not None and mode not in allowed:
        raise SettingError(f"render_mode={mode} is not possible; allowed: {', '.join(allowed)}")
