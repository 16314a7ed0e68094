"""A body on soil: width and slopes of its patch, direction of its belt, and the sum over its nodes."""

import numpy as np
import pytest

from sandlot.physics import shapes
from sandlot.physics.soil import PRESETS, SoilKind
from sandlot.physics.soil.batch import BATCH, BATCH_SIZE, belt_directions, gather
from sandlot.physics.soil.ground import NODE
from sandlot.physics.soil.kinds import soil_records
from sandlot.physics.soil.patch import MIN_WIDTH, PATCH_NODE, Patch, patch_width, slope, slopes
from sandlot.physics.soil.stress import prepare
from sandlot.physics.soil.sums import press_part
from soil_patches import (
    DT,
    SPACING,
    STEP,
    Batch,
    columns,
    found,
    level,
    motion,
    new_load,
    parameters,
    response,
    shape_at,
)
from twins import soil as twin

ALIKE = np.zeros(3, np.uint8)
"""Kinds of three nodes."""


@pytest.mark.parametrize("degrees", [0.0, 17.0, 30.0, 45.0, 90.0, 120.0])
@pytest.mark.parametrize("sides", [(0.2, 0.1), (0.1, 0.1), (0.08, 0.4)])
def test_the_width_of_a_rectangle_is_its_smaller_side(sides, degrees):
    rng, rotation = np.random.default_rng(1), twin.about(2, np.radians(degrees))
    for cells, error in ((4, 0.1), (8, 0.03), (12, 0.015)):
        spacing = min(sides) / cells
        ground = level(round(0.6 / spacing), round(0.6 / spacing), spacing)
        pos = np.array([*rng.uniform(0.0, spacing, 2), 0.0])
        contact = found(ground, shapes.BOX, (0.5 * sides[0], 0.5 * sides[1], 0.05), pos, rotation)[1]
        assert patch_width(contact, spacing) == pytest.approx(min(sides), rel=error)


def test_the_width_of_a_single_cell_is_its_own_and_of_a_line_that_of_a_cell():
    row = np.zeros(5, PATCH_NODE)
    row["x"], row["y"], row["covered"] = 0.3 + 0.02 * np.arange(5), 0.2, 0.7
    assert patch_width(row[:1], 0.02) == pytest.approx(0.02)
    assert patch_width(row, 0.02) == pytest.approx(0.02)
    assert patch_width(row[:1], 1e-5) == MIN_WIDTH


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
def test_the_slope_under_a_body_is_that_of_the_touched_nodes(neighbours, touched, expected):
    """Of the undeformed ground, and of the hollow, without the rim."""
    nodes = np.zeros(3, NODE)
    nodes["undeformed"], nodes["height"], nodes["covered"] = (1.0, 2.0, 5.0), 7.0, 1.0
    nodes["contact"][list(touched)] = STEP
    free, hollow, between = slope(nodes, ALIKE, 1, *neighbours, 10.0, STEP)
    assert between == ({*neighbours} <= {*touched})
    assert free == hollow == pytest.approx(10.0 * expected)


@pytest.mark.parametrize(
    ("covered", "expected"),
    [
        ((1.0, 1.0), 0.5 * (0.8 - 0.6)),
        ((0.0, 1.0), -0.6),
        ((1.0, 0.0), 0.8),
        ((0.2, 0.6), (0.2 * 0.8 - 0.6 * 0.6) / 0.8),
    ],
)
def test_neighbours_count_for_the_slope_of_a_hollow_as_far_as_they_are_covered(covered, expected):
    nodes = np.zeros(3, NODE)
    nodes["sinkage"], nodes["contact"], nodes["covered"] = (0.1, 0.9, 0.3), STEP, (covered[0], 1.0, covered[1])
    assert slope(nodes, ALIKE, 1, 0, 2, 10.0, STEP)[:2] == pytest.approx((0.0, -10.0 * expected))
    nodes["contact"][2] = 0.0
    assert slope(nodes, ALIKE, 1, 0, 2, 10.0, STEP)[1] == pytest.approx(-8.0 if covered[0] > 0.0 else 0.0), (
        "not touched"
    )


