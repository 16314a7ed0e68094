"""Training of the avoider that comes with the package: many agents learn at once, and the best is kept."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from sandlot.kernels.randomness import streams
from sandlot.learning.dqn import ALL, STEADY, Dqn, Learner, Stage, train_population
from sandlot.models.card import Card
from sandlot.models.dense import Dense
from sandlot.places.situations import KINDS
from sandlot.settings import Settings
from sandlot.worlds.avoid.settings import AvoidSettings


class AvoiderTraining(Settings):
    """Settings of the training.

    Attributes:
        dqn: How agents learn.
        world: Where.
        stages: Of the curriculum.
        episodes: Of each agent.
        agents: How many learn; they differ in their seeds.
        chosen_by: Kinds of situations by whose mean success the best agent is chosen.
        tests: Situations of each kind in which agents are compared, and others in which the best is tested.
        seed: Of everything random.
    """

    dqn: Dqn = STEADY
    world: AvoidSettings = AvoidSettings(fidelity="reference")
    stages: tuple[Stage, ...] = Field(ALL, min_length=1)
    episodes: int = Field(4000, ge=1)
    agents: int = Field(6, ge=1)
    chosen_by: tuple[str, ...] = Field(("medium", "hard", "obstacle", "wall"), min_length=1)
    tests: int = Field(500, ge=1)
    seed: int = Field(0, ge=0)


def make_learners(settings: AvoiderTraining, seed: np.random.SeedSequence) -> list[Learner]:
    """The agents; each has its own seed, a child of this one."""
    return [Learner(settings.dqn, settings.world, each) for each in seed.spawn(settings.agents)]


def best_of(learners: Sequence[Learner], kinds: Sequence[str], starts: NDArray[np.uint64]) -> Learner:
    """The agent with the largest mean success over kinds of situations, which begin with these random numbers."""
    scores = [np.mean([each.test(kind, starts).success for kind in kinds]) for each in learners]
    return learners[int(np.argmax(scores))]


def train(
    settings: AvoiderTraining,
    threads: int | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[Dense, Card]:
    """Train avoiders and keep the best.

    Args:
        settings: Of the training.
        threads: As many as there are cores if None; the result does not depend on it.
        progress: Called with the number of agents that have learned, and of all.

    Returns:
        The net, for `sandlot.control.navigation.avoiding.Avoider`, and its card.
    """
    agents, compared, tested = np.random.SeedSequence(settings.seed).spawn(3)
    learners = make_learners(settings, agents)
    train_population(learners, settings.stages, settings.episodes, threads, progress)
    best = best_of(learners, settings.chosen_by, streams(compared, settings.tests))
    starts = streams(tested, settings.tests)
    errors = {
        f"failures of kind {kind} in {settings.tests} new situations at fidelity {settings.world.fidelity} [1]": round(
            1.0 - best.test(kind, starts).success, 4
        )
        for kind in KINDS
    }
    card = Card(
        kind="dense",
        description="avoider: values of four moves of a tracked rover near obstacles, trained by deep Q-learning",
        errors=errors,
        settings={"training": settings.model_dump(mode="json"), "lines": settings.world.lines},
    )
    return best.net, card
