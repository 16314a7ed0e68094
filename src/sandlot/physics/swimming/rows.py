"""The state of bodies in the reduced model: an array (rows, bodies) with one named row per quantity.

After the `FIXED` rows come three blocks of one row per joint: `joint_angles`, `joint_rates` and `last_commands`.
"""

import numpy as np

from sandlot.typing import Array

(
    X,  # of the centre of mass [m]
    Y,
    YAW,  # of the head link [rad]
    COS,  # cosine and sine of the yaw
    SIN,
    MOMENTUM_X,  # [kg*m/s]
    MOMENTUM_Y,
    ANGULAR_MOMENTUM,  # about the centre of mass [kg*m^2/s]
    SURGE,  # velocity of the centre of mass along the head link, at the last mid-step [m/s]
    SWAY,  # the same, to the left of the head link [m/s]
    YAW_RATE,  # of the head link, at the last mid-step [rad/s]
    LAST_YAW_RATE,  # at the mid-step before that [rad/s]
    HEAT,  # energy lost to the water since the start [J]
    DRIVE,  # sum over commands of the share of the wanted acceleration that the motors could give
) = range(14)
FIXED = 14
"""Number of rows before those of the joints."""


def joint_angles(joints: int) -> slice:
    """Rows of the joint angles [rad]."""
    return slice(FIXED, FIXED + joints)


def joint_rates(joints: int) -> slice:
    """Rows of the joint rates [rad/s]."""
    return slice(FIXED + joints, FIXED + 2 * joints)


def last_commands(joints: int) -> slice:
    """Rows of the joint angles that the last command reached for, within the limits of the joints [rad]."""
    return slice(FIXED + 2 * joints, FIXED + 3 * joints)


def rest(joints: int, bodies: int) -> Array:
    """State of straight bodies at rest at the origin with yaw 0: (rows, bodies)."""
    state = np.zeros((FIXED + 3 * joints, bodies))
    state[COS] = 1.0
    return state