@pytest.mark.parametrize(
    ("kinds", "expected"), [((1, 1, 1), -1.0), ((1, 1, 2), -8.0), ((2, 1, 1), 6.0), ((2, 1, 0), 0.0)]
)
def test_a_neighbour_of_another_kind_of_soil_is_no_slope_of_the_hollow(kinds, expected):
    """But the undeformed ground has its slope there."""
    nodes = np.zeros(3, NODE)
    nodes["undeformed"], nodes["sinkage"], nodes["contact"], nodes["covered"] = (
        (0.0, 0.0, 0.4),
        (0.1, 0.9, 0.3),
        STEP,
        1.0,
    )
    rise, hollow, between = slope(nodes, np.array(kinds, np.uint8), 1, 0, 2, 10.0, STEP)
    assert (rise, hollow - rise, between) == (pytest.approx(2.0), pytest.approx(expected), True)


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("share", [0.3, 0.9, 1.0])
def test_slopes_of_a_patch_are_those_of_its_nodes(share, wrap):
    """Also where all neighbours are touched, for which there is a shorter computation."""
    rng = np.random.default_rng(1)
    ground = level(9, 7)._replace(wrap=wrap)
    nodes, (ny, nx) = ground.nodes, (ground.ny, ground.nx)
    nodes["undeformed"], nodes["sinkage"] = rng.uniform(-0.1, 0.1, (2, ny * nx))
    nodes["covered"] = np.minimum(rng.uniform(0.0, 1.5, ny * nx), 1.0)
    under = np.flatnonzero(rng.random(ny * nx) < share)
    nodes["contact"][under] = STEP
    patch = Patch(under, np.zeros(len(under), PATCH_NODE), np.zeros(len(under), np.int64))
    count = slopes(ground, patch, STEP)
    rim = []
    for index, row in zip(under, patch.contact, strict=True):
        i, j = divmod(int(index), nx)
        beside = [(i, j - 1), (i, j + 1), (i - 1, j), (i + 1, j)]
        if wrap:
            beside = [(a % ny, b % nx) for a, b in beside]
        west, east, south, north = (a * nx + b if 0 <= a < ny and 0 <= b < nx else -1 for a, b in beside)
        slope_x, hollow_x, within = slope(nodes, ground.marks["kind"], index, west, east, 1.0 / SPACING, STEP)
        slope_y, hollow_y, between = slope(nodes, ground.marks["kind"], index, south, north, 1.0 / SPACING, STEP)
        expected = [slope_x, slope_y, hollow_x, hollow_y]
        assert columns(row, "slope_x", "slope_y", "hollow_x", "hollow_y") == pytest.approx(expected, rel=1e-12)
        if not (within and between):
            rim.append(index)
    assert patch.edge[:count].tolist() == (rim or under.tolist())


@pytest.mark.parametrize("tilt", [0.0, 0.3, -0.4])
def test_a_belt_runs_along_its_outline(tilt):
    size, position = (0.1, 0.05, 0.04), np.array([0.01, 0.0, 0.03])
    rotation = twin.about(2, 0.4) @ twin.about(1, tilt)
    ground, shape = level(31, 31), shape_at(shapes.TRACK, size, position, rotation)
    index, contact = found(ground, shapes.TRACK, size, position, rotation)
    assert len(index) > 20
    for first in range(0, len(index), BATCH_SIZE):
        some = slice(first, first + BATCH_SIZE)
        batch = Batch(len(index[some]))
        gather(ground, index[some], contact[some], batch.record)
        belt_directions(batch.record, batch.count, shape)
        belts = np.stack([batch["belt_x"], batch["belt_y"], batch["belt_z"]], axis=1) @ rotation
        local = (columns(contact[some], "x", "y", "z") - position) @ rotation
        outward = np.stack([local[:, 0] - np.clip(local[:, 0], -size[0], size[0]), local[:, 2]], axis=1)
        assert belts[:, 1] == pytest.approx(np.zeros(len(belts)), abs=1e-12)
        assert np.linalg.norm(belts, axis=1) == pytest.approx(np.ones(len(belts)))
        # Perpendicular to the outward direction, as a wheel that rolls forward: backward at the bottom.
        around = belts[:, 0] * outward[:, 1] - belts[:, 2] * outward[:, 0]
        assert around == pytest.approx(np.full(len(belts), size[1]), rel=1e-6)


