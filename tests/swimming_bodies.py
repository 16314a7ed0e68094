"""Swimming bodies at both fidelities, for the tests of swimmers."""

import numpy as np
import pytest

from sandlot.control.snake.gaits import Gait
from sandlot.physics.swimming import rows
from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.robots.reference_swimmers import ReferenceSwimmers
from sandlot.robots.snake import Snake

SNAKE = Snake(links=8, mass=150.0)
GAIT = Gait(amplitude=0.4, frequency=1.0, phase=0.8, veer=0.02)
BOTH = pytest.mark.parametrize("cls", [FastSwimmers, ReferenceSwimmers])
QUANTITIES = ("centre", "velocity", "head", "angles", "rates", "drive", "angular_momentum")


def swim(swimmers, seconds=2.0, gait=GAIT):
    snake = swimmers.snake
    for k in range(round(seconds / snake.interval)):
        targets = gait.targets((k + 1) * snake.interval, snake.joints)
        swimmers.command(np.tile(targets, (swimmers.count, 1)))
    return swimmers


def explode(swimmers, which=1):
    """Give one of them a velocity that no motor can cause."""
    if isinstance(swimmers, FastSwimmers):
        swimmers.state[rows.velocities(swimmers.snake.joints), which] = np.inf
    else:
        swimmers._velocity[which, 3] = 1e12
    return swimmers
