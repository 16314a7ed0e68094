"""Mapping simulated drives from end to end: loops close, with odometry and without; bad scans are refused."""

import math
from dataclasses import replace

import numpy as np
import pytest

from sandlot.geometry.planar import wrap
from sandlot.mapping.grids.geometry import FREE, WALL
from sandlot.mapping.mapper import Mapper
from sandlot.mapping.occupancy_map import OccupancyMap
from scan_drives import BOXES, around, cluttered_room, errors, ring, scans_along

POSES = around(1.3)


@pytest.fixture(scope="module", params=[True, False], ids=["odometry", "scans alone"])
def mapped(request):
    scans = scans_along(ring(), POSES, odometry=request.param)
    mapper = Mapper()
    for scan in scans:
        mapper.add(scan)
    mapper.finish()
    return mapper, scans


def test_a_lap_around_a_block_ends_where_it_began(mapped):
    mapper, scans = mapped
    found = mapper.trajectory()
    distances, turns = errors(found.poses, POSES)
    assert not mapper.refused
    assert len(mapper.loops.found) > 0
    assert (mapper.loops.weights > 0.5).all()
    assert mapper.loops.parts(mapper.submaps) == 1
    assert distances.max() < 0.15
    assert np.degrees(turns.max()) < 1.0
    np.testing.assert_array_equal(found.times, [scan.time for scan in scans])


def test_odometry_alone_is_far_off():
    scans = scans_along(ring(), POSES)
    distances, _ = errors(np.array([scan.odometry for scan in scans]), POSES)
    assert distances.max() > 1.0


def test_the_map_has_the_walls_of_the_plan(mapped):
    mapper, _ = mapped
    found = OccupancyMap(mapper).update()
    walls = found.grid.centres(np.argwhere(found.kinds == WALL))
    c, s = math.cos(POSES[0, 2]), math.sin(POSES[0, 2])
    there = walls @ np.array([[c, s], [-s, c]]) + POSES[0, :2]
    away = np.abs(ring().clearance(there))
    assert np.mean(away) < 0.05
    assert np.mean(away < 0.15) > 0.97
    free = 15.0 * 11.0 - 10.0 * 6.0 - sum(width * height for _, _, width, height in BOXES)
    assert (found.kinds == FREE).sum() * 0.05**2 == pytest.approx(free, rel=0.05)


def test_a_map_drawn_step_by_step_is_that_drawn_at_once():
    scans, mapper = scans_along(cluttered_room(4), np.linspace((0.0, 0.0, 0.0), (1.0, 0.0, 1.5), 30)), Mapper()
    steps = OccupancyMap(mapper)
    for scan in scans:
        mapper.add(scan)
        drawn = steps.update()
    whole = OccupancyMap(mapper).update()
    points = np.random.default_rng(0).uniform(-3.5, 3.5, (500, 2))
    values = [each.log_odds[tuple(each.grid.cells(points).T)] for each in (drawn, whole)]
    np.testing.assert_array_equal(*values)


def test_an_inertial_unit_replaces_the_yaw_of_odometry():
    poses = np.linspace((0.0, 0.0, 0.0), (0.6, 0.3, 12.0), 40)  # turns of 18 degrees
    scans, mapper = scans_along(cluttered_room(2), poses, odometry=False), Mapper()
    for scan, pose in zip(scans, poses, strict=True):
        mapper.add(scan, yaw=wrap(float(pose[2]) + 0.5))
    distances, turns = errors(mapper.trajectory().poses, poses)
    assert distances.max() < 0.05
    assert turns.max() < 0.02


def test_a_scan_without_returns_is_refused_and_the_next_fits_again():
    poses = np.linspace((0.0, 0.0, 0.0), (1.5, 0.0, 0.0), 16)
    scans, mapper = scans_along(cluttered_room(6), poses), Mapper()
    blind = replace(scans[8], ranges=np.full_like(scans[8].ranges, np.nan))
    estimates = [mapper.add(scan) for scan in (*scans[:8], blind, *scans[9:])]
    assert [k for k, each in enumerate(estimates) if each.reason] == [8]
    assert "only 0 beams returned" in mapper.refused[0][1]
    assert errors(mapper.trajectory().poses, poses)[0].max() < 0.05


def test_a_log_that_begins_without_returns_begins_with_the_first_that_has():
    scans, mapper = scans_along(cluttered_room(6), np.zeros((3, 3))), Mapper()
    mapper.add(replace(scans[0], ranges=np.full_like(scans[0].ranges, np.nan)))
    assert not mapper.keyframes
    mapper.add(scans[1])
    assert len(mapper.keyframes) == 1
    assert len(mapper.trajectory().times) == 2


@pytest.mark.parametrize("odometry", [True, False])
def test_a_robot_that_was_carried_begins_a_new_part_whose_place_is_unsure(odometry):
    here = scans_along(cluttered_room(1), np.linspace((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 15), odometry=odometry)
    there = scans_along(ring(), around(0.1)[:15], odometry=odometry)
    mapper = Mapper()
    for scan in (*here, *(replace(scan, time=scan.time + 60.0) for scan in there)):
        mapper.add(scan)
    assert mapper.restarts >= 1
    assert mapper.loops.parts(mapper.submaps) >= 2
    lost = [submap.anchor for submap in mapper.submaps[1:] if not submap.anchor.matched]
    assert len(lost) >= 1
    assert all(np.linalg.eigvalsh(anchor.information).max() <= 1.0 for anchor in lost)  # 1/m2, 1/rad2


def test_finishing_twice_changes_nothing(mapped):
    mapper, _ = mapped
    loops, poses = list(mapper.loops.found), mapper.trajectory().poses
    mapper.finish()
    assert len(mapper.loops.found) == len(loops) > 0
    np.testing.assert_array_equal(mapper.trajectory().poses, poses)


def test_time_that_goes_backwards_is_counted():
    scans, mapper = scans_along(cluttered_room(6), np.linspace((0.0, 0.0, 0.0), (0.5, 0.0, 0.0), 5)), Mapper()
    for k, scan in enumerate(scans):
        mapper.add(replace(scan, time=scan.time - 1.0) if k == 3 else scan)
    assert mapper.backwards == 1
    assert not mapper.refused
