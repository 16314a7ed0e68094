"""State and rules of the leveling world for a number of swarms. `Leveling` has one of them, `LevelingVector` many."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.spaces import Box, MultiDiscrete
from numpy.typing import NDArray

from sandlot.control.leveling import CYCLES_PER_ROUND
from sandlot.errors import SandlotError, SettingError
from sandlot.physics.swarm import (
    AGENT,
    CEILING,
    HIGH,
    LOW,
    MOVED,
    PUT_DOWN,
    STEEP,
    Swarm,
    check_cells,
    place,
    see_free,
    sense,
    step_each,
)
from sandlot.typing import Array, BoolArray, IntArray
from sandlot.worlds.leveling.settings import LevelingSettings

ACTION = f"hand (0 to {PUT_DOWN}) and feet (0 to 8) of each agent"
CYCLE = 1.0
"""Duration of a cycle, chosen here: the source counts cycles only [s]."""
HIGHEST = np.array([CEILING, CEILING] + 9 * [1], np.float32)
"""Upper bounds of an agent's observation: height, mean estimate, carrying, eight free neighbours; the lower are 0."""


class LevelingTask:
    """Swarms that level their terrains.

    Attributes:
        shape: (ny, nx) of a terrain [cell].
        slope: Maximum gradient of flat ground [unit/cell]; negative if the range of heights counts.
        swarms: As a `Swarm` whose arrays have a leading axis.
        rounds: (count,) since the start; each is two cycles of the source.
    """

    def __init__(self, settings: LevelingSettings, count: int = 1) -> None:
        """Make room for the swarms; `restart` places them.

        Raises:
            SandlotError: If an image cannot be read, or there are more agents than cells.
        """
        self.settings, n = settings, settings.agents
        # The size of an image is known only after it has been read.
        image = isinstance(settings.terrain, Path)
        self.shape = settings.heights(np.random.default_rng()).shape if image else settings.shape
        if n > math.prod(self.shape):
            raise SettingError(f"agents={n} on {math.prod(self.shape)} cells; allowed are 1 to {math.prod(self.shape)}")
        self.slope = settings.slope if settings.flatness == "gradient" else -1.0
        self.swarms = Swarm(
            np.zeros((count, *self.shape), np.int16),
            np.zeros((count, *self.shape), np.bool_),
            np.zeros((count, n), AGENT),
            np.zeros((count, CEILING + 1), np.int64),
            np.zeros((count, 4), np.int64),
        )
        self.rounds, self._mean = np.zeros(count, np.int64), np.zeros(count)

    def swarm(self, number: int) -> Swarm:
        """One of the swarms; its arrays are views."""
        return Swarm(*(each[number] for each in self.swarms))

    def check_heights(self, heights: Any) -> NDArray[Any]:
        """Refuse a terrain of another size, or with impossible heights.

        Raises:
            SandlotError: If it has either.
        """
        try:
            found = np.asarray(heights, np.float64)
        except (TypeError, ValueError):
            raise SettingError(f"the given heights are not numbers of shape {self.shape}") from None
        if found.shape != self.shape:
            raise SettingError(f"the given heights are of shape {found.shape}; this world's are {self.shape}")
        check_cells(found)
        return found

    def restart(self, which: IntArray, rng: Sequence[np.random.Generator], heights: NDArray[Any] | None = None) -> None:
        """Give some swarms a new terrain, or a checked one, and place their agents; each has its own generator."""
        settings = self.settings
        for k, chance in zip(which.tolist(), rng, strict=True):
            ground = settings.heights(chance) if heights is None else heights
            seeds = np.random.SeedSequence(int(chance.integers(2**63)))
            placed = place(ground, settings.agents, seeds, self.slope)
            sense(placed.heights, placed.agents, settings.sensing)
            for name in placed._fields:
                getattr(self.swarms, name)[k] = getattr(placed, name)
            self.rounds[k], self._mean[k] = 0, float(placed.heights.mean())

    def act(self, actions: Array) -> Array:
        """Let every agent act, then sense.

        Args:
            actions: (count, agents, 2) hand and feet.

        Returns:
            (count, agents) rewards [unit^2].

        Raises:
            SandlotError: If an action is out of range.
        """
        if not np.all((actions >= 0) & (actions <= (PUT_DOWN, 8))):
            raise SandlotError(f"an action is {ACTION}; some are out of range")
        agents = self.swarms.agents
        height, carried = agents["height"] - self._mean[:, None], agents["carrying"].astype(np.float64)
        hands, moves = np.ascontiguousarray(np.moveaxis(actions, -1, 0), np.int8)
        step_each(self.swarms, hands, moves, self.settings.sensing, self.slope)
        self.rounds += 1
        change = carried - agents["carrying"]
        return -change * (2.0 * height + change)

    def observe(self) -> NDArray[np.float32]:
        """Observations as `Leveling` describes them: (count, agents, 11)."""
        agents, seen = self.swarms.agents, np.empty((*self.swarms.agents.shape, HIGHEST.size), np.float32)
        for k, name in enumerate(("height", "average", "carrying")):
            seen[..., k] = agents[name]
        see_free(self.swarms.occupied, agents, seen[..., 3:])
        return seen

    @property
    def cycles(self) -> IntArray:
        """Cycles since the start, as the source counts them: (count,)."""
        return self.rounds * CYCLES_PER_ROUND

    @property
    def flat(self) -> BoolArray:
        """Which terrains are flat: (count,)."""
        tally = self.swarms.tally
        level: BoolArray = tally[:, STEEP] == 0 if self.slope >= 0.0 else tally[:, HIGH] - tally[:, LOW] <= 1
        return level

    def ends(self) -> tuple[BoolArray, BoolArray]:
        """Which terrains are flat; none is cut off: (count,) each."""
        return self.flat, np.zeros(len(self.rounds), np.bool_)

    def values(self) -> Mapping[str, NDArray[Any]]:
        """What ``info`` holds: (count,) each."""
        tally = self.swarms.tally
        known = {"cycles": self.cycles, "height_range": tally[:, HIGH] - tally[:, LOW]}
        return {**known, "units_moved": tally[:, MOVED].copy(), "is_success": self.flat}

    def outcomes(self) -> dict[str, Array]:
        """Results so far, as `Leveling` names them: (count,) each."""
        values = dict(self.values())
        values["flat"] = values.pop("is_success")
        return {key: value.astype(np.float64) for key, value in values.items()}


def spaces(agents: int) -> tuple[Box, MultiDiscrete]:
    """The observation and the action space of a swarm."""
    seen = Box(0.0, np.tile(HIGHEST, (agents, 1)), (agents, HIGHEST.size), np.float32)
    return seen, MultiDiscrete(np.tile([3, 9], (agents, 1)))
