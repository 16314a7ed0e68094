"""What compiled functions know of swimming bodies that MuJoCo simulates."""

from typing import NamedTuple

import numpy as np

from sandlot.physics.swimming.body import SWIMMER
from sandlot.typing import Array

SIMULATION = np.dtype(
    [
        ("body", SWIMMER),
        ("ball_mass", np.float64),  # [kg]; 0 without a ball
        ("ball_inertia", np.float64),  # about its centre [kg*m^2]
        ("ball_drag", np.float64),  # drag force over speed [N*s/m]
        ("current_x", np.float64),  # velocity of the water [m/s]
        ("current_y", np.float64),
        ("step", np.float64),  # of the simulation [s]
    ]
)
"""The same for all bodies of a batch.

Their coordinates are those of `links`, then x, y [m] and yaw [rad] of the ball if there is one, then anything else.
"""

MOMENTUM_X, MOMENTUM_Y, ANGULAR_MOMENTUM, CENTRE_X, CENTRE_Y, YAW = range(6)
"""Columns of `Water.kept`: momentum of body and ball that a step has to leave [kg*m/s], the angular one about the
centre of the body before the step [kg*m^2/s], that centre [m], and the yaw of the head link then [rad]."""


class Water(NamedTuple):
    """What is kept of each body from the drag before a step to the momentum after it, and until the next step.

    The last of the links is the ball.

    Attributes:
        drag: (bodies, links + 1, 2) force of the water on each link during the step [N].
        velocity: (bodies, links + 1, 2) of the centre of each link before the step [m/s].
        others: (bodies, links + 1, 2) all other forces on each link during the last step [N].
        kept: (bodies, 6) momentum and place of the body.
    """

    drag: Array
    velocity: Array
    others: Array
    kept: Array


def water(bodies: int, links: int) -> Water:
    """Of bodies on which no force acts."""
    drag, velocity, others = np.zeros((3, bodies, links + 1, 2))
    return Water(drag, velocity, others, np.zeros((bodies, 6)))
