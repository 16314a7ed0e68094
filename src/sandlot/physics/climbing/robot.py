"""The record by which the compiled functions know a climbing robot, and the columns of its state.

Angles here are counter-clockwise with x to the right and z up: of the body, which is minus its pitch, and of each pair
of tracks, which is the body's plus the axle's.
"""

from typing import Any

import numpy as np

from sandlot.typing import Array

ROBOT = np.dtype(
    [
        ("half_span", np.float64),  # from the middle of the body to an axle, along the body [m]
        ("hip", np.float64),  # height of the axles above the middle of the body [m]
        ("wheel", np.float64),  # radius of the big wheel at the axle [m]
        ("tip", np.float64),  # radius of the small wheel [m]
        ("reach", np.float64),  # distance of the two [m]
        ("straight", np.float64),  # half the length of the body's straight part [m]
        ("radius", np.float64),  # half the height of the body [m]
        ("body_mass", np.float64),  # [kg]
        ("front_mass", np.float64),  # of the pair of tracks [kg]
        ("back_mass", np.float64),
        ("body_inertia", np.float64),  # about its mass centre [kg*m^2]
        ("front_inertia", np.float64),  # of the pair
        ("back_inertia", np.float64),
        ("load_x", np.float64),  # mass centre of the body from its middle, along the body [m]
        ("load_z", np.float64),  # and across it [m]
        ("grip", np.float64),  # friction coefficient of the belts
        ("belly_grip", np.float64),  # and of the body
        ("axle_speed", np.float64),  # [rad/s]
        ("axle_torque", np.float64),  # [N*m]
        ("axle_gain", np.float64),  # [1/s]
        ("axle_damping", np.float64),  # [N*m*s/rad]
        ("axle_inertia", np.float64),  # [kg*m^2]
        ("thrust", np.float64),  # of the belts of a pair at standstill [N]
        ("belt_speed", np.float64),  # without load [m/s]
        ("belt_damping", np.float64),  # of a pair [N*s/m]
        ("belt_inertia", np.float64),  # of a pair [kg]
    ]
)
"""Size, masses, friction and motors of one robot. `sandlot.robots.fast_climbers.record` makes one."""

X, Z, BODY, FRONT, BACK = range(5)
"""Columns of the state: mass centre [m], angles of body, front and rear tracks [rad]."""
SPEED = 5
"""First of the columns of the rates of these five, in the same order."""
BELTS = 10
"""Speeds of the front and the rear belts [m/s]."""
MOTORS = 12
"""At the last step: torques of the front and the rear axle [N*m], thrusts of the front and the rear belts [N]."""
PENETRATION = 16
"""Deepest penetration since the last command [m]."""
MIDDLE = 17
"""Middle of the body x and z [m], and its velocity [m/s]: follow from the other columns."""
MISSED = 21
"""Contacts since the start for which there was no room; if there are any, the simulation is invalid."""
COLUMNS = 22
CONTACTS = 128
"""At most so many contacts of one robot in one step; a robot on a comb of 1 cm, the shortest blocks, has fewer."""


def mass_centres(robots: Any, angles: Array) -> Array:
    """Mass centres from the middles of the bodies: (n, 2) [m].

    Args:
        robots: (n,) records of `ROBOT`.
        angles: (3, n) of body, front and rear tracks [rad].
    """
    mb, mf, mk, arm = robots.body_mass, robots.front_mass, robots.back_mass, 0.5 * robots.reach
    along, across = mb * robots.load_x + (mf - mk) * robots.half_span, mb * robots.load_z + (mf + mk) * robots.hip
    (c0, c1, c2), (s0, s1, s2) = np.cos(angles), np.sin(angles)
    moments = c0 * along - s0 * across + arm * (mf * c1 - mk * c2), s0 * along + c0 * across + arm * (mf * s1 - mk * s2)
    return np.stack(moments, axis=1) / (mb + mf + mk)[:, None]
