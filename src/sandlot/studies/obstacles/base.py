"""What the studies of highest boxes and steepest stairs share: settings, jobs, curves and claims."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from pydantic import AfterValidator, Field

from sandlot.errors import SettingError
from sandlot.places.course_kinds import Kind
from sandlot.recordings import Quantity
from sandlot.robots.climber import load_climber
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Study, pick
from sandlot.studies.obstacles.ladder import CONTROLLERS, climb, make_controller, map_rows
from sandlot.studies.plots import COLOURS
from sandlot.typing import Array
from sandlot.worlds.obstacles.settings import ObstaclesSettings

Name = Literal["reactive", "neural", "reinforced", "free"]
LABELS = {
    "reactive": "reactive",
    "neural": "neural",
    "reinforced": "reinforced",
    "free": "reactive without stability rules",
}


class LimitStudy(Study):
    """A study that raises obstacles until a controller fails, one job for each controller and fidelity.

    Attributes:
        controllers: To compare.
        lanes: Robots for each obstacle, each from another start; at ``reference`` there is one.
        attempts: Failures in a row after which a robot has reached its limit.
        perception: How the robots know the ground: ``exact``, or by ``laser``.
        patience: A robot is stuck if it came no further for this long [s].
        seconds: Largest duration of a trial [s].
        reference: Indices of the obstacles that are also tried at ``reference``.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {}

    controllers: Annotated[tuple[Name, ...], Field(min_length=1), AfterValidator(distinct)] = (
        "reactive",
        "neural",
        "reinforced",
        "free",
    )
    lanes: int = Field(5, ge=1, le=100)
    attempts: int = Field(5, ge=1, le=100)
    perception: Literal["exact", "laser"] = "exact"
    patience: float = Field(20.0, gt=0.0, le=1e4)
    seconds: float = Field(60.0, gt=0.0, le=1e4)
    reference: tuple[int, ...] = ()

    @abstractmethod
    def across(self) -> Sequence[float]:
        """The dimension of the obstacles that is given."""

    @abstractmethod
    def levels(self) -> Sequence[float]:
        """The dimension that is raised, ascending."""

    @abstractmethod
    def course(self, across: float, level: float) -> Kind:
        """An obstacle."""

    def check(self) -> None:
        """Refuse obstacles for the reference that there are not."""
        last = len(self.across()) - 1
        for k in self.reference:
            if not 0 <= k <= last:
                raise SettingError(f"reference={k} is not possible; allowed: indices of obstacles, 0 to {last}")

    def jobs(self) -> Iterator[Job]:
        """Every controller, at both fidelities."""
        fidelities = ("fast", "reference") if self.reference else ("fast",)
        return self.cross(fidelity=fidelities, controller=self.controllers)

    def limits(self, job: Job) -> Array:
        """Highest levels: (across, lanes), NaN for what was not tried."""
        name, fidelity = str(job.parameters["controller"]), str(job.parameters["fidelity"])
        given: dict[str, Any] = {"perception": self.perception, "patience": self.patience, "seconds": self.seconds}
        settings = ObstaclesSettings(fidelity=fidelity, rows=map_rows(name), **given)
        fast = fidelity == "fast"
        which = list(range(len(self.across()))) if fast else list(self.reference)
        found = np.full((len(self.across()), self.lanes), np.nan)
        found[which, : self.lanes if fast else 1] = climb(
            settings,
            make_controller(name, load_climber()),
            self.course,
            [self.across()[k] for k in which],
            self.levels(),
            self.lanes if fast else 1,
            self.attempts,
            int(job.seed.generate_state(1)[0]),
        )
        return found

    def run(self, job: Job) -> Mapping[str, Found]:
        """Climb with one controller."""
        return {"limit": self.limits(job)}

    def reached(self, results: xr.Dataset, name: str, fidelity: str = "fast") -> Array:
        """Median over robots of what a controller reached: (across,), NaN if it was not tried."""
        mine = pick(results, controller=name, fidelity=fidelity)
        if not mine.sizes["job"]:
            return np.full(len(self.across()), np.nan)
        return np.asarray(mine["limit"].median("lane", skipna=True).values[0])

    def curves(self, axes: Axes, results: xr.Dataset, scale: float = 1.0) -> None:
        """Draw what controllers reached: a line at ``fast``, the range of its robots, and crosses at ``reference``."""
        x = np.asarray(self.across())
        for name, colour in zip(CONTROLLERS, COLOURS, strict=False):
            if name not in self.controllers:
                continue
            limit = scale * pick(results, controller=name, fidelity="fast")["limit"].values[0]
            axes.plot(x, np.median(limit, axis=1), color=colour, label=LABELS[name])
            axes.fill_between(x, limit.min(axis=1), limit.max(axis=1), color=colour, alpha=0.15, linewidth=0)
            axes.plot(x, scale * self.reached(results, name, "reference"), "x", color=colour)

    def agreement(self, results: xr.Dataset, within: float, unit: str, scale: float) -> list[Claim]:
        """Whether both fidelities reach the same, for each controller."""
        claims = []
        for name in self.controllers if self.reference else ():
            which = list(self.reference)
            fast, slow = (self.reached(results, name, each)[which] * scale for each in ("fast", "reference"))
            worst = float(np.abs(fast - slow).max())
            pairs = ", ".join(f"{one:.0f}/{other:.0f}" for one, other in zip(fast, slow, strict=True))
            text = f"{LABELS[name].capitalize()}: both fidelities reach the same within {within:g} {unit}."
            claims.append(Claim(text, "beyond the source", f"{pairs} {unit}", worst <= within, "fast/reference"))
        return claims


def near(text: str, source: float, measured: float, within: float = 0.1) -> Claim:
    """A claim that holds if the measured value is within a share of the source's value."""
    close = bool(abs(measured - source) <= within * abs(source))
    return Claim(text, source, round(float(measured), 1), close, f"holds within {within:.0%}")
