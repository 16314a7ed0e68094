"""Soil: its surface, how it settles, and which inputs it refuses."""

import mujoco
import numpy as np
import pytest

from sandlot.errors import RobotWarning, SandlotError
from sandlot.physics.attachment import Track
from sandlot.physics.particles import Particles
from sandlot.physics.soil import Soil, SoilKind
from sandlot.physics.soil.ground import add_soil, enqueue
from sandlot.physics.soil.slides import REPOSE_TOLERANCE
from soil_scenes import BODIES, GRAVITY, SLOW, compiled, field, hills, loose_body, make, tracked


class TestGround:
    def test_heights_and_volume(self):
        heights = hills((7, 9))
        soil = Soil(heights, 0.5)
        assert np.array_equal(soil.surface(), heights)
        assert soil.volume == pytest.approx(0.25 * heights.sum())
        assert tuple(soil.corner) == (-2.0, -1.5)
        heights[:] = 7.0
        assert soil.surface().max() < 1.0, "heights are copied"
        with pytest.raises(ValueError, match="read-only"):
            soil.surface()[:] = 7.0

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
        assert self.steepest(soil) <= np.tan(np.radians(30.0)) * (1.0 + REPOSE_TOLERANCE) + 1e-9
        assert soil.volume == pytest.approx(heights.sum() * 0.05**2, rel=1e-12)
        assert np.abs(soil.surface() - heights).max() > 0.01

    def steepest(self, soil):
        heights = np.pad(soil.surface(), 1, mode="wrap" if soil.wrap else "reflect")
        middle, slopes = heights[1:-1, 1:-1], []
        for i in (0, 1, 2):
            for j in (0, 1, 2):
                away = np.hypot(i - 1, j - 1)
                there = heights[i : i + middle.shape[0], j : j + middle.shape[1]]
                slopes.append(np.abs(there - middle).max() / (soil.spacing * max(away, 1.0)))
        # Beyond a corner, padding reflects the neighbour on the other side.
        return max(slopes)

    def test_a_slope_along_the_diagonal_slides_too(self):
        """Where slopes along x and y are below the angle of repose."""
        i, j = np.mgrid[:9, :9]
        angle = 0.85 * np.tan(np.radians(30.0)) * 0.05
        soil = Soil(-angle * (i + j), 0.05)
        soil.settle()
        assert self.steepest(soil) <= np.tan(np.radians(30.0)) * (1.0 + REPOSE_TOLERANCE) + 1e-9

    def test_settling_checks_no_more_nodes_than_allowed(self):
        heights = np.zeros((9, 9))
        heights[4, 4] = 1.0
        soil = Soil(heights, 0.05)
        soil.settle(1)
        assert np.count_nonzero(soil.surface()) <= 9
        soil.settle()
        assert np.count_nonzero(soil.surface()) > 9

    @compiled
    def test_settling_after_a_drive_flattens_the_banks(self):
        """Also the nodes of the first rim; the nodes under the body stay."""
        (model, data), soil = loose_body(BODIES["box"], mass=200.0), field()
        soil.attach(model)
        while soil._contacts.counters["rim"] == 0:
            soil.step(data)
        ground, step = soil._ground, soil._contacts.counters["step"]
        under, first = ground.nodes["contact"] == step, ground.nodes["contact"] == -1.0
        assert under.any()
        assert first.any()
        for index in range(len(under)):
            add_soil(ground.nodes[index], 0.0 if under[index] else 0.2 * (index % 7 == 0))
            enqueue(ground, index)
        before = ground.nodes.copy()
        soil.settle()
        assert np.array_equal(ground.nodes["height"][under], before["height"][under])
        heights, free = soil.surface(), ~under.reshape(soil.surface().shape)
        for axis in (0, 1):
            falls = np.abs(np.diff(np.where(free, heights, np.nan), axis=axis))
            assert np.nanmax(falls) <= soil.spacing * np.tan(np.radians(30.0)) * (1.0 + REPOSE_TOLERANCE) + 1e-9

    @compiled
    def test_soil_can_be_attached_to_another_model(self):
        """Nodes under the first are released, and soil displaced by the second may go there."""
        soil, ends = field(kind="mid"), []
        for x in (0.0, 0.22):
            model, data = loose_body(BODIES["box"], place=(x, 0.0, 0.1))
            soil.attach(model).step(data, 1500)
            ends.append((soil.forces[0, 2], soil.surface().sum()))
        assert ends == [pytest.approx((20.0 * GRAVITY, 0.0), rel=5e-3, abs=1e-9)] * 2
        nodes = soil._ground.nodes
        gone = nodes[nodes["contact"] != soil._contacts.counters["step"]]
        assert gone["undeformed"] - gone["sinkage"] + gone["loose"] == pytest.approx(gone["height"], abs=1e-12)
        assert np.all((gone["shear_x"] == 0.0) & (gone["shear_y"] == 0.0))


