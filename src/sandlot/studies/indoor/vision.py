"""How many vision lines an avoider needs."""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal

import xarray as xr
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field

from sandlot.learning.dqn import MODERN, Dqn, Stage
from sandlot.recordings import Quantity
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Study, pick, study
from sandlot.studies.indoor.agents import BIN, LEARNER, SOURCE, WORLD, examine, train
from sandlot.studies.plots import COLOURS, canvas, curve
from sandlot.worlds.avoid.settings import AvoidSettings

Name = Literal["source", "ours"]
LEARNERS: dict[str, tuple[Dqn, AvoidSettings]] = {
    "source": (LEARNER, WORLD),
    "ours": (MODERN.model_copy(update={"hidden": (32, 32)}), AvoidSettings()),
}
KINDS = ("easy", "medium", "hard")
STAGES = (
    Stage(until=0.3, kinds={"easy": 1.0}),
    Stage(until=0.6, kinds={"easy": 0.3, "medium": 0.7}),
    Stage(until=1.0, kinds={"easy": 0.2, "medium": 0.3, "hard": 0.5}),
)
"""All three difficulties of the source, one after the other."""
MANY = 8
"""With more lines than this, the source's training crashed."""


@study("indoor.vision", source=f"{SOURCE}, 6.9.1 and 6.10.2")
class Vision(Study):
    """How many vision lines does an avoider need to get around walls?

    Lines are 45 degrees apart around straight ahead; more than eight are evenly all around. Agents learn in easy, then
    in medium, then in hard situations, with exact moves: with the source's learner, and with ours. They are tested
    without random moves in unseen situations.

    Attributes:
        lines: Numbers of lines.
        learners: ``source`` or ``ours``.
        replicates: Agents of each.
        episodes: Of each agent.
        tested: Unseen situations of each kind.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        f"reached_{kind}": Quantity("1", f"share of unseen {kind} situations in which the goal is reached")
        for kind in KINDS
    }

    lines: Annotated[tuple[int, ...], Field(min_length=1), AfterValidator(distinct)] = (0, 1, 3, 5, 8, 16)
    learners: Annotated[tuple[Name, ...], Field(min_length=1), AfterValidator(distinct)] = ("source", "ours")
    replicates: int = Field(3, ge=1, le=1000)
    episodes: int = Field(4000, ge=BIN)
    tested: int = Field(500, ge=1)

    def jobs(self) -> Iterator[Job]:
        """Every number of lines with both learners."""
        return self.cross(learner=self.learners, lines=self.lines, replicate=range(self.replicates))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Train and test an agent."""
        learner, world = LEARNERS[str(job.parameters["learner"])]
        chosen = world.model_copy(update={"lines": int(job.parameters["lines"])})
        agent, _ = train(learner, chosen, job.seed, self.episodes, STAGES)
        return {f"reached_{kind}": examine(agent, kind, self.tested, self.seed).success for kind in KINDS}

    def figure(self, results: xr.Dataset) -> Figure:
        """Goals reached in unseen situations over the number of lines: means of agents, with 95% intervals."""
        figure, axes = canvas(len(self.learners), 5.5 * len(self.learners), 4.2)
        for panel, learner in zip(axes, self.learners, strict=True):
            mine = pick(results, learner=learner)
            for kind, colour in zip(KINDS, COLOURS, strict=False):
                groups = {float(n): pick(mine, lines=n)[f"reached_{kind}"].values for n in self.lines}
                curve(panel, groups, colour, kind)
            panel.set(title=learner, xlabel="vision lines", ylabel="share of goals reached", ylim=(0.0, 1.05))
            panel.legend()
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """What the source says of vision lines."""
        found = []
        most = max(self.lines)
        for learner in self.learners:
            mine = pick(results, learner=learner)
            hard = {n: pick(mine, lines=n)["reached_hard"].values.mean() for n in self.lines}
            medium = {n: pick(mine, lines=n)["reached_medium"].values.mean() for n in self.lines}
            few = [n for n in self.lines if 1 <= n <= MANY]
            if most > MANY and few:
                best = max(few, key=lambda n: medium[n])
                found.append(
                    Claim(
                        f"{learner}: with more than {MANY} lines, training fails.",
                        "crashed, and models were unusable",
                        f"medium situations: {medium[most]:.0%} with {most} lines, {medium[best]:.0%} with {best}",
                        bool(medium[most] < 0.5 * medium[best]),
                        "mean of goals reached; holds if less than half as many as with the best lower number",
                    )
                )
            if len(few) > 1:
                least, widest = min(few), max(few)
                found.append(
                    Claim(
                        f"{learner}: more lines reach more goals in hard situations.",
                        "improved, but not significantly",
                        f"{hard[least]:.0%} with {least}, {hard[widest]:.0%} with {widest}",
                        bool(hard[widest] > hard[least]),
                        f"means of {self.replicates} agents",
                    )
                )
        return found
