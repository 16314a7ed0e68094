"""Swimmers in the fast model: gaits known in advance, threads, copies, and balls that are marks."""

import numpy as np
import pytest

from sandlot.physics.swimming import rows
from sandlot.robots.fast_swimmers import FastSwimmers
from swimming_bodies import GAIT, SNAKE, swim


def test_following_gaits_equals_single_commands():
    waves = GAIT.waves(SNAKE.joints)[None, :, :, None]
    swum = FastSwimmers(SNAKE, 1)
    swum.swim([0.0], waves, 2.0)
    commanded = swim(FastSwimmers(SNAKE, 1))
    assert swum.time == commanded.time == 2.0
    assert swum.state == pytest.approx(commanded.state, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_threads_do_not_change_results(threads):
    rng = np.random.default_rng(0)
    gaits = np.stack([GAIT.waves(7)] * 5, axis=-1)[None] * rng.uniform(0.5, 1.0, (1, 1, 1, 5))
    alone, together = FastSwimmers(SNAKE, 5), FastSwimmers(SNAKE, 5, threads=threads)
    alone.swim([0.0], gaits, 1.0)
    together.swim([0.0], gaits, 1.0)
    assert np.array_equal(alone.state, together.state)


def test_copies_start_at_time_zero():
    first = swim(FastSwimmers(SNAKE, 2))
    others = first.copies(3)
    assert first.heat[0] > 0.0
    assert np.array([others.time, others.heat, others.drive]).tolist() == [[0.0] * 3] * 3
    assert others.centre == pytest.approx(np.tile(first.centre[0], (3, 1)))
    assert others.rates == pytest.approx(np.tile(first.rates[0], (3, 1)))


def test_balls_are_marks_that_stay():
    places = np.array([[0.9, 0.0], [5.0, 5.0]])
    fast = swim(FastSwimmers(SNAKE, 2, (0.5, 0.0), places), 1.0)
    assert np.array_equal(fast.balls, places)
    assert not fast.solid_balls


def test_a_body_faster_than_its_motors_counts_as_exploded():
    swimmers = FastSwimmers(SNAKE, 1)
    swimmers.state[rows.velocities(SNAKE.joints)] = SNAKE.max_rate * SNAKE.arclength
    assert swimmers.exploded.all()
