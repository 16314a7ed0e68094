"""Semi-autonomous driving: the rover is given two waypoints in a flat that it does not know."""

import math
from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from pydantic import AfterValidator, Field

from sandlot.geometry.planar import between
from sandlot.recordings import Quantity
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Study, pick, study
from sandlot.studies.indoor import expeditions
from sandlot.studies.indoor.auto import SOURCE, STRAIGHT
from sandlot.studies.indoor.expeditions import SCORES, Expedition, MapKind, draw_map, score
from sandlot.studies.plots import canvas
from sandlot.typing import Array
from sandlot.worlds.indoor.settings import IndoorSettings

CORRIDOR, ROOM = (0.65, 6.2), (7.6, 2.0)
"""The waypoints: the upper left corridor, and the centre of the room at the right [m]."""
NEAR = 0.2
"""A waypoint is reached if the rover truly is this near to it [m]; chosen, about its radius."""
SHOTS = 4


@study("indoor.semi", source=f"{SOURCE}, figures 68 and 69")
class Semi(Study):
    """Does the rover find its way to two waypoints through unknown rooms, and does its map stay straight?

    The flat is that of the source's figure 67, as far as its text describes it. The rover starts in the main room. The
    first waypoint is in the upper left corridor, the second in the centre of the room at the right, so that it crosses
    the main room twice. It knows only its scans and its encoders. It plans through unknown rooms, and anew when a wall
    appears on its path. The source's map tilts more and more as the rover goes.

    Attributes:
        maps: Kinds of map.
        replicates: Number of drives with each.
        start: x, y [m] and yaw [rad].
        seconds: At most so long for each waypoint [s].
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "arrived": Quantity("1", "whether the rover says that it has arrived", ("waypoint",), (0,)),
        "distance": Quantity("m", "true distance from the waypoint at the end of the leg", ("waypoint",), (0,)),
        **SCORES,
        "detours": Quantity("1", "how often a path was found because a wall had appeared on the one before"),
    }

    maps: Annotated[tuple[MapKind, ...], Field(min_length=1), AfterValidator(distinct)] = ("reputation", "occupancy")
    replicates: int = Field(10, ge=1, le=1000)
    start: tuple[float, float, float] = (3.0, 1.6, 1.57)
    seconds: float = Field(600.0, gt=0.0, le=36_000.0)

    def jobs(self) -> Iterator[Job]:
        """Every kind of map, several times."""
        return self.cross(map=self.maps, replicate=range(self.replicates))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Drive to both waypoints."""
        made = self.drive(job)
        return {
            "arrived": np.array([float(state == "arrived") for state, _ in made.states]),
            "distance": self.distances(made),
            **score(made),
            "detours": float(made.detours),
        }

    def drive(self, job: Job) -> Expedition:
        """The drive of a job."""
        settings = IndoorSettings(robot="tracked", plan="apartment", start=self.start)
        kind: MapKind = "occupancy" if job.parameters["map"] == "occupancy" else "reputation"
        return expeditions.explore(settings, job.seed, kind, self.seconds, (CORRIDOR, ROOM))

    def distances(self, made: Expedition) -> Array:
        """True distance from each waypoint at the end of its leg: (2,) [m]."""
        goals = between(made.start, [(*goal, 0.0) for goal in (CORRIDOR, ROOM)])
        ends = made.true[np.array(made.legs) - 1]
        return np.hypot(*(goals - ends)[:, :2].T)

    def figure(self, results: xr.Dataset) -> Figure:
        """The map of the first drive over time: above to the first waypoint, below to the second; walls in orange."""
        figure, axes = canvas(SHOTS, 13.0, 6.4, rows=2)
        made = self.drive(next(self.jobs()))
        times = np.array([shot.driven for shot in made.snapshots])
        for leg, (first, end) in enumerate(zip((0, made.legs[0]), made.legs, strict=True)):
            for k, scans in enumerate(np.linspace(first, end, SHOTS + 1)[1:]):
                shot = made.snapshots[int(np.abs(times - scans).argmin())]
                draw_map(axes[leg * SHOTS + k], made, shot, f"{shot.time:.0f} s")
        axes[0].legend(loc="lower left", fontsize=7)
        return figure

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """What the source shows, and bars of our own."""
        found = []
        for kind in self.maps:
            mine = pick(results, map=kind)
            there = (mine["arrived"].values > 0) & (mine["distance"].values <= NEAR)
            tilt, worst = np.degrees(mine["tilt"].values), math.degrees(mine["worst_tilt"].values.max())
            walls = 100.0 * mine["wall_error"].values
            found += [
                Claim(
                    f"The rover reaches both waypoints and touches nothing; {kind} map.",
                    "reached",
                    f"{int((there.all(axis=1) & (mine['bumps'].values == 0)).sum())} of {len(there)} drives",
                    bool(there.all() and not mine["bumps"].values.any()),
                    f"it says so, and truly is within {100.0 * NEAR:.0f} cm; furthest: "
                    f"{100.0 * mine['distance'].values.max():.1f} cm",
                ),
                Claim(
                    f"The map does not tilt; {kind} map.",
                    "noticeably tilted (figure 69)",
                    f"{tilt.min():.2f} to {tilt.max():.2f} degrees",
                    bool((tilt < STRAIGHT).all()),
                    f"every drive below {STRAIGHT} degrees; of the worst quarter of a map: {worst:.2f} degrees; mean "
                    f"error of walls {walls.min():.1f} to {walls.max():.1f} cm",
                ),
            ]
        detours = results["detours"].values
        found.append(
            Claim(
                "Paths are found anew as walls appear.",
                "recalculated at least twice (figure 68)",
                f"{detours.min():.0f} to {detours.max():.0f} times a drive",
                bool((detours >= 2).all()),
                "paths that were found because a wall had appeared on the one before; every drive at least twice",
            )
        )
        return found