@pytest.mark.parametrize("kind", [PRESETS["soft"], PRESETS["LETE sand"]], ids=["soft", "LETE sand"])
@pytest.mark.parametrize("form", [shapes.BOX, shapes.TRACK])
def test_the_force_on_a_part_is_the_sum_over_its_nodes(kind, form):
    """Of more nodes than fit into a batch, on a slope, with a body that moves and a belt that runs; and its tangent."""
    rng, tilt, belt_speed = np.random.default_rng(3), (0.1, -0.2), 0.0 if form == shapes.BOX else 0.4
    ground = level(31, 31, slopes=tilt, height=0.1)
    size = (0.15, 0.1, 0.08) if form == shapes.BOX else (0.12, 0.08, 0.1)
    position, rotation = np.array([0.02, 0.01, 0.15]), twin.about(2, 0.5) @ twin.about(1, 0.05)
    index, contact = found(ground, form, size, position, rotation)
    assert len(index) > BATCH_SIZE
    assert np.all(ground.nodes["contact"][index] == STEP)
    ground.nodes["shear_x"][index], ground.nodes["shear_y"][index] = rng.uniform(-0.5, 0.5, (2, len(index)))
    velocity, centre = rng.normal(0.0, 0.1, 6), position + np.array([0.0, 0.02, 0.04])
    shape, load, batches = shape_at(form, size, position, rotation), new_load(), np.zeros(10, BATCH)
    slopes(ground, Patch(index, contact, np.zeros(len(index), np.int64)), STEP)
    width = patch_width(contact, SPACING)
    how, moves = response(kind, width=width, rest=0.5), motion(velocity, centre, belt_speed)
    shape["patch_end"], shape["mass"], shape["inertia"] = len(index), 2.0, 0.3
    load["rest"], load["damping"] = 0.5, 4.0
    for k, first in enumerate(range(0, len(index), BATCH_SIZE)):
        some = slice(first, min(first + BATCH_SIZE, len(index)))
        gather(ground, index[some], contact[some], batches[k])
        batches[k]["count"], batches[k]["modulus"], shape["batch_end"] = some.stop - first, how.modulus, k + 1
        if form == shapes.TRACK:
            belt_directions(batches[k], some.stop - first, shape)
        prepare(batches[k], some.stop - first, parameters(kind), how, moves)
    press_part(shape, load, batches, soil_records([kind]), moves, DT, SPACING)
    wrench, tangent = np.zeros(7), np.zeros((7, 7))
    wrench[:3], wrench[3:6] = -4.0 * 2.0 * velocity[:3], -4.0 * 0.3 * velocity[3:]
    tangent[range(6), range(6)] = 4.0 * np.repeat([2.0, 0.3], 3)
    for k, place in enumerate(columns(contact, "x", "y", "z")):
        batch, m = batches[k // BATCH_SIZE], k % BATCH_SIZE
        force = np.array([batch[f"force_{axis}"][m] for axis in "xyz"])
        lost = np.array([[batch[f"c_{min(a, b)}{max(a, b)}"][m] for a in "xyz"] for b in "xyz"])
        local = rotation.T @ (place - position)
        outward = np.array([local[0] - np.clip(local[0], -size[0], size[0]), 0.0, local[2]])
        along = rotation @ np.cross([0.0, 1.0, 0.0], outward / np.linalg.norm(outward)) * (form == shapes.TRACK)
        x, y, z = place - centre
        moved = np.column_stack([np.eye(3), -np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]), along])
        wrench += moved.T @ force
        tangent += moved.T @ lost @ moved
    assert [*load["force"], *load["torque"], load["belt_force"]] == pytest.approx(wrench, rel=1e-9, abs=1e-9)
    assert load["tangent"] == pytest.approx(tangent, rel=1e-9, abs=1e-9 * np.abs(tangent).max())
    assert np.linalg.eigvalsh(load["tangent"]).min() > -1e-9 * np.abs(tangent).max()


def test_impossible_soil_kinds_are_refused():
    with pytest.raises(ValueError, match="friction"):
        SoilKind(kphi=1e5, friction=90.0, shear=0.01, elastic=1e7)
