"""Distances from shapes: as MuJoCo computes them, and consistent as distances."""

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config

from sandlot.physics.particles.distance import to_shape
from sandlot.physics.shapes import BOX, CAPSULE, CYLINDER, ELLIPSOID, SPHERE, TRACK, half_extent

SLOW = bool(config.DISABLE_JIT)
KINDS = {"sphere": SPHERE, "capsule": CAPSULE, "ellipsoid": ELLIPSOID, "cylinder": CYLINDER, "box": BOX}
EVERY = [*KINDS.values(), TRACK]
POINT = 1e-4
"""Radius of the sphere that stands for a point [m]."""

lengths = st.floats(0.1, 2.0)
sizes = st.tuples(lengths, lengths, lengths).map(np.array)
points = st.tuples(*[st.floats(-3.0, 3.0)] * 3).map(np.array)


@pytest.mark.parametrize("name", KINDS)
def test_distances_outside_are_mujocos(name):
    rng = np.random.default_rng(0)
    for _ in range(3):
        size = rng.uniform(0.2, 1.0, 3)
        model = mujoco.MjModel.from_xml_string(
            f"""<mujoco><option ccd_tolerance="1e-10" ccd_iterations="200"/><worldbody>
            <geom type="{name}" size="{size[0]} {size[1]} {size[2]}"/>
            <body mocap="true"><geom type="sphere" size="{POINT}"/></body></worldbody></mujoco>"""
        )
        data = mujoco.MjData(model)
        for _ in range(10 if SLOW else 100):
            point = rng.uniform(-2.0, 2.0, 3)
            away = to_shape(KINDS[name], size, *point)[0]
            if away < 0.02:
                continue
            data.mocap_pos[0] = point
            mujoco.mj_kinematics(model, data)
            assert mujoco.mj_geomDistance(model, data, 0, 1, 10.0, None) == pytest.approx(away - POINT, abs=2e-4)


def test_a_track_is_all_points_within_a_radius_of_a_plate():
    """The plate is its middle plane; the track is cut off at the sides."""
    size = np.array([0.8, 0.3, 0.2])
    assert to_shape(TRACK, size, 0.0, 0.0, 1.0) == pytest.approx((0.7, 0.0, 0.0, 1.0))
    assert to_shape(TRACK, size, 2.0, 0.1, 0.0) == pytest.approx((0.9, 1.0, 0.0, 0.0))
    assert to_shape(TRACK, size, 0.4, -0.6, 0.1) == pytest.approx((0.4, 0.0, -1.0, 0.0))
    away, *out = to_shape(TRACK, size, -0.8 - 0.6, 0.6, 0.0)
    assert away == pytest.approx(0.5)
    assert out == pytest.approx([-0.6, 0.8, 0.0])
    assert to_shape(TRACK, size, 0.5, 0.0, -0.25)[0] == pytest.approx(-0.05)


@settings(max_examples=10 if SLOW else 200)
@given(st.sampled_from(EVERY), sizes, points)
def test_the_distance_along_the_direction_leads_to_the_surface(kind, size, point):
    away, *out = to_shape(kind, size, *point)
    assert np.linalg.norm(out) == pytest.approx(1.0)
    nearest = point - away * np.array(out)
    assert to_shape(kind, size, *nearest)[0] == pytest.approx(0.0, abs=1e-6)


@settings(max_examples=10 if SLOW else 200)
@given(st.sampled_from(EVERY), sizes, points, points)
def test_distances_change_by_no_more_than_the_point_moves(kind, size, one, other):
    change = to_shape(kind, size, *one)[0] - to_shape(kind, size, *other)[0]
    assert abs(change) <= np.linalg.norm(one - other) + 1e-7


@settings(max_examples=10 if SLOW else 100)
@given(st.sampled_from(EVERY), sizes, points)
def test_mirrored_points_have_the_same_distance(kind, size, point):
    away = to_shape(kind, size, *point)[0]
    for k in range(3):
        assert to_shape(kind, size, *(point * np.where(np.arange(3) == k, -1.0, 1.0)))[0] == pytest.approx(away)


@settings(max_examples=5 if SLOW else 50)
@given(st.sampled_from(EVERY), sizes, st.tuples(*[st.floats(-1.0, 1.0)] * 4))
def test_all_of_a_shape_is_within_its_half_extent(kind, size, quat):
    if np.linalg.norm(quat) < 0.1:
        return
    mat = np.empty(9)
    mujoco.mju_quat2Mat(mat, np.array(quat) / np.linalg.norm(quat))
    half = np.array([half_extent(kind, tuple(size), *mat[3 * axis : 3 * axis + 3]) for axis in range(3)])
    for point in np.random.default_rng(0).uniform(-4.0, 4.0, (10 if SLOW else 200, 3)):
        away, *out = to_shape(kind, size, *(mat.reshape(3, 3).T @ point))
        surface = point - away * (mat.reshape(3, 3) @ out)
        if away >= 0.0:
            assert np.all(np.abs(surface) <= half + 1e-6)
