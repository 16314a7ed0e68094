"""Rovers follow commands within the limits of their motors, on wheels and on tracks, also those from other URDFs."""

import mujoco
import numpy as np
import pytest

from rover_scenes import BOTH, FLOOR, HEIGHT, changed, on_floor, run
from sandlot.errors import SandlotError
from sandlot.robots.rover import BODIES, Rover, load_rover
from sandlot.robots.rover_model import build_model, drive, move_belts

CART = """
<robot name="cart">
  <link name="base"><collision><geometry><box size="0.3 0.2 0.1"/></geometry></collision></link>
  <link name="caster"><collision><geometry><sphere radius="0.05"/></geometry></collision></link>
  <link name="l"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
  <link name="r"><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
  <link name="mast"><inertial><mass value="0.1"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4"/></inertial></link>
  <joint name="c" type="fixed"><parent link="base"/><child link="caster"/><origin xyz="-0.12 0 -0.05"/></joint>
  <joint name="left motor" type="continuous"><parent link="base"/><child link="l"/><origin xyz="0.1 0.2 0"/>
    <axis xyz="0 1 0"/></joint>
  <joint name="right motor" type="continuous"><parent link="base"/><child link="r"/><origin xyz="0.1 -0.2 0"/>
    <axis xyz="0 1 0"/></joint>
  <joint name="tilt" type="revolute"><parent link="base"/><child link="mast"/><origin xyz="0 0 0.1"/>
    <axis xyz="0 1 0"/><limit velocity="0" lower="-0.2" upper="0.3"/></joint>
</robot>
"""


@BOTH
@pytest.mark.parametrize("speed", [0.2, -0.1])
def test_rovers_drive_straight(name, speed):
    rovers = on_floor(load_rover(name))
    data = run(rovers, 0.3, [[speed, 0.0]])
    before = data.qpos[:3].copy()
    run(rovers, 1.0, data=data)
    assert data.qpos[0] - before[0] == pytest.approx(speed, rel=0.03)
    assert data.qpos[1] == pytest.approx(0.0, abs=1e-3)
    wheels = [wheel.dof for wheel in rovers.rovers[0].wheels]
    assert data.qvel[wheels] == pytest.approx(speed / 0.03, rel=0.01)


@BOTH
@pytest.mark.parametrize("rate", [1.0, -1.0])
def test_rovers_turn_to_the_commanded_side(name, rate):
    """Wheels that do not steer slip sideways, so the rover turns less than commanded, but to the right side."""
    data = run(on_floor(load_rover(name)), 1.5, [[0.0, rate]])
    yaw = 2.0 * np.arctan2(data.qpos[6], data.qpos[3])
    assert 0.2 < yaw / rate < 1.5
    assert np.abs(data.qpos[:2]).max() < 0.02


def test_top_speed_is_that_of_the_motors():
    rovers = on_floor(load_rover("wheeled"))
    data, fastest = mujoco.MjData(rovers.model), 0.0
    drive(rovers, data, [[5.0, 0.0]])
    for _ in range(1000):
        mujoco.mj_step(rovers.model, data)
        fastest = max(fastest, np.abs(data.qvel[6:]).max())
    assert data.qvel[0] == pytest.approx(0.25, rel=0.03)
    assert fastest <= 1.001 * 0.25 / 0.03


@pytest.mark.parametrize(("torque", "climbs"), [(0.98, True), (0.02, False)])
def test_torque_is_limited(torque, climbs):
    """Up 20 degrees takes 6.7 N, of which each of four wheels gives its torque over 0.03 m."""
    tilt = np.radians(20.0)
    slope = FLOOR.replace("<geom", f'<geom quat="{np.cos(tilt / 2)} 0 {-np.sin(tilt / 2)} 0"')
    place = [-HEIGHT * np.sin(tilt), 0.0, HEIGHT * np.cos(tilt), 0.0, -tilt, 0.0]
    rovers = build_model([Rover(torque=torque)], [place], extra_xml=slope)
    data, largest = mujoco.MjData(rovers.model), 0.0
    drive(rovers, data, [[0.2, 0.0]])
    for _ in range(1000):
        mujoco.mj_step(rovers.model, data)
        largest = max(largest, np.abs(data.actuator_force).max(), np.abs(data.qfrc_actuator).max())
    assert largest <= torque * (1.0 + 1e-9)
    rise = data.qpos[2] - place[2]
    assert rise > 0.04 if climbs else rise < -0.04


@pytest.mark.parametrize(
    ("step", "integrator", "overshoot"),
    [
        (0.0005, "mjINT_IMPLICITFAST", 1e-4),
        (0.001, "mjINT_IMPLICITFAST", 1e-4),
        (0.002, "mjINT_IMPLICITFAST", 0.04),
        (0.01, "mjINT_IMPLICITFAST", 0.2),
        (0.0005, "mjINT_EULER", 1e-4),
        (0.001, "mjINT_EULER", 1e-4),
    ],
)
def test_servos_hardly_overshoot_and_do_not_chatter(step, integrator, overshoot):
    rovers = build_model([Rover()], [[0.0] * 6], step)
    rovers.model.opt.integrator = getattr(mujoco.mjtIntegrator, integrator)
    data, wheels = mujoco.MjData(rovers.model), [wheel.dof for wheel in rovers.rovers[0].wheels]
    drive(rovers, data, [[0.25, 0.0]])
    speeds = []
    for _ in range(round(0.1 / step)):
        mujoco.mj_step(rovers.model, data)
        speeds.append(data.qvel[wheels].copy())
    assert np.max(speeds) <= (1.0 + overshoot) * 0.25 / 0.03
    assert np.diff(speeds, axis=0).min() > -overshoot * 0.25 / 0.03
    assert speeds[-1] == pytest.approx(0.25 / 0.03, rel=1e-3)


