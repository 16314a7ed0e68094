"""What a learned climber observes and how it commands its robot: one definition for training and for use.

It sees 14 numbers of the robot itself, and the highest ground in 32 cells of 5 cm, from 0.6 m behind the middle of the
body to 1 m ahead. It turns its axles by rates: the target of an axle moves on from command to command and stays near
the axle's angle. The distance between the two shows the load.
"""

import numpy as np

from sandlot.robots.climber import AXLE_LIMIT
from sandlot.typing import Array

CELL = 0.05
"""Length of a cell of the profile [m]."""
BEHIND, AHEAD = 12, 20
"""Cells behind and ahead of the middle of the body."""
PITCH, FORWARD, UP, PITCH_RATE, AXLES = 1, 2, 4, 6, 8
"""Columns of the world's observation that the learned climber uses; from `AXLES` on two."""
STATES = 14
"""Numbers of the robot itself."""
FEATURES = STATES + BEHIND + AHEAD
ACTIONS = 3
"""Rate of the front and of the rear axle, speed of the belts: each from -1 to 1."""
TURN = 0.1
"""Largest change of an axle's target in one command [rad]."""
LEAD = 0.15
"""Largest distance of an axle's target from its angle [rad]."""
SPEED = 0.6
"""Largest speed of the belts [m/s]."""
DEEP = 1.0
"""Heights of the profile are limited to this, either way [m]."""


def sense(states: Array, targets: Array, speeds: Array, profile: Array) -> Array:
    """Make the inputs of the net.

    Args:
        states: (n, 10) as the world observes them.
        targets: (n, 2) present targets of the axles [rad].
        speeds: (n,) present belt command, from -1 to 1.
        profile: (n, 32) highest ground in each cell above the middle of the body [m].

    Returns:
        (n, FEATURES) each of the order of 1.
    """
    pitch, axles = states[:, PITCH], states[:, AXLES : AXLES + 2]
    made = np.empty((len(states), FEATURES))
    made[:, 0], made[:, 1], made[:, 2] = np.sin(pitch), np.cos(pitch), 0.3 * states[:, PITCH_RATE]
    made[:, 3], made[:, 4] = 2.0 * states[:, FORWARD], 2.0 * states[:, UP]
    made[:, 5:7], made[:, 7:9], made[:, 9:11] = np.sin(axles), np.cos(axles), axles / np.pi
    made[:, 11:13], made[:, 13] = 5.0 * (targets - axles), speeds
    np.clip(made, -3.0, 3.0, out=made)
    made[:, STATES:] = 2.0 * np.clip(profile, -DEEP, DEEP)
    return made


def steer(actions: Array, axles: Array, targets: Array) -> tuple[Array, Array]:
    """Move the targets of the axles on.

    Args:
        actions: (n, 3) outputs of the net; limited to -1 and 1.
        axles: (n, 2) angles of the axles [rad].
        targets: (n, 2) present targets of the axles [rad].

    Returns:
        The new targets (n, 2) [rad], and the belt command (n,), from -1 to 1.
    """
    limited = np.clip(actions, -1.0, 1.0)
    moved = np.clip(targets + TURN * limited[:, :2], axles - LEAD, axles + LEAD)
    return np.clip(moved, -AXLE_LIMIT, AXLE_LIMIT), limited[:, 2]
