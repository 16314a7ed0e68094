"""Several kinds of soil on one ground: every node follows its own kind."""

import json

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandlot.errors import ModelError, SandlotError
from sandlot.physics.soil import PRESETS, Soil, SoilKind, Soils
from sandlot.physics.soil.batch import BATCH_SIZE, batch_end
from sandlot.physics.soil.kinds import POWER_STEP, soil_of, soil_records
from sandlot.physics.soil.patch import PATCH_NODE, sort_by_kind
from sandlot.physics.soil.slides import REPOSE_TOLERANCE, steep
from sandlot.settings import build
from soil_patches import parameters
from soil_scenes import BODIES, GRAVITY, SLOW, compiled, field, hills, hold, hold_by_kernels, loose_body, make, plate

SPACING = 0.02
SIDES = np.tile(np.arange(61) >= 31, (61, 1)).astype(int)
"""Of `field`: 0 where x < 0, 1 where x > 0; the border is between nodes, at 0.007 m."""
BORDER = 0.007
MIXED = np.random.default_rng(4).integers(0, 2, SIDES.shape)


def theory(kind, depth, area, width=0.2):
    """Force on a plate that is pressed down to a depth [N]: Bekker's law, or elastic if it never yields."""
    known = PRESETS[kind]
    bekker = (known.kphi + known.kc / width) * depth**known.exponent
    return area * min(bekker, known.elastic * depth)


@compiled
class TestPlate:
    @pytest.mark.parametrize(
        "kinds", [("soft", "mid"), ("LETE sand", "soft"), ("mid", "LETE sand"), ("soft", "rigid"), ("rigid", "rigid")]
    )
    def test_it_is_carried_by_the_sum_of_both_theories(self, kinds):
        """Each half as if it were alone, with the width of the whole plate; and so is its torque."""
        (model, data), soil = plate(), field(kind=kinds, which=SIDES)
        soil.attach(model)
        areas = 0.2 * np.array([0.2 + BORDER, 0.2 - BORDER])
        arms = 0.5 * np.array([-0.2 + BORDER, 0.2 + BORDER])
        for depth in np.linspace(2e-3, 0.02, 10):
            force = hold(soil, data, -depth)
            parts = np.array([theory(kind, depth, area) for kind, area in zip(kinds, areas, strict=True)])
            assert force == pytest.approx(parts.sum(), rel=0.02)
            assert soil.forces[0, 4] == pytest.approx(-(arms * parts).sum(), abs=0.02 * 0.1 * parts.sum())
        sunk = soil._ground.nodes["sinkage"].reshape(SIDES.shape)
        for side, kind in enumerate(kinds):
            assert sunk[side == SIDES].max() == pytest.approx(0.0 if kind == "rigid" else 0.02, abs=1e-3)

    def test_a_firm_layer_is_that_of_the_node(self):
        firm = PRESETS["soft"].model_copy(update={"firm_layer": 0.01})
        (model, data), soil = plate(), field(kind=["soft", firm], which=SIDES)
        soil.attach(model)
        for depth in np.linspace(2e-3, 0.015, 10):
            hold(soil, data, -depth)
        sunk = soil._ground.nodes["sinkage"].reshape(SIDES.shape)
        assert [sunk[side == SIDES].max() for side in (0, 1)] == pytest.approx([0.015, 0.01], abs=1e-3)


def test_steps_press_a_plate_on_two_kinds_also_without_compilation():
    (model, data), which = plate(), np.tile(np.arange(25) >= 13, (25, 1)).astype(int)
    soil = field(spacing=0.05, kind=["soft", "mid"], which=which).attach(model)
    for depth in np.linspace(2e-3, 0.02, 5):
        hold_by_kernels(soil, data, -depth)
        border = -0.6 - 0.003 + 12.5 * 0.05
        parts = theory("soft", depth, 0.2 * (0.2 + border)), theory("mid", depth, 0.2 * (0.2 - border))
        assert soil.forces[0, 2] == pytest.approx(sum(parts), rel=0.02)
    assert soil.volume == pytest.approx(0.0, abs=1e-12)


