import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sandlot.errors import SandlotError
from sandlot.physics.swarm import (
    CEILING,
    HIGH,
    LOW,
    MOVED,
    STEEP,
    count_steep,
    is_flat,
    place,
    see_free,
    sense,
    step,
)
from twins.swarm import MOVES, TwinSwarm

shapes = st.tuples(st.integers(1, 7), st.integers(1, 7))
terrains = shapes.flatmap(lambda shape: arrays(np.int16, shape, elements=st.integers(0, 6)))
seeds = st.integers(0, 2**32)


@st.composite
def swarms(draw, slope=1.0):
    heights = draw(terrains)
    agents = draw(st.integers(1, min(heights.size, 6)))
    return place(heights, agents, np.random.SeedSequence(draw(seeds)), slope)


def wanted(rng, n):
    return rng.integers(0, 3, n).astype(np.int8), rng.integers(0, 9, n).astype(np.int8)


@given(swarms(), seeds, st.sampled_from([0.0, 0.3, 1.0]))
def test_steps_agree_with_its_twin(swarm, seed, sensing):
    rng, twin = np.random.default_rng(seed), TwinSwarm(swarm)
    sense(swarm.heights, swarm.agents, sensing)
    twin.sense_all(sensing)
    for _ in range(25):
        hand, move = wanted(rng, swarm.agents.size)
        step(swarm, hand, move, sensing, 1.0)
        twin.step(hand, move, sensing)
        assert np.array_equal(swarm.heights, twin.heights)
        for record, agent in zip(swarm.agents, twin.agents, strict=True):
            assert (record["x"], record["y"], record["carrying"]) == (agent.x, agent.y, agent.carrying)
            assert record["height"] == agent.height
            assert record["average"] == pytest.approx(agent.average, abs=1e-12)
        assert swarm.tally.tolist() == [
            twin.heights.min(),
            twin.heights.max(),
            twin.steep(1.0),
            twin.moved,
        ]


@given(swarms(), seeds)
def test_volume_is_conserved_and_no_agents_share_a_cell_or_leave(swarm, seed):
    rng, volume = np.random.default_rng(seed), int(swarm.heights.sum())
    ny, nx = swarm.heights.shape
    for _ in range(25):
        step(swarm, *wanted(rng, swarm.agents.size), 0.5, 1.0)
        assert int(swarm.heights.sum()) + int(swarm.agents["carrying"].sum()) == volume
        assert swarm.heights.min() >= 0
        x, y = swarm.agents["x"], swarm.agents["y"]
        assert np.all((x >= 0) & (x < nx) & (y >= 0) & (y < ny))
        assert len(set(zip(x.tolist(), y.tolist(), strict=True))) == swarm.agents.size
        assert np.array_equal(np.argwhere(swarm.occupied), sorted(zip(y, x, strict=True)))


@given(swarms(), seeds)
def test_the_tally_agrees_with_the_grid(swarm, seed):
    rng = np.random.default_rng(seed)
    for _ in range(25):
        step(swarm, *wanted(rng, swarm.agents.size), 0.5, 1.0)
        assert (swarm.tally[LOW], swarm.tally[HIGH]) == (swarm.heights.min(), swarm.heights.max())
        assert swarm.tally[STEEP] == count_steep(swarm.heights, 1.0)
        assert np.array_equal(swarm.levels, np.bincount(swarm.heights.ravel(), minlength=CEILING + 1))
        assert is_flat(swarm.tally, -1.0) == (np.ptp(swarm.heights) <= 1)
        assert is_flat(swarm.tally, 1.0) == (TwinSwarm(swarm).steep(1.0) == 0)


@given(swarms())
def test_free_neighbours_are_those_a_move_would_reach(swarm):
    free = np.zeros((1, swarm.agents.size, 8), np.bool_)
    see_free(swarm.occupied[None], swarm.agents[None], free)
    free = free[0]
    ny, nx = swarm.heights.shape
    for i, agent in enumerate(swarm.agents):
        for k, (dx, dy) in enumerate(MOVES[1:]):
            x, y = agent["x"] + dx, agent["y"] + dy
            assert free[i, k] == (0 <= x < nx and 0 <= y < ny and not swarm.occupied[y, x])


def test_a_gradient_within_epsilon_is_flat_even_if_the_range_is_not():
    ramp = np.tile(np.arange(6), (6, 1))
    swarm = place(ramp, 1, np.random.SeedSequence(0), slope=1.0)
    assert is_flat(swarm.tally, 1.0)
    assert not is_flat(swarm.tally, -1.0)
    assert count_steep(swarm.heights, 0.99) == 30


def test_memory_holds_eight_heights():
    swarm = place(np.arange(20)[None, :], 1, np.random.SeedSequence(0))
    agent = swarm.agents[0]
    swarm.occupied[0, agent["x"]] = False
    swarm.agents["x"] = 0
    swarm.occupied[0, 0] = True
    sense(swarm.heights, swarm.agents, 1.0)
    for _ in range(12):
        step(swarm, np.array([0], np.int8), np.array([1], np.int8), 1.0, -1.0)
    assert swarm.agents["average"][0] == np.mean(np.arange(5, 13))


def test_no_cell_rises_above_the_ceiling():
    swarm = place(np.array([[CEILING, 1]]), 1, np.random.SeedSequence(0))
    swarm.agents["x"], swarm.agents["carrying"] = 0, True
    step(swarm, np.array([2], np.int8), np.array([0], np.int8), 0.0, -1.0)
    assert swarm.agents["carrying"][0]
    assert swarm.heights[0, 0] == CEILING
    assert swarm.tally[MOVED] == 0


@pytest.mark.parametrize(
    ("heights", "agents", "says"),
    [
        (np.zeros(4), 1, "two axes"),
        (np.zeros((0, 4)), 1, "two axes"),
        (np.full((2, 2), 0.5), 1, "whole numbers"),
        (np.full((2, 2), -1), 1, "whole numbers"),
        (np.full((2, 2), CEILING + 1), 1, "whole numbers"),
        (np.full((2, 2), np.nan), 1, "whole numbers"),
        (np.zeros((2, 2)), 0, "1 to 4"),
        (np.zeros((2, 2)), 5, "1 to 4"),
    ],
)
def test_impossible_starts_are_refused(heights, agents, says):
    with pytest.raises(SandlotError, match=says):
        place(heights, agents, np.random.SeedSequence(0))


def test_every_cell_can_hold_an_agent():
    swarm = place(np.zeros((3, 3)), 9, np.random.SeedSequence(0))
    assert swarm.occupied.all()
