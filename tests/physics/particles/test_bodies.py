"""Bodies and belts on particles: forces are equal and opposite, and no particle is lost."""

import mujoco
import numpy as np
import pytest

from particle_scenes import RADIUS, SLOW, WIDE, box_model, cloud, compiled, inside, some, tracked_model


@compiled
def test_a_box_at_rest_is_carried(ground):
    model, data = box_model()
    ground.attach(model, ["box"])
    ground.step(data, 2500)
    place, forces = data.qpos.copy(), []
    for _ in range(200):
        ground.step(data)
        forces.append(ground.forces[0, :3])
    weight = 200.0 * 9.81
    assert np.mean(forces, axis=0) == pytest.approx([0.0, 0.0, weight], abs=0.02 * weight)
    assert np.std(forces, axis=0).max() < 0.02 * weight
    assert data.qpos == pytest.approx(place, abs=2e-4)
    assert np.all(data.xfrc_applied == 0.0), "only the user sets them"


@compiled
def test_forces_of_the_user_are_kept(ground):
    model, data = box_model(place=(0.0, 0.0, 5.0), mass=10.0)
    ground.attach(model, ["box"])
    data.xfrc_applied[1, :3] = [5.0, 0.0, 98.1]
    ground.step(data, 100)
    assert data.qvel[:3] == pytest.approx([0.05, 0.0, 0.0], abs=1e-9)
    assert data.xfrc_applied[1, 0] == 5.0


@pytest.mark.parametrize("timestep", [0.001, 0.002])
def test_momentum_of_a_body_and_particles_is_conserved(timestep):
    """Without gravity."""
    particles = cloud(3, 4 if SLOW else 20, WIDE, 5.0, gravity=0.0)
    model, data = box_model(place=(0.1, 0.05, 4.6), timestep=timestep)
    model.opt.gravity[:] = 0.0
    data.qvel[:] = [0.0, 0.0, 1.0, 0.3, -0.2, 0.5]
    particles.attach(model, ["box"])
    law = particles.law

    def momenta():
        mujoco.mj_forward(model, data)
        mujoco.mj_subtreeVel(model, data)
        linear = law.mass * particles.velocity.sum(axis=0) + 200.0 * data.subtree_linvel[1]
        x, v = particles.position, particles.velocity
        angular = (law.mass * np.cross(x, v) + law.inertia * particles.spin).sum(axis=0)
        angular = angular + data.subtree_angmom[1] + 200.0 * np.cross(data.subtree_com[1], data.subtree_linvel[1])
        return linear, angular

    before = momenta()
    speed = data.qvel[2]
    particles.step(data, 4 if SLOW else 100)
    after = momenta()
    assert SLOW or abs(data.qvel[2] - speed) > 0.05, "they collided"
    assert after[0] == pytest.approx(before[0], abs=1e-8)
    assert after[1] == pytest.approx(before[1], abs=1.0), "MuJoCo's integrator turns bodies to first order"


@compiled
def test_particles_ride_on_a_turntable():
    """Its centre of mass is far from its axle, and both are far from the origin."""
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><option timestep="0.001"/><worldbody><body pos="3 2 0.5"><joint axis="0 0 1"/>
        <geom name="disc" type="cylinder" size="2 0.1" mass="1000"/>
        <geom type="sphere" size="0.1" pos="1.5 0 -0.3" mass="3000" contype="0" conaffinity="0"/>
        </body></worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    data.qvel[0] = 1.0
    particles = some([[4.0, 2.0, 0.75]], friction=0.9, rolling=0.5).attach(model, ["disc"])
    particles.step(data, 1000)
    x, y, z = particles.position[0] - [3.0, 2.0, 0.0]
    assert np.hypot(x, y) == pytest.approx(1.0, abs=0.05)
    assert z == pytest.approx(0.75, abs=0.01)
    assert particles.velocity[0, :2] == pytest.approx(data.qvel[0] * np.array([-y, x]), abs=0.02)
    assert particles.spin[0, 2] == pytest.approx(data.qvel[0], abs=0.1)


