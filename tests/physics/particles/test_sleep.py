"""Particles that sleep: who wakes, who does not, and that it changes little."""

import numpy as np
import pytest

from particle_scenes import RADIUS, box_model, compiled, copied, inside, some, tracked_model
from sandlot.physics.particles.state import AWAKE, State


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
