"""What is read of the contacts of shapes with soil."""

import dataclasses

import numpy as np
import pytest

from sandlot.errors import ModelError
from soil_scenes import BODIES, GRAVITY, compiled, field, loose_body, make, plate, tracked


@compiled
def test_a_plate_at_a_depth():
    """0.4 by 0.2 m, pressed in by 20 mm."""
    model, data = plate()
    soil = field().attach(model)
    for z in (0.0, -0.01, -0.02):
        data.qpos[0], data.qvel[0] = z, 0.0
        soil.step(data)
    (contact,) = soil.contacts()
    assert contact.in_contact
    assert contact.area == pytest.approx(0.08, rel=1e-6)
    assert contact.sinkage == pytest.approx(0.02, abs=1e-3)
    assert np.array_equal([*contact.force, *contact.torque], soil.forces[0])
    assert (contact.name, contact.body) == ("geom 0", "body 1")
    with pytest.raises(dataclasses.FrozenInstanceError):
        contact.area = 0.0
    data.qpos[0] = 0.1
    soil.step(data)
    (contact,) = soil.contacts()
    assert not contact.in_contact
    assert (contact.area, contact.sinkage) == (0.0, 0.0)
    assert not contact.force.any()


@compiled
def test_each_shape_has_its_own():
    model, data = make(
        """<body name="robot" pos="0 0 0.06"><freejoint/><geom name="left" type="box" size="0.1 0.05 0.05" pos="0 0.2 0"
        mass="4"/><geom name="right" type="box" size="0.1 0.05 0.05" pos="0 -0.2 0" mass="4"/>
        <geom name="trunk" type="box" size="0.05 0.05 0.05" pos="0 0 0.3" mass="2"/></body>"""
    )
    soil = field().attach(model, ["trunk", "right", "left"])
    soil.step(data, 1000)
    trunk, right, left = soil.contacts()
    assert [trunk.name, right.name, left.name] == ["trunk", "right", "left"]
    assert {each.body for each in (trunk, right, left)} == {"robot"}
    assert [trunk.in_contact, right.in_contact, left.in_contact] == [False, True, True]
    assert right.force[2] + left.force[2] == pytest.approx(10.0 * GRAVITY, rel=0.01)
    assert right.torque[0] < -1.0 < 1.0 < left.torque[0]
    assert right.area == pytest.approx(0.02, rel=0.01)


@compiled
def test_tracks_have_names():
    model, data, tracks = tracked()
    soil = field().attach(model, ["hull"], tracks)
    soil.step(data, 300)
    names = [each.name for each in soil.contacts()]
    assert names == ["hull", "track on body 1", "track on body 1"]
    assert [each.in_contact for each in soil.contacts()] == [False, True, True]


def test_before_attach_and_before_the_first_step():
    with pytest.raises(ModelError, match="attached to no model"):
        field().contacts()
    (contact,) = field().attach(loose_body(BODIES["box"])[0]).contacts()
    assert not contact.in_contact
    assert contact.name == "it"
