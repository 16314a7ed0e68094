"""Where rovers are and how they move at one moment, whatever physics moves them."""

from dataclasses import dataclass
from functools import cached_property

from sandlot.geometry.rotations import roll_pitch_yaw
from sandlot.typing import Array, BoolArray


@dataclass(frozen=True, eq=False)
class RoverState:
    """The state of n rovers at one moment.

    Attributes:
        position: (n, 3) of the chassis [m].
        rotation: (n, 3, 3) from the axes of the chassis to the world's.
        rates: (n, 3) angular rates about the axes of the chassis [rad/s].
        angular_acceleration: (n, 3) about the axes of the chassis [rad/s^2].
        specific_force: (n, 3) acceleration minus gravity at the chassis' origin, along its axes [m/s^2].
        wheel_angles: (n, 2) of the left and the right wheels since the start [rad].
        wheel_speeds: (n, 2) of the left and the right wheels [rad/s].
        exploded: (n,) whether the simulation of a rover is no longer to be trusted.
    """

    position: Array
    rotation: Array
    rates: Array
    angular_acceleration: Array
    specific_force: Array
    wheel_angles: Array
    wheel_speeds: Array
    exploded: BoolArray

    @cached_property
    def attitude(self) -> Array:
        """Roll, pitch and yaw of the chassis, as in ROS REP-103: (n, 3) [rad]."""
        return roll_pitch_yaw(self.rotation)

    @property
    def yaw(self) -> Array:
        """(n,) [rad]."""
        return self.attitude[:, 2]

    @property
    def overturned(self) -> BoolArray:
        """Whether a rover lies on its back: (n,)."""
        return self.rotation[:, 2, 2] < 0.0
