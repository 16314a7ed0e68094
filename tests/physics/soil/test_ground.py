"""Ground: moving soil keeps its volume, and slides to its angle of repose."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config

from sandlot.physics.soil.ground import (
    LOOSE_DEPTH,
    NODE,
    SHELTERED,
    add_soil,
    aligned,
    enqueue,
    new_ground,
    node_at,
    release,
)
from sandlot.physics.soil.rims import RIM_NODE, outward, outward_at_edge, push_aside, spill
from sandlot.physics.soil.slides import REPOSE_TOLERANCE, slide

SLOW = bool(config.DISABLE_JIT)
EXAMPLES, LOOKS = (5, 4_000) if SLOW else (40, 2_000_000)
STEP = 7.0
"""Number of the current step."""
SPACING, REPOSE = 0.05, np.tan(np.radians(30.0))
REPOSES = np.array([REPOSE])
ROUND_OFF = 1e-12

seeds = st.integers(0, 2**32 - 1)
sides = st.integers(3, 6 if SLOW else 20)


def flat(ny=9, nx=9, wrap=False, height=0.0):
    ground = new_ground(np.full((ny, nx), height), SPACING, np.array([0.3, -0.2]), wrap)
    ground.nodes["contact"] = 0.0
    return ground


def layers(nodes, k):
    """Height, undeformed surface, sinkage and loose soil of a node [m]."""
    return [nodes[name][k] for name in ("height", "undeformed", "sinkage", "loose")]


@st.composite
def grounds(draw, touched=0.2, rough=0.1):
    """Disturbed ground: deformed here, loose there, and in part under a body; the queue does not start at 0."""
    rng = np.random.default_rng(draw(seeds))
    ground = flat(draw(sides), draw(sides), draw(st.booleans()))
    nodes, count = ground.nodes, len(ground.nodes)
    nodes["undeformed"] = rng.uniform(1.0, 1.0 + rough, count)
    nodes["sinkage"] = rng.choice([0.0, 1.0], count) * rng.uniform(0.0, 0.5 * rough, count)
    nodes["loose"] = rng.choice([0.0, 1.0], count) * rng.uniform(0.0, LOOSE_DEPTH, count)
    nodes["shear_x"], nodes["shear_y"] = rng.uniform(-0.7, 0.7, (count, 2)).T
    nodes["covered"] = rng.random(count)
    nodes["contact"] = np.where(rng.random(count) < touched, STEP, rng.integers(-3, 6, count))
    nodes["height"] = nodes["undeformed"] - nodes["sinkage"] + nodes["loose"]
    ground.queue["first"] = rng.integers(count)
    for index in rng.permutation(count)[: rng.integers(count + 1)]:
        enqueue(ground, index)
    return ground


def awake(ground):
    for index in range(len(ground.nodes)):
        enqueue(ground, index)
    return ground


def settle(ground, max_nodes=LOOKS):
    """Check all queued nodes, again and again."""
    while ground.queue["count"] > 0 and max_nodes > 0:
        looks = int(ground.queue["count"])
        slide(ground, REPOSES, STEP, looks)
        max_nodes -= looks
    return ground.queue["count"] == 0


def volume(ground):
    return ground.nodes["height"].sum()


def waiting(ground):
    return np.take(
        ground.ring, np.arange(ground.queue["first"], ground.queue["first"] + ground.queue["count"]), mode="wrap"
    )


def under(ground):
    return np.flatnonzero(ground.nodes["contact"] == STEP)


def steepest(ground, free=None):
    """The steepest slope between neighbours, over that of the angle of repose; only of ``free`` nodes if given."""
    worst = 0.0
    free = np.ones(len(ground.nodes), bool) if free is None else free
    heights, index = ground.nodes["height"], np.arange(len(ground.nodes))
    for di, dj in ((0, 1), (1, 0), (1, 1), (1, -1)):
        i, j = index // ground.nx + di, index % ground.nx + dj
        there = (i % ground.ny) * ground.nx + j % ground.nx
        good = free & free[there]
        if not ground.wrap:
            good &= (i >= 0) & (i < ground.ny) & (j >= 0) & (j < ground.nx)
        falls = np.abs(heights - heights[there])[good]
        worst = max(worst, falls.max(initial=0.0) / (SPACING * np.hypot(di, dj) * REPOSE))
    return worst


def check(ground):
    """Check what always holds."""
    nodes = ground.nodes
    assert nodes["undeformed"] - nodes["sinkage"] + nodes["loose"] == pytest.approx(nodes["height"], abs=1e-12)
    assert np.all(nodes["sinkage"] >= 0.0)
    assert np.all(nodes["loose"] >= 0.0)
    assert np.all(nodes["fill"] >= 0.0)
    assert np.all(nodes["origin"] <= nodes["sinkage"] + 1e-7)
    check_ring(ground)


def check_ring(ground):
    who = waiting(ground)
    assert len(set(who)) == len(who) == ground.queue["count"] == np.count_nonzero(ground.marks["queued"])
    assert np.all(ground.marks["queued"][who])
    assert 0 <= ground.queue["first"] < len(ground.ring)


def spilled(ground, amount, x=0.4, y=0.0, mark=11.0, room=None, velocity=(0.0, 0.0, 0.0)):
    rim = np.zeros(len(ground.nodes) if room is None else room, RIM_NODE)
    rim["index"] = -1
    spill(ground, under(ground), STEP, mark, amount, (x, y), velocity, rim)
    return rim["index"][rim["index"] >= 0]


@pytest.mark.parametrize("count", [1, 7, 300])
def test_aligned_zeros_begin_at_a_cache_line(count):
    zeros = aligned(NODE, count)
    assert zeros.shape == (count,)
    assert zeros.dtype == NODE
    assert zeros.ctypes.data % 64 == 0
    assert NODE.itemsize == 64
    assert zeros.tobytes() == bytes(64 * count)


@pytest.mark.parametrize("wrap", [False, True])
def test_numbers_of_nodes_by_row_and_column(wrap):
    for i in range(-1, 5):
        for j in range(-1, 6):
            within = 0 <= i < 4 and 0 <= j < 5
            expected = (i % 4) * 5 + j % 5 if wrap or within else -1
            assert node_at(i, j, 4, 5, wrap) == expected


@settings(max_examples=EXAMPLES)
@given(grounds(), seeds, st.integers(1, 60))
def test_moving_soil_between_nodes_keeps_the_volume(ground, seed, moves):
    rng, before = np.random.default_rng(seed), volume(ground)
    for _ in range(moves):
        here, there = rng.integers(len(ground.nodes), size=2)
        amount = rng.choice([1e-6, 1e-3, 0.02, 0.2]) * rng.random()
        add_soil(ground.nodes[here], -amount)
        add_soil(ground.nodes[there], amount)
        check(ground)
        assert ground.nodes["loose"].max() <= LOOSE_DEPTH
    assert volume(ground) == pytest.approx(before, rel=ROUND_OFF)


def test_added_soil_is_loose_on_top_and_firm_below():
    nodes = flat(3, 3).nodes
    add_soil(nodes[4], 0.02)
    assert layers(nodes, 4) == pytest.approx([0.02, 0.0, 0.0, 0.02])
    add_soil(nodes[4], 0.05)
    assert layers(nodes, 4) == pytest.approx([0.07, 0.07 - LOOSE_DEPTH, 0.0, LOOSE_DEPTH])
    add_soil(nodes[4], -0.05)
    assert layers(nodes, 4) == pytest.approx([0.02, 0.02, 0.0, 0.0])


def test_soil_that_fills_a_rut_removes_its_sinkage():
    nodes = flat(3, 3).nodes
    nodes["height"][4], nodes["sinkage"][4] = -0.05, 0.05
    add_soil(nodes[4], LOOSE_DEPTH + 0.02)
    assert layers(nodes, 4) == pytest.approx([LOOSE_DEPTH - 0.03, 0.0, 0.03, LOOSE_DEPTH])
    assert (nodes["fill"][4], nodes["origin"][4]) == pytest.approx((0.02, 0.03))
    add_soil(nodes[4], 0.04)
    assert layers(nodes, 4) == pytest.approx([LOOSE_DEPTH + 0.01, 0.01, 0.0, LOOSE_DEPTH])
    assert (nodes["fill"][4], nodes["origin"][4]) == pytest.approx((0.06, -0.01))


@settings(max_examples=EXAMPLES)
@given(seeds, st.integers(1, 30))
def test_pressed_soil_is_as_before_once_the_soil_on_it_is_gone(seed, moves):
    """However much soil slides onto it and off again, as long as none of its own does."""
    rng, node = np.random.default_rng(seed), flat(3, 3).nodes[4:5]
    sunk = rng.uniform(0.001, 0.1)
    node["height"], node["sinkage"] = -sunk, sunk
    for _ in range(moves):
        add_soil(node[0], rng.choice([-1.0, 1.0, 1.0]) * rng.uniform(0.0, min(0.1, node["height"][0] + sunk + 0.05)))
        if node["height"][0] < -sunk:
            add_soil(node[0], -sunk - node["height"][0] + 1e-3)
            return
    add_soil(node[0], -sunk - node["height"][0])
    assert layers(node, 0) == pytest.approx([-sunk, 0.0, sunk, 0.0], abs=1e-7)
    assert node["fill"] == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize("held", [STEP, STEP - SHELTERED])
def test_no_soil_gets_to_a_node_below_a_body_in_its_rut(held):
    ground = flat()
    ground.nodes["contact"][40] = held
    ground.nodes["height"][40], ground.nodes["sinkage"][40] = -0.2, 0.2
    before = ground.nodes[40].copy()
    settle(awake(ground))
    push_aside(ground, 41, 0.01, STEP)
    ground.nodes["contact"][41] = STEP
    rim = np.zeros(9, RIM_NODE)
    spill(ground, np.array([41]), STEP, 11.0, 0.01, (0.4, 0.0), (0.0, 0.0, 0.0), rim)
    assert ground.nodes[40] == before
    assert steepest(ground, ground.nodes["contact"] > STEP) == 0.0


def test_a_sheltered_node_keeps_its_cell_until_the_body_is_gone():
    ground = flat()
    ground.nodes["contact"][[3, 4]] = STEP - SHELTERED, STEP - 1.0
    ground.nodes["covered"][[3, 4]], ground.nodes["sinkage"][[3, 4]], ground.nodes["shear_x"][[3, 4]] = 0.5, 0.04, 0.3
    ground.nodes["height"][[3, 4]] = -0.02
    before = np.array([4, 3])
    assert release(ground, before, STEP) == 1
    assert before[0] == 3
    assert layers(ground.nodes, 3) == pytest.approx([-0.02, 0.0, 0.04, 0.0])
    assert layers(ground.nodes, 4) == pytest.approx([-0.02, 0.0, 0.04, 0.02]), "the rest of the cell is loose"
    assert ground.nodes["covered"][[3, 4]].tolist() == [0.5, 0.0]
    assert ground.nodes["shear_x"][[3, 4]].tolist() == [0.0, 0.0]
    assert release(ground, before[:1], STEP + 1.0) == 0
    assert layers(ground.nodes, 3) == pytest.approx([-0.02, 0.0, 0.04, 0.02])


@settings(max_examples=EXAMPLES)
@given(grounds(), seeds, st.integers(1, 200))
def test_the_queue_holds_no_node_twice(ground, seed, moves):
    rng = np.random.default_rng(seed)
    check_ring(ground)
    for _ in range(moves):
        if rng.random() < 0.7:
            enqueue(ground, rng.integers(len(ground.nodes)))
        else:
            slide(ground, REPOSES, STEP, rng.integers(4))
        check_ring(ground)


def test_nodes_are_checked_in_the_order_in_which_they_were_queued():
    ground = flat(3, 3)
    ground.queue["first"] = 7
    for index in (5, 2, 8, 0, 2):
        enqueue(ground, index)
    assert list(waiting(ground)) == [5, 2, 8, 0]
    slide(ground, REPOSES, STEP, 3)
    assert list(waiting(ground)) == [0]
    assert ground.queue["first"] == 1
    slide(ground, REPOSES, STEP, 3)
    assert ground.queue["count"] == 0


@settings(max_examples=EXAMPLES)
@given(grounds(rough=1.0), st.integers(0, 500))
def test_slides_keep_the_volume(ground, looks):
    before, held = ground.nodes.copy(), under(ground)
    slide(ground, REPOSES, STEP, looks)
    assert volume(ground) == pytest.approx(before["height"].sum(), rel=ROUND_OFF)
    check(ground)
    assert np.array_equal(ground.nodes[held], before[held]), "bodies hold the nodes they touch"


@settings(max_examples=EXAMPLES)
@given(grounds(touched=0.1, rough=0.3))
def test_after_slides_no_slope_is_too_steep(ground):
    if settle(awake(ground)):
        assert steepest(ground, ground.nodes["contact"] != STEP) <= 1.0 + REPOSE_TOLERANCE + 1e-9
    else:
        assert SLOW
    check(ground)


@pytest.mark.parametrize("steep", [1.3, 1.7])
@pytest.mark.parametrize("wrap", [False, True])
def test_a_heap_slides_to_its_angle_of_repose(wrap, steep):
    side, height = (13, 0.1) if SLOW else (31, 0.3)
    ground, middle = flat(side, side, wrap), side // 2
    i, j = np.mgrid[:side, :side] - middle
    cone = np.maximum(height - steep * REPOSE * SPACING * np.hypot(i, j), 0.0)
    ground.nodes["height"] = ground.nodes["undeformed"] = cone.ravel()
    assert settle(awake(ground))
    assert steepest(ground) == pytest.approx(1.0, abs=REPOSE_TOLERANCE + 1e-9)
    heights = ground.nodes["height"].reshape(side, side)
    assert heights.sum() == pytest.approx(cone.sum(), rel=ROUND_OFF)
    assert heights.max() == heights[middle, middle] < height
    # The flanks have that angle everywhere, not only at the steepest place.
    for flank in (heights[middle], heights[:, middle]):
        falls = np.abs(np.diff(flank))[flank[:-1] * flank[1:] > 0.0]
        assert np.median(falls) == pytest.approx(REPOSE * SPACING, rel=0.1 if SLOW else 0.01)


def test_slopes_below_the_angle_of_repose_do_not_slide():
    ground = flat()
    slope = 0.99 * REPOSE * SPACING
    ground.nodes["height"] = ground.nodes["undeformed"] = slope * (np.arange(81) % 9)
    before = ground.nodes.copy()
    slide(awake(ground), REPOSES, STEP, 1000)
    assert np.array_equal(ground.nodes, before)


def test_soil_slides_over_the_edge_only_if_the_ground_wraps():
    for wrap in (False, True):
        ground = flat(5, 5, wrap)
        add_soil(ground.nodes[0], 0.3)
        enqueue(ground, 0)
        assert settle(ground)
        assert (ground.nodes["height"][[4, 20]] > 0.0).all() == wrap
        assert np.all(ground.nodes["height"][[1, 5]] > 0.0)


@settings(max_examples=EXAMPLES)
@given(grounds(), st.floats(0.0, 0.1), st.floats(-1.0, 2.0), st.floats(-1.0, 2.0), st.integers(1, 100))
def test_displaced_soil_goes_to_the_rim(ground, amount, x, y, room):
    before, touched = ground.nodes.copy(), under(ground)
    if len(touched) == 0:
        return
    rim = spilled(ground, amount, x, y, room=room)
    assert volume(ground) == pytest.approx(before["height"].sum() + amount, rel=ROUND_OFF)
    check_ring(ground)
    if len(rim):
        check(ground)
        assert len(set(rim)) == len(rim)
        assert not set(rim) & set(touched)
        assert np.all(ground.marks["queued"][rim])
        others = np.setdiff1d(np.arange(len(before)), rim)
        assert np.array_equal(ground.nodes["height"][others], before["height"][others])
        beside_it = {
            node_at(k // ground.nx + di, k % ground.nx + dj, ground.ny, ground.nx, ground.wrap)
            for k in touched
            for di, dj in ((-1, 0), (1, 0), (0, -1), (0, 1))
        } - {-1, *touched}
        assert set(rim) <= beside_it
        assert len(rim) == min(len(beside_it), room)


def test_nearer_nodes_of_a_rim_get_more_soil():
    """Also on ground that wraps, where the patch lies across the edge."""
    seen = []
    for wrap, middle in ((False, 4), (True, 0)):
        ground = flat(9, 9, wrap)
        at = np.array([(i + middle) % 9 * 9 + (j + middle) % 9 for i in (-1, 0, 1) for j in (-1, 0, 1)])
        ground.nodes["contact"][at] = STEP
        # Its source is half a node to the right.
        rim = spilled(ground, 0.01, ground.x0 + (middle + 0.5) * SPACING, ground.y0 + middle * SPACING)
        assert len(rim) == 12
        i, j = (rim // 9 - middle + 4) % 9 - 4, (rim % 9 - middle + 4) % 9 - 4
        weight = 1.0 / (i**2 + (j - 0.5) ** 2 + 1.0)
        assert ground.nodes["height"][rim] == pytest.approx(0.01 * weight / weight.sum(), rel=1e-9)
        seen.append(np.sort(ground.nodes["height"]))
    assert seen[0] == pytest.approx(seen[1], rel=1e-9)


@pytest.mark.parametrize("degrees", [0.0, 45.0, 90.0, 200.0])
def test_a_moving_body_displaces_soil_to_its_sides(degrees):
    ground, way = flat(41, 41), np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees)), 0.0])
    i, j = np.divmod(np.arange(len(ground.nodes)), 41)
    away = np.stack([j - 20.0, i - 20.0], axis=1)
    ground.nodes["contact"][np.hypot(*away.T) < 8.0] = STEP
    middle = ground.x0 + 20.0 * SPACING, ground.y0 + 20.0 * SPACING
    rim = spilled(ground, 0.1, *middle, velocity=tuple(0.3 * way))
    along = (away[rim] @ way[:2]) / np.hypot(*away[rim].T)
    heights = ground.nodes["height"][rim]
    sides, ends = heights[np.abs(along) < 0.3].mean(), heights[np.abs(along) > 0.95].mean()
    assert ends < 0.2 * sides
    assert volume(ground) == pytest.approx(0.1, rel=1e-9)


@settings(max_examples=EXAMPLES)
@given(grounds(touched=0.5))
def test_outward_points_away_from_the_touched_nodes_around(ground):
    """At the edge of the ground and within it."""
    ny, nx = ground.ny, ground.nx
    held = (ground.nodes["contact"] == STEP).reshape(ny, nx)
    around = np.pad(held, 1, mode="wrap" if ground.wrap else "constant").astype(float)
    for i, j in np.ndindex(ny, nx):
        window = around[i : i + 3, j : j + 3]
        expected = (window[:, 0].sum() - window[:, 2].sum(), window[0].sum() - window[2].sum())
        assert outward_at_edge(ground, i, j, STEP) == expected
        if 0 < i < ny - 1 and 0 < j < nx - 1:
            assert outward(ground.nodes, i * nx + j, nx, STEP) == expected


@settings(max_examples=EXAMPLES)
@given(grounds(touched=0.6), st.floats(0.0, 0.1), seeds)
def test_pushed_soil_goes_to_untouched_neighbours(ground, amount, seed):
    before, nodes = ground.nodes.copy(), ground.nodes
    index = int(np.random.default_rng(seed).integers(len(nodes)))
    left = push_aside(ground, index, amount, STEP)
    i, j = divmod(index, ground.nx)
    beside_it = [
        node_at(i + di, j + dj, ground.ny, ground.nx, ground.wrap) for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1))
    ]
    free = {k for k in beside_it if k >= 0 and before["contact"][k] != STEP}
    assert left == (0.0 if free else amount)
    assert volume(ground) + left == pytest.approx(before["height"].sum() + amount, rel=ROUND_OFF)
    changed = set(np.flatnonzero(nodes["height"] != before["height"]))
    assert changed <= free
    assert np.all(ground.marks["queued"][list(free)])
    check(ground)


def test_displaced_soil_stays_if_all_nodes_are_touched():
    ground = flat(4, 4)
    ground.nodes["contact"] = STEP
    ground.nodes["height"] -= 0.01
    assert len(spilled(ground, 0.16)) == 0
    assert ground.nodes["height"] == pytest.approx(np.zeros(16), abs=1e-15)
    assert ground.queue["count"] == 0


def test_two_rims_may_share_nodes():
    ground = flat()
    ground.nodes["contact"][40] = STEP
    rims = [spilled(ground, 0.01, mark=mark) for mark in (1.0, 2.0)]
    assert np.array_equal(*rims)
    assert len(rims[0]) == 4
    assert volume(ground) == pytest.approx(0.02, rel=1e-9)


@settings(max_examples=EXAMPLES)
@given(grounds(touched=0.5), seeds)
def test_releasing_nodes_keeps_heights(ground, seed):
    """Also of cells that were partly covered, whose height is not that of the body."""
    rng, nodes = np.random.default_rng(seed), ground.nodes
    parts = rng.choice(len(nodes), len(nodes) // 2, replace=False)
    nodes["height"][parts] += rng.uniform(-0.1, 0.1, len(parts))
    before = nodes.copy()
    release(ground, parts, STEP)
    assert np.array_equal(nodes["height"], before["height"])
    gone = parts[before["contact"][parts] != STEP]
    others = np.setdiff1d(np.arange(len(nodes)), gone)
    assert np.array_equal(nodes[others], before[others]), "nodes that are still touched, and those that never were"
    assert all(np.all(nodes[name][gone] == 0.0) for name in ("shear_x", "shear_y", "covered"))
    assert np.all(ground.marks["queued"][gone])
    _, free, sunk, loose = layers(nodes, gone)
    assert free - sunk + loose == pytest.approx(nodes["height"][gone], abs=1e-12)
    assert np.all(sunk >= 0.0)
    assert np.all(loose >= 0.0)
    check_ring(ground)
