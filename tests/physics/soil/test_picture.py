"""The surface of soil as a height field in MuJoCo's own pictures."""

import warnings

import mujoco
import numpy as np
import pytest

from sandlot.errors import ModelError, SettingError
from sandlot.physics.soil import Soil
from soil_scenes import compiled, field, hills

SCENE = """<mujoco><option timestep="0.001"/><worldbody><body pos="0.1 0 0.15"><freejoint/>
<geom name="it" type="box" size="0.15 0.1 0.08" mass="80" group="4"/></body></worldbody></mujoco>"""


def scene(soil, **options):
    spec = mujoco.MjSpec.from_string(SCENE)
    soil.add_to(spec, **options)
    model = spec.compile()
    soil.write_to(model)
    return model, mujoco.MjData(model)


def drawn(model, data, soil):
    """Heights of the geom at the nodes, found by rays from above: (ny, nx) [m]."""
    mujoco.mj_forward(model, data)
    groups, hit = np.array([1, 0, 0, 0, 0, 0], np.uint8), np.zeros(1, np.int32)
    ny, nx = soil.surface().shape
    found = np.full((ny, nx), np.nan)
    # Rays beside the outermost nodes miss the height field.
    for i in range(1, ny - 1):
        for j in range(1, nx - 1):
            start = [soil.corner[0] + j * soil.spacing, soil.corner[1] + i * soil.spacing, 5.0]
            away = mujoco.mj_ray(model, data, start, [0.0, 0.0, -1.0], groups, 1, -1, hit, None)
            assert model.geom(hit[0]).name == "soil"
            found[i, j] = 5.0 - away
    return found[1:-1, 1:-1]


def test_the_geom_is_where_the_surface_is():
    soil = Soil(hills((31, 21)) + 0.4, 0.05, corner=(-0.3, 0.6))
    model, data = scene(soil)
    assert drawn(model, data, soil) == pytest.approx(soil.surface()[1:-1, 1:-1], abs=1e-6)


@compiled
def test_it_follows_the_surface_and_touches_nothing():
    soil = field(side=0.8)
    model, data = scene(soil)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        soil.attach(model)
    soil.step(data, 800)
    assert data.ncon == 0
    assert soil.surface().min() < -0.01
    assert np.ptp(drawn(model, data, soil)) < 1e-6, "it changes only when it is written"
    assert soil.write_to(model) == model.hfield("soil").id
    assert drawn(model, data, soil) == pytest.approx(soil.surface()[1:-1, 1:-1], abs=1e-6)


def test_two_soils_in_one_scene():
    first, second = Soil(np.zeros((5, 6)), 0.1), Soil(np.ones((4, 4)), 0.1, corner=(3.0, 0.0))
    spec = mujoco.MjSpec.from_string(SCENE)
    first.add_to(spec)
    geom = second.add_to(spec, name="dune")
    geom.rgba = [1.0, 0.0, 0.0, 1.0]
    model = spec.compile()
    assert first.write_to(model) != second.write_to(model, "dune")
    assert np.array_equal(model.geom("dune").rgba, [1.0, 0.0, 0.0, 1.0])
    data = model.hfield_data
    assert len(data) == 30 + 16
    assert data == pytest.approx(0.5), "both are flat, in the middle of what can be shown"


@compiled
def test_a_rut_can_be_seen_in_a_rendered_picture():
    soil = field(side=0.8)
    model, data = scene(soil)
    try:
        renderer = mujoco.Renderer(model, 120, 120)
    except Exception as error:
        pytest.skip(f"no OpenGL here: {error}")
    camera = mujoco.MjvCamera()
    camera.lookat[:], camera.distance, camera.elevation = (0.1, 0.0, 0.0), 1.0, -90.0
    shown = mujoco.MjvOption()
    shown.geomgroup[4] = 0
    soil.attach(model)
    renderer.enable_depth_rendering()
    depths = []
    for _ in range(2):
        mujoco.mj_forward(model, data)
        renderer.update_scene(data, camera, shown)
        depths.append(float(renderer.render()[60, 60]))
        soil.step(data, 800)
        mujoco.mjr_uploadHField(model, renderer._mjr_context, soil.write_to(model))
    renderer.close()
    assert depths[0] == pytest.approx(1.0, abs=1e-3)
    assert depths[1] - depths[0] == pytest.approx(-float(soil.height_at(0.1, 0.0)), abs=5e-3)
    assert depths[1] - depths[0] > 0.02


class TestMistakes:
    def test_no_such_height_field(self):
        model = mujoco.MjModel.from_xml_string(SCENE)
        with pytest.raises(ModelError, match=r"no height field and geom 'soil'; use add_to"):
            field().write_to(model)

    def test_of_another_size(self):
        model, _ = scene(Soil(np.zeros((5, 6)), 0.1))
        with pytest.raises(ModelError, match=r"shape \(5, 6\); allowed: \(7, 7\)"):
            Soil(np.zeros((7, 7)), 0.1).write_to(model)

    def test_a_surface_beyond_the_depth(self):
        model, _ = scene(Soil(np.zeros((5, 5)), 0.1), depth=0.05)
        with pytest.raises(ModelError, match=r"0.1 to 0.1 m.*shows -0.05 to 0.05 m; allowed: a larger depth"):
            Soil(np.full((5, 5), 0.1), 0.1).write_to(model)

    @pytest.mark.parametrize("depth", [0.0, -1.0, np.inf, np.nan])
    def test_impossible_depths(self, depth):
        with pytest.raises(SettingError, match=r"depth=.*greater than 0"):
            field().add_to(mujoco.MjSpec(), depth=depth)
