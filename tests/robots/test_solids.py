"""Solids: mass and inertia from their shapes, and how far they extend."""

import numpy as np
import pytest

from sandlot.geometry.rotations import rotation_matrix
from sandlot.robots.solids import Solid, combine
from sandlot.robots.urdf import parse_urdf
from urdf_text import collision, link, robot


@pytest.mark.parametrize(
    ("geometry", "volume", "moments"),
    [
        ("<box size='2 3 4'/>", 24.0, [25 / 12, 20 / 12, 13 / 12]),
        ("<cylinder radius='2' length='3'/>", 12.0 * np.pi, [1.75, 1.75, 2.0]),
        ("<sphere radius='2'/>", 32.0 / 3.0 * np.pi, [1.6, 1.6, 1.6]),
    ],
)
def test_mass_and_inertia_come_from_shapes_and_density(geometry, volume, moments):
    found = parse_urdf(robot(link("a", collision(geometry, "<origin xyz='1 2 3'/>"))), density=10.0).links["a"].inertial
    assert found.mass == pytest.approx(10.0 * volume)
    assert found.centre == pytest.approx([1.0, 2.0, 3.0])
    assert np.diag(found.inertia) == pytest.approx(found.mass * np.array(moments))


def test_two_boxes_have_the_inertia_of_one_twice_as_long():
    half = "<box size='1 1 1'/>"
    origin = "<origin xyz='{} 0 0' rpy='0 0 1.5707963267948966'/>"
    both = (
        parse_urdf(robot(link("a", collision(half, origin.format(0.5)) + collision(half, origin.format(1.5)))))
        .links["a"]
        .inertial
    )
    whole = parse_urdf(robot(link("a", collision("<box size='2 1 1'/>", "<origin xyz='1 0 0'/>")))).links["a"]
    whole = whole.inertial
    assert both.mass == pytest.approx(whole.mass)
    assert both.centre == pytest.approx(whole.centre)
    assert both.inertia == pytest.approx(whole.inertia, abs=1e-9)


def test_no_shapes_have_no_mass():
    assert combine([]).mass == 0.0


def test_extent_of_a_wheel_along_and_around_its_axle():
    wheel = Solid("cylinder", (0.3, 0.1), np.array([1.0, 2.0, 0.0]), rotation_matrix(np.pi / 2, 0, 0), None, None)
    assert wheel.extent(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])) == pytest.approx((0.3, 1.95, 2.05))


def test_extent_of_a_ball_beside_the_axis():
    ball = Solid("sphere", (0.5,), np.array([3.0, 0.0, 1.0]), np.eye(3), None, None)
    assert ball.extent(np.zeros(3), np.array([0.0, 0.0, 1.0])) == pytest.approx((3.5, 0.5, 1.5))


def test_box_corners_enclose_a_wheel():
    wheel = Solid("cylinder", (0.3, 0.1), np.array([1.0, 2.0, 0.0]), rotation_matrix(np.pi / 2, 0, 0), None, None)
    corners = wheel.box_corners()
    assert corners.min(axis=0) == pytest.approx([0.7, 1.95, -0.3])
    assert corners.max(axis=0) == pytest.approx([1.3, 2.05, 0.3])


def test_extent_of_a_box():
    box = Solid("box", (6.0, 8.0, 2.0), np.zeros(3), np.eye(3), None, None)
    assert box.extent(np.zeros(3), np.array([0.0, 0.0, 1.0])) == pytest.approx((5.0, -1.0, 1.0))
