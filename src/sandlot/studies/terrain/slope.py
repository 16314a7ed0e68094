"""Rovers that drive uphill on soil, until they stall."""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field

from sandlot.physics.soil import PRESETS
from sandlot.recordings import Quantity
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Study, Value, pick, study
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.terrain.ride import Ride
from sandlot.studies.terrain.shared import ROVERS, at_most, named, rows
from sandlot.typing import Array

SOILS = ("soft", "mid")
SPEED = 0.1
"""Commanded [m/s]."""
SHEARS = (1.0, 0.1)
"""Shear displacement K of the soil, relative to the preset's. The last shows whether K limits how steep they climb."""
STALLED = 0.99
"""Slip from which on a rover counts as stalled. One whose tracks spin in a hole still creeps by micrometres."""
TOUCHES, LIFTED = "touches", "lifted"
"""Whether soil touches the chassis, too, or only wheels."""
NEAR = 5.0
"""A stall this far from the angle of friction counts as near it [deg]; making ruts takes the rest."""
Angle = Annotated[float, Field(ge=0.0, lt=60.0)]


@study("terrain.slope", source="Mohr-Coulomb, and our own")
class Slope(Study):
    """How steep a slope can rovers climb on soil?

    Both rovers drive up slopes of soft and of firmer soil at 0.1 m/s, and once more with a tenth of the soil's shear
    displacement. On soft soil the wheeled one drives again with a chassis that soil does not touch. Slopes are made by
    tilting gravity; `Ride` says why.

    Attributes:
        angles: Of the slopes [deg], in increasing order from 0.
        seconds: Duration of each climb [s], after two seconds of acceleration.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "slip": Quantity("1", "slip of a rover uphill", ("angle",), (0,)),
        "sinkage": Quantity("m", "depth of its wheels below the level ground", ("angle",), (0,)),
    }

    angles: Annotated[tuple[Angle, ...], Field(min_length=2), AfterValidator(distinct)] = (
        0.0, 5.0, 10.0, 12.5, 15.0, 17.5, 20.0, 22.5, 25.0, 27.5, 30.0, 32.5,
    )  # fmt: skip
    seconds: float = Field(4.0, ge=0.1, le=60.0)

    def jobs(self) -> Iterator[Job]:
        """Both rovers on two soils, with both shear displacements; then the wheeled one without its chassis in soil."""
        usual: list[dict[str, Value]] = [
            {"shear": shear, "rover": rover, "ground": ground, "chassis": TOUCHES}
            for shear in SHEARS
            for rover in ROVERS
            for ground in SOILS
        ]
        lifted: list[dict[str, Value]] = [
            {"shear": shear, "rover": "wheeled", "ground": "soft", "chassis": LIFTED} for shear in SHEARS
        ]
        return self.each([*usual, *lifted])

    def run(self, job: Job) -> Mapping[str, Found]:
        """Drive up each slope once."""
        slips, depths = [], []
        preset = PRESETS[str(job.parameters["ground"])]
        soil = preset.model_copy(update={"shear": preset.shear * float(job.parameters["shear"])})
        for angle in self.angles:
            ride = Ride(str(job.parameters["rover"]), soil, slope=angle, chassis=job.parameters["chassis"] == TOUCHES)
            ride.wait(0.5)
            ride.go(SPEED, 0.0, 2.0)
            start, rolled = ride.position[0], ride.rolled
            ride.wait(self.seconds)
            slips.append(1.0 - (ride.position[0] - start) / (ride.rolled - rolled))
            depths.append(ride.sinkage)
        return {"slip": np.array(slips), "sinkage": np.array(depths)}

    def stall(self, slip: Array) -> float:
        """The slope at which slip reaches `STALLED` [deg]; infinite if it never does."""
        stalled = np.flatnonzero(slip >= STALLED)
        if len(stalled) == 0:
            return np.inf
        k = int(stalled[0])
        if k == 0:
            return self.angles[0]
        # Where a rover slides down, slip is far above 1 and would spoil the interpolation.
        return float(np.interp(STALLED, [slip[k - 1], min(slip[k], 1.5)], self.angles[k - 1 : k + 1]))

    def figure(self, results: xr.Dataset) -> Figure:
        """Slip over slope, and where rovers stall; with the soil's own shear displacement."""
        figure, (axes,) = canvas()
        for row in rows(pick(results, shear=SHEARS[0], chassis=TOUCHES)):
            rover, ground = row["rover"].item(), row["ground"].item()
            colour, style = COLOURS[ROVERS.index(rover)], "-" if ground == "soft" else "--"
            slip = np.where(row["slip"].values > 1.3, np.nan, row["slip"].values)
            axes.plot(self.angles, slip, f".{style}", color=colour, label=f"{rover}, {ground}")
            angle = self.stall(row["slip"].values)
            if np.isfinite(angle):
                axes.plot(angle, STALLED, "v", color=colour)
        axes.axvline(30.0, color=COLOURS[5], linestyle=":", label="angle of friction")
        axes.plot([], [], "v", color=COLOURS[5], label="stalls")
        axes.set(xlabel="slope [deg]", ylabel="slip", ylim=(-0.03, 1.35))
        axes.legend(frameon=False, fontsize=8, loc="upper left", ncols=2)
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Rovers sink, slip more uphill, and stall near the angle of friction."""
        sinkage, level, least_increase, stalls, friction_errors = {}, {}, {}, {}, {}
        for row in rows(pick(results, shear=SHEARS[0], chassis=TOUCHES)):
            name, slip = named(row, "rover", "ground", separator=" on "), row["slip"].values
            climbed = slip[: int(np.argmax(slip >= STALLED)) or len(slip)]
            increases = climbed[1:] - climbed[0]
            sinkage[name], level[name] = float(row["sinkage"][0]), slip[0]
            least_increase[name] = float(increases.min(initial=np.inf)) if len(climbed) > 1 else -np.inf
            stalls[name] = self.stall(slip)
            friction_errors[name] = abs(PRESETS[row["ground"].item()].friction - stalls[name])
        deeper = all(sinkage[f"{rover} on soft"] > sinkage[f"{rover} on mid"] > 0.0 for rover in ROVERS)
        on_level = ", ".join(f"{name} {slip:.2f}" for name, slip in level.items())
        return [
            Claim(
                "On level soil rovers sink in, the deeper the softer it is.",
                "soft > mid > 0",
                "; ".join(f"{name}: {1000 * depth:.1f} mm" for name, depth in sinkage.items()),
                deeper,
                f"at {SPEED:g} m/s; the wheeled rover's ground clearance on firm ground is 26.5 mm",
            ),
            Claim(
                "Uphill they slip more than on the level.",
                "on every slope",
                "; ".join(f"{name}: {step:+.3f}" for name, step in least_increase.items()),
                all(step > 0.0 for step in least_increase.values()),
                f"least increase over the slopes that they climb; slip on the level: {on_level}",
            ),
            Claim(
                "They stall on a slope near the angle of friction.",
                f"30 deg, within {NEAR:g}",
                "; ".join(f"{name}: {angle:.1f} deg" for name, angle in stalls.items()),
                at_most(list(friction_errors.values()), NEAR),
                f"where slip reaches {STALLED:g}; on steeper slopes they dig in or slide down",
            ),
            *(self._claim_shear(results, ground) for ground in SOILS),
            self._claim_chassis(results),
        ]

    def _claim_shear(self, results: xr.Dataset, ground: str) -> Claim:
        """Whether a shorter shear displacement lets rovers use the strength of the soil."""
        mine = pick(results, shear=SHEARS[1], ground=ground, chassis=TOUCHES)
        short = {row["rover"].item(): row["slip"].values for row in rows(mine)}
        stalls = {rover: self.stall(slip) for rover, slip in short.items()}
        return Claim(
            f"On {ground}, with a tenth of the shear displacement, they stall near the angle of friction.",
            f"{PRESETS[ground].friction:g} deg, within {NEAR:g}",
            "; ".join(f"{rover}: {angle:.1f} deg" for rover, angle in stalls.items()),
            at_most([abs(PRESETS[ground].friction - angle) for angle in stalls.values()], NEAR),
            f"a shear displacement of {1000 * SHEARS[1] * PRESETS[ground].shear:g} mm",
        )

    def _claim_chassis(self, results: xr.Dataset) -> Claim:
        """Whether the wheeled rover on soft soil stalls because its chassis drags."""
        mine = pick(results, rover="wheeled", ground="soft")
        stalls = {
            shear: [
                self.stall(pick(mine, shear=shear, chassis=chassis)["slip"].values[0]) for chassis in (TOUCHES, LIFTED)
            ]
            for shear in SHEARS
        }
        return Claim(
            f"On soft, the wheeled rover climbs at least {NEAR:g} deg steeper if soil does not touch its chassis.",
            f"{NEAR:g} deg or more",
            "; ".join(f"K x {shear:g}: {old:.1f} to {new:.1f} deg" for shear, (old, new) in stalls.items()),
            all(new - old >= NEAR for old, new in stalls.values()),
            "K is the shear displacement; the angle of friction is 30 deg",
        )
