"""Which shapes are too small for the spacing of the ground."""

import warnings

import numpy as np
import pytest

from sandlot.errors import ModelError, RobotWarning
from soil_scenes import GRAVITY, compiled, field, loose_body, make, tracked

SHAPES = {
    "sphere": 'type="sphere" size="0.02"',
    "capsule": 'type="capsule" size="0.02 0.5"',
    "needle": 'type="box" size="0.5 0.02 0.01"',
    "rod": 'type="cylinder" size="0.02 0.5"',
    "ellipsoid": 'type="ellipsoid" size="0.5 0.02 0.01"',
}
PLATES = {
    "box": 'type="box" size="0.1 0.05 0.001"',
    "disc": 'type="cylinder" size="0.1 0.001"',
    "ellipsoid": 'type="ellipsoid" size="0.1 0.1 0.002"',
}


def robot():
    """A foot with two small bumpers, and a small antenna."""
    return make(
        """<body name="leg" pos="0 0 0.1"><freejoint/><geom name="foot" type="box" size="0.1 0.1 0.05" mass="5"/>
        <geom size="0.004" pos="0.1 0 0"/><geom name="bumper" size="0.002" pos="-0.1 0 0"/>
        <body name="antenna"><joint/><geom size="0.004" pos="0 0 0.2"/></body></body>"""
    )


@pytest.mark.parametrize("geom", SHAPES.values(), ids=SHAPES)
def test_a_footprint_of_less_than_half_the_spacing_is_refused(geom):
    model = loose_body(geom)[0]
    with pytest.raises(ModelError, match=r"^geom it has a footprint of 0.04 m.*spacing of at most 0.08$"):
        field(spacing=0.081).attach(model, ["it"])
    with pytest.raises(ModelError, match=r"^every geom has a footprint.*spacing of at most 0.08$"):
        field(spacing=0.081).attach(model)
    for geoms in (None, ["it"]):
        field(spacing=0.08).attach(model, geoms)


def test_a_narrow_track_is_refused():
    model, _, tracks = tracked()
    with pytest.raises(ModelError, match=r"track on body 1 has a footprint of 0.12 m.*at most 0.24"):
        field(spacing=0.25).attach(model, [], tracks)
    field(spacing=0.24).attach(model, [], tracks)


@pytest.mark.parametrize("geom", PLATES.values(), ids=PLATES)
def test_thickness_does_not_matter(geom):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        field(spacing=0.05).attach(loose_body(geom)[0])


def test_small_geoms_are_left_out_with_one_warning():
    model, _ = robot()
    with pytest.warns(RobotWarning) as caught:
        soil = field().attach(model)
    (warning,) = caught
    assert warning.filename == __file__
    assert "3 geoms of leg, antenna" in str(warning.message)
    assert str(warning.message).endswith("spacing of at most 0.008")
    assert [each.name for each in soil.contacts()] == ["foot"]
    with pytest.raises(ModelError, match="geom bumper"):
        field().attach(model, ["foot", "bumper"])


@compiled
@pytest.mark.parametrize("geom", PLATES.values(), ids=PLATES)
def test_a_thin_plate_sinks_in_as_on_fine_ground(geom):
    depths = []
    for spacing in (0.005, 0.02, 0.05):
        model, data = loose_body(geom, place=(0.0131, 0.0077, 0.01), mass=5.0)
        soil = field(side=0.6, spacing=spacing).attach(model)
        soil.step(data, 1000)
        assert soil.forces[0, 2] == pytest.approx(5.0 * GRAVITY, rel=0.05)
        depths.append(soil.contacts()[0].sinkage)
    assert depths == pytest.approx([depths[0]] * 3, rel=0.15)


@compiled
@pytest.mark.parametrize("kind", ["soft", "mid"])
def test_a_small_sphere_does_not_fall_through(kind):
    """Half as wide as the spacing, wherever it stands between the nodes."""
    rng, depths = np.random.default_rng(0), []
    for offset in rng.uniform(0.0, 0.02, (8, 2)):
        model, data = make(
            f"""<body pos="{offset[0]} {offset[1]} 0.01"><joint type="slide" axis="0 0 1"/>
            <geom size="0.005" mass="0.005"/></body>"""
        )
        field(side=0.3).attach(model).step(data, 1000)
        depths.append(-data.qpos[0] - 0.005)
        assert abs(data.qvel[0]) < 1e-3
    assert min(depths) > 0.0
    assert max(depths) < 2.5 * np.median(depths)
