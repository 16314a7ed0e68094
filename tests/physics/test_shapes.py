"""Lowest points of shapes: compared with rays, and with points inside the shapes."""

import mujoco
import numpy as np
import pytest
from numba import config

from sandlot.physics import shapes
from twins import soil as twin

SLOW = bool(config.DISABLE_JIT)
POSES, LINES = 60, 20
FINE = 0.01
"""Spacing of nodes [m]."""
SIZES = {
    shapes.SPHERE: [(0.2, 0.0, 0.0)],
    shapes.CAPSULE: [(0.1, 0.2, 0.0), (0.15, 0.02, 0.0)],
    shapes.ELLIPSOID: [(0.1, 0.2, 0.3), (0.3, 0.25, 0.05)],
    shapes.CYLINDER: [(0.25, 0.1, 0.0), (0.1, 0.3, 0.0)],
    shapes.BOX: [(0.1, 0.2, 0.3), (0.3, 0.3, 0.05), (0.02, 0.3, 0.3)],
    shapes.TRACK: [(0.2, 0.1, 0.1), (0.3, 0.05, 0.15)],
}
NAMES = {2: "sphere", 3: "capsule", 4: "ellipsoid", 5: "cylinder", 6: "box", 100: "track"}
EVERY = [pytest.param(kind, size, id=f"{NAMES[kind]} {size}") for kind in SIZES for size in SIZES[kind]]
SOLIDS = [each for each in EVERY if each.values[0] != shapes.TRACK]


def poses(kind, seed=0, count=POSES, tilt=np.pi):
    """Random poses of a shape; every other one is nearly upright, or nearly flat."""
    rng = np.random.default_rng([seed, kind])
    for k in range(count):
        rotation = twin.turned(rng, tilt)
        if k % 2:
            rotation = twin.turned(rng, 0.3) @ twin.about(rng.integers(3), rng.integers(4) * np.pi / 2.0)
        yield rng.uniform(-0.5, 0.5, 3), rotation, rng.uniform(-0.4, 0.4, (LINES, 2))


def ray(kind, size, pos, rotation, x, y):
    """Height at which MuJoCo's ray from far below hits, or infinite."""
    distance = mujoco.mju_rayGeom(pos, rotation.ravel(), np.array(size), np.array([x, y, -10.0]), twin.UP, kind)
    return distance - 10.0 if distance >= 0.0 else np.inf


@pytest.mark.parametrize(("kind", "size"), SOLIDS)
@pytest.mark.parametrize("spacing", [1e-6, FINE], ids=["points", "cells"])
def test_the_lowest_point_is_where_a_ray_from_below_hits(kind, size, spacing):
    """Wherever a cell is fully covered; a nearly vertical face only limits what the face below it covers."""
    hits = 0
    for pos, rotation, places in poses(kind):
        for x, y in places + pos[:2]:
            z, covered = shapes.lowest(kind, size, *twin.line(pos, rotation, x, y), spacing)
            if covered == 1.0:
                assert z == pytest.approx(ray(kind, size, pos, rotation, x, y), abs=1e-9)
                hits += 1
    assert hits > 0.05 * POSES * LINES


@pytest.mark.parametrize(("kind", "size"), SOLIDS)
def test_what_a_ray_misses_is_not_covered(kind, size):
    """Round shapes cover what it hits; others may miss nearly vertical faces, and partly cover cells beside them."""
    round_ = kind in (shapes.SPHERE, shapes.CAPSULE, shapes.ELLIPSOID)
    for pos, rotation, places in poses(kind, seed=1):
        for x, y in places + pos[:2]:
            z, covered = shapes.lowest(kind, size, *twin.line(pos, rotation, x, y), 1e-6)
            hit = ray(kind, size, pos, rotation, x, y)
            assert covered == 0.0 or hit < np.inf
            assert (z == shapes.MISS) == (covered == 0.0)
            if round_:
                assert (covered, z) == pytest.approx((1.0, hit) if hit < np.inf else (0.0, np.inf), abs=1e-9)


