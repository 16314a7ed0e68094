"""Carts on a rail, pushed by their motors."""

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel

END = 2.0
"""Half the length of the rail, where a buffer stops the cart [m]."""
TOP_SPEED = 2.0
"""Maximum speed of the motor [m/s]."""


@kernel()
def roll(carts: NDArray[np.float64], force: NDArray[np.float64], mass: float, dt: float) -> NDArray[np.float64]:
    """Let carts roll for a step; returns their new state.

    Args:
        carts: (n, 2) position [m] and velocity [m/s].
        force: (n,) force of each motor [N].
        mass: Mass of a cart [kg].
        dt: Length of the step [s].
    """
    velocity = np.clip(carts[:, 1] + force / mass * dt, -TOP_SPEED, TOP_SPEED)
    position = carts[:, 0] + velocity * dt
    velocity = np.where(np.abs(position) < END, velocity, 0.0)
    return np.column_stack((np.clip(position, -END, END), velocity))
