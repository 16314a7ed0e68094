"""Rovers in MuJoCo: they follow commands within the limits of their motors, and collide with each other."""

import contextlib

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandlot.errors import SandlotError
from sandlot.robots.rover import BODIES, SHIPPED, Rover, load_rover, wheel_speeds
from sandlot.robots.rover_layout import find_layout
from sandlot.robots.rover_model import build_model, drive, move_belts, read_state
from sandlot.robots.rover_shapes import drawn_shapes

FLOOR = '<worldbody><geom name="floor" type="plane" size="9 9 1" friction="2 0.005 0.0001"/></worldbody>'
BOTH = pytest.mark.parametrize("name", SHIPPED)
HEIGHT = 0.051
"""Of the chassis above flat ground [m]."""


def run(rovers, seconds, commands=None, data=None):
    data = data or mujoco.MjData(rovers.model)
    if commands is not None:
        drive(rovers, data, commands)
    for _ in range(round(seconds / rovers.model.opt.timestep)):
        move_belts(rovers, data)
        mujoco.mj_step(rovers.model, data)
    return data


def on_floor(*rovers, floor=FLOOR, **options):
    poses = [[0.0, float(k), HEIGHT, 0.0, 0.0, 0.0] for k in range(len(rovers))]
    return build_model(rovers, poses, extra_xml=floor, **options)


def changed(folder, *changes, name="wheeled"):
    """A shipped body with some text replaced; its path."""
    text = (BODIES / f"{name}.urdf").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / "rover.urdf"
    path.write_text(text)
    return str(path)


class TestWheelSpeeds:
    def test_the_equations_of_the_source(self):
        assert wheel_speeds(0.2, 0.5, 0.19, 0.03) == pytest.approx([(0.2 - 0.0475) / 0.03, (0.2 + 0.0475) / 0.03])

    def test_batches(self):
        speeds = wheel_speeds(np.zeros((4, 1)), np.ones((1, 3)), 0.2, 0.1)
        assert speeds.shape == (4, 3, 2)
        assert speeds[2, 1] == pytest.approx([-1.0, 1.0])

    @given(st.floats(-5.0, 5.0), st.floats(-30.0, 30.0))
    def test_commands_beyond_the_motors_keep_the_curve(self, linear, angular):
        free, limited = (wheel_speeds(linear, angular, 0.2, 0.03, top) for top in (np.inf, 8.0))
        assert np.abs(limited).max() <= 8.0 * (1.0 + 1e-12)
        assert limited[0] * free[1] == pytest.approx(limited[1] * free[0])
        if np.abs(free).max() <= 8.0:
            assert limited == pytest.approx(free)
        else:
            assert np.abs(limited).max() == pytest.approx(8.0)


