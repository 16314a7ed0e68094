"""Bekker's equation under feet: against cases that can be computed by hand."""

import math

import pytest

from sandlot.physics.soil import PRESETS, SoilKind
from sandlot.robots.legged import ROBOTS
from sandlot.studies.ground.bekker import flat_load, foot_depth, foot_stiffness, resistance, sphere_load

LINEAR = SoilKind(kphi=1e6, exponent=1.0, friction=30.0, shear=0.01, elastic=1e9)


def test_a_flat_foot_carries_its_area_times_the_pressure():
    assert flat_load(LINEAR, 0.2, 0.1, 0.01) == pytest.approx(0.02 * 1e6 * 0.01)
    cohesive = LINEAR.model_copy(update={"kc": 1e4})
    assert flat_load(cohesive, 0.2, 0.1, 0.01) == pytest.approx(0.02 * (1e6 + 1e5) * 0.01)


@pytest.mark.parametrize("depth", [0.001, 0.01, 0.03, 0.08])
def test_in_linear_soil_a_sphere_carries_the_volume_it_displaces(depth):
    """As a body floats; deeper than its radius, with the cylinder above it."""
    radius, cap = 0.03, min(depth, 0.03)
    volume = math.pi * cap**2 * (radius - cap / 3.0) + math.pi * radius**2 * max(depth - radius, 0.0)
    assert sphere_load(LINEAR, radius, depth) == pytest.approx(1e6 * volume, rel=1e-4)


@pytest.mark.parametrize("name", ["soft", "mid", "LETE sand"])
@pytest.mark.parametrize("foot", [(0.02,), (0.2, 0.08, 0.03)])
def test_the_depth_is_that_of_the_load(name, foot):
    depth = foot_depth(PRESETS[name], foot, 50.0)
    load = sphere_load(PRESETS[name], foot[0], depth) if len(foot) == 1 else flat_load(PRESETS[name], *foot[:2], depth)
    assert load == pytest.approx(50.0, rel=1e-6)
    assert foot_depth(PRESETS["rigid"], foot, 50.0) == foot_depth(PRESETS[name], foot, 0.0) == 0.0


def test_soil_resists_tilting_as_by_hand():
    """Linear soil: two flat feet tilt about their heels, two pairs of round feet about the rear pair."""
    flat, round_ = ROBOTS["humanoid"], ROBOTS["small quadruped"]
    length, width, _ = flat.foot
    assert resistance(LINEAR, flat, 300.0) == pytest.approx(2.0 * 1e6 * width * length**3 / 3.0, rel=1e-3)
    each = foot_stiffness(LINEAR, round_.foot, 30.0)
    narrow = min(2.0 * abs(round_.hips[0][axis]) for axis in range(2))
    assert resistance(LINEAR, round_, 120.0) == pytest.approx(2.0 * each * narrow**2, rel=1e-3)
    assert resistance(PRESETS["rigid"], flat, 300.0) == math.inf
