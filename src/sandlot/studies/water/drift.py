"""How far a body drifts after it stops swimming."""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Self

import xarray as xr
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field, model_validator

from sandlot.control.snake.gaits import STRAIGHT, Schedule
from sandlot.recordings import Quantity
from sandlot.robots.snake import Snake
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Picture, Study, study
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.water.base import SHORT, near
from sandlot.studies.water.strips import strip
from sandlot.studies.water.tracks import FIDELITIES, FORWARD, MOTION, UNITS, Positive, at, draw_both, pick_job, track


@study("water.drift", source="Draschwandtner 2015, section 7.4")
class Drift(Study):
    """How far does a body drift when it stops swimming, and at which frequency does it swim furthest?

    Before the change: drag acts on all faces of all links, the motors have 100 N m, the wave has 0.6 Hz. After the
    change: the faces between links have no drag, the motors have 1000 N m, the wave has 2 Hz, or other frequencies. The
    body swims for 10 s, then straightens.

    The source's setup is "similar to section 7.1", whose body weighs 0.3 kg; drag on the end faces alone stops that
    within 0.1 s. So the body is taken from sections 7.2, 7.3 and 7.5. It is 10 m long; the source prints a mass of 5 kg
    and a density of 6.25, which gives 15.625 kg. The two contradict each other: both are tried, and no other mass. The
    claims are about the last of ``masses``, in the reference; their notes give the values for the first.

    Attributes:
        masses: Of the body [kg]: the printed one, and that of the printed density.
        frequencies: After the change [Hz].
        swims: Duration of swimming [s].
        seconds: Total duration [s]; at least a second longer than ``swims``.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        **MOTION,
        "drive": Quantity("1", "mean share of motors below their torque limit"),
    }

    masses: Annotated[tuple[Positive, ...], Field(min_length=1), AfterValidator(distinct)] = (5.0, SHORT.mass)
    frequencies: Annotated[tuple[Positive, ...], Field(min_length=2), AfterValidator(distinct)] = (
        0.2,
        0.4,
        0.6,
        1.0,
        2.0,
        3.0,
        4.0,
    )
    swims: float = Field(10.0, ge=2.0)
    seconds: float = Field(20.0, ge=4.0, le=1e4)

    @model_validator(mode="after")
    def _drifts(self) -> Self:
        if self.seconds < self.swims + 1.0:
            raise ValueError(
                f"seconds={self.seconds:g} is too short to drift after swims={self.swims:g}; allowed: at least "
                f"{self.swims + 1.0:g}"
            )
        return self

    def jobs(self) -> Iterator[Job]:
        """Before the change, and after it at every frequency."""
        after = [f"{frequency:g} Hz" for frequency in self.frequencies]
        return self.cross(mass=self.masses, case=["before", *after], fidelity=FIDELITIES)

    def setup(self, mass: float, case: str) -> tuple[Snake, Schedule]:
        """The body, and its joint angles over time."""
        before = case == "before"
        changes = {"faces": "all", "max_torque": 100.0} if before else {"faces": "open", "max_torque": 1000.0}
        frequency = 0.6 if before else float(case.removesuffix(" Hz"))
        gait = FORWARD.model_copy(update={"frequency": frequency})
        return SHORT.model_copy(update={"mass": mass, **changes}), Schedule((0.0, self.swims), (gait, STRAIGHT))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Swim, then drift."""
        snake, plan = self.setup(float(job.parameters["mass"]), str(job.parameters["case"]))
        motion = track(str(job.parameters["fidelity"]), snake, plan, self.seconds)
        body = snake.arclength
        return {"distance": motion.distance / body, "velocity": motion.forward / body, "drive": motion.drive}

    def figure(self, results: xr.Dataset) -> Figure:
        """Before and after the change, with the source's values as crosses, and frequencies; dotted: the reference."""
        figure, axes = canvas(4, 15.0, 4.0)
        cases = [(mass, case) for mass in self.masses for case in ("before", self._after)]
        for colour, (mass, case) in zip(COLOURS, cases, strict=False):
            label = f"{case}, {mass:g} kg"
            draw_both(axes[0], results, "distance", colour, label, mass=mass, case=case)
            draw_both(axes[1], results, "velocity", colour, label, mass=mass, case=case)
        axes[0].plot([10, 20, 10, 20], [0.9, 0.96, 5.72, 8.0], "kx", label="the source's")
        axes[1].plot([10], [0.69], "kx", label="the source's")
        colours = (*COLOURS, "black", "red")
        for colour, frequency in zip(colours, self.frequencies, strict=False):
            chosen = {"mass": self.masses[-1], "case": f"{frequency:g} Hz"}
            draw_both(axes[2], results, "distance", colour, f"{frequency:g} Hz", **chosen)
            draw_both(axes[3], results, "velocity", colour, f"{frequency:g} Hz", **chosen)
        for each, quantity in zip(axes, ("distance", "velocity") * 2, strict=True):
            each.axvline(self.swims, color=COLOURS[5], linewidth=0.7)
            each.set(xlabel="time [s]", ylabel=UNITS[quantity])
        axes[0].legend(frameon=False, fontsize=8)
        axes[2].legend(frameon=False, fontsize=8, title=f"{self.masses[-1]:g} kg")
        return figure

    @property
    def _after(self) -> str:
        """The case that the source compares with the one before the change: 2 Hz, or the closest frequency."""
        return f"{min(self.frequencies, key=lambda frequency: abs(frequency - 2.0)):g} Hz"

    def best(self, results: xr.Dataset) -> float:
        """The frequency with the largest distance at the time it stops swimming [Hz]."""
        return max(self.frequencies, key=lambda frequency: self._at_stop(results, f"{frequency:g} Hz")[0])

    def _at_stop(self, results: xr.Dataset, case: str, mass: float | None = None) -> tuple[float, float, float]:
        """Distance and velocity (mean of a second) when it stops swimming, and final distance."""
        mine = pick_job(results, mass=mass or self.masses[-1], case=case, fidelity="reference")["distance"].values
        stop = at(self.swims)
        return float(mine[stop]), float(mine[stop] - mine[stop - at(1.0)]), float(mine[-1])

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Distances, velocity, drift, and the best frequency."""
        (d0, v0, e0), (d1, v1, e1) = (self._at_stop(results, case) for case in ("before", self._after))
        light0, light1 = (self._at_stop(results, case, self.masses[0]) for case in ("before", self._after))
        first = f"{self.masses[0]:g} kg:"

        def distance(frequency: float) -> float:
            return self._at_stop(results, f"{frequency:g} Hz")[0]

        drives = [
            float(pick_job(results, mass=self.masses[-1], case=f"{f:g} Hz", fidelity="reference")["drive"])
            for f in self.frequencies
        ]
        best, shares = self.best(results), ", ".join(f"{share:.2f}" for share in drives)
        reached = ", ".join(f"{f:g} Hz {distance(f):.2f}" for f in self.frequencies)
        others = max(self.frequencies, key=lambda f: self._at_stop(results, f"{f:g} Hz", self.masses[0])[0])
        spikes = [self._spike(results, frequency) for frequency in sorted(self.frequencies)[:2]]
        return [
            near("Before the change it swims 0.9 body lengths in 10 s.", 0.9, d0, note=f"{first} {light0[0]:.2f}"),
            near("Before the change it stops at 0.96 body lengths.", 0.96, e0, note=f"{first} {light0[2]:.2f}"),
            near("After the change it swims 5.72 body lengths.", 5.72, d1, note=f"{first} {light1[0]:.2f}"),
            near("After the change it drifts on to 8 body lengths.", 8.0, e1, note=f"{first} {light1[2]:.2f}"),
            near("It reaches 0.69 body lengths per second.", 0.69, v1, note=f"{first} {light1[1]:.2f}"),
            near(
                "Its drift distance over its velocity is 3.3 s: (8 - 5.72) / 0.69.",
                3.3,
                (e1 - d1) / v1,
                note=f"{first} {(light1[2] - light1[0]) / light1[1]:.2f}",
            ),
            Claim(
                "After the change it swims more than 5 times as far and more than 6 times as fast.",
                "> 5 and > 6",
                f"{d1 / d0:.1f} and {v1 / v0:.1f}",
                bool(d1 > 5.0 * d0 and v1 > 6.0 * v0),
            ),
            Claim(
                "After the change its drift distance over its velocity is larger.",
                "3.3 s instead of 0.7 s",
                f"{(e1 - d1) / v1:.1f} s instead of {(e0 - d0) / v0:.1f} s",
                bool((e1 - d1) / v1 > 2.0 * (e0 - d0) / v0),
                "distance after 10 s over velocity at 10 s; holds if more than twice as large",
            ),
            Claim(
                "A frequency of 2 Hz swims furthest.",
                2.0,
                best,
                best == 2.0,
                f"body lengths: {reached}; shares of motors below their limit: {shares}; {first} {others:g} Hz",
            ),
            Claim(
                "The two lowest frequencies show a spike in velocity when the body straightens.",
                "a spike",
                ", ".join(f"{before:.2f} to {after:.2f}" for before, after in spikes),
                all(after > 1.5 * before for before, after in spikes),
                "maximum velocity within 1 s before, and within 1 s after; holds if it grows by half",
            ),
        ]

    def _spike(self, results: xr.Dataset, frequency: float) -> tuple[float, float]:
        mine = pick_job(results, mass=self.masses[-1], case=f"{frequency:g} Hz", fidelity="reference")[
            "velocity"
        ].values
        stop, second = at(self.swims), at(1.0)
        return float(mine[stop - second : stop].max()), float(mine[stop + 1 : stop + second].max())

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """The body after the change."""
        snake, plan = self.setup(self.masses[-1], self._after)
        yield strip(snake, plan, self.seconds, f"It swims for {self.swims:g} s, then straightens and drifts.")
