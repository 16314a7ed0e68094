"""Turning on the spot, and turns that need forward motion."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import Field

from sandlot.control.snake.gaits import Gait, Plan, Schedule, spin
from sandlot.control.snake.steering import Coil
from sandlot.recordings import Quantity
from sandlot.robots.reference_swimmers import check_stable
from sandlot.robots.snake import Snake
from sandlot.studies.base import Claim, Found, Job, Picture, Study, study
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.water.strips import strip
from sandlot.studies.water.tracks import FIDELITIES, at, check_samples, draw_both, pick_job, track


@study("water.spin", source="Draschwandtner 2015, section 7.6")
class Spin(Study):
    """Can a body turn on the spot?

    Waves run from its middle to both ends, bent to opposite sides (equations 3.6 and 3.7): amplitude 0.2, 1 Hz, phase 2
    pi / 16, bent by 0.3. It is compared with turns that need forward motion (section 3.3): one wave, bent by 0.05
    everywhere (veer); and a coil, in which a body that has swum for 10 s holds each joint at its peak for 3 s, one
    joint after the other.

    Attributes:
        snake: The body.
        seconds: Duration of the waves [s].
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "centre": Quantity("m", "centre of mass, from the start", ("sample", "axis"), (0, 2)),
        "heading": Quantity("rad", "mean direction of the links", ("sample",), (0,)),
        "drive": Quantity("1", "mean share of motors below their torque limit"),
    }
    GAIT: ClassVar[Gait] = Gait(amplitude=0.2, frequency=1.0, phase=2.0 * np.pi / 16.0, veer=0.3)
    CASES: ClassVar[tuple[str, ...]] = ("spin left", "spin right", "veer left", "coil left")
    SWIMS: ClassVar[float] = 10.0
    """Duration of swimming before the coil [s]."""
    COILED: ClassVar[float] = 3.0
    """Time for which a joint is held at its peak [s]."""

    snake: Snake = Snake()
    seconds: float = Field(10.0, ge=1.0, le=1e4)

    def check(self) -> None:
        """Refuse a body that the reference cannot simulate, or whose commands do not match the samples."""
        check_stable(self.snake)
        check_samples(self.snake)

    def jobs(self) -> Iterator[Job]:
        """Both directions, veering and coiling."""
        return self.cross(case=self.CASES, fidelity=FIDELITIES)

    def lead(self, case: str) -> float:
        """Duration at the start that is not counted [s]."""
        return self.SWIMS if case.startswith("coil") else 0.0

    def plan(self, case: str) -> Plan:
        """Joint angles over time."""
        if case.startswith("coil"):
            return Coil(self.GAIT.veering(0.0), self.SWIMS, self.COILED)
        gait = self.GAIT.veering(0.05)
        if case.startswith("spin"):
            gait = spin(self.GAIT, self.snake.joints, left=case.endswith("left"))
        return Schedule((0.0,), (gait,))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Turn."""
        case, fidelity = str(job.parameters["case"]), str(job.parameters["fidelity"])
        motion = track(fidelity, self.snake, self.plan(case), self.lead(case) + self.seconds)
        centre, heading = (values[at(self.lead(case)) :] for values in (motion.centre, motion.heading))
        return {"centre": centre - centre[0], "heading": heading - heading[0], "drive": motion.drive}

    def figure(self, results: xr.Dataset) -> Figure:
        """Heading over time, and paths of the centre of mass; dotted: the reference."""
        figure, axes = canvas(2, 10.0, 4.2)
        turns = results.assign(heading=np.degrees(results["heading"]))
        for colour, case in zip(COLOURS, self.CASES, strict=False):
            draw_both(axes[0], turns, "heading", colour, case, case=case)
            for fidelity, style in (("fast", "-"), ("reference", ":")):
                x, y = pick_job(results, case=case, fidelity=fidelity)["centre"].values.T
                axes[1].plot(x, y, style, color=colour, label=case if fidelity == "fast" else None)
        axes[0].set(xlabel="time [s]", ylabel="turned to the left [deg]")
        axes[1].set(xlabel="x of the centre of mass [m]", ylabel="y [m]", aspect="equal", adjustable="datalim")
        axes[0].legend(frameon=False)
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """It turns in both directions, and stays in place."""
        found = [pick_job(results, case=case, fidelity="reference") for case in self.CASES]
        turns = [float(np.degrees(each["heading"].values[-1])) for each in found]
        spun, _, veered, coiled = (float(np.linalg.norm(each["centre"].values, axis=-1).max()) for each in found)
        body = self.snake.arclength
        fast = float(np.degrees(pick_job(results, case="spin left", fidelity="fast")["heading"].values[-1]))
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
                f"at most {spun:.2f} m away, {spun / body:.1%} of the body's length",
                spun < 0.05 * body,
                f"holds below 5%; veering takes it {veered:.1f} m away",
            ),
            Claim(
                "With the other sign it turns the other way.",
                "reversed",
                f"{turns[1]:.1f} deg",
                turns[1] < -10.0,
                "holds if more than 10 deg",
            ),
            Claim(
                "Veering needs forward motion: it turns to the left along a curve.",
                "a curve",
                f"{turns[2]:.1f} deg, up to {veered:.1f} m from the start",
                bool(turns[2] > 10.0 and veered > 0.05 * body),
                "section 3.3, bent by 0.05",
            ),
            Claim(
                "A coil turns a swimming body.",
                "a turn",
                f"{turns[3]:.1f} deg, up to {coiled:.1f} m from the start",
                turns[3] > 10.0,
                f"section 3.3, every joint held for {self.COILED:g} s; holds if more than 10 deg",
            ),
        ]

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """The turn on the spot, and the coil."""
        captions = {"spin left": "Turning on the spot, counter-clockwise.", "coil left": "A coil, after swimming."}
        for case, caption in captions.items():
            yield strip(self.snake, self.plan(case), self.lead(case) + self.seconds, caption)
