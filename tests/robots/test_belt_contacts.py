"""What the reference adds to MuJoCo's steps: the compiled functions against NumPy."""

import mujoco
import numpy as np

from sandlot.places.course_kinds import Rubble, Stairs
from sandlot.robots.belt_contacts import AXLES, BELTS, FACE, SOFT, command_motors, couple_belts
from sandlot.robots.climber import load_climber
from sandlot.robots.reference_climbers import ReferenceClimbers

CLIMBER = load_climber()
TARGETS = np.array([0.4, -0.2, 0.5, 0.3])


def thrown(number=40):
    """Simulations of robots in random poses, deep in their obstacles."""
    rng = np.random.default_rng(1)
    kinds = Stairs(distance=0.6), Rubble(distance=0.6, seed=2)
    climbers = ReferenceClimbers(CLIMBER, [kind.draw(rng) for kind in kinds])
    for _ in range(number):
        for simulation in climbers._simulations:
            data, pitch = simulation.data, rng.uniform(-1.0, 1.0)
            data.qpos[:7] = rng.uniform(0.5, 2.0), 0.0, rng.uniform(0.2, 0.5), np.cos(pitch), 0.0, np.sin(pitch), 0.0
            data.qpos[AXLES : AXLES + 2], data.qvel[:] = rng.uniform(-1.0, 1.0, 2), rng.uniform(-1.0, 1.0, 12)
            mujoco.mj_step1(simulation.model, data)
            yield simulation


def coupled(simulation):
    """Jacobian (rows, speeds) and stiffness (rows,) as they should be."""
    model, data, made = simulation.model, simulation.data, simulation._made
    contacts, flat = data.contact, simulation._flat
    jacobian, stiffness = data.efc_J.reshape(data.nefc, model.nv).copy(), data.efc_D.copy()
    left = data.xmat[1].reshape(3, 3)[:, 1]
    for geoms, frame, first in zip(contacts.geom, contacts.frame.reshape(-1, 3, 3), contacts.efc_address, strict=True):
        if first < 0:
            continue
        across = [data.geom_xmat[geom].reshape(3, 3)[:, 2] for geom in geoms if flat[geom]]
        if across and abs(frame[0] @ across[0]) < FACE:
            stiffness[first : first + 3] = SOFT
        belt = made.belt_of[geoms].max()
        if belt >= 0:
            jacobian[first + 1 : first + 3, BELTS + belt] = frame[1:] @ np.cross(left, -frame[0])
    return jacobian, stiffness


def test_contacts_act_on_belts_but_not_at_edges_of_flat_parts():
    left_out = 0
    for simulation in thrown():
        data, made = simulation.data, simulation._made
        jacobian, stiffness = coupled(simulation)
        contacts, turned = data.contact, (data.geom_xmat, data.xmat[1, 1::3])
        changed = data.efc_J, data.efc_D, data.efc_R
        couple_belts(
            contacts.geom, contacts.frame, contacts.efc_address, simulation._flat, made.belt_of, *turned, *changed
        )
        np.testing.assert_allclose(data.efc_J.reshape(jacobian.shape), jacobian, atol=1e-12)
        np.testing.assert_array_equal(data.efc_D, stiffness)
        np.testing.assert_allclose(data.efc_R[data.efc_D == SOFT], 1.0 / SOFT)
        left_out += (data.efc_D == SOFT).sum()
    assert left_out > 100


def test_motors_get_their_targets_and_limits():
    *_, simulation = thrown(1)
    model, data, made = simulation.model, simulation.data, simulation._made
    axles, thrust, top = CLIMBER.axles, CLIMBER.thrust, CLIMBER.belts.speed
    motors = np.array([axles.gain, axles.speed, thrust, top])
    state = data.qpos, data.qvel, data.ctrl, model.actuator_forcerange
    command_motors(TARGETS, motors, *state, made.belt_geoms, made.belt_of, made.per_speed, model.geom_surfacevel)
    wanted = np.clip(axles.gain * (TARGETS[:2] - data.qpos[AXLES : AXLES + 2]), -axles.speed, axles.speed)
    np.testing.assert_allclose(data.ctrl, [*wanted, 0.5, 0.3, 0.5, 0.3])
    belts = data.qvel[BELTS : BELTS + 4]
    np.testing.assert_allclose(model.actuator_forcerange[2:, 0], -thrust * (1.0 + belts / top))
    np.testing.assert_allclose(model.actuator_forcerange[2:, 1], thrust * (1.0 - belts / top))
    speeds = belts[made.belt_of[made.belt_geoms]]
    np.testing.assert_allclose(model.geom_surfacevel[made.belt_geoms], made.per_speed * speeds[:, None])
    assert np.abs(belts).max() > 0.1
