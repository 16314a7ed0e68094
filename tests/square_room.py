"""Exact scans in a square room, for the tests of sensor models."""

import math

import numpy as np

from sandlot.surrogates.sensorgraph import Sensorgraph


def room(seed, count, beams=36, side=4.0, centre=0.0, reach=1.5):
    """Scans from random poses.

    Args:
        seed: Of the poses.
        count: Number of scans.
        beams: Of a scan, over half a turn.
        side: Half the side of the room, whose middle is the origin [m].
        centre: Bearing of the middle of a scan [rad].
        reach: Maximum x and y of the poses [m].
    """
    poses = np.random.default_rng(seed).uniform((-reach, -reach, -math.pi), (reach, reach, math.pi), (count, 3))
    bearings = ((np.arange(beams) + 0.5) / beams - 0.5) * math.pi + centre
    cos, sin = np.cos(poses[:, 2:] + bearings), np.sin(poses[:, 2:] + bearings)
    ranges = np.minimum((np.copysign(side, cos) - poses[:, :1]) / cos, (np.copysign(side, sin) - poses[:, 1:2]) / sin)
    return Sensorgraph(poses, ranges, bearings)
