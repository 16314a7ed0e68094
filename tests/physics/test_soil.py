"""Soil under MuJoCo models: plates, wheels, belts and bodies that rest, slide and plough."""

import mujoco
import numpy as np
import pytest
from numba import config

from sandlot.errors import SandlotError
from sandlot.physics.ground import FREE, HEIGHT, LOOSE, SHEAR_X, SHEAR_Y, SUNK, TIE, TOUCHED, add, queue
from sandlot.physics.soil import PRESETS, Soil, SoilKind, Track

SLOW = bool(config.DISABLE_JIT)
compiled = pytest.mark.skipif(SLOW, reason="MuJoCo is called by its address")
YIELDING = ("soft", "mid", "LETE sand")
DT, GRAVITY = 1e-3, 9.81
BOX = (0.15, 0.1, 0.08)
BODIES = {
    "sphere": 'type="sphere" size="0.12"',
    "capsule": 'type="capsule" size="0.1 0.1" euler="90 0 0"',
    "ellipsoid": 'type="ellipsoid" size="0.2 0.15 0.1"',
    "wheel": 'type="cylinder" size="0.15 0.08" euler="90 0 0"',
    "drum": 'type="cylinder" size="0.15 0.08"',
    "box": f'type="box" size="{BOX[0]} {BOX[1]} {BOX[2]}"',
    "mesh": 'type="mesh" mesh="brick"',
}


