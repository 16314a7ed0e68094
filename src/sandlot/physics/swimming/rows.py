"""The state of bodies in the fast model: an array (rows, bodies) with one named row per quantity.

After the `FIXED` rows come blocks of rows: joint angles, velocities of the links, and modes of the motors. Positions
and velocities are relative to the water.
"""

import numpy as np

from sandlot.typing import Array

(
    X,  # of the centre of mass [m]
    Y,
    YAW,  # of the head link [rad]
    COS,  # cosine and sine of the yaw
    SIN,
    ANGULAR_MOMENTUM,  # about the centre of mass [kg*m^2/s]
    HEAT,  # energy lost to the water since the start [J]
    DRIVE,  # sum over commands of the share of motors below their torque limit
) = range(8)
FIXED = 8
"""Number of rows before the blocks."""


def joint_angles(joints: int) -> slice:
    """Rows of the joint angles, from the head on [rad]."""
    return slice(FIXED, FIXED + joints)


def velocities(joints: int) -> slice:
    """Rows of the velocities of the links' centres: x of all links, then y [m/s], then their yaw rates [rad/s]."""
    return slice(FIXED + joints, FIXED + joints + 3 * (joints + 1))


def modes(joints: int) -> slice:
    """Rows of the motors' modes in the last step, then in the step before it (see `sweeps`)."""
    start = velocities(joints).stop
    return slice(start, start + 2 * joints)


def rest(joints: int, bodies: int) -> Array:
    """State of straight bodies at rest at the origin with yaw 0: (rows, bodies)."""
    state = np.zeros((modes(joints).stop, bodies))
    state[COS] = 1.0
    return state
