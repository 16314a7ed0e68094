"""Whether soil, particles and rovers do what physics, the literature and another simulator say."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from sandlot.recordings import Quantity
from sandlot.studies.base import Claim, Found, Job, Picture, Study, pick, study
from sandlot.studies.terrain.heaps import Heaps
from sandlot.studies.terrain.keeping import Grains, Volume
from sandlot.studies.terrain.plate import Plate
from sandlot.studies.terrain.scenes import Scenes
from sandlot.studies.terrain.slope import Slope
from sandlot.studies.terrain.steps import Energy, Halving
from sandlot.studies.terrain.trial import Case, Trial
from sandlot.studies.terrain.turning import Turning
from sandlot.studies.terrain.wheel import Wheel

TRIALS: tuple[type[Trial], ...] = (Plate, Wheel, Turning, Slope, Heaps, Volume, Grains, Halving, Energy)
COLUMNS = 3


@study("terrain.validation", source="Bekker 1969; Janosi and Hanamoto 1961; Project Chrono's soil contact model")
class Validation(Study):
    """Is the ground right?

    A plate and a wheel on soil, beside Bekker's, Janosi and Hanamoto's, and Mohr and Coulomb's laws and beside numbers
    measured with Project Chrono; rovers on hard ground and on slopes of soil, which are made by tilting gravity; what
    must not be lost, volume, particles and energy gained from nowhere; how steep heaps lie; and whether grid and step
    matter. What is not so stays in the list, and says so.

    Attributes:
        plate: A plate that is pressed into soil.
        wheel: A single wheel.
        turning: Rovers on hard level ground.
        slope: Rovers that drive uphill.
        heaps: Of soil and of particles.
        volume: Of soil that is thrown about.
        grains: Particles under a rover.
        halving: Of the step.
        energy: Of rovers whose motors are off.
        scenes_of: What the pictures show.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        name: quantity for trial in TRIALS for name, quantity in trial.outcomes.items()
    }

    plate: Plate = Plate()
    wheel: Wheel = Wheel()
    turning: Turning = Turning()
    slope: Slope = Slope()
    heaps: Heaps = Heaps()
    volume: Volume = Volume()
    grains: Grains = Grains()
    halving: Halving = Halving()
    energy: Energy = Energy()
    scenes_of: Scenes = Scenes()

    def trials(self) -> dict[str, Trial]:
        """All of them, by name."""
        return {kind.name: getattr(self, kind.name) for kind in TRIALS}

    def jobs(self) -> Iterator[Job]:
        """The cases of one trial after the other."""
        cases = [(name, case) for name, trial in self.trials().items() for case in trial.cases()]
        for index, (name, case) in enumerate(cases):
            seed = np.random.SeedSequence(self.seed, spawn_key=(index,))
            yield Job(index, {"trial": name, **case._asdict()}, seed)

    def run(self, job: Job) -> Mapping[str, Found]:
        """One case of a trial; outcomes of the others are not a number."""
        trials, mine = self.trials(), str(job.parameters["trial"])
        found: dict[str, Found] = {}
        for name, trial in trials.items():
            case = Case(str(job.parameters["body"]), str(job.parameters["ground"]), float(job.parameters["detail"]))
            found |= trial.measure(case, job.seed) if name == mine else trial.nothing()
        return found

    def figure(self, results: xr.Dataset) -> Figure:
        """What was measured, beside what should be.

        Dotted: what theory says, or allows. A wheel's sinkage: dashed and dotted at finer grids, and
        beyond the top where the wheel fell into the ground.
        """
        trials = self.trials()
        rows = -(-sum(trial.panels for trial in trials.values()) // COLUMNS)
        figure = Figure(figsize=(14.0, 4.2 * rows), layout="constrained")
        panels = list(figure.subplots(rows, COLUMNS, squeeze=False).ravel())
        for axes in panels:
            axes.spines[["top", "right"]].set_visible(False)
            axes.grid(alpha=0.25)
        for name, trial in trials.items():
            mine, panels = panels[: trial.panels], panels[trial.panels :]
            trial.draw(mine, pick(results, trial=name))
        for axes in panels:
            axes.remove()
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Those of one trial after the other."""
        return [claim for name, trial in self.trials().items() for claim in trial.claims(pick(results, trial=name))]

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """Ruts on soil and on particles."""
        return self.scenes_of.pictures()
