"""The fast model compared with the reference, and with the reference at half its time step."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import Field

from sandlot.recordings import Quantity
from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.robots.reference_swimmers import check_stable
from sandlot.robots.snake import Snake
from sandlot.robots.swimmers import Swimmers
from sandlot.studies.base import Claim, Found, Job, pick, study
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.water.base import CONVERGED, HIGH, LOW, PARAMETERS, SwimStudy, shared_waves
from sandlot.studies.water.following import follow, three_models
from sandlot.typing import Array

SETS: Mapping[str, tuple[float, float, float] | None] = {
    "random": None,
    "near the fast optimum": (0.40, 2.90, 0.60),
    "near the source's optimum": (0.46, 2.00, 0.68),
    "without drag": None,
}
"""Optimum around which gaits are drawn: amplitude [rad], frequency [Hz], phase [rad]; without one, gaits are drawn from
the whole range of section 7.7."""
OPTIMA = ("near the fast optimum", "near the source's optimum")
VARIATION = 0.1
"""Maximum relative change of a parameter around an optimum, within its range."""
NUDGE = 1e-4
"""Relative change of a gait that tells whether its distance is sensitive."""


class Waves:
    """A plan with a gait for each body."""

    def __init__(self, genes: Array, joints: int) -> None:
        self._waves = shared_waves(genes, joints).transpose(0, 2, 1).copy()

    def targets(self, time: float, snake: Snake) -> Array:
        """Target angles of the joints at ``time``: (gaits, joints) [rad]."""
        amplitude, frequency, phase, _ = self._waves
        number = round(time / snake.interval)
        return amplitude * np.sin(frequency * number * snake.interval - phase)


@study("water.fidelity", source="how the two fidelities of this world compare")
class Fidelity(SwimStudy):
    """Does the fast model say the same as the reference?

    Random gaits from the range of section 7.7, and gaits near two optima, swim for 10 s in the fast model, in the
    reference, and in the reference with half its time step. The two are compared on gaits for which the reference has
    converged: half its time step changes the distance by less than 2%, and nothing exploded. Whether the motion itself
    is sensitive is asked of the fast model: amplitude, frequency and phase are changed by 0.01%, one at a time, and the
    largest relative change of the distance is kept. Without drag the centre of mass must stay in place, and angular
    momentum must stay zero.

    Attributes:
        gaits: Number of random gaits.
        near: Number of gaits near each optimum, and without drag.
        block: Gaits of a job.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "amplitude": Quantity("rad", "amplitude", ("gait",), (0,)),
        "frequency": Quantity("1/s", "frequency", ("gait",), (0,)),
        "phase": Quantity("rad", "phase", ("gait",), (0,)),
        "fast": Quantity("m", "distance in the fast model", ("gait",), (0,)),
        "reference": Quantity("m", "distance in the reference", ("gait",), (0,)),
        "halved": Quantity("m", "distance in the reference with half its time step", ("gait",), (0,)),
        "drive": Quantity("1", "mean share of motors below their torque limit", ("gait",), (0,)),
        "sensitivity": Quantity("1", "change of the distance if the gait changes by 0.01%", ("gait",), (0,)),
        "exploded": Quantity("1", "whether a simulation exploded", ("gait",), (0,)),
        "fast_spin": Quantity("kg*m^2/s", "angular momentum in the fast model", ("gait",), (0,)),
        "spin": Quantity("kg*m^2/s", "angular momentum in the reference", ("gait",), (0,)),
    }

    gaits: int = Field(200, ge=4, le=100_000)
    near: int = Field(40, ge=4, le=100_000)
    block: int = Field(20, ge=2, le=100_000)

    def check(self) -> None:
        """Refuse a step that the reference cannot take."""
        check_stable(self.snake)

    def jobs(self) -> Iterator[Job]:
        """Blocks of gaits from every set; the last block of a set may have spare gaits."""
        return self.each(
            {"set": name, "block": k} for name in SETS for k in range(-(-self._wanted(name) // self.block))
        )

    def _wanted(self, name: str) -> int:
        return self.gaits if name == "random" else self.near

    def run(self, job: Job) -> Mapping[str, Found]:
        """Draw a block of gaits, and let them swim."""
        name, rng = str(job.parameters["set"]), np.random.default_rng(job.seed)
        middle = SETS[name]
        if middle is None:
            genes = rng.uniform(LOW, HIGH, (self.block, 3))
        else:
            genes = np.clip(
                np.array(middle) * rng.uniform(1.0 - VARIATION, 1.0 + VARIATION, (self.block, 3)), LOW, HIGH
            )
        snake = self.snake.model_copy(update={"drag": 0.0}) if name == "without drag" else self.snake
        models = three_models(snake, self.block)
        distances = {word: self.swim(swimmers, genes) for word, swimmers in models.items()}
        exploded = np.any([swimmers.exploded for swimmers in models.values()], axis=0)
        fast, reference = models["fast"], models["reference"]
        return {
            **dict(zip(PARAMETERS, genes.T, strict=True)),
            **{word: np.where(exploded, np.nan, distance) for word, distance in distances.items()},
            "drive": np.minimum(fast.drive, reference.drive),
            "sensitivity": self.sensitivity(snake, genes, distances["fast"]),
            "exploded": exploded.astype(np.float64),
            "fast_spin": np.where(exploded, np.nan, fast.angular_momentum),
            "spin": np.where(exploded, np.nan, reference.angular_momentum),
        }

    def swim(self, swimmers: Swimmers, genes: Array) -> Array:
        """Distance along x [m]; without drag, maximum distance of the centre of mass from the start: (gaits,) [m]."""
        start, furthest = swimmers.centre.copy(), np.zeros(len(genes))
        for _ in follow(swimmers, Waves(genes, self.snake.joints), self.seconds):
            furthest = np.maximum(furthest, np.linalg.norm(swimmers.centre - start, axis=1))
        return furthest if swimmers.snake.drag == 0.0 else swimmers.centre[:, 0] - start[:, 0]

    def sensitivity(self, snake: Snake, genes: Array, distances: Array) -> Array:
        """Relative change of the fast model's distances [m] if a parameter changes by `NUDGE`, at most: (gaits,)."""
        nudged = np.concatenate([genes * (1.0 + NUDGE * one) for one in np.eye(len(PARAMETERS))])
        moved = self.swim(FastSwimmers(snake, len(nudged)), nudged).reshape(-1, len(genes))
        return np.asarray(np.abs(moved / distances - 1.0).max(axis=0))

    def table(self, results: xr.Dataset, *sets: str) -> xr.Dataset:
        """Gaits of some sets, with the ``change`` by half the time step and the ``difference`` between fidelities."""
        parts = []
        for name in sets:
            mine = pick(results, set=name).drop_vars(["set", "block"])
            parts.append(mine.stack(row=("job", "gait")).isel(row=slice(self._wanted(name))).reset_index("row"))
        rows = xr.concat(parts, "row")
        return rows.assign(
            change=np.abs(rows["reference"] / rows["halved"] - 1.0),
            difference=np.abs(rows["fast"] / rows["halved"] - 1.0),
        )

    def trusted(self, results: xr.Dataset, *sets: str) -> xr.Dataset:
        """Gaits for which the reference has converged."""
        rows = self.table(results, *sets)
        return rows.isel(row=(rows["change"].values < CONVERGED) & (rows["exploded"].values == 0.0))

    def figure(self, results: xr.Dataset) -> Figure:
        """Distances at both fidelities; their difference and the gait's sensitivity over the change by half a step."""
        figure, axes = canvas(3, 14.0, 4.4)
        rows = self.table(results, "random", *OPTIMA)
        trusted = rows["change"].values < CONVERGED
        groups = {"reference converged": trusted, "reference not converged": ~trusted}
        for colour, (label, mine) in zip(COLOURS, groups.items(), strict=False):
            some = rows.isel(row=mine)
            dots: dict[str, Any] = {"color": colour, "s": 14, "alpha": 0.7, "label": f"{label}: {int(mine.sum())}"}
            change = np.maximum(some["change"], 1e-9)
            axes[0].scatter(some["halved"], some["fast"], **dots)
            axes[1].scatter(change, np.maximum(some["difference"], 1e-6), **dots)
            axes[2].scatter(change, np.maximum(some["sensitivity"], 1e-6), **dots)
        ends = [float(np.nanmin(rows["fast"])), float(np.nanmax(rows["fast"]))]
        axes[0].plot(ends, ends, color=COLOURS[5], linewidth=0.7)
        axes[0].set(xlabel="distance in the reference, half the step [m]", ylabel="distance in the fast model [m]")
        axes[0].legend(frameon=False, fontsize=8)
        for each, label in zip(
            axes[1:], ("difference between the two", "change if the gait changes by 0.01%"), strict=True
        ):
            each.axvline(CONVERGED, color=COLOURS[5], linewidth=0.7)
            each.set(xlabel="change when the reference's step is halved", ylabel=label, xscale="log", yscale="log")
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Agreement where the reference has converged, why it does not converge, and conservation of momentum."""
        every, some = self.table(results, "random"), self.trusted(results, "random")
        counts = f"{some.sizes['row']} of {every.sizes['row']} gaits; {int(every['exploded'].sum())} exploded"
        from scipy import stats  # loaded when needed: it takes a second, in each worker

        rank = float(stats.spearmanr(some["fast"], some["halved"]).statistic)
        median = float(np.median(some["difference"]))
        return [
            Claim(
                "The reference converges for most gaits.",
                "halving its step changes the distance by less than 2%",
                counts,
                2 * some.sizes["row"] > every.sizes["row"],
                "holds for more than half",
            ),
            Claim("Both rank gaits alike.", "Spearman at least 0.97", round(rank, 4), rank >= 0.97, counts),
            Claim("Both agree on distances.", "median at most 3%", f"{median:.2%}", median <= 0.03, counts),
            *(self._agreement(results, name) for name in OPTIMA),
            self._sensitive(results),
            *self._conservation(results),
        ]

    def _agreement(self, results: xr.Dataset, name: str) -> Claim:
        """That both fidelities agree near an optimum."""
        trusted, total = self.trusted(results, name), self.table(results, name).sizes["row"]
        judged, worst = trusted.sizes["row"], float(trusted["difference"].values.max(initial=0.0))
        said = f"within {worst:.2%}, for {judged} of {total} gaits" if judged else f"none of {total} can be judged"
        note = f"holds if at least 90% of them can be judged; {total - judged} not converged"
        return Claim(f"They agree {name}.", "within 5%", said, 10 * judged >= 9 * total and worst <= 0.05, note)

    def _sensitive(self, results: xr.Dataset) -> Claim:
        """That gaits which do not converge depend on the smallest change of the gait."""
        rows = self.table(results, OPTIMA[0])
        sensitive = ~(rows["sensitivity"].values < CONVERGED)
        trusted = (rows["change"].values < CONVERGED) & (rows["exploded"].values == 0.0)
        lost, wild = int((~trusted).sum()), int((sensitive & ~trusted).sum())
        return Claim(
            f"Gaits {OPTIMA[0]} that do not converge are sensitive: a change of 0.01% changes their distance by 2% or "
            "more, in the fast model.",
            "at least 90% of them",
            f"{wild} of {lost}",
            bool(10 * wild >= 9 * lost),
            f"so are {int((sensitive & trusted).sum())} of {int(trusted.sum())} that converge",
        )

    def _conservation(self, results: xr.Dataset) -> Iterator[Claim]:
        """That nothing pushes or turns a body without drag."""
        still = self.table(results, "without drag")
        still = still.isel(row=still["exploded"].values == 0.0)
        scale = self.snake.mass * self.snake.arclength**2
        smaller = f"{float(still['halved'].values.max(initial=0.0)):.1e} m with half the step"
        for word, spins, limit in (("fast", "fast_spin", 1e-9), ("reference", "spin", 0.01)):
            moved, turns = (float(np.abs(still[each].values).max(initial=0.0)) for each in (word, spins))
            moved, turns = moved / self.snake.arclength, turns / scale
            yield Claim(
                f"Without drag the centre of mass stays, and no angular momentum is gained, at {word} fidelity.",
                f"at most {limit:g} body lengths, {limit:g} rad/s",
                f"{moved:.1e} body lengths, {turns:.1e} rad/s",
                bool(still.sizes["row"] and moved <= limit and turns <= limit),
                f"{still.sizes['row']} gaits; angular momentum over mass times length squared"
                + (f"; {smaller}" if word == "reference" else ""),
            )
