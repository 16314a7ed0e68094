"""Which of the robot's unknown dimensions decide how high a box the reactive controller climbs."""

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field

from sandlot.control.climbing.reactive import Reactive
from sandlot.places.course_kinds import Box
from sandlot.recordings import Quantity
from sandlot.robots.climber import load_climber
from sandlot.settings import distinct, flatten
from sandlot.studies.base import Claim, Found, Job, Study, pick, study
from sandlot.studies.obstacles.boxes import BEST, DEEP
from sandlot.studies.obstacles.boxes import SOURCE as HEIGHTS
from sandlot.studies.obstacles.ladder import climb
from sandlot.studies.plots import COLOURS, canvas
from sandlot.typing import Array
from sandlot.worlds.obstacles.settings import ObstaclesSettings

SOURCE = HEIGHTS["reactive"]
"""Highest boxes of the reactive controller at `BEST` and at `DEEP` [cm]."""
USUAL = "as shipped"
FITTED = "tracks 0.40 m, belly friction 0.1, axles 3.2 rad/s"
ROBOTS: Mapping[str, Mapping[str, float]] = {
    USUAL: {},
    "tracks 0.26 m": {"track.reach": 0.26},
    "tracks 0.40 m": {"track.reach": 0.40},
    "wheels 0.08 m": {"track.wheel": 0.08, "track.tip": 0.04},
    "wheels 0.12 m": {"track.wheel": 0.12, "track.tip": 0.06},
    "axle span 0.25 m": {"axles.span": 0.25},
    "axle span 0.35 m": {"axles.span": 0.35, "body.length": 0.37},
    "belt friction 0.7": {"track.friction": 0.7},
    "belt friction 1.2": {"track.friction": 1.2},
    "belly friction 0.1": {"body.friction": 0.1},
    "belly friction 0.8": {"body.friction": 0.8},
    "axles 0.8 rad/s": {"axles.speed": 0.8},
    "axles 3.2 rad/s": {"axles.speed": 3.2},
    "axle torque 35 N*m": {"axles.torque": 35.0},
    "axle torque 140 N*m": {"axles.torque": 140.0},
    "belt torque 4 N*m": {"belts.torque": 4.0},
    "belt torque 16 N*m": {"belts.torque": 16.0},
    "body 8 kg": {"body.mass": 8.0},
    "body 18 kg": {"body.mass": 18.0},
    "tracks 1.5 kg": {"track.mass": 1.5},
    "tracks 4 kg": {"track.mass": 4.0},
    FITTED: {"track.reach": 0.40, "body.friction": 0.1, "axles.speed": 3.2},
}
"""Changes of the shipped robot; what the source does not give is one or a few of these."""


