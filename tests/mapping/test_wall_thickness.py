"""The thickness of a map's walls grows when poses are wrong."""

import numpy as np

from sandlot.mapping.matching.points import scan_points
from sandlot.mapping.wall_thickness import wall_thickness
from scan_drives import cluttered_room, scans_along


def test_wrong_poses_make_thick_walls():
    poses = np.linspace((0.0, 0.0, 0.0), (1.0, 0.5, 1.0), 20)
    points = [scan_points(scan) for scan in scans_along(cluttered_room(5), poses)]
    right = wall_thickness(points, poses)
    wrong = wall_thickness(points, poses + np.where(np.arange(20) % 2, 0.1, 0.0)[:, None] * (1.0, 1.0, 0.0))
    assert right < 0.02
    assert wrong > 2.0 * right