class TestParts:
    @BOTH
    def test_measured_sizes(self, name):
        parts = on_floor(load_rover(name)).rovers[0]
        assert parts.radius == pytest.approx(0.03)
        assert parts.base == pytest.approx(0.191)
        sides = [wheel.side for wheel in parts.wheels]
        assert sides == (["left", "left", "right", "right"] if name == "wheeled" else ["left", "right"])
        assert parts.wheels[0].joint == "fl_joint"
        assert [wheel.joint for wheel in parts.first] == ["fl_joint", "fr_joint"]

    @BOTH
    def test_addresses(self, name):
        rovers = on_floor(load_rover(name), load_rover(name))
        model = rovers.model
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        for k, parts in enumerate(rovers.rovers):
            assert data.xpos[parts.chassis] == pytest.approx([0.0, k, HEIGHT])
            assert data.qpos[parts.qpos : parts.qpos + 7] == pytest.approx([0.0, k, HEIGHT, 1.0, 0.0, 0.0, 0.0])
            assert model.dof_bodyid[parts.dof] == parts.chassis
            for wheel in parts.wheels:
                assert model.dof_bodyid[wheel.dof] == wheel.body
                assert model.jnt_qposadr[model.dof_jntid[wheel.dof]] == wheel.qpos
                assert model.actuator_trnid[wheel.actuator, 0] == model.dof_jntid[wheel.dof]
            bodies = set(model.geom_bodyid[list(parts.ground)])
            assert bodies == {parts.chassis, *(wheel.body for wheel in parts.wheels if name == "wheeled")}
            assert all(model.geom_contype[list(parts.ground)] == 1)
            assert model.body_subtreemass[parts.chassis] == pytest.approx(2.0)

    def test_tracks(self):
        parts = on_floor(load_rover("tracked")).rovers[0]
        for track, wheel, y in zip(parts.tracks, parts.wheels, (0.0955, -0.0955), strict=True):
            assert track.body == parts.chassis
            assert track.position == pytest.approx([0.0, y, -0.021])
            assert track.rotation == pytest.approx(np.eye(3), abs=1e-12)
            assert (track.half_length, track.radius, track.half_width) == pytest.approx((0.095, 0.03, 0.018))
            assert track.dof == wheel.dof

    def test_a_track_with_a_raised_front_leans_back(self, tmp_path):
        path = changed(tmp_path, ('xyz="0.095 0.0955 -0.021"', 'xyz="0.095 0.0955 0.019"'), name="tracked")
        left, right = on_floor(Rover(urdf=path, tracks=True)).rovers[0].tracks
        assert left.position == pytest.approx([0.0, 0.0955, -0.001])
        assert left.half_length == pytest.approx(np.hypot(0.095, 0.02))
        assert left.rotation[:, 0] == pytest.approx(np.array([0.095, 0.0, 0.02]) / np.hypot(0.095, 0.02))
        assert left.rotation[:, 1] == pytest.approx([0.0, 1.0, 0.0])
        assert right.rotation == pytest.approx(np.eye(3), abs=1e-12)

    def test_tracks_can_be_set(self):
        assert Rover(urdf="tracked").tracks
        assert not Rover(urdf="tracked", tracks=False).tracks
        assert not Rover().tracks
        assert not on_floor(Rover(urdf="tracked", tracks=False)).rovers[0].tracks

    def test_settings_win_over_measured_sizes(self):
        parts = on_floor(Rover(radius=0.04, base=0.3)).rovers[0]
        assert (parts.radius, parts.base) == (0.04, 0.3)

    def test_poses_are_those_of_the_chassis_wherever_the_root_is(self, tmp_path):
        root = (
            '<link name="root"/><joint name="up" type="fixed"><parent link="root"/><child link="Body"/>'
            '<origin xyz="0.1 0.2 0.3" rpy="0.3 0.2 0.1"/></joint>'
        )
        path = changed(tmp_path, ('<link name="Body">', f'{root}<link name="Body">'))
        plain, rooted = (build_model([Rover(urdf=urdf)], [[1, 2, 3, 0.1, 0.2, 0.3]]) for urdf in ("wheeled", path))
        for field in ("body_pos", "body_quat", "body_mass", "body_ipos", "body_inertia", "geom_pos", "jnt_axis"):
            assert getattr(rooted.model, field) == pytest.approx(getattr(plain.model, field), abs=1e-9)

    def test_meshes_may_be_wheels(self, tmp_path):
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


