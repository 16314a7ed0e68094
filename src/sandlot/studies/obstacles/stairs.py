"""How steep stairs each controller climbs (section 7.2.2, figures 34 and 35)."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field

from sandlot.places.course_kinds import Kind
from sandlot.places.course_kinds import Stairs as StairsKind
from sandlot.recordings import Quantity
from sandlot.robots.climber import load_climber
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Picture, study
from sandlot.studies.obstacles.base import LABELS, LimitStudy, Name, near
from sandlot.studies.obstacles.strips import strip
from sandlot.studies.obstacles.trials import TYPICAL_RISERS as RISERS
from sandlot.studies.obstacles.trials import TYPICAL_TREADS as TREADS
from sandlot.studies.plots import canvas
from sandlot.typing import Array

DEGREES = 180.0 / math.pi


@study("obstacles.stairs", source="Vincent 2008, section 7.2.2, figures 34 and 35")
class Stairs(LimitStudy):
    """How steep stairs can each controller climb and descend, depending on the depth of their treads?

    Six steps lead up, a landing of 1 m follows, and six steps lead down, 2 m from the start. The inclination is raised
    from 10 degrees by 1 degree until a robot fails several times in a row. The curve is the median of several robots.
    The controller ``trained`` is ours. What geometry allows is an estimate by a planner without learning, for the way
    up only, which moves slowly through shapes that the robot can hold at rest.

    Attributes:
        treads: Depths of treads [m].
        steepest: Inclination that is tried [deg].
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "limit": Quantity("rad", "steepest stairs that each robot passed; NaN if not tried", ("tread", "lane"), (0, 0)),
        "seconds": Quantity("s", "processor time of the job"),
    }

    treads: Annotated[tuple[float, ...], Field(min_length=1), AfterValidator(distinct)] = (
        0.1, 0.15, 0.2, 0.254, 0.304, 0.34, 0.4, 0.45, 0.51, 0.55, 0.6, 0.7,
    )  # fmt: skip
    steepest: int = Field(75, ge=10, le=80)
    controllers: Annotated[tuple[Name, ...], Field(min_length=1), AfterValidator(distinct)] = (
        "reactive",
        "neural",
        "reinforced",
        "trained",
    )
    attempts: int = Field(3, ge=1, le=100)
    seconds: float = Field(90.0, gt=0.0, le=1e4)
    refined: tuple[int, ...] = (3, 10)

    def across(self) -> Sequence[float]:
        """Depths of treads [m]."""
        return self.treads

    def levels(self) -> Sequence[float]:
        """Inclinations [rad]."""
        return [math.radians(k) for k in range(10, self.steepest + 1)]

    def course(self, across: float, level: float) -> Kind:
        """Stairs as in figure 33."""
        return StairsKind(distance=2.0, tread=across, angle=level)

    def planned(self, across: float, level: float) -> Kind:
        """The way up, with no more steps than the robot needs to have left the first before it reaches the last."""
        steps = min(6, math.ceil(1.5 * 2.0 * load_climber().reach / (across / math.cos(level))) + 1)
        return StairsKind(distance=1.0, tread=across, angle=level, way="up", steps=steps)

    def risers(self, results: xr.Dataset, name: str) -> Array:
        """Highest risers: (treads,) [cm]."""
        return np.asarray(100.0 * np.asarray(self.treads) * np.tan(self.reached(results, name)))

    def figure(self, results: xr.Dataset) -> Figure:
        """Steepest stairs and highest riser over the tread (as figures 34 and 35).

        Bands: all robots. Crosses: the reference. Grey: typical staircases, and what geometry does not allow.
        """
        figure, (left, right) = canvas(2, 11.0, 4.6)
        self.curves(left, results, np.degrees)
        self.curves(right, results, lambda limit: 100.0 * np.asarray(self.treads)[:, None] * np.tan(limit))
        low, high = TREADS
        angles = [np.degrees(np.arctan2(riser, tread)) for tread in TREADS for riser in RISERS]
        left.fill([low, low, high, high], [angles[k] for k in (0, 1, 3, 2)], color="0.7", zorder=0)
        right.fill([low, low, high, high], [17.8, 20.3, 20.3, 17.8], color="0.7", zorder=0)
        left.set(xlabel="tread [m]", ylabel="steepest stairs [deg]", ylim=(0.0, None))
        right.set(xlabel="tread [m]", ylabel="highest riser [cm]", ylim=(0.0, None))
        left.legend(frameon=False, fontsize=8)
        return figure

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """Strips of climbs, as figure 15."""
        for name, riser, tread in (("reactive", 0.17, 0.28), ("trained", 0.203, 0.254)):
            if name in self.controllers:
                kind = StairsKind(distance=1.0, riser=riser, tread=tread)
                size = f"risers of {1000.0 * riser:.0f} mm and treads of {1000.0 * tread:.0f} mm"
                yield strip(name, kind, f"{LABELS[name].capitalize()} on stairs with {size}.", 12.0)

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Inclinations, risers and the order of the controllers."""
        treads = np.asarray(self.treads)
        steep = {name: DEGREES * self.reached(results, name) for name in self.controllers}
        claims: list[Claim] = []
        typical = {name: self._typical(each) for name, each in steep.items() if name not in ("free", "trained")}
        if "reinforced" in typical:
            said = ", ".join(f"{name} {share}" for name, share in typical.items())
            text = "Only reinforcement climbs the full range of typical staircases."
            full = [name for name, share in typical.items() if share == "both"]
            claims.append(Claim(text, "reinforced", said, full == ["reinforced"], "at treads of 254 and 304 mm"))
            middle, long = (treads >= 0.2 - 1e-9) & (treads <= 0.34 + 1e-9), treads > 0.3
            if middle.any():
                text = "Reinforcement climbs stairs of treads from 20 to 34 cm up to about 45 degrees [deg]."
                claims.append(near(text, 45.0, float(np.median(steep["reinforced"][middle]))))
            if long.any():
                text = "Reinforcement climbs risers up to about 30 cm for treads deeper than 30 cm [cm]."
                claims.append(near(text, 30.0, float(self.risers(results, "reinforced")[long].max())))
            for name in ("reactive", "neural"):
                if name in steep:
                    gain = steep["reinforced"] - steep[name]
                    text = f"Reinforcement climbs steeper stairs than the {LABELS[name]} controller at every tread."
                    said = f"{int((gain > 0.0).sum())} of {len(gain)}"
                    claims.append(Claim(text, "all", said, bool((gain > 0.0).all()), f"least {gain.min():+.0f} deg"))
        if "reactive" in steep and (treads < 0.254).any() and (treads > 0.4).any():
            small, deep = (float(steep["reactive"][each].mean()) for each in (treads < 0.254, treads > 0.4))
            text = "The reactive controller climbs less steep stairs if treads are deeper [deg]."
            claims.append(Claim(text, "less", f"{small:.0f} to {deep:.0f}", deep < small, "below 25, above 40 cm"))
            small, deep = (
                float(self.risers(results, "reactive")[each].mean()) for each in (treads < 0.254, treads > 0.4)
            )
            text = "But its risers are higher [cm]."
            claims.append(Claim(text, "higher", f"{small:.0f} to {deep:.0f}", deep > small, "below 25, above 40 cm"))
            text = (
                "With small treads the reactive controller climbs steeper stairs than typical ones, 38 degrees [deg]."
            )
            best = float(steep["reactive"][treads < 0.254].max())
            claims.append(Claim(text, "above 38", round(best, 1), best > 38.0))
        if {"reactive", "neural"} <= set(steep):
            gain = steep["neural"] - steep["reactive"]
            more, less = (float(np.mean(each)) for each in (gain > 0.0, gain < 0.0))
            text = "The neural controller is better than the reactive one at 40% of treads, and worse at 35%."
            close = abs(more - 0.4) <= 0.15 and abs(less - 0.35) <= 0.15
            claims.append(Claim(text, "40% and 35%", f"{more:.0%} and {less:.0%}", close, "holds within 15%"))
            deeper = gain[treads > 0.51 + 1e-9]
            if len(deeper):
                text = "For treads deeper than 51 cm the neural controller is better."
                said = f"{int((deeper > 0.0).sum())} of {len(deeper)}"
                claims.append(Claim(text, "all", said, bool((deeper > 0.0).all())))
        if "trained" in steep:
            curve = np.where(treads <= 0.34 + 1e-9, 45.0, DEGREES * np.arctan(0.3 / treads))
            asked = (treads >= 0.2 - 1e-9) & ~(DEGREES * self.allowed(results) < curve)
            for fidelity in ("fast", "reference") if "trained" in self.reference else ("fast",):
                missing = (curve - DEGREES * self.reached(results, "trained", fidelity))[asked]
                text = f"Trained, at {fidelity}: at least the source's reinforcement curve wherever geometry allows."
                said = f"{int((missing <= 0.5).sum())} of {len(missing)}"
                note = (
                    f"least margin {round(-missing.max())} deg; 45 deg to 34 cm, then risers of 30 cm"
                    if len(missing)
                    else ""
                )
                claims.append(Claim(text, "about 45 deg", said, bool((missing <= 0.5).all()), note))
        claims += self.geometry(results, "deg", DEGREES) + self.agreement(results, 3.0, "deg", DEGREES)
        return [*claims, self.cost(results)]

    def _typical(self, steep: Array) -> str:
        """At which typical treads a controller climbs even the highest typical riser."""
        treads = np.asarray(self.treads)
        able = []
        for tread in TREADS:
            at = int(np.abs(treads - tread).argmin())
            able.append(steep[at] >= np.degrees(np.arctan2(RISERS[1], tread)))
        return {0: "none", 1: "one", 2: "both"}[sum(bool(each) for each in able)]
