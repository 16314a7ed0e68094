"""Many robots, each on soil of its own, stepped on all cores in one call: for reinforcement learning and for searches.

    soils = Soils(64, heights, 0.02, "soft").attach(model, geoms=["foot"])
    well = soils.step(datas, 10)

The steps of a robot are those of `Soil.step`, bit for bit, for any number of threads.
"""

import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from operator import is_
from typing import Any, Self, overload

import mujoco
import numpy as np
from numba import get_num_threads
from numpy.typing import ArrayLike

from sandlot.errors import ModelError, RobotWarning, SettingError
from sandlot.physics.attachment import Track, check_data
from sandlot.physics.floors import Replaces
from sandlot.physics.mujoco_bridge import Prepared, prepare, quietly, without_reset
from sandlot.physics.soil.kinds import SoilKind
from sandlot.physics.soil.soil import Soil
from sandlot.typing import Array, BoolArray, IntArray


class Soils(Sequence[Soil]):
    """Ground for many robots of one model; ``soils[k]`` is the `Soil` of robot k.

    Attributes:
        threads: Number of threads that `step` uses.
        diverged: Robots whose simulations diverged, and how. They are not stepped until they are reset.
    """

    def __init__(
        self,
        count: int,
        heights: ArrayLike,
        spacing: float,
        kind: str | SoilKind | Sequence[str | SoilKind] = "soft",
        corner: Sequence[float] | None = None,
        wrap: bool = False,
        threads: int | None = None,
        which: ArrayLike | None = None,
    ) -> None:
        """Undisturbed ground under every robot.

        Args:
            count: Number of robots.
            heights: (ny, nx) of every ground, or (count, ny, nx) [m].
            spacing: Distance of nodes [m].
            kind: What every ground is made of, or a list with one kind for each; as for `Soil`. With ``which``, the
                kinds of soil on every ground.
            corner: As for `Soil`.
            wrap: As for `Soil`.
            threads: Number of threads; if not given, as many as Numba may use, which is one for each core.
            which: (ny, nx) numbers of the kinds at the nodes of every ground, or an array (count, ny, nx).

        Raises:
            SettingError: If an argument is unknown or impossible.
        """
        for name, value in {"count": count, "threads": 1 if threads is None else threads}.items():
            if not (isinstance(value, int | np.integer) and value >= 1):
                raise SettingError(f"{name}={value!r} is not possible; allowed: a whole number at least 1")
        self.threads = int(get_num_threads() if threads is None else threads)
        allowed = f"allowed: one grid of numbers, or {count}"
        try:
            fields = np.array(heights, np.float64)
        except (TypeError, ValueError):
            raise SettingError(f"heights are not grids of numbers; {allowed}") from None
        if fields.ndim != 3:
            fields = np.broadcast_to(fields, (count, *fields.shape))
        if len(fields) != count:
            raise SettingError(f"heights are {len(fields)} grids; {allowed}")
        kinds: list[Any] = [*kind] if isinstance(kind, list | tuple) and which is None else [kind] * count
        if len(kinds) != count:
            raise SettingError(f"kind is a list of {len(kinds)}; allowed: one kind of soil, or {count}")
        numbers: list[Any] = [*which] if isinstance(which, np.ndarray) and which.ndim == 3 else [which] * count
        if len(numbers) != count:
            raise SettingError(f"which is {len(numbers)} grids; allowed: one grid of numbers, or {count}")
        made = zip(fields, kinds, numbers, strict=True)
        self._soils = [Soil(field, spacing, each, corner, wrap, these) for field, each, these in made]
        self._model: mujoco.MjModel | None = None
        self._prepared: list[Prepared] = []
        # It starts its threads when they are first needed.
        self._pool = ThreadPoolExecutor(self.threads)
        self.diverged: dict[int, str] = {}

    @overload
    def __getitem__(self, which: int) -> Soil: ...
    @overload
    def __getitem__(self, which: slice) -> list[Soil]: ...
    def __getitem__(self, which: int | slice) -> Soil | list[Soil]:
        return self._soils[which]

    def __len__(self) -> int:
        return len(self._soils)

    def attach(
        self,
        model: mujoco.MjModel,
        geoms: Sequence[str | int] | None = None,
        tracks: Sequence[Track] = (),
        replaces: Replaces = None,
    ) -> Self:
        """Put every ground under a robot of this model; arguments, errors and warnings as for `Soil.attach`."""
        self._soils[0].attach(model, geoms, tracks, replaces)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RobotWarning)  # the first one has warned
            for soil in self._soils[1:]:
                soil.attach(model, geoms, tracks)
        self._model = model
        self._prepared = []
        self.diverged.clear()
        return self

    def step(self, datas: Sequence[mujoco.MjData], steps: int = 1, which: ArrayLike | None = None) -> BoolArray:
        """Make steps of all simulations, as `Soil.step` does, on all threads.

        A simulation that diverges stops there, and stays out of further steps until `reset`; the others go on.

        Args:
            datas: A simulation of the attached model for each robot.
            steps: Number of steps.
            which: Robots to step: their numbers, or a mask (count,). All if not given.

        Returns:
            Mask (count,) of the robots that have not diverged.

        Raises:
            ModelError: If this soil is not attached to the model of a simulation, or two robots share a simulation.
            SettingError: If there are not as many simulations as robots, or ``which`` names no robots.
        """
        self._prepare(datas)
        model: Any = self._model
        todo = iter([k for k in self._numbers(which).tolist() if k not in self.diverged])
        with without_reset(model), quietly():
            # Every thread takes the next robot from the same iterator, this thread too.
            others = [self._pool.submit(self._advance, todo, steps) for _ in range(self.threads - 1)]
            try:
                self._advance(todo, steps)
            finally:
                # Before the flag of the model is restored, also when interrupted.
                wait(others)
        for other in others:
            other.result()
        well = np.ones(len(self), np.bool_)
        well[[*self.diverged]] = False
        return well

    def _advance(self, todo: Iterator[int], steps: int) -> None:
        """Step robots until none is left."""
        for k in todo:
            wrong = self._soils[k]._advance(self._prepared[k], steps)
            if wrong:
                self.diverged[k] = wrong

    def _prepare(self, datas: Sequence[mujoco.MjData]) -> None:
        """Keep the arrays of these simulations; nothing is done for those of the last step."""
        if len(datas) != len(self):
            raise SettingError(f"{len(datas)} simulations for {len(self)} robots; allowed: one for each")
        if self._prepared and all(map(is_, datas, (each.data for each in self._prepared))):
            return
        for data in datas:
            check_data(self._model, data, "these soils are")
        if len({id(data) for data in datas}) < len(datas):
            raise ModelError("two robots share a simulation; allowed: a simulation for each robot")
        model: Any = self._model
        self._prepared = [prepare(model, each) for each in datas]

    def reset(self, which: ArrayLike | None = None) -> None:
        """Give robots undisturbed ground again, as at the beginning; reset their simulations too.

        Args:
            which: Robots: a number, numbers, or a mask (count,). All if not given.

        Raises:
            SettingError: If there are no such robots.
        """
        for k in self._numbers(which).tolist():
            self._soils[k].reset()
            self.diverged.pop(k, None)

    def _numbers(self, which: ArrayLike | None) -> IntArray:
        """The numbers of some robots, given by number, numbers, or a mask; each once."""
        if which is None:
            return np.arange(len(self))
        given = np.atleast_1d(which)
        if given.dtype == np.bool_ and given.shape == (len(self),):
            return np.flatnonzero(given)
        numbers = np.issubdtype(given.dtype, np.integer) and given.ndim == 1
        if given.size and not (numbers and given.min() >= 0 and given.max() < len(self)):
            raise SettingError(f"which={which!r}; allowed: numbers from 0 to {len(self) - 1}, or {len(self)} booleans")
        return np.unique(given.astype(np.int64))

    @property
    def forces(self) -> Array:
        """On the body of each attached shape in the last step: (count, shapes, 6), as `Soil.forces`."""
        return np.stack([soil.forces for soil in self._soils])
