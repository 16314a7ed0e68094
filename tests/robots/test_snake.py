"""The snake's body: what can be set, and where its links are."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandlot.errors import SandlotError
from sandlot.physics.swimming.body import SWIMMER
from sandlot.robots.snake import Snake, link_angles, link_centres, link_corners
from sandlot.settings import build


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"links": 2}, ["links=2", "at least 3"]),
        ({"links": 8.5}, ["links=8.5"]),
        ({"mass": -1.0}, ["mass=-1.0", "at least 0.001"]),
        ({"mass": 0.0}, ["mass=0.0", "at least 0.001"]),
        ({"length": 0.0}, ["length=0.0"]),
        ({"drag": -0.1}, ["drag=-0.1", "at least 0"]),
        ({"mass": math.nan}, ["mass=nan"]),
        ({"max_angle": 2.0}, ["max_angle=2.0"]),
        ({"faces": "some"}, ["faces=some", "open", "all"]),
        ({"step": 0.03}, ["step=0.03", "interval=0.02"]),
        ({"step": 0.003}, ["step=0.003 does not divide interval=0.02 evenly"]),
        ({"linkz": 5}, ["linkz", "links"]),
    ],
)
def test_a_mistake_gets_one_clear_line(settings, words):
    with pytest.raises(SandlotError) as caught:
        build(Snake, settings)
    assert "\n" not in str(caught.value)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_the_default_is_the_sources():
    snake = Snake()
    assert (snake.joints, snake.arclength, snake.link_mass) == (16, 25.5, 18.75)
    assert snake.substeps == 2
    assert snake.link_mass / (snake.length * snake.width * snake.height) == pytest.approx(50.0), "its density"


def test_faces_decide_where_drag_is():
    side, end = 6.0 * 1.5 * 0.5, 6.0 * 0.5 * 0.5
    hidden, bare = (Snake(drag=6.0, faces=faces).record() for faces in ("open", "all"))
    assert (hidden["side_drag"], hidden["end_drag"], hidden["tip_drag"]) == (side, 0.0, end)
    assert (bare["side_drag"], bare["end_drag"], bare["tip_drag"]) == (side, end, 0.0)


def test_a_record_has_every_field_of_the_kernels():
    record = Snake(links=5).record()
    assert record.dtype.names == SWIMMER.names
    assert record["links"] == record.links == 5


def test_a_straight_body_lies_along_its_heading():
    directions = link_angles(np.array(np.pi / 2), np.zeros(3))
    centres = link_centres(np.array([1.0, 2.0]), directions, 1.5)
    assert directions == pytest.approx(np.full(4, np.pi / 2))
    assert centres == pytest.approx(np.array([[1.0, 2.0 + y] for y in (2.25, 0.75, -0.75, -2.25)]))


def test_a_positive_joint_bends_the_heads_side_to_the_left():
    directions = link_angles(np.array(0.0), np.array([0.5, 0.0]))
    assert directions == pytest.approx([0.0, -0.5, -0.5])


@given(st.lists(st.floats(-1.5, 1.5), min_size=2, max_size=20), st.floats(-7.0, 7.0), st.floats(0.1, 3.0))
def test_links_hang_together_and_balance(angles, head, length):
    directions = link_angles(np.array(head), np.array(angles))
    centres = link_centres(np.array([3.0, -1.0]), directions, length)
    along = 0.5 * length * np.stack([np.cos(directions), np.sin(directions)], axis=1)
    assert (centres - along)[:-1] == pytest.approx((centres + along)[1:], abs=1e-9), "rear on front"
    assert centres.mean(axis=0) == pytest.approx([3.0, -1.0])


def test_many_bodies_at_once():
    rng = np.random.default_rng(0)
    heads, angles, places = rng.normal(size=4), rng.normal(size=(4, 5)), rng.normal(size=(4, 2))
    together = link_centres(places, link_angles(heads, angles), 1.5)
    for k in range(4):
        assert together[k] == pytest.approx(link_centres(places[k], link_angles(heads[k], angles[k]), 1.5))


def test_corners_go_round_every_link():
    snake = Snake(links=3, length=2.0, width=1.0)
    centres, directions = np.array([[0.0, 0.0], [-2.0, 0.0], [5.0, 5.0]]), np.array([0.0, math.pi / 2, math.pi / 6])
    corners = link_corners(centres, directions, snake)
    assert corners[0] == pytest.approx(np.array([[1.0, 0.5], [-1.0, 0.5], [-1.0, -0.5], [1.0, -0.5]]))
    assert corners[1] == pytest.approx(np.array([[-2.5, 1.0], [-2.5, -1.0], [-1.5, -1.0], [-1.5, 1.0]]))
    sides = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=-1)
    assert sides == pytest.approx(np.tile([2.0, 1.0, 2.0, 1.0], (3, 1)))
    assert link_corners(np.stack([centres] * 2), np.stack([directions] * 2), snake)[1] == pytest.approx(corners)
