"""Random flats can be walked through; furniture moves without blocking a door."""

import numpy as np
import pytest

from sandlot.errors import PlaceError
from sandlot.geometry.walls import block
from sandlot.places.flats import MIN_SIDE, Room, between, divide, random_flat
from sandlot.places.furniture import OpenFloor, Piece, furnished, moved, pieces_of
from sandlot.places.plans import load_plan, make_plan
from sandlot.worlds.indoor.floor import Floor


@pytest.mark.parametrize("seed", range(6))
def test_a_robot_gets_into_every_room_of_a_random_flat(seed):
    plan = random_flat(seed)
    width, depth = plan.bounds[2:]
    assert 59.0 < width * depth < 101.0
    lines, shines, pieces = pieces_of(plan)
    assert len(pieces) >= 5
    # Without furniture, the floor that a small robot reaches is nearly all there is.
    assert Floor(make_plan(lines, shine=shines), 0.1).area > 0.93 * width * depth
    # With furniture, all places with room for a robot are joined.
    floor = Floor(plan, 0.3)
    free = np.ones_like(floor.free)
    block(plan.walls, 0.3, floor.corner, floor.spacing, free)
    y, x = (floor.corner[1 - k] + floor.spacing * (each + 0.5) for k, each in enumerate(np.nonzero(free)))
    hidden = (x < 0.0) | (x > width) | (y < 0.0) | (y > depth)
    for piece in pieces:
        c, s = np.cos(piece.angle), np.sin(piece.angle)
        dx, dy = x - piece.centre[0], y - piece.centre[1]
        hidden |= (abs(c * dx + s * dy) < 0.5 * piece.size[0]) & (abs(c * dy - s * dx) < 0.5 * piece.size[1])
    assert floor.free.sum() > 0.98 * (~hidden).sum()


def test_flats_repeat_by_seed_and_differ_by_seed():
    assert random_flat(3).digest == random_flat(3).digest != random_flat(4).digest
    one, other = random_flat(3), random_flat(3, furniture=9)
    walls = [pieces_of(plan)[0] for plan in (one, other)]
    np.testing.assert_array_equal(*walls)
    assert one.digest != other.digest


def test_rooms_fill_the_flat_and_share_walls():
    rooms = divide(Room(0.0, 0.0, 11.0, 8.0), np.random.default_rng(1))
    assert sum(np.prod(room.sides) for room in rooms) == pytest.approx(88.0)
    assert min(min(room.sides) for room in rooms) > 0.95 * MIN_SIDE
    shared = sum(wall.high - wall.low for wall in between(rooms))
    assert 2.0 * shared + 2.0 * (11.0 + 8.0) == pytest.approx(sum(2.0 * sum(room.sides) for room in rooms))


@pytest.mark.parametrize("name", ["flat", "apartment"])
def test_furniture_is_moved_and_the_walls_stay(name):
    plan = load_plan(name)
    other = moved(plan, 4)
    for one, two in zip(pieces_of(plan)[:2], pieces_of(other)[:2], strict=True):
        np.testing.assert_array_equal(one, two)
    pairs = list(zip(pieces_of(plan)[2], pieces_of(other)[2], strict=True))
    shifts = [np.hypot(*np.subtract(a.centre, b.centre)) for a, b in pairs]
    assert np.mean(np.array(shifts) > 0.05) > 0.5
    assert max(shifts) < 0.9
    for a, b in pairs:
        assert a.size == pytest.approx(b.size)
        assert (a.round, a.shine) == (b.round, b.shine)
    assert Floor(other, 0.3).area > 0.85 * Floor(plan, 0.3).area
    assert moved(plan, 4).digest == other.digest != moved(plan, 5).digest


def test_a_piece_is_refused_in_a_wall_on_a_piece_and_in_a_door():
    walls = [(0, 0, 6, 0), (6, 0, 6, 3), (6, 3, 0, 3), (0, 3, 0, 0), (3, 0, 3, 1.0), (3, 2.0, 3, 3)]
    plan = make_plan(np.array(walls, np.float64))
    floor = OpenFloor(plan.walls, plan.bounds)
    assert not floor.add(Piece((3.0, 0.5), (0.5, 0.5)))
    assert not floor.add(Piece((3.2, 1.5), (0.3, 0.9)))
    assert not floor.add(Piece((2.6, 1.5), (0.6, 0.6), round=True))
    assert not floor.add(Piece((20.0, 1.5), (0.6, 0.6)))
    assert floor.add(Piece((1.0, 1.5), (0.8, 0.8), 0.4))
    assert not floor.add(Piece((1.0, 1.5), (0.4, 0.4)))
    assert floor.add(Piece((5.0, 1.5), (0.6, 0.6), round=True))
    assert [piece.centre for piece in floor.pieces] == [(1.0, 1.5), (5.0, 1.5)]
    again = furnished(plan.segments, plan.shine, floor.pieces)
    assert (again.boxes, len(again.circles)) == (1, 1)


def test_a_plan_without_furniture_is_explained():
    with pytest.raises(PlaceError, match="no furniture to move"):
        moved(make_plan([(0, 0, 1, 0)]), 0)
    large = make_plan(
        [(0, 0, 9000, 0), (0, 0, 0, 9000), (1, 1, 2, 1), (2, 1, 2, 2), (2, 2, 1, 2), (1, 2, 1, 1)], boxes=1
    )
    with pytest.raises(PlaceError, match="too large"):
        moved(large, 0)
