"""Two kinds of grid maps with the same scans: reputations as in the source, and log-odds."""

import math
import time
from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal, NamedTuple

import numpy as np
import xarray as xr
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from pydantic import AfterValidator, Field
from scipy import ndimage

from sandlot.geometry.planar import rotate
from sandlot.kernels.randomness import children
from sandlot.mapping.grids.cell_map import CellMap
from sandlot.mapping.grids.geometry import FREE, OBSTACLE, UNKNOWN, Grid
from sandlot.mapping.grids.occupancy import OccupancyGrid
from sandlot.mapping.grids.reputation import ReputationMap
from sandlot.mapping.matching.points import scan_points
from sandlot.places.plans import Plan
from sandlot.recordings import Quantity
from sandlot.recordings.scans import Pose, Scan
from sandlot.settings import distinct
from sandlot.studies.base import Claim, Found, Job, Study, pick, study
from sandlot.studies.indoor.auto import SOURCE
from sandlot.studies.plots import COLOURS, canvas, points
from sandlot.studies.statistics import Comparison, compare
from sandlot.typing import Array, BoolArray
from sandlot.worlds.indoor.settings import IndoorSettings
from sandlot.worlds.indoor.world import Indoor
from sandlot.worlds.rollout import rollout

Kind = Literal["occupancy", "reputation", "reputation 20 mm", "reputation standard"]
ABOUT: dict[Kind, str] = {
    "occupancy": "log-odds",
    "reputation": "reputations; points of obstacles may be two beams apart",
    "reputation 20 mm": "reputations; points of obstacles are within 20 mm, as in the source",
    "reputation standard": "as reputation, with the standard Hough transform",
}
RESOLUTION = 0.05
"""Of the maps [m]."""
SLACK = 1.5
"""An occupied cell is right if a true surface is within so many cells, and a surface is found likewise."""

OFTEN = 3
"""A surface counts if so many beams ended in its cell."""


class Judged(NamedTuple):
    """Cells of a map that were compared with the truth.

    Attributes:
        ghosts: (rows, columns) occupied, without a surface nearby.
        found: (rows, columns) surfaces that were seen, with an occupied cell nearby.
        missed: (rows, columns) surfaces that were seen, without one.
    """

    ghosts: BoolArray
    found: BoolArray
    missed: BoolArray


