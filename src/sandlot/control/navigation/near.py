"""Lets a trained avoider steer while an obstacle is near; otherwise the planner goes on (Huete 2020, 6.9)."""

import math

import numpy as np
from pydantic import Field

from sandlot.control.navigation.avoiding import FIXED, Avoider
from sandlot.control.navigation.driving import Command
from sandlot.geometry.walls import Walls
from sandlot.mapping.features.obstacles import find_features
from sandlot.sensing.rays import cast
from sandlot.settings import Settings
from sandlot.typing import Array


class Near(Settings):
    """When the avoider steers, and its moves, as the avoid world has them.

    Attributes:
        threshold: It steers while an obstacle is this near [m].
        reach: Longest distance that it observes, as 1 [m].
        stride: Length of a move forward or backward [m].
        turn: Angle of a move to the right or left [rad].
        interval: How long a move takes [s].
        resolution: Of the scan in which walls are found [m].
    """

    threshold: float = Field(1.5, gt=0.0)
    reach: float = Field(1.5, gt=0.0)
    stride: float = Field(0.2, gt=0.0)
    turn: float = Field(math.pi / 6.0, gt=0.0)
    interval: float = Field(0.8, gt=0.0)
    resolution: float = Field(0.05, gt=0.0)


class Avoidance:
    """An avoider that takes over near obstacles.

    Attributes:
        avoider: Decides.
        near: When, and how it moves.
        decisions: How often it has decided.
    """

    def __init__(self, avoider: Avoider, near: Near | None = None) -> None:
        """Begin with the planner in charge."""
        self.avoider, self.near, self.decisions = avoider, near or Near(), 0
        self._command: Command | None = None
        self._until = -math.inf

    def steer(self, target: Array, points: Array, time: float) -> Command | None:
        """What to do next; None if no obstacle is near, and the planner shall go on.

        A move is finished before the next one is chosen.

        Args:
            target: (2,) where to go, relative to the robot [m].
            points: (n, 2) that the scan measured, relative to the robot [m].
            time: Now [s].
        """
        if time < self._until:
            return self._command
        seen = observe(target, points, self.near, int(self.avoider.net.sizes[0]) - FIXED)
        if seen is None:
            return None
        speed, rate = self.near.stride / self.near.interval, self.near.turn / self.near.interval
        moves = Command(speed, 0.0), Command(-speed, 0.0), Command(0.0, -rate), Command(0.0, rate)
        self._command, self._until = moves[int(self.avoider.act(seen[None])[0])], time + self.near.interval - 1e-6
        self.decisions += 1
        return self._command


def observe(target: Array, points: Array, near: Near, lines: int) -> Array | None:
    """What the avoid world would observe here: (4 + lines,); None if no obstacle is near.

    Args:
        target: (2,) where to go, relative to the robot [m].
        points: (n, 2) that the scan measured, relative to the robot [m].
        near: When an obstacle is near.
        lines: Number of vision lines.
    """
    close = points[np.hypot(*points.T) <= 2.0 * near.reach]
    features = find_features(close, near.resolution)
    obstacles = features.points[features.labels >= 0]
    distances = np.hypot(*obstacles.T)
    if not len(obstacles) or distances.min() > near.threshold:
        return None
    nearest = obstacles[distances.argmin()]
    seen = np.ones(FIXED + lines)
    for k, point in enumerate((nearest, target)):
        seen[2 * k] = min(math.hypot(*point) / near.reach, 1.0)
        seen[2 * k + 1] = math.atan2(point[1], point[0])
    if lines and len(features.walls):
        walls = Walls(features.walls, np.zeros((0, 3)))
        spread = 2.0 * math.pi / max(lines, 8)
        ranges = cast(walls, np.zeros((1, 3)), lines, lines * spread, threads=1).ranges[0]
        seen[FIXED:] = np.minimum(ranges / near.reach, 1.0)
    return seen
