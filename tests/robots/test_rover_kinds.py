"""Robots of the size of well-known ones drive straight and turn, alike at every step of the physics."""

import mujoco
import numpy as np
import pytest

from rover_bodies import FOUR, HUSKY, HUSKY_SPEED, JACKAL, TURTLEBOT, TWO
from sandlot.errors import RobotWarning, SandlotError
from sandlot.physics.soil import Soil
from sandlot.robots.rover import Rover
from sandlot.robots.rover_model import build_model, drive
from sandlot.robots.rover_reader import read_state


def ride(rover, height, ground, speed, turn_rate, step=0.001, seconds=1.5):
    """Mean speed [m/s] and turn rate [rad/s] of a drive from rest, after a second of acceleration."""
    made = build_model([rover], [[0.0, 0.0, height, 0.0, 0.0, 0.0]], step)
    parts, data = made.rovers[0], mujoco.MjData(made.model)
    soil = Soil(np.zeros((150, 150)), 0.12 * parts.radius, ground, wrap=True)
    soil.attach(made.model, parts.ground, parts.tracks)
    soil.step(data, round(0.5 / step))
    drive(made, data, [[speed, turn_rate]])
    soil.step(data, round(1.0 / step))
    track = []
    for _ in range(16):
        state = read_state(made, data)
        assert not state.exploded[0]
        track.append([*state.position[0, :2], state.yaw[0]])
        soil.step(data, round(seconds / 15.0 / step))
    track = np.array(track)
    path_length = np.linalg.norm(np.diff(track[:, :2], axis=0), axis=1).sum()
    yaw = np.unwrap(track[:, 2])
    return path_length / seconds, (yaw[-1] - yaw[0]) / seconds


@pytest.fixture
def husky(tmp_path):
    (tmp_path / "husky.urdf").write_text(HUSKY)
    return Rover(urdf=str(tmp_path / "husky.urdf"), top_speed=HUSKY_SPEED, **FOUR)


@pytest.mark.parametrize("ground", ["rigid", "mid"])
def test_a_husky_drives_straight(husky, ground):
    speed, turn_rate = ride(husky, 0.166, ground, 0.5, 0.0)
    assert speed == pytest.approx(0.5, rel=0.01 if ground == "rigid" else 0.06)
    assert turn_rate == pytest.approx(0.0, abs=0.01)


@pytest.mark.parametrize("ground", ["rigid", "mid"])
@pytest.mark.parametrize("speed", [0.5, 0.0])
def test_a_husky_turns_as_far_as_skid_steering_lets_it(husky, ground, speed):
    """The balance of lateral and longitudinal slip gives this share of differential drive; see terrain.turning.

    The wheels need half their torque for it, so they are too slow by 2% of their top speed.
    """
    expected = 0.57**2 / (0.57**2 + 0.512**2)
    _, turn_rate = ride(husky, 0.166, ground, speed, 0.6)
    assert turn_rate / 0.6 == pytest.approx(expected, rel=0.2)


@pytest.mark.parametrize(("ground", "share"), [("rigid", 0.49), ("mid", 0.50)])
def test_a_husky_drives_alike_at_every_step(husky, ground, share):
    found = np.array([ride(husky, 0.166, ground, 0.5, 0.6, step) for step in (0.0005, 0.001, 0.002)])
    assert np.ptp(found, axis=0) / found[0] == pytest.approx([0.0, 0.0], abs=0.01)
    assert found[:, 1] / 0.6 == pytest.approx([share] * 3, abs=0.006)


def test_a_jackal_takes_its_limits_from_the_file(tmp_path):
    (tmp_path / "jackal.urdf").write_text(JACKAL)
    rover = Rover(urdf=str(tmp_path / "jackal.urdf"), **FOUR)
    assert ride(rover, 0.099, "rigid", 1.5, 0.0)[0] == pytest.approx(1.5, rel=0.02)
    assert ride(rover, 0.099, "rigid", 0.5, 1.0)[1] == pytest.approx(0.376**2 / (0.376**2 + 0.262**2), rel=0.15)


def test_a_turtlebot_turns_on_its_caster(tmp_path):
    """Its caster is not named as a wheel, so it turns freely, and hardly resists."""
    (tmp_path / "turtlebot.urdf").write_text(TURTLEBOT)
    rover = Rover(
        urdf=str(tmp_path / "turtlebot.urdf"), top_speed=7.0, torque=1.5, free=["swivel", "caster_axle"], **TWO
    )
    assert ride(rover, 0.034, "rigid", 0.2, 0.0)[0] == pytest.approx(0.2, rel=0.02)
    assert ride(rover, 0.034, "rigid", 0.1, 1.0)[1] == pytest.approx(1.0, rel=0.05)


def test_a_husky_without_its_visual_meshes_drives(husky, tmp_path):
    mesh = '<visual><geometry><mesh filename="package://husky/meshes/wheel.dae"/></geometry></visual>'
    (tmp_path / "husky.urdf").write_text(HUSKY.replace("<collision>", f"{mesh}<collision>"))
    with pytest.warns(RobotWarning, match=r"^5 visual meshes left out of the picture: husky.urdf: .*wheel.dae"):
        assert ride(husky, 0.166, "rigid", 0.5, 0.0)[0] == pytest.approx(0.5, rel=0.01)


def test_a_husky_with_a_parameter_of_xacro_is_refused(husky, tmp_path):
    (tmp_path / "husky.urdf").write_text(HUSKY.replace('radius="0.165"', 'radius="${radius}"'))
    message = (
        r'^husky.urdf: link "front_left_wheel": <cylinder radius="\${radius}"> is xacro, which is not read; write it'
    )
    with pytest.raises(SandlotError, match=message):
        ride(husky, 0.166, "rigid", 0.5, 0.0)


def test_a_husky_with_a_large_inertia_drives(husky, tmp_path):
    """It hardly turns, but neither explodes."""
    at = HUSKY.index("<inertia ")
    moments = '<inertia ixx="2e6" iyy="2e6" izz="2e6"/>'
    (tmp_path / "husky.urdf").write_text(HUSKY[:at] + moments + HUSKY[HUSKY.index("</inertial>") :])
    speed, turn_rate = ride(husky, 0.166, "rigid", 0.5, 0.5)
    assert speed == pytest.approx(0.5, rel=0.05)
    assert turn_rate == pytest.approx(0.0, abs=0.01)