@study("obstacles.dimensions", source="beyond Vincent 2008, figure 31")
class Dimensions(Study):
    """Which dimensions of the robot that the source does not give decide how high the reactive controller climbs?

    The shipped robot has dimensions that were chosen, as the source gives few. Each of them is made smaller and larger,
    one at a time, and the reactive controller climbs boxes until it fails. A last robot has several changes: of five
    combinations that were tried by hand, the one closest to the source's heights.

    Attributes:
        robots: To compare, by their names.
        depths: Of the boxes [m].
        lanes: Robots for each box, each from another start.
        attempts: Failures in a row after which a robot has reached its limit.
        patience: A robot is stuck if it came no further for this long [s].
        seconds: Largest duration of a trial [s].
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "limit": Quantity("m", "highest box that each robot climbed", ("depth", "lane"), (0, 0)),
    }

    robots: Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(distinct)] = tuple(ROBOTS)
    depths: Annotated[tuple[float, ...], Field(min_length=1), AfterValidator(distinct)] = (0.2, BEST, 0.4, DEEP, 1.0)
    lanes: int = Field(5, ge=1, le=100)
    attempts: int = Field(3, ge=1, le=100)
    patience: float = Field(8.0, gt=0.0, le=1e4)
    seconds: float = Field(40.0, gt=0.0, le=1e4)

    def jobs(self) -> Iterator[Job]:
        """Every robot."""
        return self.cross(robot=self.robots)

    def run(self, job: Job) -> Mapping[str, Found]:
        """Climb with one robot."""
        changes = ROBOTS[str(job.parameters["robot"])]
        values = flatten(load_climber().model_dump()) | {name: str(value) for name, value in changes.items()}
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "robot.toml"
            file.write_text("".join(f"{name} = {value}\n" for name, value in values.items()), encoding="utf-8")
            settings = ObstaclesSettings(robot=file, patience=self.patience, seconds=self.seconds)
            found = climb(
                settings,
                Reactive(load_climber(file)),
                lambda depth, height: Box(distance=1.0, depth=depth, height=height),
                self.depths,
                [0.01 * k for k in range(5, 81)],
                self.lanes,
                self.attempts,
                int(job.seed.generate_state(1)[0]),
            )
        return {"limit": found}

    def _reached(self, results: xr.Dataset, robot: str) -> Array:
        """Median over robots: (depths,) [cm]."""
        return np.asarray(100.0 * pick(results, robot=robot)["limit"].median("lane").values[0])

    def figure(self, results: xr.Dataset) -> Figure:
        """Highest box of each robot at 30 cm depth and on deep boxes. Dashed: the shipped robot. Dotted: the source."""
        figure, (axes,) = canvas(1, 8.0, 6.4)
        rows = np.arange(len(self.robots))
        for depth, offset, colour, label, said in (
            (BEST, -0.2, COLOURS[0], "30 cm deep", SOURCE[0]),
            (DEEP, 0.2, COLOURS[1], "70 cm deep", SOURCE[1]),
        ):
            at = int(np.abs(np.asarray(self.depths) - depth).argmin())
            high = [self._reached(results, name)[at] for name in self.robots]
            axes.barh(rows + offset, high, 0.38, color=colour, label=label)
            if USUAL in self.robots:
                axes.axvline(self._reached(results, USUAL)[at], color=colour, linestyle="--", linewidth=1.0)
            axes.axvline(said, color=colour, linestyle=":")
        axes.set_yticks(rows, list(self.robots))
        axes.invert_yaxis()
        axes.set(xlabel="highest box of the reactive controller [cm]")
        figure.legend(*axes.get_legend_handles_labels(), frameon=False, ncols=2, loc="outside upper center")
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Whether the source's heights are those of another robot, and which dimension matters most."""
        claims = []
        which = [int(np.abs(np.asarray(self.depths) - depth).argmin()) for depth in (BEST, DEEP)]
        high = {name: self._reached(results, name)[which] for name in self.robots}
        source, text = f"{SOURCE[0]:.0f} and {SOURCE[1]:.0f} cm", "climbs the source's boxes within 10%."
        for name in (USUAL, FITTED):
            if name in high:
                close = np.abs(high[name] - SOURCE) <= 0.1 * np.asarray(SOURCE)
                said = f"{high[name][0]:.0f} and {high[name][1]:.0f} cm"
                note = "at 30 and 70 cm depth"
                claims.append(Claim(f"The robot {name!r} {text}", source, said, bool(close.all()), note))
        if USUAL in high and len(high) > 1:
            gain = {
                name: float(value[0] - high[USUAL][0]) for name, value in high.items() if name not in (USUAL, FITTED)
            }
            if gain:
                best = max(gain, key=lambda name: gain[name])
                text = "Of single changes, longer tracks raise the height at 30 cm depth most."
                said = f"{best}: {gain[best]:+.0f} cm"
                note = ", ".join(f"{name} {value:+.0f}" for name, value in gain.items())
                claims.append(Claim(text, "beyond the source", said, best == "tracks 0.40 m", note))
        return claims
