"""A step of soil: it carries a plate, returns no more energy than it has stored, and damps slow motion."""

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandlot.physics.mujoco_bridge import simulation_arrays
from sandlot.physics.soil import PRESETS
from sandlot.physics.soil.step import MAX_REPAID, REST_DAMPING, REST_DAMPING_SPEED, dissipate, exchange
from soil_patches import DT, motion, new_load, shape_at
from soil_scenes import YIELDING, field, plate


@given(seed=st.integers(0, 2**32 - 1), slow=st.booleans(), belt_speed=st.floats(-0.5, 0.5))
def test_dissipation_agrees_with_its_twin(seed, slow, belt_speed):
    rng = np.random.default_rng(seed)
    shape, load = shape_at(6, (1.0, 1.0, 1.0), np.zeros(3), np.eye(3)), new_load()
    mass, inertia = shape["mass"], shape["inertia"] = rng.uniform(0.1, 5.0, 2)
    force, torque = load["force"], load["torque"] = rng.normal(0.0, 50.0, (2, 3))
    load["belt_force"] = rng.normal(0.0, 50.0)
    load["elastic_energy"], load["energy_before"], load["energy_debt"] = rng.uniform(0.0, 0.1, 3)
    velocity, (about, centre) = rng.normal(0.0, 0.01 if slow else 1.0, 6), rng.normal(0.0, 0.3, (2, 3))
    before = load.copy()
    dissipate(shape, load, motion(velocity, about, centre, belt_speed), DT)
    angular, linear = velocity[:3], velocity[3:] + np.cross(velocity[:3], centre - about)
    work = (force @ linear + torque @ angular + before["belt_force"] * belt_speed) * DT
    debt = max(before["energy_debt"] + work + before["elastic_energy"] - before["energy_before"], 0.0)
    twice_energy = mass * linear @ linear + inertia * angular @ angular
    repaid = min(debt, MAX_REPAID * twice_energy)
    rate = repaid / (twice_energy * DT) + REST_DAMPING / (1.0 + twice_energy / mass / REST_DAMPING_SPEED**2) ** 2
    assert load["force"] == pytest.approx(force - rate * mass * linear, rel=1e-9, abs=1e-9)
    assert load["torque"] == pytest.approx(torque - rate * inertia * angular, rel=1e-9, abs=1e-9)
    assert load["energy_debt"] == pytest.approx(debt - repaid, rel=1e-6, abs=1e-12)
    for name in ("belt_force", "elastic_energy", "energy_before", "displaced"):
        assert load[name] == before[name]


@pytest.mark.parametrize("kind", YIELDING)
def test_steps_press_a_plate_by_bekkers_law_and_keep_the_volume(kind):
    """Without MuJoCo's integrator, so that it also runs without compilation."""
    (model, data), soil, known = plate(), field(spacing=0.05, kind=kind), PRESETS[kind]
    soil.attach(model)
    for depth in np.linspace(2e-3, 0.02, 10):
        data.qpos[0] = -depth
        mujoco.mj_step1(model, data)
        exchange(soil._ground, soil._parameters, soil._contacts, simulation_arrays(data), DT)
        pressure = (known.kphi + known.kc / 0.2) * depth**known.exponent
        assert soil.forces[0, 2] == pytest.approx(0.08 * pressure, rel=0.02)
    assert soil.surface().min() == pytest.approx(-0.02, abs=1e-3)
    assert soil.surface().max() > 1e-3, "soil rises around the plate"
    assert soil.volume == pytest.approx(0.0, abs=1e-12)
