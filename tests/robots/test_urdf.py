"""URDF files: their contents are read, and every mistake in them is a one-line error that names the element."""

import contextlib
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from sandlot.errors import SandlotError
from sandlot.geometry.rotations import rotation_matrix
from sandlot.robots.rover import BODIES, SHIPPED
from sandlot.robots.urdf import parse_urdf, read_urdf
from urdf_text import collision, inertial, joint, link, robot

SOURCE = """<?xml version="1.0"?>
<robot name="origins">
  <link name="base_link">
    <visual>
      <geometry>
        <cylinder length="0.6" radius="0.2"/>
      </geometry>
    </visual>
  </link>

  <link name="right_leg">
    <visual>
      <geometry>
        <box size="0.6 .2 .1"/>
      </geometry>
      <origin rpy="0 1.57075 0" xyz="0 0 -0.3"/>
    </visual>
  </link>

  <joint name="base_to_right_leg" type="fixed">
    <parent link="base_link"/>
    <child link="right_leg"/>
    <origin xyz="0.22 0 .25"/>
  </joint>

</robot>
"""


def test_the_example_of_the_source():
    assembly = parse_urdf(SOURCE)
    assert assembly.name == "origins"
    assert assembly.root == "base_link"
    assert list(assembly.links) == ["base_link", "right_leg"]
    box = assembly.links["right_leg"].visual[0]
    assert (box.kind, box.size) == ("box", (0.6, 0.2, 0.1))
    assert box.position == pytest.approx([0.0, 0.0, -0.3])
    assert box.rotation @ [1.0, 0.0, 0.0] == pytest.approx([0.0, 0.0, -1.0], abs=1e-4)
    assert assembly.links["base_link"].visual[0].size == (0.2, 0.6)
    assert assembly.joints["right_leg"].position == pytest.approx([0.22, 0.0, 0.25])
    assert assembly.mass == 0.0, "it says nothing about it"


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_bodies_have_their_mass_motors_and_inertia(name):
    assembly = read_urdf(BODIES / f"{name}.urdf")
    assert assembly.root == "Body"
    assert assembly.mass == pytest.approx(2.0)
    powered = {child for child, joint in assembly.joints.items() if joint.powered}
    assert powered == {"fl_Wheel", "fr_Wheel"} | ({"bl_Wheel", "br_Wheel"} if name == "wheeled" else set())
    for part in assembly.links.values():
        # Written inertias are those of solids of constant density.
        even = part.collision[0].inertial(density=1.0)
        scale = part.inertial.mass / even.mass
        assert part.inertial.inertia == pytest.approx(scale * even.inertia, rel=1e-3, abs=1e-9)


@pytest.mark.parametrize(
    ("kind", "limit", "powered"),
    [
        ("revolute", "<limit velocity='1.0'/>", True),
        ("revolute", "<limit velocity='1' lower='0' upper='0'/>", True),
        ("revolute", "<limit velocity='2.0'/>", False),
        ("revolute", "", False),
        ("continuous", "", True),
        ("fixed", "<limit velocity='1.0'/>", False),
    ],
)
def test_continuous_joints_and_those_with_velocity_1_are_powered(kind, limit, powered):
    assembly = parse_urdf(robot(link("a"), link("b"), joint(kind=kind, inner=limit)))
    assert assembly.joints["b"].powered is powered
    assert assembly.joints["b"].limits is None


def test_limits_are_read_and_axes_normalized():
    inner = "<axis xyz='0 3 4'/><limit velocity='0' lower='-0.5' upper='1'/>"
    found = parse_urdf(robot(link("a"), link("b"), joint(kind="revolute", inner=inner))).joints["b"]
    assert found.axis == pytest.approx([0.0, 0.6, 0.8])
    assert found.limits == (-0.5, 1.0)


def test_children_may_come_first():
    assembly = parse_urdf(robot(joint("k", "b", "c"), link("c"), joint(), link("b"), link("a")))
    assert list(assembly.links) == ["a", "b", "c"]


