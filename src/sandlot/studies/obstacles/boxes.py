"""How high a box each controller climbs (section 7.2.1, figure 31)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field

from sandlot.places.course_kinds import Box, Kind
from sandlot.recordings import Quantity
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Picture, study
from sandlot.studies.obstacles.base import LABELS, LimitStudy, near
from sandlot.studies.obstacles.strips import strip
from sandlot.studies.plots import canvas

BEST = 0.3
"""Depth at which all controllers of the source are best [m]."""
DEEP = 0.7
"""Boxes of this depth and more are deep [m]."""
NARROW = 0.3
"""Boxes of less depth, which is the axle span, are narrow [m]."""
SOURCE = {"reactive": (45.0, 31.0), "neural": (42.0, 30.0), "reinforced": (49.0, 45.0)}
"""Highest boxes at `BEST` and at `DEEP` [cm]; in between limits fall progressively."""


@study("obstacles.boxes", source="Vincent 2008, section 7.2.1, figure 31")
class Boxes(LimitStudy):
    """How high a box can each controller climb, depending on its depth?

    Boxes are raised from 5 cm by 1 cm until a robot fails several times in a row. The curve is the median of several
    robots. The robot is ours after the source's figures, as the source gives few dimensions; so heights are compared
    within 10%, and their order as it is. The controller ``trained`` is ours: a net trained by reinforcement in advance
    on other robots and obstacles. What geometry allows is an estimate by a planner without learning, which moves slowly
    through shapes that the robot can hold at rest; momentum can carry a robot further.

    Attributes:
        depths: Of the boxes [m].
        highest: Box that is tried [m].
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "limit": Quantity("m", "highest box that each robot climbed; NaN if not tried", ("depth", "lane"), (0, 0)),
        "seconds": Quantity("s", "processor time of the job"),
    }

    depths: Annotated[tuple[float, ...], Field(min_length=1), AfterValidator(distinct)] = (
        0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0,
    )  # fmt: skip
    highest: float = Field(1.0, ge=0.05, le=3.0)
    refined: tuple[int, ...] = (0, 4, 8)

    def across(self) -> Sequence[float]:
        """Depths [m]."""
        return self.depths

    def levels(self) -> Sequence[float]:
        """Heights [m]."""
        return [0.01 * k for k in range(5, round(100.0 * self.highest) + 1)]

    def course(self, across: float, level: float) -> Kind:
        """A box 1 m ahead."""
        return Box(distance=1.0, depth=across, height=level)

    def figure(self, results: xr.Dataset) -> Figure:
        """Highest box over its depth (as figure 31). Bands: all robots. Crosses: the reference. Rings: the source."""
        figure, (axes,) = canvas(1, 7.5, 4.8)
        self.curves(axes, results, lambda limit: 100.0 * limit)
        for name, values in SOURCE.items():
            line = next((each for each in axes.get_lines() if each.get_label() == LABELS[name]), None)
            if line is not None:
                axes.plot([BEST, DEEP], values, "o", color=line.get_color(), fillstyle="none")
        axes.set(xlabel="depth [m]", ylabel="highest box [cm]", ylim=(0.0, None))
        axes.legend(frameon=False, ncols=2, fontsize=9, loc="lower center")
        return figure

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """Strips of climbs, as figure 15, each close to what its controller reaches."""
        for name in self.controllers:
            if name in ("reactive", "reinforced", "trained"):
                reached = float(np.interp(0.5, self.depths, self.reached(results, name)))
                box = Box(distance=1.0, depth=0.5, height=max(round(reached - 0.02, 2), 0.05))
                yield strip(name, box, f"{LABELS[name].capitalize()} on a box of {100.0 * box.height:.0f} cm.")

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """The heights and the order of the controllers."""
        depths = np.asarray(self.depths)
        high = {name: 100.0 * self.reached(results, name) for name in self.controllers}
        at = int(np.abs(depths - BEST).argmin())
        deep, narrow = depths >= DEEP - 1e-9, depths < NARROW - 1e-9
        claims = []
        for name, (best, low) in SOURCE.items():
            if name in high:
                label = LABELS[name].capitalize()
                claims.append(near(f"{label}: the highest box of 30 cm depth [cm].", best, high[name][at]))
                if deep.any():
                    claims.append(near(f"{label}: the highest deep box [cm].", low, float(np.median(high[name][deep]))))
                top = float(depths[high[name].argmax()])
                text = f"{label}: boxes of 30 cm depth are the best."
                claims.append(Claim(text, "30 cm", f"{100.0 * top:.0f} cm", abs(top - BEST) < 0.051))
        if {"reactive", "reinforced"} <= set(high):
            gain = high["reinforced"] - high["reactive"]
            others = np.delete(gain, at)
            text = "Reinforcement climbs boxes roughly 15 cm higher than the reactive controller, but for 30 cm depth."
            found = float(np.median(others))
            claims.append(Claim(text, 15.0, round(found, 1), 10.0 <= found <= 20.0, "median; holds from 10 to 20 cm"))
            text = "At 30 cm depth reinforcement gains about 3 cm."
            claims.append(Claim(text, 3.0, round(float(gain[at]), 1), 1.0 <= gain[at] <= 5.0, "holds from 1 to 5 cm"))
            text = "Reinforcement climbs higher than the reactive controller at every depth."
            more = f"{int((gain > 0.0).sum())} of {len(gain)}"
            claims.append(Claim(text, "all", more, bool((gain > 0.0).all()), f"least gain {gain.min():.0f} cm"))
        if "reinforced" in high and deep.any():
            drop = {name: float(each[at] - np.median(each[deep])) for name, each in high.items() if name in SOURCE}
            text = "From 30 cm depth to deep boxes reinforcement loses least."
            said = ", ".join(f"{name} {value:.0f} cm" for name, value in drop.items())
            claims.append(Claim(text, "reinforced 4 cm", said, min(drop, key=lambda each: drop[each]) == "reinforced"))
        if {"reactive", "neural"} <= set(high) and narrow.any():
            gain = (high["neural"] - high["reactive"])[narrow]
            text = "The neural controller climbs higher than the reactive one on every narrow box."
            claims.append(Claim(text, "all", f"{int((gain > 0.0).sum())} of {len(gain)}", bool((gain > 0.0).all())))
        if {"reactive", "free"} <= set(high):
            gain = high["free"] - high["reactive"]
            text = "The rules of equation 34 cost the reactive controller height at 20 to 30 cm depth."
            which = (depths > 0.19) & (depths < 0.31)
            said = ", ".join(f"{each:.0f}" for each in gain[which])
            claims.append(Claim(text, "beyond the source", f"{said} cm", bool((gain[which] > 0.0).all())))
        if "trained" in high:
            wide = depths >= BEST - 1e-9
            curve, allowed = np.interp(depths, [BEST, DEEP], SOURCE["reinforced"]), 100.0 * self.allowed(results)
            for fidelity in ("fast", "reference") if "trained" in self.reference else ("fast",):
                mine = 100.0 * self.reached(results, "trained", fidelity)
                # Where geometry does not allow the source's height, nothing is asked; NaN compares false.
                asked = wide & ~(allowed < curve)
                less = (curve - mine)[asked]
                text = f"Trained, at {fidelity}: above the source's reinforcement curve wherever geometry allows."
                said = f"{int((less < 0.0).sum())} of {len(less)}"
                note = f"least margin {-less.max():.0f} cm" if len(less) else "nothing asked"
                claims.append(Claim(text, "49 to 45 cm", said, bool((less < 0.0).all()), note))
        claims += self.geometry(results, "cm", 100.0) + self.agreement(results, 3.0, "cm", 100.0)
        return [*claims, self.cost(results)]