class TestDriving:
    @BOTH
    @pytest.mark.parametrize("speed", [0.2, -0.1])
    def test_straight(self, name, speed):
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
    def test_turning(self, name, rate):
        """Wheels that do not steer slip sideways, so the rover turns less than commanded, but to the right side."""
        data = run(on_floor(load_rover(name)), 1.5, [[0.0, rate]])
        yaw = 2.0 * np.arctan2(data.qpos[6], data.qpos[3])
        assert 0.2 < yaw / rate < 1.5
        assert np.abs(data.qpos[:2]).max() < 0.02

    def test_top_speed_is_that_of_the_motors(self):
        rovers = on_floor(load_rover("wheeled"))
        data, fastest = mujoco.MjData(rovers.model), 0.0
        drive(rovers, data, [[5.0, 0.0]])
        for _ in range(1000):
            mujoco.mj_step(rovers.model, data)
            fastest = max(fastest, np.abs(data.qvel[6:]).max())
        assert data.qvel[0] == pytest.approx(0.25, rel=0.03)
        assert fastest <= 1.001 * 0.25 / 0.03

    @pytest.mark.parametrize(("torque", "climbs"), [(0.98, True), (0.02, False)])
    def test_torque_is_limited(self, torque, climbs):
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

    @pytest.mark.parametrize("step", [0.0005, 0.001, 0.002])
    @pytest.mark.parametrize("integrator", ["mjINT_IMPLICITFAST", "mjINT_EULER"])
    def test_servos_neither_overshoot_nor_chatter(self, step, integrator):
        rovers = build_model([Rover()], [[0.0] * 6], step)
        rovers.model.opt.integrator = getattr(mujoco.mjtIntegrator, integrator)
        data, wheels = mujoco.MjData(rovers.model), [wheel.dof for wheel in rovers.rovers[0].wheels]
        drive(rovers, data, [[0.25, 0.0]])
        speeds = []
        for _ in range(round(0.1 / step)):
            mujoco.mj_step(rovers.model, data)
            speeds.append(data.qvel[wheels].copy())
        assert np.max(speeds) <= 1.0001 * 0.25 / 0.03
        assert np.diff(speeds, axis=0).min() > -1e-3
        assert speeds[-1] == pytest.approx(0.25 / 0.03, rel=1e-3)

    def test_wheels_under_a_belt_turn_together(self):
        rovers = on_floor(load_rover("tracked"))
        data = run(rovers, 1.0, [[0.1, 0.7]])
        turned = {name: data.joint(f"rover0/{name}_joint").qpos[0] for name in ("fl", "bl", "fr", "br")}
        assert turned["bl"] == pytest.approx(turned["fl"], abs=0.02)
        assert turned["br"] == pytest.approx(turned["fr"], abs=0.02)
        assert turned["fr"] > turned["fl"] + 1.0

    @pytest.mark.parametrize("moving", [True, False])
    def test_belts_drag_between_their_wheels(self, moving):
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

    def test_axes_may_point_either_way(self, tmp_path):
        text = (BODIES / "wheeled.urdf").read_text()
        for name in ("fr", "br"):
            at = text.index(f'<joint name="{name}_joint"')
            text = text[:at] + text[at:].replace('axis xyz="0 1 0"', 'axis xyz="0 -1 0"', 1)
        (tmp_path / "rover.urdf").write_text(text)
        rovers = on_floor(Rover(urdf=str(tmp_path / "rover.urdf")))
        data = run(rovers, 1.0, [[0.2, 0.0]])
        assert data.qpos[0] == pytest.approx(0.2, rel=0.05)
        assert all(data.qvel[wheel.dof] > 6.0 for wheel in rovers.rovers[0].wheels)

    @pytest.mark.parametrize("commands", [[[np.nan, 0.0]], [[0.0, np.inf]], [[0.0]], [[0.0, 0.0]] * 2])
    def test_impossible_commands_are_refused(self, commands):
        rovers = on_floor(Rover())
        data = mujoco.MjData(rovers.model)
        with pytest.raises(
            SandlotError, match=r"^commands of shape .* allowed: for each a linear and an angular speed$"
        ):
            drive(rovers, data, commands)
        assert not data.ctrl.any()


