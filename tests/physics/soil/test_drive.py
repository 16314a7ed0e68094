"""Wheels and belts that drive over soil, and their ruts."""

import numpy as np
import pytest

from sandlot.physics.soil import PRESETS, Soil
from sandlot.physics.soil.ground import SHELTERED
from soil_scenes import BODIES, GRAVITY, YIELDING, compiled, field, hills, loose_body, tracked, wheel


class TestWheel:
    @compiled
    @pytest.mark.parametrize("wrap", [False, True])
    @pytest.mark.parametrize("kind", YIELDING)
    def test_ploughing_keeps_the_volume(self, kind, wrap):
        heights = hills()
        soil = wheel(kind, 0.6, seconds=4.0, load=1500.0, heights=heights, wrap=wrap)[2]
        now, low = soil.surface(), heights.min()
        assert np.abs(now - heights).max() > 0.01
        assert np.sum(now - low) == pytest.approx(np.sum(heights - low), rel=1e-9)
        assert soil.volume == pytest.approx(now.sum() * 0.02**2)

    @compiled
    def test_every_node_is_consistent_after_ploughing(self):
        soil = wheel("soft", 0.6, seconds=3.0, load=1500.0, heights=hills())[2]
        nodes, step = soil._ground.nodes, soil._contacts.counters["step"]
        free = nodes[nodes["contact"] < step - SHELTERED]
        assert free["undeformed"] - free["sinkage"] + free["loose"] == pytest.approx(free["height"], abs=1e-12)
        assert nodes["sinkage"].min() >= 0.0
        assert nodes["loose"].min() >= 0.0
        assert all(np.isfinite(nodes[name]).all() for name in nodes.dtype.names)

    @compiled
    @pytest.mark.parametrize("kind", ["soft", "mid"])
    def test_pull_grows_with_slip_up_to_the_strength_of_the_soil(self, kind):
        pulls = [wheel(kind, slip, seconds=3.0 if slip < 0.9 else 4.0)[1] for slip in (0.0, 0.1, 0.3, 0.6, 0.95)]
        limit = 500.0 * np.tan(np.radians(PRESETS[kind].friction))
        assert np.all(np.diff(pulls) > 0.0)
        assert pulls[0] < 0.0
        assert pulls[-1] == pytest.approx(limit, rel=0.05)

    @compiled
    def test_cohesion_adds_to_the_pull(self):
        known = PRESETS["LETE sand"]
        pulls = [wheel("LETE sand", slip)[1] for slip in (0.0, 0.1, 0.3, 0.6, 0.95)]
        limit = 500.0 * np.tan(np.radians(known.friction))
        assert np.all(np.diff(pulls) > 0.0)
        # On a patch of about 2 sqrt(2 r z) by the width, of which the front half is firm.
        assert limit < pulls[-1] < limit + known.cohesion * 0.2 * 0.09

    @compiled
    @pytest.mark.parametrize(("kind", "spacing"), [("soft", 0.02), ("mid", 0.02), ("LETE sand", 0.01)])
    @pytest.mark.parametrize("slip", [0.0, 0.3])
    def test_half_the_spacing_gives_nearly_the_same_forces(self, kind, spacing, slip):
        coarse, fine = (wheel(kind, slip, each)[:2] for each in (spacing, 0.5 * spacing))
        assert coarse[0] == pytest.approx(fine[0], rel=0.1)
        assert coarse[1] == pytest.approx(fine[1], abs=0.02 * 500.0)

    @compiled
    def test_sinkage_grows_with_softness_and_load(self):
        depths = [wheel(kind, 0.2, seconds=1.5)[0] for kind in ("soft", "mid", "LETE sand", "rigid")]
        assert np.all(np.diff(depths) < 0.0)
        assert depths[-1] == pytest.approx(0.0, abs=1.5e-3)
        assert wheel("mid", 0.2, seconds=1.5, load=1000.0)[0] > 1.2 * depths[1]

    @compiled
    @pytest.mark.parametrize("kind", ["soft", "mid"])
    def test_it_leaves_a_rut(self, kind):
        sinkage, _, soil = wheel(kind, 0.2, seconds=2.5)
        x = np.linspace(-0.4, 0.0, 9)
        assert soil.height_at(1.1, 0.0) == 0.0
        assert np.mean(soil.height_at(x, 0.0 * x + 0.16)) > 0.1 * sinkage, "between banks"
        assert np.mean(soil.height_at(x, 0.0 * x)) < -0.5 * sinkage

    @compiled
    def test_firm_soil_in_the_rut_is_lower_by_the_sinkage(self):
        """Below any loose soil."""
        sinkage, _, soil = wheel("mid", 0.2, seconds=2.5)
        nodes = soil._ground.nodes.reshape(soil._ground.ny, soil._ground.nx, -1)
        firm = (nodes["undeformed"][...] - nodes["sinkage"][...])[18:23, 40:58]
        assert firm == pytest.approx(np.full(firm.shape, -sinkage), rel=0.1)

    @compiled
    def test_a_drive_across_the_edges_of_wrapping_ground_is_the_same(self):
        """As in the middle of the same hills, on sand: on soft soil, rounding decides what slides first."""
        heights, spacing, ends = hills((40, 120)), 0.02, []
        for across, along in ((0, 0), (20, 60)):
            model, data = loose_body(BODIES["wheel"], place=(0.4, 0.1, 0.3), turn=(3.0, 0.0, 20.0))
            shifted = np.roll(heights, (across, along), (0, 1))
            soil = Soil(shifted, spacing, "LETE sand", wrap=True).attach(model)
            move = np.array([along * spacing, across * spacing])
            data.qpos[:2] += move
            data.qvel[:] = (0.8, 0.3, 0.0, 0.0, 0.0, -5.0)
            soil.step(data, 800)
            back = np.roll(soil.surface(), (-across, -along), (0, 1))
            ends.append((data.qpos - [*move, 0, 0, 0, 0, 0], data.qvel.copy(), back))
        assert np.abs(ends[0][2] - heights).max() > 0.005
        for one, other in zip(*ends, strict=True):
            assert one == pytest.approx(other, abs=1e-7)

    @compiled
    def test_bodies_fall_beyond_the_edge_unless_the_ground_wraps(self):
        fallen = []
        for wrap in (False, True):
            (model, data), soil = loose_body(BODIES["box"], place=(3.0, 0.0, 0.2)), field(wrap=wrap)
            soil.attach(model).step(data, 1000)
            fallen.append(data.qpos[2])
        assert fallen[0] < -3.0
        assert fallen[1] == pytest.approx(0.05, abs=0.03)


