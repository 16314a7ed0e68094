"""Bodies on soil that are pressed into it, come to rest, or slide down a slope."""

import mujoco
import numpy as np
import pytest

from sandlot.physics.soil import PRESETS, Soil
from soil_scenes import (
    BODIES,
    BOX,
    GRAVITY,
    YIELDING,
    compiled,
    energy,
    field,
    hold,
    loose_body,
    make,
    plate,
)


class TestPlate:
    @compiled
    @pytest.mark.parametrize("turn", [0.0, 30.0])
    @pytest.mark.parametrize("spacing", [0.013, 0.02, 0.033, 0.05])
    @pytest.mark.parametrize("kind", YIELDING)
    def test_its_load_follows_bekkers_law(self, kind, spacing, turn):
        (model, data), soil = plate(turn), field(spacing=spacing, kind=kind)
        soil.attach(model)
        known = PRESETS[kind]
        for depth in np.linspace(1e-3, 0.08, 40):
            pressure = (known.kphi + known.kc / 0.2) * depth**known.exponent
            assert hold(soil, data, -depth) == pytest.approx(0.08 * pressure, rel=0.02)
        assert np.abs(soil.forces[0, [0, 1]]).max() < 1e-3 * soil.forces[0, 2]
        # The load is symmetric on any grid.
        assert np.abs(soil.forces[0, 3:]).max() < 0.02 * 0.1 * soil.forces[0, 2]

    @compiled
    @pytest.mark.parametrize("kind", YIELDING)
    def test_it_sinks_under_a_load_until_the_soil_carries_it(self, kind):
        known = PRESETS[kind]
        load = 0.08 * (known.kphi + known.kc / 0.2) * 0.03**known.exponent
        (model, data), soil = (
            plate(mass=load / GRAVITY, damping=20.0 * load, gravity=f"0 0 {-GRAVITY}"),
            field(kind=kind),
        )
        soil.attach(model).step(data, 8000)
        assert -data.qpos[0] == pytest.approx(0.03, rel=0.02)
        assert soil.forces[0, 2] == pytest.approx(load, rel=1e-3)

    def pressed(self, kind, depth, **options):
        """Soil and data of a plate that was pressed to a depth, and the force there [N]."""
        (model, data), soil = plate(), field(kind=kind, **options)
        soil.attach(model)
        for z in np.linspace(0.0, -depth, 41):
            most = hold(soil, data, z)
        return soil, data, most

    @compiled
    @pytest.mark.parametrize(("kind", "depth"), [("soft", 0.04), ("mid", 0.04), ("LETE sand", 0.01)])
    def test_deformed_soil_unloads_and_reloads_elastically(self, kind, depth):
        """If walls stand, and each cell is covered fully or not at all."""
        stands = PRESETS[kind].model_copy(update={"repose": 89.99})
        soil, data, most = self.pressed(stands, depth, corner=(-0.59, -0.59))
        heights = np.linspace(0.0, 1e-3, 21) - depth
        up = [hold(soil, data, z) for z in heights]
        assert np.all(np.diff(up) <= 1e-9 * most)
        assert up[-1] < 1e-9 * most, "the force is zero after a millimetre"
        rut = soil.surface().copy()
        assert rut.min() == pytest.approx(-depth, abs=1e-3)
        for z in (0.0, 0.1, 0.0, -0.5 * depth):
            assert hold(soil, data, z) < 1e-9 * most
        assert soil.surface() == pytest.approx(rut, abs=1e-15), "the rut stays"
        down = [hold(soil, data, z) for z in heights[::-1]]
        assert down == pytest.approx(up[::-1], rel=1e-6, abs=1e-6 * most)
        assert down[-1] == pytest.approx(most, rel=1e-6)
        # Beyond that depth it follows Bekker's law again.
        pressure = (stands.kphi + stands.kc / 0.2) * (1.5 * depth) ** stands.exponent
        assert hold(soil, data, -1.5 * depth) == pytest.approx(0.08 * pressure, rel=0.02)

    @compiled
    @pytest.mark.parametrize("kind", ["soft", "mid"])
    def test_it_is_unloaded_after_a_millimetre_on_any_grid(self, kind):
        soil, data, most = self.pressed(kind, 0.04)
        up = [hold(soil, data, z) for z in np.linspace(-0.04, -0.039, 21)]
        assert up[-1] < 0.01 * most

    @compiled
    def test_displaced_soil_rises_around_it(self):
        (model, data), soil = plate(), field()
        soil.attach(model)
        for depth in np.linspace(0.0, 0.05, 200):
            hold(soil, data, -depth)
        heights = soil.surface()
        assert heights.min() == pytest.approx(-0.05, abs=1e-3)
        assert heights.max() > 0.01
        assert heights.sum() == pytest.approx(0.0, abs=1e-12)
        assert pytest.approx(heights[heights > 0.0].sum() * soil.spacing**2, rel=0.05) == 0.08 * 0.05


