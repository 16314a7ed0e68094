"""Chassis, wheels and belts are found in a URDF and measured; mistakes in it get one line."""

import numpy as np
import pytest

from rover_scenes import BOTH, changed
from sandlot.errors import SandlotError
from sandlot.robots.rover import BODIES, Rover, load_rover
from sandlot.robots.rover_layout import find_layout


@BOTH
def test_measured_sizes(name):
    layout = find_layout(load_rover(name))
    assert layout.radius == pytest.approx(0.03)
    assert layout.base == pytest.approx(0.191)
    assert [wheel.joint.name for wheel in layout.wheels] == ["fl_joint", "bl_joint", "fr_joint", "br_joint"]
    assert [wheel.side for wheel in layout.wheels] == ["left", "left", "right", "right"]
    assert [wheel.joint.powered for wheel in layout.wheels] == [True, name == "wheeled"] * 2
    assert len(layout.belts) == (2 if name == "tracked" else 0)


def test_a_track_with_a_raised_front_leans_back(tmp_path):
    path = changed(tmp_path, ('xyz="0.095 0.0955 -0.021"', 'xyz="0.095 0.0955 0.019"'), name="tracked")
    left, right = find_layout(Rover(urdf=path, tracks=True)).belts
    assert left.position == pytest.approx([0.0, 0.0955, -0.001])
    assert left.half_length == pytest.approx(np.hypot(0.095, 0.02))
    assert left.rotation[:, 0] == pytest.approx(np.array([0.095, 0.0, 0.02]) / np.hypot(0.095, 0.02))
    assert left.rotation[:, 1] == pytest.approx([0.0, 1.0, 0.0])
    assert right.rotation == pytest.approx(np.eye(3), abs=1e-12)


def test_settings_win_over_measured_sizes():
    layout = find_layout(Rover(urdf="tracked", radius=0.04, base=0.3, tracks=False))
    assert (layout.radius, layout.base, layout.belts) == (0.04, 0.3, ())


@pytest.mark.parametrize(
    ("options", "changes", "message"),
    [
        ({}, [("Body", "body")], 'rover.urdf: the chassis, link "Body", was not found; did you mean'),
        ({}, [("fl_Wheel", "f_Wheel")], "rover.urdf: wheel \"fl_Wheel\" was not found; did you mean 'f_Wheel'"),
        ({"left": ["fl_Leg"]}, [], 'joint "fl_mount": wheel "fl_Leg" is fixed; allowed: revolute, continuous'),
        ({"chassis": "fl_Wheel"}, [], '"fl_Wheel", hangs on a joint that turns; allowed: the root'),
        ({}, [('velocity="1.0"', 'velocity="2.0"')], "no left wheel is powered; allowed: a continuous joint, or"),
        ({}, [('axis xyz="0 1 0"', 'axis xyz="1 0 0"')], 'joint "fl_joint": the axis of a wheel must go across'),
        ({"left": ["fl_Wheel", "fl_joint"]}, [], "a wheel is named twice"),
        ({}, [("0.095 0.0955", "0.095 -0.0955")], "the left wheels are not left of the right ones; y is to the left"),
        ({"tracks": True, "left": ["fl_Wheel"]}, [], "a track needs two or more left wheels, apart"),
    ],
)
def test_a_body_without_the_named_chassis_or_wheels_is_refused(tmp_path, options, changes, message):
    rover = Rover(urdf=changed(tmp_path, *changes), **options)
    with pytest.raises(SandlotError, match=message) as caught:
        find_layout(rover)
    assert "\n" not in str(caught.value)


def test_wheels_of_different_sizes_need_a_radius_and_carry_no_belt(tmp_path):
    path = tmp_path / "rover.urdf"
    path.write_text((BODIES / "wheeled.urdf").read_text().replace('radius="0.03"', 'radius="0.04"', 2))
    with pytest.raises(SandlotError, match=r"powered wheels have radii from 0.03 to 0.04; give radius$"):
        find_layout(Rover(urdf=str(path)))
    assert find_layout(Rover(urdf=str(path), radius=0.03)).radius == 0.03
    with pytest.raises(SandlotError, match=r"left track's front wheel has radius 0.04, its back wheel 0.03; allowed"):
        find_layout(Rover(urdf=str(path), radius=0.03, tracks=True))
