"""Ground: soil that moves is neither made nor lost, and comes to rest at its angle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config

from sandlot.physics.soil.ground import (
    DEEP,
    FREE,
    HEIGHT,
    LOOSE,
    NODE,
    PART,
    SHEAR_X,
    SHEAR_Y,
    SUNK,
    TIE,
    TOUCHED,
    Ground,
    add,
    aligned,
    beside,
    outward,
    outward_at,
    push,
    queue,
    release,
    slide,
    spill,
)

SLOW = bool(config.DISABLE_JIT)
EXAMPLES, LOOKS = (5, 4_000) if SLOW else (40, 2_000_000)
STEP = 7.0
"""The step that is being made."""
SPACING, REPOSE = 0.05, np.tan(np.radians(30.0))
ROUND_OFF = 1e-12

seeds = st.integers(0, 2**32 - 1)
sides = st.integers(3, 6 if SLOW else 20)


def flat(ny=9, nx=9, wrap=False, height=0.0):
    nodes = np.zeros((ny * nx, NODE))
    nodes[:, [HEIGHT, FREE]] = height
    corner = np.array([0.3, -0.2])
    waits, ring = np.zeros(ny * nx, np.bool_), np.zeros(ny * nx, np.int64)
    return Ground(nodes, ny, nx, wrap, SPACING, corner, waits, ring, np.zeros(2, np.int64))


@st.composite
def grounds(draw, touched=0.2, rough=0.1):
    """Ground that has seen something: pressed here, loose there, and in part under a body; the ring has been around."""
    rng = np.random.default_rng(draw(seeds))
    ground = flat(draw(sides), draw(sides), draw(st.booleans()))
    nodes, count = ground.nodes, len(ground.nodes)
    nodes[:, FREE] = rng.uniform(1.0, 1.0 + rough, count)
    nodes[:, SUNK] = rng.choice([0.0, 1.0], count) * rng.uniform(0.0, 0.5 * rough, count)
    nodes[:, LOOSE] = rng.choice([0.0, 1.0], count) * rng.uniform(0.0, DEEP, count)
    nodes[:, [SHEAR_X, SHEAR_Y]], nodes[:, PART] = rng.uniform(-0.7, 0.7, (count, 2)), rng.random(count)
    nodes[:, TOUCHED] = np.where(rng.random(count) < touched, STEP, rng.integers(-3, 6, count))
    nodes[:, HEIGHT] = nodes[:, FREE] - nodes[:, SUNK] + nodes[:, LOOSE]
    ground.ends[0] = rng.integers(count)
    for index in rng.permutation(count)[: rng.integers(count + 1)]:
        queue(ground.waits, ground.ring, ground.ends, index)
    return ground


def awake(ground):
    for index in range(len(ground.nodes)):
        queue(ground.waits, ground.ring, ground.ends, index)
    return ground


def settle(ground, most=LOOKS):
    """Look at all that wait, again and again."""
    while ground.ends[1] > 0 and most > 0:
        looks = int(ground.ends[1])
        slide(ground, REPOSE, STEP, looks)
        most -= looks
    return ground.ends[1] == 0


def volume(ground):
    return ground.nodes[:, HEIGHT].sum()


def waiting(ground):
    return np.take(ground.ring, np.arange(ground.ends[0], ground.ends[0] + ground.ends[1]), mode="wrap")


def under(ground):
    return np.flatnonzero(ground.nodes[:, TOUCHED] == STEP)


def steepest(ground, free=None):
    """The steepest slope between neighbours, as a part of the angle of repose; only of ``free`` nodes if given."""
    worst = 0.0
    free = np.ones(len(ground.nodes), bool) if free is None else free
    heights, index = ground.nodes[:, HEIGHT], np.arange(len(ground.nodes))
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
    """What always holds."""
    nodes = ground.nodes
    assert nodes[:, FREE] - nodes[:, SUNK] + nodes[:, LOOSE] == pytest.approx(nodes[:, HEIGHT], abs=1e-12)
    assert np.all(nodes[:, SUNK] >= 0.0)
    assert np.all(nodes[:, LOOSE] >= 0.0)
    check_ring(ground)


def check_ring(ground):
    who = waiting(ground)
    assert len(set(who)) == len(who) == ground.ends[1] == np.count_nonzero(ground.waits)
    assert np.all(ground.waits[who])
    assert 0 <= ground.ends[0] < len(ground.ring)


def spilled(ground, amount, x=0.4, y=0.0, mark=11.0, room=None, velocity=(0.0, 0.0, 0.0)):
    rim = np.full(len(ground.nodes) if room is None else room, -1, np.int64)
    spill(ground, under(ground), STEP, mark, amount, x, y, velocity, rim, np.zeros(len(rim)))
    return rim[rim >= 0]


@pytest.mark.parametrize("shape", [(1,), (7, NODE), (300, NODE), (24 * 64,)])
def test_aligned_zeros_begin_a_line_of_the_cache(shape):
    zeros = aligned(*shape)
    assert zeros.shape == shape
    assert zeros.dtype == np.float64
    assert zeros.flags.c_contiguous
    assert zeros.ctypes.data % 64 == 0
    assert not zeros.any()


@pytest.mark.parametrize("wrap", [False, True])
def test_what_is_beside_a_node(wrap):
    for i in range(-1, 5):
        for j in range(-1, 6):
            within = 0 <= i < 4 and 0 <= j < 5
            expected = (i % 4) * 5 + j % 5 if wrap or within else -1
            assert beside(i, j, 4, 5, wrap) == expected


@settings(max_examples=EXAMPLES)
@given(grounds(), seeds, st.integers(1, 60))
def test_what_is_taken_and_put_down_again_is_all_there(ground, seed, moves):
    rng, before = np.random.default_rng(seed), volume(ground)
    for _ in range(moves):
        here, there = rng.integers(len(ground.nodes), size=2)
        amount = rng.choice([1e-6, 1e-3, 0.02, 0.2]) * rng.random()
        add(ground.nodes, here, -amount)
        add(ground.nodes, there, amount)
        check(ground)
        assert ground.nodes[:, LOOSE].max() <= DEEP
    assert volume(ground) == pytest.approx(before, rel=ROUND_OFF)


def test_soil_is_loose_where_it_was_put_and_firm_below():
    nodes = flat(3, 3).nodes
    add(nodes, 4, 0.02)
    assert nodes[4, [HEIGHT, FREE, SUNK, LOOSE]] == pytest.approx([0.02, 0.0, 0.0, 0.02])
    add(nodes, 4, 0.05)
    assert nodes[4, [HEIGHT, FREE, SUNK, LOOSE]] == pytest.approx([0.07, 0.07 - DEEP, 0.0, DEEP])
    add(nodes, 4, -0.05)
    assert nodes[4, [HEIGHT, FREE, SUNK, LOOSE]] == pytest.approx([0.02, 0.02, 0.0, 0.0])


def test_a_rut_that_is_filled_forgets_that_it_was_pressed():
    nodes = flat(3, 3).nodes
    nodes[4, HEIGHT], nodes[4, SUNK] = -0.05, 0.05
    add(nodes, 4, DEEP + 0.02)
    assert nodes[4, [HEIGHT, FREE, SUNK, LOOSE]] == pytest.approx([DEEP - 0.03, 0.0, 0.03, DEEP])
    add(nodes, 4, 0.04)
    assert nodes[4, [HEIGHT, FREE, SUNK, LOOSE]] == pytest.approx([DEEP + 0.01, 0.01, 0.0, DEEP])


@settings(max_examples=EXAMPLES)
@given(grounds(), seeds, st.integers(1, 200))
def test_the_ring_holds_no_node_twice(ground, seed, moves):
    rng = np.random.default_rng(seed)
    check_ring(ground)
    for _ in range(moves):
        if rng.random() < 0.7:
            queue(ground.waits, ground.ring, ground.ends, rng.integers(len(ground.nodes)))
        else:
            slide(ground, REPOSE, STEP, rng.integers(4))
        check_ring(ground)


def test_who_came_first_is_looked_at_first():
    ground = flat(3, 3)
    ground.ends[0] = 7
    for index in (5, 2, 8, 0, 2):
        queue(ground.waits, ground.ring, ground.ends, index)
    assert list(waiting(ground)) == [5, 2, 8, 0]
    slide(ground, REPOSE, STEP, 3)
    assert list(waiting(ground)) == [0]
    assert ground.ends[0] == 1
    slide(ground, REPOSE, STEP, 3)
    assert ground.ends[1] == 0


@settings(max_examples=EXAMPLES)
@given(grounds(rough=1.0), st.integers(0, 500))
def test_slides_keep_the_volume(ground, looks):
    before, held = ground.nodes.copy(), under(ground)
    slide(ground, REPOSE, STEP, looks)
    assert volume(ground) == pytest.approx(before[:, HEIGHT].sum(), rel=ROUND_OFF)
    check(ground)
    still = [HEIGHT, FREE, SUNK, LOOSE, SHEAR_X, SHEAR_Y, TOUCHED]
    assert np.array_equal(ground.nodes[np.ix_(held, still)], before[np.ix_(held, still)]), "what is touched is held"


@settings(max_examples=EXAMPLES)
@given(grounds(touched=0.1, rough=0.3))
def test_after_slides_no_slope_is_too_steep(ground):
    if settle(awake(ground)):
        assert steepest(ground, ground.nodes[:, TOUCHED] != STEP) <= 1.0 + TIE + 1e-9
    else:
        assert SLOW
    check(ground)


@pytest.mark.parametrize("steep", [1.3, 1.7])
@pytest.mark.parametrize("wrap", [False, True])
def test_a_heap_ends_at_its_angle(wrap, steep):
    side, height = (13, 0.1) if SLOW else (31, 0.3)
    ground, middle = flat(side, side, wrap), side // 2
    i, j = np.mgrid[:side, :side] - middle
    cone = np.maximum(height - steep * REPOSE * SPACING * np.hypot(i, j), 0.0)
    ground.nodes[:, HEIGHT] = ground.nodes[:, FREE] = cone.ravel()
    assert settle(awake(ground))
    assert steepest(ground) == pytest.approx(1.0, abs=TIE + 1e-9)
    heights = ground.nodes[:, HEIGHT].reshape(side, side)
    assert heights.sum() == pytest.approx(cone.sum(), rel=ROUND_OFF)
    assert heights.max() == heights[middle, middle] < height
    # Its flanks have that angle everywhere, not only at the steepest place.
    for flank in (heights[middle], heights[:, middle]):
        falls = np.abs(np.diff(flank))[flank[:-1] * flank[1:] > 0.0]
        assert np.median(falls) == pytest.approx(REPOSE * SPACING, rel=0.1 if SLOW else 0.01)


def test_ground_that_is_flat_enough_stays_as_it_is():
    ground = flat()
    slope = 0.99 * REPOSE * SPACING
    ground.nodes[:, HEIGHT] = ground.nodes[:, FREE] = slope * (np.arange(81) % 9)
    before = ground.nodes.copy()
    slide(awake(ground), REPOSE, STEP, 1000)
    assert np.array_equal(ground.nodes, before)


def test_soil_slides_over_the_edge_only_if_the_ground_goes_on_there():
    for wrap in (False, True):
        ground = flat(5, 5, wrap)
        add(ground.nodes, 0, 0.3)
        queue(ground.waits, ground.ring, ground.ends, 0)
        assert settle(ground)
        assert (ground.nodes[[4, 20], HEIGHT] > 0.0).all() == wrap
        assert np.all(ground.nodes[[1, 5], HEIGHT] > 0.0)


@settings(max_examples=EXAMPLES)
@given(grounds(), st.floats(0.0, 0.1), st.floats(-1.0, 2.0), st.floats(-1.0, 2.0), st.integers(1, 100))
def test_what_is_pressed_out_is_on_the_rim(ground, amount, x, y, room):
    before, touched = ground.nodes.copy(), under(ground)
    if len(touched) == 0:
        return
    rim = spilled(ground, amount, x, y, room=room)
    assert volume(ground) == pytest.approx(before[:, HEIGHT].sum() + amount, rel=ROUND_OFF)
    check_ring(ground)
    if len(rim):
        check(ground)
        assert len(set(rim)) == len(rim)
        assert not set(rim) & set(touched)
        assert np.all(ground.waits[rim])
        others = np.setdiff1d(np.arange(len(before)), rim)
        assert np.array_equal(ground.nodes[others, HEIGHT], before[others, HEIGHT])
        beside_it = {
            beside(k // ground.nx + di, k % ground.nx + dj, ground.ny, ground.nx, ground.wrap)
            for k in touched
            for di, dj in ((-1, 0), (1, 0), (0, -1), (0, 1))
        } - {-1, *touched}
        assert set(rim) <= beside_it
        assert len(rim) == min(len(beside_it), room)


def test_the_nearer_the_more_is_pressed_out():
    """On a round world as well as on a flat one: the patch lies across the edge there."""
    seen = []
    for wrap, middle in ((False, 4), (True, 0)):
        ground = flat(9, 9, wrap)
        at = np.array([(i + middle) % 9 * 9 + (j + middle) % 9 for i in (-1, 0, 1) for j in (-1, 0, 1)])
        ground.nodes[at, TOUCHED] = STEP
        # It comes from a little to the right.
        rim = spilled(ground, 0.01, ground.corner[0] + (middle + 0.5) * SPACING, ground.corner[1] + middle * SPACING)
        assert len(rim) == 12
        i, j = (rim // 9 - middle + 4) % 9 - 4, (rim % 9 - middle + 4) % 9 - 4
        weight = 1.0 / (i**2 + (j - 0.5) ** 2 + 1.0)
        assert ground.nodes[rim, HEIGHT] == pytest.approx(0.01 * weight / weight.sum(), rel=1e-9)
        seen.append(np.sort(ground.nodes[:, HEIGHT]))
    assert seen[0] == pytest.approx(seen[1], rel=1e-9)


@pytest.mark.parametrize("degrees", [0.0, 45.0, 90.0, 200.0])
def test_a_body_that_moves_presses_soil_out_to_its_sides(degrees):
    ground, way = flat(41, 41), np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees)), 0.0])
    i, j = np.divmod(np.arange(len(ground.nodes)), 41)
    away = np.stack([j - 20.0, i - 20.0], axis=1)
    ground.nodes[np.hypot(*away.T) < 8.0, TOUCHED] = STEP
    middle = ground.corner + 20.0 * SPACING
    rim = spilled(ground, 0.1, *middle, velocity=tuple(0.3 * way))
    along = (away[rim] @ way[:2]) / np.hypot(*away[rim].T)
    heights = ground.nodes[rim, HEIGHT]
    sides, ends = heights[np.abs(along) < 0.3].mean(), heights[np.abs(along) > 0.95].mean()
    assert ends < 0.2 * sides
    assert volume(ground) == pytest.approx(0.1, rel=1e-9)


@settings(max_examples=EXAMPLES)
@given(grounds(touched=0.5))
def test_out_is_away_from_all_that_is_touched_around(ground):
    """As its plain twin says, at the edge of the ground and within."""
    ny, nx = ground.ny, ground.nx
    held = (ground.nodes[:, TOUCHED] == STEP).reshape(ny, nx)
    around = np.pad(held, 1, mode="wrap" if ground.wrap else "constant").astype(float)
    for i, j in np.ndindex(ny, nx):
        window = around[i : i + 3, j : j + 3]
        expected = (window[:, 0].sum() - window[:, 2].sum(), window[0].sum() - window[2].sum())
        assert outward_at(ground, i, j, STEP) == expected
        if 0 < i < ny - 1 and 0 < j < nx - 1:
            assert outward(ground.nodes, i * nx + j, nx, STEP) == expected


@settings(max_examples=EXAMPLES)
@given(grounds(touched=0.6), st.floats(0.0, 0.1), seeds)
def test_what_is_pushed_along_goes_to_neighbours_that_nothing_touches(ground, amount, seed):
    before, nodes = ground.nodes.copy(), ground.nodes
    index = int(np.random.default_rng(seed).integers(len(nodes)))
    left = push(ground, index, amount, STEP)
    i, j = divmod(index, ground.nx)
    beside_it = [
        beside(i + di, j + dj, ground.ny, ground.nx, ground.wrap) for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1))
    ]
    free = {k for k in beside_it if k >= 0 and before[k, TOUCHED] != STEP}
    assert left == (0.0 if free else amount)
    assert volume(ground) + left == pytest.approx(before[:, HEIGHT].sum() + amount, rel=ROUND_OFF)
    changed = set(np.flatnonzero(nodes[:, HEIGHT] != before[:, HEIGHT]))
    assert changed <= free
    assert np.all(ground.waits[list(free)])
    check(ground)


def test_what_has_nowhere_to_go_stays():
    ground = flat(4, 4)
    ground.nodes[:, TOUCHED] = STEP
    ground.nodes[:, HEIGHT] -= 0.01
    assert len(spilled(ground, 0.16)) == 0
    assert ground.nodes[:, HEIGHT] == pytest.approx(np.zeros(16), abs=1e-15)
    assert ground.ends[1] == 0


def test_two_rims_may_share_nodes():
    ground = flat()
    ground.nodes[40, TOUCHED] = STEP
    rims = [spilled(ground, 0.01, mark=mark) for mark in (1.0, 2.0)]
    assert np.array_equal(*rims)
    assert len(rims[0]) == 4
    assert volume(ground) == pytest.approx(0.02, rel=1e-9)


@settings(max_examples=EXAMPLES)
@given(grounds(touched=0.5), seeds)
def test_letting_go_keeps_heights(ground, seed):
    """Of cells that were covered in part, whose height is not where the body was."""
    rng, nodes = np.random.default_rng(seed), ground.nodes
    parts = rng.choice(len(nodes), len(nodes) // 2, replace=False)
    nodes[parts, HEIGHT] += rng.uniform(-0.1, 0.1, len(parts))
    before = nodes.copy()
    release(ground, parts, STEP)
    assert np.array_equal(nodes[:, HEIGHT], before[:, HEIGHT])
    gone = parts[before[parts, TOUCHED] != STEP]
    others = np.setdiff1d(np.arange(len(nodes)), gone)
    assert np.array_equal(nodes[others], before[others]), "what is still touched, and what never was"
    assert np.all(nodes[np.ix_(gone, [SHEAR_X, SHEAR_Y, PART])] == 0.0)
    assert np.all(ground.waits[gone])
    free, sunk, loose = nodes[gone][:, [FREE, SUNK, LOOSE]].T
    assert free - sunk + loose == pytest.approx(nodes[gone, HEIGHT], abs=1e-12)
    assert np.all(sunk >= 0.0)
    assert np.all(loose >= 0.0)
    check_ring(ground)