@compiled
class TestBodies:
    @pytest.mark.parametrize("form", ["box", "mesh", "wheel", "capsule"])
    def test_a_body_on_a_border_leans_to_the_softer_side(self, form):
        (model, data), soil = loose_body(BODIES[form], (0.0, 0.0, 0.1), 60.0), field(kind=["soft", "mid"], which=SIDES)
        soil.attach(model).step(data, 1000)
        forces = []
        for _ in range(100):  # over 2 s, as a body that leans goes on rocking
            soil.step(data, 20)
            forces.append(soil.forces[0, 2])
        assert np.mean(forces) == pytest.approx(60.0 * GRAVITY, rel=0.01)
        sunk = soil._ground.nodes["sinkage"].reshape(SIDES.shape)
        assert sunk[SIDES == 0].max() > 1.5 * sunk[SIDES == 1].max() > 0.0
        assert soil.volume == pytest.approx(0.0, abs=1e-12)

    def test_a_box_that_straddles_stays_on_the_rigid_side(self):
        (model, data), soil = loose_body(BODIES["box"], mass=60.0), field(kind=["soft", "rigid"], which=SIDES)
        soil.attach(model).step(data, 3000)
        assert soil.forces[0, 2] == pytest.approx(60.0 * GRAVITY, rel=0.01)
        sunk = soil._ground.nodes["sinkage"].reshape(SIDES.shape)
        assert sunk[SIDES == 1].max() == 0.0
        assert sunk[SIDES == 0].max() > 2e-3
        assert data.geom_xmat[0].reshape(3, 3)[2, 0] > 0.01, "the side at -x is lower"
        assert soil.volume == pytest.approx(0.0, abs=1e-12)

    def drive(self, soil, steps=700):
        """A wheel, a box and a ball that fall and move along x, over the border."""
        bodies = "".join(
            f"""<body pos="{-0.25 + 0.05 * k} {0.35 * k - 0.35} 0.16"><freejoint/><geom {BODIES[form]} mass="30"/>
            </body>"""
            for k, form in enumerate(("wheel", "box", "sphere"))
        )
        model, data = make(bodies)
        soil.attach(model)
        data.qvel[0], data.qvel[4], data.qvel[6], data.qvel[12] = 0.5, 3.0, 1.0, 0.8
        soil.step(data, steps)
        return data.qpos.copy(), soil._ground.nodes.copy()

    @pytest.mark.parametrize(
        ("kind", "which"),
        [
            (["rigid", "soft"], np.ones_like(SIDES)),
            (["soft", "rigid", "mid"], np.zeros_like(SIDES)),
            (["soft", "soft"], MIXED),
            (["soft"], np.zeros_like(SIDES)),
        ],
        ids=["all 1", "all 0", "equal", "one"],
    )
    def test_ground_of_equal_nodes_is_that_of_one_kind_bit_for_bit(self, kind, which):
        place, nodes = self.drive(field(kind="soft"))
        other, others = self.drive(field(kind=kind, which=which))
        assert np.array_equal(place, other)
        assert nodes.tobytes() == others.tobytes()

    def test_kinds_that_do_not_differ_in_their_parameters_press_a_plate_alike_but_for_rounding(self):
        """Nodes are sorted, so that sums have another order."""
        alike = PRESETS["soft"].model_copy(update={"repose": PRESETS["soft"].friction})
        soils = field(kind="soft"), field(kind=["soft", alike], which=MIXED)
        assert [len(soil.kinds) for soil in soils] == [1, 2]
        model, data = plate()
        other = mujoco.MjData(model)
        for soil in soils:
            soil.attach(model)
        for depth in np.linspace(2e-3, 0.02, 10):
            assert hold(soils[0], data, -depth) == pytest.approx(hold(soils[1], other, -depth), rel=1e-12)
        one, two = (soil._ground.nodes for soil in soils)
        under = one["contact"] == 10.0
        assert np.array_equal(under, two["contact"] == 10.0)
        for name in ("sinkage", "undeformed", "loose", "covered", "height"):
            assert one[name][under] == pytest.approx(two[name][under], abs=1e-12)

    def test_a_drive_over_a_border_keeps_the_volume_and_goes_on_from_its_state(self):
        soil = field(kind=["soft", "LETE sand"], which=MIXED)
        self.drive(soil, 300)
        assert soil.volume == pytest.approx(0.0, abs=1e-12)
        twin, model = soil.copy(), soil._model
        assert twin.kinds == soil.kinds
        ends = []
        for each in (soil, twin):
            data = mujoco.MjData(model)
            data.qvel[0] = 0.3
            each.step(data, 200)
            ends.append((data.qpos.tobytes(), each._ground.nodes.tobytes()))
        assert ends[0] == ends[1]
        soil.reset()
        assert np.ptp(soil.surface()) == 0.0
        assert np.array_equal(soil._ground.marks["kind"], MIXED.ravel())

    def test_many_robots_on_patches(self):
        model, heights = loose_body(BODIES["box"])[0], np.zeros(SIDES.shape)
        each = np.stack([SIDES, 1 - SIDES])
        soils = Soils(2, heights, SPACING, ["soft", "mid"], which=each, threads=2).attach(model)
        datas = [mujoco.MjData(model) for _ in range(2)]
        soils.step(datas, 500)
        for which, data in zip(each, datas, strict=True):
            alone = mujoco.MjData(model)
            Soil(heights, SPACING, ["soft", "mid"], which=which).attach(model).step(alone, 500)
            assert np.array_equal(alone.qpos, data.qpos)
        same = Soils(2, heights, SPACING, ["soft", "mid"], which=SIDES)
        assert np.array_equal(same[1]._ground.marks["kind"], SIDES.ravel())


