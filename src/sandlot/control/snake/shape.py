"""The shape of a body that is bent in empty space, and which of its links collide.

Draschwandtner's shape visualizer (2015, algorithm 4.1) treats one joint after the other: it rotates the parts before
and behind the joint against each other, the lighter one further (equations 4.3 and 4.4), and then moves all links so
that the centre of mass stays in place. Each rotation preserves the mean direction of the links, and rotations in a
plane commute: so the result is the shape whose mean direction and centre of mass are those of the straight body.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sandlot.errors import SandlotError
from sandlot.robots.snake import Snake, link_angles, link_centres, link_corners
from sandlot.typing import Array


@dataclass(frozen=True)
class Posture:
    """A bent body.

    Attributes:
        snake: The body.
        centres: (links, 2) centres of the links [m].
        directions: (links,) yaw of the links [rad].
    """

    snake: Snake
    centres: Array
    directions: Array

    @property
    def ends(self) -> Array:
        """Front and rear of every link: (links, 2, 2) [m]."""
        half = 0.5 * self.snake.length * np.stack([np.cos(self.directions), np.sin(self.directions)], axis=1)
        return np.stack([self.centres + half, self.centres - half], axis=1)

    def crossing(self) -> list[tuple[int, int]]:
        """Pairs of links, not neighbours, whose centre lines cross."""
        return [pair for pair in self._pairs() if _cross(*self.ends[list(pair)])]

    def touching(self) -> list[tuple[int, int]]:
        """Pairs of links, not neighbours, whose boxes overlap; this includes those that cross."""
        boxes = link_corners(self.centres, self.directions, self.snake)
        return [(i, j) for i, j in self._pairs() if _overlap(boxes[i], boxes[j])]

    def _pairs(self) -> list[tuple[int, int]]:
        return [(i, j) for i in range(self.snake.links) for j in range(i + 2, self.snake.links)]


def shape(angles: ArrayLike, snake: Snake) -> Posture:
    """Bend a straight body whose front is at the origin and whose yaw is 0.

    Args:
        angles: (joints,) from the head on [rad].
        snake: The body.

    Raises:
        SandlotError: If the number of angles is not that of the joints.
    """
    bent = np.asarray(angles, np.float64)
    if bent.shape != (snake.joints,):
        raise SandlotError(f"{bent.size} angles for a body of {snake.links} links; it has {snake.joints} joints")
    directions = link_angles(np.zeros(()), bent)
    directions = directions - directions.mean()
    return Posture(snake, link_centres(np.array([-0.5 * snake.arclength, 0.0]), directions, snake.length), directions)


def circle(joints: int) -> Array:
    """The circle of figure 4.2, all joints at 360 deg / (links + 1): (joints,) [rad].

    It has a gap of one link. The circle of algorithm 3.1 is closed, with 360 deg / links.
    """
    return np.full(joints, 2.0 * np.pi / (joints + 2))


def _cross(one: Array, other: Array) -> bool:
    """Whether two line segments, (2, 2) each, cross; touching at an end does not count."""

    def side(line: Array, point: Array) -> float:
        (ax, ay), (bx, by) = line[1] - line[0], point - line[0]
        value = float(ax * by - ay * bx)
        return 0.0 if abs(value) < 1e-9 * float(ax * ax + ay * ay) else value

    return side(one, other[0]) * side(one, other[1]) < 0.0 and side(other, one[0]) * side(other, one[1]) < 0.0


def _overlap(one: Array, other: Array) -> bool:
    """Whether two boxes, (4, 2) each, overlap: no side of either separates them."""
    for box in (one, other):
        for edge in (box[1] - box[0], box[2] - box[1]):
            mine, theirs = one @ edge, other @ edge
            slack = 1e-9 * float(edge @ edge)
            if mine.max() <= theirs.min() + slack or theirs.max() <= mine.min() + slack:
                return False
    return True
