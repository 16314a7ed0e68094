"""Particles among themselves: they agree with a plain twin, and conserve what physics conserves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from particle_scenes import RADIUS, SLOW, WIDE, cloud, compiled, inside, some
from sandlot.physics.particles import Particles
from sandlot.physics.particles.state import new_state
from twins.particles import TwinParticles

seeds = st.integers(0, 2**32 - 1)


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


def test_colliding_particles_separate_with_less_speed():
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
    # The tolerance is the error of the finite steps: a tenth of it with steps half as long.
    assert np.all(energies <= np.minimum.accumulate(energies) + 2e-3 * energies[0])
    assert energies[-1] < energies[0]


def test_mass_and_inertia_are_those_of_a_sphere():
    law = Particles(np.ones((2, 2)), 0.3, radius=0.1, density=2000.0, inertia=1.0).law
    assert law.mass == pytest.approx(4.0 / 3.0 * np.pi * 0.1**3 * 2000.0)
    assert law.inertia == pytest.approx(law.mass * 0.1**2)


def test_each_square_of_a_particles_width_holds_one_stack():
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


def test_no_particles_overlap_at_the_start():
    particles = Particles(np.random.default_rng(0).uniform(0.0, 1.5, (7, 5)), 0.35)
    apart = np.linalg.norm(particles.position[:, None] - particles.position, axis=2)
    assert np.min(apart + np.eye(len(apart))) >= 2.0 * RADIUS - 1e-9
    assert inside(particles)


def test_the_surface_has_the_shape_of_the_map_unless_given():
    heights = np.full((4, 3), 0.6)
    particles = Particles(heights, 0.3)
    assert particles.surface() == pytest.approx(heights)
    assert particles.surface((8, 6)).shape == (8, 6)


def test_the_surface_is_the_top_of_the_spheres():
    rng = np.random.default_rng(0)
    particles = some(rng.uniform([-1.0, -1.0, 0.15], [1.0, 1.0, 1.0], (40, 3)), box=(-1.0, 1.0, -0.8, 1.2))
    heights = particles.surface((20, 25))
    x, y = np.meshgrid(-1.0 + 0.08 * (np.arange(25) + 0.5), -0.8 + 0.1 * (np.arange(20) + 0.5))
    square = RADIUS**2 - (x[..., None] - particles.position[:, 0]) ** 2 - (y[..., None] - particles.position[:, 1]) ** 2
    tops = np.where(square >= 0.0, particles.position[:, 2] + np.sqrt(np.maximum(square, 0.0)), 0.0)
    assert heights == pytest.approx(tops.max(axis=2))
    assert (heights == 0.0).any()


def test_undisturbed_stacks_stand_and_sleep():
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
            for s in range(state.links[i]["neighbours"]):
                j, there = state.neighbours[i, s]
                if j >= 0:
                    assert tuple(state.neighbours[j, there]) == (i, s)
                    near.add((i, j))
        apart = np.linalg.norm(particles.position[:, None] - particles.position, axis=2)
        touching = {(i, j) for i, j in np.argwhere(apart < 2.0 * RADIUS) if i != j}
        assert touching <= near


def repose(friction, length=36, width=14, layers=14):
    """Angle of the slope that is left of a cliff cut into settled ground [deg]."""
    particles = Particles(np.full((width, length), layers * 2.0 * RADIUS), 2.0 * RADIUS, friction=friction)
    particles.settle(np.random.default_rng(0), max_time=6.0)
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
    profile = particles.surface((5 * width, 5 * length)).mean(axis=0)
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
    assert sum(each.nbytes for each in particles.snapshot().values()) < 1e9
