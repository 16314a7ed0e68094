"""The leveling world: a swarm levels a terrain, one unit of material at a time."""

import math
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Box, MultiDiscrete
from numpy.typing import NDArray

from sandlot.control.controller import Controller
from sandlot.control.leveling import CYCLES_PER_ROUND, LevelingController, Rule, run
from sandlot.errors import SandlotError, SettingError
from sandlot.physics.swarm import CEILING, HIGH, LOW, MOVED, PUT_DOWN, free_neighbours, is_flat, place, sense, step
from sandlot.recordings import Frame
from sandlot.recordings.vocabulary import quantity
from sandlot.worlds.actions import check_action
from sandlot.worlds.base import World, WorldSettings
from sandlot.worlds.leveling.scene import leveling_scene
from sandlot.worlds.leveling.settings import LevelingSettings
from sandlot.worlds.scene import Scene

ACTION = f"hand (0 to {PUT_DOWN}) and feet (0 to 8) of each agent"
HIGHEST = np.array([CEILING, CEILING] + 9 * [1], np.float32)
"""Upper bounds of an agent's observation: height, mean estimate, carrying, eight free neighbours; the lower are 0."""
CYCLE = 1.0
"""Duration of a cycle, chosen here: the source counts cycles only [s]."""


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

    ## Versions
    v0: first version.
    """

    Settings: ClassVar[type[WorldSettings]] = LevelingSettings
    reward_units = "unit^2"
    metadata = {"render_modes": ["rgb_array", "human"], "render_fps": 30}
    settings: LevelingSettings

    def __init__(self, render_mode: str | None = None, **given: Any) -> None:
        super().__init__(render_mode, **given)
        self._slope = self.settings.slope if self.settings.flatness == "gradient" else -1.0
        # The size of an image is known only after it has been read.
        image = isinstance(self.settings.terrain, Path)
        shape = self.settings.heights(np.random.default_rng()).shape if image else self.settings.shape
        self._shape = shape
        n, cells = self.settings.agents, math.prod(shape)
        if n > cells:
            raise SettingError(f"agents={n} on {cells} cells; allowed are 1 to {cells}")
        seen = Box(0.0, np.tile(HIGHEST, (n, 1)), (n, HIGHEST.size), np.float32)
        self._offer(seen, MultiDiscrete(np.tile([3, 9], (n, 1))))
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
        super().reset(seed=seed)
        heights = (options or {}).get("heights")
        if heights is None:
            heights = self.settings.heights(self.np_random)
        elif np.shape(heights) != self._shape:
            raise SettingError(f"the given heights are of shape {np.shape(heights)}; this world's are {self._shape}")
        seeds = np.random.SeedSequence(int(self.np_random.integers(2**63)))
        self.swarm = place(heights, self.settings.agents, seeds, self._slope)
        sense(self.swarm.heights, self.swarm.agents, self.settings.sensing)
        self._rounds = 0
        self._level = float(self.swarm.heights.mean())
        return self._observe(), self._info()

    def step(self, action: NDArray[Any]) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Let every agent act, then sense."""
        observation, gains, flat, info = self.advance(action)
        return observation, float(gains.sum()), flat, False, info

    def advance(self, action: NDArray[Any]) -> tuple[NDArray[np.float32], NDArray[np.float64], bool, dict[str, Any]]:
        """Make a step as `step` does, but return the reward of each agent, (n,) [unit^2], not their sum."""
        agents = self.swarm.agents
        action = check_action(action, (agents.size, 2), ACTION)
        if not np.all((action >= 0) & (action <= (PUT_DOWN, 8))):
            raise SandlotError(f"an action is {ACTION}; some are out of range")
        height, carried = agents["height"] - self._level, agents["carrying"].astype(np.float64)
        hand, move = np.ascontiguousarray(action.T, np.int8)
        step(self.swarm, hand, move, self.settings.sensing, self._slope)
        self._rounds += 1
        change = carried - agents["carrying"]
        gains = -change * (2.0 * height + change)
        return self._observe(), gains, self.flat, self._info()

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
        self._rounds += run(self.swarm, controller.minds[0], rounds, self.settings.sensing, self._slope)
        return self.cycles

    @property
    def cycles(self) -> int:
        """Cycles since the start, as the source counts them."""
        return self._rounds * CYCLES_PER_ROUND

    @property
    def flat(self) -> bool:
        """Whether the terrain is flat."""
        return bool(is_flat(self.swarm.tally, self._slope))

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

    def _observe(self) -> NDArray[np.float32]:
        agents = self.swarm.agents
        known = [agents["height"], agents["average"], agents["carrying"]]
        return np.column_stack([*known, free_neighbours(self.swarm.occupied, agents)]).astype(np.float32)

    def _info(self) -> dict[str, Any]:
        tally = self.swarm.tally
        return {
            "cycles": self.cycles,
            "height_range": int(tally[HIGH] - tally[LOW]),
            "units_moved": int(tally[MOVED]),
            "is_success": self.flat,
        }