class TestBelt:
    @compiled
    @pytest.mark.parametrize("kind", PRESETS)
    def test_belts_drive_a_body_forward(self, kind):
        model, data, tracks = tracked()
        soil = Soil(np.zeros((61, 151)), 0.02, kind).attach(model, geoms=[], tracks=tracks)
        soil.step(data, 1000)
        data.ctrl[:] = 3.0
        soil.step(data, 500)
        start = data.qpos[0]
        soil.step(data, 2000)
        distance = data.qpos[0] - start
        assert 0.7 * 0.6 < distance < 1.005 * 0.6, "belts slip"
        assert abs(data.qpos[1]) < 0.02
        data.ctrl[:] = -3.0
        soil.step(data, 2500)
        assert data.qpos[0] < start + 0.5 * distance

    @compiled
    def test_opposite_belts_turn_a_body_on_the_spot(self):
        model, data, tracks = tracked()
        soil = Soil(np.zeros((101, 101)), 0.02, "mid").attach(model, geoms=[], tracks=tracks)
        soil.step(data, 1000)
        data.ctrl[:] = -2.0, 2.0
        soil.step(data, 2000)
        assert np.hypot(*data.qpos[:2]) < 0.05
        assert data.qvel[5] > 0.1, "to the left"

    @compiled
    @pytest.mark.parametrize("kind", PRESETS)
    def test_power_on_body_and_belt_is_lost_in_slip(self, kind):
        """At given speeds, the soil drives the body and brakes the belt; the difference is friction power."""
        dofs = '<joint type="slide" axis="1 0 0" armature="1e9"/><joint type="slide" axis="0 0 1"/>'
        model, data, tracks = tracked(dofs=dofs, inertia=1e9, gain=0.0)
        soil = Soil(np.zeros((61, 151)), 0.02, kind).attach(model, geoms=[], tracks=tracks)
        data.qvel[0], data.qvel[2:] = 0.2, 5.0
        soil.step(data, 1500)
        push, gained, lost = soil.forces[:, 0].sum(), 0.0, []
        for _ in range(200):
            soil.step(data)
            body = 0.2 * soil.forces[:, 0].sum()
            belts = 5.0 * 0.1 * soil._contacts.loads["belt_force"].sum()
            lost.append(body + belts)
            gained += body
        assert push > 0.3 * 40.0 * GRAVITY
        assert gained > 0.0, "the body is driven"
        assert max(lost) < 0.0, "the soil dissipates power"
        # Under the flat part of a belt, slip is the difference of the speeds; around the pulleys it is more.
        assert 0.9 < np.mean(lost) / (-push * (0.5 - 0.2)) < 1.5

    @compiled
    def test_the_drive_torque_is_the_belt_force_times_the_radius(self):
        model, data, tracks = tracked()
        soil = Soil(np.zeros((61, 151)), 0.02, "mid").attach(model, geoms=[], tracks=tracks)
        data.ctrl[:] = 3.0
        soil.step(data, 1500)
        data.xfrc_applied[1, 0] = -120.0
        soil.step(data, 1500)
        pushes, torques = [], []
        for _ in range(1000):
            soil.step(data)
            pushes.append(soil.forces[:, 0].sum())
            torques.append(data.qfrc_actuator[6:].sum())
        # In a steady state the push of the soil equals the pull; the motors overcome it and rolling resistance.
        assert np.mean(pushes) == pytest.approx(120.0, rel=0.05)
        assert 0.95 * 0.1 * 120.0 < np.mean(torques) < 2.0 * 0.1 * 120.0

    @compiled
    @pytest.mark.parametrize("kind", PRESETS)
    def test_a_narrow_body_on_belts_far_out_comes_to_rest(self, kind):
        """Its effective mass at the belts is small, since forces there roll it."""
        model, data, tracks = tracked()
        soil = Soil(np.zeros((61, 151)), 0.02, kind).attach(model, geoms=[], tracks=tracks)
        soil.step(data, 4000)
        assert soil.forces[:, 2].sum() == pytest.approx(40.2 * GRAVITY, rel=1e-3)
        assert np.abs(data.qvel).max() < 2e-3
