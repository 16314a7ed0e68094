"""Why a wheel pulls less at low slip on soft soil than in Project Chrono: its choices, made one at a time."""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field

from sandlot.physics.soil import PRESETS
from sandlot.recordings import Quantity
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Study, pick, study
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.terrain import chrono
from sandlot.studies.terrain.plain_wheel import Choices, PlainWheel, plain_drive
from sandlot.studies.terrain.shared import at_most
from sandlot.studies.terrain.wheel import LOAD, RADIUS, SPEED, STEP, WIDTH, Slip, Wheel, percentages
from sandlot.typing import Array

SOILS = ("soft", "mid")
SPACING = 0.02
"""Of the nodes [m], as in Project Chrono's runs."""
SOIL, PLAIN, ALL = "soil", "plain", "all"
SINGLE = {
    "summed slip": Choices(summed=True, full=False, rays=False),
    "full cells": Choices(summed=False, full=True, rays=False),
    "rays": Choices(summed=False, full=False, rays=True),
}
"""Models with one of Chrono's choices."""
MODELS = {
    PLAIN: Choices(summed=False, full=False, rays=False),
    **SINGLE,
    "summed slip and rays": Choices(summed=True, full=False, rays=True),
    ALL: Choices(summed=True, full=True, rays=True),
}
NEAR, SAME = 0.15, 0.05
"""A pull this near Chrono's counts as explained, and one this near the soil's as the same, as shares of W tan(phi)."""


