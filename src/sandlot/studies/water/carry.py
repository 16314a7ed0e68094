"""Gaits of a body that holds a ball, found by evolution."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from sandlot.control.snake.fetching import check_can_hold
from sandlot.control.snake.gaits import Schedule, fold, grasp_poses, pose, then
from sandlot.recordings import Quantity
from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.robots.reference_swimmers import check_stable
from sandlot.robots.swimmer_models import make_swimmers
from sandlot.robots.swimmers import Swimmers
from sandlot.studies.base import Claim, Found, Job, Picture, study
from sandlot.studies.water.base import (
    PARAMETERS,
    EvolutionStudy,
    claim_better,
    claim_parameters,
    draw_course,
    near,
    shared_waves,
)
from sandlot.studies.water.following import follow
from sandlot.studies.water.shared import SharedStudy
from sandlot.studies.water.strips import strip
from sandlot.typing import Array


@study("water.carry", source="Draschwandtner 2015, section 7.10")
class Carry(SharedStudy):
    """How should the body swim once four of its links hold a ball?

    The body forms a circle, tightens it until its first four links hold the ball, and swims with the others. Evolution
    uses the fast model, which has no ball; the best individual of every replicate is then simulated in the reference
    with a ball.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        **EvolutionStudy.outcomes,
        "reference": Quantity("m", "distance of the best individual in the reference, with the ball"),
        "drive": Quantity("1", "mean share of motors below their torque limit there while it swam"),
        "held": Quantity("1", "whether it held the ball at the end"),
        "exploded": Quantity("1", "whether the simulation exploded"),
    }
    SOURCE: ClassVar[Mapping[str, float]] = {"amplitude": 0.62, "frequency": 1.78, "phase": 0.73}
    """Means over the source's 18 replicates."""
    SIMILAR: ClassVar[Mapping[str, float]] = {"amplitude": 0.61, "frequency": 1.82, "phase": 0.75}
    """The gait of 17 of them; the 18th has 0.80, 1.11 and 0.35, and swims as far."""
    BALL: ClassVar[tuple[float, float]] = (-12.0, 3.0)
    HOLDING: ClassVar[int] = 3
    PREPARES: ClassVar[float] = 3.0

    def check(self) -> None:
        """Refuse a body that cannot hold a ball and swim, or that the reference cannot simulate."""
        check_stable(self.snake)
        check_can_hold(self.snake, self.HOLDING)
        super().check()

    def before(self, job: Job) -> Schedule:
        """A circle, then tighter ones."""
        poses = grasp_poses(self.snake.joints, self.HOLDING)
        circle = fold(np.zeros(self.snake.joints), poses[0], 1.2, self.snake.interval)
        steps = np.linspace(1.2, 2.7, len(poses), endpoint=False)[1:]
        return then(circle, Schedule(tuple(steps.tolist()), tuple(pose(each) for each in poses[1:])))

    def distance(self, ready: FastSwimmers, swimmers: FastSwimmers) -> Array:
        """Distance swum in the direction of the body after the grasp: (individuals,) [m].

        The source measures along x. But grasping turns the body, by an angle that does not depend on the gait.
        """
        return (swimmers.centre - ready.centre) @ self.ahead(ready)

    def ahead(self, swimmers: Swimmers) -> Array:
        """The direction of the first body behind the links that hold the ball: (2,) of length 1."""
        yaw = swimmers.directions[0, self.HOLDING + 1 :].mean()
        return np.array([np.cos(yaw), np.sin(yaw)])

    def waves(self, job: Job, genes: Array) -> Array:
        """The first joints hold, the next one turns the head forwards, the others swim."""
        held = np.zeros(self.snake.joints)
        held[: self.HOLDING], held[self.HOLDING] = np.pi / 2, -np.pi / 4
        return shared_waves(genes, self.snake.joints, self.HOLDING + 1, held)

    def judge(self, job: Job, genes: Array) -> Mapping[str, Found]:
        """Grasp a ball in the reference, and swim with it.

        Four links of this length cannot close around this ball: joints that hold it give way.
        """
        plan, begins, holding = self.whole(job, genes), round(self.begin() / self.snake.interval), self.HOLDING + 1
        swimmers = make_swimmers("reference", self.snake, balls=np.array([self.BALL]))
        for commands in follow(swimmers, plan, self.seconds, giving=holding):
            if commands == begins:
                start, ahead = swimmers.centre[0].copy(), self.ahead(swimmers)
                delivered = swimmers.drive[0] * begins
        if swimmers.exploded[0]:
            return {"reference": np.nan, "drive": np.nan, "held": 0.0, "exploded": 1.0}
        gaps = np.linalg.norm(swimmers.centres[0, :holding] - swimmers.balls[0], axis=1)
        return {
            "reference": float((swimmers.centre[0] - start) @ ahead),
            "drive": float((swimmers.drive[0] * commands - delivered) / (commands - begins)),
            "held": float(gaps.max() < 2.0 * self.snake.length),
            "exploded": 0.0,
        }

    def figure(self, results: xr.Dataset) -> Figure:
        """Fitness and parameters of the best individuals over generations (as figures 7.28 and 7.29)."""
        return draw_course(results, self.SOURCE, 24.92)

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Distances and parameters."""
        best, mean, count = results["best"].values, results["mean"].values, results.sizes["job"]
        held, lost = int(results["held"].sum()), int(results["exploded"].sum())
        own = self.judge(next(self.jobs()), np.array([self.SIMILAR[name] for name in PARAMETERS]))
        said = "held" if own["held"] else "exploded" if own["exploded"] else "lost"
        return [
            near("The best individuals swim 24.92 m.", 24.92, best[:, -1].mean()),
            near("The average individuals converge to 13.51 m.", 13.51, mean[:, -1].mean()),
            *claim_parameters(results, self.SOURCE, "means over replicates"),
            self.claim_carried(results),
            Claim(
                "They still hold the ball at the end.", "all", f"{held} of {count}", held == count, f"{lost} exploded"
            ),
            Claim(
                "The source's best gait carries the ball 24.92 m.",
                24.92,
                f"{own['reference']:.1f} m, {said}",
                bool(own["held"]) and abs(float(own["reference"]) - 24.92) < 2.5,
                "the gait of 17 of its 18 replicates; holds within 10%, if the ball is held; "
                f"{own['drive']:.0%} of the motors were below their torque limit",
            ),
            claim_better(self.comparisons(results)),
        ]

    def claim_carried(self, results: xr.Dataset) -> Claim:
        """Distance of the best individuals with a ball, without exploded simulations."""
        well = results.isel(job=results["exploded"].values == 0.0)
        text = "The best individuals swim 24.92 m with a ball in their grasp."
        left_out = f"{results.sizes['job'] - well.sizes['job']} of {results.sizes['job']} exploded and are left out"
        if well.sizes["job"] == 0:
            return Claim(text, 24.92, "none to judge", False, left_out)
        distance, drive = float(well["reference"].mean()), float(well["drive"].mean())
        gap = distance / float(well["best"].max("generation").mean()) - 1.0
        gives = f"{drive:.0%} of the motors were below their torque limit"
        return near(text, 24.92, distance, note=f"{gap:+.0%} from fast to reference; {gives}; {left_out}")

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """The best individual, with the ball."""
        caption = "The best individual grasps the ball and swims."
        for job, genes in self.leaders(results).values():
            plan = self.whole(job, genes)
            yield strip(self.snake, plan, self.seconds, caption, ball=self.BALL, giving=self.HOLDING + 1)
