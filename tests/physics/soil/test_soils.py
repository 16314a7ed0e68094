"""Many robots in one call: the same steps as one by one, and what happens to those that diverge."""

import mujoco
import numpy as np
import pytest

from sandlot.errors import ModelError, SandlotError, SettingError
from sandlot.physics.soil import Soil, Soils
from soil_scenes import BODIES, compiled, hills, loose_body

SPACING, COUNT = 0.02, 5
LEVEL = np.zeros((41, 51))
KINDS = ["soft", "mid", "soft", "LETE sand", "rigid"]


@pytest.fixture
def model():
    return loose_body(BODIES["wheel"])[0]


def simulations(model, count=COUNT):
    """Bodies that fall from different heights, each with a spin and a push of its own."""
    datas = [mujoco.MjData(model) for _ in range(count)]
    for k, data in enumerate(datas):
        data.qpos[2], data.qvel[4], data.xfrc_applied[1, 0] = 0.16 + 0.01 * k, 2.0 * k, 3.0 * k
    return datas


def state(data):
    """Everything that MuJoCo integrates, and the forces of the user."""
    return np.concatenate([data.qpos, data.qvel, data.qacc, data.xfrc_applied.ravel(), [data.time]])


def same(soils, datas, others, other_datas):
    """Whether two batches are the same, bit for bit."""
    pairs = zip(soils, others, strict=True)
    grounds = all(np.array_equal(one._ground.nodes, other._ground.nodes) for one, other in pairs)
    pairs = zip(datas, other_datas, strict=True)
    return grounds and all(np.array_equal(state(one), state(other)) for one, other in pairs)


@compiled
class TestSteps:
    @pytest.mark.parametrize("threads", [1, 2, 3, 16])
    def test_steps_are_those_of_single_soils(self, model, threads):
        soils = Soils(COUNT, LEVEL, SPACING, KINDS, threads=threads).attach(model)
        singles = [Soil(LEVEL, SPACING, kind).attach(model) for kind in KINDS]
        datas, alone = simulations(model), simulations(model)
        for steps in (1, 150, 50):
            assert soils.step(datas, steps).all()
            for soil, data in zip(singles, alone, strict=True):
                soil.step(data, steps)
            assert same(soils, datas, singles, alone)
        assert np.array_equal(soils.forces, [soil.forces for soil in singles])
        assert len({*soils.forces[:, 0, 2].tolist()}) == COUNT, "each has its own soil and start"
        assert soils[0].surface().min() < -0.005, "they have left traces"

    def test_each_robot_may_have_its_own_heights(self, model):
        heights = np.stack([hills(LEVEL.shape, high=0.01 * k) for k in range(3)])
        soils, datas = Soils(3, heights, SPACING).attach(model), simulations(model, 3)
        soils.step(datas, 100)
        single, data = Soil(heights[2], SPACING).attach(model), simulations(model, 3)[2]
        single.step(data, 100)
        assert np.array_equal(state(datas[2]), state(data))
        assert not np.array_equal(soils[1].surface(), soils[2].surface())

    def test_only_some_robots(self, model):
        soils, datas = Soils(COUNT, LEVEL, SPACING).attach(model), simulations(model)
        soils.step(datas, 3, [4, 0])
        soils.step(datas, 2, np.arange(COUNT) == 1)
        assert [round(data.time / 1e-3) for data in datas] == [3, 2, 0, 0, 3]

    def test_simulations_may_be_replaced_and_reset(self, model):
        """Arrays of simulations are kept from one call to the next."""
        soils, others = (Soils(2, LEVEL, SPACING).attach(model) for _ in range(2))
        first, second = simulations(model, 2), simulations(model, 2)
        soils.step(first, 20)
        soils.step(second, 20)
        assert [data.time for data in first] == [data.time for data in second]
        kept = soils._prepared[1]
        mujoco.mj_resetData(model, second[1])
        mujoco.mj_copyData(second[1], model, first[1])
        assert soils._prepared[1].simulation.qvel.ctypes.data == second[1].qvel.ctypes.data
        soils.step(second, 20)
        assert soils._prepared[1] is kept, "nothing was prepared again"
        others.step(fresh := simulations(model, 2), 20)
        assert not np.array_equal(fresh[1].qpos, second[1].qpos)
        assert second[1].time == pytest.approx(0.04)


