"""Particles in clouds and beds, and bodies to put on them, for the tests."""

import mujoco
import numpy as np
import pytest
from numba import config

from sandlot.physics.attachment import Track
from sandlot.physics.particles import Particles
from sandlot.physics.particles.state import new_state

SLOW = bool(config.DISABLE_JIT)
"""Without compilation a step takes a thousand times as long: tests use fewer particles and steps."""
compiled = pytest.mark.skipif(SLOW, reason="too much without compilation")
RADIUS = 0.15
WIDE = (-50.0, 50.0, -50.0, 50.0)
"""A container whose walls are out of reach [m]."""


def some(position, box=WIDE, velocity=0.0, spin=0.0, **options):
    """Particles at given positions, instead of stacks."""
    particles = Particles(np.full((2, 2), 2.0 * RADIUS), 2.0 * RADIUS, **options)
    position = np.asarray(position, float)
    particles.state = new_state(position, RADIUS, box, float(position[:, 2].max()) + 1.0)
    particles.velocity[:], particles.spin[:] = velocity, spin
    return particles


def cloud(seed, count, box=(-0.65, 0.65, -0.65, 0.65), low=0.1, speed=1.0, **options):
    """Particles at random velocities that overlap each other, walls and floor a little."""
    rng = np.random.default_rng(seed)
    places = []
    while len(places) < count:
        place = rng.uniform([-0.55, -0.55, low], [0.55, 0.55, low + 1.1])
        if all(np.linalg.norm(place - other) > 1.8 * RADIUS for other in places):
            places.append(place)
    velocity, spin = rng.normal(0.0, speed, (2, count, 3))
    return some(places, box, velocity, 5.0 * spin, **options)


def bed(columns=12, layers=4, seed=0, **options):
    """Settled ground."""
    particles = Particles(np.full((columns, columns), layers * 2.0 * RADIUS), 2.0 * RADIUS, **options)
    return particles.settle(np.random.default_rng(seed), max_time=4.0)


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
    """Whether the centres of all particles are within the container."""
    x, y, z = particles.position.T
    low_x, high_x, low_y, high_y = particles.state.box
    assert all(np.isfinite(each).all() for each in (particles.position, particles.velocity, particles.spin))
    assert particles.state.counters["crowded"] == 0
    return x.min() > low_x and x.max() < high_x and y.min() > low_y and y.max() < high_y and z.min() > 0.0
