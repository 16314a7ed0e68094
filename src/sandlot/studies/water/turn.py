"""Steering a snake to targets in four directions."""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field

from sandlot.control.controller import Separate
from sandlot.control.snake.gaits import Gait, Schedule
from sandlot.control.snake.steering import Seeker, StateSteering
from sandlot.recordings import Quantity
from sandlot.robots.reference_swimmers import check_stable
from sandlot.robots.snake import Snake
from sandlot.robots.swimmer_models import make_swimmers
from sandlot.robots.swimmers import start_centre
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Study, pick, study
from sandlot.studies.plots import canvas
from sandlot.studies.water.base import SHORT
from sandlot.studies.water.circles import fit_circle
from sandlot.studies.water.fetching import PATHS, act, draw_paths, quadrants
from sandlot.studies.water.following import follow
from sandlot.studies.water.tracks import FIDELITIES
from sandlot.worlds.water.settings import WaterSettings


@study("water.turn", source="Draschwandtner 2015, section 7.3")
class Turn(Study):
    """Can the snake steer to a target in any direction?

    A state machine with four states, forward, left, right and stop, bends an eight-link body by adding a constant to
    all its joints: the source's constant, and twice as much. Each target is tried at both fidelities. Why targets are
    missed is shown by a body that stays bent for ten times as long: it swims a circle.

    Attributes:
        distance: Of the targets from the centre of mass, along x and y [m].
        seconds: Time limit of an episode [s]; the source's is 30, and claims are about that.
        veers: Constants added to all joints for a turn [rad].
        snake: The body.
        gait: How it swims.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "when": Quantity("s", "time when the target was reached; NaN if never", ("target",), (0,)),
        "exploded": Quantity("1", "whether the simulation exploded", ("target",), (0,)),
        **PATHS,
        "middle": Quantity("m", "centre of the circle that it swims if it stays bent to the left", ("axis",), (2,)),
        "radius": Quantity("m", "radius of that circle"),
        "lap": Quantity("s", "time for that circle"),
        "round": Quantity("1", "whether its path is a circle: at least one round, within 10% of the radius"),
    }
    WITHIN: ClassVar[float] = 30.0
    """The source's time limit [s]."""

    distance: float = Field(10.0, gt=0.0, le=1e4)
    seconds: float = Field(60.0, gt=0.0, le=1e4)
    veers: Annotated[tuple[float, ...], Field(min_length=1), AfterValidator(distinct)] = (0.05, 0.1)
    snake: Snake = SHORT
    gait: Gait = Gait(amplitude=0.6, frequency=1.0, phase=2.0 * np.pi / 7.0)

    def check(self) -> None:
        """Refuse a gait for another body, or a body that the reference cannot simulate."""
        check_stable(self.snake)
        self.gait.waves(self.snake.joints)

    def jobs(self) -> Iterator[Job]:
        """All quadrants, at both fidelities."""
        return self.cross(veer=self.veers, fidelity=FIDELITIES)

    def run(self, job: Job) -> Mapping[str, Found]:
        """Steer to a target in each quadrant."""
        marks = quadrants(self.distance) + start_centre(self.snake)
        settings = WaterSettings(fidelity=str(job.parameters["fidelity"]), snake=self.snake)
        veer = float(job.parameters["veer"])
        seeker = Separate(lambda _: Seeker(self.snake, self.gait, StateSteering(veer)))
        found = act(settings, marks, seeker, self.seconds, lambda task: task.reached)
        return {**found, **self.circle(settings.fidelity, veer)}

    def circle(self, fidelity: str, veer: float) -> Mapping[str, Found]:
        """The circle of a body that stays bent, without the first tenth of the time, in which it starts from rest."""
        swimmers, each = make_swimmers(fidelity, self.snake), round(0.5 / self.snake.interval) or 1
        plan, seconds = Schedule((0.0,), (self.gait.veering(veer),)), 10.0 * self.seconds
        path = [swimmers.centre[0].copy() for k in follow(swimmers, plan, seconds) if k % each == 0]
        swum = fit_circle(np.array(path[len(path) // 10 :]))
        lap = 0.9 * seconds / swum.turns if swum.turns > 0.0 else np.inf
        return {"middle": swum.middle, "radius": swum.radius, "lap": lap, "round": float(swum.swum)}

    def figure(self, results: xr.Dataset) -> Figure:
        """Paths of the centre of mass to the four targets (as figure 7.9)."""
        figure, axes = canvas(len(self.veers) * 2, 4.2 * len(self.veers) * 2, 4.2)
        for k, each in enumerate(axes):
            job = results.isel(job=k)
            draw_paths(each, results.isel(job=[k]))
            each.set_title(f"{job['fidelity'].item()}, bent by {job['veer'].item():g} rad")
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Targets in all four quadrants are reached; or why they are not."""
        claims = []
        rows = zip(*(results[name].values for name in ("fidelity", "veer", "when", "exploded")), strict=True)
        for fidelity, veer, row, lost in rows:
            times = ", ".join(f"{when:.1f} s" if np.isfinite(when) else "never" for when in row)
            soon = int((row <= self.WITHIN).sum())
            text = f"Bent by {veer:g} rad, targets in all four quadrants are reached within 30 s ({fidelity})."
            source = "4 of 4" if veer == 0.05 else "beyond the source"
            claims.append(Claim(text, source, f"{soon} of 4 ({times})", soon == 4, f"{int(lost.sum())} exploded"))
        marks = quadrants(self.distance) + start_centre(self.snake)
        # A body that turns to the right swims the mirror image.
        marks[:, 1] = np.abs(marks[:, 1])
        for veer in self.veers:
            jobs = [pick(results, veer=veer, fidelity=fidelity) for fidelity in FIDELITIES]
            radii, laps, rounds = ([float(job[name].values[0]) for job in jobs] for name in ("radius", "lap", "round"))
            path = "" if rounds[1] else "its path is no circle; "
            away = [float(np.linalg.norm(marks - job["middle"].values[0], axis=1).max()) for job in jobs]
            circle = f"Bent by {veer:g} rad it swims a circle"
            if veer == min(self.veers):
                claims.append(
                    Claim(
                        f"{circle} that encloses the targets.",
                        "beyond the source",
                        f"radius {radii[1]:.1f} m; targets at most {away[1]:.1f} m from its centre",
                        bool(rounds[1] and away[1] < radii[1]),
                        f"{path}fast: {radii[0]:.1f} and {away[0]:.1f} m",
                    )
                )
            claims.append(
                Claim(
                    f"{circle} so slowly that half of it takes longer than 30 s.",
                    "beyond the source",
                    f"{0.5 * laps[1]:.0f} s",
                    bool(rounds[1] and 0.5 * laps[1] > self.WITHIN),
                    f"{path}fast: {0.5 * laps[0]:.0f} s",
                )
            )
        return claims