class TestState:
    @BOTH
    def test_state_is_that_of_mujoco_after_the_step(self, name):
        rovers = on_floor(load_rover(name), load_rover("wheeled"))
        data = run(rovers, 0.5, [[0.2, 0.5], [-0.1, 0.0]])
        state = read_state(rovers, data)
        mujoco.mj_kinematics(rovers.model, data)
        for k, parts in enumerate(rovers.rovers):
            assert np.array_equal(state.position[k], data.xpos[parts.chassis])
            assert state.rotation[k] == pytest.approx(data.xmat[parts.chassis].reshape(3, 3), abs=1e-12)
            assert np.array_equal(state.rates[k], data.qvel[parts.dof + 3 : parts.dof + 6])
            left, right = parts.first
            assert state.wheel_angles[k].tolist() == [data.qpos[left.qpos], data.qpos[right.qpos]]
            assert state.wheel_speeds[k].tolist() == [data.qvel[left.dof], data.qvel[right.dof]]
        assert state.yaw[0] > 0.02
        assert not state.exploded.any()
        assert not state.overturned.any()

    @pytest.mark.parametrize(
        ("address", "value"), [(0, np.nan), (2, 21.0), (3, -301.0), (7, np.inf), (6, np.nan), (9, -np.inf)]
    )
    def test_each_rover_explodes_by_itself(self, address, value):
        rovers = build_model([Rover(), Rover()], np.eye(2, 6))
        data = mujoco.MjData(rovers.model)
        data.qvel[:] = 19.0
        data.qvel[rovers.rovers[1].dof + address] = value
        assert read_state(rovers, data).exploded.tolist() == [False, True]

    def test_a_rover_on_its_back_is_overturned(self):
        rovers = build_model([Rover(), Rover()], [[0, 0, 0, 1.5, 0, 0], [0, 1, 0, 1.6, 0, 0]])
        assert read_state(rovers, mujoco.MjData(rovers.model)).overturned.tolist() == [False, True]


@BOTH
def test_drawn_shapes_have_the_size_and_place_of_the_rover(name):
    """The body is 168 x 89 mm; wheels of 60 x 36 mm are 191 mm apart, axles 190 mm: 250 x 227 mm in all."""
    shapes = drawn_shapes(find_layout(load_rover(name)))
    corners = np.concatenate([drawn.shape.box_corners() for drawn in shapes])
    assert np.ptp(corners[:, :2], axis=0) == pytest.approx([0.25, 0.227])
    assert corners[:, 2].min() == pytest.approx(-0.051)
    roles = [drawn.role for drawn in shapes]
    assert roles.count("wheel") == 4
    assert roles.count("belt") == (2 if name == "tracked" else 0)
    (body,) = (drawn.shape for drawn in shapes if drawn.shape.size == (0.168, 0.089, 0.049))
    assert body.position == pytest.approx(np.zeros(3))


class TestContacts:
    @BOTH
    def test_nothing_touches_itself_and_there_is_no_ground(self, name):
        rovers = build_model([load_rover(name)], [[0.0, 0.0, 0.0, 0.4, 0.5, 0.6]])
        data = run(rovers, 0.1)
        assert data.ncon == 0
        assert data.qvel[2] == pytest.approx(-0.981, rel=1e-3)

    def test_rovers_bump_into_each_other(self):
        rovers = build_model(
            [load_rover("wheeled"), load_rover("tracked")],
            [[0, 0, HEIGHT, 0, 0, 0], [0.3, 0, HEIGHT, 0, 0, 0]],
            extra_xml=FLOOR,
        )
        data = run(rovers, 0.3, [[0.2, 0.0], [0.0, 0.0]])
        first, second = (data.qpos[parts.qpos] for parts in rovers.rovers)
        assert second - first == pytest.approx(0.25, abs=2e-3)
        trees = rovers.model.body_rootid[rovers.model.geom_bodyid[data.contact.geom]]
        roots = [parts.chassis for parts in rovers.rovers]
        assert (trees == roots).all(axis=1).any()
        run(rovers, 0.5, data=data)
        assert data.qpos[2] > HEIGHT + 0.02, "its wheels grip, and climb onto the other's"

    def test_a_wall_stops_it(self):
        wall = (
            '<worldbody><geom type="box" size="0.1 1 0.05" pos="0.3 0 0.05" friction="0 0 0" priority="1"/></worldbody>'
        )
        data = run(on_floor(Rover(), floor=FLOOR + wall), 1.5, [[0.2, 0.0]])
        assert data.qpos[0] == pytest.approx(0.3 - 0.1 - 0.125, abs=0.01)

    def test_defaults_of_extra_xml_do_not_apply_to_rovers(self):
        odd = '<compiler angle="degree"/><default><geom contype="0" density="7"/><joint armature="3"/></default>'
        plain, mixed = on_floor(Rover()), on_floor(Rover(), floor=odd + FLOOR)
        for field in ("geom_contype", "dof_armature", "body_mass"):
            mine = getattr(mixed.model, field)
            assert mine[1:] == pytest.approx(getattr(plain.model, field)[1:])


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


