"""Does the ranking of rules in the grid world survive in a world of rovers and soil?"""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import Field

from sandlot.control.leveling import Rule
from sandlot.physics.swarm import MOVED
from sandlot.recordings import Quantity
from sandlot.studies.base import Claim, Job, Study, pick, study
from sandlot.studies.leveling.base import begin
from sandlot.studies.leveling.swarm import Case, Hills, drive
from sandlot.studies.plots import COLOURS, canvas, points
from sandlot.studies.statistics import Comparison, compare
from sandlot.typing import Array
from sandlot.worlds.leveling.settings import LevelingSettings

MEMORIES = {
    "none": (Rule(kind="probabilistic"), "spin"),
    "own": (Rule(kind="pool"), "memory"),
    "shared": (Rule(kind="memetic"), "shared"),
}
"""What agents remember: the rule of the grid world, and that of the terrain world."""
WORLDS = ("grid", "terrain")
LABELS = {"pace": "leveling per time", "thrift": "leveling per moved material"}


@study("leveling.bridge", source="Cook 2017, sections 4.2 and 7.1.1")
class Bridge(Study):
    """Does the grid world's ranking of rules survive where rovers drive on soil?

    In the grid world, agents carry units of material; rovers cannot carry any. What both have is memory, so rules are
    matched by what agents remember. Nothing: the probabilistic rule, and spinning at peaks found by chance. What they
    found themselves: the memetic rule with a pool of five sequences for each agent, and a memory of peaks for each
    rover. What all of them found: the memetic rule in which the fittest of all agents keeps its sequence, and a memory
    of peaks that all rovers share.

    Two numbers rank them. Pace is leveling per time: one terrain over the cycles until it is flat, and the share of the
    hills' height that is lost per hour of robot time. Thrift is leveling per moved material: one terrain over the units
    moved, and the height lost of the hills over the mean change of height. Eight agents level 32 x 32 cells; eight
    learned rovers drive on mid soil. Only the order of rules is compared.

    Attributes:
        grid: Settings of the grid world.
        hills: Terrain of the rovers.
        rovers: Their number.
        minutes: Robot time of a run: that of all rovers together [min].
        replicates: Terrains of each world, for each rule.
        max_cycles: A run in the grid world that is not flat by then is stopped.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "pace": Quantity("1", "leveling per time: terrains in a million cycles, or share of the hills in an hour"),
        "thrift": Quantity("1", "leveling per moved material: terrains per million units, or share of the hills per m"),
        "flat": Quantity("1", "whether the terrain of the grid world became flat"),
    }

    grid: LevelingSettings = LevelingSettings()
    hills: Hills = Hills()
    rovers: int = Field(8, ge=1, le=1000)
    minutes: float = Field(20.0, gt=0.0, le=10_000.0)
    replicates: int = Field(6, ge=2, le=1000)
    max_cycles: int = Field(20_000_000, ge=2, le=10**15)

    def jobs(self) -> Iterator[Job]:
        """Both worlds and every memory, on each terrain."""
        return self.cross(world=WORLDS, memory=MEMORIES, replicate=range(self.replicates))

    def run(self, job: Job) -> dict[str, float]:
        """Level one terrain."""
        by_units, by_driving = MEMORIES[str(job.parameters["memory"])]
        terrain = int(job.parameters["replicate"])
        if job.parameters["world"] == "grid":
            heights = self.grid.heights(np.random.default_rng(terrain))
            place, controller = begin(by_units, job.seed, heights, self.grid)
            place.run(controller, self.max_cycles)
            moved = float(place.swarm.tally[MOVED])
            return {"pace": 1e6 / place.cycles, "thrift": 1e6 / moved, "flat": float(place.flat)}
        case = Case("learned", "mid", by_driving, self.rovers, self.minutes, terrain=terrain)
        found = drive(case, self.hills, job.seed)
        left, moved = (float(np.asarray(found[name])[-1]) for name in ("left", "moved"))
        return {"pace": 60.0 * (1.0 - left) / self.minutes, "thrift": (1.0 - left) / moved, "flat": 1.0}

    def figure(self, results: xr.Dataset) -> Figure:
        """Pace and thrift of each memory in both worlds: every terrain, and medians."""
        figure, axes = canvas(4, 13.0, 3.6)
        for panel, (quantity, world) in zip(axes, ((q, w) for q in LABELS for w in WORLDS), strict=True):
            for k, (memory, colour) in enumerate(zip(MEMORIES, COLOURS, strict=False)):
                points(panel, k, self._values(results, world, memory, quantity), colour)
            panel.set_xticks(range(len(MEMORIES)), list(MEMORIES))
            panel.set(xlabel="memory", ylabel=f"{quantity}: {LABELS[quantity]}", title=f"{world} world")
            panel.grid(visible=False, axis="x")
        return figure

    def _values(self, results: xr.Dataset, world: str, memory: str, quantity: str) -> Array:
        return np.asarray(pick(results, world=world, memory=memory)[quantity].values)

    def _tests(self, results: xr.Dataset, world: str, quantity: str) -> list[Comparison]:
        groups = {memory: self._values(results, world, memory, quantity) for memory in MEMORIES}
        return compare(groups, "none", f"{quantity}, {world}")

    def comparisons(self, results: xr.Dataset) -> list[Comparison]:
        """Each memory against none, in both worlds."""
        return [test for quantity in LABELS for world in WORLDS for test in self._tests(results, world, quantity)]

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """What memory does in each world, and whether the order is the same."""
        flat = bool((results["flat"] == 1).all())
        found = []
        for quantity, text in (("pace", "are slower"), ("thrift", "move less material for the same leveling")):
            for world in WORLDS:
                tests = self._tests(results, world, quantity)
                right = [test.below() if quantity == "pace" else test.above() for test in tests]
                found.append(
                    Claim(
                        f"In the {world} world, agents with a memory {text} than those without.",
                        "so in the source" if world == "grid" else "not studied",
                        ", ".join(f"{test.group}: {test.ratio:.2f}x (p={test.p:.2g})" for test in tests),
                        flat and all(right),
                        f"{quantity}: {LABELS[quantity]}; Mann-Whitney U, Holm-corrected, p < 0.05 for both memories",
                    )
                )
            orders = {world: self._order(results, world, quantity) for world in WORLDS}
            found.append(
                Claim(
                    f"The order of rules by {quantity} is the same in both worlds.",
                    "not studied",
                    "; ".join(f"{world}: {', '.join(order)}" for world, order in orders.items()),
                    orders["grid"] == orders["terrain"],
                    "memories by the means of their runs, the best first",
                )
            )
        return found

    def _order(self, results: xr.Dataset, world: str, quantity: str) -> list[str]:
        return sorted(MEMORIES, key=lambda memory: -float(self._values(results, world, memory, quantity).mean()))
