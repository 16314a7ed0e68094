"""A step of soil: it carries a plate, returns no more energy than it has stored, and damps slow motion."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandlot.physics.soil import PRESETS
from sandlot.physics.soil.damping import (
    MAX_REPAID,
    REST_DAMPING,
    REST_DAMPING_SPEED,
    damping_rate,
    squared_speed,
)
from soil_patches import DT, motion, new_load, shape_at
from soil_scenes import YIELDING, field, hold_by_kernels, plate


@given(seed=st.integers(0, 2**32 - 1), slow=st.booleans())
def test_damping_agrees_with_its_twin(seed, slow):
    """It repays energy, but no more than a part of the momentum in a step, and stops slow bodies."""
    rng = np.random.default_rng(seed)
    shape, load = shape_at(6, (1.0, 1.0, 1.0), np.zeros(3), np.eye(3)), new_load()
    mass, inertia = shape["mass"], shape["inertia"] = rng.uniform(0.1, 5.0, 2)
    load["energy_debt"] = rng.uniform(0.0, 0.1)
    velocity = rng.normal(0.0, 0.01 if slow else 1.0, 6)
    square = squared_speed(shape, motion(velocity))
    twice_energy = mass * velocity[:3] @ velocity[:3] + inertia * velocity[3:] @ velocity[3:]
    assert square == pytest.approx(twice_energy / mass)
    repaid = min(load["energy_debt"], MAX_REPAID * twice_energy)
    rate = repaid / (twice_energy * DT) + REST_DAMPING / (1.0 + square / REST_DAMPING_SPEED**2) ** 2
    assert damping_rate(shape, load, square, DT) == pytest.approx(rate, rel=1e-9)


@pytest.mark.parametrize("kind", YIELDING)
def test_steps_press_a_plate_by_bekkers_law_and_keep_the_volume(kind):
    """Without MuJoCo's integrator, so that it also runs without compilation."""
    (model, data), soil, known = plate(), field(spacing=0.05, kind=kind), PRESETS[kind]
    soil.attach(model)
    for depth in np.linspace(2e-3, 0.02, 10):
        hold_by_kernels(soil, data, -depth)
        pressure = (known.kphi + known.kc / 0.2) * depth**known.exponent
        assert soil.forces[0, 2] == pytest.approx(0.08 * pressure, rel=0.02)
    assert soil.surface().min() == pytest.approx(-0.02, abs=1e-3)
    assert soil.surface().max() > 1e-3, "soil rises around the plate"
    assert soil.volume == pytest.approx(0.0, abs=1e-12)
