"""The floor of the container: bodies that push particles aside stand on it, also a quadruped on its feet."""

import math

import mujoco
import numpy as np
import pytest

from particle_scenes import compiled
from quadruped import FOOT, LEGS, quadruped
from sandlot.physics.particles import Particles
from sandlot.physics.particles.floor import STIFFNESS

GRAVITY = 9.81
SHAPES = {
    "sphere": ('type="sphere" size="0.02"', 0.02),
    "capsule": ('type="capsule" size="0.02 0.05" euler="0 90 0"', 0.02),
    "ellipsoid": ('type="ellipsoid" size="0.06 0.05 0.02"', 0.02),
    "cylinder": ('type="cylinder" size="0.04 0.02"', 0.02),
    "wheel": ('type="cylinder" size="0.04 0.02" euler="90 0 0"', 0.04),
    "box": ('type="box" size="0.05 0.04 0.02"', 0.02),
}


def few(thickness=0.04, side=0.1, radius=0.01):
    """A small bed, as stacks."""
    count = round(side / 0.02)
    return Particles(np.full((count, count), thickness), 0.02, radius=radius)


def free_body(geom, height, mass, x=0.0, timestep=0.002, joint="free"):
    model = mujoco.MjModel.from_xml_string(f"""
    <mujoco>
      <option timestep="{timestep}"/>
      <worldbody>
        <body pos="{x} 0 {height}"><joint type="{joint}" axis="0 0 1"/><geom {geom} mass="{mass}"/></body>
      </worldbody>
    </mujoco>""")
    return model, mujoco.MjData(model)


def one_particle():
    """A container that is empty but for a particle in a corner."""
    heights = np.zeros((50, 50))
    heights[0, 0] = 0.02
    return Particles(heights, 0.02, radius=0.01)


@compiled
@pytest.mark.parametrize("timestep", [0.0005, 0.002, 0.005])
@pytest.mark.parametrize("mass", [0.05, 1.0, 50.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_body_comes_to_rest_on_the_floor(shape, mass, timestep):
    """Of any shape and mass, with any step; it sinks in by its weight over the stiffness."""
    geom, low = SHAPES[shape]
    model, data = free_body(geom, low + 0.01, mass, timestep=timestep)
    particles = one_particle().attach(model)
    particles.step(data, round(2.0 / timestep))
    depth = GRAVITY * timestep**2 / STIFFNESS
    assert data.qpos[2] == pytest.approx(low - depth, abs=0.1 * depth + 5e-5)
    assert abs(data.qvel[2]) < 1e-4
    assert abs(data.body(1).xmat[8]) > 0.999 or shape == "capsule", "it has not fallen over"
    assert particles.forces[0, 2] == pytest.approx(GRAVITY * mass, rel=1e-3)


@compiled
def test_there_is_no_floor_beyond_the_walls():
    model, data = free_body(SHAPES["sphere"][0], 0.03, 1.0, x=0.2)
    few().attach(model).step(data, 500)
    assert data.qpos[2] < -1.0


@compiled
@pytest.mark.parametrize("foot", [0.015, 0.02])
@pytest.mark.parametrize("radius", [0.005, 0.01])
def test_a_point_foot_does_not_fall_through_the_bed(foot, radius):
    """At 30 N, a quarter of the weight of a quadruped; all particles stay in the container."""
    model, data = free_body(f'type="sphere" size="{foot}"', 0.08 + foot, 30.0 / GRAVITY, joint="slide")
    particles = few(0.06, 0.16, radius).settle(np.random.default_rng(0)).attach(model)
    particles.step(data, 1500)
    assert data.geom(0).xpos[2] > foot - 0.001
    assert abs(data.qvel[0]) < 0.01
    assert particles.position[:, 2].min() >= 0.5 * radius


@compiled
def test_a_quadruped_stands_on_particles():
    """For 5 s: it neither sinks through nor falls over, and its feet are at rest."""
    particles = Particles(np.full((28, 36), 0.06), 0.02, radius=0.01).settle(np.random.default_rng(0))
    model, data = quadruped(float(np.median(particles.surface((280, 360)))))
    feet = [f"{leg} foot" for leg in LEGS]
    particles.attach(model, geoms=feet)
    assert model.body_mass.sum() == pytest.approx(12.0, abs=0.1)
    particles.step(data, 2000)
    heights, forces = [], []
    for _ in range(10):
        before = np.array([data.geom(foot).xpos for foot in feet])
        particles.step(data, 50)
        now = np.array([data.geom(foot).xpos for foot in feet])
        heights.append(now[:, 2] - FOOT)
        forces.append(particles.forces[:, 2].sum())
        assert np.abs(now - before).max() < 1e-4, "less than 1 mm/s"
    assert np.min(heights) > -1e-3
    assert np.mean(forces) == pytest.approx(GRAVITY * model.body_mass.sum(), rel=0.02)
    assert data.body("trunk").xmat[8] > math.cos(math.radians(15.0)), "upright"
