"""The leveling world for multi-agent learning, as a PettingZoo parallel environment."""

from typing import Any

import numpy as np
from gymnasium.spaces import Box, MultiDiscrete
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from sandlot.worlds.base import check_render_mode
from sandlot.worlds.leveling.task import HIGHEST
from sandlot.worlds.leveling.world import Leveling
from sandlot.worlds.picture import from_above

Each = dict[str, Any]


class LevelingParallel(ParallelEnv[str, NDArray[np.float32], NDArray[Any]]):
    """The leveling world with one observation, action and reward per agent.

    Agents are named ``agent_0``, ``agent_1``, and so on, in the order of the world. An agent observes its row of the
    world's observation (11,), acts with hand and feet (2,), and gets the part of the world's reward that its own action
    caused. All agents end together, when the terrain is flat.
    """

    metadata = {"name": "sandlot_leveling_v0", "render_modes": ["rgb_array"]}

    def __init__(self, render_mode: str | None = None, **given: Any) -> None:
        """Make the world; ``given`` are the settings of `Leveling`, as an object or as keywords."""
        check_render_mode(render_mode, list(self.metadata["render_modes"]))
        self.world = Leveling(**given)
        self.render_mode = render_mode
        self.possible_agents = [f"agent_{i}" for i in range(self.world.settings.agents)]
        self.agents: list[str] = []
        self._observation_spaces = {name: Box(0.0, HIGHEST, dtype=np.float32) for name in self.possible_agents}
        self._action_spaces = {name: MultiDiscrete([3, 9]) for name in self.possible_agents}

    def observation_space(self, agent: str) -> Box:
        """Observation space of an agent."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> MultiDiscrete:
        """Action space of an agent."""
        return self._action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Each, Each]:
        """Begin an episode, as `Leveling.reset` does."""
        observation, info = self.world.reset(seed=seed, options=options)
        self.agents = list(self.possible_agents)
        return self._each(observation), {name: dict(info) for name in self.agents}

    def step(self, actions: Each) -> tuple[Each, Each, Each, Each, Each]:
        """Let every agent act, then sense."""
        wanted = np.stack([actions[name] for name in self.possible_agents])
        observation, gains, flat, info = self.world.advance(wanted)
        rewards = {name: float(gain) for name, gain in zip(self.possible_agents, gains, strict=True)}
        names = self.possible_agents
        infos = {name: dict(info) for name in names}
        if flat:
            self.agents = []
        return self._each(observation), rewards, dict.fromkeys(names, flat), dict.fromkeys(names, False), infos

    def render(self) -> NDArray[np.uint8]:
        """The terrain from above."""
        return from_above(self.world.scene())

    def _each(self, rows: NDArray[Any]) -> Each:
        return dict(zip(self.possible_agents, rows, strict=True))
