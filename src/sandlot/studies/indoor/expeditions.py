"""Expeditions of the simulated tracked rover, which maps and navigates by its own estimate, and their scores."""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from sandlot.control.navigation.driving import Mobility
from sandlot.control.navigation.navigator import Navigator
from sandlot.control.navigation.near import Avoidance
from sandlot.control.navigation.pilot import Pilot
from sandlot.geometry.planar import between, compose, rotate, wrap
from sandlot.geometry.walls import Walls, nearest
from sandlot.mapping.grids.cell_map import CellMap
from sandlot.mapping.grids.geometry import OBSTACLE, UNKNOWN, Grid, Kinds
from sandlot.mapping.grids.occupancy import OccupancyGrid
from sandlot.mapping.grids.reputation import ReputationMap
from sandlot.places.plans import Plan
from sandlot.recordings import Quantity
from sandlot.studies.plots import COLOURS
from sandlot.typing import Array
from sandlot.worlds.indoor.floor import Floor
from sandlot.worlds.indoor.rover import simulate
from sandlot.worlds.indoor.settings import IndoorSettings

MapKind = Literal["occupancy", "reputation"]
RESOLUTION = 0.05
"""Of the maps [m]."""
EVERY = 5.0
"""Time between pictures of the map [s]."""
FITS, STRAY = 4, 0.3
"""A rotation is found in so many steps; cells further from all walls than the second are left out [m]."""
QUARTER = 60
"""A quarter of a map with fewer occupied cells has no tilt."""


SCORES: dict[str, Quantity] = {
    "bumps": Quantity("1", "how often it touched something"),
    "wall_error": Quantity("m", "mean distance from occupied cells to the true walls"),
    "tilt": Quantity("rad", "rotation of the map against the true walls, absolute"),
    "worst_tilt": Quantity("rad", "rotation of the worst quarter of the map, absolute"),
    "pose_error": Quantity("m", "mean distance from its own estimate to its true place"),
    "yaw_error": Quantity("rad", "mean error of its yaw, absolute"),
    "time": Quantity("s", "how long it took"),
}
"""Outcomes that all expeditions have."""


class Snapshot(NamedTuple):
    """A map at a time.

    Attributes:
        time: [s]
        kinds: (rows, columns)
        darkness: (rows, columns)
        driven: How many scans there were so far.
        path: (n, 2) that the rover follows [m].
    """

    time: float
    kinds: Kinds
    darkness: Array
    driven: int
    path: Array


class Expedition(NamedTuple):
    """What came of an expedition. The frame of the map is that of the rover's start.

    Attributes:
        cells: The map at its end, built from all scans at their last poses.
        estimated: (n, 3) where the rover believed to be at each scan [m, rad].
        true: (n, 3) where it was [m, rad].
        snapshots: The map over time.
        states: How each leg ended, and the report: two texts each.
        legs: (legs,) number of scans at the end of each leg.
        time: How long it took [s].
        bumps: How often it touched something.
        detours: How often a path was found because a wall had appeared on the one before.
        plan: Of the place.
        start: (3,) true pose of the start in the place [m, rad].
    """

    cells: CellMap
    estimated: Array
    true: Array
    snapshots: list[Snapshot]
    states: list[tuple[str, str]]
    legs: list[int]
    time: float
    bumps: int
    detours: int
    plan: Plan
    start: Array


def make_map(kind: MapKind, plan: Plan, margin: float = 1.0) -> CellMap:
    """An empty map large enough for any place of the start and any heading."""
    low, high = plan.bounds[:2], plan.bounds[2:]
    reach = math.hypot(*(high - low)) + margin
    grid = Grid.around([(-reach, -reach), (reach, reach)], RESOLUTION)
    return OccupancyGrid(grid) if kind == "occupancy" else ReputationMap(grid)


def explore(
    settings: IndoorSettings,
    seed: np.random.SeedSequence,
    kind: MapKind,
    seconds: float,
    waypoints: Sequence[tuple[float, float]] = (),
    avoidance: Avoidance | None = None,
) -> Expedition:
    """Let a rover go to waypoints, or explore if there are none.

    Args:
        settings: Of the place and the rover.
        seed: Of its slip and noise.
        kind: Of map.
        seconds: At most so long for each leg [s].
        waypoints: x, y in the place [m]; the rover is told them relative to its start.
        avoidance: If given, it steers near obstacles.
    """
    driver, truth = simulate(settings, seed)
    chassis, cells = driver.chassis, make_map(kind, truth.plan)
    mobility = Mobility(radius=chassis.radius, top_speed=chassis.top_speed, interval=settings.lidar.period)
    navigator = Navigator(cells, mobility, "semi-autonomous" if waypoints else "autonomous", avoidance)
    pilot = Pilot(driver, navigator)
    estimated, true, legs, time = [], [], [], 0.0
    shots: list[Snapshot] = []
    states: list[tuple[str, str]] = []
    for waypoint in waypoints or (None,):
        if waypoint is not None:
            navigator.go_to(*between(truth.start, (*waypoint, 0.0))[:2])
        for step in pilot.run(seconds):
            estimated.append(step.pose)
            true.append(truth.moved)
            time = step.time
            if time >= EVERY * len(shots):
                shots.append(_shoot(time, cells, len(true), navigator.path))
        states.append((navigator.state, navigator.report))
        legs.append(len(true))
    pilot.mapper.finish()
    navigator.rebuild(pilot.mapper.trajectory(), always=True)
    shots.append(_shoot(time, cells, len(true), np.empty((0, 2))))
    poses = np.array(estimated), np.array(true)
    bumps, detours = truth.bumps, navigator.planner.detours
    return Expedition(cells, *poses, shots, states, legs, time, bumps, detours, truth.plan, truth.start)


