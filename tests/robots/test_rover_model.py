"""Rovers in a MuJoCo model: addresses, sizes, poses, contacts between them, and refused models."""

import contextlib

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rover_scenes import BOTH, FLOOR, HEIGHT, changed, on_floor, run
from sandlot.errors import SandlotError
from sandlot.robots.rover import BODIES, SHIPPED, Rover, load_rover
from sandlot.robots.rover_model import build_model


@BOTH
def test_addresses_are_those_of_the_model(name):
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
        assert [wheel.joint for wheel in parts.first] == ["fl_joint", "fr_joint"]
        bodies = set(model.geom_bodyid[list(parts.ground)])
        assert bodies == {parts.chassis, *(wheel.body for wheel in parts.wheels if name == "wheeled")}
        assert all(model.geom_contype[list(parts.ground)] == 1)
        assert model.body_subtreemass[parts.chassis] == pytest.approx(2.0)


def test_tracks_are_measured():
    parts = on_floor(load_rover("tracked")).rovers[0]
    for track, wheel, y in zip(parts.tracks, parts.wheels, (0.0955, -0.0955), strict=True):
        assert track.body == parts.chassis
        assert track.position == pytest.approx([0.0, y, -0.021])
        assert track.rotation == pytest.approx(np.eye(3), abs=1e-12)
        assert (track.half_length, track.radius, track.half_width) == pytest.approx((0.095, 0.03, 0.018))
        assert track.dof == wheel.dof


def test_poses_are_those_of_the_chassis_wherever_the_root_is(tmp_path):
    root = (
        '<link name="root"/><joint name="up" type="fixed"><parent link="root"/><child link="Body"/>'
        '<origin xyz="0.1 0.2 0.3" rpy="0.3 0.2 0.1"/></joint>'
    )
    path = changed(tmp_path, ('<link name="Body">', f'{root}<link name="Body">'))
    plain, rooted = (build_model([Rover(urdf=urdf)], [[1, 2, 3, 0.1, 0.2, 0.3]]) for urdf in ("wheeled", path))
    for field in ("body_pos", "body_quat", "body_mass", "body_ipos", "body_inertia", "geom_pos", "jnt_axis"):
        assert getattr(rooted.model, field) == pytest.approx(getattr(plain.model, field), abs=1e-9)


@BOTH
def test_nothing_touches_itself_and_there_is_no_ground(name):
    rovers = build_model([load_rover(name)], [[0.0, 0.0, 0.0, 0.4, 0.5, 0.6]])
    data = run(rovers, 0.1)
    assert data.ncon == 0
    assert data.qvel[2] == pytest.approx(-0.981, rel=1e-3)


def test_rovers_bump_into_each_other():
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


def test_a_wall_stops_a_rover():
    wall = '<worldbody><geom type="box" size="0.1 1 0.05" pos="0.3 0 0.05" friction="0 0 0" priority="1"/></worldbody>'
    data = run(on_floor(Rover(), floor=FLOOR + wall), 1.5, [[0.2, 0.0]])
    assert data.qpos[0] == pytest.approx(0.3 - 0.1 - 0.125, abs=0.01)


def test_defaults_of_extra_xml_do_not_apply_to_rovers():
    odd = '<compiler angle="degree"/><default><geom contype="0" density="7"/><joint armature="3"/></default>'
    plain, mixed = on_floor(Rover()), on_floor(Rover(), floor=odd + FLOOR)
    for field in ("geom_contype", "dof_armature", "body_mass"):
        mine = getattr(mixed.model, field)
        assert mine[1:] == pytest.approx(getattr(plain.model, field)[1:])


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
def test_impossible_poses_steps_and_extra_xml_are_refused(options, message):
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
