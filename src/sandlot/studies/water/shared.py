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
CHANGED = 1e-4
"""Relative change of a gene, to see how sensitive a gait is."""
ROBUST = 0.01
"""Relative change of the distance that a robust gait does not exceed then."""
EDGE = 0.01
"""A gene lies inside its bounds if its distance from both is more than this share of its range."""


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

    A genetic algorithm with simulated binary crossover and polynomial mutation searches for the three parameters. Drag
    coefficient and gain of the motors, which the source does not give, are fitted in `water.calibration`, to the
    distance of the source's best gait, not to ours. The best individual of every replicate is also simulated in the
    reference; and with each of its parameters changed by 0.01%, to see whether the optimum is robust.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        **EvolutionStudy.outcomes,
        "drive": Quantity("1", "mean share of motors below their torque limit, of the best individual"),
        "reference_distance": Quantity("m", "distance of the best individual in the reference"),
        "reference_drive": Quantity("1", "the same share in the reference"),
        "halved_distance": Quantity("m", "distance of the best individual in the reference with half its time step"),
        "sensitivity": Quantity("1", "largest relative change of its distance if one parameter changes by 0.01%"),
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
            "sensitivity": self.sensitivity(job, genes),
            "exploded": float(there.exploded[0] or models["halved"].exploded[0]),
        }

    def sensitivity(self, job: Job, genes: Array) -> float:
        """The largest relative change of the distance in the fast model if one gene changes by a share of `CHANGED`."""
        change = CHANGED * np.eye(genes.size)
        distance, *others = self.evaluate(job, genes * (1.0 + np.concatenate([0.0 * change[:1], change, -change])))
        return float(np.abs(np.array(others) / distance - 1.0).max())

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
        return [
            near("The best individuals swim 97.20 m in 10 s.", 97.20, best[:, -1].mean(), 0.02),
            near("The average individuals converge to 80.92 m.", 80.92, mean[:, -1].mean()),
            *claim_parameters(results, self.SOURCE),
            self.claim_inside(results),
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
            self.claim_robust(results),
            self.claim_reference(results),
        ]

    def claim_inside(self, results: xr.Dataset) -> Claim:
        """The claim that the bounds of the parameters do not limit the best gaits."""
        low, high = (np.array(each) for each in self.limits())
        share = (results["genes"].values[:, -1] - low) / (high - low)
        inside = (share > EDGE) & (share < 1.0 - EDGE)
        least, most = results["genes"].values[:, -1, 1].min(), results["genes"].values[:, -1, 1].max()
        outside = [name for name, within in zip(PARAMETERS, inside.all(axis=0), strict=True) if not within]
        return Claim(
            "The optimum lies inside the bounds.",
            "in all replicates, at 2.00 Hz",
            f"in {inside.all(axis=1).sum()} of {len(inside)}, at {least:.2f} to {most:.2f} Hz",
            bool(inside.all()),
            f"holds if all parameters are more than {EDGE:.0%} of their range from both bounds"
            + (f"; too close: {', '.join(outside)}" if outside else ""),
        )

    def claim_robust(self, results: xr.Dataset) -> Claim:
        """The claim that the distance of the best gaits is not sensitive to their parameters."""
        found = results["sensitivity"].values
        return Claim(
            "A parameter that changes by 0.01% changes the distance of the best individuals by at most 1%.",
            "beyond the source",
            f"{np.median(found):.2%} (median), {found.max():.2%} (maximum)",
            bool(found.max() <= ROBUST),
            "fast model; holds if it does so in every replicate",
        )

    def claim_reference(self, results: xr.Dataset) -> Claim:
        """The claim that the best gaits swim the same in the reference."""
        well = results.isel(job=results["exploded"].values == 0.0)
        count, lost = well.sizes["job"], results.sizes["job"] - well.sizes["job"]
        text = "The best individuals swim as far in the reference, and as many motors are below their torque limit."
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
            f"{distances.mean():.1f} m ({distances.min():.1f} to {distances.max():.1f}), {drives.mean():.0%} of the "
            f"motors; fast: {fast:.1f} m, {drive:.0%}",
            lost == 0 and apart <= AGREED,
            f"{note}; for {unsure} of the others half the step changes the distance by {CONVERGED:.0%} or more",
        )

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """The best individual swims."""
        for job, genes in self.leaders(results).values():
            yield strip(self.snake, self.whole(job, genes), self.seconds, "The best individual.")
