"""What the studies of avoidance share: the source's world and learner, and how agents are trained and tested."""

from collections.abc import Mapping, Sequence

import numpy as np

from sandlot.kernels.randomness import streams
from sandlot.learning.dqn import STEPPED, Dqn, Learner, Stage, Test, shares_of
from sandlot.recordings import Quantity
from sandlot.typing import Array
from sandlot.worlds.avoid.settings import AvoidSettings

SOURCE = "Huete 2020"
PRIZE = 50.0
"""Of the goal with the source's proportional reward. It gives no number; with a small one, waiting near the goal is
worth more than the goal."""
WORLD = AvoidSettings(reward="proportional", prize=PRIZE)
"""The source's: exact moves, and a reward in proportion to the distance."""
LEARNER = Dqn()
"""The source's, at the optimum of its sweep."""
EASY = (Stage(kinds={"easy": 1.0}),)
UNSEEN = 2_000_000_000
"""Spawn key of the seeds of tests, which no training uses."""
BIN = 10
"""Episodes of a point of a learning curve, as in the source's figure 59."""

CURVE: dict[str, Quantity] = {
    "rewards": Quantity("1", "mean sum of rewards of an episode, over 10 episodes", ("tens",), (0,)),
    "goals": Quantity("1", "share of 10 episodes that reached the goal", ("tens",), (0,)),
    "epsilons": Quantity("1", "share of random moves, at the last of 10 episodes", ("tens",), (0,)),
}
"""Outcomes of a training."""


def train(
    learner: Dqn,
    world: AvoidSettings,
    seed: np.random.SeedSequence,
    episodes: int,
    stages: Sequence[Stage] = STEPPED,
) -> tuple[Learner, Array]:
    """Train an agent.

    Returns:
        The agent, and its learning curve: (episodes, 3) as `Learner.learn` returns.
    """
    agent = Learner(learner, world, seed)
    return agent, agent.learn(shares_of(stages, episodes))


def curve_of(episodes: Array) -> Mapping[str, Array]:
    """The values of `CURVE`, from a learning curve (episodes, 3)."""
    whole = len(episodes) // BIN * BIN
    tens = episodes[:whole].reshape(-1, BIN, 3)
    return {"rewards": tens[:, :, 0].mean(axis=1), "goals": tens[:, :, 1].mean(axis=1), "epsilons": tens[:, -1, 2]}


def smooth(values: Array, width: int = 10) -> Array:
    """Running mean over so many points: (n - width + 1,)."""
    return np.convolve(values, np.full(width, 1.0 / width), mode="valid")


def examine(agent: Learner, kind: str, count: int, seed: int, world: AvoidSettings | None = None) -> Test:
    """Test an agent without random moves in situations that no training has seen, the same for all agents."""
    unseen = np.random.SeedSequence(seed, spawn_key=(UNSEEN,))
    return agent.test(kind, streams(unseen, count), world)
