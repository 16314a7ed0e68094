"""Gaits with separate parameters for every joint, found by evolution."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import Field

from sandlot.control.snake.files import gait_text
from sandlot.control.snake.gaits import Gait, Schedule
from sandlot.learning.evolution import JOINT_BY_JOINT, Genetic
from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.robots.snake import Snake
from sandlot.studies.base import Claim, Job, Picture, pick, study
from sandlot.studies.plots import canvas
from sandlot.studies.statistics import Comparison, compare, mean_interval
from sandlot.studies.water.base import (
    LIGHT,
    PARAMETERS,
    EvolutionStudy,
    best_against_average,
    champion,
    claim_better,
    draw_fitness,
    near,
    score,
    travelled,
)
from sandlot.studies.water.strips import strip
from sandlot.typing import Array


def circular_mean(angles: Array) -> tuple[float, float, float]:
    """Mean direction of angles, 0 to 2 pi [rad]; their resultant length, 0 to 1; and the p-value of a Rayleigh test.

    The test's null hypothesis is that all directions are equally likely; then there is no mean direction. Its p-value
    is the approximation of Zar 1999, equation 27.4.
    """
    sums = np.exp(1j * angles).sum()
    n, length = angles.size, abs(sums)
    p = np.exp(np.sqrt(1.0 + 4.0 * n + 4.0 * (n**2 - length**2)) - (1.0 + 2.0 * n))
    return float(np.angle(sums) % (2.0 * np.pi)), float(length / n), float(min(p, 1.0))


@study("water.evolve", source="Draschwandtner 2015, section 7.1")
class Evolve(EvolutionStudy):
    """Can evolution find 21 parameters with which an eight-link body swims?

    Every joint has its own amplitude, frequency and phase. A genetic algorithm with one-point crossover maximises the
    distance swum in 20 s; swimming backwards counts as negative. The body is light, and drag acts on all faces of its
    links.

    Joint i follows ``amplitude sin(2 pi frequency t - i phase)``, with i counted from the head. The source counts i
    from the tail and negates the phase: ``+ i phase``. If all joints have the same phase, this is the same wave with
    another start. If all phases are pi, as the source reports, the commands are equal: neighbours move in opposition,
    and the wave travels in neither direction. Deviations from pi count more towards the tail here, and more towards
    the head in the source.

    The source gives two torques: 10 in section 7.1, and 100 in section 7.4 for all experiments before it. Evolution
    runs with both; claims without a torque are about the first.

    Attributes:
        torques: Of the motors [N m], a case each.
    """

    snake: Snake = LIGHT
    seconds: float = Field(20.0, gt=0.0, le=1e4)
    genetic: Genetic = JOINT_BY_JOINT
    torques: tuple[float, ...] = Field((10.0, 100.0), min_length=1)

    def jobs(self) -> Iterator[Job]:
        """Every replicate with every torque."""
        return self.cross(torque=self.torques, replicate=range(self.replicates))

    def body(self, torque: float) -> Snake:
        """The body with motors of this torque [N m]."""
        return self.snake.model_copy(update={"max_torque": torque})

    def limits(self) -> tuple[Sequence[float], Sequence[float]]:
        """Of amplitude, frequency and phase, joint after joint."""
        joints = self.snake.joints
        return (0.001, 0.001, 0.0) * joints, (2.0, 4.0, 2.0 * np.pi) * joints

    def gait(self, genes: Array) -> Gait:
        """The gait of an individual."""
        amplitude, frequency, phase = (tuple(row.tolist()) for row in genes.reshape(-1, 3).T)
        return Gait(amplitude=amplitude, frequency=frequency, phase=phase)

    def evaluate(self, job: Job, genes: Array) -> Array:
        """Distance swum, negative if backwards (equation 7.1)."""
        swimmers = FastSwimmers(self.body(float(job.parameters["torque"])), len(genes))
        joints = self.snake.joints
        amplitude, frequency, phase = genes.reshape(-1, joints, 3).T
        waves = [amplitude, 2.0 * np.pi * frequency, np.arange(joints)[:, None] * phase, np.zeros_like(phase)]
        swimmers.swim([0.0], np.stack(waves)[None], self.seconds)
        return score(swimmers, travelled(swimmers))

    def figure(self, results: xr.Dataset) -> Figure:
        """A row a torque: fitness over generations (as figure 7.1), parameters of the replicates' best (figure 7.2)."""
        figure, axes = canvas(4, 13.0, 3.4 * len(self.torques), rows=len(self.torques))
        for index, torque in enumerate(self.torques):
            row = axes[4 * index : 4 * index + 4]
            group = pick(results, torque=torque)
            draw_fitness(row[0], group, 68.07, f"motors of {torque:g} N m")
            genes = group["champion"].values.reshape(self.replicates, -1, 3)
            for k, (name, unit) in enumerate(PARAMETERS.items()):
                row[k + 1].boxplot(genes[:, :, k], positions=range(genes.shape[1]), widths=0.6)
                row[k + 1].set(xlabel="joint, from the head on", title=f"{name} [{unit}]")
        return figure

    def comparisons(self, results: xr.Dataset) -> list[Comparison]:
        """Best individuals against average ones, at the end, with the first torque."""
        return best_against_average(pick(results, torque=self.torques[0]))

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Distances; fast, then slow progress; frequencies and phases; larger amplitudes at the front."""
        claims = self.claims_of(pick(results, torque=self.torques[0]))
        for torque in self.torques[1:]:
            group = pick(results, torque=torque)
            best = group["best"].values
            frequency = float(np.median(group["champion"].values.reshape(-1, 3)[:, 1]))
            interval = mean_interval(best[:, -1])
            claims += [
                Claim(
                    f"With {torque:g} N m, the source's 53.34 m lie in the 95% interval of the mean of the best.",
                    53.34,
                    f"{interval.mean:.1f} m, {interval.low:.1f} to {interval.high:.1f}",
                    bool(interval.low <= 53.34 <= interval.high),
                    f"over {len(best)} replicates",
                ),
                near(
                    f"With {torque:g} N m: The mean of the best individuals converges to 53.34 m.",
                    53.34,
                    best[:, -1].mean(),
                ),
                near(f"With {torque:g} N m: The best individual swims 68.07 m.", 68.07, best.max()),
                near(f"With {torque:g} N m: Frequencies lie around 2.4 Hz.", 2.4, frequency, 0.15),
            ]
        return claims

    def claims_of(self, results: xr.Dataset) -> list[Claim]:
        """What the source says, about the results of one torque."""
        best, mean = results["best"].values, results["mean"].values
        genes = results["champion"].values.reshape(len(best), -1, 3)
        joints = genes.shape[1]
        front, rear = genes[:, : joints // 2, 0].ravel(), genes[:, -(joints // 2) :, 0].ravel()
        (test,) = compare({"front": front, "rear": rear}, "rear", "amplitude")
        # The head's joint has index 0: its phase has no effect.
        phase, concentration, p = circular_mean(genes[:, 1:, 2].ravel())
        early = float((best[:, min(49, best.shape[1] - 1)] / best[:, -1]).mean())
        intervals = [mean_interval(values[:, -1]) for values in (best, mean)]
        overlap = intervals[1].high >= intervals[0].low
        return [
            near("The mean of the best individuals converges to 53.34 m.", 53.34, best[:, -1].mean()),
            near("The mean of the average individuals converges to 50.18 m.", 50.18, mean[:, -1].mean()),
            near("The best individual swims 68.07 m.", 68.07, best.max()),
            claim_better(best_against_average(results)),
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
                "Phases lie around pi.",
                "pi",
                f"{phase / np.pi:.2f} pi (resultant length {concentration:.2f}, p = {p:.2g})",
                p < 0.05 and abs(phase - np.pi) <= 0.15 * np.pi,
                "circular mean, holds within 15% if a Rayleigh test finds a mean direction; without the head's joint, "
                "whose phase has no effect",
            ),
            Claim(
                "Joints at the front have larger amplitudes than those at the rear.",
                "larger",
                f"{test.ratio:.2f} times (p = {test.p:.2g})",
                test.above(),
                "Mann-Whitney U over joints and replicates",
            ),
        ]

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """The best individual of each torque swims."""
        for torque in self.torques:
            gait = self.gait(champion(pick(results, torque=torque)))
            text = f"The best individual with motors of {torque:g} N m."
            yield strip(self.body(torque), Schedule((0.0,), (gait,)), self.seconds, text)

    def files(self, results: xr.Dataset) -> Mapping[str, str]:
        """The best gait of each torque."""
        return {
            f"best_{torque:g}.toml": gait_text(self.gait(champion(pick(results, torque=torque))), self.body(torque))
            for torque in self.torques
        }
