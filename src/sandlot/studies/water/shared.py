"""Gaits with one amplitude, frequency and phase for all swimming joints, found by evolution."""

import functools
from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from sandlot.control.snake.files import gait_text
from sandlot.control.snake.gaits import STRAIGHT, Gait, Schedule, then
from sandlot.recordings import Quantity
from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.robots.reference_swimmers import check_stable
from sandlot.robots.snake import Snake
from sandlot.robots.swimmers import Swimmers, start_centre
from sandlot.studies.base import Claim, Found, Job, Picture, study
from sandlot.studies.water.base import (
    CONVERGED,
    LOW,
    PARAMETERS,
    EvolutionStudy,
    champion,
    claim_better,
    claim_parameters,
    draw_course,
    near,
    score,
    shared_waves,
)
from sandlot.studies.water.following import follow, three_models
from sandlot.studies.water.strips import strip
from sandlot.typing import Array

AGREED = 0.05
"""Maximum relative difference between fidelities that agree."""


class SharedStudy(EvolutionStudy):
    """A study that evolves one amplitude, frequency and phase for all joints that swim."""

    PREPARES: ClassVar[float] = 0.0
    """Duration of preparations before it swims [s]."""

    def check(self) -> None:
        """Refuse a body that cannot prepare, or swim."""
        for job in self.jobs():
            if job.parameters["replicate"] == 0:
                self.whole(job, np.array(LOW)).waves(self.snake.joints)

    def before(self, job: Job) -> Schedule:
        """Joint angles over time before the body swims."""
        return Schedule((0.0,), (STRAIGHT,))

    def begin(self) -> float:
        """Time at which the body begins to swim, at a command [s]."""
        return round(self.PREPARES / self.snake.interval) * self.snake.interval

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
        values = dict(zip(PARAMETERS, genes.tolist(), strict=True))
        amplitude, _, _, veer = self.waves(job, genes[None])[..., 0]
        for name, row in (("amplitude", amplitude), ("veer", veer)):
            values[name] = row[0] if np.all(row == row[0]) else tuple(row.tolist())
        return Gait(**values)

    def whole(self, job: Job, genes: Array) -> Schedule:
        """Preparations and gait of one individual; the gait's clock starts when it begins to swim, as in `evaluate`."""
        gait = self.gait(job, genes).later(self.begin())
        return then(self.before(job), Schedule((self.begin(),), (gait,)))

    def leaders(self, results: xr.Dataset) -> Mapping[str, tuple[Job, Array]]:
        """The best individuals by name: a job of theirs, and their genes."""
        return {"best": (next(self.jobs()), champion(results))}

    def files(self, results: xr.Dataset) -> Mapping[str, str]:
        """The best gaits."""
        return {
            f"{name}.toml": gait_text(self.gait(job, genes), self.snake)
            for name, (job, genes) in self.leaders(results).items()
        }


@functools.lru_cache(maxsize=4)
def prepared(snake: Snake, before: Schedule, seconds: float) -> FastSwimmers:
    """A body after its preparations, which are the same for all individuals."""
    swimmers = FastSwimmers(snake, 1)
    swimmers.swim(before.starts, before.waves(snake.joints)[..., None], seconds)
    return swimmers