def _shoot(time: float, cells: CellMap, driven: int, path: Array) -> Snapshot:
    return Snapshot(time, cells.kinds.copy(), cells.darkness.astype(np.float16), driven, path.copy())


def seen_share(made: Expedition, radius: float) -> float:
    """Share of the floor that the body of the rover can cover which is not unknown in the map.

    Args:
        made: The expedition.
        radius: Of the rover [m].
    """
    floor = Floor(made.plan, radius)
    squares = np.argwhere(floor.reachable)
    places = floor.corner + (squares[:, ::-1] + 0.5) * floor.spacing
    local = between(made.start, np.column_stack([places, np.zeros(len(places))]))[:, :2]
    rows, columns = made.cells.grid.cells(local).T
    return float((made.cells.kinds[rows, columns] != UNKNOWN).mean())


class WallErrors(NamedTuple):
    """Errors of the occupied cells of a map.

    Attributes:
        mean: Distance to the nearest true surface [m].
        tilt: Rotation that fits the map to the true walls, absolute [rad].
        worst_tilt: The largest such rotation of one of the four quarters of the map, absolute [rad].
    """

    mean: float
    tilt: float
    worst_tilt: float


def wall_errors(made: Expedition) -> WallErrors:
    """Compare the occupied cells of the map with the true walls."""
    cells = made.cells
    places = cells.grid.centres(np.argwhere(cells.kinds >= OBSTACLE))
    if len(places) < QUARTER:
        return WallErrors(math.nan, math.nan, math.nan)
    there = compose(made.start, np.column_stack([places, np.zeros(len(places))]))[:, :2]
    middle = np.median(there, axis=0)
    quarter = (there > middle) @ (1, 2)
    tilts = [_tilt(there[quarter == k], made.plan.walls) for k in range(4) if (quarter == k).sum() >= QUARTER]
    mean = float(np.abs(made.plan.clearance(there)).mean())
    return WallErrors(mean, _tilt(there, made.plan.walls), max(tilts, default=math.nan))


def _tilt(places: Array, walls: Walls) -> float:
    """Rotation that moves places (n, 2) onto walls best, in least squares, absolute [rad]."""
    total = 0.0
    for _ in range(FITS):
        distance, nx, ny = np.array([nearest(x, y, walls) for x, y in places]).T
        near = np.abs(distance) < STRAY
        x, y = (places - places.mean(axis=0))[near].T
        # A shift (dx, dy) and a small rotation t move a place along its normal by nx dx + ny dy + (ny x - nx y) t.
        matrix = np.column_stack([nx[near], ny[near], ny[near] * x - nx[near] * y])
        (dx, dy, turn), *_ = np.linalg.lstsq(matrix, -distance[near], rcond=None)
        places = rotate(places - places.mean(axis=0), turn) + places.mean(axis=0) + (dx, dy)
        total += float(turn)
    return abs(total)


def pose_errors(made: Expedition) -> tuple[Array, Array]:
    """Distance [m] and absolute angle [rad] between where the rover believed to be and where it was: (n,) each."""
    wrong = made.estimated - made.true
    return np.hypot(*wrong[:, :2].T), np.abs(np.asarray(wrap(wrong[:, 2])))


def score(made: Expedition) -> dict[str, float]:
    """The values of `SCORES`."""
    walls, (distance, angle) = wall_errors(made), pose_errors(made)
    values = (made.bumps, *walls, distance.mean(), angle.mean(), made.time)
    return {name: float(value) for name, value in zip(SCORES, values, strict=True)}


def draw_map(axes: Axes, made: Expedition, shot: Snapshot, title: str) -> None:
    """Draw a map over the true walls, with the reputation of cells as their darkness, and both paths so far."""
    grid = made.cells.grid
    shade = np.where(shot.kinds == UNKNOWN, 0.25, shot.darkness)
    axes.imshow(shade, "gray_r", origin="lower", extent=grid.extent, vmin=0.0, vmax=1.0, interpolation="nearest")
    ends = np.column_stack([made.plan.segments.reshape(-1, 2), np.zeros(2 * len(made.plan.segments))])
    walls = between(made.start, ends)[:, :2].reshape(-1, 2, 2)
    for wall in walls:
        axes.plot(*wall.T, color=COLOURS[1], linewidth=0.5, alpha=0.7)
    axes.plot(*made.true[: shot.driven, :2].T, color=COLOURS[0], linewidth=1.0, label="true path")
    axes.plot(*made.estimated[: shot.driven, :2].T, color=COLOURS[3], linewidth=1.0, linestyle=":", label="estimated")
    axes.plot(*shot.path.T, color=COLOURS[2], linewidth=1.2, label="planned")
    corners = walls.reshape(-1, 2)
    (left, low), (right, high) = corners.min(axis=0) - 0.5, corners.max(axis=0) + 0.5
    axes.set(xlim=(left, right), ylim=(low, high), title=title, aspect="equal")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(visible=False)