@study("indoor.maps", source=f"{SOURCE}, section 6.7")
class Maps(Study):
    """Which kind of map is right more often when furniture is moved and people walk about?

    A robot with a laser of 360 beams wanders through the source's flat, with people. Then all furniture is moved, and
    it wanders on. All maps get the same scans at the true poses, so that only the maps differ. At the end they are
    compared with the walls and the furniture as they are then. Surfaces count if at least three beams of the
    second drive have ended there. Ghosts are occupied cells where nothing is.

    Attributes:
        kinds: Of maps.
        replicates: Number of drives.
        steps: Scans before, and as many after the furniture is moved.
        people: Who walk about.
    """

    outcomes: ClassVar[Mapping[str, Quantity]] = {
        "ghosts": Quantity("m^2", "area of occupied cells where nothing is"),
        "found": Quantity("1", "share of the surfaces seen since the furniture was moved that are in the map"),
        "free": Quantity(
            "1", "share of the cells that beams have crossed since then, and where nothing is, that are free"
        ),
        "duration": Quantity("s", "median processor time of an update"),
    }

    kinds: Annotated[tuple[Kind, ...], Field(min_length=1), AfterValidator(distinct)] = (
        "occupancy",
        "reputation",
        "reputation 20 mm",
        "reputation standard",
    )
    replicates: int = Field(10, ge=1, le=1000)
    steps: int = Field(800, ge=10, le=100_000)
    people: int = Field(3, ge=0, le=100)

    def jobs(self) -> Iterator[Job]:
        """Every kind of map on every drive."""
        return self.cross(kind=self.kinds, replicate=range(self.replicates))

    def run(self, job: Job) -> Mapping[str, Found]:
        """Map one drive."""
        cells, judged, free, seconds = self.map(job)
        surfaces = judged.found.sum() + judged.missed.sum()
        return {
            "ghosts": float(judged.ghosts.sum()) * RESOLUTION**2,
            "found": float(judged.found.sum()) / max(float(surfaces), 1.0),
            "free": float((cells.kinds[free] == FREE).mean()),
            "duration": seconds,
        }

    def map(self, job: Job) -> tuple[CellMap, Judged, BoolArray, float]:
        """The map of a job, its judgement, cells that are truly free, and the time of an update [s]."""
        both = self.drives(int(job.parameters["replicate"]))
        grid = Grid.around(both[0][0].bounds.reshape(2, 2), RESOLUTION, 0.5)
        cells, durations = make(job.parameters["kind"], grid), []
        crossed, ended = OccupancyGrid(grid), np.zeros(grid.shape, np.int64)  # by beams of the second drive
        for number, (_, scans) in enumerate(both):
            for scan in scans:
                begin = time.process_time()
                cells.update(scan)
                durations.append(time.process_time() - begin)
                if number:
                    crossed.update(scan)
                    ends = grid.cells(rotate(scan_points(scan), scan.pose.yaw) + scan.pose[:2])
                    np.add.at(ended, tuple(ends[grid.contains(ends)].T), 1)
        plan = both[1][0]
        centres = grid.centres(np.argwhere(np.ones(grid.shape, np.bool_)))
        away = plan.clearance(centres).reshape(grid.shape) / RESOLUTION
        free = (crossed.log_odds < 0.0) & (ended == 0) & (away > SLACK)
        return cells, judge(cells, (ended >= OFTEN) & (away <= 1.0), away), free, float(np.median(durations))

    def drives(self, replicate: int) -> list[tuple[Plan, list[Scan]]]:
        """The plan and the scans of both drives; the same for all kinds of map."""
        seeds = children(np.random.SeedSequence(self.seed, spawn_key=(2**20, replicate)), 2)
        found = []
        for seed, furniture in zip(seeds, (None, replicate), strict=True):
            world = Indoor(
                settings=IndoorSettings(
                    plan="apartment",
                    furniture=furniture,
                    people=self.people,
                    robot={"kind": "round", "radius": 0.17, "top_speed": 0.5},
                    laser={"beams": 360, "field_of_view": 2.0 * math.pi, "max_range": 12.0},
                )
            )
            scans, number = [], int(seed.generate_state(1)[0])
            for _ in rollout(world, world.controller("wander"), number, self.steps):
                ranges = world.task.ranges[0].copy()
                scans.append(Scan(world.time, ranges, world.settings.laser.bearings, Pose(*world.pose.tolist())))
            found.append((world.plan, scans))
        return found

    def figure(self, results: xr.Dataset) -> Figure:
        """Above, the maps of the first drive at its end; below, all drives."""
        count = max(len(self.kinds), 4)
        figure, axes = canvas(count, 4.0 * count, 7.8, rows=2)
        shown = {"unknown": "0.8", "right": COLOURS[0], "ghost": COLOURS[1], "surface not found": COLOURS[3]}
        for panel, job in zip(axes, self.cross(kind=self.kinds, replicate=[0]), strict=False):
            cells, judged, _, _ = self.map(job)
            picture = np.ones((*cells.grid.shape, 3))
            marked = cells.kinds == UNKNOWN, cells.kinds >= OBSTACLE, judged.ghosts, judged.missed
            for cells_shown, colour in zip(marked, shown.values(), strict=True):
                picture[cells_shown] = np.array(to_rgb(colour))
            panel.imshow(picture, origin="lower", extent=cells.grid.extent, interpolation="nearest")
            panel.set(title=job.parameters["kind"], xlabel="x [m]", ylabel="y [m]")
            panel.grid(visible=False)
        patches = [Patch(facecolor=colour, label=name) for name, colour in shown.items()]
        figure.legend(handles=patches, loc="outside upper center", ncols=len(shown), frameon=False)
        names: dict[str, tuple[str, float]] = {
            "ghosts": ("ghosts [m$^2$]", 1.0),
            "found": ("surfaces found [%]", 100.0),
            "free": ("free cells that are free [%]", 100.0),
            "duration": ("time of an update [ms]", 1e3),
        }
        for panel, (name, (title, scale)) in zip(axes[count:], names.items(), strict=False):
            for place, kind in enumerate(self.kinds):
                points(panel, place, scale * pick(results, kind=kind)[name].values, COLOURS[place])
            panel.set_xticks(range(len(self.kinds)), [kind.replace(" ", "\n", 1) for kind in self.kinds], fontsize=8)
            panel.set(title=title)
        for panel in [*axes[len(self.kinds) : count], *axes[count + len(names) :]]:
            panel.set_visible(False)
        return figure

    def comparisons(self, results: xr.Dataset) -> list[Comparison]:
        """Every other kind against log-odds."""
        groups: dict[str, Array] = {kind: pick(results, kind=kind)["ghosts"].values for kind in self.kinds}
        return compare(groups, self.kinds[0], "ghosts") if len(groups) > 1 else []

    def claims(self, results: xr.Dataset) -> list[Claim]:
        """What the source says of reputations, and which map is better."""
        medians = {
            kind: {name: float(np.median(pick(results, kind=kind)[name].values)) for name in self.outcomes}
            for kind in self.kinds
        }
        found = [
            Claim(
                f"Old furniture and people vanish from the map; {kind}: {ABOUT[kind]}.",
                "stale objects lose their reputation",
                f"{each['free'] * 100.0:.2f}% of free cells are free, {each['ghosts']:.2f} m2 of ghosts",
                each["free"] >= 0.99,
                "medians over drives; holds if at least 99% of the cells that beams crossed since the furniture was "
                f"moved are free; {100.0 * each['found']:.1f}% of the surfaces are in the map; an update takes "
                f"{1e3 * each['duration']:.2f} ms",
            )
            for kind, each in medians.items()
        ]
        if "occupancy" in medians and "reputation" in medians:
            ours, theirs = medians["occupancy"], medians["reputation"]
            found.append(
                Claim(
                    "Beyond the source, log-odds find more surfaces than reputations.",
                    "not studied",
                    f"{100.0 * ours['found']:.1f}% against {100.0 * theirs['found']:.1f}%",
                    ours["found"] > theirs["found"],
                    f"medians over drives; ghosts: {ours['ghosts']:.2f} against {theirs['ghosts']:.2f} m2",
                )
            )
        return found


def make(kind: object, grid: Grid) -> CellMap:
    """An empty map of a kind."""
    if kind == "occupancy":
        return OccupancyGrid(grid)
    return ReputationMap(
        grid,
        method="standard" if kind == "reputation standard" else "probabilistic",
        source_gap=kind == "reputation 20 mm",
    )


def judge(cells: CellMap, surfaces: BoolArray, away: Array) -> Judged:
    """Compare a map with the truth.

    Args:
        cells: The map.
        surfaces: (rows, columns) cells with true surfaces that were seen.
        away: (rows, columns) distance from each cell to the nearest true surface [cell].
    """
    occupied = cells.kinds >= OBSTACLE
    near = ndimage.distance_transform_edt(~occupied) <= SLACK if occupied.any() else occupied
    return Judged(occupied & (away > SLACK), surfaces & near, surfaces & ~near)
