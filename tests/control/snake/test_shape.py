"""Shapes: as the source's algorithm makes them, and what crosses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandlot.control.snake.gaits import Gait, round_head, square_head
from sandlot.control.snake.shape import circle, shape
from sandlot.errors import SandlotError
from sandlot.robots.snake import Snake

EIGHT = Snake(links=8)


def algorithm(angles, length):
    """Algorithm 4.1, word by word: ends of the links, (links, 2, 2), from those of a straight chain."""
    n = len(angles) + 1
    links = np.array([[[-k * length, 0.0], [-(k + 1) * length, 0.0]] for k in range(n)])
    for i, angle in enumerate(angles):
        before = links.mean(axis=(0, 1))
        leading, trailing = i, n - 2 - i  # besides the two links at the joint
        joint = links[i, 1].copy()
        for part, by in (
            (slice(0, i + 1), angle * (trailing + 1) / n),
            (slice(i + 1, n), -angle * (leading + 1) / n),
        ):
            turn = np.array([[np.cos(by), -np.sin(by)], [np.sin(by), np.cos(by)]])
            links[part] = (links[part] - joint) @ turn.T + joint
        links += before - links.mean(axis=(0, 1))
    return links


@given(st.lists(st.floats(-3.0, 3.0), min_size=2, max_size=15))
def test_the_sources_algorithm_gives_the_same(angles):
    snake = Snake(links=len(angles) + 1)
    assert shape(angles, snake).ends == pytest.approx(algorithm(angles, 1.5), abs=1e-9)


def test_a_straight_body_has_its_front_at_the_origin():
    """Eight links of 1.5 are 12 long, with the centre at (-6, 0); the source says so too, and elsewhere 10.5."""
    ends = shape(np.zeros(7), EIGHT).ends
    assert ends[0, 0] == pytest.approx([0.0, 0.0])
    assert ends[-1, 1] == pytest.approx([-12.0, 0.0])


@pytest.mark.parametrize(
    "angles", [[0, 0, 0, 1.57, 0, 0, 0], [0.7] * 7, Gait(amplitude=1.0, phase=0.9).targets(0.3, 7)]
)
def test_the_centre_of_mass_is_held(angles):
    found = shape(angles, EIGHT)
    assert found.centres.mean(axis=0) == pytest.approx([-6.0, 0.0])
    assert found.ends.mean(axis=(0, 1)) == pytest.approx([-6.0, 0.0])


def test_the_middle_joint_turns_both_halves_alike():
    """Figure 4.1: by half the angle each, both ends to the left."""
    found = shape(np.radians([0, 0, 0, 90, 0, 0, 0]), EIGHT)
    assert np.degrees(found.directions) == pytest.approx([45.0] * 4 + [-45.0] * 4)
    front, rear = found.ends[0, 0], found.ends[-1, 1]
    assert front[1] == pytest.approx(rear[1])
    assert front[1] > 0.0 > found.ends[3, 1, 1]


def test_a_lighter_part_turns_further():
    found = shape(np.radians([80, 0, 0, 0, 0, 0, 0]), EIGHT)
    assert np.degrees(found.directions) == pytest.approx([70.0] + [-10.0] * 7)


def test_the_circle_is_open_by_one_link():
    found = shape(circle(7), EIGHT)
    gap = np.linalg.norm(found.ends[0, 0] - found.ends[-1, 1])
    assert np.degrees(circle(7)) == pytest.approx(np.full(7, 40.0))
    assert gap == pytest.approx(1.5)
    assert found.crossing() == found.touching() == []


def test_a_closed_circle_touches_its_tail():
    found = shape(np.full(7, 2.0 * np.pi / 8), EIGHT)
    assert found.ends[0, 0] == pytest.approx(found.ends[-1, 1])
    assert found.crossing() == []
    assert found.touching() == [(0, 7)]


def test_a_coil_crosses_itself():
    found = shape(np.radians([0, 100, 100, 100, 0]), Snake(links=6))
    assert found.crossing() == [(1, 4)]
    assert set(found.crossing()) <= set(found.touching())


def test_mirrored_shapes_cross_alike():
    angles = np.random.default_rng(0).uniform(-2.0, 2.0, (20, 11))
    for each in angles:
        one, other = shape(each, Snake(links=12)), shape(-each, Snake(links=12))
        assert one.crossing() == other.crossing()
        assert one.touching() == other.touching()


def test_thin_links_touch_less():
    angles = np.full(7, 2.0 * np.pi / 8.02)
    wide, thin = (shape(angles, EIGHT.model_copy(update={"width": width})) for width in (0.5, 0.01))
    assert wide.touching() == [(0, 7)]
    assert thin.touching() == []


@pytest.mark.parametrize("head", [square_head, round_head])
def test_the_heads_of_the_source_do_not_cross(head):
    assert shape(head(16), Snake()).crossing() == []


def test_a_wave_is_clear_of_itself():
    found = shape(Gait(amplitude=1.0, phase=2.0 * np.pi / 7).targets(0.0, 7), EIGHT)
    assert found.touching() == []


def test_another_number_of_angles_is_refused():
    with pytest.raises(SandlotError, match="3 angles for a body of 8 links; it has 7 joints"):
        shape([0.0, 0.0, 0.0], EIGHT)
