"""What steering that aligns the robot with the edges of its obstacle is worth (future work of section 8.2)."""

import math
from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field

from sandlot.control.climbing.aligning import Aligned
from sandlot.recordings import Quantity
from sandlot.robots.climber import load_climber
from sandlot.robots.climbers import INTERVAL
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Picture, Study, pick, study
from sandlot.studies.obstacles.align_figures import draw_curves, draw_friction
from sandlot.studies.obstacles.align_runs import ROWS, SAMPLE, WIDTH, controller, drive, obstacle, room
from sandlot.studies.statistics import Interval, mean_interval
from sandlot.typing import Array
from sandlot.worlds.obstacles.settings import ObstaclesSettings
from sandlot.worlds.obstacles.vector import ObstaclesVector

SKEWED = 10
"""Approaches of at least this yaw count as skewed [deg]."""

OURS = "beyond the source"
Name = Literal["reactive", "trained", "trained, laser"]
Obstacle = Literal["box", "up", "down"]


@study("obstacles.align", source="Vincent 2008, section 8.2")
class Align(Study):
    """What is steering worth that aligns the robot with the edges of stairs and boxes?

    The source names it as future work. Robots in the reference start turned to the left, or have less friction on the
    right belts. Each drives over the same obstacles twice: without steering, and with steering by the yaw that is
    estimated from the elevation map. Stairs are typical ones of six steps, either up or down; boxes are 15 to 30 cm
    high. The elevation map is the true one, except for ``trained, laser``, which maps with a laser with noise.

    Attributes:
        robots: Controllers, and how they know the ground.
        obstacles: ``box``, and stairs ``up`` and ``down``.
        yaws: At the start, with even friction [deg].
        ratios: Friction of the right belts over that of the left ones, from a square start.
        runs: Of each, on obstacles of random size from a random start.
        patience: A robot is stuck if it came no further for this long [s].
        seconds: Largest duration of a run [s].
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "passed": Quantity("1", "whether each run passed its obstacle", ("steering", "run"), (0, 0)),
        "drift": Quantity(
            "m", "largest distance to the side of where it met the obstacle", ("steering", "run"), (0, 0)
        ),
        "yaw_end": Quantity("rad", "yaw at the end, to either side", ("steering", "run"), (0, 0)),
        "roll": Quantity("rad", "largest roll, to either side", ("steering", "run"), (0, 0)),
        "path": Quantity(
            "m", "x and y over time; NaN after the end", ("steering", "run", "point", "axis"), (0, 0, 0, 0)
        ),
    }

    robots: Annotated[tuple[Name, ...], Field(min_length=1), AfterValidator(distinct)] = (
        "reactive",
        "trained",
        "trained, laser",
    )
    obstacles: Annotated[tuple[Obstacle, ...], Field(min_length=1), AfterValidator(distinct)] = ("box", "up", "down")
    yaws: Annotated[tuple[int, ...], Field(min_length=1), AfterValidator(distinct)] = (0, 5, 10, 15, 20)
    ratios: Annotated[tuple[float, ...], AfterValidator(distinct)] = (0.9, 0.75, 0.6)
    runs: int = Field(8, ge=2, le=1000)
    patience: float = Field(5.0, gt=0.0, le=1e4)
    seconds: float = Field(30.0, gt=0.0, le=1e4)

    def jobs(self) -> Iterator[Job]:
        """Every robot on every obstacle, at every yaw and at every ratio of friction."""
        ways = [(yaw, 1.0) for yaw in self.yaws] + [(0, ratio) for ratio in self.ratios]
        return self.each(
            {"robot": robot, "obstacle": obstacle, "yaw": yaw, "ratio": ratio}
            for robot in self.robots
            for obstacle in self.obstacles
            for yaw, ratio in ways
        )

    def run(self, job: Job) -> Mapping[str, Found]:
        """Drive all runs without steering, and the same again with it."""
        given, climber = job.parameters, load_climber()
        name, grip = str(given["robot"]), climber.track.friction
        settings = ObstaclesSettings(
            fidelity="reference",
            rows=ROWS,
            friction=(grip, grip * float(given["ratio"])),
            perception="laser" if name.endswith("laser") else "exact",
            patience=self.patience,
            seconds=self.seconds,
        )
        world = ObstaclesVector(num_envs=1, autoreset_mode="Disabled", settings=settings)
        yaw, seeds = math.radians(float(given["yaw"])), job.seed.generate_state(self.runs).tolist()
        kinds = [obstacle(str(given["obstacle"]), np.random.default_rng(seed)) for seed in seeds]
        inner = controller(name, climber)
        drives = [
            [drive(world, each, kind, yaw, seed) for kind, seed in zip(kinds, seeds, strict=True)]
            for each in (inner, Aligned(inner, climber, ROWS))
        ]
        points = round(self.seconds / INTERVAL) // SAMPLE + 1
        path = np.full((2, self.runs, points, 2), np.nan)
        for row, each in zip(path.reshape(-1, points, 2), (one for some in drives for one in some), strict=True):
            row[: len(each.path)] = each.path
        names = {"passed": "passed", "drift": "drift", "yaw_end": "yaw", "roll": "roll"}
        found = {
            key: np.array([[float(getattr(one, at)) for one in some] for some in drives]) for key, at in names.items()
        }
        return {**found, "path": path}

    def figure(self, results: xr.Dataset) -> Figure:
        """Paths from above at the largest yaw, and outcomes over the yaw with 95% confidence intervals.

        Above: a grey line shows where the obstacle begins. Below: solid with steering, dashed without it.
        """
        return draw_curves(self._with_width(results), self.robots, self.obstacles, self.yaws)

    def _with_width(self, results: xr.Dataset) -> xr.Dataset:
        """With one more outcome: whether a run passed and would have touched no wall of stairs `WIDTH` wide."""
        return results.assign(within=results["passed"] * (results["drift"] <= room(load_climber())))

    def scenes(self, results: xr.Dataset) -> Iterator[Picture]:
        """What uneven friction does."""
        if self.ratios:
            caption = "Outcomes over the friction of the right belts. Solid: with steering; dashed: without it."
            yield Picture(caption, draw_friction(self._with_width(results), self.robots, (1.0, *self.ratios)))

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """What steering gains, on skewed approaches and with uneven friction, and what it costs on square ones."""
        results = self._with_width(results)
        claims, even = [], pick(results, ratio=1.0)
        skewed = even.isel(job=even["yaw"].values >= SKEWED)
        uneven = results.isel(job=results["ratio"].values < 1.0)
        for name in self.robots:
            label = name.capitalize()
            for text, chosen in (("from skewed approaches", skewed), ("with uneven friction", uneven)):
                mine = pick(chosen, robot=name)
                if mine.sizes["job"]:
                    claims.append(_more(f"{label}: steering passes more obstacles {text}.", mine, "passed"))
                    more = f"{label}: {text}, steering passes more obstacles within a width of {WIDTH:g} m."
                    claims.append(_more(more, mine, "within"))
            mine = pick(skewed, robot=name)
            if mine.sizes["job"]:
                text = f"{label}: steering halves the drift on obstacles after skewed approaches [m]."
                claims.append(_halved(text, mine["drift"].values))
                text = f"{label}: steering halves the largest roll after skewed approaches [deg]."
                claims.append(_halved(text, np.degrees(mine["roll"].values)))
                turned = np.degrees(mean_interval(mine["yaw_end"].values[:, 1].ravel()).mean)
                before = np.degrees(mine["yaw_end"].values[:, 0].mean())
                text = (
                    f"{label}: after skewed approaches a steered robot ends aligned within 5 degrees on average [deg]."
                )
                claims.append(Claim(text, OURS, round(turned, 1), turned <= 5.0, f"without steering {before:.1f}"))
            mine = pick(even, robot=name, yaw=0)
            if mine.sizes["job"]:
                text = f"{label}: steering costs no success in square approaches."
                claims.append(Claim(text, OURS, _shares(mine, "passed"), _gain(mine, "passed").mean >= 0.0))
        return claims


def _shares(some: xr.Dataset, outcome: str) -> str:
    """How many runs have an outcome, with steering and without, as text."""
    after, before = (some[outcome].values[:, steering] for steering in (1, 0))
    return f"{int(after.sum())} with, {int(before.sum())} without, of {after.size}"


def _gain(some: xr.Dataset, outcome: str) -> Interval:
    """An outcome with steering minus that without, of pairs of runs."""
    values = some[outcome].values
    return mean_interval((values[:, 1] - values[:, 0]).ravel())


def _more(text: str, some: xr.Dataset, outcome: str) -> Claim:
    gain = _gain(some, outcome)
    note = f"95% interval of the gain: {100.0 * gain.low:+.0f} to {100.0 * gain.high:+.0f}%"
    return Claim(text, OURS, _shares(some, outcome), gain.low > 0.0, note)


def _halved(text: str, values: Array) -> Claim:
    """A claim about values (jobs, steering, runs): the mean with steering is at most half of that without."""
    before, after = values[:, 0].mean(), values[:, 1].mean()
    return Claim(text, OURS, f"{after:.3g} instead of {before:.3g}", after <= 0.5 * before, "mean")
