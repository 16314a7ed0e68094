"""What the studies of highest boxes and steepest stairs share: settings, jobs, curves and claims."""

import itertools
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from pydantic import AfterValidator, Field

from sandlot.control.climbing.planner import limit
from sandlot.errors import SettingError
from sandlot.places.course_kinds import Kind
from sandlot.places.courses import Course
from sandlot.recordings import Quantity
from sandlot.robots.climber import load_climber
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Study, pick
from sandlot.studies.obstacles.ladder import CONTROLLERS, climb, make_controller, map_rows
from sandlot.studies.plots import COLOURS
from sandlot.typing import Array
from sandlot.worlds.obstacles.settings import ObstaclesSettings

Name = Literal["reactive", "neural", "reinforced", "free", "trained"]
LABELS = {
    "reactive": "reactive",
    "neural": "neural",
    "reinforced": "reinforced",
    "free": "reactive without stability rules",
    "trained": "trained",
}
MINUTES = 15.0
"""Processor time that a study may take [min]."""
PLANNER = "planner"
"""Of the jobs that find what geometry allows; their fidelity is the grid."""


class LimitStudy(Study):
    """A study that raises obstacles until a controller fails, one job for each controller and fidelity.

    Attributes:
        controllers: To compare.
        lanes: Robots for each obstacle, each from another start; at ``reference`` there is one.
        attempts: Failures in a row after which a robot has reached its limit.
        perception: How the robots know the ground: ``exact``, or by ``laser``.
        patience: A robot is stuck if it came no further for this long [s].
        seconds: Largest duration of a trial [s].
        reference: Controllers that are also tried at ``reference``.
        grids: Of the planner that finds what geometry allows: its coarsest steps are divided by each of these.
        refined: Indices of the obstacles on which it also plans with all grids but the first.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {}

    controllers: Annotated[tuple[Name, ...], Field(min_length=1), AfterValidator(distinct)] = (
        "reactive",
        "neural",
        "reinforced",
        "free",
        "trained",
    )
    lanes: int = Field(5, ge=1, le=100)
    attempts: int = Field(5, ge=1, le=100)
    perception: Literal["exact", "laser"] = "exact"
    patience: float = Field(20.0, gt=0.0, le=1e4)
    seconds: float = Field(60.0, gt=0.0, le=1e4)
    reference: Annotated[tuple[Name, ...], AfterValidator(distinct)] = ("trained",)
    grids: Annotated[tuple[Annotated[int, Field(ge=1, le=8)], ...], AfterValidator(distinct)] = (1, 2)
    refined: tuple[int, ...] = ()

    @abstractmethod
    def across(self) -> Sequence[float]:
        """The dimension of the obstacles that is given."""

    @abstractmethod
    def levels(self) -> Sequence[float]:
        """The dimension that is raised, ascending."""

    @abstractmethod
    def course(self, across: float, level: float) -> Kind:
        """An obstacle."""

    def planned(self, across: float, level: float) -> Kind:
        """The obstacle that the planner plans for."""
        return self.course(across, level)

    def check(self) -> None:
        """Refuse obstacles to plan for that there are not, and controllers that are not compared."""
        last = len(self.across()) - 1
        for k in self.refined:
            if not 0 <= k <= last:
                raise SettingError(f"refined={k} is not possible; allowed: indices of obstacles, 0 to {last}")
        for name in self.reference:
            if name not in self.controllers:
                raise SettingError(f"reference={name} is not possible; allowed: {', '.join(self.controllers)}")

    def jobs(self) -> Iterator[Job]:
        """The planner with each grid, every controller at ``fast``, and some at ``reference``."""
        plans = [{"fidelity": f"grid {each}", "controller": PLANNER} for each in self.grids[::-1]]
        slow = [{"fidelity": "reference", "controller": name} for name in self.reference]
        return self.each([*plans, *slow, *({"fidelity": "fast", "controller": name} for name in self.controllers)])

    def limits(self, job: Job) -> Array:
        """Highest levels: (across, lanes), NaN for what was not tried."""
        name, fidelity = str(job.parameters["controller"]), str(job.parameters["fidelity"])
        if name == PLANNER:
            return self.plans(int(fidelity.removeprefix("grid ")))
        given: dict[str, Any] = {"perception": self.perception, "patience": self.patience, "seconds": self.seconds}
        settings = ObstaclesSettings(fidelity=fidelity, rows=map_rows(name), **given)
        lanes = self.lanes if fidelity == "fast" else 1
        found = np.full((len(self.across()), self.lanes), np.nan)
        found[:, :lanes] = climb(
            settings,
            make_controller(name, load_climber()),
            self.course,
            self.across(),
            self.levels(),
            lanes,
            self.attempts,
            int(job.seed.generate_state(1)[0]),
        )
        return found

    def plans(self, grid: int) -> Array:
        """Highest levels with a plan: (across, lanes), alike for all lanes; NaN for what was not planned."""
        climber, levels, rng = load_climber(), [0.0, *self.levels()], np.random.default_rng(0)
        found = np.full((len(self.across()), self.lanes), np.nan)
        guess = 3 * len(levels) // 4
        for k in range(len(self.across())) if grid == self.grids[0] else self.refined:
            size = self.across()[k]

            def course(level: float, size: float = size) -> Course:
                return self.planned(size, level).draw(rng)

            guess = limit(climber, course, levels[1:], guess, grid)
            found[k] = levels[guess]
        return found

    def run(self, job: Job) -> Mapping[str, Found]:
        """Climb with one controller, or plan with one grid."""
        start = time.process_time()
        found = self.limits(job)
        return {"limit": found, "seconds": time.process_time() - start}

    def reached(self, results: xr.Dataset, name: str, fidelity: str = "fast") -> Array:
        """Median over robots of what a controller reached: (across,), NaN if it was not tried."""
        mine = pick(results, controller=name, fidelity=fidelity)
        if not mine.sizes["job"]:
            return np.full(len(self.across()), np.nan)
        return np.asarray(mine["limit"].median("lane", skipna=True).values[0])

    def allowed(self, results: xr.Dataset) -> Array:
        """What geometry allows by the planner with its first grid: (across,), NaN without a planner."""
        grid = self.grids[0] if self.grids else 0
        return self.reached(results, PLANNER, f"grid {grid}")

    def curves(self, axes: Axes, results: xr.Dataset, convert: Callable[[Array], Array]) -> None:
        """Draw what geometry allows, and what controllers reached, with the range of their robots.

        Crosses show the reference.

        Args:
            axes: Where to draw.
            results: Of all jobs.
            convert: From levels (across, any) to what is drawn, the same for all lanes.
        """
        x = np.asarray(self.across())
        top = convert(self.allowed(results)[:, None])[:, 0]
        if not np.isnan(top).all():
            axes.plot(x, top, color="0.45", linestyle=":", label="what geometry allows (planner)")
            axes.fill_between(x, top, 1.06 * np.nanmax(top), color="0.93", linewidth=0, zorder=0)
            for grid in self.grids[1:]:
                finer = convert(self.reached(results, PLANNER, f"grid {grid}")[:, None])[:, 0]
                axes.plot(x, finer, ".", color="0.45", label=f"the same with steps of 1/{grid}")
        for name, colour in zip(CONTROLLERS, COLOURS, strict=False):
            if name not in self.controllers:
                continue
            limit = convert(pick(results, controller=name, fidelity="fast")["limit"].values[0])
            axes.plot(x, np.median(limit, axis=1), color=colour, label=LABELS[name])
            axes.fill_between(x, limit.min(axis=1), limit.max(axis=1), color=colour, alpha=0.15, linewidth=0)
            axes.plot(x, convert(self.reached(results, name, "reference")[:, None])[:, 0], "x", color=colour)

    def geometry(self, results: xr.Dataset, unit: str, scale: float) -> list[Claim]:
        """Whether the planner's grid is fine enough, and how much of what it allows the trained controller reaches."""
        allowed, claims = scale * self.allowed(results), []
        grids = {grid: scale * self.reached(results, PLANNER, f"grid {grid}") for grid in self.grids}
        for coarse, fine in itertools.pairwise(self.grids):
            before, after = (grids[each][list(self.refined)] for each in (coarse, fine))
            if len(before):
                change = float(np.abs(after - before).max())
                text = f"Steps of 1/{fine} in place of 1/{coarse} change the planner's limits by at most 1 {unit}."
                pairs = ", ".join(f"{a:.0f}/{b:.0f}" for a, b in zip(before, after, strict=True))
                claims.append(Claim(text, "beyond the source", f"{change:.0f} {unit}", change <= 1.0, pairs))
        if "trained" in self.controllers and not np.isnan(allowed).any():
            share = scale * self.reached(results, "trained") / allowed
            text = "The trained controller reaches at least three quarters of what geometry allows."
            said = f"{share.min():.0%} to {share.max():.0%}"
            claims.append(Claim(text, "beyond the source", said, bool((share >= 0.75).all())))
        return claims

    def cost(self, results: xr.Dataset) -> Claim:
        """Whether all jobs took at most half of what two cores do in 15 minutes: the other half is another study's."""
        minutes = float(results["seconds"].sum()) / 60.0
        most = {name: float(part["seconds"].sum()) for name, part in results.groupby("controller")}
        longest = max(most, key=lambda name: most[name])
        text = f"All jobs take at most {MINUTES:g} minutes of processor time together [min]."
        note = f"longest: {longest}, {most[longest] / 60.0:.1f} min"
        return Claim(text, "beyond the source", round(minutes, 1), minutes <= MINUTES, note)

    def agreement(self, results: xr.Dataset, within: float, unit: str, scale: float) -> list[Claim]:
        """Whether both fidelities reach the same, for each controller that is tried at both."""
        claims = []
        for name in self.reference:
            fast, slow = (self.reached(results, name, each) * scale for each in ("fast", "reference"))
            worst = float(np.abs(fast - slow).max())
            pairs = ", ".join(f"{one:.0f}/{other:.0f}" for one, other in zip(fast, slow, strict=True))
            text = f"{LABELS[name].capitalize()}: both fidelities reach the same within {within:g} {unit}."
            claims.append(Claim(text, "beyond the source", f"{pairs} {unit}", worst <= within, "fast/reference"))
        return claims


def near(text: str, source: float, measured: float, within: float = 0.1) -> Claim:
    """A claim that holds if the measured value is within a share of the source's value."""
    close = bool(abs(measured - source) <= within * abs(source))
    return Claim(text, source, round(float(measured), 1), close, f"holds within {within:.0%}")
