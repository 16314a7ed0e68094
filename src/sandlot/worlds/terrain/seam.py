"""What the terrain world asks of its physics: a `Drive` moves rovers, a `Ground` lies under them.

`sandlot.worlds.terrain.fidelity` chooses which of them run. The world, its sensors, recordings and pictures ask only
these questions, so a learned drive needs no MuJoCo model, and a learned ground no contacts.
"""

from collections.abc import Sequence
from typing import Protocol

from sandlot.robots.rover_shapes import DrawnShape
from sandlot.robots.rover_state import RoverState
from sandlot.typing import Array
from sandlot.worlds.terrain.grid import Grid


class Ground(Protocol):
    """Ground under rovers, as heights on a grid.

    Attributes:
        grid: Where its nodes are.
        initial: (ny, nx) heights at the last restart [m]. What has changed is ``heights - initial``.
        grain: Bumps of this size are the material's and not the terrain's [m]; 0 for smooth ground.
    """

    grid: Grid
    initial: Array
    grain: float

    @property
    def heights(self) -> Array:
        """Of the surface: (ny, nx) [m]. Not a copy: it may change with the next step; read only."""

    def restart(self, heights: Array) -> None:
        """Lay new ground that nothing has touched: (ny, nx) [m]."""

    def change(self, before: RoverState, after: RoverState) -> None:
        """Change under rovers that moved from one state to the other; nothing, if `Drive.drive` did that already."""


class Drive(Protocol):
    """Rovers that drive on the ground they were made for.

    Attributes:
        count: Number of rovers.
        top_speeds: (count, 2) highest commands: forward speed [m/s] and turn rate [rad/s], each without the other.
        wheel_radius: (count,) [m].
        poses: (count, 3) x, y [m] and yaw [rad] at the start.
        shapes: Of each rover, to draw it.
        state: Of all rovers, now.
    """

    count: int
    top_speeds: Array
    wheel_radius: Array
    poses: Array
    shapes: Sequence[Sequence[DrawnShape]]
    state: RoverState

    def restart(self) -> None:
        """Put all rovers on the ground at their start poses, at rest."""

    def drive(self, commands: Array) -> None:
        """Drive until the next frame; commands (count, 2) forward speed [m/s] and turn rate to the left [rad/s]."""

    @property
    def footprint(self) -> Array:
        """Points that must stay on the map, such as every chassis and wheel: (points, 2) x and y [m]."""
