"""Forces of soil in balance with the velocities that they cause: parts of robots, Newton's method, light feet."""

import mujoco
import numpy as np
import pytest

from sandlot.errors import SandlotError
from sandlot.physics.mujoco_bridge import dynamics_arrays, simulation_arrays
from sandlot.physics.soil import PRESETS, Soil
from sandlot.physics.soil.mass_matrix import dense_mass, factorise, solve
from sandlot.physics.soil.parts import body_motion, jacobian, move_ahead, part_velocity
from soil_scenes import GRAVITY, compiled, field, loose_body, make, tracked

LEG = """
<body name="trunk" pos="0 0 0.5"><freejoint/><geom type="box" size="0.2 0.1 0.05" mass="8" contype="0" conaffinity="0"/>
  {legs}
</body>"""
ONE = """
<body pos="{x} {y} 0" euler="0 -40 0"><joint name="{n}hip" axis="0 1 0" damping="0.1" frictionloss="0.1"/>
  <geom type="capsule" fromto="0 0 0 0 0 -0.25" size="0.02" mass="0.5" contype="0" conaffinity="0"/>
  <body pos="0 0 -0.25" euler="0 80 0"><joint name="{n}knee" axis="0 1 0" damping="0.1" frictionloss="0.1"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.25" size="0.015" mass="0.1" contype="0" conaffinity="0"/>
    <geom name="{n}foot" type="sphere" pos="0 0 -0.25" size="0.025" mass="0.02"/></body></body>"""


def quadruped(dt=0.002):
    """A trunk on four bent legs with light feet, held by position servos."""
    corners = [(x, y) for x in (0.2, -0.2) for y in (0.12, -0.12)]
    legs = "".join(ONE.format(x=x, y=y, n=k) for k, (x, y) in enumerate(corners))
    servos = "".join(f'<position joint="{k}{name}" kp="80" kv="1"/>' for k in range(4) for name in ("hip", "knee"))
    return make(LEG.format(legs=legs), f"<actuator>{servos}</actuator>", dt=dt, integrator="implicitfast")


def test_jacobians_are_those_of_mujoco():
    model, data = quadruped()
    rng = np.random.default_rng(0)
    data.qpos[7:], data.qvel[:] = rng.normal(0.0, 0.3, model.nq - 7), rng.normal(0.0, 1.0, model.nv)
    mujoco.mj_step1(model, data)
    soil = Soil(np.zeros((9, 9)), 0.02, "mid").attach(model)
    contacts, simulation, dynamics = soil._contacts, simulation_arrays(data), dynamics_arrays(model, data)
    for k, shape in enumerate(contacts.shapes):
        dofs = contacts.joints.dofs[k, : shape["columns"]]
        found, velocity = contacts.joints.jacobians[k], np.zeros(7)
        jacobian(shape, dofs, simulation, dynamics, found)
        linear, angular = np.zeros((2, 3, model.nv))
        mujoco.mj_jacBodyCom(model, data, linear, angular, int(shape["body"]))
        assert found[:3, : len(dofs)] == pytest.approx(linear[:, dofs], abs=1e-12)
        assert found[3:6, : len(dofs)] == pytest.approx(angular[:, dofs], abs=1e-12)
        part_velocity(dofs, found, data.qvel, 0, velocity)
        moves = body_motion(shape, simulation)
        assert velocity[:6] == pytest.approx([*moves.linear, *moves.angular], abs=1e-12)
        assert velocity[6] == 0.0


def test_a_shape_is_moved_ahead_as_its_body_moves():
    model, data = loose_body('type="box" size="0.1 0.1 0.1"', gravity="0 0 0")
    data.qvel[:] = (0.3, -0.2, 0.1, 2.0, -3.0, 1.0)
    mujoco.mj_step1(model, data)
    soil = field().attach(model)
    shape, simulation = soil._contacts.shapes[0], simulation_arrays(data)
    shape["position"], shape["rotation"] = data.geom_xpos[0], data.geom_xmat[0]
    move_ahead(shape, body_motion(shape, simulation), 0.001)
    mujoco.mj_step(model, data)
    mujoco.mj_kinematics(model, data)
    assert shape["position"] == pytest.approx(data.geom_xpos[0], abs=1e-9)
    assert shape["rotation"] == pytest.approx(data.geom_xmat[0], abs=1e-6)


def test_the_mass_matrix_is_mujocos_and_linear_systems_are_solved():
    model, data = quadruped()
    mujoco.mj_step(model, data, 3)
    mujoco.mj_step1(model, data)
    soil = Soil(np.zeros((9, 9)), 0.02, "mid").attach(model)
    joints, full = soil._contacts.joints, np.zeros((model.nv, model.nv))
    dense_mass(joints.trees[0], dynamics_arrays(model, data), joints.damping, 0.002, joints.mass)
    mujoco.mj_fullM(model, data, full)
    damped = joints.mass - full
    # Damping and gain of the servos, by the step; the trunk has none.
    assert np.diag(damped) == pytest.approx([0.0] * 6 + [0.002 * 1.1] * 8, abs=1e-12)
    assert damped - np.diag(np.diag(damped)) == pytest.approx(np.zeros((model.nv, model.nv)), abs=1e-12)
    right = np.random.default_rng(0).normal(0.0, 1.0, model.nv)
    joints.matrix[:] = joints.mass
    expected = np.linalg.solve(joints.mass, right)
    factorise(joints.matrix, model.nv)
    solve(joints.matrix, model.nv, right)
    assert right == pytest.approx(expected, rel=1e-9)


