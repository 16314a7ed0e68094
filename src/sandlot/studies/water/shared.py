"""Gaits that evolve with parameters shared by all joints that swim, and the study in which all do."""

import functools
from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from sandlot.control.files import gait_text
from sandlot.control.gaits import STRAIGHT, Gait, Schedule, then
from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.robots.snake import Snake
from sandlot.robots.swimmers import start_centre
from sandlot.studies.base import Claim, Job, Picture, study
from sandlot.studies.water.base import (
    PARAMETERS,
    Array,
    EvolutionStudy,
    champion,
    claim_better,
    claim_parameters,
    draw_course,
    near,
    score,
    shared_waves,
)
from sandlot.studies.water.strips import strip


class SharedStudy(EvolutionStudy):
    """A study that evolves one amplitude, frequency and phase for all joints that swim."""

    def before(self, job: Job) -> Schedule:
        """What the body does before it swims."""
        return Schedule((0.0,), (STRAIGHT,))

    def begin(self) -> float:
        """When the body begins to swim [s]."""
        return 0.0

    def waves(self, job: Job, genes: Array) -> Array:
        """The gaits of a population: (4, joints, individuals)."""
        return shared_waves(genes, self.snake.joints)

    def distance(self, ready: FastSwimmers, swimmers: FastSwimmers) -> Array:
        """Distance swum along x from the start (equation 7.4): (individuals,) [m]."""
        return swimmers.centre[:, 0] - start_centre(self.snake)[0]

    def evaluate(self, job: Job, genes: Array) -> Array:
        """Let a population swim."""
        ready = prepared(self.snake, self.before(job), self.begin())
        swimmers = ready.copies(len(genes))
        swimmers.swim([0.0], self.waves(job, genes)[None], self.seconds - self.begin())
        return score(swimmers, self.distance(ready, swimmers))

    def gait(self, job: Job, genes: Array) -> Gait:
        """The gait of one individual."""
        amplitude, frequency, phase, veer = self.waves(job, genes[None])[..., 0]
        index = np.maximum(np.arange(len(phase)), 1)
        each = [tuple(row.tolist()) for row in (amplitude, frequency / (2.0 * np.pi), phase / index, veer)]
        return Gait(**dict(zip((*PARAMETERS, "veer"), each, strict=True)))

    def whole(self, job: Job, genes: Array) -> Schedule:
        """All that one individual does."""
        return then(self.before(job), Schedule((self.begin(),), (self.gait(job, genes),)))


@functools.lru_cache(maxsize=4)
def prepared(snake: Snake, before: Schedule, seconds: float) -> FastSwimmers:
    """A body that has done what comes before swimming; it is the same for all individuals."""
    swimmers = FastSwimmers(snake, 1)
    swimmers.swim(before.starts, before.waves(snake.joints)[..., None], seconds)
    return swimmers


@study("water.shared", source="Draschwandtner 2015, section 7.7")
class Shared(SharedStudy):
    """How far does a 17-link body swim in 10 s if all joints share amplitude, frequency and phase?

    A genetic algorithm with simulated binary crossover and polynomial mutation looks for the three parameters. The
    drag coefficient, the one constant the source does not give, was fitted to its best distance here, 97.20 m; all
    else is a prediction. What limits a gait is not the water but the motors: without their torque limit, the best one
    would have a phase of 0.35, and need thirteen times the torque they have.
    """

    SOURCE: ClassVar[Mapping[str, float]] = {"amplitude": 0.46, "frequency": 2.00, "phase": 0.68}

    def figure(self, results: xr.Dataset) -> Figure:
        """Fitness and parameters of the best individuals over generations (as figures 7.18 and 7.19)."""
        return draw_course(results, self.SOURCE, 97.20)

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Distances and parameters."""
        best, mean = results["best"].values, results["mean"].values
        spread = float(best[:, -1].max() - best[:, -1].min())
        tenth = float((best[:, min(9, best.shape[1] - 1)] / best[:, -1]).mean())
        (distance,) = self.evaluate(next(self.jobs()), np.array([[self.SOURCE[name] for name in PARAMETERS]]))
        return [
            near("The best individuals swim 97.20 m in 10 s.", 97.20, best[:, -1].mean(), 0.02, "fitted to this"),
            near("The average individuals converge to 80.92 m.", 80.92, mean[:, -1].mean()),
            *claim_parameters(results, self.SOURCE),
            near("The source's best parameters swim 97.20 m.", 97.20, distance, 0.1),
            claim_better(self.comparisons(results)),
            Claim(
                "All replicates find the same.", "one value", f"spread of {spread:.2f} m", spread < 0.02 * best.max()
            ),
            Claim(
                "Fitness rises fast within 10 generations.",
                "all of it",
                f"{tenth:.0%} of the final best",
                tenth > 0.9,
                "holds above 90%",
            ),
        ]

    def files(self, results: xr.Dataset) -> Mapping[str, str]:
        """The best gait."""
        values = dict(zip(PARAMETERS, champion(results).tolist(), strict=True))
        return {"best.toml": gait_text(Gait(**values), self.snake)}

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """The best individual swims."""
        gait = self.whole(next(self.jobs()), champion(results))
        yield strip(self.snake, gait, self.seconds, "The best individual.")
