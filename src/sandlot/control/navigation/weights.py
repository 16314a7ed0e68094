"""Weights of cells for A*: a boundary around walls, soft outside of the robot's radius and hard within it (6.8.2).

The source blocks all cells within a fixed distance of walls. A distance too large closes doors, one too small sends the
robot along walls. Here only cells that are nearer to a wall than the robot's radius are blocked; those up to a margin
further cost more, the nearer the more. So a path keeps away from walls where it can, and passes a door if it must.
"""

import numpy as np
from numpy.typing import NDArray

from sandlot.control.navigation.astar import Weights
from sandlot.extras import need
from sandlot.mapping.grids.geometry import OBSTACLE, UNKNOWN, Kinds
from sandlot.typing import IntArray

STEEPEST = 9
"""Extra weight of a cell at the robot's radius from a wall; it falls linearly to 0 at the margin. Chosen."""
UNSEEN = 2
"""Weight of an unknown cell, so that known ways are preferred. Chosen."""
ESCAPE = 12
"""Weight of a cell too near to a wall that the robot may leave from or has been in. Chosen."""


def clearance(kinds: Kinds, resolution: float) -> NDArray[np.float32]:
    """Distance from the centre of each cell to that of the nearest wall or obstacle: (rows, columns) [m]."""
    cv2 = need("cv2", "maps")
    free = (kinds < OBSTACLE).astype(np.uint8)
    if free.all():
        return np.full(kinds.shape, np.inf, np.float32)
    return cv2.distanceTransform(free, cv2.DIST_L2, cv2.DIST_MASK_PRECISE) * np.float32(resolution)


def weigh(
    kinds: Kinds,
    resolution: float,
    radius: float,
    margin: float = 0.3,
    through_unknown: bool = True,
    start: tuple[int, int] | None = None,
) -> Weights:
    """Weights for a robot's centre: (rows, columns); 0 is blocked.

    Args:
        kinds: Of the cells.
        resolution: Side of a cell [m].
        radius: Of the robot [m].
        margin: Width of the soft boundary [m].
        through_unknown: Whether unknown cells may be crossed.
        start: Cell of the robot. If it is too near to a wall, it may leave over cells that are hardly nearer to one.
    """
    room = clearance(kinds, resolution)
    extra = STEEPEST * (1.0 - (room - radius) / max(margin, 1e-6))
    weights = (1.0 + np.clip(np.rint(extra), 0, STEEPEST)).astype(np.uint8)
    weights[kinds == UNKNOWN] += UNSEEN - 1
    weights[room < radius] = 0
    if not through_unknown:
        weights[kinds == UNKNOWN] = 0
    if start is not None and weights[start] == 0:
        reach = int(np.ceil(radius / resolution)) + 1
        rows, columns = (slice(max(each - reach, 0), each + reach + 1) for each in start)
        near, known = weights[rows, columns], kinds[rows, columns]
        passable = (known < OBSTACLE) & (room[rows, columns] > room[start] - 1.5 * resolution)
        near[(near == 0) & passable & (through_unknown | (known != UNKNOWN))] = ESCAPE
        weights[start] = ESCAPE
    return weights


def open_trail(weights: Weights, kinds: Kinds, trail: IntArray) -> None:
    """Open cells (n, 2) where the robot has been, and those beside them, unless something is there; changes weights."""
    beside = np.array(list(np.ndindex(3, 3))) - 1
    cells = (trail[:, None] + beside).reshape(-1, 2)
    rows, columns = cells[((cells >= 0) & (cells < weights.shape)).all(axis=1)].T
    blocked = (weights[rows, columns] == 0) & (kinds[rows, columns] < OBSTACLE)
    weights[rows[blocked], columns[blocked]] = ESCAPE