@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 300), kinds=st.integers(1, 5))
def test_nodes_of_a_patch_are_sorted_into_batches_of_one_kind(seed, count, kinds):
    rng = np.random.default_rng(seed)
    of_nodes, index = rng.integers(0, kinds, 400).astype(np.uint8), rng.permutation(400)[:count]
    contact, before = np.zeros(count, PATCH_NODE), index.copy()
    for name in ("x", "y", "z", "covered"):
        contact[name] = rng.random() * index
    records = dict(zip(index.tolist(), contact.tolist(), strict=True))
    sort_by_kind(of_nodes, index, contact)
    assert sorted(index) == sorted(before)
    assert np.all(np.diff(of_nodes[index].astype(int)) >= 0)
    assert all(records[node] == record for node, record in zip(index.tolist(), contact.tolist(), strict=True))
    if kinds == 1:
        assert np.array_equal(index, before), "one kind keeps its order"
    first, sizes = 0, []
    while first < count:
        last = batch_end(of_nodes, index, first, count)
        assert first < last <= first + BATCH_SIZE
        assert len(set(of_nodes[index[first:last]])) == 1
        sizes.append(last - first)
        first = last
    numbers = np.bincount(of_nodes[index])
    assert len(sizes) == np.sum(-(-numbers // BATCH_SIZE)), "no more batches than needed"


def test_records_hold_the_parameters_of_each_kind():
    soils = soil_records([*PRESETS.values()])
    for k, kind in enumerate(PRESETS.values()):
        # Compiled code returns no views of arrays to Python.
        found, wanted = getattr(soil_of, "py_func", soil_of)(soils, k), parameters(kind)
        assert found[:-1] == wanted[:-1]
        assert np.array_equal(found.powers, wanted.powers)
        assert found.powers[10] == pytest.approx((10 * POWER_STEP) ** kind.exponent)


class TestSlides:
    STEEP = PRESETS["soft"].model_copy(update={"repose": 45.0})

    @settings(max_examples=5 if SLOW else 30)
    @given(seed=st.integers(0, 2**32 - 1), wrap=st.booleans())
    def test_slopes_are_as_steep_as_their_upper_node_allows(self, seed, wrap):
        rng = np.random.default_rng(seed)
        shape = (6, 7) if SLOW else (15, 17)
        which, heights = rng.integers(0, 2, shape), 0.1 * rng.random(shape)
        soil = Soil(heights, 0.05, ["soft", self.STEEP], wrap=wrap, which=which)
        soil.settle()
        repose = np.tan(np.radians(np.where(which, 45.0, 30.0))) * (1.0 + REPOSE_TOLERANCE) + 1e-9
        assert not steep(soil.surface(), repose, 0.05, wrap).any()
        assert soil.volume == pytest.approx(heights.sum() * 0.05**2, rel=1e-12)

    def test_the_search_for_steep_slopes_agrees_with_its_twin(self):
        rng, found = np.random.default_rng(0), 0
        for wrap in (False, True):
            heights, repose = rng.random((8, 9)), rng.uniform(1.0, 15.0, (8, 9))
            marked = steep(heights, repose, 0.05, wrap)
            for i, j in np.ndindex(8, 9):
                for di, dj in ((0, 1), (1, 0), (1, 1), (1, -1)):
                    a, b = i + di, j + dj
                    if not wrap and not (a < 8 and 0 <= b < 9):
                        continue
                    a, b = a % 8, b % 9
                    fall = heights[i, j] - heights[a, b]
                    limit = (repose[i, j] if fall > 0.0 else repose[a, b]) * 0.05 * np.hypot(di, dj)
                    if abs(fall) > limit:
                        found += 1
                        assert marked[i, j] or marked[a, b]
        assert found > 20

    def test_soil_slides_from_soft_onto_rigid_ground_and_stays_there(self):
        heights = np.zeros((21, 21))
        heights[:, :10] = 0.5
        which = np.tile(np.arange(21) >= 10, (21, 1)).astype(int)
        soil = Soil(heights, 0.05, ["soft", "rigid"], which=which)
        soil.settle()
        assert soil.surface()[10, 10] > 0.3, "rigid ground does not slide, so soil that lies on it does not either"
        assert soil.surface()[10, 9] < 0.5
        other = Soil(heights, 0.05, ["soft", "rigid"], which=1 - which)
        other.settle()
        assert np.array_equal(other.surface(), heights), "a rigid cliff stands"


class TestMistakes:
    def says(self, *words):
        return pytest.raises(SandlotError, match="(?s)^[^\n]*" + "[^\n]*".join(words) + "[^\n]*$")

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ({"kind": ["soft", "mid"]}, ["list of 2", "with which"]),
            ({"kind": "soft", "which": np.zeros((5, 5), int)}, ["kind='soft'", "with which", "a list"]),
            ({"kind": [], "which": np.zeros((5, 5), int)}, ["list of 0", "1 to 256"]),
            ({"kind": ["soft"] * 257, "which": np.zeros((5, 5), int)}, ["list of 257", "1 to 256"]),
            ({"kind": ["soft", "mud"], "which": np.zeros((5, 5), int)}, ["unknown soil 'mud'", "soft, mid"]),
            ({"kind": ["soft", 3], "which": np.zeros((5, 5), int)}, ["kind=3", "a SoilKind"]),
            ({"kind": ["soft", "mid"], "which": np.zeros((4, 5), int)}, [r"\(4, 5\)", r"\(5, 5\)"]),
            ({"kind": ["soft", "mid"], "which": np.zeros((5, 5))}, ["float64", "whole numbers from 0 to 1"]),
            ({"kind": ["soft", "mid"], "which": np.full((5, 5), 2)}, ["which has 2", "2 kinds", "0 to 1"]),
            ({"kind": ["soft", "mid"], "which": np.full((5, 5), -1)}, ["which has -1", "0 to 1"]),
            ({"kind": ["soft", "mid"], "which": [[0], [0, 1]]}, ["which is not a grid", "0 to 1"]),
        ],
    )
    def test_impossible_kinds(self, given, words):
        with self.says(*words):
            Soil(np.zeros((5, 5)), 0.1, **given)

    def test_grids_of_kinds_for_another_number_of_robots(self):
        with self.says("which is 3 grids", "or 2"):
            Soils(2, np.zeros((5, 5)), 0.1, ["soft", "mid"], which=np.zeros((3, 5, 5), int))

    def test_ground_of_several_kinds_has_no_kind(self):
        soil = field(kind=["soft", "mid"], which=SIDES)
        assert soil.kinds == (PRESETS["soft"], PRESETS["mid"])
        with pytest.raises(ModelError, match="2 kinds of soil; use kinds"):
            soil.kind  # noqa: B018
        assert field(kind="mid").kind == PRESETS["mid"]
        assert Soil(hills((5, 7)), 0.1, ["soft", "soft"], which=np.ones((5, 7), int)).kind == PRESETS["soft"]


def test_a_soil_in_a_recordings_settings_is_read_back():
    """They are JSON, which has no infinity."""
    for kind in (PRESETS["rigid"], PRESETS["soft"]):
        assert build(SoilKind, json.loads(kind.model_dump_json())) == kind
