"""Soil under a body: as its plain twin says, and as Bekker, Janosi and Hanamoto have it."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config

from sandlot.physics import shapes
from sandlot.physics.ground import FREE, HEIGHT, LOOSE, NODE, PART, SHEAR_X, SHEAR_Y, SUNK, TOUCHED, Ground
from sandlot.physics.soil import PRESETS, SoilKind
from sandlot.physics.soil_contact import (
    ALONG_X,
    ALONG_Y,
    BELT_X,
    BELT_Z,
    BODY_X,
    BODY_Y,
    CALM,
    COVERED,
    DOWN,
    FORCE_X,
    FORCE_Z,
    HAIR,
    LANES,
    MEAN,
    OLD_FREE,
    OLD_LOOSE,
    OLD_PART,
    OLD_SUNK,
    OLD_X,
    OLD_Y,
    PATCH,
    PUSHED,
    ROWS,
    STORED,
    THIN,
    X,
    Y,
    Z,
    find,
    gather,
    press,
    slope,
    tread,
    width,
)
from sandlot.physics.soil_step import REBOUND
from twins import soil as twin

SLOW = bool(config.DISABLE_JIT)
EXAMPLES = 10 if SLOW else 20
SPACING, DT, STEP = 0.02, 1e-3, 5.0
NONE = np.zeros((0, 3)), np.zeros((0, 3), np.int32)
"""No points, no faces."""

pytestmark = pytest.mark.filterwarnings("ignore:invalid value encountered in scalar multiply")
"""Ground that never yields, times no depth at all; compiled code multiplies silently."""

seeds = st.integers(0, 2**32 - 1)
kinds = pytest.mark.parametrize("kind", PRESETS.values(), ids=PRESETS)
yielding = pytest.mark.parametrize("kind", [PRESETS[k] for k in PRESETS if k != "rigid"], ids=[*PRESETS][:-1])


@cache
def recorded(kind):
    return kind.record()


class Patch:
    """The rows of some nodes, by name."""

    def __init__(self, count, **rows):
        self.count, self.work = count, np.zeros(ROWS * LANES)
        self[COVERED] = 1.0
        for name, values in rows.items():
            self[globals()[name]] = values
        # If nothing else is said, bodies cover what they covered before, and lie in no hollow.
        for row, values in (
            (OLD_PART, self[COVERED]),
            (MEAN, self[OLD_FREE] - self[OLD_SUNK] + self[OLD_LOOSE]),
            (BODY_X, self[ALONG_X]),
            (BODY_Y, self[ALONG_Y]),
        ):
            if {OLD_PART: "OLD_PART", MEAN: "MEAN", BODY_X: "BODY_X", BODY_Y: "BODY_Y"}[row] not in rows:
                self[row] = values

    def __getitem__(self, row):
        return self.work.reshape(ROWS, LANES)[row, : self.count]

    def __setitem__(self, row, values):
        self[row][:] = values

    def press(
        self, kind, velocity=(0.0,) * 6, about=(0.0, 0.0, 0.0), across=1.0, stiff=None, dt=DT, belt=0.0, still=0.0
    ):
        """Forces on the body: (count, 3) [N]."""
        stiff = kind.elastic if stiff is None else stiff
        modulus = kind.kphi + kind.kc / across
        record, velocity, about = recorded(kind), np.array(velocity, float), np.array(about, float)
        press(self.work, self.count, record, modulus, stiff, REBOUND, still, SPACING, dt, belt, velocity, about)
        return self[slice(FORCE_X, FORCE_Z + 1)].T.copy()


def some_patch(seed, count=LANES, deepest=0.08):
    """Nodes in all states: fresh, pressed before, loose, sheared, on slopes; the body is in them, or in the loose."""
    rng = np.random.default_rng(seed)
    free = rng.uniform(-0.1, 0.1, count)
    sunk = rng.choice([0.0, 1.0], count) * rng.uniform(0.0, deepest, count)
    loose = rng.choice([0.0, 1.0], count) * rng.uniform(0.0, 0.03, count)
    z = free - sunk + loose - rng.choice([1e-5, 1e-3, 0.02, deepest], count) * rng.uniform(0.01, 1.0, count)
    angle, part = rng.uniform(-np.pi, np.pi, count), rng.uniform(0.0, 0.7, count)
    x, y = rng.uniform(-0.5, 0.5, (2, count))
    along_x, along_y = rng.choice([0.0, 1.0], count) * rng.uniform(-0.4, 0.4, (2, count))
    before, around = rng.choice([0.0, 1.0], count) * rng.uniform(0.0, 0.9, count), rng.uniform(-0.1, 0.1, count)
    mean = before * (free - sunk + loose) + (1.0 - before) * around
    hollow_x, hollow_y = rng.uniform(-0.4, 0.4, (2, count))
    return Patch(
        count, X=x, Y=y, Z=z, COVERED=rng.uniform(0.1, 1.0, count), OLD_FREE=free, OLD_SUNK=sunk, OLD_LOOSE=loose,
        OLD_X=part * np.cos(angle), OLD_Y=part * np.sin(angle), ALONG_X=along_x, ALONG_Y=along_y, OLD_PART=before,
        MEAN=mean, BODY_X=hollow_x, BODY_Y=hollow_y,
    )  # fmt: skip


def level(ny=9, nx=11, spacing=SPACING, wrap=False, height=0.0, slopes=(0.0, 0.0)):
    nodes, corner = np.zeros((ny * nx, NODE)), np.array([-0.5 * (nx - 1), -0.5 * (ny - 1)]) * spacing
    i, j = np.divmod(np.arange(ny * nx), nx)
    nodes[:, HEIGHT] = height + slopes[0] * (corner[0] + j * spacing) + slopes[1] * (corner[1] + i * spacing)
    nodes[:, FREE] = nodes[:, HEIGHT]
    waits, ring = np.zeros(ny * nx, np.bool_), np.zeros(ny * nx, np.int64)
    return Ground(nodes, ny, nx, wrap, spacing, corner, waits, ring, np.zeros(2, np.int64))


def found(ground, kind, size, pos, rotation, points=NONE[0], faces=NONE[1], room=None):
    """Nodes that a shape touches, and what `find` says of them."""
    room = 4 * len(ground.nodes) if room is None else room
    under, patch, line = np.zeros(room, np.int64), np.zeros((room, PATCH)), np.zeros((2, 400))
    pos, rotation = np.asarray(pos, float), np.ascontiguousarray(rotation)
    count = find(ground, kind, size, pos, rotation.ravel(), points, faces, STEP, under, patch, line)
    return under[:count], patch[:count]


@kinds
@settings(max_examples=EXAMPLES)
@given(seed=seeds, across=st.floats(0.05, 0.5))
def test_pressing_agrees_with_its_twin(kind, seed, across):
    patch = some_patch(seed)
    rng = np.random.default_rng(seed)
    velocity, about = rng.normal(0.0, 0.2, 6), rng.uniform(-0.5, 0.5, 3)
    stiff, dt, still = kind.elastic * rng.uniform(0.1, 1.0), 0.1 * kind.shear, rng.random()
    deep = patch[OLD_FREE] - patch[Z] > 1.2e-3
    before = patch.work.reshape(ROWS, LANES).copy()
    forces = patch.press(kind, velocity, about, across, stiff, dt, still=still)
    cells = before[COVERED] * SPACING**2
    for k in range(patch.count):
        row = before[:, k]
        node = twin.TwinNode(
            kind, row[OLD_FREE], row[OLD_SUNK], row[OLD_LOOSE], row[[OLD_X, OLD_Y]], row[[ALONG_X, ALONG_Y]],
            row[[BODY_X, BODY_Y]],
        )  # fmt: skip
        moves = velocity[3:] + np.cross(velocity[:3], row[[X, Y, Z]] - about)
        stress, out = node.press(row[Z], moves, dt, across, stiff, still)
        old, new = row[OLD_PART], row[COVERED]
        assert patch[DOWN][k] == pytest.approx(min(old, new) * out, rel=1e-3, abs=1e-5)
        around = (row[MEAN] - old * (row[OLD_FREE] - row[OLD_SUNK] + row[OLD_LOOSE])) / (1.0 - old)
        pushed = max(new - old, 0.0) * max(around - (node.free - node.sunk + node.loose), 0.0)
        assert patch[PUSHED][k] == pytest.approx(pushed, rel=1e-3, abs=1e-5)
        assert patch[STORED][k] == pytest.approx(node.stored * cells[k], rel=2e-2, abs=1e-3)
        assert patch[OLD_SUNK][k] == pytest.approx(node.sunk, rel=1e-3, abs=1e-5)
        assert patch[OLD_LOOSE][k] == pytest.approx(node.loose, abs=1e-15)
        assert (patch[OLD_X][k], patch[OLD_Y][k]) == pytest.approx(tuple(node.shear[:2]), abs=1e-4)
        if deep[k] or not stress.any():
            expected = stress * node.area * cells[k]
            # What damping takes away can leave little of a pressure that is right to 1 in 1000.
            damped = kind.damping * abs(moves @ node.normal) * node.area * cells[k]
            assert forces[k] == pytest.approx(expected, abs=1e-3 * (np.linalg.norm(expected) + damped) + 1e-12)


@kinds
@settings(max_examples=EXAMPLES)
@given(seed=seeds, speed=st.floats(0.0, 5.0))
def test_soil_only_pushes(kind, seed, speed):
    """However a body moves; and it is never firmer than what was pressed out of it says."""
    patch = some_patch(seed)
    patch[BODY_X], patch[BODY_Y] = patch[ALONG_X], patch[ALONG_Y]
    normals = np.stack([-patch[ALONG_X], -patch[ALONG_Y], np.ones(LANES)], axis=1)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    sunk, loose = patch[OLD_SUNK].copy(), patch[OLD_LOOSE].copy()
    velocity = speed * np.random.default_rng(seed).normal(0.0, 1.0, 6)
    push = (patch.press(kind, velocity) * normals).sum(axis=1)
    assert np.all(push >= -1e-9 * (1.0 + np.abs(push).max()))
    assert np.all(patch[OLD_SUNK] >= sunk)
    assert np.all((patch[OLD_LOOSE] >= 0.0) & (patch[OLD_LOOSE] <= loose))
    assert np.all((patch[DOWN] >= 0.0) & (patch[PUSHED] >= 0.0))
    covered = np.minimum(patch[COVERED], patch[OLD_PART])
    assert patch[DOWN] == pytest.approx(covered * (patch[OLD_SUNK] - sunk + loose - patch[OLD_LOOSE]), abs=1e-15)
    assert np.all(np.hypot(patch[OLD_X], patch[OLD_Y]) <= 1.0 + 1e-9), "no more than all of the strength"


@yielding
@pytest.mark.parametrize("depth", [1e-3, 0.01, 0.05, 0.2, 0.35])
def test_fresh_soil_carries_what_bekker_says(kind, depth):
    patch = Patch(1, Z=-depth)
    force = patch.press(kind, across=0.2)[0]
    pressure = (kind.kphi + kind.kc / 0.2) * depth**kind.exponent
    assert force == pytest.approx([0.0, 0.0, pressure * SPACING**2], rel=1e-3)
    assert patch[DOWN][0] == patch[OLD_SUNK][0] == pytest.approx(depth - pressure / kind.elastic, rel=1e-6)


@kinds
def test_soil_that_was_pressed_is_elastic(kind):
    """Up and down again, at the same depth it carries the same, and it has not gone deeper."""
    patch = Patch(1, Z=-0.01)
    most = patch.press(kind)[0, 2]
    sunk = patch[OLD_SUNK][0]
    ways = []
    for lift in (0.25, 0.5, 0.75, 1.0 - 1e-9, 0.75, 0.25, 0.0):
        patch[Z] = -sunk - (1.0 - lift) * (0.01 - sunk)
        ways.append(patch.press(kind)[0, 2] / most)
        assert patch[OLD_SUNK][0] == pytest.approx(sunk, rel=1e-12)
        assert patch[DOWN][0] == pytest.approx(0.0, abs=1e-15)
    assert ways == pytest.approx([0.75, 0.5, 0.25, 0.0, 0.25, 0.75, 1.0], rel=1e-6, abs=1e-6)


@kinds
def test_damping_never_pulls(kind):
    push = [Patch(1, Z=-0.01).press(kind, (0, 0, 0, 0, 0, speed))[0, 2] for speed in (-0.1, 0.0, 0.1, 1e4)]
    damping = kind.damping * 0.1 * SPACING**2
    assert push[0] == pytest.approx(push[1] + damping, rel=1e-9)
    assert push[2] == pytest.approx(max(push[1] / (1.0 + 0.1 / REBOUND) - damping, 0.0), rel=1e-9, abs=1e-12)
    assert push[3] == 0.0


@kinds
def test_loose_soil_carries_nothing_and_is_pushed_out(kind):
    patch = Patch(3, OLD_FREE=0.0, OLD_SUNK=[0.0, 0.0, 0.02], OLD_LOOSE=0.03, OLD_X=0.5, Z=[0.02, 1e-9, -0.005])
    patch[COVERED] = patch[OLD_PART] = [1.0, 0.5, 1.0]
    # The last one is above what was pressed, below what is free.
    forces = patch.press(kind, (0.0, 0.0, 0.0, 0.3, 0.0, -0.1))
    assert np.all(forces == 0.0)
    assert patch[DOWN] == pytest.approx([0.01, 0.015, 0.015], abs=1e-8)
    assert patch[OLD_LOOSE] == pytest.approx([0.02, 0.0, 0.015], abs=1e-8)
    assert patch[OLD_SUNK] == pytest.approx([0.0, 0.0, 0.02])
    assert np.all(patch[OLD_X] == 0.0), "what nobody leans on has no shear"


def shear(kind, path, speed=0.1, depth=0.01):
    """Shear force over the limit of Mohr and Coulomb, after each step of slip along directions: (steps, 2)."""
    patch, parts = Patch(1, Z=-depth), []
    for x, y in path:
        force = patch.press(kind, (0.0, 0.0, 0.0, speed * x, speed * y, 0.0))[0]
        limit = SPACING**2 * kind.cohesion + force[2] * np.tan(np.radians(kind.friction))
        parts.append(-force[:2] / limit)
    return np.array(parts)


@yielding
@pytest.mark.parametrize("angle", [0.0, 0.7, np.pi])
def test_constant_slip_mobilises_strength_as_janosi_and_hanamoto_have_it(kind, angle):
    path = np.tile([np.cos(angle), np.sin(angle)], (800, 1))
    slip = 0.1 * DT * np.arange(1, 801)
    parts = shear(kind, path) @ path[0]
    assert parts == pytest.approx(1.0 - np.exp(-slip / kind.shear), abs=1e-3)
    assert parts[-1] == pytest.approx(1.0, abs=2e-3)
    assert shear(kind, path) @ [-path[0, 1], path[0, 0]] == pytest.approx(np.zeros(800), abs=1e-9)


@yielding
def test_long_steps_of_slip_are_as_good_as_short_ones(kind):
    """Up to the shear displacement in a step; beyond that, the strength is nearly all there."""
    for way, error in ((0.3, 1e-3), (1.0, 1e-3), (2.0, 0.01), (50.0, 0.15)):
        part = shear(kind, [(1.0, 0.0)], speed=way * kind.shear / DT)[0, 0]
        assert part == pytest.approx(1.0 - np.exp(-way), abs=error)


@yielding
def test_reversed_slip_reverses_shear_and_turned_slip_turns_it(kind):
    per = round(kind.shear / (0.1 * DT))
    ahead, back, left = ([direction] * (6 * per) for direction in ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0)))
    parts = shear(kind, ahead + back + left)
    assert parts[6 * per - 1] == pytest.approx([1.0, 0.0], abs=5e-3)
    assert parts[round(6.693 * per) - 1] == pytest.approx([0.0, 0.0], abs=0.02), "after K times ln 2"
    assert parts[12 * per - 1] == pytest.approx([-1.0, 0.0], abs=1e-2)
    assert parts[13 * per - 1] == pytest.approx([-np.exp(-1.0), 1.0 - np.exp(-1.0)], abs=1e-2)
    assert parts[18 * per - 1] == pytest.approx([0.0, 1.0], abs=1e-2)
    assert np.all(np.hypot(*parts.T) <= 1.0 + 1e-3)


def test_slow_slip_is_damped():
    """So that a body that creeps comes to rest, rather than swing on the soil's shear."""
    kind, patch = PRESETS["soft"], Patch(1, Z=-0.01)
    force = patch.press(kind, (0.0, 0.0, 0.0, 1e-5, 0.0, 0.0), dt=1e-9)[0]
    assert force[0] / force[2] == pytest.approx(-np.tan(np.radians(30.0)) * 1e-5 * CALM, rel=1e-3)


