"""Springs below a learned rover: their forces, how they yield, and which ground they feel."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rover_contacts import CLEARANCE, WHEELED, Scene, hills, stress_at, values_of
from sandlot.geometry.rotations import rotation_matrix
from sandlot.physics.soil import PRESETS
from sandlot.physics.soil.ground import LOOSE_DEPTH
from sandlot.physics.soil.stress import REBOUND_SPEED
from sandlot.surrogates.terrain.contact import bend, give_of
from sandlot.surrogates.terrain.feet import make_ground, stand
from sandlot.surrogates.terrain.inputs import NO_SOIL, soil_inputs, wheel_depth
from sandlot.surrogates.terrain.springs import BLOCK, LANES, POINTS, SIZE, Give, carrying, resist, yielding


@settings(max_examples=20)
@given(st.integers(0, 99), st.floats(-0.1, 0.1), st.floats(-0.1, 0.1), st.floats(-3.1, 3.1), st.booleans())
def test_forces_equal_those_of_a_plain_twin(seed, x, y, yaw, wrap):
    """The twin asks every node of the map how far it is below the wheels, without looking for those that are near.

    Wheels turn: their front presses into the soil, which damps that, and their rear leaves it.
    """
    rng = np.random.default_rng(seed)
    initial = hills(seed)
    scene = Scene(initial - 0.004 * rng.random(initial.shape), initial, wrap=wrap)
    scene.wheels[:] = rng.uniform(-9.0, 9.0, 2)
    shape, stances, z = scene.shape, scene.springs.stances, CLEARANCE - 0.02
    wheels, found = scene.gathered((x, y), yaw, (z, -0.04, 0.05))
    stand(shape.feet, np.array([x, y, z]), np.array([0.05, -0.04, yaw]), stances)
    rows, columns = np.indices(initial.shape)
    px, py = scene.ground.x0 + 0.01 * columns, scene.ground.y0 + 0.01 * rows
    total, moment, drags = 0.0, 0.0, 0.0
    turned = rotation_matrix(0.05, -0.04, yaw)
    line = turned.T @ (0.0, 0.0, 1.0)
    for foot, at in zip(shape.feet[:4], stances[:4], strict=True):
        for point in range(POINTS):
            shift = ((point + 0.5) / POINTS - 0.5) * 0.01
            dx, dy = px + shift * np.cos(yaw) - at["x"], py + shift * np.sin(yaw) - at["y"]
            ahead, left, up = np.moveaxis(np.stack([dx, dy, np.zeros_like(dx)], -1) @ turned, -1, 0)
            # The vertical line enters the wheel where its squared distance from the axis is the squared radius.
            a, b = line[0] ** 2 + line[2] ** 2, ahead * line[0] + up * line[2]
            root = b * b - a * (ahead * ahead + up * up - foot["radius"] ** 2)
            low = -(b + np.sqrt(np.maximum(root, 0.0))) / a
            along, aside = ahead + low * line[0], left + low * line[1]
            part = np.clip(0.5 + (foot["half_width"] - np.abs(aside)) / 0.01, 0.0, 1.0) * (root > 0.0)
            gap = at["z"] + low - scene.heights
            depth = gap + scene.heights - np.maximum(initial, scene.heights)
            sinks = scene.wheels[0 if foot["y"] > 0.0 else 1] * along
            kept = np.clip(1.0 - np.maximum(-sinks, 0.0) / REBOUND_SPEED, 0.0, 1.0) ** 2
            elastic, drag = -scene.give.ratio * gap, scene.give.damping * np.maximum(sinks, 0.0)
            pushed = np.clip(np.minimum(elastic, drag), 0.0, None)
            yields = stress_at(scene.give, -depth)
            force = part * kept * (np.clip(np.minimum(elastic, yields), 0.0, None) + pushed) / POINTS
            total, drags = total + force.sum(), drags + pushed.sum()
            moment -= (force * ((px - x) * np.cos(yaw) + (py - y) * np.sin(yaw) + shift)).sum()
    gap, depth, drag, size, x, y = values_of(found[:, :wheels])
    assert np.hypot(x, y).max() < shape.reach + 0.01
    elastic = -scene.give.ratio * gap
    yields = stress_at(scene.give, -depth)
    forces = size * (np.clip(np.minimum(elastic, yields), 0.0, None) + np.clip(np.minimum(elastic, drag), 0.0, None))
    assert drags > 0.0
    assert forces.sum() == pytest.approx(total, rel=1e-5)  # undersides are in 32-bit floats
    for k in range(wheels, found.shape[1]):  # without the underside
        scene.springs.blocks[k // LANES * BLOCK + k % LANES + SIZE] = 0.0
    scene.springs.shift[:] = 0.0
    resist(scene.springs, found.shape[1], scene.give)
    np.testing.assert_allclose(scene.springs.sums[:2], [total, moment], rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("exponent", [0.6, 0.793, 1.0, 1.1, 1.3, 1.8])
def test_springs_follow_bekkers_power_law(exponent):
    """Up to twice the depth of a wheel, to 5% of the stress at that depth."""
    depth = 0.01
    give = Give(1.0, 30.0, 0.0, *bend(exponent, depth))
    deep = np.linspace(0.0, 2.0 * depth, 101)
    stress, slope = np.transpose([yielding(give, each) for each in deep])
    law = depth * (deep / depth) ** exponent
    assert np.abs(stress - law).max() < 0.05 * depth
    np.testing.assert_allclose(slope[1:-1], (stress[2:] - stress[:-2]) / (deep[2:] - deep[:-2]), rtol=0.02)
    assert yielding(give, -0.001)[0] == 0.0


@pytest.mark.parametrize("exponent", [0.3, 2.0, 2.5, 4.0])
def test_springs_never_pull_however_the_soil_yields(exponent):
    give = Give(1.0, 30.0, 0.0, *bend(exponent, 0.01))
    stress, slope = np.transpose([yielding(give, each) for each in np.linspace(0.0, 0.05, 200)])
    assert stress.min() >= 0.0
    assert slope.min() >= 0.0
    if exponent <= 2.0:
        assert yielding(give, 0.01)[0] == pytest.approx(0.01, rel=0.15)


def test_stiffness_is_how_forces_grow():
    """Of all springs together, those that damp among them, by finite differences."""
    scene = Scene(hills(4), soil="soft")
    scene.wheels[:] = 6.0, 4.0
    scene.look((0.01, -0.02), 0.3)
    _, count = scene.gather(*scene.at)
    sums, found, step = [], np.zeros((3, 3)), 1e-9
    for axis in range(3):
        for sign in (-1.0, 1.0):
            scene.springs.shift[:] = 0.0
            scene.springs.shift[axis] = sign * step
            resist(scene.springs, count, scene.give)
            sums.append(scene.springs.sums.copy())
        found[axis] = (sums[-1] - sums[-2])[:3] / (2.0 * step)
    a, b, c, d, e, f = 0.5 * (sums[0] + sums[1])[3:]
    expected = -np.array([[a, b, c], [b, d, e], [c, e, f]])
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())


def test_springs_yield_as_deep_as_the_soil():
    """Bekker's plate under a quarter of the weight, at the depth that springs of this stiffness have."""
    for name in ("soft", "mid"):
        kind = PRESETS[name]
        inputs = soil_inputs(kind, WHEELED)
        stiffness, ratio, damping = give_of(inputs, WHEELED)[:3]
        depth = (stiffness / kind.kphi) ** (1.0 / (kind.exponent - 1.0))
        carried = 0.67 * stiffness * depth * WHEELED.width * np.sqrt(2.0 * WHEELED.radius * depth)
        assert carried == pytest.approx(WHEELED.weight / 4.0, rel=1e-3)
        assert ratio == 30.0
        assert damping * stiffness == pytest.approx(kind.damping)
    clamped = give_of(soil_inputs(PRESETS["LETE sand"], WHEELED), WHEELED)
    depth = wheel_depth(lambda deep: clamped.stiffness * deep, WHEELED)
    assert yielding(clamped, depth)[0] == pytest.approx(depth, rel=0.01)
    assert give_of(NO_SOIL, WHEELED) == Give(1e6, 30.0, 0.0, 1.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("height", "firm", "expected"),
    [
        (0.0, 0.0, (0.0, 0.0)),  # untouched
        (-0.01, -0.01, (-0.01, 0.01)),  # pressed
        (0.01, 0.0, (0.0, 0.0)),  # loose soil lies on it
        (-0.002, -0.01, (-0.01, 0.01)),  # in a rut
        (-0.005, 0.0, (-0.005, 0.0)),  # soil slid away
        (0.01 + LOOSE_DEPTH, 0.0, (0.01, 0.0)),  # so much that what lies below is firm
    ],
)
def test_loose_soil_carries_nothing_and_soil_that_slid_away_was_not_pressed(height, firm, expected):
    ground = make_ground(np.zeros((3, 3)), (0.0, 0.0), 0.01, True)
    ground.heights[1, 1], ground.firm[1, 1] = height, firm
    np.testing.assert_allclose(carrying(ground, 1, 1), expected, atol=1e-12)