class TestOtherRobots:
    @pytest.fixture
    def cart(self, tmp_path):
        (tmp_path / "cart.urdf").write_text(CART)
        (tmp_path / "cart.toml").write_text(
            'urdf = "cart.urdf"\nchassis = "base"\nleft = ["left motor"]\nright = ["right motor"]\n'
            "density = 100\ntorque = 5\ntop_speed = 20\narmature = 0.02\n"
        )
        return load_rover(tmp_path / "cart.toml")

    def test_a_few_lines_are_enough(self, cart):
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

    def test_joints_other_than_wheels_keep_their_limits(self, cart):
        rovers = build_model([cart], [[0, 0, 0, 0, 0, 0]])
        assert rovers.model.joint("rover0/tilt").range == pytest.approx([-0.2, 0.3])
        assert rovers.model.joint("rover0/tilt").limited[0]

    @BOTH
    def test_shipped_ones_have_files_too(self, name):
        assert load_rover(name) == Rover(urdf=name)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("urdf = 1", "^urdf=1 is not possible; allowed: text"),
            ("wheel = 1", "^no setting 'wheel'"),
            ("torque = -1", "^torque=-1 is not possible; allowed: a number above 0"),
            ("left = []", r"^left=\[\] is not possible; allowed: a list of one or more texts"),
            ('left = ["a", "a"]', "the values must all differ"),
            ("left", "is not TOML"),
        ],
    )
    def test_mistakes_in_their_files(self, tmp_path, text, message):
        (tmp_path / "r.toml").write_text(text)
        with pytest.raises(SandlotError, match=message):
            load_rover(tmp_path / "r.toml")

    def test_unknown_names_are_refused(self):
        with pytest.raises(
            SandlotError, match=r"^there is no rover 'weeled', and no such file; did you mean 'wheeled'"
        ):
            load_rover("weeled")
        with pytest.raises(SandlotError, match="known: tracked, wheeled"):
            load_rover("spirit")

    def test_missing_files_are_refused(self, tmp_path):
        with pytest.raises(SandlotError, match=r"^cannot read .*r.toml"):
            load_rover(tmp_path / "r.toml")
        (tmp_path / "r.toml").write_text("urdf = 'none.urdf'")
        with pytest.raises(SandlotError, match=rf"^cannot read .*{tmp_path.name}/none.urdf: No such file"):
            build_model([load_rover(tmp_path / "r.toml")], np.zeros((1, 6)))


