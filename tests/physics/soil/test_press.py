"""Soil that is pressed and sheared: as its plain twin says, and as Bekker, Janosi and Hanamoto have it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandlot.physics.soil import PRESETS
from sandlot.physics.soil.contact import (
    ALONG_X,
    ALONG_Y,
    BODY_X,
    BODY_Y,
    CALM,
    COVERED,
    DOWN,
    LANES,
    MEAN,
    OLD_FREE,
    OLD_LOOSE,
    OLD_PART,
    OLD_SUNK,
    OLD_X,
    OLD_Y,
    PUSHED,
    ROWS,
    STORED,
    X,
    Y,
    Z,
)
from sandlot.physics.soil.step import REBOUND
from soil_patches import DT, SLOW, SPACING, Patch
from twins import soil as twin

EXAMPLES = 10 if SLOW else 20
pytestmark = pytest.mark.filterwarnings("ignore:invalid value encountered in scalar multiply")
"""Ground that never yields, times no depth at all; compiled code multiplies silently."""
seeds = st.integers(0, 2**32 - 1)
kinds = pytest.mark.parametrize("kind", PRESETS.values(), ids=PRESETS)
yielding = pytest.mark.parametrize("kind", [PRESETS[k] for k in PRESETS if k != "rigid"], ids=[*PRESETS][:-1])


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
        if deep[k] or row[Z] >= row[OLD_FREE] - row[OLD_SUNK]:  # where powers are known well, or not needed
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
