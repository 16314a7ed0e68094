"""Robots with a panned laser on courses, for tests of the laser and of maps."""

import numpy as np

from sandlot.physics.climbing.ground import empty_ground, set_ground
from sandlot.sensing.panned_laser import PANS, View

MOUNT = np.array([0.15, 0.12])


def grounds(*courses):
    """Of one robot for each course."""
    ground = empty_ground(len(courses))
    for k, course in enumerate(courses):
        ground = set_ground(ground, k, course.outlines(), course.near, course.end)
    return ground


def view(middles, attitudes, pans=None):
    """From these (x, z) and (roll, pitch, yaw); all lines unless told."""
    rows = np.tile(np.arange(PANS), (len(middles), 1)) if pans is None else np.asarray(pans)
    return View(np.array(middles, np.float64), np.array(attitudes, np.float64), MOUNT, rows)