@pytest.mark.parametrize("kind", ["sphere", "capsule", "ellipsoid", "cylinder", "box"])
def test_every_kind_of_geom_rests_on_particles(kind):
    """On three of them, which push back."""
    triangle = 0.35 * np.array([[1.0, 0.0], [-0.5, 0.8], [-0.5, -0.8]])
    particles = some(np.column_stack([triangle, [RADIUS] * 3]))
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="0.001"/><worldbody><body pos="0 0 0.8"><freejoint/>
        <geom name="it" type="{kind}" size="0.5 0.45 0.5" mass="100"/></body></worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    particles.attach(model, ["it"])
    data.qpos[2] -= 0.8 - 0.15 - {"box": 0.5, "cylinder": 0.45, "capsule": 0.8}.get(kind, 0.42)
    pushes = []
    for _ in range(10 if SLOW else 150):
        particles.step(data)
        pushes.append(particles.forces[0, 2])
    assert max(pushes) > 0.0
    assert np.all(np.isfinite(data.qpos))


@compiled
def test_a_belt_drives(ground):
    model, data, tracks = tracked_model(place=(-0.6, 0.0, 1.6))
    ground.attach(model, ["hull"], tracks)
    ground.step(data, 500)
    start = data.qpos[0]
    data.ctrl[:] = 1.0 / 0.3
    ground.step(data, 1000)
    assert 0.4 < data.qpos[0] - start < 1.1
    data.ctrl[:] = [-2.0, 2.0]
    yaw = np.arctan2(*data.body("hull").xmat[[3, 0]])
    ground.step(data, 1000)
    assert np.arctan2(*data.body("hull").xmat[[3, 0]]) > yaw + 0.1, "turns left"
    assert inside(ground)


def test_a_slipping_belt_loads_its_drive():
    """With friction along the belt times the radius of its pulleys, at most the coefficient times the weight."""
    model, data, tracks = tracked_model(place=(0.0, 0.0, 0.59))
    wide = np.array([[x, y] for x in (-0.4, 0.0, 0.4) for y in (-0.5, 0.5)])
    particles = some(np.column_stack([wide, [RADIUS] * 6]), friction=0.3, rolling=10.0)
    particles.attach(model, [], tracks)
    data.qvel[6:] = 20.0
    particles.step(data, 3)
    loads = particles._bodies.loads
    assert np.all(loads["force"][:, 0] > 0.0), "forward"
    assert loads["drive_torque"] == pytest.approx(-0.3 * loads["force"][:, 0], rel=1e-2)
    assert loads["force"][:, 0] == pytest.approx(0.3 * loads["force"][:, 2], rel=2e-2)


@compiled
def test_a_run_in_two_parts_with_its_state_in_a_file_is_the_same(ground, tmp_path):
    def drive(particles, parts):
        model, data, tracks = tracked_model()
        particles.attach(model, ["hull"], tracks)
        data.ctrl[:] = [3.0, 4.0]
        for steps in parts:
            particles.step(data, steps)
            np.savez(tmp_path / "state.npz", **particles.snapshot())
            particles.restore(begin)
            with np.load(tmp_path / "state.npz") as saved:
                particles.restore(saved)
        return data.qpos.copy(), particles.snapshot()

    begin = ground.snapshot()
    place, state = drive(ground, [300])
    ground.restore(begin)
    again, other = drive(ground, [120, 180])
    assert np.array_equal(place, again)
    assert state.keys() == other.keys()
    for name, array in state.items():
        assert np.array_equal(array, other[name]), name


@compiled
@pytest.mark.parametrize("speed", [1.0, 30.0])
def test_no_particle_is_lost_when_a_body_ploughs_through(ground, speed):
    """Also if the body is unrealistically fast and heavy."""
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><option timestep="0.001"/><worldbody><body pos="0 0 0.35"><joint type="slide" axis="1 0 0"/>
        <joint type="slide" axis="0 1 0"/><joint axis="0 0 1"/>
        <geom name="blade" type="box" size="0.1 0.7 0.3" mass="10000"/></body></worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    ground.attach(model, ["blade"])
    for step in range(600):
        angle = speed * step * 0.001
        data.qpos[:2] = 1.2 * np.cos(angle), 1.2 * np.sin(angle)
        data.qvel[:] = -1.2 * speed * np.sin(angle), 1.2 * speed * np.cos(angle), 0.0
        ground.step(data)
    assert inside(ground)


@pytest.mark.slow
@compiled
def test_no_particle_is_lost_in_ten_thousand_steps(ground):
    model, data, tracks = tracked_model()
    ground.attach(model, ["hull"], tracks)
    count = len(ground.position)
    for turn in range(100):
        data.ctrl[:] = [(4.0, 4.0), (-4.0, 4.0), (-4.0, -4.0), (4.0, -4.0)][turn % 4]
        ground.step(data, 100)
        assert inside(ground)
    assert len(ground.position) == count
    assert sorted(set(ground.state.awake[: ground.awake])) == sorted(np.flatnonzero(~ground.asleep))