def test_on_a_slope_soil_pushes_along_its_normal():
    patch = Patch(1, Z=-0.02, ALONG_X=0.3, ALONG_Y=-0.1)
    force = patch.press(PRESETS["soft"])[0]
    assert force / force[2] == pytest.approx([-0.3, 0.1, 1.0], rel=1e-9)
    up = 1.0 / np.sqrt(1.0 + 0.3**2 + 0.1**2)
    # As deep as it is along the normal; on all of the surface above the cell.
    assert force[2] / up == pytest.approx(2e5 * (0.02 * up) ** 1.1 * SPACING**2 / up, rel=1e-3)


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


SHAPES = {
    "sphere": (shapes.SPHERE, (0.06, 0.0, 0.0)),
    "capsule": (shapes.CAPSULE, (0.04, 0.05, 0.0)),
    "ellipsoid": (shapes.ELLIPSOID, (0.03, 0.05, 0.08)),
    "cylinder": (shapes.CYLINDER, (0.07, 0.03, 0.0)),
    "box": (shapes.BOX, (0.04, 0.06, 0.05)),
    "track": (shapes.TRACK, (0.05, 0.03, 0.03)),
    "mesh": (shapes.MESH, (0.04, 0.06, 0.05)),
}


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize(("kind", "size"), SHAPES.values(), ids=SHAPES)
def test_every_node_that_a_shape_touches_is_found(kind, size, wrap):
    corners, faces = twin.box_mesh(size) if kind == shapes.MESH else NONE
    seen = 0
    for seed in range(6 if SLOW else 20):
        rng = np.random.default_rng([seed, kind])
        ground = level(14, 16, SPACING, wrap)
        ground.nodes[:, FREE] += rng.uniform(0.0, 0.03, len(ground.nodes))
        ground.nodes[:, SUNK] += rng.choice([0.0, 0.02], len(ground.nodes))
        ground.nodes[:, LOOSE] += rng.choice([0.0, 0.02], len(ground.nodes))
        pos = rng.uniform([-0.2, -0.2, -0.01], [0.2, 0.2, 0.06])
        # Every other one stands as wheels and tracks do.
        rotation = twin.turned(rng)
        if seed % 2:
            rotation = twin.turned(rng, 0.15) @ twin.about(0, np.pi / 2.0 if kind == shapes.CYLINDER else 0.0)

        def lowest(x, y, pos=pos, rotation=rotation):
            if kind != shapes.MESH:
                return shapes.lowest(kind, size, *twin.line(pos, rotation, x, y), SPACING)
            below = np.zeros((1, 1))
            shapes.lowest_mesh(corners @ rotation.T + pos, faces, x, y, SPACING, below)
            return below[0, 0], 1.0 if below[0, 0] < np.inf else 0.0

        expected = twin.find(ground, lowest)
        under, patch = found(ground, kind, size, pos, rotation, corners, faces)
        assert np.array_equal(under, expected[:, 0])
        assert patch[:, :4] == pytest.approx(expected[:, 1:], abs=1e-9)
        seen += len(under)
    assert seen > 30


