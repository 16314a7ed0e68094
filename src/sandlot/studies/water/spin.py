"""Whether a body can turn on the spot."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import Field

from sandlot.control.gaits import Gait, Schedule, fold, spin, then
from sandlot.recordings import Quantity
from sandlot.robots.snake import Snake
from sandlot.studies.base import Claim, Found, Job, Picture, Study, study
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.water.strips import strip
from sandlot.studies.water.tracks import FIDELITIES, at, draw_both, follow, pick


@study("water.spin", source="Draschwandtner 2015, section 7.6")
class Spin(Study):
    """Can a body turn without going anywhere?

    Waves run from its middle to both ends, bent to opposite sides (equations 3.6 and 3.7): amplitude 0.2, 1 Hz, phase
    2 pi / 16, bent by 0.3. Beside it the turn that does go somewhere: one wave, bent by 0.05 all along (section 3.3).
    The source's body is told to be bent from one moment to the next, for which no motor is strong enough; here it is
    given a second before the waves begin, and what it does in that second is not counted.

    Attributes:
        snake: The body.
        seconds: For how long the waves run [s].
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "centre": Quantity("m", "centre of mass, from the start", ("sample", "axis"), (0, 2)),
        "heading": Quantity("rad", "mean direction of the links", ("sample",), (0,)),
        "drive": Quantity("1", "mean share of the wanted acceleration that the motors could give"),
    }
    GAIT: ClassVar[Gait] = Gait(amplitude=0.2, frequency=1.0, phase=2.0 * np.pi / 16.0, veer=0.3)
    CASES: ClassVar[tuple[str, ...]] = ("spin left", "spin right", "veer left")
    BENDS: ClassVar[float] = 1.0
    """For how long, before the waves begin [s]."""

    snake: Snake = Snake()
    seconds: float = Field(10.0, ge=1.0)

    def jobs(self) -> Iterator[Job]:
        """Both directions, and veering."""
        return self.cross(case=self.CASES, fidelity=FIDELITIES)

    def plan(self, case: str) -> Schedule:
        """What the body does."""
        gait = self.GAIT.veering(0.05)
        if case.startswith("spin"):
            gait = spin(self.GAIT, self.snake.joints, left=case.endswith("left"))
        bent = gait.targets(self.BENDS, self.snake.joints)
        return then(fold(np.zeros_like(bent), bent, self.BENDS), Schedule((self.BENDS,), (gait,)))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Turn."""
        plan = self.plan(str(job.parameters["case"]))
        track = follow(str(job.parameters["fidelity"]), self.snake, plan, self.BENDS + self.seconds)
        centre, heading = track.centre[at(self.BENDS) :], track.heading[at(self.BENDS) :]
        return {"centre": centre - centre[0], "heading": heading - heading[0], "drive": track.drive}

    def figure(self, results: xr.Dataset) -> Figure:
        """Heading over time, and the ways of the centres of mass; dotted: the reference."""
        figure, axes = canvas(2, 10.0, 4.2)
        turns = results.assign(heading=np.degrees(results["heading"]))
        for colour, case in zip(COLOURS, self.CASES, strict=False):
            draw_both(axes[0], turns, "heading", colour, case, case=case)
            for fidelity, style in (("fast", "-"), ("reference", ":")):
                x, y = pick(results, case=case, fidelity=fidelity)["centre"].values.T
                axes[1].plot(x, y, style, color=colour, label=case if fidelity == "fast" else None)
        axes[0].set(xlabel="time [s]", ylabel="turned to the left [deg]")
        axes[1].set(xlabel="x of the centre of mass [m]", ylabel="y [m]", aspect="equal", adjustable="datalim")
        axes[0].legend(frameon=False)
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """It turns, both ways, and stays where it is."""
        left, right, veer = (pick(results, case=case, fidelity="reference") for case in self.CASES)
        turns = [float(np.degrees(each["heading"].values[-1])) for each in (left, right, veer)]
        away, gone = (float(np.linalg.norm(each["centre"].values, axis=-1).max()) for each in (left, veer))
        body = self.snake.arclength
        fast = float(np.degrees(pick(results, case="spin left", fidelity="fast")["heading"].values[-1]))
        return [
            Claim(
                "It turns counter-clockwise.",
                "counter-clockwise",
                f"{turns[0]:.1f} deg in {self.seconds:g} s",
                turns[0] > 10.0,
                f"fast: {fast:.1f} deg; holds if more than 10 deg",
            ),
            Claim(
                "The centre of mass stays where it is.",
                "no forward velocity",
                f"at most {away:.2f} m away, {away / body:.1%} of the body's length",
                away < 0.05 * body,
                f"holds below 5%; veering takes it {gone:.1f} m away. Equations 3.6 and 3.7 bend one joint more than "
                "half of them one way, so that the two waves do not quite cancel",
            ),
            Claim(
                "With the other sign it turns the other way.",
                "reversed",
                f"{turns[1]:.1f} deg",
                turns[1] < -10.0,
                "holds if more than 10 deg; not quite as far, since only the bend is mirrored, not the wave",
            ),
            Claim(
                "Veering needs forward motion: it turns to the left along a curve.",
                "a curve",
                f"{turns[2]:.1f} deg on a way of {gone:.1f} m",
                bool(turns[2] > 10.0 and gone > 0.05 * body),
                "section 3.3, bent by 0.05",
            ),
        ]

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """The turn on the spot."""
        seconds = self.BENDS + self.seconds
        yield strip(self.snake, self.plan("spin left"), seconds, "Turning on the spot, counter-clockwise.")
