import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sandlot.control.leveling import (
    GENE_PICK_UP,
    GENE_PUT_DOWN,
    LENGTH,
    THOUGHT,
    LevelingController,
    Rule,
    awaken,
    decide,
    draw_chromosome,
    fitness,
    run,
)
from sandlot.physics.swarm import AGENT, PICK_UP, PUT_DOWN, is_flat, place, sense, step
from twins.leveling import TwinRule, draw
from twins.leveling import fitness as twin_fitness
from twins.randomness import Stream
from twins.swarm import TwinSwarm

KINDS = ("probabilistic", "memetic", "pool")
shapes = st.tuples(st.integers(2, 7), st.integers(2, 7))
terrains = shapes.flatmap(lambda shape: arrays(np.int16, shape, elements=st.integers(0, 6)))
rules = st.one_of(
    st.builds(Rule, pick_up=st.floats(0, 1), put_down=st.floats(0, 1)),
    st.builds(Rule, steepness=st.floats(0.1, 20)),
    st.builds(Rule, kind=st.sampled_from(("memetic", "pool"))),
)


def start(heights, agents, rule, seed):
    place_seed, rule_seed = np.random.SeedSequence(seed).spawn(2)
    return place(heights, agents, place_seed), awaken(rule, agents, rule_seed)


@given(terrains, st.integers(1, 4), rules, st.integers(0, 2**32))
def test_swarm_and_rule_together_equal_their_twins(heights, agents, rule, seed):
    swarm, mind = start(heights, agents, rule, seed)
    twin = TwinSwarm(swarm)
    twin_rule = TwinRule(rule, np.random.SeedSequence(seed).spawn(2)[1].generate_state(agents, np.uint64))
    sense(swarm.heights, swarm.agents, 0.5)
    twin.sense_all(0.5)
    # Past the first judgement of the memetic rules, at 100 actions.
    for _ in range(110):
        decide(mind, swarm.agents)
        wanted = twin_rule.decide(twin.agents)
        assert list(zip(mind.hand.tolist(), mind.move.tolist(), strict=True)) == wanted
        step(swarm, mind.hand, mind.move, 0.5, -1.0)
        twin.step(mind.hand, mind.move, 0.5)
        assert np.array_equal(swarm.heights, twin.heights)


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_is_flat_in_the_end_and_keeps_its_volume(kind):
    heights = np.random.default_rng(0).integers(0, 5, (4, 4))
    swarm, mind = start(heights, 2, Rule(kind=kind), 0)
    sense(swarm.heights, swarm.agents, 0.02)
    rounds = run(swarm, mind, 100_000, 0.02, -1.0)
    assert 0 < rounds < 100_000
    assert is_flat(swarm.tally, -1.0)
    assert np.ptp(swarm.heights) <= 1
    assert swarm.heights.sum() + swarm.agents["carrying"].sum() == heights.sum()


def test_a_run_stops_at_its_limit_and_can_go_on():
    heights = np.random.default_rng(0).integers(0, 9, (16, 16))
    (whole, mind), (parts, other) = (start(heights, 4, Rule(), 1) for _ in range(2))
    assert run(whole, mind, 300, 0.1, -1.0) == 300
    assert sum(run(parts, other, 100, 0.1, -1.0) for _ in range(3)) == 300
    assert np.array_equal(whole.heights, parts.heights)
    assert np.array_equal(whole.agents, parts.agents)


def test_every_chromosome_is_valid_and_they_equal_the_twins():
    thought, twin = np.zeros(1, THOUGHT), Stream(5)
    thought["stream"] = 5
    genes = np.zeros(LENGTH, np.int8)
    for _ in range(100):
        draw_chromosome(genes, thought[0])
        assert genes.tolist() == draw(twin)
        ups, downs = (np.flatnonzero(genes == gene) for gene in (GENE_PICK_UP, GENE_PUT_DOWN))
        assert ups.size == downs.size
        assert ups.size == 0 or ups.max() < downs.min()
        assert set(genes) <= set(range(10))


@given(st.lists(st.integers(0, 9), min_size=20, max_size=20), st.integers(0, 20), st.integers(1, 5))
def test_fitness_is_positive_changes_per_attempt(genes, changes, executions):
    assert fitness(np.array(genes, np.int8), changes, executions) == twin_fitness(genes, changes, executions)


def seen(n, height, average, carrying):
    agents = np.zeros(n, AGENT)
    agents["height"], agents["average"], agents["carrying"] = height, average, carrying
    return agents