@study("terrain.low_slip", source="Project Chrono's soil contact model")
class LowSlip(Study):
    """Why does a wheel pull less at low slip than in Project Chrono?

    The wheel of `terrain.wheel` drives on a plain model of soil, in which three choices of Chrono can be made one at a
    time. Its shear grows with the sum of distances slipped, and not with a vector that turns with the slip. A touched
    cell counts in full, and not as far as it is covered. And the level of the wheel is found by rays that end some
    millimetres below it, and not exactly. The soil of Sandlot is the first case.

    Attributes:
        slips: 1 - v / (omega r), in increasing order.
        seconds: Duration of a drive [s]; results are means over its second half.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "sinkage": Quantity("m", "mean sinkage", ("slip",), (0,)),
        "pull": Quantity("N", "mean drawbar pull", ("slip",), (0,)),
    }

    slips: Annotated[tuple[Slip, ...], Field(min_length=2), AfterValidator(distinct)] = (0.0, 0.05, 0.1, 0.2, 0.3, 0.7)
    seconds: float = Field(4.0, ge=0.1, le=60.0)

    def jobs(self) -> Iterator[Job]:
        """Every model on both soils that Chrono was run with."""
        return self.cross(model=(SOIL, *MODELS), ground=SOILS)

    def run(self, job: Job) -> Mapping[str, Found]:
        """Drive once for every slip."""
        model, ground = str(job.parameters["model"]), str(job.parameters["ground"])
        sinkage, pull = np.array([self.drive(model, ground, slip) for slip in self.slips]).T
        return {"sinkage": sinkage, "pull": pull}

    def drive(self, model: str, ground: str, slip: float) -> tuple[float, float]:
        """Mean sinkage [m] and drawbar pull [N] in the second half of a drive."""
        if model == SOIL:
            return Wheel(seconds=self.seconds).drive(ground, SPACING, slip)
        wheel = PlainWheel(RADIUS, WIDTH, LOAD, SPEED, SPEED / (RADIUS * (1.0 - slip)))
        soil = PRESETS[ground].parameters()
        return plain_drive(wheel, soil, MODELS[model], SPACING, STEP, round(self.seconds / STEP))

    def pull(self, results: xr.Dataset, model: str, ground: str, slip: float) -> float:
        """Drawbar pull of a model [N]."""
        row = pick(results, model=model, ground=ground).isel(job=0)
        return float(row["pull"].values[self.slips.index(slip)])

    def figure(self, results: xr.Dataset) -> Figure:
        """Drawbar pull over slip: of Sandlot's soil, of the plain model with Chrono's choices, and of Chrono."""
        figure, panels = canvas(2, 11.0, 4.4)
        for axes, ground in zip(panels, SOILS, strict=True):
            axes.axhline(0.0, color="0.6", linewidth=0.7)
            for colour, model in zip((COLOURS[0], *COLOURS), (SOIL, *MODELS), strict=True):
                pull = pick(results, model=model, ground=ground).isel(job=0)["pull"].values / LOAD
                style = "o" if model == SOIL else ".-" if model in (PLAIN, ALL) else ".--"
                label = {SOIL: "Sandlot's soil", PLAIN: "plain model", ALL: "all of Chrono's choices"}.get(model, model)
                axes.plot(self.slips, pull, style, color=colour, label=label, fillstyle="none")
            known = np.array([(slip, pull) for (soil, slip), (_, pull) in chrono.WHEEL.items() if soil == ground])
            axes.plot(known[:, 0], known[:, 1] / LOAD, "kx", markersize=9, label="Project Chrono")
            axes.set(xlabel="slip", ylabel="drawbar pull / load", title=ground, xlim=(-0.02, max(self.slips) + 0.02))
        panels[0].legend(frameon=False, fontsize=8, loc="lower right")
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Which choice of Chrono changes the sign of the pull, and whether all of them give its pull."""
        claims = [self._same_claim(results)]
        if ("soft", 0.1) in self._shared():
            claims.append(self._sign_claim(results))
        if ("soft", 0.0) in self._shared():
            claims.append(self._both_claim(results))
        return [*claims, *self._chrono_claims(results)] if self._shared() else claims

    def _shared(self) -> list[tuple[str, float]]:
        """Soils and slips at which Chrono was run too."""
        return [key for key in chrono.WHEEL if key[0] in SOILS and key[1] in self.slips]

    def _errors(self, results: xr.Dataset, model: str) -> Array:
        """Pull minus Chrono's, over W tan(phi), at every soil and slip that both have."""
        return np.array(
            [
                (self.pull(results, model, ground, slip) - chrono.WHEEL[ground, slip][1]) / _strength(ground)
                for ground, slip in self._shared()
            ]
        )

    def _same_claim(self, results: xr.Dataset) -> Claim:
        """That the plain model with our choices is a model of our soil."""
        where = [(ground, slip) for ground in SOILS for slip in self.slips]
        errors = [
            (self.pull(results, PLAIN, ground, slip) - self.pull(results, SOIL, ground, slip)) / _strength(ground)
            for ground, slip in where
        ]
        return Claim(
            "With none of Chrono's choices, the plain model pulls as the soil of Sandlot does.",
            f"within {SAME:.0%} of W tan(phi)",
            percentages([f"{ground} {slip:g}" for ground, slip in where], errors),
            at_most(np.abs(errors), SAME),
            "by soil and slip, as a share of W tan(phi)",
        )

    def _sign_claim(self, results: xr.Dataset) -> Claim:
        """Which choice alone gives the pull the sign of Chrono's."""
        pulls = {model: self.pull(results, model, "soft", 0.1) for model in (PLAIN, *SINGLE)}
        changed = [model for model in SINGLE if pulls[model] > 0.0]
        low = [slip for slip in self.slips if 0.0 < slip < 0.1]
        lower = [
            f"at a slip of {slip:g}, where Chrono was not run: "
            + ", ".join(f"{model} {self.pull(results, model, 'soft', slip):+.0f} N" for model in (*pulls, ALL))
            for slip in low
        ]
        return Claim(
            "On soft soil at a slip of 0.1, summing slip is the one choice that alone makes the pull positive.",
            f"Chrono: {chrono.WHEEL['soft', 0.1][1]:+.0f} N",
            "; ".join(f"{model}: {pull:+.0f} N" for model, pull in pulls.items()),
            pulls[PLAIN] < 0.0 and changed == ["summed slip"],
            "; ".join(lower),
        )

    def _both_claim(self, results: xr.Dataset) -> Claim:
        """What it takes to pull as Chrono does without slip."""
        models = (*SINGLE, "summed slip and rays")
        strength, target = _strength("soft"), chrono.WHEEL["soft", 0.0][1]
        errors = {model: (self.pull(results, model, "soft", 0.0) - target) / strength for model in models}
        alone = [abs(errors[model]) for model in SINGLE]
        return Claim(
            "On soft soil without slip, no choice alone explains the pull; summed slip and rays together do.",
            f"alone beyond {NEAR:.0%} of W tan(phi), together within",
            percentages(list(errors), list(errors.values())),
            min(alone) > NEAR and at_most(abs(errors["summed slip and rays"]), NEAR),
            "pull compared with Chrono's, as a share of W tan(phi)",
        )

    def _chrono_claims(self, results: xr.Dataset) -> list[Claim]:
        """That all choices together give Chrono's pull and sinkage."""
        shared = self._shared()
        where, errors = [f"{ground} {slip:g}" for ground, slip in shared], self._errors(results, ALL)
        signs = [self.pull(results, ALL, *key) * chrono.WHEEL[key][1] > 0.0 for key in shared]
        depths, plain_depths = (
            [
                pick(results, model=model, ground=ground)["sinkage"].values[0, self.slips.index(slip)]
                / chrono.WHEEL[ground, slip][0]
                - 1.0
                for ground, slip in shared
            ]
            for model in (ALL, PLAIN)
        )
        return [
            Claim(
                "With all of Chrono's choices, the plain model pulls as much as Project Chrono.",
                f"within {NEAR:.0%} of W tan(phi), and with the same sign",
                percentages(where, list(errors)),
                at_most(np.abs(errors), NEAR) and all(signs),
                f"by soil and slip, as a share of W tan(phi); {sum(signs)} of {len(signs)} with the same sign. With "
                f"none of them: {percentages(where, list(self._errors(results, PLAIN)))}",
            ),
            Claim(
                "With all of Chrono's choices, it sinks as deep as in Project Chrono.",
                f"within {NEAR:.0%}",
                percentages(where, depths),
                at_most(np.abs(depths), NEAR),
                f"by soil and slip. With none of them: {percentages(where, plain_depths)}",
            ),
        ]


def _strength(ground: str) -> float:
    """W tan(phi) of a soil [N]."""
    return float(LOAD * np.tan(np.radians(PRESETS[ground].friction)))