def make(world, more="", dt=DT, **options):
    """A simulation of what is in ``world``, in MuJoCo's words."""
    corners = " ".join(f"{x * BOX[0]} {y * BOX[1]} {z * BOX[2]}" for x in (-1, 1) for y in (-1, 1) for z in (-1, 1))
    told = " ".join(f'{name}="{value}"' for name, value in options.items())
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="{dt}" {told}/><asset><mesh name="brick" vertex="{corners}"/></asset>
        <worldbody>{world}</worldbody>{more}</mujoco>"""
    )
    return model, mujoco.MjData(model)


def loose_body(geom, place=(0.0, 0.0, 0.2), mass=20.0, turn=(0.0, 0.0, 0.0), **options):
    x, y, z, a, b, c = (*place, *turn)
    return make(
        f"""<body name="it" pos="{x} {y} {z}" euler="{a} {b} {c}"><freejoint/>
        <geom name="it" {geom} mass="{mass}"/></body>""",
        **options,
    )


def plate(turn=0.0, mass=100.0, damping=0.0):
    """A plate of 0.4 by 0.2 m that can go up and down; at 0 it lies on level ground."""
    return make(
        f"""<body pos="0 0 0.05"><joint type="slide" axis="0 0 1" damping="{damping}"/>
        <geom type="box" size="0.2 0.1 0.05" mass="{mass}" euler="0 0 {turn}"/></body>"""
    )


def field(side=1.2, spacing=0.02, kind="soft", **options):
    """Level ground; its nodes are nowhere special."""
    count = round(side / spacing) + 1
    options = {"corner": (-0.5 * side - 0.003, -0.5 * side - 0.007), **options}
    return Soil(np.zeros((count, count)), spacing, kind, **options)


def hills(shape=(41, 121), spacing=0.02, high=0.05):
    """Waves that fit the ground, so that it may go on at its edges: (ny, nx) [m]."""
    y, x = (2.0 * np.pi * np.arange(n) / n for n in shape)
    return high * (np.sin(3.0 * x)[None, :] + np.cos(y)[:, None])


def hold(soil, data, z):
    """Force on a plate that is held at a height for one step [N]."""
    data.qpos[0], data.qvel[0] = z, 0.0
    soil.step(data)
    return soil.forces[0, 2]


def wheel(kind, slip, spacing=0.02, seconds=3.0, load=500.0, speed=0.4, heights=None, **options):
    """A wheel of 0.25 m that moves and turns at given speeds: sinkage [m] and pull [N] in the later half; the soil."""
    model, data = make(
        f"""<body><joint type="slide" axis="1 0 0" armature="1e9"/>
        <geom size="0.01" mass="1e-6" contype="0" conaffinity="0"/>
        <body><joint type="slide" axis="0 0 1"/><geom size="0.01" mass="1e-6"/>
        <body><joint type="hinge" axis="0 1 0" armature="1e9"/>
        <geom name="wheel" type="cylinder" size="0.25 0.1" euler="90 0 0" mass="{load / GRAVITY}"/>
        </body></body></body>"""
    )
    heights = np.zeros((int(0.8 / spacing) + 1, int(2.4 / spacing) + 1)) if heights is None else heights
    soil = Soil(heights, spacing, kind, **options).attach(model, ["wheel"])
    data.qpos[:2] = -0.6, 0.25 + float(soil.height_at(-0.6, 0.0))
    data.qvel[:] = speed, 0.0, speed / (0.25 * (1.0 - slip))
    steps, sinkage, pull = round(seconds / DT), [], []
    soil.step(data, steps // 2)
    for _ in range(steps // 20):
        soil.step(data, 10)
        sinkage.append(0.25 - data.qpos[1])
        pull.append(soil.forces[0, 0])
    return np.mean(sinkage), np.mean(pull), soil


def energy(model, data):
    """Potential and kinetic [J], of the same moment."""
    now = mujoco.MjData(model)
    now.qpos[:], now.qvel[:] = data.qpos, data.qvel
    mujoco.mj_forward(model, now)
    mujoco.mj_energyPos(model, now)
    mujoco.mj_energyVel(model, now)
    return now.energy.copy()


class TestPlate:
    @compiled
    @pytest.mark.parametrize("turn", [0.0, 30.0])
    @pytest.mark.parametrize("spacing", [0.013, 0.02, 0.033, 0.05])
    @pytest.mark.parametrize("kind", YIELDING)
    def test_it_sinks_as_bekker_says(self, kind, spacing, turn):
        (model, data), soil = plate(turn), field(spacing=spacing, kind=kind)
        soil.attach(model)
        known = PRESETS[kind]
        for depth in np.linspace(1e-3, 0.08, 40):
            pressure = (known.kphi + known.kc / 0.2) * depth**known.exponent
            assert hold(soil, data, -depth) == pytest.approx(0.08 * pressure, rel=0.02)
        assert np.abs(soil.forces[0, [0, 1]]).max() < 1e-3 * soil.forces[0, 2]
        # It is symmetric, whatever the grid.
        assert np.abs(soil.forces[0, 3:]).max() < 0.02 * 0.1 * soil.forces[0, 2]

    @compiled
    @pytest.mark.parametrize("kind", YIELDING)
    def test_it_sinks_under_a_load_until_the_soil_carries_it(self, kind):
        known = PRESETS[kind]
        load = 0.08 * (known.kphi + known.kc / 0.2) * 0.03**known.exponent
        (model, data), soil = plate(mass=load / GRAVITY, damping=20.0 * load), field(kind=kind)
        soil.attach(model).step(data, 8000)
        assert -data.qpos[0] == pytest.approx(0.03, rel=0.02)
        assert soil.forces[0, 2] == pytest.approx(load, rel=1e-3)

    def pressed(self, kind, depth, **options):
        """A plate that was pressed to a depth, and as much as it takes to press it there [N]."""
        (model, data), soil = plate(mass=200.0), field(kind=kind, **options)
        soil.attach(model)
        for z in np.linspace(0.0, -depth, 41):
            most = hold(soil, data, z)
        return soil, data, most

    @compiled
    @pytest.mark.parametrize(("kind", "depth"), [("soft", 0.04), ("mid", 0.04), ("LETE sand", 0.01)])
    def test_what_was_pressed_springs_back_a_little_and_carries_again(self, kind, depth):
        """If walls stand, and all cells are covered or none is."""
        stands = PRESETS[kind].model_copy(update={"repose": 89.99})
        soil, data, most = self.pressed(stands, depth, corner=(-0.59, -0.59))
        ways = np.linspace(0.0, 1e-3, 21) - depth
        up = [hold(soil, data, z) for z in ways]
        assert np.all(np.diff(up) <= 1e-9 * most)
        assert up[-1] < 1e-9 * most, "all of it is gone after a millimetre"
        rut = soil.heights
        assert rut.min() == pytest.approx(-depth, abs=1e-3)
        for z in (0.0, 0.1, 0.0, -0.5 * depth):
            assert hold(soil, data, z) < 1e-9 * most
        assert soil.heights == pytest.approx(rut, abs=1e-15), "the rut stays"
        down = [hold(soil, data, z) for z in ways[::-1]]
        assert down == pytest.approx(up[::-1], rel=1e-6, abs=1e-6 * most)
        assert down[-1] == pytest.approx(most, rel=1e-6)
        # And goes on along Bekker's curve.
        pressure = (stands.kphi + stands.kc / 0.2) * (1.5 * depth) ** stands.exponent
        assert hold(soil, data, -1.5 * depth) == pytest.approx(0.08 * pressure, rel=0.02)

    @compiled
    @pytest.mark.parametrize("kind", ["soft", "mid"])
    def test_it_is_off_after_a_millimetre_on_any_grid(self, kind):
        soil, data, most = self.pressed(kind, 0.04)
        up = [hold(soil, data, z) for z in np.linspace(-0.04, -0.039, 21)]
        assert up[-1] < 0.01 * most

    @compiled
    def test_it_presses_out_what_lies_around_it(self):
        (model, data), soil = plate(), field()
        soil.attach(model)
        for depth in np.linspace(0.0, 0.05, 200):
            hold(soil, data, -depth)
        heights = soil.heights
        assert heights.min() == pytest.approx(-0.05, abs=1e-3)
        assert heights.max() > 0.01
        assert heights.sum() == pytest.approx(0.0, abs=1e-12)
        assert pytest.approx(heights[heights > 0.0].sum() * soil.spacing**2, rel=0.05) == 0.08 * 0.05


on_every_soil = pytest.mark.parametrize(("kind", "body"), [(kind, body) for kind in PRESETS for body in BODIES])


class TestRest:
    @compiled
    @on_every_soil
    def test_every_body_rests_on_every_soil(self, kind, body):
        (model, data), soil = loose_body(BODIES[body]), field(kind=kind)
        soil.attach(model).step(data, 4000)
        before, forces = data.qpos.copy(), []
        for _ in range(1000):
            soil.step(data)
            forces.append(soil.forces[0, 2])
        assert np.mean(forces) == pytest.approx(20.0 * GRAVITY, rel=1e-3)
        assert np.abs(data.qpos - before).max() < 2e-4
        assert np.abs(data.qvel).max() < 2e-3

    @compiled
    @pytest.mark.parametrize("kind", PRESETS)
    @pytest.mark.parametrize("body", BODIES)
    def test_a_body_that_falls_on_its_edge_comes_to_rest(self, kind, body):
        (model, data), soil = loose_body(BODIES[body], turn=(10, 5, 20)), field(kind=kind)
        soil.attach(model).step(data, 5000)
        before = data.qpos.copy()
        soil.step(data, 1000)
        # What is round may go on rolling on hard ground for a while.
        assert np.abs(data.qpos - before).max() < (2e-3 if kind == "rigid" else 1e-4)
        assert soil.forces[0, 2] == pytest.approx(20.0 * GRAVITY, rel=1e-3)

    @compiled
    @on_every_soil
    def test_nothing_gains_energy(self, kind, body):
        """From the soil's springs, what fell gets back a part of what it lost, but never more."""
        (model, data), soil = loose_body(BODIES[body]), field(kind=kind)
        soil.attach(model)
        start, course = energy(model, data).sum(), []
        fall = 20.0 * GRAVITY * 0.1
        for _ in range(250):
            soil.step(data, 20)
            course.append(energy(model, data).sum())
        assert max(course) <= start + 1e-6 * fall
        peaks = np.array(course).reshape(5, 50).max(axis=1)
        assert np.all(np.diff(peaks) <= 0.01 * fall), "second by second"
        assert energy(model, data)[1] < 1e-3 * fall

    @compiled
    @pytest.mark.parametrize("integrator", ["Euler", "implicit", "implicitfast"])
    def test_the_integrator_does_not_matter(self, integrator):
        (model, data), soil = loose_body(BODIES["box"], integrator=integrator), Soil(np.zeros((61, 61)), 0.02, "mid")
        soil.attach(model).step(data, 2000)
        assert soil.forces[0, 2] == pytest.approx(20.0 * GRAVITY, rel=1e-3)
        assert data.qpos[2] == pytest.approx(0.0687, abs=2e-3)

    @compiled
    def test_what_the_user_applies_is_kept(self):
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
    def test_without_ground_below_it_is_mujoco_alone(self):
        (model, data), soil = loose_body(BODIES["box"], place=(0.0, 0.0, 50.0), turn=(10, 20, 30)), field()
        alone = mujoco.MjData(model)
        data.qvel[:] = alone.qvel[:] = (1.0, 2.0, 3.0, 0.4, 0.5, 0.6)
        soil.attach(model).step(data, 500)
        mujoco.mj_step(model, alone, 500)
        assert np.array_equal(data.qpos, alone.qpos)
        assert np.all(soil.forces == 0.0)

    @compiled
    def test_a_foot_may_leave_its_mass_to_the_leg(self):
        model, data = make(
            """<body pos="0 0 0.3"><freejoint/><geom type="box" size="0.05 0.05 0.05" mass="5"/>
            <body pos="0 0 -0.15"><geom name="foot" type="box" size="0.08 0.08 0.02" mass="0"/></body></body>"""
        )
        soil = field().attach(model, ["foot"])
        soil.step(data, 2000)
        assert soil.forces[0, 2] == pytest.approx(5.0 * GRAVITY, rel=1e-3)

    @compiled
    def test_a_body_that_covers_all_of_a_round_world_loses_nothing(self):
        (model, data), soil = loose_body('type="box" size="0.6 0.6 0.1"', mass=300.0), field(side=0.38, wrap=True)
        soil.attach(model).step(data, 1000)
        assert soil.forces[0, 2] > 0.0
        assert soil.volume == pytest.approx(0.0, abs=1e-12)

    @compiled
    def test_what_has_not_come_down_touches_nothing(self):
        (model, data), soil = loose_body(BODIES["box"], place=(0.0, 0.0, BOX[2] + 5e-4), gravity="0 0 0"), field()
        soil.attach(model).step(data)
        assert soil._bodies.counts[0] == 0

    @compiled
    def test_what_is_there_for_its_looks_feels_nothing_unless_told(self):
        looks = '<geom name="looks" size="0.2" mass="0" contype="0" conaffinity="0"/>'
        model = make(f'<body><freejoint/><geom name="solid" size="0.1" mass="1"/>{looks}</body>')[0]
        assert len(field().attach(model).forces) == 1
        assert len(field().attach(model, ["solid", "looks"]).forces) == 2

    @compiled
    def test_steps_may_be_made_one_by_one(self):
        ends = []
        for size in (1, 200):
            (model, data), soil = loose_body(BODIES["wheel"], turn=(5, 0, 0)), field()
            data_soil = soil.attach(model)
            for _ in range(200 // size):
                data_soil.step(data, size)
            ends.append((data.qpos.copy(), soil.heights))
        assert np.array_equal(ends[0][0], ends[1][0])
        assert np.array_equal(ends[0][1], ends[1][1])

    @compiled
    def test_bodies_still_touch_each_other(self):
        model, data = make(
            """<body pos="0 0 0.1"><freejoint/><geom type="box" size="0.15 0.15 0.08" mass="20"/></body>
            <body pos="0 0 0.3"><freejoint/><geom type="box" size="0.1 0.1 0.08" mass="10"/></body>"""
        )
        soil = Soil(np.zeros((61, 61)), 0.02, "mid").attach(model)
        soil.step(data, 3000)
        assert soil.forces[:, 2] == pytest.approx([30.0 * GRAVITY, 0.0], rel=2e-3)


class TestSlope:
    def ramp(self, kind, degrees, seconds, repose=None):
        """A box on a plane of soil: where it is along the slope, 20 times a second [m]."""
        angle, x = np.radians(degrees), 0.02 * (np.arange(161) - 80)
        known = PRESETS[kind].model_copy(update={} if repose is None else {"repose": repose})
        soil = Soil(np.tile(np.tan(angle) * x, (51, 1)), 0.02, known)
        place = 0.6 * np.array([1.0, 0.0, np.tan(angle)]) + 0.051 * np.array([-np.sin(angle), 0.0, np.cos(angle)])
        model, data = loose_body('type="box" size="0.15 0.1 0.05"', place=place, turn=(0.0, -degrees, 0.0))
        soil.attach(model)
        way = []
        for _ in range(round(20 * seconds)):
            soil.step(data, 50)
            way.append((data.qpos[0] - 0.6) / np.cos(angle))
        return np.array(way)

    @compiled
    @pytest.mark.parametrize("kind", PRESETS)
    def test_below_the_angle_of_friction_a_body_stays(self, kind):
        way = self.ramp(kind, 15.0, 5.0)
        assert abs(way[-1]) < 0.06
        assert np.abs(way[60:] - way[-1]).max() < 1e-3

    @compiled
    @pytest.mark.parametrize(("kind", "degrees"), [("soft", 40.0), ("mid", 40.0), ("rigid", 45.0)])
    def test_above_it_slides(self, kind, degrees):
        way = self.ramp(kind, degrees, 1.5, repose=80.0)
        assert way[-1] < -0.5
        assert np.all(np.diff(way) < 0.0)

    @compiled
    def test_on_hard_ground_it_slides_as_coulomb_says(self):
        way = self.ramp("rigid", 45.0, 1.5)
        angle, friction = np.radians(45.0), np.tan(np.radians(PRESETS["rigid"].friction))
        speed = np.diff(way) / 0.05
        faster = (speed[9] - speed[-1]) / (0.05 * (len(speed) - 10))
        assert np.tan(angle) - faster / (GRAVITY * np.cos(angle)) == pytest.approx(friction, rel=0.03)


class TestWheel:
    @compiled
    @pytest.mark.parametrize("wrap", [False, True])
    @pytest.mark.parametrize("kind", YIELDING)
    def test_ploughing_keeps_the_volume(self, kind, wrap):
        heights = hills()
        soil = wheel(kind, 0.6, seconds=4.0, load=1500.0, heights=heights, wrap=wrap)[2]
        now, low = soil.heights, heights.min()
        assert np.abs(now - heights).max() > 0.01
        assert np.sum(now - low) == pytest.approx(np.sum(heights - low), rel=1e-9)
        assert soil.volume == pytest.approx(now.sum() * 0.02**2)

    @compiled
    def test_every_node_is_in_order_after_ploughing(self):
        soil = wheel("soft", 0.6, seconds=3.0, load=1500.0, heights=hills())[2]
        nodes, step = soil._ground.nodes, soil._bodies.counts[1]
        free = nodes[nodes[:, TOUCHED] != step]
        assert free[:, FREE] - free[:, SUNK] + free[:, LOOSE] == pytest.approx(free[:, HEIGHT], abs=1e-12)
        assert nodes[:, SUNK].min() >= 0.0
        assert nodes[:, LOOSE].min() >= 0.0
        assert np.isfinite(nodes).all()

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
    def test_half_the_spacing_is_the_same_wheel(self, kind, spacing, slip):
        coarse, fine = (wheel(kind, slip, each)[:2] for each in (spacing, 0.5 * spacing))
        assert coarse[0] == pytest.approx(fine[0], rel=0.1)
        assert coarse[1] == pytest.approx(fine[1], abs=0.02 * 500.0)

    @compiled
    def test_a_wheel_goes_deeper_the_softer_the_soil_is_and_the_heavier_it_is(self):
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
    def test_where_it_was_the_soil_is_firm_and_lower(self):
        """Whatever lies on it loosely."""
        sinkage, _, soil = wheel("mid", 0.2, seconds=2.5)
        nodes = soil._ground.nodes.reshape(soil._ground.ny, soil._ground.nx, -1)
        firm = (nodes[..., FREE] - nodes[..., SUNK])[18:23, 40:58]
        assert firm == pytest.approx(np.full(firm.shape, -sinkage), rel=0.1)

    @compiled
    def test_on_ground_that_goes_on_the_edge_is_nowhere(self):
        """The same drive over the same hills, in the middle and across both edges."""
        heights, spacing, ends = hills((40, 120)), 0.02, []
        for across, along in ((0, 0), (20, 60)):
            model, data = loose_body(BODIES["wheel"], place=(0.4, 0.1, 0.3), turn=(3.0, 0.0, 20.0))
            shifted = np.roll(heights, (across, along), (0, 1))
            soil = Soil(shifted, spacing, "soft", wrap=True).attach(model)
            move = np.array([along * spacing, across * spacing])
            data.qpos[:2] += move
            data.qvel[:] = (0.8, 0.3, 0.0, 0.0, 0.0, -5.0)
            soil.step(data, 800)
            back = np.roll(soil.heights, (-across, -along), (0, 1))
            ends.append((data.qpos - [*move, 0, 0, 0, 0, 0], data.qvel.copy(), back))
        assert np.abs(ends[0][2] - heights).max() > 0.005
        for one, other in zip(*ends, strict=True):
            assert one == pytest.approx(other, abs=1e-7)

    @compiled
    def test_beyond_the_edge_there_is_nothing_unless_the_ground_goes_on(self):
        fallen = []
        for wrap in (False, True):
            (model, data), soil = loose_body(BODIES["box"], place=(3.0, 0.0, 0.2)), field(wrap=wrap)
            soil.attach(model).step(data, 1000)
            fallen.append(data.qpos[2])
        assert fallen[0] < -3.0
        assert fallen[1] == pytest.approx(0.05, abs=0.03)


class TestBelt:
    def tracked(self, place=0.16, dofs="<freejoint/>", inertia=0.01, gain=200.0):
        """A box on two belts, and motors for them."""
        drums = "".join(
            f"""<body name="{name}" pos="0 {y} 0"><joint name="{name}" axis="0 1 0" armature="{inertia}"/>
            <geom type="sphere" size="0.02" mass="0.1" contype="0" conaffinity="0"/></body>"""
            for name, y in (("left", 0.2), ("right", -0.2))
        )
        motors = "".join(f'<velocity joint="{name}" kv="{gain}"/>' for name in ("left", "right")) if gain else ""
        model, data = make(
            f"""<body name="hull" pos="0 0 {place}">{dofs}
            <geom name="hull" type="box" size="0.25 0.1 0.05" mass="40"/>{drums}</body>""",
            f"<actuator>{motors}</actuator>" if motors else "",
            integrator="implicitfast",
        )
        tracks = [
            Track(
                body=model.body("hull").id, position=np.array([0.0, y, -0.05]), rotation=np.eye(3), half_length=0.2,
                radius=0.1, half_width=0.06, dof=int(model.joint(name).dofadr[0]),
            )
            for name, y in (("left", 0.2), ("right", -0.2))
        ]  # fmt: skip
        return model, data, tracks

    @compiled
    @pytest.mark.parametrize("kind", PRESETS)
    def test_belts_drive_a_body_forward(self, kind):
        model, data, tracks = self.tracked()
        soil = Soil(np.zeros((61, 151)), 0.02, kind).attach(model, geoms=[], tracks=tracks)
        soil.step(data, 1000)
        data.ctrl[:] = 3.0
        soil.step(data, 500)
        start = data.qpos[0]
        soil.step(data, 2000)
        way = data.qpos[0] - start
        assert 0.7 * 0.6 < way < 1.005 * 0.6, "some of the belts' way is slip"
        assert abs(data.qpos[1]) < 0.02
        data.ctrl[:] = -3.0
        soil.step(data, 2500)
        assert data.qpos[0] < start + 0.5 * way

    @compiled
    def test_belts_against_each_other_turn_it_on_the_spot(self):
        model, data, tracks = self.tracked()
        soil = Soil(np.zeros((101, 101)), 0.02, "mid").attach(model, geoms=[], tracks=tracks)
        soil.step(data, 1000)
        data.ctrl[:] = -2.0, 2.0
        soil.step(data, 2000)
        assert np.hypot(*data.qpos[:2]) < 0.05
        assert data.qvel[5] > 0.1, "to the left"

    @compiled
    @pytest.mark.parametrize("kind", PRESETS)
    def test_what_pushes_the_body_brakes_the_belt(self, kind):
        """At given speeds, what the soil gives to one and takes from the other is lost in slip, and nothing else."""
        dofs = '<joint type="slide" axis="1 0 0" armature="1e9"/><joint type="slide" axis="0 0 1"/>'
        model, data, tracks = self.tracked(dofs=dofs, inertia=1e9, gain=0.0)
        soil = Soil(np.zeros((61, 151)), 0.02, kind).attach(model, geoms=[], tracks=tracks)
        data.qvel[0], data.qvel[2:] = 0.2, 5.0
        soil.step(data, 1500)
        push, gained, lost = soil.forces[:, 0].sum(), 0.0, []
        for _ in range(200):
            soil.step(data)
            body = 0.2 * soil.forces[:, 0].sum()
            belts = 5.0 * 0.1 * soil._bodies.sums[:, 6].sum()
            lost.append(body + belts)
            gained += body
        assert push > 0.3 * 40.0 * GRAVITY
        assert gained > 0.0, "the body is driven"
        assert max(lost) < 0.0, "the soil gives less than it takes"
        # Under the flat part of a belt, slip is the difference of the speeds; around the pulleys it is more.
        assert 0.9 < np.mean(lost) / (-push * (0.5 - 0.2)) < 1.5

    @compiled
    def test_the_torque_on_the_drive_is_that_of_the_belts_force(self):
        model, data, tracks = self.tracked()
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
        # Steady: the soil pushes as much as is pulled; the motors give what the belts need for it, and for rolling.
        assert np.mean(pushes) == pytest.approx(120.0, rel=0.05)
        assert 0.95 * 0.1 * 120.0 < np.mean(torques) < 2.0 * 0.1 * 120.0

    @compiled
    @pytest.mark.parametrize("kind", PRESETS)
    def test_belts_far_out_on_a_narrow_body_rest(self, kind):
        """It is easier to roll it than to push it down."""
        model, data, tracks = self.tracked()
        soil = Soil(np.zeros((61, 151)), 0.02, kind).attach(model, geoms=[], tracks=tracks)
        soil.step(data, 4000)
        assert soil.forces[:, 2].sum() == pytest.approx(40.2 * GRAVITY, rel=1e-3)
        assert np.abs(data.qvel).max() < 2e-3


class TestGround:
    def test_heights_and_volume(self):
        heights = hills((7, 9))
        soil = Soil(heights, 0.5)
        assert np.array_equal(soil.heights, heights)
        assert soil.volume == pytest.approx(0.25 * heights.sum())
        assert tuple(soil.corner) == (-2.0, -1.5)
        soil.heights[:] = 7.0
        heights[:] = 7.0
        assert soil.heights.max() < 1.0, "both are copies"

    def test_height_between_nodes(self):
        rng = np.random.default_rng(0)
        heights = 0.01 * rng.random((5, 6))
        soil = Soil(heights, 0.5, corner=(1.0, 2.0))
        x, y = np.meshgrid(1.0 + 0.5 * np.arange(6), 2.0 + 0.5 * np.arange(5))
        assert soil.height_at(x, y) == pytest.approx(heights)
        assert soil.height_at(1.25, 2.25) == pytest.approx(heights[:2, :2].mean())
        assert soil.height_at(1.1, 2.0) == pytest.approx(0.8 * heights[0, 0] + 0.2 * heights[0, 1])
        assert soil.height_at([-9.0, 99.0], [2.5, 99.0]) == pytest.approx([heights[1, 0], heights[-1, -1]])
        around = Soil(heights, 0.5, corner=(1.0, 2.0), wrap=True)
        assert around.height_at(1.25 + 3.0 * 7, 2.25 - 2.5 * 4) == pytest.approx(heights[:2, :2].mean())
        assert around.height_at(1.0 + 2.75, 2.0) == pytest.approx(heights[0, [5, 0]].mean())

    @pytest.mark.parametrize("wrap", [False, True])
    def test_after_settling_no_slope_is_too_steep(self, wrap):
        rng = np.random.default_rng(1)
        heights = 0.1 * rng.random((6, 7) if SLOW else (30, 40))
        soil = Soil(heights, 0.05, wrap=wrap)
        soil.settle()
        assert self.steepest(soil) <= np.tan(np.radians(30.0)) * (1.0 + TIE) + 1e-9
        assert soil.volume == pytest.approx(heights.sum() * 0.05**2, rel=1e-12)
        assert np.abs(soil.heights - heights).max() > 0.01

    def steepest(self, soil):
        heights = np.pad(soil.heights, 1, mode="wrap" if soil.wrap else "reflect")
        middle, slopes = heights[1:-1, 1:-1], []
        for i in (0, 1, 2):
            for j in (0, 1, 2):
                away = np.hypot(i - 1, j - 1)
                there = heights[i : i + middle.shape[0], j : j + middle.shape[1]]
                slopes.append(np.abs(there - middle).max() / (soil.spacing * max(away, 1.0)))
        # What is reflected beyond a corner is the neighbour at its other side.
        return max(slopes)

    def test_a_slope_along_the_diagonal_slides_too(self):
        """Where neighbours along x and y are not too far below."""
        i, j = np.mgrid[:9, :9]
        angle = 0.85 * np.tan(np.radians(30.0)) * 0.05
        soil = Soil(-angle * (i + j), 0.05)
        soil.settle()
        assert self.steepest(soil) <= np.tan(np.radians(30.0)) * (1.0 + TIE) + 1e-9

    def test_settling_looks_at_no_more_nodes_than_it_may(self):
        heights = np.zeros((9, 9))
        heights[4, 4] = 1.0
        soil = Soil(heights, 0.05)
        soil.settle(1)
        assert np.count_nonzero(soil.heights) <= 9
        soil.settle()
        assert np.count_nonzero(soil.heights) > 9

    @compiled
    def test_settling_after_a_drive_flattens_the_banks(self):
        """Also those that were thrown up first; what a body stands on stays."""
        (model, data), soil = loose_body(BODIES["box"], mass=200.0), field()
        soil.attach(model)
        while soil._bodies.counts[2] == 0:
            soil.step(data)
        ground, step = soil._ground, soil._bodies.counts[1]
        under, first = ground.nodes[:, TOUCHED] == step, ground.nodes[:, TOUCHED] == -1.0
        assert under.any()
        assert first.any()
        for index in range(len(under)):
            add(ground.nodes, index, 0.0 if under[index] else 0.2 * (index % 7 == 0))
            queue(ground.waits, ground.ring, ground.ends, index)
        before = ground.nodes.copy()
        soil.settle()
        assert np.array_equal(ground.nodes[under, HEIGHT], before[under, HEIGHT])
        heights, free = soil.heights, ~under.reshape(soil.heights.shape)
        for axis in (0, 1):
            falls = np.abs(np.diff(np.where(free, heights, np.nan), axis=axis))
            assert np.nanmax(falls) <= soil.spacing * np.tan(np.radians(30.0)) * (1.0 + TIE) + 1e-9

    @compiled
    def test_another_model_may_follow_in_the_tracks_of_the_first(self):
        """What was under the first is let go, and soil pressed out by the second goes there, too."""
        soil, ends = field(kind="mid"), []
        for x in (0.0, 0.22):
            model, data = loose_body(BODIES["box"], place=(x, 0.0, 0.1))
            soil.attach(model).step(data, 1500)
            ends.append((soil.forces[0, 2], soil.heights.sum()))
        assert ends == [pytest.approx((20.0 * GRAVITY, 0.0), rel=5e-3, abs=1e-9)] * 2
        nodes = soil._ground.nodes
        gone = nodes[nodes[:, TOUCHED] != soil._bodies.counts[1]]
        assert gone[:, FREE] - gone[:, SUNK] + gone[:, LOOSE] == pytest.approx(gone[:, HEIGHT], abs=1e-12)
        assert np.all(gone[:, [SHEAR_X, SHEAR_Y]] == 0.0)


class TestMistakes:
    """Each is one line that says what would be right."""

    def says(self, *words):
        """Expect such an error."""
        return pytest.raises(SandlotError, match="(?s)^[^\n]*" + "[^\n]*".join(words) + "[^\n]*$")

    def test_unknown_soil(self):
        with self.says("there is no soil 'mud'", "allowed: soft, mid, LETE sand, rigid"):
            Soil(np.zeros((5, 5)), 0.1, "mud")

    @pytest.mark.parametrize(
        "heights",
        [
            np.zeros(5),
            np.zeros((2, 9)),
            np.zeros((3, 3, 3)),
            np.full((4, 4), np.nan),
            np.full((4, 4), np.inf),
            [[1.0], [1.0, 2.0]],
            "hills",
        ],
    )
    def test_heights_that_are_no_ground(self, heights):
        with self.says("heights", "allowed: numbers, at least 3 by 3"):
            Soil(heights, 0.1)

    @pytest.mark.parametrize("given", [{"kind": None}, {"kind": {}}, {"corner": (1, 2, 3)}, {"corner": (np.nan, 0)}])
    def test_what_is_no_soil_and_no_place(self, given):
        with self.says(next(iter(given)), "allowed"):
            Soil(np.zeros((5, 5)), 0.1, **given)

    @pytest.mark.parametrize("spacing", [0.0, -0.1, np.inf, np.nan])
    def test_spacing(self, spacing):
        with self.says("spacing=", "greater than 0"):
            Soil(np.zeros((5, 5)), spacing)

    def test_soil_of_impossible_stuff(self):
        with pytest.raises(ValueError, match="exponent"):
            SoilKind(kphi=1e5, exponent=0.0, friction=30.0, shear=0.01, elastic=1e7)
        with pytest.raises(ValueError, match="kphi"):
            SoilKind(kphi=np.nan, friction=30.0, shear=0.01, elastic=1e7)

    @pytest.mark.parametrize("which", ["foot", 7, -1])
    def test_unknown_geom(self, which):
        with self.says(f"no geom {which!r}", "allowed: it"):
            field().attach(loose_body(BODIES["box"])[0], [which])

    def test_runge_kutta(self):
        with self.says("RK4", "allowed: Euler"):
            field().attach(loose_body(BODIES["box"], integrator="RK4")[0])

    @pytest.mark.parametrize("size", ["0 0 0.1", "5 5 0.1"])
    def test_a_plane_is_no_body(self, size):
        model = make(f'<geom name="floor" type="plane" size="{size}"/>')[0]
        with self.says("geom floor", "allowed: sphere, capsule, ellipsoid, cylinder, box, mesh"):
            field().attach(model, ["floor"])

    def test_nothing_that_moves(self):
        with self.says("nothing of this model", "geoms of bodies that move"):
            field().attach(make('<geom type="sphere" size="1"/>')[0])

    @pytest.mark.parametrize(
        "geom",
        [
            'type="sphere" size="0.02"',
            'type="box" size="0.5 0.5 0.02"',
            'type="capsule" size="0.02 0.5"',
            'type="cylinder" size="0.5 0.02"',
            'type="ellipsoid" size="0.5 0.02 0.5"',
        ],
    )
    def test_a_shape_that_would_fall_through_between_nodes(self, geom):
        with self.says("geom it is 0.04 m across", "spacing of at most 0.04"):
            field(spacing=0.05).attach(loose_body(geom)[0])
        field(spacing=0.04).attach(loose_body(geom)[0])

    def test_a_belt_that_is_too_narrow(self):
        model, _, tracks = TestBelt().tracked()
        with self.says("track on body 1 is 0.12 m across", "0.12"):
            field(spacing=0.2).attach(model, [], tracks)

    @pytest.mark.parametrize(("name", "value"), [("body", 9), ("body", -1), ("dof", 99), ("dof", -1)])
    def test_a_belt_on_nothing(self, name, value):
        model, _, tracks = TestBelt().tracked()
        broken = Track(**{**vars(tracks[0]), name: value})
        with self.says(f"track with {name}={value}", "allowed"):
            field().attach(model, [], [broken])

    def test_a_step_before_there_is_a_model(self):
        data = loose_body(BODIES["box"])[1]
        with self.says("under no model", "attach"):
            field().step(data)

    def test_a_simulation_of_another_model(self):
        soil, other = field().attach(loose_body(BODIES["box"])[0]), loose_body(BODIES["sphere"])[1]
        with self.says("another model", "attach that one"):
            soil.step(other)

    def test_one_name_is_no_list(self):
        with self.says("geoms='it'", "allowed: a list"):
            field().attach(loose_body(BODIES["box"])[0], "it")

    @pytest.mark.parametrize("value", [0.0, -0.1, np.nan])
    def test_a_belt_of_no_size(self, value):
        model, _, tracks = TestBelt().tracked()
        with self.says("track with radius", "above 0"):
            field().attach(model, [], [Track(**{**vars(tracks[0]), "radius": value})])

    def test_forces_before_there_is_a_model(self):
        with self.says("under no model", "attach"):
            _ = field().forces