@study("water.shared", source="Draschwandtner 2015, section 7.7")
class Shared(SharedStudy):
    """How far does a 17-link body swim in 10 s if all joints share amplitude, frequency and phase?

    A genetic algorithm with simulated binary crossover and polynomial mutation searches for the three parameters. The
    drag coefficient, the one constant the source does not give, was fitted to its best distance here, 97.20 m; all
    other results are predictions. The motors limit a gait, not the water: without their torque limit, the best gait
    would have a phase of 0.35, and need thirteen times the torque they have. So evolution ends at the limit of the
    motors; the best individual of every replicate is also simulated in the reference.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        **EvolutionStudy.outcomes,
        "drive": Quantity("1", "share of the commanded acceleration that the motors of the best individual deliver"),
        "reference_distance": Quantity("m", "distance of the best individual in the reference"),
        "reference_drive": Quantity("1", "share that its motors deliver in the reference"),
        "halved_distance": Quantity("m", "distance of the best individual in the reference with half its time step"),
        "exploded": Quantity("1", "whether one of its simulations in the reference exploded"),
    }
    SOURCE: ClassVar[Mapping[str, float]] = {"amplitude": 0.46, "frequency": 2.00, "phase": 0.68}

    def check(self) -> None:
        """Refuse a body that cannot swim, or that the reference cannot simulate."""
        check_stable(self.snake)
        super().check()

    def judge(self, job: Job, genes: Array) -> Mapping[str, Found]:
        """Simulate one individual in the fast model, in the reference, and in the reference with half its time step."""
        models, plan = three_models(self.snake), self.whole(job, genes)
        distances = {name: self.swum(swimmers, plan) for name, swimmers in models.items()}
        there = models["reference"]
        return {
            "drive": float(models["fast"].drive[0]),
            "reference_distance": distances["reference"],
            "reference_drive": float(there.drive[0]) if np.isfinite(distances["reference"]) else np.nan,
            "halved_distance": distances["halved"],
            "exploded": float(there.exploded[0] or models["halved"].exploded[0]),
        }

    def swum(self, swimmers: Swimmers, plan: Schedule) -> float:
        """Distance of one body along x [m]; NaN if the simulation explodes."""
        for _ in follow(swimmers, plan, self.seconds):
            pass
        distance = float(swimmers.centre[0, 0] - start_centre(self.snake)[0])
        return np.nan if swimmers.exploded[0] else distance

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
            near(
                "The best individuals swim 97.20 m in 10 s.",
                97.20,
                best[:, -1].mean(),
                0.02,
                "the drag was fitted to this",
            ),
            near("The average individuals converge to 80.92 m.", 80.92, mean[:, -1].mean()),
            *claim_parameters(results, self.SOURCE),
            near("The source's best parameters swim 97.20 m.", 97.20, distance, 0.1),
            claim_better(self.comparisons(results)),
            Claim(
                "All replicates find the same distance.",
                "one value",
                f"spread of {spread:.2f} m",
                spread < 0.02 * best.max(),
            ),
            Claim(
                "Fitness rises fast within 10 generations.",
                "all of it",
                f"{tenth:.0%} of the final best",
                tenth > 0.9,
                "holds above 90%",
            ),
            self.claim_reference(results),
        ]

    def claim_reference(self, results: xr.Dataset) -> Claim:
        """The claim that the best gaits, to which the drag is fitted, swim the same in the reference."""
        well = results.isel(job=results["exploded"].values == 0.0)
        count, lost = well.sizes["job"], results.sizes["job"] - well.sizes["job"]
        text = "The best individuals swim as far in the reference, and their motors deliver as much."
        note = (
            f"holds if both are within {AGREED:.0%}, on average, and none explodes; {lost} of {count + lost} exploded"
        )
        if count == 0:
            return Claim(text, "beyond the source", "none to judge", False, note)
        distances, drives = well["reference_distance"].values, well["reference_drive"].values
        fast, drive = float(well["best"].max("generation").mean()), float(well["drive"].mean())
        apart = max(abs(distances.mean() / fast - 1.0), abs(drives.mean() / drive - 1.0))
        unsure = int((np.abs(distances / well["halved_distance"].values - 1.0) >= CONVERGED).sum())
        return Claim(
            text,
            "beyond the source",
            f"{distances.mean():.1f} m ({distances.min():.1f} to {distances.max():.1f}), motors give "
            f"{drives.mean():.2f}; fast: {fast:.1f} m, {drive:.2f}",
            lost == 0 and apart <= AGREED,
            f"{note}; for {unsure} of the others half the step changes the distance by {CONVERGED:.0%} or more",
        )

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """The best individual swims."""
        for job, genes in self.leaders(results).values():
            yield strip(self.snake, self.whole(job, genes), self.seconds, "The best individual.")
