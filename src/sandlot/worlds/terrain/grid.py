"""The grid of nodes on which ground has its heights, and the patch of heights around a rover."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sandlot.kernels import kernel
from sandlot.physics.height_map import height_between
from sandlot.typing import Array, BoolArray


@dataclass(frozen=True)
class Grid:
    """Nodes of a height map whose middle is the origin: rows along y, columns along x.

    Attributes:
        shape: (ny, nx) nodes.
        spacing: Of nodes [m].
        wrap: Whether the ground continues at the opposite edge.
    """

    shape: tuple[int, int]
    spacing: float
    wrap: bool

    @cached_property
    def size(self) -> Array:
        """Lengths along x and y [m]: (2,). The map ends half a spacing beyond its outer nodes."""
        return self.spacing * np.array(self.shape[::-1], np.float64)

    @cached_property
    def corner(self) -> Array:
        """X and y of the first node [m]: (2,)."""
        ny, nx = self.shape
        return -0.5 * self.spacing * np.array([nx - 1.0, ny - 1.0])

    def nodes(self, position: Array) -> Array:
        """Row and column, with fractions, of positions (n, 2 or 3) [m]: (n, 2); within the map if it wraps."""
        nodes = (position[:, 1::-1] - self.corner[::-1]) / self.spacing
        # The map ends half a spacing beyond its outer nodes.
        return (nodes + 0.5) % self.shape - 0.5 if self.wrap else nodes

    def places(self, nodes: Array) -> Array:
        """X and y of nodes (n, 2), row and column: (n, 2) [m]."""
        return self.corner + self.spacing * nodes[:, ::-1]

    def contains(self, points: Array) -> bool:
        """Whether all points (n, 2) [m] are on the map; always, if it wraps."""
        return not self.beyond(points).any()

    def beyond(self, points: Array) -> BoolArray:
        """Which points (..., 2) [m] are not on the map; none, if it wraps: (...)."""
        outside = np.asarray(np.any(np.abs(points) > 0.5 * self.size, axis=-1))
        return np.zeros_like(outside) if self.wrap else outside


@kernel(error_model="numpy", allocates=False)
def sample_patch(
    heights: Array, row: float, column: float, yaw: float, wrap: bool, stride: float, ahead: float, patch: Array
) -> None:
    """Write the heights around a rover into ``patch`` (n, n) [m], in its axes: rows to its left, columns ahead.

    Args:
        heights: (ny, nx) of the ground [m].
        row: Of the rover [node].
        column: Of the rover [node].
        yaw: Of the rover [rad].
        wrap: Whether the ground continues at the opposite edge.
        stride: Distance between points of the patch [node].
        ahead: Distance of the patch's middle ahead of the rover [node].
        patch: (n, n) to be filled [m].
    """
    n, c, s = len(patch), math.cos(yaw), math.sin(yaw)
    for i in range(n):
        left = stride * (i - 0.5 * (n - 1))
        for j in range(n):
            front = ahead + stride * (j - 0.5 * (n - 1))
            patch[i, j] = height_between(heights, row + s * front + c * left, column + c * front - s * left, wrap)


@kernel(error_model="numpy", allocates=False)
def sample_patches(
    heights: Array,
    positions: Array,
    yaws: Array,
    corner: Array,
    spacing: float,
    wrap: bool,
    stride: float,
    ahead: float,
    patches: Array,
) -> None:
    """`sample_patch` for rovers on one map, relative to their chassis.

    Args:
        heights: (ny, nx) of the ground [m].
        positions: (rovers, 3) [m]
        yaws: (rovers,) [rad]
        corner: (2,) x and y of the first node [m].
        spacing: Of nodes [m].
        wrap: As of `sample_patch`, and so are the others.
        stride: [node]
        ahead: [node]
        patches: (rovers, n, n) to be filled [m].
    """
    for k in range(len(positions)):
        column, row = (positions[k, 0] - corner[0]) / spacing, (positions[k, 1] - corner[1]) / spacing
        sample_patch(heights, row, column, yaws[k], wrap, stride, ahead, patches[k])
        for i in range(patches.shape[1]):
            for j in range(patches.shape[2]):
                patches[k, i, j] -= positions[k, 2]
