"""Motors: where their limits come from, and servos whose gain follows from them."""

import pytest

from rover_bodies import FOUR, HUSKY, JACKAL
from sandlot.robots.rover import Rover
from sandlot.robots.rover_layout import find_layout
from sandlot.robots.rover_model import build_model
from sandlot.robots.rover_motors import Motor


def motors(tmp_path, text, **settings):
    (tmp_path / "r.urdf").write_text(text)
    return [wheel.motor for wheel in find_layout(Rover(urdf=str(tmp_path / "r.urdf"), **FOUR, **settings)).wheels]


@pytest.mark.parametrize("urdf", ["wheeled", "tracked"])
def test_the_shipped_rovers_have_the_motors_of_the_rover_5(urdf):
    motor = find_layout(Rover(urdf=urdf, tracks=urdf == "tracked")).wheels[0].motor
    assert motor == Motor(0.98, 0.25 / 0.03, 3e-3)
    assert motor.gain(4.5e-5, 0.001) == 3.0


def test_settings_win_over_the_limits_in_the_file(tmp_path):
    (motor, *_) = motors(tmp_path, JACKAL)
    assert (motor.torque, motor.top_speed) == (6.0, 20.4)
    (motor, *_) = motors(tmp_path, JACKAL, torque=4.0, top_speed=10.0, armature=0.01)
    assert motor == Motor(4.0, 10.0, 0.01)


def test_without_limits_motors_can_push_the_robot_with_its_weight(tmp_path):
    found = motors(tmp_path, HUSKY)
    assert sum(motor.torque for motor in found) / 0.165 == pytest.approx(50.0 * 9.81)
    assert found[0].top_speed == pytest.approx(0.25 / 0.03)
    assert found[0].armature == pytest.approx(3e-3 * found[0].torque / 0.98)


@pytest.mark.parametrize("written", ["1e16", "inf", "0", "-1", "1.7976931348623157e308"])
def test_limits_that_limit_nothing_do_not_count(tmp_path, written):
    text = JACKAL.replace('effort="6" velocity="20.4"', f'effort="{written}" velocity="{written}"')
    assert motors(tmp_path, text)[0].torque == pytest.approx(17.0 * 9.81 * 0.098 / 4)
    assert motors(tmp_path, text)[0].top_speed == pytest.approx(0.25 / 0.03)


@pytest.mark.parametrize("step", [0.00025, 0.0005, 0.001, 0.002])
def test_the_gain_does_not_depend_on_the_step(tmp_path, step):
    (tmp_path / "r.urdf").write_text(HUSKY)
    for rover, torque, top_speed in (
        (Rover(), 0.98, 0.25 / 0.03),
        (Rover(urdf=str(tmp_path / "r.urdf"), torque=30.0, top_speed=6.0, **FOUR), 30.0, 6.0),
    ):
        model = build_model([rover], [[0.0] * 6], step).model
        assert model.actuator_gainprm[:, 0] == pytest.approx(torque / (0.0392 * top_speed))


def test_a_gain_at_which_a_light_wheel_would_chatter_is_lowered():
    assert Motor(30.0, 6.0, 1e-3).gain(1e-3, 0.001) == pytest.approx(2 * 2e-3 / 0.001)
