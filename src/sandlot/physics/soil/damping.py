"""Soil damps all motion of a body on it: slow motion, and what gained energy that the soil had not stored."""

import numpy as np

from sandlot.kernels import kernel
from sandlot.physics.soil.motion import Motion

REST_DAMPING, REST_DAMPING_SPEED = 3.0, 0.1
"""Rate at which soil damps the motion of a body [1/s] that is slower than this [m/s]."""
MAX_REPAID = 0.1
"""Maximum fraction of its momentum that a body loses in a step to repay energy."""


@kernel(error_model="numpy", allocates=False)
def squared_speed(shape: np.void, motion: Motion) -> float:
    """Square of the speed at which a body would have its kinetic energy if it did not rotate [m^2/s^2]."""
    (vx, vy, vz), (wx, wy, wz) = motion.linear, motion.angular
    ratio = shape["inertia"] / shape["mass"]
    return vx * vx + vy * vy + vz * vz + ratio * (wx * wx + wy * wy + wz * wz)


@kernel(error_model="numpy", allocates=False)
def damping_rate(shape: np.void, load: np.void, square: float, dt: float) -> float:
    """Rate at which soil damps all motion of a body [1/s]: it damps slow motion, and takes back energy.

    Stress along the normal of the ground, not of the body, can do work on a round body that slides in its own hollow
    though nothing was stored there, so that it would rock forever. The work of the soil is therefore compared with its
    stored energy, and the difference taken back: a passivity controller (Hannaford and Ryu 2002).

    Args:
        shape: Record of SOIL_SHAPE.
        load: Record of SOIL_LOAD.
        square: As `squared_speed` gives it [m^2/s^2].
        dt: Length of the step [s].
    """
    twice_energy = shape["mass"] * square
    repaid = min(load["energy_debt"] / (twice_energy * dt), MAX_REPAID / dt) if twice_energy > 0.0 else 0.0
    return repaid + REST_DAMPING / (1.0 + square / (REST_DAMPING_SPEED * REST_DAMPING_SPEED)) ** 2
