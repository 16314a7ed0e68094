"""Rovers that drive uphill on soil, until they cannot."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, ClassVar

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from pydantic import AfterValidator, Field

from sandlot.physics.soil import PRESETS
from sandlot.recordings import Quantity
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found
from sandlot.studies.plots import COLOURS
from sandlot.studies.terrain.ride import Ride
from sandlot.studies.terrain.trial import ROVERS, Case, Trial, below, rows
from sandlot.typing import Array

GROUNDS = ("soft", "mid")
SPEED = 0.1
"""Wanted [m/s]."""
NEAR = 5.0
"""To stall so far below the angle of friction is near it [deg]; the rest goes into making ruts."""
Angle = Annotated[float, Field(ge=0.0, lt=60.0)]


class Slope(Trial):
    """How much rovers slip uphill. Slopes are made by tilting gravity; `Ride` says why.

    Attributes:
        angles: Of the slopes [deg], rising from 0.
        seconds: For how long each is driven up [s], after two seconds to get going.
    """

    name: ClassVar[str] = "slope"
    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "slope_slip": Quantity("1", "slip of a rover uphill", ("slope_angle",), (0,)),
        "slope_sinkage": Quantity("m", "how deep its wheels are", ("slope_angle",), (0,)),
    }

    angles: Annotated[tuple[Angle, ...], Field(min_length=2), AfterValidator(distinct)] = (
        0.0, 5.0, 10.0, 12.5, 15.0, 17.5, 20.0, 22.5, 25.0, 27.5, 30.0, 32.5,
    )  # fmt: skip
    seconds: float = Field(4.0, ge=0.1, le=60.0)

    def lengths(self) -> Mapping[str, int]:
        """Slopes."""
        return {"slope_angle": len(self.angles)}

    def cases(self) -> Iterator[Case]:
        """Both rovers on two soils."""
        for body in ROVERS:
            for ground in GROUNDS:
                yield Case(body, ground)

    def measure(self, case: Case, seed: np.random.SeedSequence) -> Mapping[str, Found]:
        """Drive up each slope once."""
        slips, depths = [], []
        for angle in self.angles:
            ride = Ride(case.body, case.ground, slope=angle)
            ride.wait(0.5)
            ride.go(SPEED, 0.0, 2.0)
            start, rolled = ride.place[0], ride.rolled
            ride.wait(self.seconds)
            slips.append(1.0 - (ride.place[0] - start) / (ride.rolled - rolled))
            depths.append(ride.sinkage)
        return {"slope_slip": np.array(slips), "slope_sinkage": np.array(depths)}

    def stall(self, slip: Array) -> float:
        """The angle at which a rover gets nowhere [deg]; infinite if it always does."""
        beyond = np.flatnonzero(slip >= 1.0)
        if len(beyond) == 0:
            return np.inf
        k = int(beyond[0])
        if k == 0:
            return self.angles[0]
        # On slopes on which it slides down, slip soon is far above 1.
        return float(np.interp(1.0, [slip[k - 1], min(slip[k], 1.5)], self.angles[k - 1 : k + 1]))

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """It sinks, slips more uphill, and stalls."""
        sinks, level, least, stalls, below_friction = {}, {}, {}, {}, {}
        for case, row in rows(results):
            name, slip = f"{case.body} on {case.ground}", row["slope_slip"].values
            climbs = slip[: int(np.argmax(slip >= 1.0)) or len(slip)]
            sinks[name], level[name] = float(row["slope_sinkage"][0]), slip[0]
            least[name] = float((climbs[1:] - climbs[0]).min(initial=np.inf)) if len(climbs) > 1 else -np.inf
            stalls[name] = self.stall(slip)
            below_friction[name] = PRESETS[case.ground].friction - stalls[name]
        deeper = all(sinks[f"{body} on soft"] > sinks[f"{body} on mid"] > 0.0 for body in ROVERS)
        uphill = ", ".join(f"{name} {slip:.2f}" for name, slip in level.items())
        return [
            Claim(
                "On level soil rovers sink in, the deeper the softer it is.",
                "soft > mid > 0",
                "; ".join(f"{name}: {1000 * depth:.1f} mm" for name, depth in sinks.items()),
                deeper,
                f"at {SPEED:g} m/s; the body of the wheeled rover is 26.5 mm above firm ground",
            ),
            Claim(
                "Uphill they slip more than on the level.",
                "on every slope",
                "; ".join(f"{name}: {step:+.3f}" for name, step in least.items()),
                all(step > 0.0 for step in least.values()),
                f"how much more, at least, on slopes that they climb; slip on the level: {uphill}",
            ),
            Claim(
                "They stall on a slope near the limit of friction.",
                f"30 deg, within {NEAR:g}",
                "; ".join(f"{name}: {angle:.1f} deg" for name, angle in stalls.items()),
                below(np.abs(list(below_friction.values())), NEAR),
                "where slip is 1; on what is above, they slide down. Small wheels use the strength of the soil only in "
                "part: their patch is not much longer than its shear displacement K of 10 mm; with a tenth of it they "
                "climb on",
            ),
        ]

    def draw(self, panels: Sequence[Axes], results: xr.Dataset) -> None:
        """Slip over slope."""
        (axes,) = panels
        for case, row in rows(results):
            colour, style = COLOURS[ROVERS.index(case.body)], "-" if case.ground == "soft" else "--"
            slip = np.where(row["slope_slip"].values > 1.3, np.nan, row["slope_slip"].values)
            axes.plot(self.angles, slip, f".{style}", color=colour, label=f"{case.body}, {case.ground}")
            angle = self.stall(row["slope_slip"].values)
            if np.isfinite(angle):
                axes.plot(angle, 1.0, "v", color=colour)
        axes.axvline(30.0, color=COLOURS[5], linestyle=":", label="angle of friction")
        axes.plot([], [], "v", color=COLOURS[5], label="stalls")
        axes.set(title="uphill on soil", xlabel="slope [deg]", ylabel="slip", ylim=(-0.03, 1.35))
        axes.legend(frameon=False, fontsize=8, loc="upper left", ncols=2)
