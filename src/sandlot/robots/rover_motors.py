"""Motors of a rover's wheels: what they can do, and the servos that hold their speed.

A servo's torque is proportional to the error of the speed, up to the maximum torque. Its gain follows from the motor's
limits alone, so a rover drives alike at any step of the physics, and a heavy robot with strong motors tracks its
commands as closely as a light one.
"""

from dataclasses import dataclass

from sandlot.robots.rover import Rover
from sandlot.robots.urdf_elements import Joint

GRAVITY = 9.81
"""[m/s^2], downwards."""
TORQUE, TOP_SPEED, ARMATURE = 0.98, 0.25 / 0.03, 3e-3
"""Of the Rover 5's motors, at the wheel: stall torque, 10 kg*cm [N*m], top speed [rad/s], and inertia [kg*m^2]: that of
the rotor, guessed at 4e-7, times the square of the gear ratio, 86.8."""
GAIN = 3.0 * TOP_SPEED / TORQUE
"""Of a servo, relative to maximum torque over top speed: full torque at a speed error of 3.92% of the top speed."""
SPIN_UP = ARMATURE * TOP_SPEED / TORQUE
"""Time in which full torque brings a motor without load to its top speed [s]: that of the Rover 5, if the inertia of a
motor is not given."""
TIME_CONSTANT = 1e-3
"""Shortest of a servo on a motor without load [s]: a stiffer one overshoots at steps of 1 ms."""


@dataclass(frozen=True)
class Motor:
    """A motor with its gears, at the wheel.

    Attributes:
        torque: Maximum [N*m].
        top_speed: [rad/s]
        armature: Inertia of the rotor, through the gears [kg*m^2].
    """

    torque: float
    top_speed: float
    armature: float

    def gain(self, inertia: float, step: float) -> float:
        """Of the speed servo of a wheel with this inertia about its axle [kg*m^2], at a step [s]: [N*m*s/rad].

        It depends on the step only where a free wheel would chatter: if full torque brought it within one step from
        one end of the servo's proportional range to the other.
        """
        wanted = max(GAIN * (self.torque / self.top_speed), self.armature / TIME_CONSTANT)
        return min(wanted, 2.0 * (self.armature + inertia) / step)


def find_motor(rover: Rover, joint: Joint, strong: float) -> Motor:
    """The motor of a wheel: as the settings say, else as the joint's ``<limit>`` says, else guessed.

    Args:
        rover: Settings.
        joint: Of the wheel.
        strong: Torque with which all motors together push the robot with its own weight [N*m].
    """
    torque = rover.torque or joint.effort or strong
    top_speed = rover.top_speed or joint.top_speed or TOP_SPEED
    return Motor(torque, top_speed, rover.armature or SPIN_UP * (torque / top_speed))