@compiled
class TestDivergence:
    def test_a_robot_that_diverges_does_not_stop_the_others(self, model):
        soils, others = (Soils(COUNT, LEVEL, SPACING, threads=2).attach(model) for _ in range(2))
        datas, well = simulations(model), simulations(model)
        datas[3].qvel[0] = np.nan
        flags = model.opt.disableflags
        assert soils.step(datas, 30).tolist() == [True, True, True, False, True]
        assert list(soils.diverged) == [3]
        assert "diverged at 0 s" in soils.diverged[3]
        assert "geom it" in soils.diverged[3]
        assert model.opt.disableflags == flags
        others.step(well, 30)
        for k in (0, 1, 2, 4):
            assert np.array_equal(state(datas[k]), state(well[k]))

    def test_it_stays_out_until_it_is_reset(self, model):
        soils, fresh = (Soils(COUNT, LEVEL, SPACING).attach(model) for _ in range(2))
        datas, start = simulations(model), simulations(model)
        soils.step(datas, 150)
        datas[3].qvel[0] = np.inf
        soils.step(datas, 1)
        time = datas[3].time
        assert not soils.step(datas, 5)[3]
        assert datas[3].time == time
        mujoco.mj_copyData(datas[3], model, simulations(model)[3])
        soils.reset(3)
        assert not soils.diverged
        assert soils.step(datas, 100, [3]).all()
        fresh.step(start, 100)
        assert np.array_equal(state(datas[3]), state(start[3]))
        assert np.array_equal(soils[3]._ground.nodes, fresh[3]._ground.nodes)

    def test_reset_gives_all_of_the_first_ground_back(self, model):
        heights = hills(LEVEL.shape, high=0.1)
        soils, fresh = (Soils(2, heights, SPACING).attach(model) for _ in range(2))
        surface = soils[0].surface()
        for _ in range(2):
            datas, start = simulations(model, 2), simulations(model, 2)
            for data in (*datas, *start):
                data.qpos[2] += 0.1
            soils.step(datas, 200)
            assert not np.array_equal(surface, heights)
            soils.reset([True, True])
            assert np.array_equal(surface, heights)
        soils.step(datas := simulations(model, 2), 50)
        fresh.step(start := simulations(model, 2), 50)
        assert same(soils, datas, fresh, start)


class TestMistakes:
    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ({"count": 0}, "count=0.*at least 1"),
            ({"count": 2.0}, "count=2.0.*whole number"),
            ({"threads": 0}, "threads=0.*at least 1"),
            ({"kind": ["soft"]}, "list of 1.*or 2"),
            ({"kind": "mud"}, "unknown soil 'mud'"),
            ({"heights": np.zeros((3, 5, 5))}, "3 grids.*or 2"),
            ({"heights": [[1.0], [1.0, 2.0]]}, "not grids of numbers"),
            ({"heights": np.zeros(5)}, "heights"),
        ],
    )
    def test_impossible_grounds(self, given, words):
        with pytest.raises(SettingError, match=words):
            Soils(**{"count": 2, "heights": LEVEL, "spacing": SPACING, **given})

    def test_simulations_that_do_not_fit(self, model):
        soils, datas = Soils(2, LEVEL, SPACING), simulations(model, 2)
        with pytest.raises(ModelError, match="attached to no model"):
            soils.step(datas)
        soils.attach(model)
        with pytest.raises(SettingError, match="1 simulations for 2 robots"):
            soils.step(datas[:1])
        with pytest.raises(ModelError, match="share a simulation"):
            soils.step([datas[0]] * 2)
        with pytest.raises(ModelError, match="another model"):
            soils.step([datas[0], loose_body(BODIES["box"])[1]])

    @pytest.mark.parametrize("which", [2, -1, [0.5], [True], [[0]], "all"])
    def test_robots_that_are_not_there(self, which):
        with pytest.raises(SandlotError, match="allowed: numbers from 0 to 1, or 2 booleans"):
            Soils(2, LEVEL, SPACING).reset(which)
