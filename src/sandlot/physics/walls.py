"""A disc among walls: one that is pushed into a wall slides along it.

A disc that starts clear of walls stays clear: it moves in steps shorter than a quarter of its radius, is pushed out
where it would overlap, and stays where it was if pushing does not help, as in a wedge.
"""

import math

from sandlot.geometry.walls import Walls, nearest
from sandlot.kernels import kernel

PUSHES = 4
"""How often a disc is pushed out of the wall that it overlaps most, before it stays where it was."""
CLEAR = 1e-9
"""Extra distance by which it is pushed out [m], so that rounding does not leave it inside."""


@kernel(error_model="numpy", allocates=False)
def slide(x: float, y: float, dx: float, dy: float, radius: float, walls: Walls) -> tuple[float, float, bool]:
    """Move a disc from (x, y) by (dx, dy), which is less than a quarter of its radius; it may slide along a wall.

    Returns:
        Where it is then [m], and whether it touched a wall.
    """
    ax, ay = x + dx, y + dy
    for push in range(PUSHES + 1):
        room, nx, ny = nearest(ax, ay, walls)
        # So near to where it was, it cannot be on the other side of a wall.
        if room >= radius and math.hypot(ax - x, ay - y) <= 0.5 * radius:
            return ax, ay, push > 0
        ax += (radius - room + CLEAR) * nx
        ay += (radius - room + CLEAR) * ny
    return x, y, True
