"""Courses: boxes, stairs and other obstacles as outlines."""

import numpy as np
import pytest
from pydantic import TypeAdapter

from sandlot.errors import PlaceError, SettingError
from sandlot.places.course_kinds import SLAB, Box, CourseKind, Flat, Mixed, Ramp, Rubble, Stairs, Step, Trench
from sandlot.places.courses import make_course
from sandlot.settings import build

KINDS = [
    Flat(),
    Box(),
    Step(height=0.2),
    Step(height=-0.2),
    Ramp(),
    Trench(),
    *(Stairs(way=way, risers=risers) for way in ("up", "down", "both") for risers in (True, False)),
    Rubble(seed=1),
    Mixed(),
]


def course(kind, seed=0):
    return kind.draw(np.random.default_rng(seed))


def inside(polygon, points):
    """Whether points lie in a convex clockwise polygon."""
    edges = np.roll(polygon, -1, axis=0) - polygon
    away = points[:, None] - polygon
    return (edges[:, 0] * away[..., 1] - edges[:, 1] * away[..., 0] <= 1e-9).all(axis=1)


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_solids_end_where_the_surface_is(kind):
    made = course(kind)
    x = np.random.default_rng(1).uniform(made.near - 0.5, made.end + 0.5, 200)
    heights = made.heights(x)
    below, above = (np.column_stack([x, heights + shift]) for shift in (-1e-6, 1e-6))
    assert np.any([inside(solid, below) for solid in made.solids()], axis=0).all()
    assert not np.any([inside(solid, above) for solid in made.solids()], axis=0).any()


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_the_robot_starts_on_level_ground_and_the_obstacle_is_where_it_says(kind):
    made = course(kind)
    assert made.near == kind.distance
    assert made.end >= made.near
    for x in (made.near - 1e-6, made.end + 1e-6):
        far = np.linspace(x, x - 1.0 if x < made.near else x + 1.0, 11)
        np.testing.assert_allclose(made.heights(far), made.height(x))


def test_stairs_have_the_parameters_of_figure_33():
    made = course(Stairs(riser=0.2, tread=0.3))
    treads = made.heights(2.0 + 0.3 * np.arange(6) + 0.15)
    np.testing.assert_allclose(treads, 0.2 * np.arange(1, 7))
    assert made.height(2.0 + 5 * 0.3 + 0.99) == pytest.approx(1.2)
    assert made.end == pytest.approx(2.0 + 2 * 5 * 0.3 + 1.0)
    leaning = course(Stairs(angle=np.radians(35.0), tread=0.3))
    assert leaning.height(2.15) == pytest.approx(0.3 * np.tan(np.radians(35.0)))


def test_stairs_without_risers_are_open_below_their_treads():
    closed, open_ = (course(Stairs(riser=0.2, tread=0.3, risers=each)) for each in (True, False))
    x = np.linspace(1.5, 6.5, 400)
    np.testing.assert_allclose(open_.heights(x), closed.heights(x))
    gap = np.array([[2.45, 0.4 - SLAB - 0.01]])
    assert any(inside(solid, gap)[0] for solid in closed.solids())
    assert not any(inside(solid, gap)[0] for solid in open_.solids())


def test_rubble_is_drawn_anew_unless_it_has_a_seed():
    profiles = [course(Rubble(), seed).profile for seed in (0, 1)]
    assert profiles[0].shape != profiles[1].shape or not np.array_equal(*profiles)
    np.testing.assert_array_equal(*(course(Rubble(seed=4), seed).profile for seed in (0, 1)))
    made = course(Rubble(height=0.1))
    assert 0.0 <= made.profile[:, 1].min() < made.profile[:, 1].max() <= 0.1


def test_a_mix_has_boxes_stairs_and_rubble_of_all_sizes():
    rng = np.random.default_rng(0)
    drawn = [Mixed().draw(rng) for _ in range(60)]
    corners = {len(each.profile) for each in drawn}
    assert {6, 26} <= corners
    assert len(corners) > 5


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"kind": "stairs", "riser": 4.0}, r"riser=4.0 is not possible; allowed: a number above 0 and at most 3"),
        ({"kind": "stairs", "tread": 0.0}, r"tread=0.0 is not possible; allowed: a number at least 0.01"),
        ({"kind": "stairs", "angle": 1.5, "tread": 1.0}, r"riser of 14.10 m is higher than the world"),
        ({"kind": "stairs", "angle": 0.5, "riser": 0.2}, r"a riser or an angle; give one"),
        ({"kind": "stairs", "risers": False, "riser": 0.03}, r"must be higher than its tread's 0.04 m"),
        ({"kind": "box", "height": 0.0}, r"height=0.0 is not possible"),
        ({"kind": "rubble", "block": (0.4, 0.1)}, r"the shortest block is longer than the longest"),
        ({"kind": "mixed", "riser": (0.3, 0.1)}, r"riser=\[0.3, 0.1\]: allowed are two numbers"),
    ],
)
def test_impossible_sizes_are_explained(given, message):
    kind = {"stairs": Stairs, "box": Box, "rubble": Rubble, "mixed": Mixed}[given["kind"]]
    with pytest.raises(SettingError, match=message):
        build(kind, given)


def test_points_that_lead_back_are_refused():
    with pytest.raises(PlaceError, match="must lead forward"):
        make_course([(1.0, 0.0), (0.5, 0.1)], 0.5, 1.0)


def test_a_kind_is_chosen_by_its_name():
    assert TypeAdapter(CourseKind).validate_python({"kind": "trench", "width": 0.4}) == Trench(width=0.4)
