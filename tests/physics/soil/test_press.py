"""Stresses at the nodes of soil: they agree with a plain twin, and with Bekker, Janosi and Hanamoto."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandlot.physics.soil import PRESETS
from sandlot.physics.soil.batch import BATCH_SIZE
from sandlot.physics.soil.stress import CREEP_DAMPING, REBOUND_SPEED, prepare, press
from soil_patches import DT, SLOW, SPACING, Batch, motion, parameters, response
from twins import soil as twin

EXAMPLES = 10 if SLOW else 20
seeds = st.integers(0, 2**32 - 1)
kinds = pytest.mark.parametrize("kind", PRESETS.values(), ids=PRESETS)
yielding = pytest.mark.parametrize("kind", [PRESETS[k] for k in PRESETS if k != "rigid"], ids=[*PRESETS][:-1])


def some_batch(seed, count=BATCH_SIZE, deepest=0.08):
    """Nodes in all states: undeformed, deformed, loose, sheared, on slopes; the body is in firm or in loose soil."""
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
    return Batch(
        count,
        x=x,
        y=y,
        z=z,
        covered=rng.uniform(0.1, 1.0, count),
        undeformed=free,
        sinkage=sunk,
        loose=loose,
        shear_x=part * np.cos(angle),
        shear_y=part * np.sin(angle),
        slope_x=along_x,
        slope_y=along_y,
        covered_before=before,
        height=mean,
        hollow_x=hollow_x,
        hollow_y=hollow_y,
    )


@kinds
@pytest.mark.parametrize("layer", [np.inf, 0.03])
@settings(max_examples=EXAMPLES)
@given(seed=seeds, width=st.floats(0.05, 0.5))
def test_pressing_agrees_with_its_twin(kind, layer, seed, width):
    kind = kind.model_copy(update={"firm_layer": layer})
    batch = some_batch(seed)
    rng = np.random.default_rng(seed)
    velocity, guess, centre = rng.normal(0.0, 0.2, 6), rng.normal(0.0, 0.2, 6), rng.uniform(-0.5, 0.5, 3)
    dt, rest = 0.1 * kind.shear, rng.random()
    names = [name for name in batch.record.dtype.names if batch.record[name].size >= BATCH_SIZE]
    before = {name: batch[name].copy() for name in names}
    forces = batch.press(kind, velocity, centre, guess, width=width, dt=dt, rest=rest)
    cells = before["covered"] * SPACING**2
    for k in range(batch.count):
        row = {name: values[k] for name, values in before.items()}
        node = twin.TwinNode(
            kind,
            row["undeformed"],
            row["sinkage"],
            row["loose"],
            [row["shear_x"], row["shear_y"]],
            [row["slope_x"], row["slope_y"]],
            [row["hollow_x"], row["hollow_y"]],
        )
        arm = [row["x"], row["y"], row["z"]] - centre
        moves, expected = (each[:3] + np.cross(each[3:], arm) for each in (velocity, guess))
        stress, out = node.press(row["z"], moves, dt, width, rest, expected)
        old, new = row["covered_before"], row["covered"]
        assert batch["pressed"][k] == pytest.approx(min(old, new) * out, rel=1e-3, abs=1e-5)
        around = (row["height"] - old * (row["undeformed"] - row["sinkage"] + row["loose"])) / (1.0 - old)
        pushed = max(new - old, 0.0) * max(around - (node.free - node.sunk + node.loose), 0.0)
        assert batch["pushed"][k] == pytest.approx(pushed, rel=1e-3, abs=1e-5)
        assert batch["elastic_energy"][k] == pytest.approx(node.stored * cells[k] * node.area, rel=2e-2, abs=1e-3)
        assert batch["sinkage"][k] == pytest.approx(node.sunk, rel=1e-3, abs=1e-5)
        assert batch["loose"][k] == pytest.approx(node.loose, abs=1e-12)
        assert (batch["shear_x"][k], batch["shear_y"][k]) == pytest.approx(tuple(node.shear[:2]), abs=1e-4)
        # Where the table of powers is accurate, or not needed.
        if batch["depth"][k] > 1.2e-3 and batch["start"][k] > 1.2e-3:
            expected = stress * node.area * cells[k]
            # The force is a difference of pressure, which is accurate to 1 in 500, and damping.
            damped = kind.damping * abs(moves @ node.normal) * node.area * cells[k]
            assert forces[k] == pytest.approx(expected, abs=2e-3 * (np.linalg.norm(expected) + damped) + 1e-12)


@kinds
@settings(max_examples=EXAMPLES)
@given(seed=seeds)
def test_derivatives_are_those_of_the_forces(kind, seed):
    """Along the normal and across the slip, of level ground; where no stress begins or ends to yield, push or pull.

    Newton's method needs them to about a tenth: along short paths the mean of both ends stands for the mean stress.
    """
    batch, rng = some_batch(seed), np.random.default_rng(seed)
    for name in ("slope_x", "slope_y", "hollow_x", "hollow_y"):
        batch[name] = 0.0
    guess, tiny = np.array([*rng.normal(0.0, 0.2, 3), 0.0, 0.0, 0.0]), 1e-7
    prepare(batch.record, batch.count, parameters(kind), response(kind), motion(guess))

    def forces(change):
        press(batch.record, batch.count, parameters(kind), response(kind), motion(guess + change))
        return batch.forces

    change = np.zeros(6)
    change[2] = tiny
    up, down = forces(change), forces(-change)
    now = forces(0.0 * change)
    lost = -(up - down)[:, 2] / (2.0 * tiny)
    same = np.abs(up + down - 2.0 * now)[:, 2] < 1e-3 * np.abs(up - down)[:, 2]
    # Where the table of powers is accurate, or not needed.
    same &= (batch["depth"] > 1.2e-3) & (batch["start"] > 1.2e-3)
    assert batch["c_zz"][same] == pytest.approx(lost[same], rel=0.1, abs=1e-6 * np.abs(lost).max())
    matrices = np.array([[batch["c_xx"], batch["c_xy"]], [batch["c_xy"], batch["c_yy"]]]).transpose(2, 0, 1)
    assert np.linalg.eigvalsh(matrices).min() >= -1e-9 * np.abs(matrices).max()


@kinds
@settings(max_examples=EXAMPLES)
@given(seed=seeds, speed=st.floats(0.0, 5.0))
def test_soil_only_pushes(kind, seed, speed):
    """However a body moves. The displaced soil is the change of sinkage and loose soil."""
    batch = some_batch(seed)
    batch["hollow_x"], batch["hollow_y"] = batch["slope_x"], batch["slope_y"]
    normals = np.stack([-batch["slope_x"], -batch["slope_y"], np.ones(BATCH_SIZE)], axis=1)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    sunk, loose = batch["sinkage"].copy(), batch["loose"].copy()
    velocity = speed * np.random.default_rng(seed).normal(0.0, 1.0, 6)
    push = (batch.press(kind, velocity) * normals).sum(axis=1)
    assert np.all(push >= -1e-9 * (1.0 + np.abs(push).max()))
    assert np.all(batch["sinkage"] >= sunk)
    assert np.all((batch["loose"] >= 0.0) & (batch["loose"] <= loose))
    assert np.all((batch["pressed"] >= 0.0) & (batch["pushed"] >= 0.0))
    covered = np.minimum(batch["covered"], batch["covered_before"])
    assert batch["pressed"] == pytest.approx(covered * (batch["sinkage"] - sunk + loose - batch["loose"]), abs=1e-15)
    assert np.all(np.hypot(batch["shear_x"], batch["shear_y"]) <= 1.0 + 1e-9), "no more than the whole strength"


@yielding
@pytest.mark.parametrize("depth", [1e-3, 0.01, 0.05, 0.2, 0.35])
def test_undeformed_soil_carries_bekkers_pressure(kind, depth):
    batch = Batch(1, z=-depth)
    force = batch.press(kind, width=0.2)[0]
    pressure = (kind.kphi + kind.kc / 0.2) * depth**kind.exponent
    assert force == pytest.approx([0.0, 0.0, pressure * SPACING**2], rel=1e-3)
    assert batch["pressed"][0] == batch["sinkage"][0] == pytest.approx(depth - pressure / kind.elastic, rel=1e-6)


@kinds
def test_deformed_soil_is_elastic(kind):
    """Lifted and pressed to the same depth again, it carries the same load, and its sinkage does not grow."""
    batch = Batch(1, z=-0.01)
    most = batch.press(kind)[0, 2]
    sunk = batch["sinkage"][0]
    loads = []
    for lift in (0.25, 0.5, 0.75, 1.0 - 1e-9, 0.75, 0.25, 0.0):
        batch["z"] = -sunk - (1.0 - lift) * (0.01 - sunk)
        loads.append(batch.press(kind)[0, 2] / most)
        assert batch["sinkage"][0] == pytest.approx(sunk, rel=1e-12)
        assert batch["pressed"][0] == pytest.approx(0.0, abs=1e-15)
    assert loads == pytest.approx([0.75, 0.5, 0.25, 0.0, 0.25, 0.75, 1.0], rel=1e-6, abs=1e-6)


@kinds
def test_damping_never_pulls(kind):
    """The force is that at the end of the step, which a body that moves ends elsewhere than one that stands."""
    for speed in (-0.1, 0.1, 1e4):
        node = twin.TwinNode(kind, 0.0)
        expected = node.press(-0.01, np.array([0.0, 0.0, speed]), DT, 1.0)[0]
        push = Batch(1, z=-0.01).press(kind, (0, 0, speed, 0, 0, 0))[0, 2]
        assert push == pytest.approx(expected[2] * SPACING**2, rel=2e-3)
        assert push >= 0.0
    held, damping = Batch(1, z=-0.01).press(kind)[0, 2], kind.damping * 0.1 * SPACING**2
    push = Batch(1, z=-0.01).press(kind, (0, 0, -0.1, 0, 0, 0))[0, 2]
    assert held < push <= held + damping * (1.0 + 1e-9)
    if np.isinf(kind.kphi):
        push = Batch(1, z=-0.01).press(kind, (0, 0, 0.5 * REBOUND_SPEED, 0, 0, 0))[0, 2]
        assert push == pytest.approx(0.25 * held - 5.0 * REBOUND_SPEED * damping, rel=1e-6)
        assert Batch(1, z=-0.01).press(kind, (0, 0, REBOUND_SPEED, 0, 0, 0))[0, 2] == 0.0


@kinds
def test_loose_soil_carries_nothing_and_is_displaced(kind):
    batch = Batch(3, undeformed=0.0, sinkage=[0.0, 0.0, 0.02], loose=0.03, shear_x=0.5, z=[0.02, 1e-9, -0.005])
    batch["covered"] = batch["covered_before"] = [1.0, 0.5, 1.0]
    # The last one is between the deformed and the undeformed surface.
    forces = batch.press(kind, (0.3, 0.0, 0.0, 0.0, 0.0, 0.0))
    assert np.all(forces == 0.0)
    assert batch["pressed"] == pytest.approx([0.01, 0.015, 0.015], abs=1e-8)
    assert batch["loose"] == pytest.approx([0.02, 0.0, 0.015], abs=1e-8)
    assert batch["sinkage"] == pytest.approx([0.0, 0.0, 0.02])
    assert np.all(batch["shear_x"] == 0.0), "unloaded soil has no shear"


def shear(kind, path, speed=0.1, depth=0.01):
    """Shear force over the Mohr-Coulomb limit, after each step of slip along given directions: (steps, 2)."""
    batch, parts = Batch(1, z=-depth), []
    for x, y in path:
        force = batch.press(kind, (speed * x, speed * y, 0.0, 0.0, 0.0, 0.0))[0]
        limit = SPACING**2 * kind.cohesion + force[2] * np.tan(np.radians(kind.friction))
        parts.append(-force[:2] / limit)
    return np.array(parts)


@yielding
@pytest.mark.parametrize("angle", [0.0, 0.7, np.pi])
def test_constant_slip_mobilises_strength_as_janosi_and_hanamoto_describe(kind, angle):
    path = np.tile([np.cos(angle), np.sin(angle)], (800, 1))
    slip = 0.1 * DT * np.arange(1, 801)
    parts = shear(kind, path)
    along, across = parts @ path[0], parts @ [-path[0, 1], path[0, 0]]
    assert along == pytest.approx(1.0 - np.exp(-slip / kind.shear), abs=1e-3)
    assert along[-1] == pytest.approx(1.0, abs=2e-3)
    assert across == pytest.approx(np.zeros(800), abs=1e-9)


@yielding
def test_long_steps_of_slip_mobilise_the_same_strength_as_short_ones(kind):
    """Up to the shear displacement per step; beyond that, nearly all of the strength is mobilised."""
    for slip, error in ((0.3, 1e-3), (1.0, 1e-3), (2.0, 0.01), (50.0, 0.15)):
        part = shear(kind, [(1.0, 0.0)], speed=slip * kind.shear / DT)[0, 0]
        assert part == pytest.approx(1.0 - np.exp(-slip), abs=error)


@yielding
def test_reversed_slip_reverses_shear_and_turned_slip_turns_it(kind):
    speed = 0.4 if SLOW else 0.1
    per = round(kind.shear / (speed * DT))
    ahead, back, left = ([direction] * (6 * per) for direction in ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0)))
    parts = shear(kind, ahead + back + left, speed)
    assert parts[6 * per - 1] == pytest.approx([1.0, 0.0], abs=5e-3)
    assert parts[round(6.693 * per) - 1] == pytest.approx([0.0, 0.0], abs=0.02), "after K times ln 2"
    assert parts[12 * per - 1] == pytest.approx([-1.0, 0.0], abs=1e-2)
    assert parts[13 * per - 1] == pytest.approx([-np.exp(-1.0), 1.0 - np.exp(-1.0)], abs=1e-2)
    assert parts[18 * per - 1] == pytest.approx([0.0, 1.0], abs=1e-2)
    assert np.all(np.hypot(*parts.T) <= 1.0 + 1e-3)


def test_slow_slip_is_damped():
    """So that a creeping body comes to rest, instead of swinging on the soil's shear."""
    kind, batch = PRESETS["soft"], Batch(1, z=-0.01)
    force = batch.press(kind, (1e-5, 0.0, 0.0, 0.0, 0.0, 0.0), dt=1e-9)[0]
    assert force[0] / force[2] == pytest.approx(-np.tan(np.radians(30.0)) * 1e-5 * CREEP_DAMPING, rel=1e-3)


