"""What controllers lose when they move from the fast model to the reference."""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field

from sandlot.places.course_kinds import Box, Kind, Rubble, Stairs
from sandlot.recordings import Quantity
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Study, pick, study
from sandlot.studies.obstacles.trials import ENDINGS, FIDELITIES, PASSED, endings, in_percent, rate_interval
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.statistics import mean_interval
from sandlot.typing import Array

KINDS = ("boxes", "stairs", "rubble")
LOSS = 0.05
"""Largest share of runs that a controller may lose."""


def draw(kind: str, rng: np.random.Generator) -> Kind:
    """An obstacle of one of `KINDS` at random, of sizes that some controllers pass and others do not."""
    if kind == "boxes":
        return Box(distance=1.0, height=rng.uniform(0.15, 0.5), depth=rng.uniform(0.15, 1.0))
    if kind == "stairs":
        return Stairs(distance=1.0, riser=rng.uniform(0.12, 0.25), tread=rng.uniform(0.22, 0.36), steps=4)
    return Rubble(distance=1.0, height=rng.uniform(0.1, 0.3), seed=int(rng.integers(2**31)))


@study("obstacles.gap", source="the source's controllers and ours, in both fidelities of this world")
class Gap(Study):
    """What does each controller lose when it moves from the fast model to the reference?

    Each controller tries the same boxes, stairs and rubble of random size, from the same starts, in both. Boxes are 15
    to 50 cm high and 15 to 100 cm deep, risers 12 to 25 cm and treads 22 to 36 cm, rubble is up to 10 to 30 cm high.
    The reinforced controller begins every run without experience. Nothing was trained or tuned in the reference.

    Attributes:
        controllers: To compare.
        blocks: Jobs of each controller and kind of obstacle.
        block: Obstacles of a job.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        name: Quantity("1", f"how each run ends in the {name} model: {', '.join(ENDINGS)}", ("run",), (0,))
        for name in FIDELITIES
    }

    controllers: Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(distinct)] = (
        "reactive",
        "neural",
        "reinforced",
        "trained",
    )
    blocks: int = Field(5, ge=1, le=1000)
    block: int = Field(10, ge=1, le=1000)

    def jobs(self) -> Iterator[Job]:
        """Blocks of obstacles of every kind, for every controller."""
        return self.cross(controller=self.controllers, kind=KINDS, block=range(self.blocks))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Let a controller try a block of obstacles in both models; all controllers get the same ones."""
        kind, block, name = (job.parameters[each] for each in ("kind", "block", "controller"))
        rng = np.random.default_rng([self.seed, KINDS.index(str(kind)), int(block)])
        kinds, seed = [draw(str(kind), rng) for _ in range(self.block)], int(rng.integers(2**31))
        return {fidelity: endings(str(name), kinds, fidelity, seed) for fidelity in FIDELITIES}

    def passed(self, results: xr.Dataset, name: str, kind: str | None = None) -> dict[str, Array]:
        """Which runs a controller passes, 0 or 1, by fidelity: (runs,) each."""
        mine = pick(results, controller=name) if kind is None else pick(results, controller=name, kind=kind)
        return {each: (mine[each].values.ravel() == PASSED).astype(np.float64) for each in FIDELITIES}

    def figure(self, results: xr.Dataset) -> Figure:
        """Shares of obstacles that each controller passes, with 95% confidence intervals."""
        figure, axes = canvas(len(KINDS) + 1, 13.0, 3.8)
        for each, kind in zip(axes, (None, *KINDS), strict=True):
            for k, (fidelity, colour) in enumerate(zip(FIDELITIES, COLOURS, strict=False)):
                rates = [rate_interval(self.passed(results, name, kind)[fidelity] > 0.5) for name in self.controllers]
                x, mean = np.arange(len(rates)) + 0.4 * k - 0.2, np.array([rate.mean for rate in rates])
                errors = np.array([[rate.mean - rate.low, rate.high - rate.mean] for rate in rates]).T
                each.bar(x, mean, 0.36, yerr=np.maximum(errors, 0.0), color=colour, label=fidelity, error_kw={"lw": 1})
            each.set_xticks(np.arange(len(self.controllers)), self.controllers, rotation=30)
            each.set(title=kind or "all", ylim=(0.0, 1.05))
        axes[0].set_ylabel("share that passes")
        axes[0].legend(frameon=False, loc="upper left")
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """What each controller loses, and which is the best in the reference."""
        claims, rates = [], {}
        for name in self.controllers:
            passed = self.passed(results, name)
            fast, slow = (rate_interval(passed[each] > 0.5) for each in FIDELITIES)
            change = mean_interval(passed["reference"] - passed["fast"])
            flips = [int(((passed[a] == 1.0) & (passed[b] == 0.0)).sum()) for a, b in (FIDELITIES, FIDELITIES[::-1])]
            rates[name] = slow.mean
            said = (
                f"passes {in_percent(fast)} in fast, {in_percent(slow)} in reference; of {passed['fast'].size} runs "
                f"{flips[0]} pass only in fast, {flips[1]} only in reference"
            )
            text = f"The {name} controller passes as much in the reference, but for 5% of the runs."
            measured = f"{100.0 * change.mean:+.1f} ({100.0 * change.low:+.1f} to {100.0 * change.high:+.1f}) % of runs"
            claims.append(Claim(text, "beyond the source", measured, change.mean >= -LOSS, said))
        if "trained" in rates and len(rates) > 1:
            others = {name: rate for name, rate in rates.items() if name != "trained"}
            said = ", ".join(f"{name} {rate:.1%}" for name, rate in rates.items())
            text = "In the reference the trained policy passes more than every controller of the source."
            claims.append(Claim(text, "beyond the source", said, rates["trained"] > max(others.values())))
        return claims