def test_poses_of_a_chain_add_up():
    first = "<origin xyz='1 0 0' rpy='0 0 1.5707963267948966'/>"
    assembly = parse_urdf(robot(link("a"), link("b"), link("c"), joint(inner=first), joint("k", "b", "c", inner=first)))
    rotation, position = assembly.poses()["c"]
    assert position == pytest.approx([1.0, 1.0, 0.0])
    assert rotation == pytest.approx(np.diag([-1.0, -1.0, 1.0]))


def test_a_chain_of_thousands_of_links_is_read():
    names = [f"l{k}" for k in range(3000)]
    joints = [joint(f"j{k}", f"l{k}", f"l{k + 1}") for k in range(2999)]
    assert list(parse_urdf(robot(*map(link, names), *joints)).links) == names


@given(st.tuples(*[st.floats(-7.0, 7.0)] * 3))
def test_rotations_are_those_of_scipy(angles):
    assert rotation_matrix(*angles) == pytest.approx(Rotation.from_euler("xyz", angles).as_matrix(), abs=1e-12)


def test_a_written_inertia_wins_and_is_rotated():
    inner = "<origin xyz='0 0 1' rpy='1.5707963267948966 0 0'/>"
    both = collision("<box size='9 9 9'/>") + inertial("2", ("1", "2", "2.5"), inner)
    found = parse_urdf(robot(link("a", both))).links["a"].inertial
    assert found.mass == 2.0
    assert found.centre == pytest.approx([0.0, 0.0, 1.0])
    assert np.diag(found.inertia) == pytest.approx([1.0, 2.5, 2.0])


def test_the_inertia_of_a_flat_plate_is_allowed():
    found = parse_urdf(robot(link("a", inertial("1", ("1", "1", "2"))))).links["a"].inertial
    assert np.diag(found.inertia) == pytest.approx([1.0, 1.0, 2.0])


@pytest.mark.parametrize("moment", ["2e6", "1e9"])
def test_large_inertias_are_allowed(moment):
    found = parse_urdf(robot(link("a", inertial("50", (moment,) * 3)))).links["a"].inertial
    assert np.diag(found.inertia) == pytest.approx(float(moment))


XACRO = "is xacro, which is not read; write it out first: xacro {} > r.plain.urdf$"
NAMESPACE = "<robot name='r' xmlns:xacro='http://www.ros.org/wiki/xacro'>"


@pytest.mark.parametrize(
    ("text", "start"),
    [
        (
            robot(link("wheel", collision("<sphere radius='${radius}'/>"))),
            r'^r.urdf: link "wheel": <sphere radius="\${radius}"> ',
        ),
        (
            robot(link(), link("b"), joint("${side}_axle")),
            r'^r.urdf: joint "\${side}_axle": <joint name="\${side}_axle"> ',
        ),
        (
            robot(link("a", collision("<mesh filename='$(find husky)/base.stl'/>"))),
            r'^r.urdf: link "a": <mesh filename="\$\(find husky\)/base.stl"> ',
        ),
        (NAMESPACE + "<xacro:include filename='b'/></robot>", "^r.urdf: <xacro:include> "),
        (robot("<xacro:property name='radius' value='1'/>"), "^r.urdf: <xacro:property> "),
    ],
)
@pytest.mark.parametrize("file", ["r.urdf", "r.urdf.xacro", "r.xacro"])
def test_xacro_is_named_with_what_to_do(text, start, file):
    with pytest.raises(SandlotError, match=start.replace("r.urdf:", f"{file}:") + XACRO.format(file)) as caught:
        parse_urdf(text, file)
    assert "\n" not in str(caught.value)


def test_written_out_xacro_is_read():
    """Some versions of xacro leave the declaration, and tags for other tools may have expressions of their own."""
    assert parse_urdf(NAMESPACE + link() + "<gazebo><plugin path='${here}'/></gazebo></robot>").root == "a"


def test_frozen_joints_are_fixed():
    text = robot(link(), link("b"), link("c"), joint(kind="prismatic"), joint("k", "b", "c", kind="revolute"))
    joints = parse_urdf(text, freeze=("j", "k")).joints
    assert [each.kind for each in joints.values()] == ["fixed", "fixed"]
    assert not any(each.powered for each in joints.values())
    with pytest.raises(SandlotError, match=r"freeze: joint .jj. was not found; did you mean 'j'"):
        parse_urdf(text, "r.urdf", freeze=("jj",))


