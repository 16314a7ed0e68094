"""Deep Q-learning of the avoid world: settings of a learner, and many learners at once.

Agents learn in compiled code without Python's lock, so that a population of them uses all cores of one process. An
agent's result does not depend on the others, or on the number of threads.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from sandlot.errors import SettingError
from sandlot.kernels.randomness import uniform
from sandlot.learning.q_learning import ACTIONS, OWNER, Agent, Recipe, act, evaluate, learn, study
from sandlot.learning.q_net import as_dense, count_parameters, draw_parameters, make_work
from sandlot.learning.replay import make_memory, remember
from sandlot.models.dense import Dense
from sandlot.places.situations import KINDS
from sandlot.settings import Settings, nearest
from sandlot.typing import Array, IntArray
from sandlot.worlds.avoid.settings import AvoidSettings
from sandlot.worlds.avoid.task import make_rules, one_rover


class Dqn(Settings):
    """How an agent learns. Defaults are those of Huete 2020, 6.10; what it does not say was chosen here.

    `MODERN` and `STEADY` have what has been learned since.

    Attributes:
        hidden: Neurons of each hidden layer; chosen.
        rate: Learning rate, the source's alpha.
        optimiser: ``sgd``, which is the source's update of Q for a net, or ``adam``.
        clip: Errors beyond this change the net no more than this one, relative to a prize of 1; 0 for no limit.
        discount: Of rewards, gamma.
        epsilon_decay: Factor of the share of random moves after each episode; the share is 1 at first.
        epsilon_least: The share does not fall below this.
        memory: Number of moves that are remembered; chosen.
        batch: Moves in a batch.
        unit: Whether trainings and copies are counted in moves or in episodes. The source says episodes, a word that
            it also uses for single moves; counted in whole episodes there are too few trainings to learn anything, as
            ``indoor.dqn`` shows.
        train_every: Episodes or moves between trainings.
        updates: Batches of a training.
        target_every: Episodes or moves between copies of the net that acts to the one that gives targets.
        double: Whether the net that learns chooses the action whose value the other net gives; without effect with
            ``munchausen``, which takes a mean over actions instead.
        dueling: Whether the net has one output for the situation and one for the advantage of each action.
        steps: Number of moves whose rewards are summed up before a value is taken.
        prioritised: Whether moves that were predicted badly are learned from more often.
        munchausen: Whether moves that the net finds likely get an extra reward.
        average: At the end of a training, the net that acts and the one that gives targets both become the mean of
            the nets after each of the last episodes, of this share of all; 0 for the last net. Single nets differ much
            from one update to the next in what they can do. `Learner.learn` says when a training ends.
    """

    hidden: tuple[int, ...] = Field((32, 32), min_length=1, max_length=8)
    rate: float = Field(0.02, gt=0.0, le=10.0)
    optimiser: Literal["sgd", "adam"] = "sgd"
    clip: float = Field(0.0, ge=0.0)
    discount: float = Field(0.98, ge=0.0, le=1.0)
    epsilon_decay: float = Field(0.9985, gt=0.0, le=1.0)
    epsilon_least: float = Field(0.0, ge=0.0, le=1.0)
    memory: int = Field(20_000, ge=2, le=10_000_000)
    batch: int = Field(64, ge=1, le=100_000)
    unit: Literal["episodes", "moves"] = "moves"
    train_every: int = Field(5, ge=1)
    updates: int = Field(1, ge=1)
    target_every: int = Field(50, ge=1)
    double: bool = False
    dueling: bool = False
    steps: int = Field(1, ge=1, le=100)
    prioritised: bool = False
    munchausen: bool = False
    average: float = Field(0.0, ge=0.0, le=1.0)

    def recipe(self, prize: float) -> Recipe:
        """For compiled code; rewards are divided by the prize of the world."""
        return Recipe(
            self.rate,
            self.optimiser == "adam",
            self.clip,
            self.discount,
            self.epsilon_decay,
            self.epsilon_least,
            self.unit == "moves",
            self.train_every,
            self.updates,
            self.target_every,
            self.double,
            self.dueling,
            self.steps,
            self.prioritised,
            self.munchausen,
            self.average,
            1.0 / prize,
        )


MODERN = Dqn(
    hidden=(64, 64),
    rate=0.001,
    optimiser="adam",
    clip=1.0,
    discount=0.95,
    epsilon_decay=0.998,
    unit="episodes",
    train_every=1,
    updates=10,
    target_every=20,
    double=True,
    dueling=True,
    steps=3,
    prioritised=True,
    munchausen=True,
)
"""What has been learned since, all of it but averaged weights; chosen after a few trials."""
STEADY = MODERN.model_copy(update={"average": 0.25})
"""The same with averaged weights, with which agents of different seeds differ less: see ``indoor.scenarios``."""


class Stage(Settings):
    """A part of a curriculum.

    Attributes:
        until: Share of all episodes at which it ends.
        kinds: Probability of each kind of situation, relative to each other.
    """

    until: float = Field(1.0, gt=0.0, le=1.0)
    kinds: dict[str, float]

    @field_validator("kinds")
    @classmethod
    def _known_kinds(cls, kinds: dict[str, float]) -> dict[str, float]:
        for name in kinds:
            if name not in KINDS:
                raise ValueError(f"no kind of situation {name!r}; {nearest(name, list(KINDS))}")
        if not (all(0.0 <= each < np.inf for each in kinds.values()) and sum(kinds.values()) > 0.0):
            raise ValueError("probabilities of kinds must not be negative, and not all 0")
        return kinds


STEPPED = (
    Stage(until=0.4, kinds={"easy": 1.0}),
    Stage(until=1.0, kinds={"easy": 0.3, "medium": 0.7}),
)
"""The source's stepped difficulty, with the two difficulties that suited its net; the shares were chosen here."""
ALL = (
    Stage(until=0.1, kinds={"easy": 1.0}),
    Stage(until=1.0, kinds={"easy": 0.15, "medium": 0.3, "hard": 0.25, "obstacle": 0.1, "wall": 0.2}),
)
"""All kinds of situations, after some easy ones."""