class TestMistakes:
    """Each message is one line that says what is allowed."""

    def says(self, *words):
        """Expect an error with these words, in one line."""
        return pytest.raises(SandlotError, match="(?s)^[^\n]*" + "[^\n]*".join(words) + "[^\n]*$")

    def test_unknown_soil(self):
        with self.says("unknown soil 'mud'", "allowed: soft, mid, LETE sand, rigid"):
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
    def test_impossible_heights(self, heights):
        with self.says("heights", "allowed: finite numbers, at least 3 by 3"):
            Soil(heights, 0.1)

    @pytest.mark.parametrize("given", [{"kind": None}, {"kind": {}}, {"corner": (1, 2, 3)}, {"corner": (np.nan, 0)}])
    def test_impossible_kinds_and_corners(self, given):
        with self.says(next(iter(given)), "allowed"):
            Soil(np.zeros((5, 5)), 0.1, **given)

    @pytest.mark.parametrize("spacing", [0.0, -0.1, np.inf, np.nan])
    def test_spacing(self, spacing):
        with self.says("spacing=", "greater than 0"):
            Soil(np.zeros((5, 5)), spacing)

    def test_impossible_soil_parameters(self):
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

    @pytest.mark.parametrize("ground", [field, lambda: Particles(np.ones((2, 2)), 0.3)])
    def test_runge_kutta_set_after_attach(self, ground):
        (model, data), ground = loose_body(BODIES["box"]), ground()
        ground.attach(model)
        model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
        with self.says("RK4", "allowed: Euler"):
            ground.step(data)
        assert data.time == 0.0

    @pytest.mark.parametrize("size", ["0 0 0.1", "5 5 0.1"])
    def test_a_plane_is_refused(self, size):
        model = make(f'<geom name="floor" type="plane" size="{size}"/>')[0]
        with self.says("geom floor", "allowed: sphere, capsule, ellipsoid, cylinder, box, mesh"):
            field().attach(model, ["floor"])

    def test_a_model_without_moving_bodies(self):
        with self.says("nothing of this model", "geoms of bodies that move"):
            field().attach(make('<geom type="sphere" size="1"/>')[0])

    @pytest.mark.parametrize(("name", "value"), [("body", 9), ("body", -1), ("dof", 99), ("dof", -1)])
    def test_a_track_on_a_missing_body_or_dof(self, name, value):
        model, _, tracks = tracked()
        broken = Track(**{**vars(tracks[0]), name: value})
        with self.says(f"track with {name}={value}", "allowed"):
            field().attach(model, [], [broken])

    def test_a_step_before_attach(self):
        data = loose_body(BODIES["box"])[1]
        with self.says("attached to no model", "attach"):
            field().step(data)

    def test_a_simulation_of_another_model(self):
        soil, other = field().attach(loose_body(BODIES["box"])[0]), loose_body(BODIES["sphere"])[1]
        with self.says("another model", "attach that one"):
            soil.step(other)

    def test_a_name_instead_of_a_list_of_geoms(self):
        with self.says("geoms='it'", "allowed: a list"):
            field().attach(loose_body(BODIES["box"])[0], "it")

    @pytest.mark.parametrize("value", [0.0, -0.1, np.nan])
    def test_a_track_of_impossible_size(self, value):
        model, _, tracks = tracked()
        with self.says("track with radius", "above 0"):
            field().attach(model, [], [Track(**{**vars(tracks[0]), "radius": value})])

    def test_forces_before_attach(self):
        with self.says("attached to no model", "attach"):
            _ = field().forces


@compiled
def test_a_body_that_leaves_the_ground_is_warned_of_once(recwarn):
    model, data = loose_body(BODIES["sphere"], place=(0.5, 0.0, 0.15))
    soil = field().attach(model)
    data.qvel[0] = 3.0
    soil.step(data, 20)
    assert not recwarn.list, "it is still above the ground"
    with pytest.warns(RobotWarning, match="at 0.1 s everything on the soil has left it"):
        soil.step(data, 80)
    soil.step(data)
    assert not [each for each in recwarn.list if each.category is RobotWarning]
    around = field(wrap=True).attach(model)
    around.step(data, 10)
    assert not [each for each in recwarn.list if each.category is RobotWarning]
