"""Training of the climber that comes with the package: `train` makes the net and its card."""

from collections.abc import Callable

import numpy as np
from pydantic import Field

from sandlot.learning.climbing import ClimbBatch, Randomness, Reward
from sandlot.learning.obstacle_pool import NAMES, SteepStairs
from sandlot.learning.ppo import Nets, Ppo, Update, learn
from sandlot.models.card import Card
from sandlot.robots.climber import Climber
from sandlot.settings import Settings
from sandlot.typing import IntArray

LAST = 0.1
"""Share of the iterations, the last ones, whose failures the card states."""


class ClimberTraining(Settings):
    """Settings of the training.

    Attributes:
        robots: How many robots step together.
        ppo: Settings of the search.
        randomness: How robots differ.
        reward: What a step is worth.
        courses: Obstacles of each kind and level.
        steep: Steep stairs; without a share of the robots there are none.
        patience: A robot that has not come further for so long is stuck [s].
        seed: Of everything random.
    """

    robots: int = Field(2048, ge=1)
    ppo: Ppo = Ppo()
    randomness: Randomness = Randomness()
    reward: Reward = Reward()
    courses: int = Field(60, ge=1)
    steep: SteepStairs = SteepStairs()
    patience: float = Field(4.0, gt=0.0)
    seed: int = Field(0, ge=0)


def train(
    climber: Climber,
    settings: ClimberTraining,
    threads: int = 1,
    progress: Callable[[Update, dict[str, tuple[float, float]]], None] = lambda update, kinds: None,
    start: tuple[Nets, Card] | None = None,
) -> tuple[Nets, Card]:
    """Train a climber at fidelity ``fast``.

    Args:
        climber: The robot that all robots are like.
        settings: Of the training.
        threads: That simulate robots; the result does not depend on it.
        progress: Called after each iteration with, of each kind of obstacle, the mean level from 0 to 9, and the share
            of episodes since the last call that passed; NaN if none ended.
        start: A climber to train further, and its card, which the new card holds.

    Returns:
        The nets, of which the policy is for `sandlot.control.climbing.policy.ClimbPolicy`, and its card.

    Raises:
        ModelError: If the climber to train further has other layers than the settings ask for.
    """
    robots_seed, net_seed = np.random.SeedSequence(settings.seed).spawn(2)
    batch = ClimbBatch(
        climber,
        settings.robots,
        np.random.default_rng(robots_seed),
        randomness=settings.randomness,
        reward=settings.reward,
        each=settings.courses,
        steep=settings.steep,
        patience=settings.patience,
        threads=threads,
    )
    outcomes: list[IntArray] = []

    def report(update: Update) -> None:
        kinds = {}
        for number, name in enumerate(NAMES):
            if not (batch.kinds == number).any():
                continue
            ended, passed = batch.outcomes[number].tolist()
            share = passed / ended if ended else float("nan")
            kinds[name] = float(batch.levels[batch.kinds == number].mean()), share
        outcomes.append(batch.outcomes.copy())
        batch.outcomes[:] = 0
        progress(update, kinds)

    nets = learn(batch, settings.ppo, net_seed, report, None if start is None else start[0])
    before = {} if start is None else {"before": start[1].settings.get("training", {})}
    card = Card(
        kind="dense",
        description="climber: axle rates and belt speed of a tracked robot, trained by PPO at fidelity fast",
        errors=failures(outcomes),
        settings={"training": {**settings.model_dump(mode="json"), **before}},
    )
    return nets, card


def failures(outcomes: list[IntArray]) -> dict[str, float]:
    """Share of episodes that failed on each kind of obstacle in the last `LAST` of the iterations, for the card.

    Args:
        outcomes: Of each iteration, (kinds, 2) episodes that ended, and how many of them passed.
    """
    last = outcomes[-max(round(LAST * len(outcomes)), 1) :]
    total = np.sum(last, axis=0).tolist()
    return {
        f"failures on {kind} in the last {len(last)} iterations of training [1]": round(1.0 - passed / ended, 4)
        for kind, (ended, passed) in zip(NAMES, total, strict=True)
        if ended
    }