def shares_of(stages: Sequence[Stage], episodes: int) -> Array:
    """Cumulative probability of each kind in each episode: (episodes, kinds)."""
    shares, begin = np.ones((episodes, len(KINDS))), 0
    for stage in stages:
        end = round(stage.until * episodes)
        weights = np.array([stage.kinds.get(kind, 0.0) for kind in KINDS])
        shares[begin:end] = np.cumsum(weights) / weights.sum()
        begin = end
    return shares


@dataclass(frozen=True)
class Test:
    """What came of episodes without random moves.

    Attributes:
        rewards: (episodes,) sum of each.
        endings: (episodes,) `sandlot.worlds.avoid.moves.REACHED` and so on.
        moves: (episodes,) number of moves.
    """

    rewards: Array
    endings: IntArray
    moves: IntArray

    @property
    def success(self) -> float:
        """Share of episodes that reached the goal."""
        return float((self.endings == 1).mean())


class Learner:
    """One agent in one world.

    Attributes:
        settings: How it learns.
        world: Where.
        agent: What it has learned, for compiled code.
    """

    def __init__(self, settings: Dqn, world: AvoidSettings, seed: np.random.SeedSequence) -> None:
        """Draw a net.

        Args:
            settings: How it learns.
            world: Settings of the avoid world; its ``situation`` is not used.
            seed: Of its net, its moves and its situations.
        """
        self.settings, self.world = settings, world
        rng = np.random.default_rng(seed)
        self._rules = make_rules(world)
        self._recipe = settings.recipe(world.prize)
        self._rovers = one_rover(world)
        inputs, outputs = self._rovers.seen.shape[1], ACTIONS + settings.dueling
        sizes = np.array([inputs, *settings.hidden, outputs], np.int64)
        online = draw_parameters(sizes, rng)
        work = make_work(sizes, settings.batch)
        owner = np.zeros(1, OWNER)
        owner["stream"], self._rovers.states["stream"] = rng.integers(2**64, size=2, dtype=np.uint64)
        self.agent = Agent(
            sizes,
            online,
            online.copy(),
            np.zeros((2, count_parameters(sizes)), np.float32),
            make_memory(settings.memory, inputs),
            owner,
            np.zeros(4, np.int64),
            np.zeros(count_parameters(sizes)),
            np.ones(1),
            work,
            np.zeros_like(work.values),
            np.zeros(settings.batch, np.int64),
            np.ones(settings.batch, np.float32),
            np.zeros(settings.batch),
            np.zeros((settings.steps, inputs), np.float32),
            np.zeros(settings.steps, np.int64),
            np.zeros(settings.steps),
        )

    def learn(self, shares: Array, total: int | None = None) -> Array:
        """Play one episode for each row of ``shares`` (episodes, kinds), and learn.

        Args:
            shares: Cumulative probability of each kind of situation in each episode.
            total: Episodes of the whole training, if several calls make it: weights are averaged at its end only. If
                left out, the training ends with this call. It may go on after that; another end averages again.

        Returns:
            (episodes, 3) sum of rewards, whether the goal was reached, and the share of random moves.
        """
        curve = np.zeros((len(shares), 3))
        end = int(self.agent.counts[0]) + len(shares) if total is None else total
        learn(self.agent, self._recipe, self._rovers, self._rules, shares, end, curve)
        return curve

    def test(self, kind: str, streams: NDArray[np.uint64], world: AvoidSettings | None = None) -> Test:
        """Play episodes without random moves; the agent stays as it is.

        Args:
            kind: Of situations.
            streams: (episodes,) start of the random numbers of each.
            world: Another world with the same lines, such as one of another fidelity.
        """
        chosen = world or self.world
        found = np.zeros((len(streams), 3))
        rovers, rules = one_rover(chosen), make_rules(chosen)
        evaluate(self.agent, self._recipe, rovers, rules, KINDS.index(kind), streams, found)
        return Test(found[:, 0], found[:, 1].astype(np.int64), found[:, 2].astype(np.int64))

    def continue_from(self, other: "Learner", epsilon: float) -> None:
        """Go on with the net of another agent, and a share of random moves; memories are not taken over.

        Args:
            other: With a net of the same shape.
            epsilon: Share of random moves from now on.

        Raises:
            SettingError: If its net has another shape.
        """
        if self.agent.sizes.tolist() != other.agent.sizes.tolist():
            raise SettingError(
                f"a net of {other.agent.sizes.tolist()} cannot go on as one of {self.agent.sizes.tolist()}"
            )
        self.agent.online[:] = other.agent.online
        self.agent.target[:] = other.agent.online
        self.agent.epsilon[0] = epsilon

    def act(self, observation: NDArray[Any]) -> int:
        """The move that the agent makes, sometimes a random one: observation (4 + lines,)."""
        owner = self.agent.owner[0]
        if uniform(owner) < self.agent.epsilon[0]:
            return int(uniform(owner) * ACTIONS)
        return int(act(self.agent, np.asarray(observation, np.float64), self.settings.dueling))

    def take(self, before: NDArray[Any], action: int, reward: float, after: NDArray[Any], ended: bool) -> None:
        """Learn from a move that was made outside, as on a robot: remember it, and learn from a batch.

        Args:
            before: (4 + lines,) observation before the move.
            action: The move.
            reward: Of the move, in the units of the world.
            after: (4 + lines,) observation after it.
            ended: Whether the episode ended with it.
        """
        rows = np.asarray(before, np.float32), np.asarray(after, np.float32)
        discount = 0.0 if ended else self.settings.discount
        scaled = reward * self._recipe.reward_scale
        remember(self.agent.memory, rows[0], action, scaled, rows[1], discount, self.settings.prioritised)
        self.agent.counts[2] += 1
        study(self.agent, self._recipe._replace(train_every=1, updates=1), int(self.agent.counts[2]))

    @property
    def net(self) -> Dense:
        """The net, to be kept and run."""
        return as_dense(self.agent.online, self.agent.sizes, self.settings.dueling)


def train_population(
    learners: Sequence[Learner],
    stages: Sequence[Stage],
    episodes: int,
    threads: int | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Array:
    """Let many agents learn at once.

    Args:
        learners: They may differ in anything.
        stages: Of the curriculum.
        episodes: Of each agent.
        threads: As many as there are cores if None; results do not depend on it.
        progress: Called with the number of agents that have finished, and of all.

    Returns:
        (agents, episodes, 3) as `Learner.learn` returns.
    """
    shares = shares_of(stages, episodes)
    curves = np.zeros((len(learners), episodes, 3))
    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        for k, curve in enumerate(pool.map(lambda each: each.learn(shares), learners)):
            curves[k] = curve
            progress(k + 1, len(learners))
    return curves
