"""Re-entry: a foot that is lifted and pressed again meets the soil that it pressed before."""

import mujoco
import numpy as np
import pytest

from sandlot.physics.soil import Soil
from soil_scenes import compiled

FEET = {"box": ('type="box" size="0.03 0.02 0.02"', 0.02), "sphere": ('type="sphere" size="0.03"', 0.03)}
STEP = 2e-4
"""Distance that a foot moves in a step of 1 ms [m]."""
BEYOND = 5e-4
"""How far below its previous depth the foot is pressed [m]: there the soil yields."""


class Foot:
    """A foot on soil that is held at one depth after the other."""

    def __init__(self, foot, kind, **changes):
        geom, self.bottom = FEET[foot]
        model = mujoco.MjModel.from_xml_string(f"""
        <mujoco>
          <option timestep="0.001" gravity="0 0 0"/>
          <worldbody>
            <body pos="0.003 0.004 {self.bottom}"><joint type="slide" axis="0 0 1"/><geom {geom} mass="1e9"/></body>
          </worldbody>
        </mujoco>""")
        self.data, self.depth = mujoco.MjData(model), 0.0
        self.soil = Soil(np.zeros((41, 41)), 0.01, kind).attach(model)

    def move(self, depth):
        """Move it to a depth [m]; returns the force there [N]."""
        for at in np.linspace(self.depth, depth, 1 + round(abs(depth - self.depth) / STEP))[1:]:
            self.data.qpos[0], self.data.qvel[0] = -at, 0.0
            self.soil.step(self.data)
        self.depth = depth
        return self.soil.forces[0, 2]


@compiled
@pytest.mark.parametrize("kind", ["soft", "mid"])
@pytest.mark.parametrize("lift", [0.01, 0.02, 0.05, 0.1])
@pytest.mark.parametrize(("foot", "depth"), [("box", 0.02), ("box", 0.05), ("sphere", 0.01), ("sphere", 0.02)])
def test_pressed_again_to_its_depth_a_foot_meets_the_same_stress(foot, depth, lift, kind):
    """Five times, whatever slid onto the soil that it pressed; within 2%. The volume of the soil does not change."""
    new, again = Foot(foot, kind), Foot(foot, kind)
    volume, expected = again.soil.volume, new.move(depth + BEYOND)
    again.move(depth)
    for _ in range(5):
        again.move(depth - lift)
        again.soil.settle()
        assert again.move(depth + BEYOND) == pytest.approx(expected, rel=0.02)
    assert again.soil.volume == pytest.approx(volume, abs=1e-17)


@compiled
@pytest.mark.parametrize("kind", ["soft", "mid"])
def test_walls_do_not_slide_below_a_foot_that_is_still_in_its_hole(kind):
    foot = Foot("box", kind)
    load, middle = foot.move(0.05), foot.soil.height_at(0.0, 0.0)
    foot.move(0.03)
    foot.soil.settle()
    assert foot.soil.height_at(0.0, 0.0) == middle
    assert foot.move(0.048) <= 0.01 * load, "no resistance above its previous depth"
    foot.move(-0.01)
    foot.soil.settle()
    assert foot.soil.height_at(0.0, 0.0) > middle + 0.01, "they do once it has left"


@compiled
def test_soil_that_filled_a_deep_hole_carries_less_than_undisturbed_soil():
    """Its uppermost part nothing; deeper soil as undisturbed soil would, counted from its own surface."""
    foot = Foot("box", "soft")
    load = foot.move(0.1)
    foot.move(-0.01)
    foot.soil.settle()
    floor = float(foot.soil.height_at(0.0, 0.0))
    assert foot.move(-floor + 0.01) <= 0.02 * load
    assert 0.02 * load < foot.move(0.09) < 0.8 * load
    assert foot.move(0.1 + BEYOND) == pytest.approx(load, rel=0.02)
