"""Deep Q-learning as the source describes it, and what has been learned since, switched on one by one."""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field

from sandlot.learning.dqn import MODERN, Dqn
from sandlot.recordings import Quantity
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Study, pick, study
from sandlot.studies.indoor.agents import BIN, CURVE, LEARNER, SOURCE, WORLD, curve_of, examine, train
from sandlot.studies.plots import COLOURS, bars, canvas
from sandlot.typing import Array
from sandlot.worlds.avoid.settings import AvoidSettings

PLAIN = MODERN.model_copy(
    update={
        "hidden": (32, 32),
        "double": False,
        "dueling": False,
        "steps": 1,
        "prioritised": False,
        "munchausen": False,
    }
)
OPTIONS: dict[str, dict[str, object]] = {
    "double": {"double": True},
    "dueling": {"dueling": True},
    "three moves": {"steps": 3},
    "prioritised": {"prioritised": True},
    "munchausen": {"munchausen": True},
}
ALL = {key: value for option in OPTIONS.values() for key, value in option.items()}
LEARNERS: dict[str, Dqn] = {
    "source, by episodes": LEARNER.model_copy(update={"unit": "episodes"}),
    "source": LEARNER,
    "plain": PLAIN,
    **{name: PLAIN.model_copy(update=change) for name, change in OPTIONS.items()},
    "all": PLAIN.model_copy(update=ALL),
}
"""By name: the source's, in two readings; one with Adam and more batches; that with each method; and with all."""
OURS = AvoidSettings()
TENTH = 0.1
"""Share of the episodes, the first and the last, whose rewards are compared."""


@study("indoor.dqn", source=f"{SOURCE}, figure 59")
class DeepQ(Study):
    """Does deep Q-learning as the source describes it learn to avoid obstacles, and what do later methods add?

    Agents learn in easy and then in medium situations, with exact moves. ``source`` trains on a batch of 64 moves after
    every 5, and copies its net after every 50. The source says after so many episodes, but uses that word for single
    moves, too; ``source, by episodes`` takes it at its word. ``plain`` uses Adam, ten batches after each episode and
    the reward of progress; the others add double Q-learning, dueling heads, returns over three moves, prioritised
    replay or Munchausen rewards to it, or all of them. Agents are tested without random moves in unseen situations.

    Attributes:
        learners: Which learners.
        replicates: Agents of each.
        episodes: Of each agent.
        tested: Unseen situations of each kind.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "reached_easy": Quantity("1", "share of unseen easy situations in which the goal is reached"),
        "reached_medium": Quantity("1", "share of unseen medium situations in which the goal is reached"),
        "batches": Quantity("1", "batches that it learned from"),
        **CURVE,
    }

    learners: Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(distinct)] = tuple(LEARNERS)
    replicates: int = Field(3, ge=1, le=1000)
    episodes: int = Field(4000, ge=BIN)
    tested: int = Field(500, ge=1)

    def jobs(self) -> Iterator[Job]:
        """Every learner, several times."""
        return self.cross(learner=self.learners, replicate=range(self.replicates))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Train and test an agent."""
        name = str(job.parameters["learner"])
        agent, episodes = train(LEARNERS[name], WORLD if name.startswith("source") else OURS, job.seed, self.episodes)
        return {
            "reached_easy": examine(agent, "easy", self.tested, self.seed).success,
            "reached_medium": examine(agent, "medium", self.tested, self.seed).success,
            "batches": float(agent.agent.counts[1]),
            **curve_of(episodes),
        }

    def figure(self, results: xr.Dataset) -> Figure:
        """Left: mean reward of 10 episodes and epsilon, as in figure 59. Right: goals reached in unseen situations."""
        figure, axes = canvas(2, 13.0, 4.6)
        for name, colour in (("source", COLOURS[0]), ("source, by episodes", COLOURS[5])):
            mine = pick(results, learner=name)
            for k in range(mine.sizes["job"]):
                rewards, label = mine["rewards"].values[k], name if k == 0 else None
                axes[0].plot(BIN * np.arange(len(rewards)), rewards, color=colour, linewidth=0.6, label=label)
        axes[0].set(xlabel="episode", ylabel="mean sum of rewards of 10 episodes")
        other = axes[0].twinx()
        epsilons = results["epsilons"].values[0]
        other.plot(BIN * np.arange(len(epsilons)), epsilons, color=COLOURS[1])
        other.set_ylabel("epsilon", color=COLOURS[1])
        axes[0].legend(loc="upper left")
        groups = {
            name.replace(", ", ",\n"): {
                "easy": pick(results, learner=name)["reached_easy"].values,
                "medium": pick(results, learner=name)["reached_medium"].values,
            }
            for name in self.learners
        }
        bars(axes[1], groups)
        axes[1].tick_params(axis="x", labelsize=7, rotation=30)
        axes[1].set(ylabel="share of goals reached", ylim=(0.0, 1.02))
        axes[1].legend(loc="upper left")
        return figure

    def _gain(self, rewards: Array) -> tuple[float, float]:
        """Mean rewards of the first and of the last tenth of the episodes."""
        count = max(round(TENTH * rewards.shape[-1]), 1)
        return float(rewards[..., :count].mean()), float(rewards[..., -count:].mean())

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """What figure 59 shows, and what later methods add."""
        found = []
        for name, words in (
            ("source", "With a training after every 5 moves, rewards rise as random moves get fewer."),
            ("source, by episodes", "With a training after every 5 episodes, as its words say, rewards rise as well."),
        ):
            mine = pick(results, learner=name)
            if mine.sizes["job"]:
                first, last = self._gain(mine["rewards"].values)
                each = [self._gain(rewards) for rewards in mine["rewards"].values]
                found.append(
                    Claim(
                        words,
                        "they rise (figure 59)",
                        f"from {first:.1f} to {last:.1f}",
                        all(after > before for before, after in each),
                        f"mean sums of rewards of the first and the last tenth of the episodes, in each of {len(each)} "
                        f"agents; {mine['batches'].values.mean():,.0f} batches; then "
                        f"{mine['reached_easy'].values.mean():.0%} of unseen easy situations",
                    )
                )
        plain = pick(results, learner="plain")["reached_medium"].values
        for name in OPTIONS:
            shares = pick(results, learner=name)["reached_medium"].values
            if len(shares) and len(plain):
                found.append(
                    Claim(
                        f"Added alone, {name} reaches more goals in medium situations than without.",
                        f"{plain.mean():.1%} without",
                        f"{shares.mean():.1%}",
                        bool(shares.mean() > plain.mean()),
                        f"means of {len(shares)} agents, {shares.min():.0%} to {shares.max():.0%}; without "
                        f"{plain.min():.0%} to {plain.max():.0%}",
                        undecided="" if apart(shares, plain) else "agents with and without it overlap",
                    )
                )
        shares = pick(results, learner="all")["reached_medium"].values
        if len(shares):
            found.append(
                Claim(
                    "With all of them, every agent reaches at least 90% of the goals in medium situations.",
                    0.9,
                    f"{shares.min():.1%} to {shares.max():.1%}",
                    bool((shares >= 0.9).all()),
                    f"{len(shares)} agents, {self.tested} unseen situations each",
                )
            )
        return found


def apart(one: Array, other: Array) -> bool:
    """Whether all values of one group lie above, or all below, those of the other."""
    return bool(one.min() > other.max() or one.max() < other.min())
