"""Grip of soil under a rover: as one node of the soil model, as its NumPy and PyTorch twins, and within its range."""

import numpy as np
import pytest

from sandlot.surrogates.terrain.contact import DRAGGED, ENTRY, LEVER, QUARTERS, SEEN
from sandlot.surrogates.terrain.grip import ASIDE, GRIPS, SPOTS, hold_along, speeds_of, spots_of
from sandlot.surrogates.terrain.shape import shape_of

SHAPE = shape_of("wheeled")
DT = 0.01


def random_states(frames=200):
    """Motion and wheel speeds that change slowly."""
    rng = np.random.default_rng(0)
    return np.cumsum(rng.normal(size=(frames, 5)) * (0.01, 0.005, 0.05, 0.3, 0.3), axis=0)


def seen_of(frames, entry=0.004, lever=SHAPE.radius):
    """What is seen of level ground: how far wheels have gone over their soil, and how far it is below them."""
    seen = np.zeros((frames, SEEN))
    for rows, value in ((ENTRY, entry), (LEVER, lever), (DRAGGED, 0.02)):
        seen[:, rows : rows + QUARTERS] = value
    return seen


def grips_of(states, shear=0.01, seen=None):
    return hold_along(spots_of(SHAPE), DT, shear, seen_of(len(states)) if seen is None else seen, states)


def test_a_plain_twin_gives_the_same():
    wheels, over = speeds_of(SHAPE)
    grip, states = np.zeros((SPOTS, 2)), random_states()
    seen = seen_of(len(states)) * np.random.default_rng(1).uniform(0.5, 1.5, (len(states), SEEN))
    for state, row, found in zip(states, seen, grips_of(states, seen=seen), strict=True):
        levers = np.append(row[LEVER : LEVER + QUARTERS], np.zeros(QUARTERS))
        travels = np.append(row[ENTRY : ENTRY + QUARTERS], row[DRAGGED : DRAGGED + QUARTERS])
        v = (state @ over).reshape(SPOTS, 2)
        s = np.column_stack([(state @ wheels) * levers, np.zeros(SPOTS)]) - v
        lost = DT * (np.hypot(*s.T) / 0.01 + np.abs(v[:, 0]) / travels + np.abs(v[:, 1]) / ASIDE)
        grip = (grip + DT * s / 0.01) / (1.0 + lost)[:, None]
        np.testing.assert_allclose(found, grip.ravel(), atol=1e-4)


def test_a_wheel_that_spins_in_place_shears_the_soil_off():
    """As Janosi and Hanamoto: 1 - exp(-slip / K), to the error of steps; then it stays at 1."""
    states = np.tile([0.0, 0.0, 0.0, 1.0, 1.0], (600, 1))
    found = grips_of(states)[:, 0]
    slipped = SHAPE.radius * DT * np.arange(1, 601)
    np.testing.assert_allclose(found, 1.0 - np.exp(-slipped / 0.01), atol=0.01)
    assert found[-1] == pytest.approx(1.0, abs=1e-3)


def test_a_sunken_wheel_grips_from_a_smaller_radius_on():
    """The soil is less far below its centre than its rim is: it has no grip where that rolls without slip."""
    states, lever = np.zeros((300, 5)), 0.8 * SHAPE.radius
    states[:, 3:], states[:, 0] = 3.0, 3.0 * lever
    found = grips_of(states, seen=seen_of(len(states), 0.02, lever))
    np.testing.assert_allclose(found[:, :QUARTERS], 0.0, atol=1e-9)
    states[:, 0] *= 0.5  # slips: sheared as far as it slips on the way over the soil
    slipped = 0.02 * (3.0 * lever - states[0, 0]) / states[0, 0]
    steady = grips_of(states, seen=seen_of(len(states), 0.02, lever))[-1, 0]
    assert steady == pytest.approx(slipped / (0.01 + slipped), rel=1e-6)


def test_grip_stays_within_its_range_and_points_against_sliding():
    states = random_states() * 5.0
    found = grips_of(states, 0.001)
    assert np.hypot(found[:, ::2], found[:, 1::2]).max() < 1.0
    sliding = grips_of(np.tile([0.0, 0.05, 0.0, 0.0, 0.0], (50, 1)))
    assert np.all(sliding[:, 1::2] < 0.0)
    np.testing.assert_allclose(sliding[:, ::2], 0.0, atol=1e-12)


def test_training_holds_as_the_kernel_does(recorded):
    torch = pytest.importorskip("torch")
    from sandlot.surrogates.terrain.motors import Motors
    from sandlot.surrogates.terrain.recorded import read_drives
    from sandlot.surrogates.terrain.stretches import Stretches
    from sandlot.surrogates.terrain.training import Driver, Training

    drive = read_drives([recorded["soft"]], SHAPE)[0]
    data = Stretches([drive], SHAPE)
    driver = Driver(data, SHAPE, Motors(0.9, 3.0), Training(members=1), drive.interval)
    grip, rows = torch.zeros((1, 1, SPOTS, 2)), data.rows[None]
    for frame, expected in enumerate(drive.grips(SHAPE)[:100]):
        lengths = driver.travels(rows[:, :1, frame])
        grip = driver.hold(data.states[None, :1, frame], grip, torch.tensor(DT / 0.01), *lengths)
        np.testing.assert_allclose(grip.numpy().reshape(GRIPS), expected, atol=1e-4)
