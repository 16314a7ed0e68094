"""Particles: as their plain twin says, and as physics demands."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config

from sandlot.errors import SandlotError
from sandlot.physics.attached import Track
from sandlot.physics.particle_state import AWAKE, CROWDED, DEGREE, State, new_state
from sandlot.physics.particles import Particles
from twins.particles import TwinParticles

SLOW = bool(config.DISABLE_JIT)
"""Without compilation a step takes a thousand times as long: fewer of everything."""

compiled = pytest.mark.skipif(SLOW, reason="too much without compilation")
seeds = st.integers(0, 2**32 - 1)
RADIUS = 0.15
WIDE = (-50.0, 50.0, -50.0, 50.0)
"""A container whose walls nobody reaches [m]."""


def some(position, box=WIDE, velocity=0.0, spin=0.0, **options):
    """Particles at these places, instead of stacks."""
    particles = Particles(np.full((2, 2), 2.0 * RADIUS), 2.0 * RADIUS, **options)
    position = np.asarray(position, float)
    particles.state = new_state(position, RADIUS, np.array(box), float(position[:, 2].max()) + 1.0)
    particles.velocity[:], particles.spin[:] = velocity, spin
    return particles


def cloud(seed, count, box=(-0.65, 0.65, -0.65, 0.65), low=0.1, speed=1.0, **options):
    """Particles that overlap a little, and walls and floor, too, on their ways through each other."""
    rng = np.random.default_rng(seed)
    places = []
    while len(places) < count:
        place = rng.uniform([-0.55, -0.55, low], [0.55, 0.55, low + 1.1])
        if all(np.linalg.norm(place - other) > 1.8 * RADIUS for other in places):
            places.append(place)
    velocity, spin = rng.normal(0.0, speed, (2, count, 3))
    return some(places, box, velocity, 5.0 * spin, **options)


def copied(state):
    return State(*(each.copy() for each in state))


def bed(columns=12, layers=4, seed=0, **options):
    """Settled ground."""
    particles = Particles(np.full((columns, columns), layers * 2.0 * RADIUS), 2.0 * RADIUS, **options)
    return particles.settle(np.random.default_rng(seed), most=4.0)


@pytest.fixture(scope="module")
def settled():
    """Ground that all tests that change it must copy: see `ground`."""
    return bed()


@pytest.fixture
def ground(settled):
    particles = Particles(np.full((12, 12), 4 * 2.0 * RADIUS), 2.0 * RADIUS)
    particles.state = copied(settled.state)
    return particles


def box_model(size=(0.5, 0.5, 0.3), mass=200.0, place=(0.0, 0.0, 1.6), more="", timestep=0.001):
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="{timestep}" integrator="implicitfast"/><worldbody>
        <body name="box" pos="{place[0]} {place[1]} {place[2]}"><freejoint/>
        <geom name="box" type="box" size="{size[0]} {size[1]} {size[2]}" mass="{mass}"/>{more}</body>
        </worldbody></mujoco>"""
    )
    return model, mujoco.MjData(model)


