"""The reputation map: its rules one by one, and what is hidden."""

import math

import numpy as np
import pytest

from sandlot.mapping.features.obstacles import NOISE as NOISE_POINT
from sandlot.mapping.features.obstacles import WALL as WALL_POINT
from sandlot.mapping.features.obstacles import Features
from sandlot.mapping.grids.geometry import FREE, OBSTACLE, UNKNOWN, WALL, Grid
from sandlot.mapping.grids.reputation import NOISE, ReputationMap, Rules, judge
from sandlot.places.plans import make_plan
from sandlot.recordings.scans import Pose, Scan
from sandlot.sensing.laser import Laser

pytest.importorskip("cv2")
pytest.importorskip("sklearn")
GRID = Grid((0.0, 0.0), 0.1, (40, 60))
CENTRE = np.array([10.5, 20.5])


def one_cell(kind, reputation, shown):
    """What becomes of a cell: kind and reputation."""
    made = ReputationMap(GRID)
    made.kinds[3, 4], made.reputation[3, 4], made._marks[3, 4] = kind, reputation, shown
    made._apply(np.array([3 * 60 + 4], np.int32))
    assert made._marks[3, 4] == 0
    return made.kinds[3, 4], made.reputation[3, 4]


def twin(kind, reputation, shown, rules):
    """The rules of a cell, in plain Python."""
    if shown == NOISE:
        return kind, reputation
    most = {FREE: rules.highest_free, OBSTACLE: rules.highest, WALL: rules.highest}
    if shown == kind:
        return kind, min(reputation + rules.confirmed, most[kind])
    if kind == UNKNOWN:
        return shown, rules.confirmed
    loss = rules.mistaken if {kind, shown} == {OBSTACLE, WALL} else rules.contradicted
    return (kind, reputation - loss) if reputation > loss else (shown, rules.confirmed)


@pytest.mark.parametrize("kind", [FREE, OBSTACLE, WALL])
@pytest.mark.parametrize("shown", [FREE, OBSTACLE, WALL, NOISE])
@pytest.mark.parametrize("reputation", [0.25, 1.0, 2.0, 3.0])
def test_a_cell_follows_the_rules(kind, shown, reputation):
    assert one_cell(kind, reputation, shown) == twin(kind, reputation, shown, Rules())
    assert one_cell(UNKNOWN, 0.0, shown) == twin(UNKNOWN, 0.0, shown, Rules())


def test_an_obstacle_where_a_wall_was_costs_less_than_free_space():
    assert one_cell(WALL, 5.0, FREE)[1] < one_cell(WALL, 5.0, OBSTACLE)[1] < 5.0
    assert one_cell(WALL, 5.0, WALL)[1] > 5.0


def column(x, low, high, label):
    """Points at the middles of the cells of one column: x and rows as cells."""
    rows = np.arange(low, high) + 0.5
    return np.column_stack([np.full(len(rows), x + 0.5), rows]), np.full(len(rows), label)


def add(made, *parts, walls=()):
    ends, labels = (np.concatenate(each) for each in zip(*parts, strict=True))
    lines = (np.array(walls, float).reshape(-1, 4) - np.tile(CENTRE, 2)) * GRID.resolution
    hits = np.ones(len(ends), bool)
    made.add_features(CENTRE, ends, hits, Features(lines, (ends - CENTRE) * GRID.resolution, labels))


def test_hidden_cells_of_a_wall_are_left_alone():
    """As figures 43 and 44: an obstacle before a wall, whose cells behind the obstacle are not seen."""
    made = ReputationMap(GRID)
    line = (30.5, 10.5, 30.5, 30.5)
    for _ in range(4):
        add(made, column(30, 10, 31, WALL_POINT), walls=[line])
    assert (made.reputation[10:31, 30] == 4.0).all()
    seen = [column(30, 10, 17, WALL_POINT), column(30, 25, 31, WALL_POINT), column(20, 19, 23, 0)]
    for _ in range(3):
        add(made, *seen, walls=[line])
    assert made.kinds[20, 20] == OBSTACLE
    behind = [row for row in range(10, 31) if 19.0 < 20.5 + (row + 0.5 - 20.5) / 2.0 < 23.0]
    assert behind == list(range(18, 25))
    assert (made.reputation[behind, 30] == 4.0).all()
    assert (made.kinds[behind, 30] == WALL).all()
    assert (made.reputation[10:17, 30] == 7.0).all()


def test_a_wall_hides_itself_at_no_angle():
    made = ReputationMap(GRID)
    add(made, column(12, 0, 40, WALL_POINT), walls=[(12.5, 0.5, 12.5, 39.5)])
    assert (made.kinds[:, 12] == WALL).all()


def test_noise_changes_nothing_and_hides_what_is_behind():
    made = ReputationMap(GRID)
    add(made, column(30, 18, 23, WALL_POINT), walls=[(30.5, 18.5, 30.5, 22.5)])
    add(made, column(20, 18, 24, NOISE_POINT))
    assert (made.kinds[18:23, 30] == WALL).all()
    assert (made.kinds[20, 11:20] == FREE).all()
    assert made.kinds[20, 20] == FREE  # as the first scan showed


def test_moved_furniture_vanishes_and_appears():
    walls = [(0.55, 0.55, 5.45, 0.55), (5.45, 0.55, 5.45, 3.45), (5.45, 3.45, 0.55, 3.45), (0.55, 3.45, 0.55, 0.55)]
    laser = Laser(beams=360, field_of_view=2.0 * math.pi).exact()
    made, pose = ReputationMap(GRID), Pose(1.05, 2.05, 0.0)
    for circle, here, there in [((3.25, 2.05), 32, 45), ((4.5, 2.05), 45, 32)]:
        plan = make_plan(walls, [(*circle, 0.2)])
        for k in range(8):
            ranges = laser.scan(plan, [pose], np.random.default_rng(k))[0].astype(np.float32)
            assert made.update(Scan(0.1 * k, ranges, laser.bearings, pose)) > 500
        assert (made.kinds[20, here - 3 : here + 3] == OBSTACLE).any()
        assert (made.kinds[20, there - 3 : there + 3] != OBSTACLE).all()
    assert (made.kinds[5, 20:40] == WALL).mean() > 0.9
    assert made.darkness.max() <= 1.0


def test_judging_is_compiled_and_pure():
    marks = np.array([FREE, WALL], np.uint8)
    kinds, reputation = np.array([UNKNOWN, WALL], np.uint8), np.array([0.0, 9.5], np.float32)
    limits = np.array([0.0, 3.0, 10.0, 10.0], np.float32)
    judge(np.arange(2, dtype=np.int32), marks, reputation, kinds, np.array([1.0, 1.0, 0.25], np.float32), limits)
    assert kinds.tolist() == [FREE, WALL]
    assert reputation.tolist() == [1.0, 10.0]
    assert not marks.any()
