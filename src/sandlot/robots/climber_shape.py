"""The outlines of a climbing robot, for pictures: seen from its left, x to the right and z up."""

import numpy as np

from sandlot.robots.climber import Climber
from sandlot.typing import Array

ARC = 12
"""Points of a round end."""


def hull(big: float, small: float, length: float) -> Array:
    """The hull of two circles: (2 `ARC`, 2) counter-clockwise [m].

    Args:
        big: Radius of the circle at the origin [m].
        small: Radius of the one at (length, 0) [m].
        length: Distance of their centres [m].
    """
    lean = np.arccos(np.clip((big - small) / length, -1.0, 1.0))
    ahead, behind = np.linspace(-lean, lean, ARC), np.linspace(lean, 2.0 * np.pi - lean, ARC)
    tip = small * np.column_stack([np.cos(ahead), np.sin(ahead)]) + (length, 0.0)
    return np.concatenate([tip, big * np.column_stack([np.cos(behind), np.sin(behind)])])


def outlines(climber: Climber, middle: Array, pitch: float, axles: Array) -> list[Array]:
    """Outlines of the rear tracks, the body and the front tracks: (points, 2) each [m].

    Args:
        climber: The robot.
        middle: (2,) x and z of the middle of its body [m].
        pitch: Positive with the nose down [rad].
        axles: (2,) angles of the front and the rear axle [rad].
    """
    track, radius, half = climber.track, 0.5 * climber.body.height, 0.5 * climber.axles.span
    straight = max(climber.body.length - climber.body.height, 1e-6)
    belt, body = hull(track.wheel, track.tip, track.reach), hull(radius, radius, straight)
    hip = np.array([half, climber.axles.height])
    turned = [
        _turn(belt * (-1.0, 1.0), axles[1]) + hip * (-1.0, 1.0),
        body - np.array([0.5 * straight, 0.0]),
        _turn(belt, axles[0]) + hip,
    ]
    return [_turn(each, -pitch) + middle for each in turned]


def _turn(points: Array, angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return points @ np.array([[c, s], [-s, c]])
