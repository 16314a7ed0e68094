"""The fast model compared with the reference, and with the reference at half its time step."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import Field
from scipy import stats

from sandlot.recordings import Quantity
from sandlot.robots.reference_swimmers import check_stable
from sandlot.robots.snake import Snake
from sandlot.robots.swimmers import Swimmers
from sandlot.studies.base import Claim, Found, Job, pick, study
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.water.base import CONVERGED, FOLLOWED, HIGH, LOW, PARAMETERS, SwimStudy, shared_waves
from sandlot.studies.water.following import follow, three_models
from sandlot.typing import Array

SETS: Mapping[str, tuple[float, float, float] | None] = {
    "random": None,
    "near the fast optimum": (0.60, 3.00, 0.66),
    "near the source's optimum": (0.46, 2.00, 0.68),
    "without drag": None,
}
"""Optimum around which gaits are drawn: amplitude [rad], frequency [Hz], phase [rad]; without one, gaits are drawn from
the whole range of section 7.7."""
VARIATION = 0.1
"""Maximum relative change of a parameter around an optimum, within its range."""


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
    converged: half its time step changes the distance by less than 2%, and nothing exploded. Where motors are
    overloaded the body does not follow the gait, small differences grow, and neither result is reliable. Without drag
    the centre of mass must stay in place, and angular momentum must stay zero.

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
        "drive": Quantity("1", "share of the commanded acceleration that the motors deliver", ("gait",), (0,)),
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
        """Distances at both fidelities, and their difference over the drive and over the change by half a step."""
        figure, axes = canvas(3, 14.0, 4.4)
        rows = self.table(results, *list(SETS)[:3])
        follows, trusted = rows["drive"].values >= FOLLOWED, rows["change"].values < CONVERGED
        groups = {
            "motors follow, reference converged": follows & trusted,
            "motors overloaded, reference converged": ~follows & trusted,
            "reference not converged": ~trusted,
        }
        for colour, (label, mine) in zip(COLOURS, groups.items(), strict=False):
            some = rows.isel(row=mine)
            dots: dict[str, Any] = {"color": colour, "s": 14, "alpha": 0.7, "label": f"{label}: {int(mine.sum())}"}
            axes[0].scatter(some["halved"], some["fast"], **dots)
            axes[1].scatter(some["drive"], np.maximum(some["difference"], 1e-6), **dots)
            axes[2].scatter(np.maximum(some["change"], 1e-9), np.maximum(some["difference"], 1e-6), **dots)
        ends = [float(np.nanmin(rows["fast"])), float(np.nanmax(rows["fast"]))]
        axes[0].plot(ends, ends, color=COLOURS[5], linewidth=0.7)
        axes[0].set(xlabel="distance in the reference, half the step [m]", ylabel="distance in the fast model [m]")
        axes[0].legend(frameon=False, fontsize=8)
        axes[1].axvline(FOLLOWED, color=COLOURS[5], linewidth=0.7)
        axes[1].set(
            xlabel="share of acceleration that motors deliver", ylabel="difference between the two", yscale="log"
        )
        axes[2].axvline(CONVERGED, color=COLOURS[5], linewidth=0.7)
        axes[2].set(
            xlabel="change when the reference's step is halved", ylabel="difference", xscale="log", yscale="log"
        )
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Agreement where the reference has converged, and conservation of momentum."""
        every, some = self.table(results, "random"), self.trusted(results, "random")
        exploded, loaded = int(every["exploded"].sum()), int((every["drive"] < FOLLOWED).sum())
        counts = f"{some.sizes['row']} of {every.sizes['row']} gaits; {exploded} exploded, {loaded} overload the motors"
        rank = float(stats.spearmanr(some["fast"], some["halved"]).statistic)
        median = float(np.median(some["difference"]))
        follow = some.isel(row=some["drive"].values >= FOLLOWED)
        well = f"where motors follow, {follow.sizes['row']} gaits"
        well += f", {float(np.median(follow['difference'])):.2%}" if follow.sizes["row"] else ""
        found = [
            Claim(
                "The reference converges for most gaits.",
                "halving its step changes the distance by less than 2%",
                counts,
                2 * some.sizes["row"] > every.sizes["row"],
                "holds for more than half",
            ),
            Claim("Both rank gaits alike.", "Spearman at least 0.97", round(rank, 4), rank >= 0.97, counts),
            Claim("Both agree on distances.", "median at most 3%", f"{median:.2%}", median <= 0.03, well),
        ]
        for name in list(SETS)[1:3]:
            rows, trusted = self.table(results, name), self.trusted(results, name)
            able = trusted["drive"].values >= FOLLOWED
            worst, beside = (float(trusted["difference"].values[mine].max(initial=0.0)) for mine in (able, ~able))
            lost = f"up to {beside:.0%} with {int((~able).sum())} that overload the motors" if (~able).any() else ""
            judged, total = int(able.sum()), rows.sizes["row"]
            text = f"They agree {name}, where motors follow."
            said = f"within {worst:.2%}, for {judged} of {total} gaits" if judged else f"none of {total} can be judged"
            seen = f"holds if at least half of them can be judged; {total - able.size} not converged"
            note = "; ".join(filter(None, (seen, lost)))
            found.append(Claim(text, "within 5%", said, 2 * judged >= total and worst <= 0.05, note))
        still = self.table(results, "without drag")
        still = still.isel(row=(still["drive"].values >= FOLLOWED) & (still["exploded"].values == 0.0))
        scale = self.snake.mass * self.snake.arclength**2
        smaller = f"{float(still['halved'].values.max(initial=0.0)):.1e} m with half the step"
        for word, spins, limit in (("fast", "fast_spin", 1e-9), ("reference", "spin", 0.01)):
            moved, turns = (float(np.abs(still[each].values).max(initial=0.0)) for each in (word, spins))
            moved, turns = moved / self.snake.arclength, turns / scale
            found.append(
                Claim(
                    f"Without drag the centre of mass stays, and no angular momentum is gained, at {word} fidelity.",
                    f"at most {limit:g} body lengths, {limit:g} rad/s",
                    f"{moved:.1e} body lengths, {turns:.1e} rad/s",
                    bool(still.sizes["row"] and moved <= limit and turns <= limit),
                    f"{still.sizes['row']} gaits whose motors follow; angular momentum over mass times length squared"
                    + (f"; {smaller}" if word == "reference" else ""),
                )
            )
        return found
