"""The leveling world: a swarm levels a terrain, one unit of material at a time."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sandlot.control.controller import Controller
from sandlot.control.leveling import CYCLES_PER_ROUND, LevelingController, Rule, run
from sandlot.errors import SandlotError
from sandlot.physics.swarm import HIGH, LOW, MOVED, Swarm
from sandlot.recordings import Frame, Quantity
from sandlot.recordings.vocabulary import quantity
from sandlot.worlds.actions import check_action
from sandlot.worlds.base import World
from sandlot.worlds.leveling.scene import leveling_scene
from sandlot.worlds.leveling.settings import LevelingSettings
from sandlot.worlds.leveling.task import ACTION, CYCLE, LevelingTask, spaces
from sandlot.worlds.scene import Scene
from sandlot.worlds.settings import WorldSettings

FIRST = np.zeros(1, np.int64)
"""The only swarm of its task."""


class Leveling(World):
    """A swarm levels a terrain, one unit of material at a time.

    The terrain is a grid of integer heights. Each agent occupies a cell. It senses the height of that cell, remembers
    eight heights it has stored along its path, and uses their mean as its estimate of the mean height of the terrain.
    It can carry one unit. The volume, on the ground and carried, is constant. The model is that of section 4.2 of
    Daniel Cook, *Tractable Robot Simulation for Terrain Leveling*, a thesis for the degree of Master of Engineering,
    Memorial University of Newfoundland, 2017.

    ## Actions
    ``MultiDiscrete`` of shape (agents, 2). First the hand: 0 nothing, 1 pick up a unit from the agent's cell, 2 put one
    down on it. Then the feet: 0 stay, 1 to 8 move to a neighbour, counter-clockwise from +x. Agents act one after the
    other in a fixed order. An action that is impossible has no effect: an agent neither leaves the grid nor enters an
    occupied cell.

    ## Observations
    ``Box`` of shape (agents, 11), per agent: the height of its cell [unit], its estimate of the mean height [unit],
    whether it carries a unit, and whether each of its eight neighbour cells is free.

    ## Reward
    The decrease of the sum over all cells of (height - mean height)^2 [unit^2]. The sum of all rewards depends only on
    the first and the last terrain.

    ## Start and end
    ``reset(seed=...)`` draws the terrain and the cells of the agents; ``options={"heights": array}`` gives a terrain
    instead. An episode terminates when the terrain is flat, by default when its highest and lowest cell differ by at
    most one unit. One step is two cycles of the source, an acting and a sensing stage. The source gives no
    duration of a cycle; ``time`` counts 1 s for each.

    ## Controllers
    ``probabilistic``, ``memetic`` and ``pool``, the three rules of the source; ``random``. `run` executes a rule in
    compiled code, much faster than `step` and with the same result.

    ## Many at once
    ``gymnasium.make_vec("sandlot/Leveling-v0", num_envs=64)`` steps all swarms in one call of compiled code, each on a
    terrain of its own, and with the same results: `sandlot.worlds.leveling.vector`.

    ## Versions
    v0: first version.
    """

    Settings: ClassVar[type[WorldSettings]] = LevelingSettings
    reward_units = "unit^2"
    metadata = {"render_modes": ["rgb_array", "human"], "render_fps": 30}
    outcome_quantities: ClassVar[Mapping[str, Quantity]] = {
        "cycles": Quantity("1", "number of cycles of the source, two in each step"),
        "height_range": Quantity("unit", "height of the highest above the lowest cell"),
        "units_moved": Quantity("1", "number of units put down"),
        "flat": Quantity("1", "whether the terrain is flat"),
    }
    settings: LevelingSettings

    def __init__(self, render_mode: str | None = None, **given: Any) -> None:
        super().__init__(render_mode, **given)
        self.task = LevelingTask(self.settings)
        n, shape = self.settings.agents, self.task.shape
        self._offer(*spaces(n))
        self.quantities = {
            "time": quantity("time"),
            "cycles": quantity("cycles", dtype="int64"),
            "cell_heights": quantity("cell_heights", ("row", "column"), shape, "int16"),
            "agent_column": quantity("agent_column", ("agent",), (n,), "int32"),
            "agent_row": quantity("agent_row", ("agent",), (n,), "int32"),
            "carrying": quantity("carrying", ("agent",), (n,), "bool"),
            "mean_estimate": quantity("mean_estimate", ("agent",), (n,)),
            "height_range": quantity("height_range", dtype="int64"),
            "units_moved": quantity("units_moved", dtype="int64"),
        }

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin an episode; ``options={"heights": (ny, nx) array}`` replaces the terrain of the settings."""
        heights = (options or {}).get("heights")
        given = None if heights is None else self.task.check_heights(heights)  # before anything is changed
        super().reset(seed=seed)
        self.task.restart(FIRST, [self.np_random], given)
        return self.task.observe()[0], self._info()

    def step(self, action: NDArray[Any]) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Let every agent act, then sense."""
        observation, gains, flat, info = self.advance(action)
        return observation, float(gains.sum()), flat, False, info

    def advance(self, action: NDArray[Any]) -> tuple[NDArray[np.float32], NDArray[np.float64], bool, dict[str, Any]]:
        """Make a step as `step` does, but return the reward of each agent, (n,) [unit^2], not their sum."""
        gains = self.task.act(check_action(action, (self.settings.agents, 2), ACTION)[None])
        return self.task.observe()[0], gains[0], self.flat, self._info()

    @property
    def swarm(self) -> Swarm:
        """The terrain and the agents; not copies."""
        return self.task.swarm(0)

    def run(self, controller: LevelingController, cycles: int) -> int:
        """Execute a rule in compiled code until the terrain is flat; returns the cycles since the start.

        Args:
            controller: One of this world's rules, reset with one seed.
            cycles: Stop after so many.

        Raises:
            SandlotError: If the controller is for another number of agents, or has not been reset with one seed.
        """
        if controller.agents != self.settings.agents:
            raise SandlotError(f"a controller for {controller.agents} agents; this world has {self.settings.agents}")
        if len(controller.minds) != 1:
            raise SandlotError("reset the controller with one seed before a run")
        rounds = cycles // CYCLES_PER_ROUND
        self.task.rounds[0] += run(self.swarm, controller.minds[0], rounds, self.settings.sensing, self.task.slope)
        return self.cycles

    @property
    def cycles(self) -> int:
        """Cycles since the start, as the source counts them."""
        return int(self.task.cycles[0])

    @property
    def flat(self) -> bool:
        """Whether the terrain is flat."""
        return bool(self.task.flat[0])

    def outcomes(self) -> dict[str, float]:
        """Results of the episode so far, as ``outcome_quantities`` names them."""
        return {name: float(value[0]) for name, value in self.task.outcomes().items()}

    def controllers(self) -> dict[str, Controller]:
        """The three rules of the source, and random."""
        rules = (Rule(kind="probabilistic"), Rule(kind="memetic"), Rule(kind="pool"))
        made: dict[str, Controller] = {rule.kind: LevelingController(rule, self.settings.agents) for rule in rules}
        return made | super().controllers()

    def frame(self) -> Frame:
        """The terrain, and where the agents are."""
        agents, tally = self.swarm.agents, self.swarm.tally
        return {
            "time": np.float64(CYCLE * self.cycles),
            "cycles": np.int64(self.cycles),
            "cell_heights": self.swarm.heights.copy(),
            "agent_column": agents["x"].copy(),
            "agent_row": agents["y"].copy(),
            "carrying": agents["carrying"].copy(),
            "mean_estimate": agents["average"].copy(),
            "height_range": tally[HIGH] - tally[LOW],
            "units_moved": tally[MOVED],
        }

    def scene(self) -> Scene:
        """The cells, higher ones brighter, and the agents in blue with the units that they carry in orange."""
        return leveling_scene(self.swarm, self.cycles, self.settings.relief)

    def _info(self) -> dict[str, Any]:
        return {name: value[0].item() for name, value in self.task.values().items()}
