"""Which model swims at which fidelity, and what both are given."""

import numpy as np
import pytest

from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.robots.reference_swimmers import Ball, ReferenceSwimmers
from sandlot.robots.snake import Snake
from sandlot.robots.swimmer_models import make_swimmers

SNAKE = Snake(links=4)


@pytest.mark.parametrize(("fidelity", "model"), [("fast", FastSwimmers), ("reference", ReferenceSwimmers)])
def test_each_fidelity_has_its_model(fidelity, model):
    balls = np.array([[3.0, 4.0], [5.0, 6.0]])
    made = make_swimmers(fidelity, SNAKE, 2, (0.5, 0.0), balls, Ball(mass=2.0))
    assert type(made) is model
    assert (made.snake, made.count) == (SNAKE, 2)
    assert made.current.tolist() == [0.5, 0.0]
    assert made.balls.tolist() == balls.tolist()


@pytest.mark.parametrize("fidelity", ["fast", "reference"])
def test_the_heading_is_the_mean_yaw_of_the_links(fidelity):
    swimmers = make_swimmers(fidelity, SNAKE, 2)
    assert swimmers.heading.tolist() == [0.0, 0.0]
    swimmers.command(np.array([[0.1, 0.0, -0.2], [0.0, 0.3, 0.0]]))
    for body, heading in enumerate(swimmers.heading):
        yaws = swimmers.head[body] - np.cumsum([0.0, *swimmers.angles[body]])
        assert heading == pytest.approx(np.mean(yaws))
    assert swimmers.heading[0] != swimmers.heading[1]
