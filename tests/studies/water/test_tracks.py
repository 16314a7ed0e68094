"""Tracks of a body, and NaN if the simulation exploded."""

import numpy as np

from sandlot.control.snake.gaits import STRAIGHT, Schedule
from sandlot.robots.snake import Snake
from sandlot.studies.water import tracks
from sandlot.studies.water.tracks import at, follow


def test_a_track_starts_at_zero_and_has_a_sample_for_every_tenth_of_a_second():
    track = follow("fast", Snake(links=3), Schedule((0.0,), (STRAIGHT,)), 1.0)
    assert track.centre.shape == (11, 2)
    assert track.heading.shape == track.forward.shape == track.distance.shape == (11,)
    assert not track.centre.any()
    assert at(1.0) == 10


def test_the_track_of_an_exploded_simulation_is_nan(monkeypatch):
    class Broken(tracks.FastSwimmers):
        @property
        def exploded(self):
            return np.array([True])

    monkeypatch.setattr(tracks, "FastSwimmers", Broken)
    track = follow("fast", Snake(links=3), Schedule((0.0,), (STRAIGHT,)), 0.2)
    assert np.isnan(track.distance).all()
    assert np.isnan([track.forward, track.heading]).all()
    assert np.isnan(track.drive)