@pytest.mark.parametrize(
    ("options", "changes", "message"),
    [
        ({}, [("Body", "body")], 'rover.urdf: the chassis, link "Body", is not there; did you mean'),
        ({}, [("fl_Wheel", "f_Wheel")], "rover.urdf: wheel \"fl_Wheel\" is not there; did you mean 'f_Wheel'"),
        ({"left": ["fl_Leg"]}, [], 'joint "fl_mount": wheel "fl_Leg" is fixed; allowed: revolute, continuous'),
        ({"chassis": "fl_Wheel"}, [], '"fl_Wheel", hangs on a joint that turns; allowed: the root'),
        ({}, [('velocity="1.0"', 'velocity="2.0"')], "no left wheel is powered; allowed: a continuous joint, or"),
        ({}, [('axis xyz="0 1 0"', 'axis xyz="1 0 0"')], 'joint "fl_joint": the axis of a wheel must go across'),
        ({"left": ["fl_Wheel", "fl_joint"]}, [], "a wheel is named twice"),
        ({"left": ["fr_Wheel"], "right": ["fl_Wheel"]}, [], "the left wheels are not left of the right ones"),
        ({}, [("0.095 0.0955", "0.095 -0.0955")], "the left wheels are not left of the right ones; y is to the left"),
        ({"tracks": True, "left": ["fl_Wheel"]}, [], "a track needs two or more left wheels, apart"),
        ({"tracks": True}, [("-0.095 0.0955", "0.095 0.0955")], "a track needs two or more left wheels, apart"),
    ],
)
def test_mistakes_in_bodies(tmp_path, options, changes, message):
    rover = Rover(urdf=changed(tmp_path, *changes), **options)
    with pytest.raises(SandlotError, match=message) as caught:
        build_model([rover], np.zeros((1, 6)))
    assert "\n" not in str(caught.value)


def test_wheels_of_different_sizes(tmp_path):
    text = (BODIES / "wheeled.urdf").read_text().replace('radius="0.03"', 'radius="0.04"', 2)
    (tmp_path / "rover.urdf").write_text(text)
    place = np.zeros((1, 6))
    with pytest.raises(SandlotError, match=r"powered wheels have radii from 0.03 to 0.04; give radius$"):
        build_model([Rover(urdf=str(tmp_path / "rover.urdf"))], place)
    build_model([Rover(urdf=str(tmp_path / "rover.urdf"), radius=0.03)], place)
    with pytest.raises(SandlotError, match=r"left track's front wheel has radius 0.04, its back wheel 0.03; allowed"):
        build_model([Rover(urdf=str(tmp_path / "rover.urdf"), radius=0.03, tracks=True)], place)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"poses": np.zeros((2, 6))}, r"^poses of shape \(2, 6\) for 1 rovers; allowed: for each x, y, z"),
        ({"poses": np.full((1, 6), np.nan)}, "^poses of shape"),
        ({"step": 0.0}, "^step=0 is not possible; allowed: a number above 0 and at most 0.1$"),
        ({"extra_xml": "<worldbody><gem/></worldbody>"}, "^MuJoCo refuses the model: XML Error: Schema violation"),
        ({"extra_xml": "<worldbody>"}, "^MuJoCo refuses the model: XML"),
    ],
)
def test_mistakes_in_models(options, message):
    with pytest.raises(SandlotError, match=message) as caught:
        build_model([Rover()], **{"poses": np.zeros((1, 6)), **options})
    assert "\n" not in str(caught.value)


TEXTS = [(BODIES / f"{name}.urdf").read_text() for name in SHIPPED]
VALUES = ["0", "-1", "1e-7", "1e6", "0 0 0", "0 1 1e-9", "1 2 3", "Body", "fl_Wheel", "fl_Leg", "fixed", "continuous"]
WORDS = st.lists(st.tuples(st.integers(0, 10_000), st.sampled_from(VALUES)), min_size=1, max_size=3)


@settings(max_examples=100)
@given(st.sampled_from(TEXTS), WORDS, st.booleans())
def test_damaged_bodies_are_built_or_refused(tmp_path_factory, text, words, tracks):
    pieces = text.split('"')
    for place, word in words:
        pieces[2 * (place % (len(pieces) // 2)) + 1] = word
    path = tmp_path_factory.getbasetemp() / "damaged.urdf"
    path.write_text('"'.join(pieces))
    with contextlib.suppress(SandlotError):
        rovers = build_model([Rover(urdf=str(path), tracks=tracks)], np.zeros((1, 6)))
        assert np.isfinite(rovers.model.body_mass).all()
        assert rovers.rovers[0].wheels