@pytest.mark.parametrize(("kind", "size"), EVERY)
def test_the_lowest_point_agrees_with_sampling_the_inside(kind, size):
    rng = np.random.default_rng(2)
    hits = 0
    for pos, rotation, places in poses(kind, seed=2, count=POSES // 3):
        for x, y in places[: LINES // 2] + pos[:2]:
            z, covered = shapes.lowest(kind, size, *twin.line(pos, rotation, x, y), FINE * rng.uniform(0.1, 1.0))
            if covered == 1.0:
                assert z == pytest.approx(twin.lowest(kind, size, pos, rotation, x, y), abs=1e-9)
                hits += 1
    assert hits > 0.05 * POSES * LINES / 6


def test_a_track_that_stands_on_its_front_pulley():
    size, pos, rotation = (0.2, 0.1, 0.05), np.array([0.0, 0.0, 0.5]), twin.about(1, np.pi / 2.0)
    for x, z in ((0.0, 0.2), (0.06, 0.28 - 0.06), (-0.1 + 1e-12, 0.3)):
        found, covered = shapes.lowest(shapes.TRACK, size, *twin.line(pos, rotation, x, 0.0), FINE)
        assert (found, covered) == (pytest.approx(z, abs=1e-5), 1.0)
    assert shapes.lowest(shapes.TRACK, size, *twin.line(pos, rotation, 0.11, 0.0), FINE) == (np.inf, 0.0)


def test_a_track_of_length_zero_is_a_wheel():
    for pos, rotation, places in poses(shapes.TRACK, seed=3):
        for x, y in places + pos[:2]:
            track = shapes.lowest(shapes.TRACK, (0.0, 0.2, 0.1), *twin.line(pos, rotation, x, y), FINE)
            axle = rotation @ twin.about(0, np.pi / 2.0)
            wheel = shapes.lowest(shapes.CYLINDER, (0.2, 0.1, 0.0), *twin.line(pos, axle, x, y), FINE)
            assert track == pytest.approx(wheel, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("half", [0.0, 0.03, 0.2])
def test_a_row_of_lines_gives_the_same_as_single_lines(half):
    rng, radius, width = np.random.default_rng(4), 0.1, 0.12
    hits = straight = 0
    for _ in range(POSES):
        turn = rng.uniform(-np.pi, np.pi) if half == 0.0 else rng.uniform(-1.3, 1.3) + np.pi * rng.integers(2)
        rotation = twin.about(2, rng.uniform(-np.pi, np.pi)) @ twin.about(0, rng.uniform(-0.19, 0.19))
        rotation = rotation @ twin.about(1, turn)
        # From the axes of a track to those of a prism.
        p, d, e = ((v @ rotation)[[0, 2, 1]] for v in (rng.uniform(-0.4, 0.0, 3), twin.UP, np.array([FINE, 0.0, 0.0])))
        low, covered = np.zeros((2, 80))
        shapes.prism_row(half, radius, width, tuple(p), tuple(d), tuple(e), FINE, low, covered)
        for k in range(80):
            z, part = shapes.lowest_prism(half, radius, width, tuple(p + k * e), tuple(d), FINE)
            assert covered[k] == pytest.approx(part, abs=1e-9)
            if part > 1e-9:
                assert low[k] == pytest.approx(z, abs=1e-9)
                hits += 1
                straight += abs(p[0] + k * e[0] + z * d[0]) < half
    assert hits > 5 * POSES
    assert (straight > 0) == (half > 0.0)


@pytest.mark.parametrize("size", [(0.1, 0.2, 0.3), (0.3, 0.25, 0.05)])
def test_a_row_of_lines_gives_the_same_as_single_lines_for_a_box(size):
    rng, hits = np.random.default_rng(10), 0
    for upright in (1.0, -1.0):
        for _ in range(POSES // 2):
            rotation = (
                twin.about(2, rng.uniform(-np.pi, np.pi)) @ twin.turned(rng, 0.19) @ np.diag([1, upright, upright])
            )
            p, d, e = (v @ rotation for v in (rng.uniform(-0.4, 0.0, 3), twin.UP, np.array([FINE, 0.0, 0.0])))
            low, covered = np.zeros((2, 80))
            shapes.box_row(size, tuple(p), tuple(d), tuple(e), FINE, low, covered)
            for k in range(80):
                z, part = shapes.lowest_box(size, tuple(p + k * e), tuple(d), FINE)
                assert covered[k] == pytest.approx(part, abs=1e-9)
                if part > 1e-9:
                    assert low[k] == pytest.approx(z, abs=1e-9)
                    hits += 1
    assert hits > 5 * POSES


@pytest.mark.parametrize("size", [(0.1, 0.2, 0.3), (0.3, 0.25, 0.05)])
def test_the_mesh_of_a_box_is_the_box(size):
    corners, faces = twin.box_mesh(size)
    hits = flat = 0
    for pos, rotation, _ in poses(shapes.BOX, seed=5, count=POSES // 5):
        bottom = np.zeros((15, 21))
        x, y = pos[:2] - 0.4
        shapes.lowest_mesh(corners @ rotation.T + pos, faces, x, y, 0.04, bottom)
        for (i, j), z in np.ndenumerate(bottom):
            place = x + 0.04 * j, y + 0.04 * i
            assert z == pytest.approx(ray(shapes.BOX, size, pos, rotation, *place), abs=1e-9)
            whole, covered = shapes.lowest(shapes.BOX, size, *twin.line(pos, rotation, *place), 0.04)
            hits += z < np.inf
            if covered == 1.0:
                assert z == pytest.approx(whole, abs=1e-9)
                flat += 1
    assert hits > flat > 5 * POSES // 5


def test_a_mesh_larger_than_the_grid_only_fills_the_grid():
    corners, faces = twin.box_mesh((0.5, 0.5, 0.1))
    bottom = np.zeros((4, 6))
    shapes.lowest_mesh(corners, faces, -0.25, 0.35, 0.1, bottom)
    assert bottom[:2] == pytest.approx(-0.1)
    assert np.all(bottom[2:] == np.inf)


@pytest.mark.parametrize(("kind", "size"), EVERY)
def test_no_shape_exceeds_its_half_extent(kind, size):
    rng = np.random.default_rng(6)
    side = 1.001 * shapes.half_extent(kind, size, 0.6, 0.64, 0.48) + sum(size)
    cloud = rng.uniform(-side, side, (20_000, 3))
    cloud = cloud[twin.inside(kind, size, cloud)]
    for pos, rotation, places in poses(kind, seed=6):
        extents = np.array([shapes.half_extent(kind, size, *row) for row in rotation])
        assert np.all(np.abs(cloud @ rotation.T).max(axis=0) <= extents + 1e-12)
        for x, y in places + pos[:2]:
            z, covered = shapes.lowest(kind, size, *twin.line(pos, rotation, x, y), 1e-6)
            if covered > 0.0:
                assert np.all(np.abs(np.array([x, y, z]) - pos) <= extents + 1e-6)


@pytest.mark.parametrize(("kind", "size"), EVERY)
def test_a_shape_reaches_its_half_extent(kind, size):
    """Its lowest point is that far below its centre."""
    for _, rotation, _ in poses(kind, seed=7, count=2):
        extent = shapes.half_extent(kind, size, *rotation[2])
        side = np.linspace(-0.5, 0.5, 25 if SLOW else 81)
        lines = (twin.line(np.zeros(3), rotation, x, y) for x in side for y in side)
        lowest = min(shapes.lowest(kind, size, *each, 1e-6)[0] for each in lines)
        assert lowest == pytest.approx(-extent, abs=0.08 if SLOW else 0.03)


@pytest.mark.parametrize("degrees", [0.0, 10.0, 30.0, 40.0, 45.0])
@pytest.mark.parametrize("spacing", [0.013, 0.02, 0.033, 0.05])
def test_covered_cells_add_up_to_the_area_of_a_plate(spacing, degrees):
    """Edges along the diagonals of cells are the worst case; their mean is right, too."""
    rng, size = np.random.default_rng(8), (0.2, 0.1, 0.03)
    side, errors = np.arange(-0.35, 0.35, spacing), []
    for _ in range(1 if SLOW else 10):
        pos, rotation = rng.uniform(0.0, spacing, 3), twin.about(2, np.radians(degrees))
        lines = (twin.line(pos, rotation, x, y) for x in side for y in side)
        area = spacing**2 * sum(shapes.lowest(shapes.BOX, size, *each, spacing)[1] for each in lines)
        errors.append(area / (4.0 * size[0] * size[1]) - 1.0)
    assert np.abs(errors).max() < (0.01 if degrees < 45.0 or spacing < 0.03 else 0.04)
    assert SLOW or abs(np.mean(errors)) < 0.01


@pytest.mark.parametrize(("kind", "size"), EVERY)
def test_covered_fractions_are_between_0_and_1(kind, size):
    rng, partly = np.random.default_rng(9), 0
    for pos, rotation, places in poses(kind, seed=9):
        for x, y in places + pos[:2]:
            covered = shapes.lowest(kind, size, *twin.line(pos, rotation, x, y), rng.uniform(1e-3, 0.1))[1]
            assert 0.0 <= covered <= 1.0
            partly += 0.0 < covered < 1.0
    assert (partly > 0) == (kind in (shapes.SPHERE, shapes.CYLINDER, shapes.BOX, shapes.TRACK))


def test_half_a_cell_is_covered_on_an_edge():
    covered = [shapes.covered_fraction(inside, 0.02) for inside in (-0.1, -0.01, -0.005, 0.0, 0.005, 0.01, 0.1)]
    assert covered == pytest.approx([0.0, 0.0, 0.25, 0.5, 0.75, 1.0, 1.0])
