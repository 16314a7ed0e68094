"""Sleeping particles: which of them wake, and that sleep changes little."""

import numpy as np
import pytest

from particle_scenes import RADIUS, box_model, compiled, inside, some, tracked_model


@compiled
def test_settled_ground_sleeps_inside_its_container(settled):
    assert settled.awake == 0
    assert settled.asleep.all()
    assert inside(settled)
    assert settled.state.counters["awake"] == 0
    surface = settled.surface((60, 60))[10:50, 10:50].mean()
    assert 0.75 * 1.2 < surface < 1.2, "columns fell into each other"


@compiled
def test_sleeping_particles_do_not_change(ground):
    before = ground.snapshot()
    ground.fall(1.0)
    for name, array in ground.snapshot().items():
        assert name == "counters" or np.array_equal(array, before[name])


@compiled
def test_particles_that_lose_their_support_move(ground):
    """A corner of the ground is dug out."""
    x, y, _ = ground.position.T
    kept = ground.position[~((x > 0.5) & (y > 0.5))]
    fresh = some(kept, box=tuple(ground.state.box))
    fresh.fall(1.0)
    moved = np.linalg.norm(fresh.position - kept, axis=1) > RADIUS
    assert moved.sum() > 5


@compiled
def test_particles_that_are_pushed_wake(ground):
    middle = np.argmin(np.linalg.norm(ground.position - [0.0, 0.0, 0.5], axis=1))
    ground.velocity[middle] = [0.0, 0.0, 3.0]
    ground.wake([middle])
    assert ground.awake == 1
    ground.fall(0.02)
    assert 4 < ground.awake < 100


@compiled
def test_an_approaching_body_wakes_only_the_particles_around_it(ground):
    model, data = box_model(place=(0.0, 0.0, 1.45), size=(0.3, 0.3, 0.3))
    ground.attach(model, ["box"])
    ground.step(data, 40)
    awake = ground.position[~ground.asleep]
    assert len(awake) > 0
    assert np.abs(awake[:, :2]).max() < 1.2
    assert ground.awake < 0.5 * len(ground.position)


@compiled
def test_sleep_changes_little(ground):
    """Particles that would have moved are awake."""
    begin, places = ground.snapshot(), []
    for delay in (ground.law.sleep_delay, 1e9):
        model, data, tracks = tracked_model(place=(-0.6, 0.0, 1.6))
        ground.restore(begin)
        ground.law = ground.law._replace(sleep_delay=delay)
        if delay > 1.0:
            ground.wake(np.arange(len(ground.position)))
        ground.attach(model, ["hull"], tracks)
        data.ctrl[:] = 2.0
        ground.step(data, 1000)
        places.append(data.qpos[:3].copy())
    assert places[0] == pytest.approx(places[1], abs=0.08)
