"""The leveling world: a swarm makes a terrain flat, one unit at a time."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from gymnasium.spaces import Box, MultiDiscrete
from numpy.typing import NDArray
from pydantic import Field, field_validator, model_validator

from sandlot.control.leveling import CYCLES_PER_ROUND, LevelingController, Rule, run
from sandlot.errors import SandlotError
from sandlot.physics.swarm import CEILING, HIGH, LOW, MOVED, PUT_DOWN, free_neighbours, is_flat, place, sense, step
from sandlot.places.terrains import from_image, heap, hills
from sandlot.recordings import Frame, Quantity
from sandlot.settings import nearest
from sandlot.worlds.actions import check_action
from sandlot.worlds.base import Controller, World, WorldSettings

ACTION = f"hand (0 to {PUT_DOWN}) and feet (0 to 8) of each agent"
MOST = np.array([CEILING, CEILING] + 9 * [1], np.float32)
"""Highest values in an agent's observation: height, average, carrying, eight free neighbours; the lowest are 0."""


Cells = Annotated[int, Field(ge=1, le=16384)]


class LevelingSettings(WorldSettings):
    """What can be set in the leveling world.

    Attributes:
        fidelity: Only ``fast``: the grid is the model itself.
        terrain: ``hills``, ``heap``, or the path of a grayscale image.
        shape: (ny, nx) [cell] of hills and heap; an image brings its own.
        hill_size: Typical radius of a hill, or radius of the heap [cell].
        relief: Height of the highest cell above the lowest [unit].
        roughness: From 0, rounded hills, to 1, detail at every scale.
        agents: How many.
        sensing: Probability that an agent stores the height it has come to. It has to be low: the eight heights it
            remembers should come from all over the terrain, not from one hill.
        flatness: When the terrain is flat: ``range``, highest and lowest cell differ by at most one unit, or
            ``gradient``, no gradient (by forward differences) is steeper than ``slope`` anywhere.
        slope: Steepest gradient of flat ground [unit/cell], for ``flatness="gradient"``.
    """

    fidelity: Literal["fast"] = "fast"
    terrain: Literal["hills", "heap"] | Path = "hills"
    shape: tuple[Cells, Cells] = (32, 32)
    hill_size: float = Field(8.0, gt=0.0)
    relief: int = Field(12, ge=0, le=CEILING)
    roughness: float = Field(0.0, ge=0.0, le=1.0)
    agents: int = Field(8, ge=1)
    sensing: float = Field(0.01, ge=0.0, le=1.0)
    flatness: Literal["range", "gradient"] = "range"
    slope: float = Field(1.0, ge=0.0)

    @field_validator("terrain")
    @classmethod
    def _known(cls, terrain: str | Path) -> str | Path:
        # A word without a suffix is meant to be a kind of terrain, rather than an image.
        if isinstance(terrain, Path) and not terrain.suffix and not terrain.exists():
            raise ValueError(f"no such terrain, and no image; {nearest(str(terrain), ['hills', 'heap'])}")
        return terrain

    @model_validator(mode="after")
    def _agents_fit(self) -> Self:
        cells = self.shape[0] * self.shape[1]
        if not isinstance(self.terrain, Path) and self.agents > cells:
            raise ValueError(f"agents={self.agents} on {cells} cells; allowed are 1 to {cells}")
        return self

    def heights(self, rng: np.random.Generator) -> NDArray[np.int16]:
        """Make the terrain: (ny, nx) [unit]."""
        if isinstance(self.terrain, Path):
            field = from_image(self.terrain, self.relief)
        elif self.terrain == "heap":
            field = heap(self.shape, self.hill_size, self.relief)
        else:
            field = hills(self.shape, rng, self.hill_size, self.relief, self.roughness)
        return np.rint(field).astype(np.int16)


