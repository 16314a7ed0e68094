"""Tracks of a body, and NaN if the simulation exploded."""

import numpy as np

from sandlot.control.snake.gaits import STRAIGHT, Schedule
from sandlot.robots import swimmer_models
from sandlot.robots.snake import Snake
from sandlot.studies.water.tracks import at, track


def test_a_track_starts_at_zero_and_has_a_sample_for_every_tenth_of_a_second():
    motion = track("fast", Snake(links=3), Schedule((0.0,), (STRAIGHT,)), 1.0)
    assert motion.centre.shape == (11, 2)
    assert motion.heading.shape == motion.forward.shape == motion.distance.shape == (11,)
    assert not motion.centre.any()
    assert at(1.0) == 10


def test_the_track_of_an_exploded_simulation_is_nan(monkeypatch):
    class Broken(swimmer_models.FastSwimmers):
        @property
        def exploded(self):
            return np.array([True])

    monkeypatch.setattr(swimmer_models, "FastSwimmers", Broken)
    motion = track("fast", Snake(links=3), Schedule((0.0,), (STRAIGHT,)), 0.2)
    assert np.isnan(motion.distance).all()
    assert np.isnan([motion.forward, motion.heading]).all()
    assert np.isnan(motion.drive)
