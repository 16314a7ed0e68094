"""Autonomous exploration: the rover maps a flat until nothing that it can reach is unknown, and stops."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import Field

from sandlot.recordings import Quantity
from sandlot.studies.base import Claim, Found, Job, Study, pick, study
from sandlot.studies.indoor import expeditions
from sandlot.studies.indoor.expeditions import SCORES, Expedition, MapKind, draw_map, score, seen_share
from sandlot.studies.plots import COLOURS, canvas, points
from sandlot.typing import BoolArray
from sandlot.worlds.indoor.settings import IndoorSettings

ENOUGH, NEAR, STRAIGHT = 0.99, 0.05, 0.3
"""Share of the floor that must be seen, and bounds of the mean error of walls [m] and of the tilt [degree]."""
SHOTS = 5
SOURCE = "Huete 2020"


@study("indoor.auto", source=f"{SOURCE}, sections 6.2 and 7.2")
class Auto(Study):
    """Can a rover with slipping tracks explore a flat by itself, and map it straight?

    A tracked rover with a spinning lidar is switched on at a random place. It knows only its scans and its encoders. It
    drives to the borders of what it knows until nothing that it can reach is unknown, stops, and reports. The flat is
    that of the source's figure 67, as far as its text describes it; the others are random flats of 60 to 100 m2 with
    furniture. The map is compared with the true walls.

    Attributes:
        replicates: Expeditions in the source's flat.
        flats: Number of random flats.
        place: Plan of the flat: a name, or a file.
        map: Kind of map.
        seconds: An expedition ends after this time [s].
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "explored": Quantity("1", "whether it stopped by itself, with nothing left to explore"),
        "seen": Quantity("1", "share of the floor within its reach that is in the map"),
        **SCORES,
        "path_length": Quantity("m", "how far it drove"),
    }

    replicates: int = Field(5, ge=0, le=1000)
    flats: int = Field(50, ge=0, le=10_000)
    place: str = "apartment"
    map: MapKind = "occupancy"
    seconds: float = Field(1500.0, gt=0.0, le=36_000.0)

    def jobs(self) -> Iterator[Job]:
        """The source's flat, then random ones."""
        counts = {"flat": self.replicates, "random": self.flats}
        return self.each({"place": place, "number": k} for place, count in counts.items() for k in range(count))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Explore one flat."""
        settings, made = self.settings(job), self.explore(job)
        return {
            "explored": float(made.states[-1][0] == "explored"),
            "seen": seen_share(made, settings.robot.radius),
            **score(made),
            "path_length": float(np.hypot(*np.diff(made.true[:, :2], axis=0).T).sum()),
        }

    def settings(self, job: Job) -> IndoorSettings:
        """The place of a job."""
        if job.parameters["place"] == "random":
            return IndoorSettings(robot="tracked", plan="random", plan_seed=int(job.parameters["number"]))
        plan = self.place if "." not in self.place else Path(self.place)
        return IndoorSettings(robot="tracked", plan=plan)

    def explore(self, job: Job) -> Expedition:
        """The expedition of a job."""
        return expeditions.explore(self.settings(job), job.seed, self.map, self.seconds)

    def figure(self, results: xr.Dataset) -> Figure:
        """The map of the first expedition over time, true walls in orange; below, errors of all expeditions."""
        figure, axes = canvas(SHOTS, 15.0, 6.4, rows=2)
        made = self.explore(next(self.jobs()))
        last = len(made.snapshots) - 1
        for panel, k in zip(axes, np.linspace(min(1, last), last, SHOTS).round().astype(int), strict=False):
            draw_map(panel, made, made.snapshots[k], f"{made.snapshots[k].time:.0f} s")
        axes[0].legend(loc="lower left", fontsize=7)
        shown = {"seen": 100.0, "wall_error": 100.0, "tilt": 180.0 / math.pi, "pose_error": 100.0, "time": 1.0 / 60.0}
        names = ("floor in the map [%]", "error of walls [cm]", "tilt [degree]", "error of its pose [cm]", "time [min]")
        bars = (100.0 * ENOUGH, 100.0 * NEAR, STRAIGHT, None, None)
        for panel, (outcome, scale), name, bar in zip(axes[SHOTS:], shown.items(), names, bars, strict=True):
            for place, (kind, colour) in enumerate(zip(("flat", "random"), COLOURS, strict=False)):
                mine = pick(results, place=kind)
                if mine.sizes["job"]:
                    points(panel, place, scale * mine[outcome].values, colour)
            if bar is not None:
                panel.axhline(bar, color="0.3", linestyle="--", linewidth=1.0)
            panel.set(title=name, xlim=(-0.5, 1.5))
            panel.set_xticks([0, 1], ["the flat", "random flats"])
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """Bars of exploration."""
        found, flat, random = [], pick(results, place="flat"), pick(results, place="random")
        if flat.sizes["job"]:
            seen, walls, tilt = flat["seen"].values, flat["wall_error"].values, np.degrees(flat["tilt"].values)
            worst = math.degrees(flat["worst_tilt"].values.max())
            found = [
                Claim(
                    "The rover explores the flat, stops by itself, and touches nothing.",
                    "experimental",
                    f"{int(_complete(flat, 0.0).sum())} of {len(seen)}",
                    bool(_complete(flat, 0.0).all()),
                    "from its own estimate; the source calls this mode experimental",
                ),
                Claim(
                    "The map covers 99% of the floor.",
                    "no number",
                    f"{100.0 * seen.min():.1f} to {100.0 * seen.max():.1f}%",
                    bool((seen >= ENOUGH).all()),
                    "of the floor that the body of the rover can cover; every expedition",
                ),
                Claim(
                    "Walls of the map are within 5 cm of the true ones, in the mean.",
                    "no number",
                    f"{100.0 * walls.min():.1f} to {100.0 * walls.max():.1f} cm",
                    bool((walls < NEAR).all()),
                    "distance from each occupied cell to the nearest true surface; cells of 5 cm; every expedition",
                ),
                Claim(
                    "The map is not tilted.",
                    "noticeably tilted (figure 69)",
                    f"{tilt.min():.2f} to {tilt.max():.2f} degrees",
                    bool((tilt < STRAIGHT).all()),
                    "rotation against the true walls, the start being right; every expedition below 0.3 degrees. "
                    f"Of the worst quarter of a map: {worst:.2f} degrees",
                ),
            ]
        if random.sizes["job"]:
            complete = _complete(random, ENOUGH)
            found.append(
                Claim(
                    "Random flats are explored completely and without collision: at least 48 of 50.",
                    "not studied",
                    f"{int(complete.sum())} of {len(complete)}",
                    complete.mean() >= 0.96,
                    "stopped by itself, 99% of the floor in the map, nothing touched; from its own estimate. "
                    f"Touched something: {int((random['bumps'].values > 0).sum())}; least floor: "
                    f"{100.0 * random['seen'].values.min():.1f}%; not stopped by itself: "
                    f"{int((random['explored'].values == 0).sum())}",
                )
            )
        return found


def _complete(results: xr.Dataset, enough: float) -> BoolArray:
    """Which expeditions ended by themselves, saw enough of the floor, and touched nothing."""
    return (results["explored"].values > 0) & (results["seen"].values >= enough) & (results["bumps"].values == 0)