def tracked_model(place=(0.0, 0.0, 1.7)):
    wheels = "".join(
        f"""<body pos="0 {side * 0.5} 0"><joint name="{name}" axis="0 1 0" armature="2"/>
        <geom type="sphere" size="0.05" mass="1" contype="0" conaffinity="0"/></body>"""
        for name, side in (("left", 1), ("right", -1))
    )
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="0.001" integrator="implicitfast"/><worldbody>
        <body name="hull" pos="{place[0]} {place[1]} {place[2]}"><freejoint/>
        <geom name="hull" type="box" size="0.6 0.3 0.15" mass="200"/>{wheels}</body></worldbody>
        <actuator><velocity joint="left" kv="300"/><velocity joint="right" kv="300"/></actuator></mujoco>"""
    )
    hull = model.body("hull").id
    tracks = [
        Track(hull, np.array([0.0, side * 0.5, 0.0]), np.eye(3), 0.5, 0.3, 0.15, int(model.joint(name).dofadr[0]))
        for name, side in (("left", 1), ("right", -1))
    ]
    return model, mujoco.MjData(model), tracks


def inside(particles):
    """Whether all are where they belong: within the container, none deeper in a wall than its radius."""
    x, y, z = particles.position.T
    low_x, high_x, low_y, high_y = particles.state.box
    assert np.all(np.isfinite(particles.state.motion))
    assert particles.state.tally[CROWDED] == 0
    return x.min() > low_x and x.max() < high_x and y.min() > low_y and y.max() < high_y and z.min() > 0.0


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_the_kernels_agree_with_their_twin(seed, friction):
    count, steps = (15, 30) if SLOW else (20, 150)
    particles = cloud(seed, count, friction=friction, rolling=0.2)
    state, dt = particles.state, particles.law.longest_step
    twin = TwinParticles(particles.law, state.box, particles.position, particles.velocity, particles.spin)
    for _ in range(steps):
        particles.fall(dt)
        twin.step(dt)
    assert twin.slips > 0
    assert twin.rolls > 0
    assert particles.position == pytest.approx(twin.position, abs=1e-7)
    assert particles.velocity == pytest.approx(twin.velocity, abs=1e-5)
    assert particles.spin == pytest.approx(twin.spin, abs=1e-4)


@settings(max_examples=2 if SLOW else 20)
@given(seeds)
def test_free_particles_keep_their_momentum(seed):
    particles = cloud(seed, 4 if SLOW else 25, WIDE, 20.0, gravity=0.0)
    law = particles.law

    def momenta():
        x, v, w = particles.position, particles.velocity, particles.spin
        return np.append(law.mass * v.sum(axis=0), (law.mass * np.cross(x, v) + law.inertia * w).sum(axis=0))

    before = momenta()
    particles.fall(0.005 if SLOW else 0.2)
    assert momenta() == pytest.approx(before, abs=1e-8)


def test_two_that_collide_go_apart_slower():
    particles = some([[0.0, 0.0, 5.0], [0.31, 0.0, 5.0]], velocity=[[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]], gravity=0.0)
    particles.fall(0.05)
    assert particles.velocity[:, 0] == pytest.approx([-0.4, 0.4], abs=0.03)


@settings(max_examples=2 if SLOW else 10)
@given(seeds, st.floats(0.0, 1.0))
def test_energy_never_grows(seed, friction):
    particles = cloud(seed, 4 if SLOW else 25, friction=friction)
    particles.fall(particles.law.longest_step)
    energies = [particles.energy]
    for _ in range(4 if SLOW else 400):
        particles.fall(particles.law.longest_step)
        energies.append(particles.energy)
    # What is left is the error of steps of finite length: a tenth of it with steps half as long.
    assert np.all(energies <= np.minimum.accumulate(energies) + 2e-3 * energies[0])
    assert energies[-1] < energies[0]


def test_mass_and_inertia_are_those_of_a_sphere():
    law = Particles(np.ones((2, 2)), 0.3, radius=0.1, density=2000.0, inertia=1.0).law
    assert law.mass == pytest.approx(4.0 / 3.0 * np.pi * 0.1**3 * 2000.0)
    assert law.inertia == pytest.approx(law.mass * 0.1**2)


def test_there_is_one_stack_in_each_square_of_their_width():
    heights = np.array([[0.0, 0.3, 0.6], [0.9, 0.6, 0.2]])
    particles = Particles(heights, 0.3)
    assert len(particles.position) == 9
    x, y, z = particles.position.T
    assert sorted(set(x.round(6))) == pytest.approx([-0.3, 0.0, 0.3])
    assert np.sum((y < 0.0) & (x > 0.1)) == 2
    assert np.sum((y > 0.0) & (x < -0.1)) == 3
    assert sorted(set(z.round(6))) == pytest.approx([0.15, 0.45, 0.75])
    finer = Particles(np.kron(heights, np.ones((3, 3))), 0.1, corner=(0.0, 0.0))
    assert finer.position == pytest.approx(particles.position + np.array([0.45, 0.3, 0.0]))


def test_no_two_overlap_at_the_start():
    particles = Particles(np.random.default_rng(0).uniform(0.0, 1.5, (7, 5)), 0.35)
    apart = np.linalg.norm(particles.position[:, None] - particles.position, axis=2)
    assert np.min(apart + np.eye(len(apart))) >= 2.0 * RADIUS - 1e-9
    assert inside(particles)


def test_heights_are_those_of_the_spheres():
    rng = np.random.default_rng(0)
    particles = some(rng.uniform([-1.0, -1.0, 0.15], [1.0, 1.0, 1.0], (40, 3)), box=(-1.0, 1.0, -0.8, 1.2))
    heights = particles.heights((20, 25))
    x, y = np.meshgrid(-1.0 + 0.08 * (np.arange(25) + 0.5), -0.8 + 0.1 * (np.arange(20) + 0.5))
    square = RADIUS**2 - (x[..., None] - particles.position[:, 0]) ** 2 - (y[..., None] - particles.position[:, 1]) ** 2
    tops = np.where(square >= 0.0, particles.position[:, 2] + np.sqrt(np.maximum(square, 0.0)), 0.0)
    assert heights == pytest.approx(tops.max(axis=2))
    assert (heights == 0.0).any()


def test_stacks_that_nobody_touches_stand_and_sleep():
    particles = Particles(np.full((2, 2), 0.6), 0.3)
    before = particles.position.copy()
    particles.fall(0.02 if SLOW else 1.0)
    assert np.abs(particles.position - before).max() < 0.02 * RADIUS
    assert SLOW or particles.awake == 0


def test_each_neighbour_knows_its_counterpart():
    particles = cloud(4, 6 if SLOW else 30)
    for _ in range(3):
        particles.fall(0.005 if SLOW else 0.1)
        state, near = particles.state, set()
        for i in range(len(particles.position)):
            for s in range(state.links[i, DEGREE]):
                j, there = state.neighbour[i, s]
                if j >= 0:
                    assert tuple(state.neighbour[j, there]) == (i, s)
                    near.add((i, j))
        apart = np.linalg.norm(particles.position[:, None] - particles.position, axis=2)
        touching = {(i, j) for i, j in np.argwhere(apart < 2.0 * RADIUS) if i != j}
        assert touching <= near


@compiled
def test_settled_ground_sleeps_inside_its_container(settled):
    assert settled.awake == 0
    assert settled.asleep.all()
    assert inside(settled)
    assert settled.state.tally[AWAKE] == 0
    surface = settled.heights((60, 60))[10:50, 10:50].mean()
    assert 0.75 * 1.2 < surface < 1.2, "columns fell into each other"


@compiled
def test_nothing_happens_to_those_who_sleep(ground):
    before = copied(ground.state)
    ground.fall(1.0)
    for name, one, other in zip(State._fields, before, ground.state, strict=True):
        assert name == "tally" or np.array_equal(one, other)


@compiled
def test_who_loses_what_held_it_wakes(ground):
    """A corner of the ground is taken away, as if dug out."""
    x, y, _ = ground.position.T
    kept = ground.position[~((x > 0.5) & (y > 0.5))]
    fresh = some(kept, box=tuple(ground.state.box))
    fresh.fall(1.0)
    moved = np.linalg.norm(fresh.position - kept, axis=1) > RADIUS
    assert moved.sum() > 5


@compiled
def test_who_is_pushed_wakes(ground):
    middle = np.argmin(np.linalg.norm(ground.position - [0.0, 0.0, 0.5], axis=1))
    ground.velocity[middle] = [0.0, 0.0, 3.0]
    ground.wake([middle])
    assert ground.awake == 1
    ground.fall(0.02)
    assert 4 < ground.awake < 100


@compiled
def test_a_body_that_nears_wakes_only_those_around_it(ground):
    model, data = box_model(place=(0.0, 0.0, 1.45), size=(0.3, 0.3, 0.3))
    ground.attach(model, ["box"])
    ground.step(data, 40)
    awake = ground.position[~ground.asleep]
    assert len(awake) > 0
    assert np.abs(awake[:, :2]).max() < 1.2
    assert ground.awake < 0.5 * len(ground.position)


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
    assert np.all(data.xfrc_applied == 0.0), "left to the user"


@compiled
def test_forces_of_the_user_are_kept(ground):
    model, data = box_model(place=(0.0, 0.0, 5.0), mass=10.0)
    ground.attach(model, ["box"])
    data.xfrc_applied[1, :3] = [5.0, 0.0, 98.1]
    ground.step(data, 100)
    assert data.qvel[:3] == pytest.approx([0.05, 0.0, 0.0], abs=1e-9)
    assert data.xfrc_applied[1, 0] == 5.0


@pytest.mark.parametrize("timestep", [0.001, 0.002])
def test_what_a_body_gets_particles_give(timestep):
    """Momentum of a body and particles together, without gravity."""
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
    assert SLOW or abs(data.qvel[2] - speed) > 0.05, "they met"
    assert after[0] == pytest.approx(before[0], abs=1e-8)
    assert after[1] == pytest.approx(before[1], abs=1.0), "MuJoCo's integrator turns bodies to first order"


@compiled
def test_particles_ride_on_a_turntable():
    """Whose centre of mass is far from its axle, and both far from the origin."""
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
    """On three of them, which hold still at first; then their weight is felt."""
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


def test_a_belt_that_slips_pulls_on_its_drive():
    """Friction along the belt times the radius of its pulleys: up to the coefficient times the weight."""
    model, data, tracks = tracked_model(place=(0.0, 0.0, 0.59))
    wide = np.array([[x, y] for x in (-0.4, 0.0, 0.4) for y in (-0.5, 0.5)])
    particles = some(np.column_stack([wide, [RADIUS] * 6]), friction=0.3, rolling=10.0)
    particles.attach(model, [], tracks)
    data.qvel[6:] = 20.0
    particles.step(data, 3)
    wrench = particles._shapes.wrench
    assert np.all(wrench[:, 0] > 0.0), "forward"
    assert wrench[:, 6] == pytest.approx(-0.3 * wrench[:, 0], rel=1e-2)
    assert wrench[:, 0] == pytest.approx(0.3 * wrench[:, 2], rel=2e-2)


@compiled
def test_the_same_run_twice_in_one_part_or_two_is_the_same(ground, tmp_path):
    def drive(particles, parts):
        model, data, tracks = tracked_model()
        particles.attach(model, ["hull"], tracks)
        data.ctrl[:] = [3.0, 4.0]
        for steps in parts:
            particles.step(data, steps)
            np.savez(tmp_path / "state.npz", **particles.state._asdict())
            with np.load(tmp_path / "state.npz") as kept:
                particles.state = State(**kept)
        return data.qpos.copy(), copied(particles.state)

    begin = copied(ground.state)
    place, state = drive(ground, [300])
    ground.state = begin
    again, other = drive(ground, [120, 180])
    assert np.array_equal(place, again)
    for one, two in zip(state, other, strict=True):
        assert np.array_equal(one, two)


@compiled
def test_sleep_changes_little(ground):
    """Who would have moved is awake."""
    begin, places = copied(ground.state), []
    for patience in (ground.law.patience, 1e9):
        model, data, tracks = tracked_model(place=(-0.6, 0.0, 1.6))
        ground.state, ground.law = copied(begin), ground.law._replace(patience=patience)
        if patience > 1.0:
            ground.wake(np.arange(len(ground.position)))
        ground.attach(model, ["hull"], tracks)
        data.ctrl[:] = 2.0
        ground.step(data, 1000)
        places.append(data.qpos[:3].copy())
    assert places[0] == pytest.approx(places[1], abs=0.08)


@compiled
@pytest.mark.parametrize("speed", [1.0, 30.0])
def test_nobody_is_lost_when_a_body_ploughs_through(ground, speed):
    """Also when it is absurdly fast and heavy."""
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
def test_nobody_is_lost_in_ten_thousand_steps(ground):
    model, data, tracks = tracked_model()
    ground.attach(model, ["hull"], tracks)
    count = len(ground.position)
    for turn in range(100):
        data.ctrl[:] = [(4.0, 4.0), (-4.0, 4.0), (-4.0, -4.0), (4.0, -4.0)][turn % 4]
        ground.step(data, 100)
        assert inside(ground)
    assert len(ground.position) == count
    assert sorted(set(ground.state.awake[: ground.awake])) == sorted(np.flatnonzero(~ground.asleep))


def repose(friction, length=36, width=14, layers=14):
    """Angle of the slope that is left of a cliff cut into settled ground [deg]."""
    particles = Particles(np.full((width, length), layers * 2.0 * RADIUS), 2.0 * RADIUS, friction=friction)
    particles.settle(np.random.default_rng(0), most=6.0)
    x, _, z = particles.position.T
    low, high = particles.state.box[:2]
    kept = (z < 4.0 * RADIUS) | (z < 1.75 * (low + 0.62 * (high - low) - x))
    particles.state = new_state(particles.position[kept], RADIUS, particles.state.box, 8.0)
    for _ in range(100):
        particles.fall(0.1)
        if particles.awake == 0:
            break
    assert particles.awake == 0
    assert inside(particles)
    profile = particles.heights((5 * width, 5 * length)).mean(axis=0)
    foot, top = profile[-20:].mean(), profile[:10].mean()
    share = (profile - foot) / (top - foot)
    slope = (share > 0.2) & (share < 0.8)
    along = np.linspace(low, high, len(profile))
    return np.degrees(np.arctan(-np.polyfit(along[slope], profile[slope], 1)[0]))


@pytest.mark.slow
@compiled
def test_the_angle_of_repose_grows_with_friction():
    angles = [repose(friction) for friction in (0.2, 0.5, 0.9)]
    assert angles == sorted(angles)
    assert angles[0] > 20.0
    assert angles[-1] < 40.0


@compiled
@pytest.mark.parametrize(("width", "count"), [(18.0, 30_642), (36.0, 112_570), (72.0, 490_379)])
def test_terrains_as_large_as_the_source_fit(width, count):
    """Table 5.2 of Cook (2017): heights up to 5 m, 2.35 to 2.55 m on average."""
    pixels = round(width / 0.3)
    wave = np.cos(np.linspace(0.0, 4.0 * np.pi, pixels, endpoint=False))
    heights = 0.3 * count / pixels**2 * (1.0 + np.outer(wave, wave))
    particles = Particles(heights, 0.3)
    particles.fall(0.002)
    assert len(particles.position) == pytest.approx(count, rel=0.01)
    assert inside(particles)
    assert sum(each.nbytes for each in particles.state) < 1e9


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"heights": np.zeros(3)}, "two axes"),
        ({"heights": np.full((2, 2), np.nan)}, "two axes"),
        ({"heights": np.zeros((4, 4))}, "not one particle"),
        ({"radius": 0.0}, "radius=0"),
        ({"spacing": -1.0}, "spacing=-1"),
        ({"friction": -0.1}, "friction=-0.1"),
        ({"heights": [[1.0, 2.0], [3.0]]}, "a grid of finite numbers with two axes$"),
        ({"heights": [["high", "low"]]}, "a grid of finite numbers with two axes$"),
        ({"corner": (0.0, 1.0, 2.0)}, r"corner=\(0.0, 1.0, 2.0\) is not possible; allowed: two finite numbers"),
        ({"corner": (0.0, np.nan)}, "two finite numbers"),
        ({"corner": "xy"}, "corner='xy' is not possible"),
        (
            {"radius": 1e-4},
            r"^radius=0.0001 is too small: about 1.8e\+11 particles would take .* GB; allowed: at least",
        ),
        ({"radius": 1e-300}, "about inf particles"),
        ({"spacing": 1e9}, "radius=0.15 is too small"),
        ({"heights": np.zeros((4, 4)), "radius": 1e-4}, "radius=0.0001 is too small"),
    ],
)
def test_what_cannot_be_is_refused(changes, words):
    with pytest.raises(SandlotError, match=words) as error:
        Particles(**{"heights": np.ones((4, 4)), "spacing": 0.3, **changes})
    assert "\n" not in str(error.value)


def test_as_many_as_counted_before_they_are_made():
    with pytest.raises(SandlotError, match="too small") as error:
        Particles(np.ones((4, 4)), 0.3, 1e-4)
    least = float(str(error.value).split("at least ")[1].split(",")[0])
    assert 1.44 / (2.0 * least) ** 3 * 1e3 == pytest.approx(2e10, rel=0.1)


def test_models_that_cannot_be_attached_are_refused():
    particles = Particles(np.ones((2, 2)), 0.3)
    model, _ = box_model()
    with pytest.raises(SandlotError, match="no geom 'ball'; allowed: box"):
        particles.attach(model, ["ball"])
    plane = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/></worldbody></mujoco>'
    )
    with pytest.raises(SandlotError, match=r"^geom floor is of a kind that particles do not know; allowed: sphere"):
        particles.attach(plane, [0])
    with pytest.raises(SandlotError, match="nothing of this model can touch"):
        particles.attach(plane)
    with pytest.raises(SandlotError, match="'box' is one name"):
        particles.attach(model, "box")
    hull, _, tracks = tracked_model()
    with pytest.raises(SandlotError, match="track with dof=99"):
        particles.attach(hull, [], [replace(tracks[0], dof=99)])
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    with pytest.raises(SandlotError, match="RK4"):
        particles.attach(model, ["box"])


def test_all_solid_geoms_of_moving_bodies_are_attached_unless_said_otherwise():
    looks = '<geom type="sphere" size="0.9" mass="0" contype="0" conaffinity="0"/>'
    model, data = box_model(more=looks + '<geom type="sphere" size="0.1" pos="0 0 -0.3" mass="1"/>')
    particles = Particles(np.ones((2, 2)), 0.3).attach(model)
    particles.step(data)
    assert particles.forces.shape == (2, 6)


def test_only_the_model_that_is_attached_can_be_stepped():
    particles, (model, _), (_, other) = Particles(np.ones((2, 2)), 0.3), box_model(), box_model()
    with pytest.raises(SandlotError, match=r"^these particles are under no model; use attach first"):
        particles.step(other)
    with pytest.raises(SandlotError, match="another model than the one that these particles are under"):
        particles.attach(model).step(other)