def test_only_mass_matrices_with_room_for_it_get_the_soils_tangent():
    assert Soil(np.zeros((9, 9)), 0.02).attach(quadruped()[0])._contacts.joints.trees["coupled"].tolist() == [1]
    assert field().attach(loose_body('type="sphere" size="0.1"')[0])._contacts.joints.trees["coupled"].tolist() == [0]
    model, _, tracks = tracked()
    assert field().attach(model, [], tracks)._contacts.joints.trees["coupled"].tolist() == [1]


@compiled
@pytest.mark.parametrize("kind", PRESETS)
def test_light_feet_come_to_rest_at_two_milliseconds(kind):
    (model, data), known = quadruped(), PRESETS[kind].model_copy(update={"firm_layer": 0.05})
    soil = Soil(np.zeros((121, 121)), 0.01, known).attach(model)
    data.qpos[2] = 0.43
    soil.step(data, 2000)
    fastest = 0.0
    for _ in range(100):
        soil.step(data)
        fastest = max(fastest, np.abs(data.qvel).max())
    assert fastest < 4e-3, "1 mm/s at a foot"
    assert soil.forces[:, 2].sum() == pytest.approx(GRAVITY * model.body_mass.sum(), rel=1e-3)


def dropped(kind, dt, geom='type="box" size="0.15 0.1 0.05"', mass=10.0, low=0.05):
    """Depth of a body after a fall of 0.2 m, and its highest point after the first contact [m]."""
    (model, data), soil = loose_body(geom, place=(0.0, 0.0, 0.2 + low), mass=mass, dt=dt), field(kind=kind)
    soil.attach(model)
    heights = []
    for _ in range(round(1.0 / dt)):
        soil.step(data)
        heights.append(data.qpos[2] - low)
    first = next(k for k, height in enumerate(heights) if height < 1e-3)
    return -heights[-1], max(heights[first:])


@compiled
@pytest.mark.parametrize("kind", ["soft", "mid", "LETE sand"])
def test_the_depth_of_a_dropped_box_does_not_depend_on_the_step(kind):
    fine, middle, coarse = (dropped(kind, dt)[0] for dt in (0.00025, 0.001, 0.002))
    assert middle == pytest.approx(fine, rel=0.05)
    assert coarse == pytest.approx(fine, rel=0.15)


@compiled
def test_a_sphere_on_rigid_ground_hardly_rebounds_at_any_step():
    rebounds = [dropped("rigid", dt, 'type="sphere" size="0.05"', 1.0) for dt in (0.00025, 0.001, 0.002, 0.004)]
    assert max(high for _, high in rebounds) < 1e-3  # where `dropped` begins to look
    assert max(abs(deep) for deep, _ in rebounds) < 0.5e-3


@compiled
@pytest.mark.parametrize("kind", ["soft", "LETE sand"])
def test_coincident_boxes_sink_like_one(kind):
    depths = []
    for count in (1, 2):
        box = f'<geom type="box" size="0.15 0.1 0.05" mass="{20.0 / count}"/>'
        model, data = make(f'<body pos="0 0 0.06"><freejoint/>{box * count}</body>')
        field(kind=kind).attach(model).step(data, 1500)
        depths.append(0.05 - data.qpos[2])
    assert depths[1] == pytest.approx(depths[0], rel=1e-6)


@compiled
def test_a_firm_layer_stops_a_point_foot():
    known = PRESETS["soft"].model_copy(update={"firm_layer": 0.04})
    (model, data), soil = loose_body('type="sphere" size="0.03"', mass=30.0), field(spacing=0.01, kind=known)
    soil.attach(model).step(data, 2000)
    assert data.qpos[2] - 0.03 == pytest.approx(-0.04, abs=0.005)


@compiled
def test_a_simulation_that_diverges_is_reported():
    (model, data), soil = loose_body('type="box" size="0.15 0.1 0.05"', place=(0.0, 0.0, 0.05)), field()
    soil.attach(model).step(data, 10)
    data.qvel[2] = np.nan
    with pytest.raises(
        SandlotError, match=r"^the simulation diverged at 0\.01 s, with [^\n]* on geom it; allowed[^\n]*$"
    ):
        soil.step(data, 10)


def test_duplicates_in_geoms_are_refused():
    with pytest.raises(SandlotError, match=r"^geoms has geom it more than once; allowed: each geom once$"):
        field().attach(loose_body('type="sphere" size="0.1"')[0], ["it", 0])
