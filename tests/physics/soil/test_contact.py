"""A body on soil: the slope and the width of what it lies on, its belt, and the sum over its nodes."""

import numpy as np
import pytest

from sandlot.physics import shapes
from sandlot.physics.soil import PRESETS, SoilKind
from sandlot.physics.soil.contact import (
    ALONG_X,
    ALONG_Y,
    BELT_X,
    BELT_Z,
    BODY_X,
    BODY_Y,
    COVERED,
    LANES,
    PATCH,
    ROWS,
    THIN,
    gather,
    slope,
    slopes,
    tread,
    width,
)
from sandlot.physics.soil.ground import FREE, HEIGHT, LOOSE, NODE, PART, SHEAR_X, SHEAR_Y, SUNK, TOUCHED
from sandlot.physics.soil.step import REBOUND
from soil_patches import DT, SPACING, STEP, Patch, found, level
from twins import soil as twin


@pytest.mark.parametrize("degrees", [0.0, 17.0, 30.0, 45.0, 90.0, 120.0])
@pytest.mark.parametrize("sides", [(0.2, 0.1), (0.1, 0.1), (0.08, 0.4)])
def test_the_width_of_a_rectangle_is_its_smaller_side(sides, degrees):
    rng, rotation = np.random.default_rng(1), twin.about(2, np.radians(degrees))
    for cells, error in ((4, 0.1), (8, 0.03), (12, 0.015)):
        spacing = min(sides) / cells
        ground = level(round(0.6 / spacing), round(0.6 / spacing), spacing)
        pos = np.array([*rng.uniform(0.0, spacing, 2), 0.0])
        patch = found(ground, shapes.BOX, (0.5 * sides[0], 0.5 * sides[1], 0.05), pos, rotation)[1]
        assert width(patch, spacing) == pytest.approx(min(sides), rel=error)


def test_the_width_of_a_single_cell_is_its_own_and_of_a_line_that_of_a_cell():
    one = np.array([[0.3, 0.2, 0.0, 0.7]])
    assert width(one, 0.02) == pytest.approx(0.02)
    row = np.array([[0.3 + 0.02 * k, 0.2, 0.0, 0.7] for k in range(5)])
    assert width(row, 0.02) == pytest.approx(0.02)
    assert width(one, 1e-5) == THIN


@pytest.mark.parametrize(
    ("neighbours", "touched", "expected"),
    [
        ((0, 2), (), 0.5 * (5.0 - 1.0)),
        ((0, 2), (0, 1, 2), 0.5 * (5.0 - 1.0)),
        ((0, 2), (1,), 0.5 * (5.0 - 1.0)),
        ((0, 2), (0, 1), 2.0 - 1.0),
        ((0, 2), (1, 2), 5.0 - 2.0),
        ((-1, 2), (1,), 5.0 - 2.0),
        ((-1, 2), (1, 2), 5.0 - 2.0),
        ((0, -1), (1,), 2.0 - 1.0),
        ((0, -1), (0, 1), 2.0 - 1.0),
        ((-1, -1), (1,), 0.0),
    ],
)
def test_the_slope_under_a_body_is_that_of_what_it_lies_on(neighbours, touched, expected):
    """Of the ground as it was, and as it is where it has been pressed; not of the rim."""
    nodes = np.zeros((3, NODE))
    nodes[:, FREE], nodes[:, SUNK], nodes[:, HEIGHT] = (1.0, 2.0, 5.0), (0.1, 0.9, 0.3), 7.0
    nodes[list(touched), TOUCHED] = STEP
    free, hollow, between = slope(nodes, 1, *neighbours, 10.0, STEP)
    assert between == ({*neighbours} <= {*touched})
    assert free == pytest.approx(10.0 * expected)
    nodes[:, FREE], nodes[:, SUNK] = nodes[:, FREE] - nodes[:, SUNK], 0.0
    assert slope(nodes, 1, *neighbours, 10.0, STEP)[:2] == pytest.approx((hollow, hollow))


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("share", [0.3, 0.9, 1.0])
def test_slopes_of_a_patch_are_those_of_its_nodes(share, wrap):
    """Also where all neighbours are touched, which has a way of its own."""
    rng = np.random.default_rng(1)
    ground = level(9, 7)._replace(wrap=wrap)
    nodes, (ny, nx) = ground.nodes, (ground.ny, ground.nx)
    nodes[:, FREE], nodes[:, SUNK] = rng.uniform(-0.1, 0.1, (2, ny * nx))
    under = np.flatnonzero(rng.random(ny * nx) < share)
    nodes[under, TOUCHED] = STEP
    patch, edge = np.zeros((len(under), PATCH)), np.zeros(len(under), np.int64)
    count = slopes(ground, under, patch, STEP, edge)
    rim = []
    for index, row in zip(under, patch, strict=True):
        i, j = divmod(int(index), nx)
        beside = [(i, j - 1), (i, j + 1), (i - 1, j), (i + 1, j)]
        if wrap:
            beside = [(a % ny, b % nx) for a, b in beside]
        west, east, south, north = (a * nx + b if 0 <= a < ny and 0 <= b < nx else -1 for a, b in beside)
        along_x, body_x, within = slope(nodes, index, west, east, 1.0 / SPACING, STEP)
        along_y, body_y, between = slope(nodes, index, south, north, 1.0 / SPACING, STEP)
        assert row[[ALONG_X, ALONG_Y, BODY_X, BODY_Y]] == pytest.approx([along_x, along_y, body_x, body_y], rel=1e-12)
        if not (within and between):
            rim.append(index)
    assert edge[:count].tolist() == (rim or under.tolist())


