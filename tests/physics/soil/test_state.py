"""The state of soil: to reset it, to restore it bit for bit, and to copy it."""

import io

import mujoco
import numpy as np
import pytest

from sandlot.errors import ModelError
from sandlot.physics.soil import Soil
from soil_scenes import BODIES, compiled, field, hills, loose_body, make, tracked

INTEGRATION = mujoco.mjtState.mjSTATE_INTEGRATION
WORLD = "".join(
    f"""<body pos="{0.5 * (k % 3) - 0.5} {0.6 * (k // 3) - 0.5} 0.3" euler="{10 * k} 5 0"><freejoint/>
    <geom {geom} mass="{5 + 9 * k}"/>
    <body pos="0 0 0.2"><joint axis="0 1 0" range="-10 10"/><geom size="0.05" mass="3" pos="0.1 0 0"/></body></body>"""
    for k, geom in enumerate(BODIES.values())
)
"""All kinds of shapes, each with a hinge that reaches its limit."""


def rough(soil_of=Soil, **options):
    return soil_of(hills((81, 91), high=0.03), 0.02, "soft", **options)


def mujoco_state(model, data):
    found = np.zeros(mujoco.mj_stateSize(model, INTEGRATION))
    mujoco.mj_getState(model, data, found, INTEGRATION)
    return found


def simulation(model, state):
    data = mujoco.MjData(model)
    mujoco.mj_setState(model, data, state, INTEGRATION)
    return data


def same(first, second):
    """Whether two states are the same, bit for bit."""
    return first.keys() == second.keys() and all(first[name].tobytes() == second[name].tobytes() for name in first)


def through_a_file(state):
    file = io.BytesIO()
    np.savez(file, **state)
    file.seek(0)
    with np.load(file, allow_pickle=False) as arrays:
        return dict(arrays)


@compiled
class TestRestore:
    def test_a_simulation_goes_on_bit_for_bit(self):
        model, data = make(WORLD)
        soil = rough().attach(model)
        soil.step(data, 350)
        assert data.nefc > 0
        kept, start = through_a_file(soil.state()), mujoco_state(model, data)
        soil.step(data, 150)
        end, bodies = soil.state(), mujoco_state(model, data)
        assert not same(kept, end)
        assert sum(each.in_contact for each in soil.contacts()) >= 5
        other = rough().attach(model)
        for again in (soil, other):
            again.restore(kept)
            assert same(again.state(), kept)
            now = simulation(model, start)
            again.step(now, 150)
            assert np.array_equal(mujoco_state(model, now), bodies)
            assert same(again.state(), end)

    def test_tracks_and_what_was_computed_in_between(self):
        model, data, tracks = tracked()
        soil = field(side=2.0).attach(model, ["hull"], tracks)
        data.ctrl[:] = 3.0, -1.0
        soil.step(data, 200)
        kept, start = soil.state(), mujoco_state(model, data)
        soil.step(data, 100)
        bodies = mujoco_state(model, data)
        soil.restore(kept)
        now = simulation(model, start)
        mujoco.mj_forward(model, now)
        soil.step(now, 100)
        assert np.array_equal(mujoco_state(model, now), bodies)

    def test_a_sphere_is_searched_at_as_many_points_as_before(self):
        """Their number is changed rarely, so it depends on the past."""
        model, data = loose_body('type="sphere" size="0.05"', place=(0.0, 0.0, 0.051), mass=0.5)
        soil, other = field().attach(model), field().attach(model)
        soil.step(data, 600)
        now = simulation(model, mujoco_state(model, data))
        other.restore(soil.state())
        soil.step(data, 10)
        other.step(now, 10)
        assert np.array_equal(now.qpos, data.qpos)

    def test_contacts_are_those_of_the_restored_step(self):
        model, data = loose_body(BODIES["box"])
        soil = field().attach(model)
        soil.step(data, 500)
        (before,), kept = soil.contacts(), soil.state()
        soil.reset()
        assert not soil.contacts()[0].in_contact
        soil.restore(kept)
        (after,) = soil.contacts()
        assert after.area == before.area > 0.0
        assert after.sinkage == before.sinkage > 0.0
        assert np.array_equal(after.force, before.force)

    def test_a_state_is_a_copy(self):
        model, data = loose_body(BODIES["box"])
        soil = field().attach(model)
        kept = soil.state()
        soil.step(data, 300)
        assert np.all(kept["nodes"]["height"] == 0.0)
        assert soil.surface().min() < 0.0
        view = soil.surface()
        soil.restore(kept)
        assert np.all(view == 0.0), "views stay valid"