def test_wheels_under_a_belt_turn_together():
    rovers = on_floor(load_rover("tracked"))
    data = run(rovers, 1.0, [[0.1, 0.7]])
    turned = {name: data.joint(f"rover0/{name}_joint").qpos[0] for name in ("fl", "bl", "fr", "br")}
    assert turned["bl"] == pytest.approx(turned["fl"], abs=0.02)
    assert turned["br"] == pytest.approx(turned["fr"], abs=0.02)
    assert turned["fr"] > turned["fl"] + 1.0


@pytest.mark.parametrize("moving", [True, False])
def test_belts_drag_between_their_wheels(moving):
    """On a block that is shorter than the distance of the axles."""
    block = '<worldbody><geom type="box" size="0.06 0.2 0.1" pos="0 0 -0.1" friction="2 0.005 0.0001"/></worldbody>'
    rovers = on_floor(load_rover("tracked"), floor=block)
    data = run(rovers, 0.2)
    drive(rovers, data, [[0.2, 0.0]])
    for _ in range(200):
        if moving:
            move_belts(rovers, data)
        mujoco.mj_step(rovers.model, data)
    assert data.qvel[0] == pytest.approx(0.2 * moving, abs=0.01)
    assert data.qpos[2] == pytest.approx(HEIGHT, abs=2e-3)


def test_axes_may_point_either_way(tmp_path):
    text = (BODIES / "wheeled.urdf").read_text()
    for name in ("fr", "br"):
        at = text.index(f'<joint name="{name}_joint"')
        text = text[:at] + text[at:].replace('axis xyz="0 1 0"', 'axis xyz="0 -1 0"', 1)
    path = tmp_path / "rover.urdf"
    path.write_text(text)
    rovers = on_floor(Rover(urdf=str(path)))
    data = run(rovers, 1.0, [[0.2, 0.0]])
    assert data.qpos[0] == pytest.approx(0.2, rel=0.05)
    assert all(data.qvel[wheel.dof] > 6.0 for wheel in rovers.rovers[0].wheels)


def test_meshes_may_be_wheels(tmp_path):
    angles = np.linspace(0.0, 2.0 * np.pi, 33)[:-1]
    rim = [f"v {np.cos(a)} {y} {np.sin(a)}" for y in (-0.5, 0.5) for a in angles]
    sides = [f"f {k + 1} {(k + 1) % 32 + 1} {k + 33}" for k in range(32)]
    (tmp_path / "wheel.obj").write_text("\n".join(rim + sides))
    mesh = '<geometry><mesh filename="wheel.obj" scale="0.03 0.036 0.03"/></geometry>'
    path = changed(
        tmp_path,
        ('<origin rpy="1.5707963267948966 0 0"/>', ""),
        ('<geometry><cylinder radius="0.03" length="0.036"/></geometry>', mesh),
    )
    rovers = on_floor(Rover(urdf=path))
    assert rovers.rovers[0].radius == pytest.approx(0.03)
    data = run(rovers, 1.0, [[0.2, 0.0]])
    assert data.qpos[0] == pytest.approx(0.2, rel=0.05)


@pytest.mark.parametrize("commands", [[[np.nan, 0.0]], [[0.0, np.inf]], [[0.0]], [[0.0, 0.0]] * 2])
def test_impossible_commands_are_refused(commands):
    rovers = on_floor(Rover())
    data = mujoco.MjData(rovers.model)
    with pytest.raises(SandlotError, match=r"^commands of shape .* allowed: for each a linear and an angular speed$"):
        drive(rovers, data, commands)
    assert not data.ctrl.any()


@pytest.fixture
def cart(tmp_path):
    (tmp_path / "cart.urdf").write_text(CART)
    (tmp_path / "cart.toml").write_text(
        'urdf = "cart.urdf"\nchassis = "base"\nleft = ["left motor"]\nright = ["right motor"]\n'
        "density = 100\ntorque = 5\ntop_speed = 20\narmature = 0.02\nfree = ['tilt']\n"
    )
    return load_rover(tmp_path / "cart.toml")


def test_a_rover_of_ones_own_drives_from_a_few_lines_of_toml(cart):
    floor = FLOOR.replace('friction="2', 'friction="1')
    rovers = build_model([cart], [[0, 0, 0.1, 0, 0, 0]], extra_xml=floor)
    assert (rovers.rovers[0].radius, rovers.rovers[0].base) == pytest.approx((0.1, 0.4))
    data = run(rovers, 2.0, [[0.5, 0.4]])
    start = data.qpos[:7].copy()
    run(rovers, 1.0, data=data)
    distance = np.linalg.norm(data.qpos[:2] - start[:2])
    yaw = 2.0 * (np.arctan2(data.qpos[6], data.qpos[3]) - np.arctan2(start[6], start[3]))
    assert distance == pytest.approx(0.5, rel=0.05)
    assert 0.3 < yaw < 0.42, "its caster drags"


def test_joints_other_than_wheels_keep_their_limits(cart):
    rovers = build_model([cart], [[0, 0, 0, 0, 0, 0]])
    assert rovers.model.joint("rover0/tilt").range == pytest.approx([-0.2, 0.3])
    assert rovers.model.joint("rover0/tilt").limited[0]
