"""Where rovers start on the ground, whatever physics moves them."""

import math

import numpy as np

from sandlot.errors import PlaceError
from sandlot.typing import Array
from sandlot.worlds.terrain.grid import Grid

GAP = 0.1
"""Between rovers that start side by side [m]."""


def side_by_side(reach: Array) -> Array:
    """Start poses x, y [m] and yaw [rad] in rows along y, looking along x, with about as many rows as columns: (n, 3).

    Args:
        reach: (n,) largest horizontal distance of a part from the middle of each rover [m].
    """
    count, apart = len(reach), 2.0 * reach.max() + GAP
    columns = math.ceil(math.sqrt(count))
    rows = math.ceil(count / columns)
    row, column = np.divmod(np.arange(count), columns)
    x, y = apart * (0.5 * (rows - 1) - row), apart * (0.5 * (columns - 1) - column)
    return np.column_stack([x, y, np.zeros(count)])


def check_places(grid: Grid, poses: Array, reach: Array) -> None:
    """Refuse rovers that are larger than the ground, or start beyond it.

    Args:
        grid: Of the ground.
        poses: (n, 3) x, y [m] and yaw [rad].
        reach: (n,) as of `side_by_side`.

    Raises:
        PlaceError: If there is one.
    """
    size = grid.size
    large = np.flatnonzero(2.0 * reach > size.min())
    if large.size:
        raise PlaceError(
            f"rover {large[0]} is {2.0 * reach[large[0]]:.2g} m across, and the ground only "
            f"{size[0]:g} x {size[1]:g} m; give it more nodes, or more spacing"
        )
    outside = np.flatnonzero(np.any(np.abs(poses[:, :2]) > 0.5 * size, axis=1))
    if outside.size and not grid.wrap:
        x, y, _ = poses[outside[0]]
        raise PlaceError(
            f"rover {outside[0]} starts at x={x:g}, y={y:g}, beyond the ground; "
            f"allowed: {-0.5 * size[0]:g} to {0.5 * size[0]:g} and {-0.5 * size[1]:g} to {0.5 * size[1]:g}"
        )