class Leveling(World):
    """A swarm makes a terrain flat, one unit of material at a time.

    The terrain is a grid of whole-number heights. Each agent sits on a cell of its own, knows the height beneath it,
    remembers eight heights it has stored on its way, and takes their mean for the average of the whole terrain. It
    can hold one unit. The volume, on the ground and in hands, never changes. The model is that of
    section 4.2 of Daniel Cook, *Tractable Robot Simulation for Terrain Leveling*, a thesis for the degree of Master of
    Engineering, Memorial University of Newfoundland, 2017.

    ## Actions
    ``MultiDiscrete`` of shape (agents, 2). First the hand: 0 nothing, 1 pick up from, 2 put down on the cell beneath.
    Then the feet: 0 stay, 1 to 8 move to a neighbour, counter-clockwise from +x. Agents take their turns in order, and
    what cannot be done fails silently: an agent neither leaves the grid nor enters an occupied cell.

    ## Observations
    ``Box`` of shape (agents, 11), per agent: the height beneath it [unit], its estimate of the average [unit], whether
    its hand is full, and whether each of its eight neighbours is free.

    ## Reward
    By how much the step brought the terrain closer to its mean level: the decrease of the sum over all cells of
    (height - mean)^2 [unit^2]. The sum of all rewards depends only on the first and the last terrain.

    ## Start and end
    ``reset(seed=...)`` draws terrain and places; ``options={"heights": array}`` gives a terrain instead. An episode
    terminates when the terrain is flat, by default when its highest and lowest cell differ by at most one unit. One
    step is two cycles of the source, an acting and a sensing stage.

    ## Controllers
    ``probabilistic``, ``memetic`` and ``pool``, the three rules of the source; ``random``. `run` lets a rule work at
    full speed, with the same result as stepping.

    ## Versions
    v0: first version.
    """

    Settings: ClassVar[type[WorldSettings]] = LevelingSettings
    reward_units = "unit^2"
    metadata = {"render_modes": ["rgb_array"], "render_fps": 30}
    settings: LevelingSettings

    def __init__(self, render_mode: str | None = None, **settings: Any) -> None:
        super().__init__(render_mode, **settings)
        self._slope = self.settings.slope if self.settings.flatness == "gradient" else -1.0
        n = self.settings.agents
        self.observation_space = Box(0.0, np.tile(MOST, (n, 1)), (n, MOST.size), np.float32)
        self.action_space = MultiDiscrete(np.tile([3, 9], (n, 1)))
        # An image brings its own size, known only once it is read.
        image = isinstance(self.settings.terrain, Path)
        shape = self.settings.heights(np.random.default_rng()).shape if image else self.settings.shape
        self._shape = shape
        self.quantities = {
            "time": Quantity("cycle", "cycles of the source since the start"),
            "heights": Quantity("unit", "height of each cell", ("y", "x"), shape, "int16"),
            "agent_x": Quantity("cell", "column of each agent", ("agent",), (n,), "int32"),
            "agent_y": Quantity("cell", "row of each agent", ("agent",), (n,), "int32"),
            "carrying": Quantity("1", "whether the agent holds a unit", ("agent",), (n,), "bool"),
            "average": Quantity("unit", "the agent's estimate of the mean height", ("agent",), (n,)),
            "range": Quantity("unit", "highest minus lowest cell", dtype="int64"),
            "moved": Quantity("unit", "units put down since the start", dtype="int64"),
        }

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start anew; ``options={"heights": (ny, nx) array}`` replaces the terrain of the settings."""
        super().reset(seed=seed)
        heights = (options or {}).get("heights")
        if heights is None:
            heights = self.settings.heights(self.np_random)
        elif np.shape(heights) != self._shape:
            raise SandlotError(f"the given heights are of shape {np.shape(heights)}; this world's are {self._shape}")
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
        """A step, with what each agent gained by it, (n,) [unit^2], in place of the reward."""
        agents = self.swarm.agents
        action = check_action(action, (agents.size, 2), ACTION)
        if not np.all((action >= 0) & (action <= (PUT_DOWN, 8))):
            raise SandlotError(f"an action is {ACTION}; some are below or above")
        height, carried = agents["height"] - self._level, agents["carrying"].astype(np.float64)
        hand, move = np.ascontiguousarray(action.T, np.int8)
        step(*self.swarm, hand, move, self.settings.sensing, self._slope)
        self._rounds += 1
        change = carried - agents["carrying"]
        gains = -change * (2.0 * height + change)
        return self._observe(), gains, self.flat, self._info()

    def run(self, controller: LevelingController, cycles: int) -> int:
        """Let a rule work at full speed until the terrain is flat; returns the cycles since the start.

        Args:
            controller: One of this world's rules, for as many agents.
            cycles: Stop after so many.

        Raises:
            SandlotError: If the controller is for another number of agents.
        """
        if controller.mind.hand.size != self.settings.agents:
            raise SandlotError(
                f"the controller is for {controller.mind.hand.size} agents; this world has {self.settings.agents}"
            )
        rounds = cycles // CYCLES_PER_ROUND
        self._rounds += run(self.swarm, controller.mind, rounds, self.settings.sensing, self._slope)
        return self.cycles

    @property
    def cycles(self) -> int:
        """Cycles since the start, as the source counts them."""
        return self._rounds * CYCLES_PER_ROUND

    @property
    def flat(self) -> bool:
        """Whether the terrain is flat."""
        return bool(is_flat(self.swarm.tally, self._slope))

    def controllers(self) -> dict[str, Callable[[np.random.SeedSequence], Controller]]:
        """The three rules of the source, and random."""
        rules = (Rule(kind="probabilistic"), Rule(kind="memetic"), Rule(kind="pool"))
        made = {str(rule.kind): partial(LevelingController, rule, self.settings.agents) for rule in rules}
        return made | super().controllers()

    def frame(self) -> Frame:
        """The terrain, and where the agents are."""
        agents, tally = self.swarm.agents, self.swarm.tally
        return {
            "time": np.float64(self.cycles),
            "heights": self.swarm.heights,
            "agent_x": agents["x"],
            "agent_y": agents["y"],
            "carrying": agents["carrying"],
            "average": agents["average"],
            "range": tally[HIGH] - tally[LOW],
            "moved": tally[MOVED],
        }

    def render(self) -> NDArray[np.uint8]:
        """The terrain from above, in shades of earth, agents in white and, when carrying, in red: (8 ny, 8 nx, 3)."""
        top = max(int(self.swarm.tally[HIGH]), 1)
        shade = self.swarm.heights[:, :, None] / top
        picture = (np.array([60.0, 45.0, 35.0]) + shade * np.array([170.0, 140.0, 90.0])).astype(np.uint8)
        picture = np.repeat(np.repeat(picture, 8, 0), 8, 1)
        for agent in self.swarm.agents:
            y, x = 8 * agent["y"], 8 * agent["x"]
            picture[y + 2 : y + 6, x + 2 : x + 6] = (220, 40, 40) if agent["carrying"] else (255, 255, 255)
        return np.flipud(picture)

    def _observe(self) -> NDArray[np.float32]:
        agents = self.swarm.agents
        known = [agents["height"], agents["average"], agents["carrying"]]
        return np.column_stack([*known, free_neighbours(self.swarm.occupied, agents)]).astype(np.float32)

    def _info(self) -> dict[str, Any]:
        tally = self.swarm.tally
        return {"cycles": self.cycles, "range": int(tally[HIGH] - tally[LOW]), "moved": int(tally[MOVED])}