@compiled
class TestReset:
    def test_as_at_the_start(self):
        model, data = make(WORLD)
        soil = rough().attach(model)
        start, first = soil.state(), mujoco_state(model, data)
        ends = []
        for _ in range(2):
            data = simulation(model, first)
            soil.step(data, 250)
            ends.append((mujoco_state(model, data), soil.state()))
            soil.reset()
            assert same(soil.state(), start)
        assert np.array_equal(ends[0][0], ends[1][0])
        assert same(ends[0][1], ends[1][1])
        assert not soil.forces.any()

    def test_steep_slopes_are_queued_again(self):
        heights = np.zeros((9, 9))
        heights[4, 4] = 1.0
        soil = Soil(heights, 0.05)
        soil.settle()
        slid = soil.surface().copy()
        soil.reset()
        assert np.array_equal(soil.surface(), heights)
        soil.settle()
        assert np.array_equal(soil.surface(), slid)
        assert not np.array_equal(slid, heights)


@compiled
class TestCopy:
    def test_two_simulations_of_one_model(self):
        model, data = loose_body(BODIES["sphere"])
        soil = field(corner=(-0.5, -0.5), wrap=True).attach(model)
        soil.step(data, 300)
        twin, other = soil.copy(), simulation(model, mujoco_state(model, data))
        assert same(twin.state(), soil.state())
        other.qvel[0] = 2.0
        alone = soil.copy(), simulation(model, mujoco_state(model, data))
        for _ in range(100):
            soil.step(data)
            twin.step(other)
        alone[0].step(alone[1], 100)
        assert same(soil.state(), alone[0].state()), "twins do not touch each other's ground"
        assert not same(soil.state(), twin.state())
        assert np.array_equal(twin.corner, soil.corner)
        assert twin.wrap

    def test_tracks_are_attached_too(self):
        model, data, tracks = tracked()
        soil = field().attach(model, [], tracks)
        twin, other = soil.copy(), mujoco.MjData(model)
        soil.step(data, 50)
        twin.step(other, 50)
        assert same(soil.state(), twin.state())

    def test_soil_that_is_not_attached(self):
        soil = rough()
        twin = soil.copy()
        twin.settle()
        assert twin.state().keys() == {"nodes", "queue", "highest"}
        with pytest.raises(ModelError, match="attached to no model"):
            twin.contacts()


class TestMistakes:
    def test_ground_of_another_size(self):
        with pytest.raises(ModelError, match=r"^'nodes' of this state is \(9, 8\) of records; allowed: \(9, 9\)"):
            Soil(np.zeros((9, 9)), 0.1).restore(Soil(np.zeros((9, 8)), 0.1).state())

    def test_other_shapes(self):
        one, two = (field().attach(make(body)[0]) for body in (WORLD, WORLD[: WORLD.index("</body></body>") + 14]))
        with pytest.raises(ModelError, match=r"^'patches' of this state is"):
            two.restore(one.state())
        assert same(two.state(), field().attach(two._model).state()), "nothing was changed"

    def test_attached_and_not_attached(self):
        soil, attached = field(), field().attach(loose_body(BODIES["box"])[0])
        with pytest.raises(ModelError, match="no 'counters'"):
            attached.restore(soil.state())
        with pytest.raises(ModelError, match="attach this soil first"):
            soil.restore(attached.state())
