"""Gaits that evolve: joint by joint, with shared parameters, with a folded head, with a ball in its grasp."""

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import Field

from sandlot.control.fetching import GIVE
from sandlot.control.files import gait_text
from sandlot.control.gaits import STRAIGHT, Gait, Schedule, fold, grasp_poses, pose, round_head, square_head, then
from sandlot.learning.evolution import JOINT_BY_JOINT, Genetic
from sandlot.recordings import Quantity
from sandlot.robots.snake import Snake
from sandlot.robots.swimmers import FastSwimmers, ReferenceSwimmers, start_centre
from sandlot.studies.base import Claim, Found, Job, Picture, study
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.statistics import Comparison, compare, mean_interval
from sandlot.studies.water.base import (
    HIGH,
    LIGHT,
    PARAMETERS,
    Array,
    EvolutionStudy,
    champion,
    claim_better,
    claim_parameters,
    draw_course,
    draw_fitness,
    near,
    score,
    shared_waves,
)
from sandlot.studies.water.strips import strip


@study("water.evolve", source="Draschwandtner 2015, section 7.1")
class Evolve(EvolutionStudy):
    """Can evolution find 21 parameters with which an eight-link body swims?

    Every joint has an amplitude, a frequency and a phase of its own. A genetic algorithm with one-point crossover
    maximises the distance swum in 20 s; swimming backwards counts negative. The body is light, and all faces of its
    links feel the water. Joints are counted from the head; the source counts from the tail.
    """

    snake: Snake = LIGHT
    seconds: float = Field(20.0, gt=0.0)
    genetic: Genetic = JOINT_BY_JOINT

    def limits(self) -> tuple[Sequence[float], Sequence[float]]:
        """Of amplitude, frequency and phase, joint after joint."""
        joints = self.snake.joints
        return (0.001, 0.001, 0.0) * joints, (2.0, 4.0, 2.0 * np.pi) * joints

    def gait(self, genes: Array) -> Gait:
        """The gait of an individual."""
        amplitude, frequency, phase = (tuple(row.tolist()) for row in genes.reshape(-1, 3).T)
        return Gait(amplitude=amplitude, frequency=frequency, phase=phase)

    def evaluate(self, job: Job, genes: Array) -> Array:
        """Distance swum, negative if to the rear (equation 7.1)."""
        swimmers = FastSwimmers(self.snake, len(genes))
        start = swimmers.centre
        joints = self.snake.joints
        amplitude, frequency, phase = genes.reshape(-1, joints, 3).T
        waves = [amplitude, 2.0 * np.pi * frequency, np.arange(joints)[:, None] * phase, np.zeros_like(phase)]
        swimmers.swim([0.0], np.stack(waves)[None], self.seconds)
        way = swimmers.centre - start
        return score(swimmers, np.sign(way[:, 0]) * np.linalg.norm(way, axis=1), followed=0.0)

    def figure(self, results: xr.Dataset) -> Figure:
        """Fitness over generations (as figure 7.1), and the parameters of the replicates' best (as figure 7.2)."""
        figure, axes = canvas(4, 13.0, 3.6)
        draw_fitness(axes[0], results, 68.07)
        genes = results["champion"].values.reshape(len(results["job"]), -1, 3)
        units = ("rad", "Hz", "rad")
        for k, name in enumerate(PARAMETERS):
            axes[k + 1].boxplot(genes[:, :, k], positions=range(genes.shape[1]), widths=0.6)
            axes[k + 1].set(xlabel="joint, from the head on", title=f"{name} [{units[k]}]")
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Distances; quick progress, then slow; a lively front and a stiff tail."""
        best, mean = results["best"].values, results["mean"].values
        genes = results["champion"].values.reshape(len(best), -1, 3)
        joints = genes.shape[1]
        front, rear = genes[:, : joints // 2, 0].ravel(), genes[:, -(joints // 2) :, 0].ravel()
        (test,) = compare({"front": front, "rear": rear}, "rear", "amplitude")
        early = float((best[:, min(49, best.shape[1] - 1)] / best[:, -1]).mean())
        intervals = [mean_interval(values[:, -1]) for values in (best, mean)]
        overlap = intervals[1].high >= intervals[0].low
        return [
            near("The mean of the best individuals converges to 53.34 m.", 53.34, best[:, -1].mean()),
            near("The mean of the average individuals converges to 50.18 m.", 50.18, mean[:, -1].mean()),
            near("The best individual swims 68.07 m.", 68.07, best.max()),
            claim_better(self.comparisons(results)),
            Claim(
                "The confidence intervals of best and average individuals overlap.",
                "overlap",
                f"{intervals[0].low:.1f} to {intervals[0].high:.1f}; {intervals[1].low:.1f} to {intervals[1].high:.1f}",
                bool(overlap),
            ),
            Claim(
                "Fitness rises fast within 50 generations, then slowly.",
                "most of it",
                f"{early:.0%} of the final best at generation 50",
                0.6 <= early < 0.98,
                "holds between 60% and 98%",
            ),
            near("Frequencies lie around 2.4 Hz.", 2.4, float(np.median(genes[:, :, 1])), 0.15),
            Claim(
                "Joints at the front have larger amplitudes than those at the rear.",
                "larger",
                f"{test.ratio:.2f} times (p = {test.p:.2g})",
                test.above(),
                "Mann-Whitney U over joints and replicates",
            ),
        ]

    def files(self, results: xr.Dataset) -> Mapping[str, str]:
        """The best gait."""
        return {"best.toml": gait_text(self.gait(champion(results)), self.snake)}

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """The best individual swims."""
        yield strip(self.snake, Schedule((0.0,), (self.gait(champion(results)),)), self.seconds, "The best individual.")


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


@study("water.heads", source="Draschwandtner 2015, section 7.8")
class Heads(SharedStudy):
    """Does the form of a folded head change how the body behind it should swim?

    Within 3 s the first eight joints fold to a square or a circle, in which a ball might later be held; the other
    joints then swim, for what is left of 10 s.
    """

    SOURCE: ClassVar[Mapping[str, Mapping[str, float]]] = {
        "square": {"amplitude": 0.73, "frequency": 1.72, "phase": 0.92, "distance": 24.07, "average": 21.48},
        "circle": {"amplitude": 0.75, "frequency": 1.79, "phase": 0.93, "distance": 23.18, "average": 20.49},
    }
    FOLDED: ClassVar[int] = 8

    def jobs(self) -> Iterator[Job]:
        """Every replicate of both heads."""
        return self.cross(head=tuple(self.SOURCE), replicate=range(self.replicates))

    def head(self, job: Job) -> Array:
        """The pose of the head."""
        fold_ = square_head if job.parameters["head"] == "square" else round_head
        return fold_(self.snake.joints)

    def begin(self) -> float:
        """After the head has been folded."""
        return 3.0

    def before(self, job: Job) -> Schedule:
        """Fold the head."""
        return fold(np.zeros(self.snake.joints), self.head(job), 2.5)

    def waves(self, job: Job, genes: Array) -> Array:
        """The head stays folded, the rest swims."""
        return shared_waves(genes, self.snake.joints, self.FOLDED, self.head(job))

    def figure(self, results: xr.Dataset) -> Figure:
        """Fitness and parameters of the best individuals for both heads (as figures 7.23 to 7.26)."""
        figure, axes = canvas(4, 13.0, 3.8)
        for colour, (head, source) in zip(COLOURS, self.SOURCE.items(), strict=False):
            group = results.where(results["head"] == head, drop=True)
            best = group["best"].values
            axes[0].plot(range(1, best.shape[1] + 1), best.mean(axis=0), color=colour, label=head)
            axes[0].axhline(source["distance"], color=colour, linestyle=":")
            for k, name in enumerate(PARAMETERS):
                axes[k + 1].plot(range(1, best.shape[1] + 1), group["genes"].values[:, :, k].mean(axis=0), color=colour)
                axes[k + 1].axhline(source[name], color=colour, linestyle=":")
        for each, title in zip(axes, ("fitness [m]", "amplitude [rad]", "frequency [Hz]", "phase [rad]"), strict=True):
            each.set(title=title, xlabel="generation", xscale="log")
        for k in range(3):
            axes[k + 1].set_ylim(0, HIGH[k])
        axes[0].plot([], [], color=COLOURS[5], linestyle=":", label="the source's")
        axes[0].legend(frameon=False)
        return figure

    def comparisons(self, results: xr.Dataset) -> list[Comparison]:
        """One head against the other."""
        ends = {head: results["best"].values[results["head"].values == head][:, -1] for head in self.SOURCE}
        return compare(ends, "square", "fitness in the last generation")

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Distances and parameters of both heads, and that they differ little."""
        claims = []
        ends = {}
        for head, source in self.SOURCE.items():
            group = results.where(results["head"] == head, drop=True)
            ends[head] = float(group["best"].values[:, -1].mean())
            claims.append(near(f"With a {head} head: {source['distance']:g} m.", source["distance"], ends[head]))
            claims += [
                Claim(f"With a {head} head: {claim.text}", claim.source, claim.measured, claim.holds, claim.note)
                for claim in claim_parameters(group, source)
            ]
        apart = ends["circle"] / ends["square"] - 1.0
        text = "The form of the head makes little difference to the distance."
        return [
            *claims,
            Claim(text, "-4%", f"{apart:+.1%}", abs(apart) < 0.1, "circle against square; holds within 10%"),
        ]

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """The best individual of each head swims."""
        for head in self.SOURCE:
            group = results.where(results["head"] == head, drop=True)
            job = next(job for job in self.jobs() if job.parameters["head"] == head)
            yield strip(self.snake, self.whole(job, champion(group)), self.seconds, f"The best with a {head} head.")


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