def test_what_was_touched_remains_so_until_the_body_is_a_hair_off():
    ground, size = level(), (0.05, 0.05, 0.05)
    ground.nodes[:40, TOUCHED] = STEP - 1.0
    for lift, expected in ((-1e-6, 99), (0.5 * HAIR, 40), (1.5 * HAIR, 0)):
        under = found(ground, shapes.BOX, (1.0, 1.0, 0.05), (0.0, 0.0, size[2] + lift), np.eye(3))[0]
        assert len(under) == expected


@pytest.mark.parametrize("still", [0.0, 0.4, 1.0])
def test_what_is_still_is_pushed_to_the_middle_of_its_hollow(still):
    force = Patch(1, Z=-0.02, BODY_X=0.3).press(PRESETS["soft"], still=still)[0]
    assert force[0] == pytest.approx(-0.3 * still * force[2])


@kinds
def test_a_face_that_comes_to_cover_more_of_a_cell_pushes_the_rest_along(kind):
    """What lies beside the body in its cell is as high as the mean says, less what is covered."""
    patch = Patch(2, Z=-0.01, COVERED=[0.75, 0.25], OLD_PART=[0.5, 0.5], OLD_SUNK=0.04, MEAN=[-0.015, -0.015])
    patch.press(kind)
    assert patch[DOWN] == pytest.approx([0.0, 0.0], abs=1e-15), "it is above what was pressed before"
    assert patch[PUSHED] == pytest.approx([0.25 * 0.05, 0.0], rel=1e-9)


def test_only_as_many_nodes_are_found_as_there_is_room_for():
    ground = level()
    everything = found(ground, shapes.BOX, (0.05, 0.05, 0.05), np.zeros(3), np.eye(3))[0]
    few = found(ground, shapes.BOX, (0.05, 0.05, 0.05), np.zeros(3), np.eye(3), room=5)[0]
    assert len(everything) > 5
    assert np.array_equal(few, everything[:5])


@pytest.mark.parametrize("pos", [(1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 0.2), (1e9, 1e9, 0.0)])
def test_who_is_not_on_the_ground_touches_nothing(pos):
    assert len(found(level(), shapes.BOX, (0.05, 0.05, 0.05), pos, np.eye(3))[0]) == 0


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