def test_on_a_slope_soil_pushes_along_its_normal():
    batch = Batch(1, z=-0.02, slope_x=0.3, slope_y=-0.1)
    force = batch.press(PRESETS["soft"])[0]
    assert force / force[2] == pytest.approx([-0.3, 0.1, 1.0], rel=1e-9)
    up = 1.0 / np.sqrt(1.0 + 0.3**2 + 0.1**2)
    # Depth is measured along the normal; the stress acts on all of the slope above the cell.
    assert force[2] / up == pytest.approx(2e5 * (0.02 * up) ** 1.1 * SPACING**2 / up, rel=1e-3)


@pytest.mark.parametrize("rest", [0.0, 0.4, 1.0])
def test_a_body_at_rest_is_pushed_to_the_middle_of_its_hollow(rest):
    force = Batch(1, z=-0.02, hollow_x=0.3).press(PRESETS["soft"], rest=rest)[0]
    assert force[0] == pytest.approx(-0.3 * rest * force[2])


@kinds
def test_a_face_that_covers_more_of_a_cell_pushes_the_other_soil_aside(kind):
    """The height of the soil beside the body follows from the mean height of the cell."""
    batch = Batch(2, z=-0.01, covered=[0.75, 0.25], covered_before=[0.5, 0.5], sinkage=0.04, height=[-0.015, -0.015])
    batch.press(kind)
    assert batch["pressed"] == pytest.approx([0.0, 0.0], abs=1e-15), "the body is above the deformed surface"
    assert batch["pushed"] == pytest.approx([0.25 * 0.05, 0.0], rel=1e-9)
