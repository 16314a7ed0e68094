"""Rewards of the avoid world: binary and proportional, as in the source, and of progress."""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field

from sandlot.recordings import Quantity
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Study, pick, study
from sandlot.studies.indoor.agents import BIN, CURVE, LEARNER, PRIZE, SOURCE, curve_of, examine, smooth, train
from sandlot.studies.plots import COLOURS, canvas
from sandlot.typing import Array
from sandlot.worlds.avoid.settings import AvoidSettings

Name = Literal["binary", "proportional", "proportional, small prize", "progress"]
WORLDS: dict[str, AvoidSettings] = {
    "binary": AvoidSettings(reward="binary"),
    "proportional": AvoidSettings(reward="proportional", prize=PRIZE),
    "proportional, small prize": AvoidSettings(reward="proportional", prize=10.0),
    "progress": AvoidSettings(),
}
HAZARD = (-0.6, 0.3)
"""Where the obstacle of the figure is; the goal is at the origin [m]."""
SIZE = 0.15
"""Its radius [m]."""


@study("indoor.rewards", source=f"{SOURCE}, figure 58")
class Rewards(Study):
    """Does a reward in proportion to the distance teach better than one at the end alone?

    The source's learner learns in easy and then in medium situations, with exact moves. The binary reward is 0 until
    the end. The proportional one is 1 - d^beta, d the distance to the goal, also from the source. It gives no number
    for the reward of the goal: with a prize of 10, an agent earns more by waiting near the goal than at it, and 50
    makes that unattractive. The reward of progress is ours: by how much the distance has become shorter.

    Attributes:
        rewards: Which rewards.
        replicates: Agents with each.
        episodes: Of each agent.
        tested: Unseen situations of each kind.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "reached_easy": Quantity("1", "share of unseen easy situations in which the goal is reached"),
        "reached_medium": Quantity("1", "share of unseen medium situations in which the goal is reached"),
        **CURVE,
    }

    rewards: Annotated[tuple[Name, ...], Field(min_length=1), AfterValidator(distinct)] = (
        "binary",
        "proportional",
        "proportional, small prize",
        "progress",
    )
    replicates: int = Field(4, ge=1, le=1000)
    episodes: int = Field(4000, ge=BIN)
    tested: int = Field(500, ge=1)

    def jobs(self) -> Iterator[Job]:
        """Every reward, several times."""
        return self.cross(reward=self.rewards, replicate=range(self.replicates))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Train and test an agent."""
        agent, episodes = train(LEARNER, WORLDS[str(job.parameters["reward"])], job.seed, self.episodes)
        return {
            "reached_easy": examine(agent, "easy", self.tested, self.seed).success,
            "reached_medium": examine(agent, "medium", self.tested, self.seed).success,
            **curve_of(episodes),
        }

    def figure(self, results: xr.Dataset) -> Figure:
        """Rewards around a goal (centre) and an obstacle, as in figure 58; and goals reached during training."""
        figure, axes = canvas(3, 14.0, 4.2)
        for panel, kind in zip(axes, ("proportional", "binary"), strict=False):
            shown = panel.imshow(reward_map(WORLDS[kind]), extent=(-1.5, 1.5, -1.5, 1.5), origin="lower", cmap="RdYlGn")
            panel.set(title=f"{kind} reward", xlabel="x [m]", ylabel="y [m]")
            panel.grid(visible=False)
            figure.colorbar(shown, ax=panel, shrink=0.8)
        for name, colour in zip(self.rewards, COLOURS, strict=False):
            curves = pick(results, reward=name)["goals"].values
            mean = smooth(curves.mean(axis=0), min(20, curves.shape[1]))
            axes[2].plot(BIN * np.arange(len(mean)), mean, color=colour, label=name)
        axes[2].set(xlabel="episode", ylabel="share of goals reached, with random moves", ylim=(0.0, 1.0))
        axes[2].legend(fontsize=8)
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """What the source says of its rewards."""
        means = {name: pick(results, reward=name)["reached_easy"].values for name in self.rewards}
        said = {
            name: f"{values.mean():.0%} ({values.min():.0%} to {values.max():.0%})" for name, values in means.items()
        }
        found = []
        if {"binary", "proportional"} <= set(means):
            found.append(
                Claim(
                    "A proportional reward teaches better than a binary one.",
                    "considered better",
                    f"proportional {said['proportional']}, binary {said['binary']} of unseen easy situations",
                    bool(means["proportional"].mean() > means["binary"].mean()),
                    f"mean of {self.replicates} agents each, and their range",
                )
            )
        if {"proportional", "proportional, small prize"} <= set(means):
            found.append(
                Claim(
                    "With a small prize, agents learn to wait near the goal.",
                    f"{said['proportional']} with a prize of {PRIZE:g}",
                    said["proportional, small prize"],
                    bool(means["proportional, small prize"].mean() < 0.5 * means["proportional"].mean()),
                    "goals reached in unseen easy situations; holds if less than half as many",
                )
            )
        if {"progress", "proportional"} <= set(means):
            found.append(
                Claim(
                    "A reward of progress teaches better than both of the source's.",
                    said["proportional"],
                    said["progress"],
                    bool(means["progress"].mean() > max(each.mean() for k, each in means.items() if k != "progress")),
                    "goals reached in unseen easy situations",
                )
            )
        return found


def reward_map(world: AvoidSettings, cells: int = 150) -> Array:
    """Reward of a move that ends at each place around a goal, with an obstacle at `HAZARD`: (cells, cells)."""
    x, y = np.meshgrid(*[np.linspace(-1.5, 1.5, cells)] * 2)
    distance, room = np.hypot(x, y), np.hypot(x - HAZARD[0], y - HAZARD[1]) - SIZE
    values = 1.0 - (distance / world.reach) ** world.exponent if world.reward == "proportional" else 0.0 * distance
    values = np.where(distance <= world.near, 2.0, values)  # drawn as 2, as the prize would hide the slope
    return np.where(room < world.robot.radius, -2.0, values)
