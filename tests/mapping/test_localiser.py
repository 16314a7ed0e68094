"""Locating a robot in a known map: from a known start, from an unknown one, and after it was carried."""

import math

import numpy as np
import pytest

from sandlot.errors import MapError
from sandlot.mapping.grids.files import write_map
from sandlot.mapping.grids.geometry import FREE, WALL, Grid
from sandlot.mapping.localiser import Localiser
from sandlot.recordings.scans import Pose
from scan_drives import around, cluttered_room, ring, scans_along


def drawn(plan, resolution=0.05):
    """A map of a plan: walls where cells touch one, also those on the border of two."""
    left, low, right, high = plan.bounds
    grid = Grid.around([(left, low), (right, high)], resolution, 0.3)
    rows, columns = np.indices(grid.shape)
    centres = grid.centres(np.stack([rows, columns], axis=-1))
    return grid, np.where(np.abs(plan.clearance(centres)) < 0.75 * resolution, WALL, FREE).astype(np.uint8)


GRID, KINDS = drawn(ring())


def far_off(found, poses):
    wrong = np.array(found) - poses
    return np.hypot(wrong[:, 0], wrong[:, 1]).max(), np.abs(np.sin(wrong[:, 2])).max()


@pytest.mark.parametrize("known", [True, False], ids=["known start", "kidnapped"])
@pytest.mark.parametrize("odometry", [True, False], ids=["odometry", "scans alone"])
def test_a_robot_is_followed_through_the_map(known, odometry):
    poses = around(0.3)[30:90]
    localiser = Localiser(GRID, KINDS, Pose(*(poses[0] + (0.2, -0.1, 0.1))) if known else None, odometry)
    found = [localiser.add(scan) for scan in scans_along(ring(), poses)]
    assert not any(each.reason for each in found)
    distance, turn = far_off([each.pose for each in found], poses)
    assert distance < 0.06
    assert turn < 0.02
    assert localiser.searches == (0 if known else 1)


def test_a_robot_that_is_carried_is_found_again():
    first, second = around(1.0)[10:30], around(1.0)[150:170]
    localiser = Localiser(GRID, KINDS, odometry=False)
    found = [localiser.add(scan) for scan in scans_along(ring(), np.concatenate([first, second]), odometry=False)]
    assert localiser.searches >= 2
    assert found[len(first)].reason
    distance, _ = far_off([each.pose for each in found[-10:]], second[-10:])
    assert distance < 0.06


def test_a_scan_of_another_building_is_nowhere():
    localiser = Localiser(GRID, KINDS)
    found = localiser.add(scans_along(cluttered_room(1), np.zeros((1, 3)))[0])
    assert "map" in found.reason
    assert math.isnan(found.pose.x)
    assert not localiser.located


def test_a_map_is_read_from_a_file(tmp_path):
    write_map(tmp_path / "map.yaml", GRID, KINDS)
    pose = around(0.1)[:1]
    found = Localiser.read(tmp_path / "map.yaml").add(scans_along(ring(), pose)[0])
    assert far_off([found.pose], pose)[0] < 0.06


def test_a_map_without_walls_is_refused():
    with pytest.raises(MapError, match="0 occupied cells"):
        Localiser(GRID, np.full_like(KINDS, FREE))


def test_a_map_with_the_wrong_resolution_is_refused():
    """Walls ten times as thick: any scan would fit."""
    with pytest.raises(MapError, match=r"cells of 0\.5 m; .* at most 0\.2 m"):
        Localiser(Grid(GRID.origin, 0.5, GRID.shape), KINDS)
