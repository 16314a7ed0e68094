"""Particles on several cores: no two threads write to the same particle, and results do not depend on their number."""

import threading

import mujoco
import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandlot.physics.particles import threads
from sandlot.physics.particles.bodies import no_bodies
from sandlot.physics.particles.particles import Particles
from sandlot.physics.particles.state import NEIGHBOUR_MARGIN

SLOW = bool(numba.config.DISABLE_JIT)
"""Without compilation a step takes a thousand times as long: tests use fewer particles and steps."""
RADIUS = 0.15
ALWAYS, NEVER = 0, 10**9
"""Numbers of particles awake from which on several threads are used."""


@pytest.fixture
def split(monkeypatch):
    """Set from how many particles on how many threads are used; returns the set of threads that worked."""
    seen = set()
    work = threads.collide_part

    def spy(*arguments):
        seen.add(threading.get_ident())
        work(*arguments)

    monkeypatch.setattr(threads, "collide_part", spy)

    def choose(many, count=None):
        seen.clear()
        monkeypatch.setattr(threads, "THREADED_FROM", many)
        if count is not None:
            monkeypatch.setattr(threads, "get_num_threads", lambda: count)
        return seen

    return choose


def commotion(rows=6, columns=30, layers=4, speed=1.0):
    """Stacks that start to collapse."""
    shape = (2, 10) if SLOW else (rows, columns)
    particles = Particles(np.full(shape, layers * 2.0 * RADIUS), 2.0 * RADIUS)
    rng = np.random.default_rng(0)
    particles.velocity[:] = rng.normal(0.0, speed, particles.velocity.shape)
    particles.spin[:] = rng.normal(0.0, 5.0, particles.spin.shape)
    return particles


def steps(particles, count):
    """Simulate so many steps."""
    particles.fall((2 if SLOW else count) * particles.law.longest_step)


def same(one, other):
    first, second = one.snapshot(), other.snapshot()
    return all(np.array_equal(first[name], second[name]) for name in first)


def test_the_number_of_threads_changes_nothing(split):
    runs = []
    for number in (1, 2, 5):
        seen = split(ALWAYS, number)
        runs.append(commotion())
        steps(runs[-1], 200)
        assert len(seen) >= min(number, 2)
        assert number > 1 or seen == {threading.get_ident()}
    assert same(runs[0], runs[1])
    assert same(runs[0], runs[2])


def test_slabs_give_the_same_as_one_thread_but_for_rounding(split):
    """Forces are added in another order."""
    runs = []
    for many in (ALWAYS, NEVER):
        seen = split(many, 2)
        runs.append(commotion())
        steps(runs[-1], 60)
        assert bool(seen) == (many == ALWAYS)
    one, other = runs
    assert one.position == pytest.approx(other.position, abs=1e-8)
    assert one.velocity == pytest.approx(other.velocity, abs=1e-6)
    assert one.spin == pytest.approx(other.spin, abs=1e-5)
    assert one.state.counters["step"] == other.state.counters["step"]
    assert SLOW or not np.array_equal(one.velocity, other.velocity), "the order of additions differs"


@pytest.mark.parametrize("shape", [(3, 40), (40, 3), (1, 1)])
def test_no_two_slabs_of_a_pass_write_to_the_same_particle(split, shape):
    """After 80 steps, with some particles asleep."""
    split(NEVER)
    particles = Particles(np.full((min(shape[0], 8), min(shape[1], 8)) if SLOW else shape, 0.9), 0.3)
    particles.velocity[:] = np.random.default_rng(0).normal(0.0, 2.0, particles.velocity.shape)
    steps(particles, 80)
    law, state, n = particles.law, particles.state, len(particles.position)
    state.links["asleep"][::7] = 1
    state.awake[: n - len(range(0, n, 7))] = np.flatnonzero(state.links["asleep"] == 0)
    state.counters["awake"] = n - len(range(0, n, 7))
    width = threads.SLAB_WIDTH * (2.0 + NEIGHBOUR_MARGIN) * law.radius
    slabs = int(np.ceil(max(shape) * 0.3 / width))
    who, starts = np.full(n, -1), np.full(slabs + 1, -1)
    threads.prepare(law, state, no_bodies(), 1.0, law.longest_step, width, who, starts)
    awake = particles.awake
    assert starts[0] == 0
    assert starts[-1] == awake
    assert sorted(who[:awake]) == sorted(state.awake[:awake])
    assert SLOW or np.count_nonzero(np.diff(starts)) >= slabs - 1, "the last may be narrow"
    evens = (slabs + 1) // 2
    for turn in (range(evens), range(evens, slabs)):
        written = []
        for slab in turn:
            reach = set()
            for i in who[starts[slab] : starts[slab + 1]]:
                near = state.neighbours["other"][i, : state.links[i]["neighbours"]]
                reach |= {int(i), *(int(j) for j in near if j >= 0 and state.links[j]["asleep"] == 0)}
            written.extend(reach)
        assert len(written) == len(set(written))


@given(st.lists(st.integers(0, 50), min_size=1, max_size=30), st.integers(1, 9))
def test_parts_are_whole_slabs_of_about_the_same_size(counts, number):
    starts = [3, *(3 + np.cumsum(counts)).tolist()]
    pieces = threads.parts(starts, number)
    assert [i for first, end in pieces for i in range(first, end)] == list(range(3, starts[-1]))
    assert len(pieces) <= number
    assert {end for piece in pieces for end in piece} <= set(starts)
    assert all(end - first <= sum(counts) / number + max(counts) for first, end in pieces)


@pytest.mark.skipif(SLOW, reason="too much without compilation")
def test_a_run_goes_from_many_threads_to_one_as_particles_fall_asleep(split):
    """As when ground settles; in one call or two, the result is the same."""
    seen, runs = split(400, 2), []
    for count in (1, 2):
        particles = commotion(speed=0.1)
        awake = []
        for _ in range(count):
            particles.fall(1200 / count * particles.law.longest_step)
            awake.append(particles.awake)
        assert seen
        assert awake[-1] < 400 < len(particles.position)
        assert particles.state.counters["step"] == 1200
        runs.append(particles)
    assert same(*runs)


def test_forces_on_a_body_do_not_depend_on_threads(split):
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><option timestep="0.01"/><worldbody><body pos="0 0 1.3"><freejoint/>
        <geom name="box" type="box" size="0.4 0.3 0.1" mass="100"/></body></worldbody></mujoco>"""
    )
    found = []
    for many in (ALWAYS, NEVER):
        split(many, 2)
        particles, data = commotion(speed=0.2).attach(model, ["box"]), mujoco.MjData(model)
        particles.step(data, 1 if SLOW else 8)
        found.append((particles.forces, data.qpos.copy(), data.qvel.copy()))
        assert particles.forces[0, 2] > 0.0
    for one, other in zip(*found, strict=True):
        assert one == pytest.approx(other, rel=1e-6, abs=1e-6)


def test_numba_limits_the_number_of_threads(split):
    seen, allowed = split(ALWAYS), numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        steps(commotion(), 5)
    finally:
        numba.set_num_threads(allowed)
    assert seen == {threading.get_ident()}