def test_all_sliding_joints_are_named_at_once():
    text = robot(link(), link("b"), link("c"), joint(kind="prismatic"), joint("k", "b", "c", kind="floating"))
    with pytest.raises(SandlotError, match=r'joint "j" is prismatic.* freeze = \["j", "k"\]$'):
        parse_urdf(text, "r.urdf")
    with pytest.raises(SandlotError, match=r'joint "k" is floating.* freeze = \["j", "k"\]$'):
        parse_urdf(text, "r.urdf", freeze=("j",))


BOMB = "<!DOCTYPE r [<!ENTITY a 'xxxx'><!ENTITY b '&a;&a;&a;&a;'>]><robot name='&b;'/>"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "^r.urdf is not XML: no element found"),
        ("<robot", "^r.urdf is not XML: unclosed token"),
        ("<robot/>\x00", "^r.urdf is not XML"),
        (BOMB, "^r.urdf: document types and entities are not read"),
        ("<sdf/>", "^r.urdf: <sdf> is not a robot; allowed: a URDF, which begins with <robot>$"),
        ("<robot/>", "^r.urdf: the robot has no <link>$"),
        (robot("<link/>"), "^r.urdf: a <link> has no name$"),
        (robot(link(), link()), '^r.urdf: there are two links "a"; names must differ$'),
        (robot(link(), link("b")), '^r.urdf: links "a", "b" hang on no joint; allowed: one, the root$'),
        (robot(link(), link("b"), link("c"), joint(), joint("j", "b", "c")), '^r.urdf: there are two joints "j"'),
        (
            robot(link(), link("b"), joint(), joint("k")),
            '^r.urdf: link "b" is the child of two joints, "j" and "k"; allowed: one$',
        ),
        (robot(link(), link("b"), joint(), joint("k", "b", "a")), '^r.urdf: link "a" hangs on a loop of joints'),
        (
            robot(link(), link("b"), link("c"), joint("j", "b", "c"), joint("k", "c", "b")),
            '^r.urdf: link "b" hangs on a loop of joints; allowed: a tree$',
        ),
        (robot(link(), joint("j", "a", "a")), '^r.urdf: joint "j": link "a" hangs on itself'),
        (
            robot(link(), link("b"), joint(kind="prismatic")),
            '^r.urdf: joint "j" is prismatic, which is not simulated; to hold it at zero, add to the settings: '
            r'freeze = \["j"\]$',
        ),
        (
            robot(link(), link("b"), joint(kind="screw")),
            '^r.urdf: joint "j": type "screw" is not known; allowed: fixed, revolute, continuous$',
        ),
        (
            robot(link(), link("b"), joint(inner="<limit effort='much'/>")),
            '^r.urdf: joint "j": <limit effort="much">; allowed: a number$',
        ),
        (
            robot(link("fl_Whee"), joint("fl_joint", "fl_Whee", "fl_Wheel")),
            '^r.urdf: joint "fl_joint": child link "fl_Wheel" was not found; did you mean \'fl_Whee\'\\?$',
        ),
        (robot(link(), joint("j", "q", "a")), '^r.urdf: joint "j": parent link "q" was not found'),
        (robot(link(), "<joint name='j' type='fixed'/>"), '^r.urdf: joint "j": <parent> is missing$'),
        (robot(link(), "<joint name='j' type='fixed'><parent/></joint>"), "<parent> names no link$"),
        (
            robot(link(), link("b"), joint(kind="revolute", inner="<axis xyz='0 0 0'/>")),
            '^r.urdf: joint "j": <axis> has no direction; allowed: any but 0 0 0$',
        ),
        (
            robot(link(), link("b"), joint(kind="revolute", inner="<limit lower='1' upper='-1'/>")),
            '^r.urdf: joint "j": its lower limit 1 is above the upper, -1$',
        ),
        (
            robot(link(), link("b"), joint(inner="<origin xyz='0 nan 0'/>")),
            '^r.urdf: joint "j": <origin xyz="0 nan 0">; allowed: 3 numbers up to 1e\\+06$',
        ),
        (robot(link(), link("b"), joint(inner="<origin rpy='0 0'/>")), '<origin rpy="0 0">; allowed: 3 numbers'),
        (robot(link("a", collision("<sphere radius='inf'/>"))), '<sphere radius="inf">; allowed: a number'),
        (robot(link("a", collision("<sphere radius='1_0'/>"))), '<sphere radius="1_0">; allowed: a number'),
        (robot(link("a", collision("<sphere/>"))), '^r.urdf: link "a": <collision>: <sphere> has no radius; allowed:'),
        (robot(link("a", collision("<box size='1 0 1'/>"))), "<box> has size 0; allowed: above 0$"),
        (robot(link("a", collision("<cylinder radius='1' length='-2'/>"))), "<cylinder> has size -2; allowed: above 0"),
        (robot(link("a", collision("<cone/>"))), "<cone> is not known; allowed: box, cylinder, sphere, mesh$"),
        (robot(link("a", "<visual/>")), '^r.urdf: link "a": <visual>: <geometry> is missing or empty$'),
        (robot(link("a", collision("<sphere radius='1e-200'/>"))), '^r.urdf: link "a": its principal moments'),
        (robot(link("a", "<inertial/>")), '^r.urdf: link "a": <inertial>: <mass> is missing$'),
        (robot(link("a", "<inertial><mass value='1'/></inertial>")), "<inertial>: <inertia> is missing$"),
        (robot(link("a", inertial("0"))), "mass 0 is not above 0; a link without mass has no <inertial>$"),
        (
            robot(link("a", inertial("1", ("1", "0", "1")))),
            "<inertia>: its principal moments 0, 1, 1 are not all above",
        ),
        (
            robot(link("a", inertial("1", ("1", "1", "2.1")))),
            "<inertia>: of its principal moments 1, 1, 2.1 the first two are together below the third$",
        ),
    ],
)
def test_mistakes_are_named(text, message):
    with pytest.raises(SandlotError, match=message) as caught:
        parse_urdf(text, "r.urdf")
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read_are_refused(tmp_path):
    with pytest.raises(SandlotError, match=r"^cannot read .*none.urdf: No such file"):
        read_urdf(tmp_path / "none.urdf")
    with pytest.raises(SandlotError, match=r"^cannot read .*: it is a directory"):
        read_urdf(tmp_path)
    (tmp_path / "wide.urdf").write_bytes(BOMB.encode("utf-16"))
    with pytest.raises(SandlotError, match=r"wide.urdf: it is not UTF-8 text$"):
        read_urdf(tmp_path / "wide.urdf")


