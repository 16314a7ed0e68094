"""The source's two scenarios of avoidance: a simple obstacle, and an obstacle beside a wall, which it fails."""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field

from sandlot.control.controller import Controller
from sandlot.control.navigation.avoiding import Avoider, Straight, load_avoider
from sandlot.learning.dqn import ALL, STEADY
from sandlot.recordings import Quantity
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Study, pick, study
from sandlot.studies.indoor.agents import BIN, LEARNER, SOURCE, UNSEEN, WORLD, train
from sandlot.studies.plots import COLOURS, bars, canvas, show
from sandlot.typing import Array, IntArray
from sandlot.worlds.avoid.moves import COLLIDED, LATE, REACHED
from sandlot.worlds.avoid.settings import AvoidSettings
from sandlot.worlds.avoid.vector import AvoidVector
from sandlot.worlds.rollout import rollout

Name = Literal["straight", "source", "ours", "shipped"]
SCENARIOS: tuple[Literal["obstacle"], Literal["wall"]] = ("obstacle", "wall")
BARS = {"obstacle": 0.99, "wall": 0.95}
WORKS, FAILS = 0.9, 0.5
"""The source's avoider works if it reaches more than the first share of goals, and fails if it reaches fewer than the
second."""


@study("indoor.scenarios", source=f"{SOURCE}, 7.2.3")
class Scenarios(Study):
    """Does a trained avoider get around a simple obstacle, and around one beside a wall?

    The source's net passes a simple obstacle after 7 predictions, and fails beside a wall: it drives into the wall, or
    turns left and right without end. ``source`` is its learner, trained with exact moves in easy and medium situations;
    ``ours`` has what has been learned since, and is trained with slip and noise in all kinds of situations; ``shipped``
    is the best of six agents without averaged weights, chosen in other situations; ``straight`` drives at the goal. All
    are tested at ``reference``, with slip and noise, in the same unseen situations.

    Attributes:
        controllers: Which controllers.
        replicates: Agents that are trained of each that is trained.
        episodes: Of each agent.
        tested: Unseen situations of each scenario.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "reached": Quantity("1", "share of situations in which the goal is reached", ("scenario",), (0,)),
        "collided": Quantity("1", "share of situations in which the rover touches something", ("scenario",), (0,)),
        "late": Quantity("1", "share of situations in which it makes too many moves", ("scenario",), (0,)),
        "moves": Quantity("1", "median number of moves to the goal; NaN if never reached", ("scenario",), (0,)),
    }

    controllers: Annotated[tuple[Name, ...], Field(min_length=1), AfterValidator(distinct)] = (
        "straight",
        "source",
        "ours",
        "shipped",
    )
    replicates: int = Field(4, ge=1, le=1000)
    episodes: int = Field(4000, ge=BIN)
    tested: int = Field(500, ge=1)

    def jobs(self) -> Iterator[Job]:
        """Every controller; those that are trained several times."""
        return self.each(
            {"controller": name, "replicate": k}
            for name in self.controllers
            for k in range(self.replicates if name in ("source", "ours") else 1)
        )

    def run(self, job: Job) -> Mapping[str, Found]:
        """Train an agent, and let it drive."""
        controller = self.controller(job)
        found: dict[str, list[float]] = {name: [] for name in self.outcomes}
        for scenario in SCENARIOS:
            endings, moves, _ = self.drive(controller, scenario)
            for name, ending in (("reached", REACHED), ("collided", COLLIDED), ("late", LATE)):
                found[name].append(float((endings == ending).mean()))
            there = moves[endings == REACHED]
            found["moves"].append(float(np.median(there)) if len(there) else np.nan)
        return {name: np.array(values) for name, values in found.items()}

    def controller(self, job: Job) -> Controller:
        """The controller of a job, trained if need be."""
        name = job.parameters["controller"]
        if name == "source":
            return Avoider(train(LEARNER, WORLD, job.seed, self.episodes)[0].net, WORLD.lines)
        if name == "ours":
            world = AvoidSettings(fidelity="reference")
            return Avoider(train(STEADY, world, job.seed, self.episodes, ALL)[0].net, world.lines)
        return Straight() if name == "straight" else load_avoider()

    def drive(self, controller: Controller, scenario: Literal["obstacle", "wall"]) -> tuple[IntArray, IntArray, Array]:
        """Let a controller drive in all unseen situations.

        Returns:
            How each ended and its number of moves: (tested,) each; and places of the first rovers: (moves, 8, 2) [m].
        """
        world = AvoidVector(self.tested, autoreset_mode="Disabled", fidelity="reference", situation=scenario)
        unseen = np.random.SeedSequence(self.seed, spawn_key=(UNSEEN, SCENARIOS.index(scenario)))
        seeds = [int(each) for each in unseen.generate_state(self.tested)]
        endings, moves = np.zeros((2, self.tested), np.int64)
        places = []
        for step in rollout(world, controller, seeds, world.settings.longest):
            ended = step.ended & step.running
            rovers = world.task.rovers
            endings[ended], moves[ended] = rovers.endings[ended], rovers.moves[ended]
            places.append(world.task.poses[:8, :2])
        return endings, moves, np.array(places)

    def figure(self, results: xr.Dataset) -> Figure:
        """Left: goals reached. Right: the shipped avoider in the first situation of each scenario, with its path."""
        figure, axes = canvas(3, 15.0, 4.2)
        groups: dict[str, dict[str, Array]] = {
            {"obstacle": "simple obstacle", "wall": "obstacle beside a wall"}[scenario]: {
                name: pick(results, controller=name)["reached"].values[:, k] for name in self.controllers
            }
            for k, scenario in enumerate(SCENARIOS)
        }
        bars(axes[0], groups)
        axes[0].set(ylabel="share of goals reached", ylim=(0.0, 1.02))
        axes[0].legend(fontsize=8, ncols=4, loc="upper center", bbox_to_anchor=(0.5, 1.12))
        self._draw(axes[1], "obstacle")
        self._draw(axes[2], "wall")
        return figure

    def _draw(self, panel: Axes, scenario: Literal["obstacle", "wall"]) -> None:
        world = AvoidVector(1, autoreset_mode="Disabled", fidelity="reference", situation=scenario)
        unseen = np.random.SeedSequence(self.seed, spawn_key=(UNSEEN, SCENARIOS.index(scenario)))
        scene, places = None, []
        for step in rollout(world, load_avoider(), [int(unseen.generate_state(1)[0])], world.settings.longest):
            scene = next(world.scenes()) if step.number == 0 else scene
            places.append(world.task.poses[0, :2])
        assert scene is not None
        show(panel, scene)
        panel.plot(*np.array(places).T, ".-", color=COLOURS[3], linewidth=1.5)
        panel.set_title(f"{scenario}: {len(places) - 1} moves")

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """What the source reports, and bars of our own."""
        found = []
        for k, (scenario, words, said) in enumerate(
            (
                ("obstacle", "The source's avoider passes a simple obstacle.", "passed, after 7 predictions"),
                ("wall", "The source's avoider fails beside a wall.", "drives into the wall, or turns in loops"),
            )
        ):
            mine = pick(results, controller="source")
            if mine.sizes["job"]:
                reached, collided, late = (mine[name].values[:, k] for name in ("reached", "collided", "late"))
                found.append(
                    Claim(
                        words,
                        said,
                        f"{reached.min():.0%} to {reached.max():.0%} of goals reached",
                        bool(reached.mean() > WORKS if scenario == "obstacle" else reached.mean() < FAILS),
                        f"mean of {len(reached)} agents {reached.mean():.0%}; collided {collided.mean():.0%}, too many "
                        f"moves {late.mean():.0%}; holds {'above' if scenario == 'obstacle' else 'below'} "
                        f"{WORKS if scenario == 'obstacle' else FAILS:.0%}",
                    )
                )
        for k, scenario in enumerate(SCENARIOS):
            mine, every = pick(results, controller="shipped"), pick(results, controller="ours")["reached"].values[:, k]
            if len(every):
                found.append(
                    Claim(
                        f"Each of our agents reaches at least {BARS[scenario]:.0%} of goals, scenario: {scenario}.",
                        BARS[scenario],
                        float(every.min()),
                        bool(every.min() >= BARS[scenario]),
                        f"{len(every)} agents, which differ in their seeds: {every.min():.1%} to {every.max():.1%}, "
                        f"median {np.median(every):.1%}",
                    )
                )
            if mine.sizes["job"]:
                share = float(mine["reached"].values[0, k])
                found.append(
                    Claim(
                        f"The shipped avoider reaches at least {BARS[scenario]:.0%} of goals, scenario: {scenario}.",
                        BARS[scenario],
                        share,
                        share >= BARS[scenario],
                        f"{self.tested} unseen situations with slip and noise; collided "
                        f"{float(mine['collided'].values[0, k]):.1%}, median of "
                        f"{float(mine['moves'].values[0, k]):.0f} moves",
                    )
                )
                straight = pick(results, controller="straight")["reached"].values[:, k]
                if len(straight):
                    found.append(
                        Claim(
                            f"It reaches more goals than driving straight at them, scenario: {scenario}.",
                            float(straight[0]),
                            share,
                            bool(share > straight[0]),
                            "straight turns to the goal and drives there, whatever is in the way",
                        )
                    )
        return found
