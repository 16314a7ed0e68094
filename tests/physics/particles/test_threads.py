"""Particles on several cores: nobody gets in another's way, and it does not matter how many there are."""

import threading

import mujoco
import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandlot.physics.particles import threads
from sandlot.physics.particles.particles import Particles, _no_bodies, _no_shapes
from sandlot.physics.particles.state import ASLEEP, DEGREE, SKIN, STEP

SLOW = bool(numba.config.DISABLE_JIT)
"""Without compilation a step takes a thousand times as long: fewer of everything."""
RADIUS = 0.15
ALWAYS, NEVER = 0, 10**9
"""How many are many."""


@pytest.fixture
def split(monkeypatch):
    """Say how many are many, and how many threads there are; those that worked are told."""
    seen = set()
    work = threads.collide_part

    def spy(*arguments):
        seen.add(threading.get_ident())
        work(*arguments)

    monkeypatch.setattr(threads, "collide_part", spy)

    def choose(many, threads=None):
        seen.clear()
        monkeypatch.setattr(threads, "MANY", many)
        if threads is not None:
            monkeypatch.setattr(threads, "get_num_threads", lambda: threads)
        return seen

    return choose


def commotion(rows=6, columns=30, layers=4, speed=1.0):
    """Stacks that begin to fall into each other."""
    shape = (2, 10) if SLOW else (rows, columns)
    particles = Particles(np.full(shape, layers * 2.0 * RADIUS), 2.0 * RADIUS)
    rng = np.random.default_rng(0)
    particles.velocity[:] = rng.normal(0.0, speed, particles.velocity.shape)
    particles.spin[:] = rng.normal(0.0, 5.0, particles.spin.shape)
    return particles


def steps(particles, count):
    """Let particles go on by so many steps."""
    particles.fall((2 if SLOW else count) * particles.law.longest_step)


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one.state, other.state, strict=True))


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


def test_slabs_are_as_good_as_one_after_the_other(split):
    """But for the order in which forces are added up."""
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
    assert one.state.tally[STEP] == other.state.tally[STEP]
    assert SLOW or not np.array_equal(one.velocity, other.velocity), "not the same way"


@pytest.mark.parametrize("shape", [(3, 40), (40, 3), (1, 1)])
def test_no_two_slabs_of_a_turn_write_to_the_same_particle(split, shape):
    """Whatever they do in 80 steps, and whoever sleeps."""
    split(NEVER)
    particles = Particles(np.full((min(shape[0], 8), min(shape[1], 8)) if SLOW else shape, 0.9), 0.3)
    particles.velocity[:] = np.random.default_rng(0).normal(0.0, 2.0, particles.velocity.shape)
    steps(particles, 80)
    law, state, n = particles.law, particles.state, len(particles.position)
    state.links[::7, ASLEEP] = 1
    state.awake[: n - len(range(0, n, 7))] = np.flatnonzero(state.links[:, ASLEEP] == 0)
    state.tally[0] = n - len(range(0, n, 7))
    width = threads.SLAB * (2.0 + SKIN) * law.radius
    slabs = int(np.ceil(max(shape) * 0.3 / width))
    who, starts = np.full(n, -1), np.full(slabs + 1, -1)
    threads.prepare(law, state, _no_shapes(), _no_bodies(), 1.0, law.longest_step, width, who, starts)
    awake = particles.awake
    assert starts[0] == 0
    assert starts[-1] == awake
    assert sorted(who[:awake]) == sorted(state.awake[:awake])
    assert SLOW or np.count_nonzero(np.diff(starts)) >= slabs - 1, "the last may be a sliver"
    evens = (slabs + 1) // 2
    for turn in (range(evens), range(evens, slabs)):
        written = []
        for slab in turn:
            reach = set()
            for i in who[starts[slab] : starts[slab + 1]]:
                near = state.neighbour[i, : state.links[i, DEGREE], 0]
                reach |= {int(i), *(int(j) for j in near if j >= 0 and state.links[j, ASLEEP] == 0)}
            written.extend(reach)
        assert len(written) == len(set(written))


@given(st.lists(st.integers(0, 50), min_size=1, max_size=30), st.integers(1, 9))
def test_parts_are_whole_slabs_of_about_the_same_size(counts, threads):
    starts = [3, *(3 + np.cumsum(counts)).tolist()]
    pieces = threads.parts(starts, threads)
    assert [i for first, end in pieces for i in range(first, end)] == list(range(3, starts[-1]))
    assert len(pieces) <= threads
    assert {end for piece in pieces for end in piece} <= set(starts)
    assert all(end - first <= sum(counts) / threads + max(counts) for first, end in pieces)


@pytest.mark.skipif(SLOW, reason="too much without compilation")
def test_many_become_few_while_time_goes_by(split):
    """As they do when ground settles: in one part or two, that is the same."""
    seen, runs = split(400, 2), []
    for count in (1, 2):
        particles = commotion(speed=0.1)
        awake = []
        for _ in range(count):
            particles.fall(1200 / count * particles.law.longest_step)
            awake.append(particles.awake)
        assert seen
        assert awake[-1] < 400 < len(particles.position)
        assert particles.state.tally[STEP] == 1200
        runs.append(particles)
    assert same(*runs)


def test_a_body_feels_the_same(split):
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


def test_numba_is_asked_how_many_threads_there_may_be(split):
    seen, allowed = split(ALWAYS), numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        steps(commotion(), 5)
    finally:
        numba.set_num_threads(allowed)
    assert seen == {threading.get_ident()}
