"""Circles that bodies swim: a body that is bent all the time, or that steers too weakly, does not reach its target."""

from dataclasses import dataclass

import numpy as np

from sandlot.typing import Array


@dataclass(frozen=True)
class Circle:
    """The circle nearest to a path.

    Attributes:
        middle: (2,) [m]
        radius: [m]
        turns: How often the path goes round the middle.
        spread: Standard deviation of the distances from the middle, over the radius.
    """

    middle: Array
    radius: float
    turns: float
    spread: float

    @property
    def swum(self) -> bool:
        """Whether the path is this circle: it goes round at least once, and stays close to it."""
        return bool(self.turns >= 1.0 and self.spread < 0.1)


def fit_circle(path: Array) -> Circle:
    """The circle nearest to a path, by linear least squares.

    Args:
        path: (points, 2) [m], at least 3 points. If they are not finite, or all the same, the circle is NaN.
    """
    if not np.isfinite(path).all() or np.ptp(path, axis=0).max() == 0.0:
        return Circle(np.full(2, np.nan), np.nan, 0.0, np.nan)
    columns = np.column_stack([2.0 * path, np.ones(len(path))])
    x, y, rest = np.linalg.lstsq(columns, (path**2).sum(axis=1), rcond=None)[0]
    away = path - [x, y]
    radius = float(np.sqrt(rest + x * x + y * y))
    angles = np.unwrap(np.arctan2(away[:, 1], away[:, 0]))
    spread = float(np.linalg.norm(away, axis=1).std()) / radius
    return Circle(np.array([x, y]), radius, float(abs(angles[-1] - angles[0]) / (2.0 * np.pi)), spread)
