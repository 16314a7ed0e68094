"""Gaits that evolve with a ball in the body's grasp."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from sandlot.control.fetching import GIVE
from sandlot.control.gaits import Schedule, fold, grasp_poses, pose, then
from sandlot.recordings import Quantity
from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.robots.reference_swimmers import ReferenceSwimmers
from sandlot.studies.base import Claim, Found, Job, Picture, study
from sandlot.studies.water.base import (
    PARAMETERS,
    Array,
    EvolutionStudy,
    champion,
    claim_better,
    claim_parameters,
    draw_course,
    near,
    shared_waves,
)
from sandlot.studies.water.shared import SharedStudy
from sandlot.studies.water.strips import strip


@study("water.carry", source="Draschwandtner 2015, section 7.10")
class Carry(SharedStudy):
    """How should the body swim once four of its links hold a ball?

    The body forms a circle, tightens it until its first four links hold the ball, and swims with the others. Evolution
    takes place in the fast model, which has no ball; every replicate's best is then tried in the reference, with one.
    Evolution goes to the edge of what the motors can do, and a ball is more than that.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        **EvolutionStudy.outcomes,
        "reference": Quantity("m", "distance of the best individual in the reference, with the ball"),
        "held": Quantity("1", "whether it still held the ball in the end"),
    }
    SOURCE: ClassVar[Mapping[str, float]] = {"amplitude": 0.61, "frequency": 1.82, "phase": 0.75}
    BALL: ClassVar[tuple[float, float]] = (-12.0, 3.0)
    HOLDING: ClassVar[int] = 3

    def begin(self) -> float:
        """After the ball has been grasped."""
        return 3.0

    def before(self, job: Job) -> Schedule:
        """A circle, then ever tighter ones, as fast as the motors can."""
        poses = grasp_poses(self.snake.joints, self.HOLDING)
        circle = fold(np.zeros(self.snake.joints), poses[0], 1.2)
        steps = np.linspace(1.2, 2.7, len(poses), endpoint=False)[1:]
        return then(circle, Schedule(tuple(steps.tolist()), tuple(pose(each) for each in poses[1:])))

    def distance(self, ready: FastSwimmers, swimmers: FastSwimmers) -> Array:
        """Distance swum the way the body points when it has grasped: (individuals,) [m].

        The source counts along x. But grasping turns the body, and by how much has nothing to do with how it swims.
        """
        ahead = ready.directions[0, self.HOLDING + 1 :].mean()
        return (swimmers.centre - ready.centre) @ np.array([np.cos(ahead), np.sin(ahead)])

    def waves(self, job: Job, genes: Array) -> Array:
        """The first joints hold, the next one turns the head forwards, the others swim."""
        held = np.zeros(self.snake.joints)
        held[: self.HOLDING], held[self.HOLDING] = np.pi / 2, -np.pi / 4
        return shared_waves(genes, self.snake.joints, self.HOLDING + 1, held)

    def run(self, job: Job) -> Mapping[str, Found]:
        """Evolve once, and try the best in the reference."""
        found = dict(super().run(job))
        return found | self.carry(job, np.asarray(found["champion"]))

    def carry(self, job: Job, genes: Array) -> dict[str, Found]:
        """Grasp a ball in the reference, and swim with it.

        Four links of this length cannot close around this ball: joints that hold it push no further than `GIVE`.
        """
        gait, joints, interval = self.gait(job, genes), self.snake.joints, self.snake.interval
        swimmers = ReferenceSwimmers(self.snake, 1, balls=np.array([self.BALL]))
        holding = slice(0, self.HOLDING + 1)
        for k in range(round(self.seconds / interval)):
            if k == round(self.begin() / interval):
                start, ahead = swimmers.centre[0].copy(), swimmers.directions[0, self.HOLDING + 1 :].mean()
            time = (k + 1) * interval
            told = self.before(job).targets(time, joints) if time <= self.begin() else gait.targets(time, joints)
            there = swimmers.angles[0, holding]
            told[holding] = np.clip(told[holding], there - GIVE, there + GIVE)
            swimmers.command(told[None])
        gaps = np.linalg.norm(swimmers.centres[0, holding] - swimmers.balls[0], axis=1)
        way = float((swimmers.centre[0] - start) @ np.array([np.cos(ahead), np.sin(ahead)]))
        held = not swimmers.exploded[0] and bool(gaps.max() < 2.0 * self.snake.length)
        return {"reference": way if not swimmers.exploded[0] else np.nan, "held": float(held)}

    def figure(self, results: xr.Dataset) -> Figure:
        """Fitness and parameters of the best individuals over generations (as figures 7.28 and 7.29)."""
        return draw_course(results, self.SOURCE, 24.92)

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Distances and parameters."""
        best, mean, there = (results[name].values for name in ("best", "mean", "reference"))
        held = int(results["held"].sum())
        own = self.carry(next(self.jobs()), np.array([self.SOURCE[name] for name in PARAMETERS]))
        gap = f"{np.nanmean(there) / best.max(axis=1).mean() - 1.0:+.0%} from fast to reference"
        return [
            near("The best individuals swim 24.92 m.", 24.92, best[:, -1].mean()),
            near("The average individuals converge to 13.51 m.", 13.51, mean[:, -1].mean()),
            *claim_parameters(results, self.SOURCE),
            near(
                "The best individuals swim 24.92 m with a ball in their grasp.",
                24.92,
                float(np.nanmean(there)),
                note=gap,
            ),
            Claim("They still hold the ball in the end.", "all", f"{held} of {len(there)}", held == len(there)),
            Claim(
                "The source's best gait carries the ball 24.92 m.",
                24.92,
                f"{own['reference']:.1f} m, " + ("held" if own["held"] else "lost"),
                bool(own["held"]) and abs(float(own["reference"]) - 24.92) < 2.5,
                "holds within 10%, if the ball is held",
            ),
            claim_better(self.comparisons(results)),
        ]

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """The best individual, with the ball."""
        plan = self.whole(next(self.jobs()), champion(results))
        yield strip(self.snake, plan, self.seconds, "The best individual grasps the ball and swims.", ball=self.BALL)
