"""What the leveling studies share: a terrain, a swarm, and runs until the terrain is flat."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from numpy.typing import NDArray
from pydantic import Field

from sandlot.control.leveling import LevelingController, Rule
from sandlot.errors import SandlotError
from sandlot.kernels.randomness import children
from sandlot.physics.swarm import MOVED
from sandlot.recordings import Quantity
from sandlot.studies.base import Claim, Job, Picture, Study
from sandlot.studies.plots import COLOURS, blocks, canvas, thousands
from sandlot.worlds.leveling.settings import LevelingSettings
from sandlot.worlds.leveling.world import Leveling


class LevelingStudy(Study):
    """A study in which a swarm levels a terrain until it is flat.

    Attributes:
        world: Settings of the world.
        terrain_seed: Seed of the terrain; all jobs share a terrain, unless the study says otherwise.
        replicates: Runs for each value.
        max_cycles: A run that is not flat by then is stopped, and counted as such.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "cycles": Quantity("cycle", "cycles until flat"),
        "moved": Quantity("unit", "units moved"),
        "flat": Quantity("1", "whether it became flat"),
    }

    world: LevelingSettings = LevelingSettings()
    terrain_seed: int = Field(0, ge=0)
    replicates: int = Field(30, ge=1, le=10_000)
    max_cycles: int = Field(20_000_000, ge=2, le=10**15)

    def terrain(self, number: int = 0) -> NDArray[np.int16]:
        """One of the study's terrains: (ny, nx) [unit]."""
        return self.world.heights(np.random.default_rng(self.terrain_seed + number))

    def level(self, rule: Rule, job: Job, heights: NDArray[np.int16], world: LevelingSettings) -> dict[str, float]:
        """Let a swarm level a terrain by a rule; returns the outcomes."""
        place, controller = begin(rule, job.seed, heights, world)
        place.run(controller, self.max_cycles)
        return {"cycles": place.cycles, "moved": place.swarm.tally[MOVED], "flat": place.flat}

    def example(self) -> Rule:
        """The rule in the pictures."""
        return Rule()

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """The terrain before and after, and its flatness over time."""
        place, controller = begin(self.example(), np.random.SeedSequence(self.seed), self.terrain(), self.world)
        before, trace = place.swarm.heights.copy(), []
        while not place.flat and place.cycles < self.max_cycles:
            trace.append((place.cycles, np.ptp(place.swarm.heights), place.swarm.heights.std()))
            # Shorter intervals at the start, where heights change fastest.
            place.run(controller, 2 * (1 + place.cycles // 100))
        trace.append((place.cycles, np.ptp(place.swarm.heights), place.swarm.heights.std()))
        after, agents = place.swarm.heights, self.world.agents

        terrains = Figure(figsize=(9.0, 3.8), layout="constrained")
        blocks(terrains, (1, 2, 1), before, "before", before.max())
        blocks(terrains, (1, 2, 2), after, f"after {place.cycles:,} cycles", before.max())
        ny, nx = before.shape
        kind = self.example().kind
        yield Picture(
            f"A {nx} x {ny} terrain before and after {agents} agents leveled it by the {kind} rule.", terrains
        )

        cycles, height_range, deviation = np.array(trace).T
        figure, (axes,) = canvas()
        axes.step(cycles, height_range, where="post", color=COLOURS[1], label="height range (flat: at most 1)")
        axes.plot(cycles, deviation, color=COLOURS[0], label="standard deviation of height")
        axes.set(xlabel="cycles", ylabel="height [unit]", ylim=(0, None))
        axes.xaxis.set_major_formatter(thousands)
        axes.legend(frameon=False)
        yield Picture("Height range and standard deviation of that terrain over time.", figure)


def begin(
    rule: Rule, seed: np.random.SeedSequence, heights: NDArray[np.int16], world: LevelingSettings
) -> tuple[Leveling, LevelingController]:
    """A world at its start, and the controller for it.

    Raises:
        SandlotError: If there is nothing to level.
    """
    place_seed, rule_seed = children(seed, 2)
    place = Leveling(settings=world)
    place.reset(seed=int(place_seed.generate_state(1)[0]), options={"heights": heights})
    if place.flat:
        raise SandlotError("the terrain is flat from the start; choose a larger world.relief")
    controller = LevelingController(rule, world.agents)
    controller.reset([rule_seed])
    return place, controller


def uncut(results: xr.Dataset, claims: list[Claim]) -> list[Claim]:
    """The claims, if every run became flat; otherwise none of them holds, and their notes say why."""
    cut = int((results["flat"] == 0).sum())
    if cut == 0:
        return claims
    return [replace(claim, holds=False, note=f"{cut} runs were cut at max_cycles; {claim.note}") for claim in claims]


def groups(results: xr.Dataset, by: str, quantity: str) -> dict[float, NDArray[np.float64]]:
    """The values of ``quantity`` for each value of the parameter ``by``, in order."""
    return {float(v): results[quantity].values[results[by].values == v] for v in np.unique(results[by].values)}
