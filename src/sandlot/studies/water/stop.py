"""Stopping a drifting body by swimming backwards."""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field

from sandlot.control.snake.gaits import STRAIGHT, Schedule
from sandlot.recordings import Quantity
from sandlot.robots.snake import Snake
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Picture, Study, study
from sandlot.studies.plots import COLOURS, canvas
from sandlot.studies.water.base import SHORT
from sandlot.studies.water.strips import strip
from sandlot.studies.water.tracks import EVERY, FIDELITIES, FORWARD, MOTION, UNITS, at, draw_both, pick_job, track


def first_is_none(durations: tuple[float, ...]) -> tuple[float, ...]:
    """Refuse durations that do not start with 0, the drift that the others are compared with."""
    if durations[0] != 0.0:
        raise ValueError("the first must be 0, which drifts alone; the others are compared with it")
    return durations


@study("water.stop", source="Draschwandtner 2015, section 7.5")
class Stop(Study):
    """Does swimming backwards for a short time bring a drifting body to rest?

    The body of section 7.2, with drag on the faces as in 7.4 and motors of 10000 N m, swims for 5 s, drifts, reverses
    its wave at 9 s for a short time, and straightens. The source found that time by trial: 0.25 s. Here several are
    tried.

    Attributes:
        durations: Of swimming backwards [s]; the first is 0.
        seconds: Total duration [s].
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        **MOTION,
        "rest": Quantity("s", "time from 9 s until it stands still"),
    }
    SWIMS: ClassVar[float] = 5.0
    BRAKES: ClassVar[float] = 9.0
    STILL: ClassVar[float] = 0.01
    """Velocity below which it stands still [body lengths/s]."""

    durations: Annotated[
        tuple[Annotated[float, Field(ge=0.0, le=2.0)], ...],
        Field(min_length=2),
        AfterValidator(distinct),
        AfterValidator(first_is_none),
    ] = (0.0, 0.04, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16, 0.2, 0.25, 0.3, 0.4, 0.5)
    seconds: float = Field(30.0, ge=12.0, le=1e4)

    def jobs(self) -> Iterator[Job]:
        """Every duration."""
        return self.cross(duration=self.durations, fidelity=FIDELITIES)

    def setup(self, duration: float) -> tuple[Snake, Schedule]:
        """The body, and its joint angles over time."""
        snake = SHORT.model_copy(update={"faces": "open", "max_torque": 1e4})
        if duration == 0.0:
            return snake, Schedule((0.0, self.SWIMS), (FORWARD, STRAIGHT))
        starts = (0.0, self.SWIMS, self.BRAKES, self.BRAKES + duration)
        return snake, Schedule(starts, (FORWARD, STRAIGHT, FORWARD.reversed(), STRAIGHT))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Swim, drift, brake, and wait."""
        snake, plan = self.setup(float(job.parameters["duration"]))
        motion = track(str(job.parameters["fidelity"]), snake, plan, self.seconds)
        velocity = motion.forward / snake.arclength
        moving = np.flatnonzero(~(np.abs(velocity) < self.STILL))
        rest = np.nan if moving[-1] == velocity.size - 1 else (moving[-1] + 1) * EVERY - self.BRAKES
        return {"distance": motion.distance / snake.arclength, "velocity": velocity, "rest": float(rest)}

    def figure(self, results: xr.Dataset) -> Figure:
        """Velocity and distance over time, and the time to standstill over the duration; dotted: the reference."""
        figure, axes = canvas(3, 13.0, 4.0)
        best = self.best(results)
        shown = sorted({0.0, best, 0.25} & set(self.durations))
        for colour, duration in zip(COLOURS, shown, strict=False):
            label = f"{duration:g} s backwards" if duration else "drift alone"
            draw_both(axes[0], results, "velocity", colour, label, duration=duration)
            draw_both(axes[1], results, "distance", colour, label, duration=duration)
        for each, quantity in zip(axes, ("velocity", "distance"), strict=False):
            each.set(xlabel="time [s]", ylabel=UNITS[quantity])
            each.axvline(self.BRAKES, color=COLOURS[5], linewidth=0.7)
        axes[0].legend(frameon=False)
        for fidelity, style in (("fast", "o-"), ("reference", "k:")):
            rests = [float(pick_job(results, duration=d, fidelity=fidelity)["rest"]) for d in self.durations]
            axes[2].plot(self.durations, rests, style, label=fidelity)
        axes[2].axvline(0.25, color=COLOURS[1], linewidth=0.7, label="the source's, 0.25 s")
        axes[2].set(xlabel="time backwards [s]", ylabel="time to standstill [s]", ylim=(0, None))
        axes[2].legend(frameon=False)
        return figure

    def best(self, results: xr.Dataset) -> float:
        """The duration with the shortest time to standstill [s]."""
        rests = {d: float(pick_job(results, duration=d, fidelity="reference")["rest"]) for d in self.durations}
        return min(rests, key=lambda d: np.nan_to_num(rests[d], nan=np.inf))

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Less momentum, and an earlier standstill."""
        source = min(self.durations, key=lambda d: abs(d - 0.25))
        best, after = self.best(results), at(self.BRAKES + 1.0)
        alone, braked, found = (pick_job(results, duration=d, fidelity="reference") for d in (0.0, source, best))
        v0, v1, v2 = (float(each["velocity"][after]) for each in (alone, braked, found))
        t0, t1, t2 = (float(each["rest"]) for each in (alone, braked, found))
        travelled = [float(each["distance"][-1] - each["distance"][at(self.BRAKES)]) for each in (alone, found)]
        return [
            Claim(
                "Swimming backwards reduces forward momentum.",
                "reduced",
                f"{v2:.3f} instead of {v0:.3f} body lengths/s at 10 s, after {best:g} s",
                bool(v2 < 0.5 * v0),
                "holds if reduced by more than half",
            ),
            Claim(
                "It stands still sooner than by drifting.",
                "less",
                f"{t2:.1f} s instead of {t0:.1f} s, after {best:g} s",
                bool(t2 < t0),
                f"slower than {self.STILL:g} body lengths/s; it travels {travelled[1]:.2f} instead of "
                f"{travelled[0]:.2f} body lengths",
            ),
            Claim(
                "The duration that brings it to rest is 0.25 s.",
                0.25,
                best,
                bool(abs(best - 0.25) <= 0.02),
                f"within one command; after {source:g} s it swims backwards, at {v1:.2f} body lengths/s, and stands "
                f"still after {t1:.1f} s",
            ),
        ]

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """The body that stops soonest."""
        best = self.best(results)
        snake, plan = self.setup(best)
        yield strip(snake, plan, 14.0, f"It swims, drifts, swims backwards for {best:g} s, and stands still.")
