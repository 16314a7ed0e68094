"""How a body on soil moves."""

from typing import NamedTuple

from sandlot.kernels import kernel
from sandlot.physics.shapes import Three


class Motion(NamedTuple):
    """How a body and its belt move.

    Attributes:
        linear: Velocity of the centre [m/s].
        angular: Angular velocity [rad/s].
        centre: Centre of mass of the body [m].
        belt_speed: Speed of the belt [m/s].
    """

    linear: Three
    angular: Three
    centre: Three
    belt_speed: float


@kernel(error_model="numpy", allocates=False)
def velocity_at(motion: Motion, px: float, py: float, pz: float) -> Three:
    """Velocity of a point of a body [m/s]."""
    w, v = motion.angular, motion.linear
    x, y, z = px - motion.centre[0], py - motion.centre[1], pz - motion.centre[2]
    return v[0] + w[1] * z - w[2] * y, v[1] + w[2] * x - w[0] * z, v[2] + w[0] * y - w[1] * x
