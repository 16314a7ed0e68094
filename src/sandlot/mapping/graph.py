"""A pose graph: poses, and measured poses of one as seen from another; solved by sparse Gauss-Newton.

Edges that may be wrong, such as closed loops, lose their weight step by step where they contradict the others:
graduated non-convexity with the Geman-McClure cost (Yang et al. 2020), which needs no good first guess.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from sandlot.geometry.planar import wrap
from sandlot.typing import Array, BoolArray, IntArray

STEPS = 50
"""Most steps of Gauss-Newton."""
DONE = 1e-5
"""A largest step below this ends the iteration [m, rad]."""
SHRINK = 1.6
"""The cost comes closer to its final shape by this factor each step."""
ANCHOR = 1e6
"""Information that holds the first pose [1/m2, 1/rad2]."""


class Edge(NamedTuple):
    """A measured pose.

    Attributes:
        first: Index of the pose it is seen from.
        second: Index of the pose that is seen.
        relative: (3,) of the second in the frame of the first [m, rad].
        information: (3, 3) inverse covariance, in the frame of the first [1/m2, 1/rad2].
        doubtful: Whether it may be wrong altogether.
    """

    first: int
    second: int
    relative: Array
    information: Array
    doubtful: bool = False


@dataclass(frozen=True)
class Solution:
    """Solved poses.

    Attributes:
        poses: (n, 3) [m, rad].
        weights: (edges,) 1 for edges that count fully, near 0 for those that contradict the others.
        errors: (edges,) squared residuals in standard deviations.
    """

    poses: Array
    weights: Array
    errors: Array


def solve(poses: Array, edges: Sequence[Edge], limit: float = 4.0) -> Solution:
    """Find the poses that fit all edges best; the first pose stays where it is.

    Args:
        poses: (n, 3) to start from [m, rad].
        edges: Each pose has to be connected to the first, or it stays where it is.
        limit: A doubtful edge with a residual of so many standard deviations counts a quarter.
    """
    poses = np.array(poses, np.float64)
    if not edges:
        return Solution(poses, np.zeros(0), np.zeros(0))
    first, second = (np.array(each) for each in zip(*((e.first, e.second) for e in edges), strict=True))
    relative, information = np.array([e.relative for e in edges]), np.array([e.information for e in edges])
    doubtful = np.array([e.doubtful for e in edges])
    errors = _squares(_residuals(poses, first, second, relative), information)
    scale = max(2.0 * float(errors[doubtful].max(initial=0.0)) / limit**2, 1.0)
    for _ in range(STEPS):
        weights = _weights(errors, doubtful, scale * limit**2)
        step = _step(poses, first, second, relative, information * weights[:, None, None])
        poses += step
        poses[:, 2] = wrap(poses[:, 2])
        errors = _squares(_residuals(poses, first, second, relative), information)
        if scale == 1.0 and float(np.abs(step).max()) < DONE:
            break
        scale = max(scale / SHRINK, 1.0)
    return Solution(poses, _weights(errors, doubtful, scale * limit**2), errors)


def _weights(errors: Array, doubtful: BoolArray, square: float) -> Array:
    return np.where(doubtful, (square / (square + errors)) ** 2, 1.0)


def _residuals(poses: Array, first: IntArray, second: IntArray, relative: Array) -> Array:
    """(edges, 3) position and yaw of the second pose in the frame of the first, minus what was measured."""
    c, s = np.cos(poses[first, 2]), np.sin(poses[first, 2])
    dx, dy = (poses[second, :2] - poses[first, :2]).T
    turned = poses[second, 2] - poses[first, 2]
    return np.column_stack(
        [c * dx + s * dy - relative[:, 0], c * dy - s * dx - relative[:, 1], wrap(turned - relative[:, 2])]
    )


def _squares(residuals: Array, information: Array) -> Array:
    return np.einsum("ei,eij,ej->e", residuals, information, residuals)


def _step(poses: Array, first: IntArray, second: IntArray, relative: Array, information: Array) -> Array:
    """One step of Gauss-Newton: (n, 3) [m, rad]."""
    residuals = _residuals(poses, first, second, relative)
    c, s = np.cos(poses[first, 2]), np.sin(poses[first, 2])
    dx, dy = (poses[second, :2] - poses[first, :2]).T
    by_second = np.zeros((len(first), 3, 3))
    by_second[:, 0, 0], by_second[:, 0, 1], by_second[:, 1, 0], by_second[:, 1, 1] = c, s, -s, c
    by_second[:, 2, 2] = 1.0
    by_first = -by_second
    by_first[:, 0, 2], by_first[:, 1, 2] = c * dy - s * dx, -c * dx - s * dy
    count = 3 * len(poses)
    gradient = np.zeros(count)
    rows, columns, values = [np.arange(count)], [np.arange(count)], [np.full(count, 1e-9)]
    values[0][:3] = ANCHOR
    for left, at in ((by_first, first), (by_second, second)):
        weighted = np.einsum("eji,ejk->eik", left, information)
        np.add.at(gradient, 3 * at[:, None] + np.arange(3), np.einsum("eij,ej->ei", weighted, residuals))
        for right, other in ((by_first, first), (by_second, second)):
            block = np.einsum("eij,ejk->eik", weighted, right)
            shape = block.shape
            rows.append(np.broadcast_to((3 * at[:, None] + np.arange(3))[:, :, None], shape).ravel())
            columns.append(np.broadcast_to((3 * other[:, None] + np.arange(3))[:, None, :], shape).ravel())
            values.append(block.ravel())
    system = sparse.csc_matrix(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(count, count)
    )
    factors = splu(system, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    return np.asarray(factors.solve(-gradient)).reshape(-1, 3)


def floor(information: Array, distance: float, turn: float, share: float = 1.0) -> Array:
    """Information (3, 3) of a match with its correlated points: a share of it, and never better than these deviations.

    Args:
        information: As if all points were independent.
        distance: Least standard deviation of the position [m].
        turn: Least standard deviation of the yaw [rad].
        share: Of the information that counts.
    """
    least = np.diag([1.0 / distance**2, 1.0 / distance**2, 1.0 / turn**2])
    some = share * information + 1e-6 * np.eye(3)
    return np.asarray(np.linalg.inv(np.linalg.inv(some) + np.linalg.inv(least)))
