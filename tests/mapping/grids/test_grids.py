"""Grid maps: geometry, evidence of scans against a twin, and files."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandlot.errors import PlaceError
from sandlot.mapping.grids.files import read_map, write_map
from sandlot.mapping.grids.geometry import FREE, OBSTACLE, UNKNOWN, WALL, Grid
from sandlot.mapping.grids.occupancy import HIGHEST, HIT, LOWEST, MISS, OccupancyGrid
from sandlot.places.plans import load_plan, make_plan
from sandlot.recordings.scans import UNKNOWN_POSE, Pose, Scan
from sandlot.sensing.laser import Laser

GRID = Grid((-3.0, -2.0), 0.1, (40, 60))
A, B = 2.05, 1.05
"""Half the sides of a room [m]: its walls lie in the middle of cells."""
ROOM = make_plan([(-A, -B, A, -B), (A, -B, A, B), (A, B, -A, B), (-A, B, -A, -B)])
LASER = Laser(beams=120, field_of_view=2.0 * math.pi).exact()


def scan(pose, plan=ROOM, laser=LASER, time=0.0):
    ranges = laser.scan(plan, [pose], np.random.default_rng(0))[0].astype(np.float32)
    return Scan(time, ranges, laser.bearings, Pose(*pose))


def crossed(start, end):
    """Twin of a beam: the cells before the one in which it ends, from the middles between its border crossings."""
    start, end = np.asarray(start), np.asarray(end)
    shares = [0.0, 1.0]
    for axis in (0, 1):
        low, high = sorted((start[axis], end[axis]))
        lines = np.arange(math.ceil(low), math.floor(high) + 1)
        shares += ((lines - start[axis]) / (end[axis] - start[axis])).tolist() if high > low else []
    shares = np.sort(shares)
    middles = 0.5 * (shares[1:] + shares[:-1])[np.diff(shares) > 1e-9, None]
    cells = np.floor(start * (1.0 - middles) + end * middles).astype(int)
    return [tuple(cell[::-1]) for cell in cells.tolist()][:-1]


def test_points_and_cells_of_a_grid_belong_together():
    cells = np.array([(0, 0), (39, 59), (7, 31)])
    assert (GRID.cells(GRID.centres(cells)) == cells).all()
    assert GRID.centres((0, 0)) == pytest.approx((-2.95, -1.95))
    assert GRID.contains([(0, 0), (39, 59), (40, 0), (0, 60), (-1, 5)]).tolist() == [True, True, False, False, False]
    assert GRID.extent == pytest.approx((-3.0, 3.0, -2.0, 2.0))


@given(st.lists(st.tuples(st.floats(-50, 50), st.floats(-50, 50)), min_size=1), st.sampled_from([0.05, 0.1, 0.3]))
def test_a_grid_around_points_contains_them(points, resolution):
    grid = Grid.around([*points, (math.nan, 0.0)], resolution, margin=1.0)
    assert grid.contains(grid.cells(points)).all()
    assert grid.contains(grid.cells(np.array(points) + 0.99)).all()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Grid((0, 0), 0.0, (2, 2)),
        lambda: Grid((0, 0), 1.0, (10**5, 10**5)),
        lambda: Grid.around([(math.nan, 1.0)], 0.1),
        lambda: Grid.around([(0, 0), (1e9, 0)], 0.1),
    ],
)
def test_impossible_grids_are_refused(make):
    with pytest.raises(PlaceError, match=r"possible|too far"):
        make()


@settings(max_examples=25)
@given(st.tuples(st.floats(-1.8, 1.8), st.floats(-0.8, 0.8), st.floats(-3.0, 3.0)), st.integers(0, 3))
def test_a_scan_adds_the_log_odds_that_its_twin_adds(pose, repeats):
    made, seen = OccupancyGrid(GRID), scan(pose)
    for _ in range(repeats + 1):
        count = made.update(seen)
    angles = pose[2] + seen.bearings
    ends = GRID.to_cells(np.array(pose[:2]) + seen.ranges[:, None] * np.column_stack([np.cos(angles), np.sin(angles)]))
    hits = {(int(y), int(x)) for x, y in np.floor(ends)}
    free = {cell for end in ends for cell in crossed(GRID.to_cells(pose[:2]), end)} - hits
    expected = np.zeros(GRID.shape)
    for cells, change in ((hits, HIT), (free, MISS)):
        for cell in cells:
            expected[cell] = min(max((repeats + 1) * change, LOWEST), HIGHEST)
    different = np.abs(made.log_odds - expected) > 1e-4
    # Rounding decides which cell a beam crosses where it meets a corner of cells.
    assert different.sum() <= 2
    assert abs(count - len(hits | free)) <= 2
    rows, columns = made.window
    outside = np.ones(GRID.shape, bool)
    outside[rows, columns] = False
    assert (made.kinds[outside] == UNKNOWN).all()
    assert not made._marks.any()


def test_a_room_is_mapped_and_nothing_outside_of_it():
    made = OccupancyGrid(GRID)
    for x in np.repeat(np.linspace(-1.5, 1.5, 7), 2):
        made.update(scan((x, 0.2, 0.3)))
    inside = np.zeros(GRID.shape, bool)
    inside[10:30, 10:50] = True
    assert (made.kinds[inside] == FREE).all()
    assert (made.kinds[[8, 31]] == UNKNOWN).all()
    assert (made.kinds == WALL).sum() == pytest.approx(2 * (42 + 20), abs=4)
    assert (made.darkness[made.kinds == WALL] > 0.1).all()
    assert made.probability[20, 30] < 0.2


def test_what_moves_away_is_free_again():
    made, pillar = OccupancyGrid(GRID), make_plan(ROOM.segments, [(1.05, 0.05, 0.2)])
    for _ in range(5):
        made.update(scan((-1.0, 0.05, 0.0), pillar))
    spot = tuple(GRID.cells((0.85, 0.05)))
    assert made.kinds[spot] == WALL
    for _ in range(12):
        made.update(scan((-1.0, 0.05, 0.0)))
    assert made.kinds[spot] == FREE


def test_far_returns_only_clear():
    made = OccupancyGrid(GRID, max_range=1.5)
    for _ in range(2):
        made.update(scan((0.0, 0.0, 0.0)))
    assert made.kinds[20, 45] == UNKNOWN
    assert made.kinds[20, 43] == FREE
    assert made.kinds[:, 48:].max() == UNKNOWN


def test_scans_without_returns_or_pose_change_nothing():
    made, seen = OccupancyGrid(GRID), scan((0.0, 0.0, 0.0))
    assert made.update(Scan(0.0, np.full(120, np.nan, np.float32), LASER.bearings, Pose(0, 0, 0))) == 0
    assert made.update(seen, UNKNOWN_POSE) == 0
    assert made.window == (slice(0, 0), slice(0, 0))
    assert made.kinds[made.window].size == 0


def test_scans_from_outside_of_the_grid_mark_what_is_inside():
    made = OccupancyGrid(Grid((0.5, -2.0), 0.1, (40, 60)))
    for _ in range(2):
        assert made.update(scan((-1.0, 0.05, 0.0))) > 0
    assert (made.kinds == WALL).any()


@pytest.mark.parametrize("image", [".pgm", ".png"])
def test_a_written_map_is_read_again(tmp_path, image):
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 4, GRID.shape).astype(np.uint8)
    write_map(tmp_path / "map.yaml", GRID, kinds, image)
    saved = read_map(tmp_path / "map.yaml", 0.1)
    assert saved.grid == GRID
    assert (saved.kinds == np.where(kinds == OBSTACLE, WALL, kinds)).all()
    made = OccupancyGrid.known(*saved)
    assert (made.kinds == saved.kinds).all()
    write_map(tmp_path / "map.yaml", GRID, made.kinds, image)
    assert (read_map(tmp_path / "map.yaml").kinds == saved.kinds).all()


def test_a_written_map_is_a_plan_of_the_same_walls(tmp_path):
    made = OccupancyGrid(GRID)
    for _ in range(2):
        made.update(scan((0.0, 0.0, 0.0)))
    write_map(tmp_path / "map.yaml", GRID, made.kinds)
    bounds = load_plan(tmp_path / "map.yaml").bounds
    assert bounds == pytest.approx(np.array(GRID.extent)[[0, 2, 1, 3]])  # unknown cells are walls of a plan


def test_an_image_alone_needs_a_resolution(tmp_path):
    write_map(tmp_path / "map.yaml", GRID, np.full(GRID.shape, FREE, np.uint8), ".png")
    assert read_map(tmp_path / "map.png", 0.2).grid == Grid((0.0, 0.0), 0.2, GRID.shape)
    with pytest.raises(PlaceError, match="give its resolution"):
        read_map(tmp_path / "map.png")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("resolution: 0.1", "resolution: 0.05", "cells are 0.05 m wide; they must be 0.1 m"),
        ("resolution: 0.1", "resolution: -1", "resolution=-1 is not possible"),
        ("0.0]", "0.5]", "yaw of 0"),
        ("map.pgm", "none.pgm", "no image"),
    ],
)
def test_mistakes_in_a_map_are_explained(tmp_path, old, new, said):
    path = tmp_path / "map.yaml"
    write_map(path, GRID, np.zeros(GRID.shape, np.uint8))
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(PlaceError, match=said):
        read_map(path, 0.1)


@pytest.mark.parametrize(("name", "image"), [("map.txt", ".pgm"), ("map.yaml", ".bmp")])
def test_a_map_has_its_endings(tmp_path, name, image):
    with pytest.raises(PlaceError, match=r"ends in \.yaml"):
        write_map(tmp_path / name, GRID, np.zeros(GRID.shape, np.uint8), image)