@pytest.mark.parametrize(
    ("rule", "pick_up", "put_down"),
    [
        (Rule(pick_up=0.3, put_down=0.8), 0.3, 0.8),
        (Rule(steepness=6.0), (4 / 10) ** 2, (6 / 10) ** 2),
    ],
)
def test_agents_act_with_the_probability_of_their_rule(rule, pick_up, put_down):
    n = 4000
    for carrying, average, action, chance in ((False, 3.0, PICK_UP, pick_up), (True, 5.0, PUT_DOWN, put_down)):
        mind = awaken(rule, n, np.random.SeedSequence(1))
        decide(mind, seen(n, 4, average, carrying))
        acting = (mind.hand == action).mean()
        # Four standard errors: a right program fails once in 16,000 seeds, and the seed is fixed.
        assert abs(acting - chance) < 4 * np.sqrt(chance * (1 - chance) / n)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("carrying", "average"), [(False, 4.0), (False, 5.0), (True, 4.0), (True, 3.0)])
def test_nobody_picks_up_at_or_below_average_nor_puts_down_at_or_above(kind, carrying, average):
    mind = awaken(Rule(kind=kind, pick_up=1.0, put_down=1.0), 200, np.random.SeedSequence(0))
    for _ in range(40):
        decide(mind, seen(200, 4, average, carrying))
        assert not mind.hand.any()


def test_a_quarter_goes_straight_on():
    n = 8000
    mind = awaken(Rule(), n, np.random.SeedSequence(2))
    before = mind.thoughts["heading"].copy()
    decide(mind, seen(n, 1, 1.0, False))
    same = (mind.move == before).mean()
    expected = 0.25 + 0.75 / 8
    assert abs(same - expected) < 4 * np.sqrt(expected * (1 - expected) / n)
    assert mind.move.min() >= 1
    assert np.unique(mind.move).size == 8


def test_only_the_fittest_agent_keeps_its_chromosome():
    n = 6
    mind = awaken(Rule(kind="memetic"), n, np.random.SeedSequence(0))
    mind.clock[0] = 100
    mind.chromosomes[3, 0] = [8, 9] + 18 * [0]
    mind.changes[3, 0] = 10
    before = mind.chromosomes.copy()
    decide(mind, seen(n, 1, 1.0, False))
    kept = [i for i in range(n) if np.array_equal(mind.chromosomes[i], before[i])]
    assert kept == [3]
    assert not mind.changes.any()


def test_a_pool_keeps_only_perfect_chromosomes():
    mind = awaken(Rule(kind="pool"), 1, np.random.SeedSequence(0))
    mind.clock[0] = 100
    mind.chromosomes[0, :] = [8, 9] + 18 * [0]
    mind.changes[0] = [2, 1, 0, 2, 1]
    before = mind.chromosomes.copy()
    decide(mind, seen(1, 1, 1.0, False))
    assert [c for c in range(5) if np.array_equal(mind.chromosomes[0, c], before[0, c])] == [0, 3]


def test_a_put_down_only_counts_where_it_flattens():
    for height, counts in ((1, True), (2, True), (3, False)):
        mind = awaken(Rule(kind="memetic"), 1, np.random.SeedSequence(0))
        mind.chromosomes[0, 0] = [8, 9] + 18 * [0]
        decide(mind, seen(1, 6, 4.0, False))
        assert mind.changes[0, 0] == 1
        decide(mind, seen(1, height, 4.0, True))
        assert mind.hand[0] == PUT_DOWN
        # It was taken from 6, leaving 5; put on `height`, it makes height + 1.
        assert mind.changes[0, 0] == 1 + counts


def test_the_controller_decides_as_the_kernel_does():
    n = 50
    rng = np.random.default_rng(0)
    observation = np.zeros((n, 11), np.float32)
    observation[:, 0], observation[:, 1], observation[:, 2] = (
        rng.integers(0, 9, n),
        rng.random(n) * 8,
        rng.random(n) < 0.5,
    )
    controller = LevelingController(Rule(), n)
    controller.reset([np.random.SeedSequence(4)])
    mind = awaken(Rule(), n, np.random.SeedSequence(4))
    for _ in range(10):
        decide(mind, seen(n, observation[:, 0], observation[:, 1], observation[:, 2]))
        assert np.array_equal(controller.act(observation[None])[0], np.column_stack([mind.hand, mind.move]))


@pytest.mark.parametrize("kind", KINDS)
def test_every_member_of_a_batch_has_its_own_mind(kind):
    rng, seeds = np.random.default_rng(1), [np.random.SeedSequence(k) for k in (4, 5)]
    batched, single = LevelingController(Rule(kind=kind), 5), LevelingController(Rule(kind=kind), 5)
    batched.reset(seeds)
    observations = rng.integers(0, 4, (30, 2, 5, 11)).astype(np.float32)
    actions = [batched.act(each) for each in observations[:20]]
    batched.reset(seeds[:1], [1])
    actions += [batched.act(each) for each in observations[20:29]]
    last = batched.act(observations[29][1:], [1])
    for member in (0, 1):
        single.reset(seeds[member : member + 1])
        for k in range(29):
            if (member, k) == (1, 20):
                single.reset(seeds[:1])
            np.testing.assert_array_equal(actions[k][member], single.act(observations[k, member][None])[0])
    np.testing.assert_array_equal(last, single.act(observations[29][1:]))