@pytest.mark.parametrize("tilt", [0.0, 0.3, -0.4])
def test_a_belt_runs_along_its_outline(tilt):
    size, pos = (0.1, 0.05, 0.04), np.array([0.01, 0.0, 0.03])
    rotation = twin.about(2, 0.4) @ twin.about(1, tilt)
    ground = level(31, 31)
    under, patch = found(ground, shapes.TRACK, size, pos, rotation)
    assert len(under) > 20
    for first in range(0, len(under), LANES):
        some = slice(first, first + LANES)
        rows = Patch(len(under[some]))
        gather(ground, under[some], patch[some], rows.work, True, size[0], pos, rotation.ravel())
        belts = rows[slice(BELT_X, BELT_Z + 1)].T @ rotation
        local = (patch[some, :3] - pos) @ rotation
        outward = np.stack([local[:, 0] - np.clip(local[:, 0], -size[0], size[0]), local[:, 2]], axis=1)
        assert belts[:, 1] == pytest.approx(np.zeros(len(belts)), abs=1e-12)
        assert np.linalg.norm(belts, axis=1) == pytest.approx(np.ones(len(belts)))
        # At right angles to the way out, turning as a wheel that rolls ahead: back at the bottom.
        around = belts[:, 0] * outward[:, 1] - belts[:, 2] * outward[:, 0]
        assert around == pytest.approx(np.full(len(belts), size[1]), rel=1e-6)


@pytest.mark.parametrize("kind", [PRESETS["soft"], PRESETS["LETE sand"]], ids=["soft", "LETE sand"])
@pytest.mark.parametrize("shape", [shapes.BOX, shapes.TRACK])
def test_a_patch_is_the_sum_of_its_nodes(kind, shape):
    """Of more nodes than are worked on at once, on a slope, with a body that moves and a belt that runs."""
    rng, slopes, belt = np.random.default_rng(3), (0.1, -0.2), 0.0 if shape == shapes.BOX else 0.4
    ground = level(31, 31, slopes=slopes, height=0.1)
    size = (0.15, 0.1, 0.08) if shape == shapes.BOX else (0.12, 0.08, 0.1)
    pos, rotation = np.array([0.02, 0.01, 0.15]), twin.about(2, 0.5) @ twin.about(1, 0.05)
    under, patch = found(ground, shape, size, pos, rotation)
    assert len(under) > LANES
    ground.nodes[under, SHEAR_X], ground.nodes[under, SHEAR_Y] = rng.uniform(-0.5, 0.5, (2, len(under)))
    ground.nodes[under, PART] = patch[:, COVERED]
    before = ground.nodes.copy()
    velocity, about, centre = rng.normal(0.0, 0.1, 6), *(pos + np.array([(0.1, 0.0, 0.05), (0.0, 0.02, 0.04)]))
    sums, edge, work = np.ones(11), np.zeros(len(under), np.int64), np.zeros(ROWS * LANES)
    count = tread(
        ground, kind.record(), kind.elastic, REBOUND, 0.5, under, patch, STEP, DT, shape, size, pos,
        rotation.ravel(), belt, velocity, about, centre, sums, edge, work,
    )  # fmt: skip
    expected = np.zeros(11)
    for k, (index, place, covered) in enumerate(zip(under, patch[:, :3], patch[:, COVERED], strict=True)):
        row = before[index]
        node = twin.TwinNode(kind, row[FREE], row[SUNK], row[LOOSE], row[[SHEAR_X, SHEAR_Y]], slopes)
        local = rotation.T @ (place - pos)
        outward = np.array([local[0] - np.clip(local[0], -size[0], size[0]), 0.0, local[2]])
        along = rotation @ np.cross([0.0, 1.0, 0.0], outward / np.linalg.norm(outward)) * (shape == shapes.TRACK)
        moves = velocity[3:] + np.cross(velocity[:3], place - about) + belt * along
        stress, out = node.press(place[2], moves, DT, width(patch, SPACING), kind.elastic)
        force, out = stress * node.area * covered * SPACING**2, out * covered
        stored = node.stored * covered * SPACING**2
        torque = np.cross(place - centre, force)
        expected += [*force, *torque, force @ along, out, out * place[0], out * place[1], stored]
        assert ground.nodes[index, HEIGHT] == pytest.approx(row[HEIGHT] - out, abs=1e-5), k
        assert ground.nodes[index, SUNK] == pytest.approx(node.sunk, abs=1e-5)
    for part in (slice(0, 3), slice(3, 6), slice(6, 7), slice(7, 8), slice(8, 10), slice(10, 11)):
        assert sums[part] - 1.0 == pytest.approx(expected[part], abs=2e-3 * np.linalg.norm(expected[part]) + 1e-12)
    assert np.all(ground.nodes[under, TOUCHED] == STEP)
    others = np.setdiff1d(np.arange(len(before)), under)
    assert np.array_equal(ground.nodes[others], before[others])
    beside_it = {int(k) for k in under for step in (1, -1, 31, -31) if k + step not in under}
    assert {*edge[:count].tolist()} == beside_it


def test_soil_kinds_say_what_is_wrong():
    with pytest.raises(ValueError, match="friction"):
        SoilKind(kphi=1e5, friction=90.0, shear=0.01, elastic=1e7)
