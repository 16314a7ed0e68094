"""Impossible particles and models are refused with one clear line."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from particle_scenes import box_model, tracked_model
from sandlot.errors import SandlotError
from sandlot.physics.particles import Particles


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"heights": np.zeros(3)}, "two axes"),
        ({"heights": np.full((2, 2), np.nan)}, "two axes"),
        ({"heights": np.zeros((4, 4))}, "no particle fits"),
        ({"radius": 0.0}, "radius=0"),
        ({"spacing": -1.0}, "spacing=-1"),
        ({"friction": -0.1}, "friction=-0.1"),
        ({"heights": [[1.0, 2.0], [3.0]]}, "a grid of finite numbers with two axes$"),
        ({"heights": [["high", "low"]]}, "a grid of finite numbers with two axes$"),
        ({"corner": (0.0, 1.0, 2.0)}, r"corner=\(0.0, 1.0, 2.0\) is not possible; allowed: two finite numbers"),
        ({"corner": (0.0, np.nan)}, "two finite numbers"),
        ({"corner": "xy"}, "corner='xy' is not possible"),
        (
            {"radius": 1e-4},
            r"^radius=0.0001 is too small: about 1.8e\+11 particles would take .* GB; allowed: at least",
        ),
        ({"radius": 1e-300}, "about inf particles"),
        ({"spacing": 1e9}, "radius=0.15 is too small"),
        ({"heights": np.zeros((4, 4)), "radius": 1e-4}, "radius=0.0001 is too small"),
    ],
)
def test_impossible_particles_are_refused(changes, words):
    with pytest.raises(SandlotError, match=words) as error:
        Particles(**{"heights": np.ones((4, 4)), "spacing": 0.3, **changes})
    assert "\n" not in str(error.value)


def test_memory_is_estimated_before_particles_are_made():
    with pytest.raises(SandlotError, match="too small") as error:
        Particles(np.ones((4, 4)), 0.3, 1e-4)
    least = float(str(error.value).split("at least ")[1].split(",")[0])
    assert 1.44 / (2.0 * least) ** 3 * 1e3 == pytest.approx(2e10, rel=0.1)


def test_models_that_cannot_be_attached_are_refused():
    particles = Particles(np.ones((2, 2)), 0.3)
    model, _ = box_model()
    with pytest.raises(SandlotError, match="no geom 'ball'; allowed: box"):
        particles.attach(model, ["ball"])
    plane = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/></worldbody></mujoco>'
    )
    with pytest.raises(SandlotError, match=r"^geom floor has a shape that particles cannot touch; allowed: sphere"):
        particles.attach(plane, [0])
    with pytest.raises(SandlotError, match="nothing of this model can touch"):
        particles.attach(plane)
    with pytest.raises(SandlotError, match="'box' is one name"):
        particles.attach(model, "box")
    hull, _, tracks = tracked_model()
    with pytest.raises(SandlotError, match="track with dof=99"):
        particles.attach(hull, [], [replace(tracks[0], dof=99)])
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    with pytest.raises(SandlotError, match="RK4"):
        particles.attach(model, ["box"])


def test_all_solid_geoms_of_moving_bodies_are_attached_by_default():
    looks = '<geom type="sphere" size="0.9" mass="0" contype="0" conaffinity="0"/>'
    model, data = box_model(more=looks + '<geom type="sphere" size="0.1" pos="0 0 -0.3" mass="1"/>')
    particles = Particles(np.ones((2, 2)), 0.3).attach(model)
    particles.step(data)
    assert particles.forces.shape == (2, 6)


def test_only_the_model_that_is_attached_can_be_stepped():
    particles, (model, _), (_, other) = Particles(np.ones((2, 2)), 0.3), box_model(), box_model()
    with pytest.raises(SandlotError, match=r"^these particles are attached to no model; use attach first"):
        particles.step(other)
    with pytest.raises(SandlotError, match="another model than the one that these particles are attached to"):
        particles.attach(model).step(other)
