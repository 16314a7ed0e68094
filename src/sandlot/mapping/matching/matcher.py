"""Matches a scan with a local map: search, refinement, covariance, and refusal of what does not fit."""

from typing import NamedTuple

import numpy as np

from sandlot.mapping.matching.field import Field
from sandlot.mapping.matching.points import thin
from sandlot.mapping.matching.refine import refine
from sandlot.mapping.matching.search import Window, search
from sandlot.typing import Array

SEARCHED, REFINED = 0.1, 0.03
"""Distance between the points of a scan that are searched with, and refined with [m]."""
NOISE = 0.02
"""Standard deviation of a measured range [m]."""
ROBUST = 2.0
"""Residuals above so many standard deviations count less and less."""
MIN_SCORE = 0.2
"""Of a search: mean likelihood."""
GOOD_SCORE, WORTH, WIDE_REACH, WIDE_TURN = 0.5, 0.05, 0.8, np.pi
"""Below this score, a wider search must add so much to the score; it reaches this far [m, rad]."""
REACH = 3.0
"""Search up to so many standard deviations."""
PENALTY = 0.02
"""On the score of poses away from the expected one, see `Window`."""
MIN_OVERLAP, MIN_FIT = 0.3, 0.5
"""Shares of the points that have to lie where the map has points, and to fit those."""
MIN_POINTS = 20
"""Of a scan that can be matched."""
INDEPENDENT = 0.05
"""Share of the information of a scan's points that counts: their errors are correlated."""
WEAK = 0.05
"""A direction of the position is unobservable if its information is below this share of the other direction's."""


class Match(NamedTuple):
    """A scan in a map.

    Attributes:
        pose: (3,) in the frame of the map [m, rad].
        information: (3, 3) of the match alone, in the frame of the map [1/m2, 1/rad2].
        score: Mean likelihood of the search, 0 to 1.
        overlap: Share of the points where the map has points nearby.
        fit: Share of those that fit.
        error: Root mean square distance of those that fit [m].
        reason: Why the match is refused; empty if it is good.
    """

    pose: Array
    information: Array
    score: float
    overlap: float
    fit: float
    error: float
    reason: str

    @property
    def weak(self) -> Array:
        """Directions of the position that the match does not determine, as in a featureless corridor: (n, 2)."""
        values, vectors = np.linalg.eigh(self.information[:2, :2])
        return np.asarray(vectors.T[values < WEAK * values.max()])


class Expected(NamedTuple):
    """Where a scan is expected in a map.

    Attributes:
        pose: (3,) in the frame of the map [m, rad].
        distance: Standard deviation of the position [m].
        turn: Standard deviation of the yaw [rad].
    """

    pose: Array
    distance: float
    turn: float


def match(field: Field, points: Array, expected: Expected) -> Match:
    """Find where a scan fits best.

    The search covers three standard deviations around the expected pose. If nothing fits well there, a second one
    covers more, as the robot may have turned faster than expected. Directions that the map does not determine stay as
    expected.

    Args:
        field: The map.
        points: (n, 2) of the scan in the robot's frame [m].
        expected: Where to search.
    """
    pose, distance, turn = expected
    if len(points) < MIN_POINTS:
        return refused(pose, few_beams(points))
    few = thin(points, SEARCHED)
    found = search(field, few, pose, _window(distance, turn), MIN_SCORE)
    if found.score < GOOD_SCORE:
        wider = Window(WIDE_REACH, WIDE_TURN, distance, turn, PENALTY)
        wide = search(field, few, pose, wider, max(found.score + WORTH, MIN_SCORE))
        if wide.score > found.score + WORTH:
            found, distance, turn = wide, WIDE_REACH, WIDE_TURN
    if found.score <= MIN_SCORE:
        return refused(pose, "the scan fits nowhere near the expected pose")
    prior = np.array([*pose, 1.0 / distance**2, 1.0 / turn**2])
    return align(field, points, np.array(found[:3]), prior, found.score)


def _window(distance: float, turn: float) -> Window:
    return Window(REACH * distance, min(REACH * turn, np.pi), distance, turn, PENALTY)


def align(field: Field, points: Array, start: Array, prior: Array | None = None, score: float = np.nan) -> Match:
    """Refine a pose that is already within a cell or two."""
    prior = np.array([*start, 0.0, 0.0]) if prior is None else prior
    found = refine(field, thin(points, REFINED), start, prior, NOISE, ROBUST)
    reason = ""
    if found.overlap < MIN_OVERLAP:
        reason = f"only {found.overlap:.0%} of the scan overlaps the map"
    elif found.fit < MIN_FIT:
        reason = f"only {found.fit:.0%} of the scan fits the map"
    information = INDEPENDENT * found.information
    return Match(found.pose, information, score, found.overlap, found.fit, found.error, reason)


def few_beams(points: Array) -> str:
    """The reason to refuse a scan with so few points."""
    return f"only {len(points)} beams returned; at least {MIN_POINTS} are needed"


def refused(pose: Array, reason: str) -> Match:
    """The result for a scan that does not match; its pose is the expected one."""
    return Match(np.asarray(pose, np.float64), np.zeros((3, 3)), 0.0, 0.0, 0.0, np.nan, reason)