class TestRest:
    @compiled
    @pytest.mark.parametrize("kind", PRESETS)
    @pytest.mark.parametrize("body", BODIES)
    def test_a_body_that_falls_flat_comes_to_rest_and_gains_no_energy(self, kind, body):
        """The soil returns at most the energy that the body has lost."""
        (model, data), soil = loose_body(BODIES[body]), field(kind=kind)
        soil.attach(model)
        start, course, forces = energy(model, data).sum(), [], []
        fall = 20.0 * GRAVITY * 0.1
        for _ in range(200):
            soil.step(data, 20)
            course.append(energy(model, data).sum())
        before = data.qpos.copy()
        for k in range(1000):
            soil.step(data)
            forces.append(soil.forces[0, 2])
            if k % 20 == 19:
                course.append(energy(model, data).sum())
        assert max(course) <= start + 1e-6 * fall
        peaks = np.array(course).reshape(5, 50).max(axis=1)
        assert np.all(np.diff(peaks) <= 0.01 * fall), "second by second"
        assert energy(model, data)[1] < 1e-3 * fall
        assert np.mean(forces) == pytest.approx(20.0 * GRAVITY, rel=1e-3)
        assert np.abs(data.qpos - before).max() < 2e-4
        assert np.abs(data.qvel).max() < 2e-3

    @compiled
    @pytest.mark.parametrize("kind", PRESETS)
    @pytest.mark.parametrize("body", BODIES)
    def test_a_body_that_falls_on_its_edge_comes_to_rest(self, kind, body):
        (model, data), soil = loose_body(BODIES[body], turn=(10, 5, 20)), field(kind=kind)
        # An ellipsoid turns in its hollow for a while: its angular velocity falls to a third in 2.3 s.
        soil.attach(model).step(data, 8000)
        before = data.qpos.copy()
        soil.step(data, 1000)
        # Round bodies may roll on rigid ground for a while.
        assert np.abs(data.qpos - before).max() < (2e-3 if kind == "rigid" else 1e-4)
        assert soil.forces[0, 2] == pytest.approx(20.0 * GRAVITY, rel=1e-3)

    @compiled
    @pytest.mark.parametrize("integrator", ["Euler", "implicit", "implicitfast"])
    def test_every_integrator_gives_the_same_rest(self, integrator):
        (model, data), soil = loose_body(BODIES["box"], integrator=integrator), Soil(np.zeros((61, 61)), 0.02, "mid")
        soil.attach(model).step(data, 2000)
        assert soil.forces[0, 2] == pytest.approx(20.0 * GRAVITY, rel=1e-3)
        assert data.qpos[2] == pytest.approx(0.0687, abs=2e-3)

    @compiled
    def test_forces_applied_by_the_user_are_kept(self):
        model, data = loose_body(BODIES["box"])
        soil = Soil(np.zeros((61, 61)), 0.02, "mid").attach(model)
        mine, yours = np.zeros((2, 6)), np.zeros(6)
        mine[1, 2], yours[2] = 60.0, 30.0
        data.xfrc_applied[:], data.qfrc_applied[:] = mine, yours
        soil.step(data, 3000)
        assert np.array_equal(data.xfrc_applied, mine)
        assert np.array_equal(data.qfrc_applied, yours)
        assert soil.forces[0, 2] == pytest.approx(20.0 * GRAVITY - 90.0, rel=1e-3)

    @compiled
    def test_away_from_the_ground_a_step_is_mujocos(self):
        (model, data), soil = loose_body(BODIES["box"], place=(0.0, 0.0, 50.0), turn=(10, 20, 30)), field()
        alone = mujoco.MjData(model)
        data.qvel[:] = alone.qvel[:] = (1.0, 2.0, 3.0, 0.4, 0.5, 0.6)
        soil.attach(model).step(data, 500)
        mujoco.mj_step(model, alone, 500)
        assert np.array_equal(data.qpos, alone.qpos)
        assert np.all(soil.forces == 0.0)

    @compiled
    def test_a_foot_without_mass_uses_that_of_its_leg(self):
        model, data = make(
            """<body pos="0 0 0.3"><freejoint/><geom type="box" size="0.05 0.05 0.05" mass="5"/>
            <body pos="0 0 -0.15"><geom name="foot" type="box" size="0.08 0.08 0.02" mass="0"/></body></body>"""
        )
        soil = field().attach(model, ["foot"])
        soil.step(data, 2000)
        assert soil.forces[0, 2] == pytest.approx(5.0 * GRAVITY, rel=1e-3)

    @compiled
    def test_a_body_that_covers_all_of_wrapping_ground_keeps_the_volume(self):
        (model, data), soil = loose_body('type="box" size="0.6 0.6 0.1"', mass=300.0), field(side=0.38, wrap=True)
        soil.attach(model).step(data, 1000)
        assert soil.forces[0, 2] > 0.0
        assert soil.volume == pytest.approx(0.0, abs=1e-12)

    @compiled
    def test_a_body_above_the_ground_touches_nothing(self):
        (model, data), soil = loose_body(BODIES["box"], place=(0.0, 0.0, BOX[2] + 5e-4), gravity="0 0 0"), field()
        soil.attach(model).step(data)
        assert soil._contacts.counters["held"] == 0

    @compiled
    def test_geoms_without_collisions_are_attached_only_by_name(self):
        looks = '<geom name="looks" size="0.2" mass="0" contype="0" conaffinity="0"/>'
        model = make(f'<body><freejoint/><geom name="solid" size="0.1" mass="1"/>{looks}</body>')[0]
        assert len(field().attach(model).forces) == 1
        assert len(field().attach(model, ["solid", "looks"]).forces) == 2

    @compiled
    def test_steps_one_by_one_give_the_same_result(self):
        ends = []
        for size in (1, 200):
            (model, data), soil = loose_body(BODIES["wheel"], turn=(5, 0, 0)), field()
            data_soil = soil.attach(model)
            for _ in range(200 // size):
                data_soil.step(data, size)
            ends.append((data.qpos.copy(), soil.surface().copy()))
        assert np.array_equal(ends[0][0], ends[1][0])
        assert np.array_equal(ends[0][1], ends[1][1])

    @compiled
    def test_bodies_still_collide_with_each_other(self):
        model, data = make(
            """<body pos="0 0 0.1"><freejoint/><geom type="box" size="0.15 0.15 0.08" mass="20"/></body>
            <body pos="0 0 0.3"><freejoint/><geom type="box" size="0.1 0.1 0.08" mass="10"/></body>"""
        )
        soil = Soil(np.zeros((61, 61)), 0.02, "mid").attach(model)
        soil.step(data, 3000)
        assert soil.forces[:, 2] == pytest.approx([30.0 * GRAVITY, 0.0], rel=2e-3)


class TestSlope:
    def ramp(self, kind, degrees, seconds, repose=None):
        """A box on a slope of soil: its position along the slope, 20 times a second [m]."""
        angle, x = np.radians(degrees), 0.02 * (np.arange(161) - 80)
        known = PRESETS[kind].model_copy(update={} if repose is None else {"repose": repose})
        soil = Soil(np.tile(np.tan(angle) * x, (51, 1)), 0.02, known)
        place = 0.6 * np.array([1.0, 0.0, np.tan(angle)]) + 0.051 * np.array([-np.sin(angle), 0.0, np.cos(angle)])
        model, data = loose_body('type="box" size="0.15 0.1 0.05"', place=place, turn=(0.0, -degrees, 0.0))
        soil.attach(model)
        positions = []
        for _ in range(round(20 * seconds)):
            soil.step(data, 50)
            positions.append((data.qpos[0] - 0.6) / np.cos(angle))
        return np.array(positions)

    @compiled
    @pytest.mark.parametrize("kind", PRESETS)
    def test_below_the_angle_of_friction_a_body_stays(self, kind):
        position = self.ramp(kind, 15.0, 5.0)
        assert abs(position[-1]) < 0.06
        assert np.abs(position[60:] - position[-1]).max() < 1e-3

    @compiled
    @pytest.mark.parametrize(("kind", "degrees"), [("soft", 40.0), ("mid", 40.0), ("rigid", 45.0)])
    def test_above_the_angle_of_friction_it_slides(self, kind, degrees):
        position = self.ramp(kind, degrees, 1.5, repose=80.0)
        assert position[-1] < -0.5
        assert np.all(np.diff(position) < 0.0)

    @compiled
    def test_on_rigid_ground_it_slides_with_coulomb_friction(self):
        position = self.ramp("rigid", 45.0, 1.5)
        angle, friction = np.radians(45.0), np.tan(np.radians(PRESETS["rigid"].friction))
        speed = np.diff(position) / 0.05
        faster = (speed[9] - speed[-1]) / (0.05 * (len(speed) - 10))
        assert np.tan(angle) - faster / (GRAVITY * np.cos(angle)) == pytest.approx(friction, rel=0.03)
