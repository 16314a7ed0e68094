"""What vector worlds share: many worlds of one kind that are stepped in one call of compiled code."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Protocol, TypeVar, cast

import numpy as np
from gymnasium.spaces import Box, Discrete, MultiDiscrete
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from sandlot.errors import SandlotError, SettingError, quote
from sandlot.typing import Array, BoolArray, Image, IntArray
from sandlot.worlds import VECTORS, load
from sandlot.worlds.actions import check_action
from sandlot.worlds.base import check_render_mode, take_settings
from sandlot.worlds.interface import Interface
from sandlot.worlds.picture import picture
from sandlot.worlds.scene import Scene
from sandlot.worlds.settings import WorldSettings

Seen = TypeVar("Seen", bound=NDArray[Any])


class Task(Protocol):
    """The task of all members."""

    def ends(self) -> tuple[BoolArray, BoolArray]:
        """Which members terminate, and which are truncated: (members,) each."""

    def values(self) -> Mapping[str, NDArray[Any]]:
        """Infos by name: (members,) each."""

    def outcomes(self) -> Mapping[str, Array]:
        """Results of the episodes so far, as the single world names them: (members,) each."""


class CompiledVector(VectorEnv[Seen, Array, NDArray[Any]]):
    """Many worlds of one kind as one vector world.

    Member k is seeded with ``seed + k``, as in Gymnasium's ``SyncVectorEnv``, and draws its random numbers from its own
    generator in the same order as the single world: results are the same, bit for bit.

    When a member's episode has ended, ``autoreset_mode`` says what happens, as in Gymnasium: ``NextStep`` resets it in
    the next step, which ignores its action and gives it no reward; ``SameStep`` resets it at once, with its last
    observation in ``info["final_obs"]`` and its last info in ``info["final_info"]``; with ``Disabled`` it goes on. The
    last info of an episode has its ``outcomes``.

    A subclass adds the abstract methods.

    Attributes:
        settings: What the worlds were made with.
        max_episode_steps: Episodes are truncated after so many steps; None for never.
        autoreset_mode: When members are reset after the end of their episode.
        task: What the members do, made by ``_make``.
        generators: Random generator of each member that has been reset.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "autoreset_mode": AutoresetMode.NEXT_STEP}
    Settings: ClassVar[type[WorldSettings]]
    action_meaning: ClassVar[str]
    settings: WorldSettings
    task: Task

    def __init__(
        self,
        num_envs: int = 1,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
        threads: int = 1,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        settings: WorldSettings | None = None,
        usual_interface: str = "units",
        **values: Any,
    ) -> None:
        """Make the worlds.

        Args:
            num_envs: How many.
            render_mode: None or ``rgb_array``.
            max_episode_steps: Truncate episodes after so many steps.
            threads: Number of threads, if the world can use more than one; results do not depend on it.
            autoreset_mode: When members are reset after the end of their episode: ``NextStep``, ``SameStep`` or
                ``Disabled``.
            settings: The settings of the single world as an object, or
            values: the settings as keywords.
            usual_interface: The interface if the settings do not name one; Gymnasium gives ``normalised``.

        Raises:
            SandlotError: If a setting is unknown or impossible.
        """
        limit = None if max_episode_steps == -1 else max_episode_steps  # Gymnasium's value for no limit
        for name, value in {"num_envs": num_envs, "max_episode_steps": 1 if limit is None else limit}.items():
            if not (isinstance(value, int | np.integer) and value >= 1):
                raise SettingError(f"{name}={value} is not possible; allowed: a whole number at least 1")
        check_render_mode(render_mode, self.metadata["render_modes"])
        self.num_envs, self.render_mode, self.max_episode_steps = num_envs, render_mode, limit
        self.autoreset_mode = read_mode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.settings = take_settings(self.Settings, settings, values, usual_interface)
        self.generators: dict[int, np.random.Generator] = {}
        self._seeds: dict[int, int] = {}
        self._begun, self._ended = np.zeros((2, num_envs), np.bool_)
        self._steps = np.zeros(num_envs, np.int64)
        self.single_observation_space, self.single_action_space = seen, taken = self._make(threads)
        self._interface: Interface | None = None
        if self.settings.interface == "normalised":
            self._interface = Interface(seen, taken, self._scale())
            self.single_observation_space = self._interface.observation_space
            self.single_action_space = self._interface.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, dict[str, Any]]:
        """Reset all members, or those of ``options["reset_mask"]``; other options are those of the single world."""
        given = options or {}
        start = self._check_start(given)  # before anything is changed
        mask = self._seed(seed, given)
        self._restart(mask, start)
        return self._see(mask), self._info(mask)

    def step(self, actions: NDArray[Any]) -> tuple[Seen, Array, BoolArray, BoolArray, dict[str, Any]]:
        """Step all members."""
        if not self._begun.all():
            raise SandlotError("before the first step, reset all worlds")
        if self._interface is not None:
            actions = self._interface.take(actions, (self.num_envs,))
            shape = actions.shape
        else:
            shape = (self.num_envs, *(self.single_action_space.shape or ()))
        given = check_action(actions, shape, self.action_meaning)
        ended = self._ended
        rewards = self._advance(given, ~ended)
        self._steps += 1
        if ended.any():
            self._restart(ended, self._check_start({}))
            rewards[ended] = 0.0
        everyone = np.ones(self.num_envs, np.bool_)
        observations = self._see(everyone)
        terminated, truncated = (each & ~ended for each in self.task.ends())
        if self.max_episode_steps is not None:
            truncated = truncated | (self._steps >= self.max_episode_steps)
        over = terminated | truncated
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            if not over.any():
                return observations, rewards, terminated, truncated, self._info(everyone)
            final = {"final_obs": _final(observations, over), "final_info": self._info(over, over)}
            self._restart(over, self._check_start({}))
            infos = final | {f"_{key}": over.copy() for key in final}
            return self._see(over), rewards, terminated, truncated, infos | self._info(everyone)
        self._ended = over & (self.autoreset_mode is AutoresetMode.NEXT_STEP)
        return observations, rewards, terminated, truncated, self._info(everyone, over)

    def _see(self, mask: BoolArray) -> Seen:
        """Observations of all members as they are returned, after those of the mask have read their sensors."""
        seen = self._observe(mask)
        return seen if self._interface is None else cast(Seen, self._interface.show(seen))

    @property
    def name(self) -> str:
        """Short name of the world."""
        here = f"{type(self).__module__}:{type(self).__name__}"
        return next(name for name, at in VECTORS.items() if at == here)

    @property
    def reward_units(self) -> str:
        """Unit of the reward, as of the single world."""
        return load(self.name).reward_units

    @property
    def action_units(self) -> str:
        """Unit of actions, as of the single world."""
        return load(self.name).action_units

    @property
    def period(self) -> float:
        """Time of one step [s]."""
        return 1.0 / float(self.metadata["render_fps"])

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """Seed of each member, as in Gymnasium's ``SyncVectorEnv``; -1 for one that was never reset."""
        return tuple(self._seeds.get(k, -1) for k in range(self.num_envs))

    @abstractmethod
    def scenes(self) -> Iterator[Scene]:
        """What there is to draw of each member."""

    def render(self) -> tuple[Image, ...]:
        """A picture of each member, as the single world draws it."""
        return tuple(picture(scene) for scene in self.scenes())

    @abstractmethod
    def _make(self, threads: int) -> tuple[Box, Box | Discrete | MultiDiscrete]:
        """Make what the worlds consist of; returns the observation and the action space of a member."""

    def _scale(self) -> Array | None:
        """What observations are divided by at the normalised interface, as in the single world."""
        return None

    def _outcomes(self, over: BoolArray) -> Mapping[str, Array]:
        """Outcomes (num_envs,) of which only those of some members are used."""
        return self.task.outcomes()

    @abstractmethod
    def _check_start(self, options: Mapping[str, Any]) -> Any:
        """How members start, by the options of a reset or by the settings; None if that is random."""

    @abstractmethod
    def _place(self, which: IntArray, start: Any) -> None:
        """Put members (n,) at their start."""

    @abstractmethod
    def _advance(self, actions: Array, running: BoolArray) -> Array:
        """Step all members; returns the rewards (num_envs,). Those that are not running will be reset."""

    @abstractmethod
    def _observe(self, mask: BoolArray) -> Seen:
        """Observations of all members, after those of the mask have read their sensors."""

    def _seed(self, seed: int | Sequence[int | None] | None, options: Mapping[str, Any]) -> BoolArray:
        """Seed the members that are to be reset; returns which these are: (num_envs,)."""
        try:
            mask = np.asarray(options.get("reset_mask", np.ones(self.num_envs, np.bool_)))
        except ValueError:  # rows of different lengths
            mask = np.empty(0)
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
            raise SettingError(f"reset_mask must hold {self.num_envs} booleans")
        seeds: list[int | None]
        if seed is None:
            seeds = [None] * self.num_envs
        elif isinstance(seed, int | np.integer):
            seeds = [int(seed) + k for k in range(self.num_envs)]
        else:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise SettingError(f"{len(seeds)} seeds for {self.num_envs} worlds")
        for k in np.flatnonzero(mask).tolist():
            if seeds[k] is not None or k not in self.generators:
                self.generators[k], self._seeds[k] = seeding.np_random(seeds[k])
        return mask

    def _restart(self, mask: BoolArray, start: Any) -> None:
        """Begin new episodes of these members."""
        self._place(np.flatnonzero(mask), start)
        self._begun, self._ended = self._begun | mask, self._ended & ~mask
        self._steps[mask] = 0

    def _info(self, mask: BoolArray, over: BoolArray | None = None) -> dict[str, Any]:
        """Infos as Gymnasium wants them: values, and which members have them.

        Args:
            mask: (num_envs,) members with infos.
            over: (num_envs,) members whose episode has just ended: they also have outcomes.
        """
        found: dict[str, Any] = dict(_masked(self.task.values(), mask))
        if over is not None and over.any():
            found |= {"outcomes": _masked(self._outcomes(over), over), "_outcomes": over.copy()}
        return found


def read_mode(mode: AutoresetMode | str) -> AutoresetMode:
    """The autoreset mode of this name.

    Raises:
        SettingError: If there is none.
    """
    try:
        return AutoresetMode(mode)
    except ValueError:
        allowed = ", ".join(each.value for each in AutoresetMode)
        raise SettingError(f"autoreset_mode={quote(mode)} is not possible; allowed: {allowed}") from None


def _masked(values: Mapping[str, NDArray[Any]], mask: BoolArray) -> dict[str, NDArray[Any]]:
    """The values of the members of a mask, with zeros elsewhere, and for each name which members have one."""
    found = {key: np.where(mask, value, np.zeros_like(value)) for key, value in values.items()}
    return found | {f"_{key}": mask.copy() for key in values}


def _final(observations: NDArray[Any], over: BoolArray) -> NDArray[np.object_]:
    """The last observation of each member whose episode has ended, and None for the others: (members,)."""
    found = np.full(len(over), None, np.object_)
    for k in np.flatnonzero(over).tolist():
        found[k] = observations[k].copy()
    return found
