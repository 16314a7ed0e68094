"""Walks along a path: uneven rounds of a person, poses beside them, and turn rates that lead back."""

import math

import numpy as np

from sandlot.studies.indoor.shared import follow
from sandlot.typing import Array

SPACING = 0.02
"""Distance between two positions of the walker [m]."""
WAVE = 3.0
"""Shortest wavelength of the walker's deviation from the path [m]."""


def curve(path: str) -> Array:
    """A closed path around the middle of the arena, counter-clockwise: (points, 2) [m]; the last point is the first."""
    angle = np.linspace(0.0, 2.0 * np.pi, 4001)
    if path == "loop":
        radius = (np.abs(np.cos(angle) / 2.8) ** 4 + np.abs(np.sin(angle) / 2.3) ** 4) ** -0.25
    else:
        radius = 2.3 + 0.6 * np.cos(2.0 * angle) + 0.25 * np.sin(angle)
    return 5.0 + radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])


def walk(path: str, rounds: int, uneven: float, rng: np.random.Generator) -> Array:
    """Uneven rounds along a path: (points, 2) [m], as many in each round.

    Args:
        path: ``loop`` or ``kidney``.
        rounds: Number of rounds.
        uneven: Standard deviation from the path [m].
        rng: Random generator.
    """
    exact_curve = curve(path)
    length = float(np.hypot(*np.diff(exact_curve, axis=0).T).sum())
    count = round(length / SPACING)
    exact = follow(exact_curve, count * rounds, length / count)
    waves = np.arange(1, max(1, round(rounds * length / WAVE)) + 1)
    phases = 2.0 * np.pi * np.outer(np.arange(len(exact)) / len(exact), waves)
    sines, cosines = rng.normal(0.0, uneven / math.sqrt(len(waves)), (2, len(waves)))
    return shifted(exact, np.sin(phases) @ sines + np.cos(phases) @ cosines, np.zeros(len(exact)))[:, :2]


def poses(walked: Array) -> Array:
    """Poses of a walker who faces forward: (points, 3) x [m], y [m], yaw [rad]."""
    dx, dy = (np.roll(walked, -1, 0) - np.roll(walked, 1, 0)).T
    return np.column_stack([walked, np.arctan2(dy, dx)])


def shifted(given: Array, sides: Array, turns: Array) -> Array:
    """Poses (n, 3) moved to their left by (n,) [m], then turned to the left by (n,) [rad]."""
    x, y, yaw = given.T
    return np.column_stack([x - sides * np.sin(yaw), y + sides * np.cos(yaw), yaw + turns])


def pursue(given: Array, aims: Array, speed: float) -> Array:
    """Pure pursuit: turn rates on the arcs from poses (n, 3) to aims (n, 2) at a speed [m/s]: (n,) [rad/s]."""
    dx, dy = (aims - given[:, :2]).T
    return 2.0 * speed * np.sin(np.arctan2(dy, dx) - given[:, 2]) / np.hypot(dx, dy)
