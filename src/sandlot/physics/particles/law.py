"""Properties of particles and of their contacts."""

import math
from typing import NamedTuple

STIFFNESS_RATIO = 300.0
"""The weight of a particle on Earth presses it into the floor by its radius over this."""
DAMPING_RATIO = 0.4
"""Fraction of critical damping: two particles that collide separate with two fifths of their speed."""


class Law(NamedTuple):
    """Properties of particles and of their contacts.

    Attributes:
        radius: [m]
        mass: [kg]
        inertia: Moment of inertia [kg*m^2].
        stiffness: Normal stiffness of a contact [N/m].
        damping: Normal damping [N*s/m].
        slip_stiffness: Tangential stiffness of a contact that sticks [N/m].
        slip_damping: Tangential damping [N*s/m].
        roll_stiffness: Rolling stiffness of a contact that does not roll [N*m/rad].
        roll_damping: Rolling damping [N*m*s/rad].
        friction: Maximum tangential force over normal force.
        rolling: Maximum rolling torque over normal force and radius.
        gravity: [m/s^2]
        tolerance: Particles that move less than this count as still [m].
        sleep_delay: Particles that are still for so long fall asleep [s].
    """

    radius: float
    mass: float
    inertia: float
    stiffness: float
    damping: float
    slip_stiffness: float
    slip_damping: float
    roll_stiffness: float
    roll_damping: float
    friction: float
    rolling: float
    gravity: float
    tolerance: float
    sleep_delay: float

    @property
    def longest_step(self) -> float:
        """Maximum length of a step [s]: a thirtieth of the period of two particles on their spring."""
        return 0.2 / math.sqrt(2.0 * self.stiffness / self.mass)


def make_law(
    radius: float, density: float, friction: float, rolling: float, gravity: float, inertia: float = 0.4
) -> Law:
    """Properties of particles and their contacts; arguments as those of `Particles`."""
    mass = 4.0 / 3.0 * math.pi * radius**3 * density
    stiffness = STIFFNESS_RATIO * mass * 9.81 / radius
    damping = 2.0 * DAMPING_RATIO * math.sqrt(stiffness * 0.5 * mass)
    # With this fraction of the stiffness, tangential and normal oscillations of two particles have the same period.
    tangential = inertia / (1.0 + inertia)
    per_mass = inertia * radius**2
    return Law(
        radius=radius,
        mass=mass,
        inertia=per_mass * mass,
        stiffness=stiffness,
        damping=damping,
        slip_stiffness=tangential * stiffness,
        slip_damping=tangential * damping,
        roll_stiffness=per_mass * stiffness,
        roll_damping=per_mass * damping,
        friction=friction,
        rolling=rolling * friction,
        gravity=gravity,
        tolerance=0.005 * radius,
        sleep_delay=0.25,
    )