def test_a_pipe_in_place_of_a_robot_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "robot.urdf")
    with pytest.raises(SandlotError, match=r"cannot read .*robot.urdf"):
        read_urdf(tmp_path / "robot.urdf")


TEXTS = [(BODIES / f"{name}.urdf").read_text() for name in SHIPPED]
BITS = [
    "",
    "0",
    "-1",
    "nan",
    "1e400",
    "1e-300",
    '"',
    "<",
    "/>",
    "&x;",
    "<link/>",
    "Body",
    "fl_Wheel",
    "fixed",
    "\n",
    "é",
]


WORDS = st.lists(st.tuples(st.integers(0, 10_000), st.sampled_from(BITS)), min_size=1, max_size=4)


def swap(text, words):
    """Replace whole attribute values, so that the XML stays valid."""
    pieces = text.split('"')
    for place, word in words:
        pieces[2 * (place % (len(pieces) // 2)) + 1] = word
    return '"'.join(pieces)


def model_or_refusal(text):
    with contextlib.suppress(SandlotError):
        assembly = parse_urdf(text, "r.urdf", BODIES)
        assert assembly.root in assembly.links
        assert len(assembly.joints) == len(assembly.links) - 1


@settings(max_examples=300)
@given(st.sampled_from(TEXTS), WORDS)
def test_wrong_values_are_read_or_refused(text, words):
    model_or_refusal(swap(text, words))


@pytest.mark.parametrize("text", TEXTS)
def test_truncated_files_are_refused(text):
    for end in range(0, text.index("</robot>"), 37):
        with pytest.raises(SandlotError, match=r"^r.urdf is not XML: "):
            parse_urdf(text[:end], "r.urdf")
