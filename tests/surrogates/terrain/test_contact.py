"""How a rover lies on the ground, and what carries it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config

from sandlot.geometry.rotations import rotation_matrix
from sandlot.physics.soil import PRESETS
from sandlot.physics.soil.ground import LOOSE_DEPTH
from sandlot.physics.soil.patch import patch_width as reference_width
from sandlot.physics.soil.stress import REBOUND_SPEED
from sandlot.surrogates.terrain.contact import (
    AHEAD,
    DRAGGED,
    ENTRY,
    FAR,
    LEAST_ENTRY,
    LEFT,
    LEVER,
    LOAD,
    NEAR,
    QUARTERS,
    REACH,
    RUT,
    SEEN,
    SHIFT,
    TILT,
    UNDER,
    bend,
    give_of,
    look,
)
from sandlot.surrogates.terrain.feet import make_ground, stand
from sandlot.surrogates.terrain.inputs import NO_SOIL, patch_width, soil_inputs
from sandlot.surrogates.terrain.shape import shape_of
from sandlot.surrogates.terrain.springs import (
    BLOCK,
    DEPTH,
    DRAG,
    GAP,
    LANES,
    POINTS,
    PRECISION,
    SIZE,
    SUMS,
    Give,
    X,
    Y,
    carrying,
    gather,
    make_springs,
    resist,
    yielding,
)
from sandlot.worlds.terrain.world import Terrain

WHEELED, TRACKED = shape_of("wheeled"), shape_of("tracked")
CLEARANCE = 0.051
"""Height of the middle of the rover's box above the lowest point of its wheels [m]."""


class Scene:
    """A rover above ground of nodes 1 cm apart, whose middle is at 0, 0."""

    def __init__(self, heights, initial=None, shape=WHEELED, soil="mid", wrap=False):
        self.heights = np.asarray(heights, float)
        self.ground = make_ground(self.heights, tuple(-0.005 * (n - 1) for n in self.heights.shape[::-1]), 0.01, wrap)
        self.ground.initial[:] = self.heights if initial is None else initial
        self.shape, self.springs = shape, make_springs(shape.feet, 0.01)
        self.body = shape.body
        self.inputs = soil_inputs(PRESETS[soil], shape)
        self.give = give_of(self.inputs, shape)
        self.wheels = np.zeros(2)

    def look(self, place=(0.0, 0.0), yaw=0.0, higher=0.0, looks=4):
        """What is seen where the rover comes to rest; the search begins as much higher [m]."""
        seen, self.at = np.zeros(SEEN), (np.array(place, float), yaw)
        self.springs.rest[:] = self.heights.mean() + CLEARANCE + higher, 0.0, 0.0
        for _ in range(looks):
            look(self.body, self.ground, *self.at, self.wheels, self.give, self.springs, seen)
        return seen

    def seen_again(self):
        """What is seen at a second look, which begins where the first one ended."""
        seen = np.zeros(SEEN)
        look(self.body, self.ground, *self.at, self.wheels, self.give, self.springs, seen)
        return seen

    def gather(self, place, yaw):
        return gather(self.body, self.ground, place, yaw, self.wheels, self.give.damping, FAR, self.springs)

    def gathered(self, place, yaw, rest):
        """The springs of a rover that rests so: how many are below wheels, and (5, springs) rows."""
        self.springs.rest[:] = rest
        wheels, count = self.gather(np.array(place), yaw)
        blocks = self.springs.blocks.reshape(-1, BLOCK // LANES, LANES)[:, : SUMS // LANES]
        return wheels, blocks.transpose(1, 0, 2).reshape(SUMS // LANES, -1)[:, :count]

    def unbalanced(self):
        """Force less the weight, and moments about the centre of mass, as shares of the weight and of it on a wheel."""
        _, count = self.gather(*self.at)
        self.springs.shift[:] = 0.0
        resist(self.springs, count, self.give)
        forces = self.springs.sums[:3] * self.give.stiffness * 1e-4 / self.shape.weight
        return np.abs(forces - (1.0, 0.0, 0.0)) / (1.0, self.shape.corner[0], self.shape.corner[0])


def stress_at(give, depth):
    """Where soil yields, over the stiffness; a plain twin of `yielding`."""
    deep = np.maximum(depth, 0.0)
    return deep * (give.first + give.second * deep) / (1.0 + give.third * deep)


def hills(seed, relief=0.02, shape=(60, 70)):
    y, x = np.indices(shape) * 0.01
    a, b, c, d = np.random.default_rng(seed).uniform(0.0, 6.0, 4)
    return 0.5 * relief * np.sin((8.0 + a) * x + b) * np.cos((8.0 + c) * y + d)


@settings(max_examples=20)
@given(st.integers(0, 99), st.floats(-0.1, 0.1), st.floats(-0.1, 0.1), st.floats(-3.1, 3.1), st.booleans())
def test_forces_equal_those_of_a_plain_twin(seed, x, y, yaw, wrap):
    """The twin asks every node of the map how far it is below the wheels, without looking for those that are near.

    Wheels turn: their front presses into the soil, which damps that, and their rear leaves it.
    """
    rng = np.random.default_rng(seed)
    initial = hills(seed)
    scene = Scene(initial - 0.004 * rng.random(initial.shape), initial, wrap=wrap)
    scene.wheels[:] = rng.uniform(-9.0, 9.0, 2)
    shape, stances, z = scene.shape, scene.springs.stances, CLEARANCE - 0.02
    wheels, found = scene.gathered((x, y), yaw, (z, -0.04, 0.05))
    stand(shape.feet, np.array([x, y, z]), np.array([0.05, -0.04, yaw]), stances)
    rows, columns = np.indices(initial.shape)
    px, py = scene.ground.x0 + 0.01 * columns, scene.ground.y0 + 0.01 * rows
    total, moment, drags = 0.0, 0.0, 0.0
    turned = rotation_matrix(0.05, -0.04, yaw)
    line = turned.T @ (0.0, 0.0, 1.0)
    for foot, at in zip(shape.feet[:4], stances[:4], strict=True):
        for point in range(POINTS):
            shift = ((point + 0.5) / POINTS - 0.5) * 0.01
            dx, dy = px + shift * np.cos(yaw) - at["x"], py + shift * np.sin(yaw) - at["y"]
            ahead, left, up = np.moveaxis(np.stack([dx, dy, np.zeros_like(dx)], -1) @ turned, -1, 0)
            # The vertical line enters the wheel where its squared distance from the axis is the squared radius.
            a, b = line[0] ** 2 + line[2] ** 2, ahead * line[0] + up * line[2]
            root = b * b - a * (ahead * ahead + up * up - foot["radius"] ** 2)
            low = -(b + np.sqrt(np.maximum(root, 0.0))) / a
            along, aside = ahead + low * line[0], left + low * line[1]
            part = np.clip(0.5 + (foot["half_width"] - np.abs(aside)) / 0.01, 0.0, 1.0) * (root > 0.0)
            gap = at["z"] + low - scene.heights
            depth = gap + scene.heights - np.maximum(initial, scene.heights)
            sinks = scene.wheels[0 if foot["y"] > 0.0 else 1] * along
            kept = np.clip(1.0 - np.maximum(-sinks, 0.0) / REBOUND_SPEED, 0.0, 1.0) ** 2
            elastic, drag = -scene.give.ratio * gap, scene.give.damping * np.maximum(sinks, 0.0)
            pushed = np.clip(np.minimum(elastic, drag), 0.0, None)
            yields = stress_at(scene.give, -depth)
            force = part * kept * (np.clip(np.minimum(elastic, yields), 0.0, None) + pushed) / POINTS
            total, drags = total + force.sum(), drags + pushed.sum()
            moment -= (force * ((px - x) * np.cos(yaw) + (py - y) * np.sin(yaw) + shift)).sum()
    x, y, size = (found[row // LANES, :wheels] for row in (X, Y, SIZE))
    gap, depth, drag = (found[row // LANES, :wheels] for row in (GAP, DEPTH, DRAG))
    assert np.hypot(x, y).max() < shape.reach + 0.01
    elastic = -scene.give.ratio * gap
    yields = stress_at(scene.give, -depth)
    forces = size * (np.clip(np.minimum(elastic, yields), 0.0, None) + np.clip(np.minimum(elastic, drag), 0.0, None))
    assert drags > 0.0
    assert forces.sum() == pytest.approx(total, rel=1e-5)  # undersides are in 32-bit floats
    for k in range(wheels, found.shape[1]):  # without the underside
        scene.springs.blocks[k // LANES * BLOCK + k % LANES + SIZE] = 0.0
    scene.springs.shift[:] = 0.0
    resist(scene.springs, found.shape[1], scene.give)
    np.testing.assert_allclose(scene.springs.sums[:2], [total, moment], rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("soil", ["soft", "mid"])
@settings(max_examples=10)
@given(seed=st.integers(0, 99), rows=st.integers(-14, 15), columns=st.integers(-17, 17), yaw=st.floats(-3.1, 3.1))
def test_ground_goes_on_beyond_the_edges_of_a_map_that_wraps(soil, seed, rows, columns, yaw):
    shift = 2 * rows, 2 * columns  # of the cells below the underside, every second one is searched
    initial = hills(seed)
    heights = initial - 0.002 * np.random.default_rng(seed).random(initial.shape)
    expected = Scene(heights, initial, soil=soil, wrap=True).look((0.003, -0.002), yaw)
    moved = Scene(np.roll(heights, shift, (0, 1)), np.roll(initial, shift, (0, 1)), soil=soil, wrap=True)
    seen = moved.look((0.003 + 0.01 * shift[1], -0.002 + 0.01 * shift[0]), yaw)
    np.testing.assert_allclose(seen, expected, atol=1e-6)


@pytest.mark.parametrize("shape", [WHEELED, TRACKED], ids=["wheeled", "tracked"])
@pytest.mark.parametrize("soil", ["mid", "LETE sand", "rigid"])
def test_on_level_ground_each_quarter_carries_a_quarter(shape, soil):
    seen = Scene(np.zeros((61, 61)), shape=shape, soil=soil).look()
    np.testing.assert_allclose(seen[LOAD : LOAD + QUARTERS], 1.0, atol=0.02)
    np.testing.assert_allclose(seen[AHEAD:NEAR], 0.0, atol=1e-9)
    np.testing.assert_allclose(seen[-2:], 0.0, atol=1e-6)


@pytest.mark.parametrize("soil", ["soft", "mid", "LETE sand", "rigid"])
@pytest.mark.parametrize("shape", [WHEELED, TRACKED], ids=["wheeled", "tracked"])
@pytest.mark.parametrize("seed", range(4))
def test_at_rest_the_ground_carries_the_weight(soil, shape, seed):
    scene = Scene(hills(seed), shape=shape, soil=soil)
    seen = scene.look((0.02, -0.03), 0.7 * seed)
    assert scene.unbalanced().max() < 0.02
    assert seen[LOAD : LOAD + QUARTERS].sum() + seen[UNDER : UNDER + QUARTERS].sum() == pytest.approx(4.0, abs=0.08)


def test_a_slope_is_seen_from_any_direction():
    y, x = np.mgrid[-40:41, -40:41] * 0.01
    yaw = 0.5
    seen = Scene(0.1 * x - 0.05 * y).look((0.05, -0.02), yaw)
    ahead, left = 0.1 * np.cos(yaw) - 0.05 * np.sin(yaw), -0.1 * np.sin(yaw) - 0.05 * np.cos(yaw)
    assert seen[-2:] == pytest.approx([ahead, left], abs=0.02)
    loads = seen[LOAD : LOAD + QUARTERS]
    np.testing.assert_allclose(seen[AHEAD : AHEAD + QUARTERS], loads * ahead, atol=1e-9)
    np.testing.assert_allclose(seen[LEFT : LEFT + QUARTERS], loads * left, atol=1e-9)
    assert loads[[1, 3]].sum() > loads[[0, 2]].sum()  # uphill is ahead: the rear carries more


@pytest.mark.parametrize("higher", [-0.02, -0.005, 0.005, 0.05, 0.3])
@pytest.mark.parametrize("soil", ["soft", "LETE sand"])
def test_the_rest_does_not_depend_on_where_the_search_begins(higher, soil):
    scene = Scene(hills(3), soil=soil)
    expected, rest = scene.look((0.02, 0.01), 0.4), scene.springs.rest.copy()
    scene.look((0.02, 0.01), 0.4, higher, looks=1)
    assert np.abs(scene.springs.rest - rest).max() < 10.0 * PRECISION  # 10 cm ahead of the middle
    again = scene.seen_again()
    np.testing.assert_allclose(again, expected, atol=0.02)


@pytest.mark.parametrize("shape", [WHEELED, TRACKED], ids=["wheeled", "tracked"])
@pytest.mark.parametrize("soil", ["soft", "LETE sand", "rigid"])
def test_on_rough_ground_a_second_look_changes_little(shape, soil):
    """Of a rover that was put down anywhere; on steep bumps of hard ground, a few still rock."""
    away = []
    for seed in range(40):
        scene = Scene(hills(seed, 0.06), shape=shape, soil=soil, wrap=True)
        scene.look((0.0, 0.0), 0.3 * seed, looks=1)
        rest = scene.springs.rest.copy()
        look(scene.body, scene.ground, *scene.at, scene.wheels, scene.give, scene.springs, np.zeros(SEEN))
        up, pitch, roll = np.abs(scene.springs.rest - rest)
        away.append(up + 0.1 * (pitch + roll))
        assert abs(rest[1:]).max() <= TILT
    assert np.quantile(away, 0.95) < REACH


def test_wheels_near_the_centre_of_mass_carry_more():
    scene = Scene(np.zeros((61, 61)), soil="rigid")
    scene.body = scene.body._replace(centre=np.array([0.03, -0.02, -0.01]))
    loads = scene.look()[LOAD : LOAD + QUARTERS]
    assert loads.sum() == pytest.approx(4.0, abs=0.02)
    assert loads[[0, 2]].sum() / 4.0 == pytest.approx(0.5 * (1.0 + 0.03 / WHEELED.corner[0]), abs=0.02)
    assert loads[[2, 3]].sum() / 4.0 == pytest.approx(0.5 * (1.0 + 0.02 / WHEELED.corner[1]), abs=0.02)


def test_a_twisted_ground_loads_two_wheels():
    y, x = np.mgrid[-40:41, -40:41] * 0.01
    loads = Scene(0.5 * x * y, soil="rigid").look()[LOAD : LOAD + QUARTERS]
    assert loads[[0, 3]].min() > 1.9  # front left and rear right
    assert loads[[1, 2]].max() < 0.1


def test_a_rover_on_a_bump_lies_on_its_underside():
    y, x = np.mgrid[-40:41, -40:41] * 0.01
    flat = Scene(np.zeros(x.shape)).look()
    assert flat[UNDER : UNDER + QUARTERS].sum() == 0.0
    bump = Scene(0.06 * ((np.abs(x) < 0.06) & (np.abs(y) < 0.05))).look()
    assert bump[UNDER : UNDER + QUARTERS].sum() > 2.0
    assert bump[NEAR : NEAR + QUARTERS].min() > flat[NEAR : NEAR + QUARTERS].max()


def test_ground_that_was_pressed_does_not_yield_again():
    """A rover rests in its own ruts as deep as it made them, not deeper."""
    fresh = Scene(np.zeros((61, 61)))
    fresh.look()
    depth = CLEARANCE - fresh.springs.rest[0]
    rutted = np.zeros((61, 61))
    for y in (-0.0955, 0.0955):
        rows = np.abs(np.arange(-30, 31) * 0.01 - y) < 0.03
        rutted[rows] = -depth
    scene = Scene(rutted, np.zeros((61, 61)))
    seen = scene.look()
    assert CLEARANCE - scene.springs.rest[0] == pytest.approx(depth, rel=0.3)
    np.testing.assert_allclose(seen[RUT : RUT + QUARTERS], depth, rtol=0.05)
    assert np.abs(seen[SHIFT : SHIFT + QUARTERS]).max() < 0.1


def test_springs_yield_as_deep_as_the_soil():
    """Bekker's plate under a quarter of the weight, at the depth that springs of this stiffness have."""
    for name in ("soft", "mid"):
        kind = PRESETS[name]
        inputs = soil_inputs(kind, WHEELED)
        stiffness, ratio, damping = give_of(inputs, WHEELED)[:3]
        depth = (stiffness / kind.kphi) ** (1.0 / (kind.exponent - 1.0))
        carried = 0.67 * stiffness * depth * WHEELED.width * np.sqrt(2.0 * WHEELED.radius * depth)
        assert carried == pytest.approx(WHEELED.weight / 4.0, rel=1e-3)
        assert ratio == 30.0
        assert damping * stiffness == pytest.approx(kind.damping)
    assert give_of(NO_SOIL, WHEELED) == Give(1e6, 30.0, 0.0, 1.0, 0.0, 0.0)


@pytest.mark.parametrize("exponent", [0.6, 0.793, 1.0, 1.1, 1.3, 1.8])
def test_springs_follow_bekkers_power_law(exponent):
    """Up to twice the depth of a wheel, to 5% of the stress at that depth."""
    depth = 0.01
    give = Give(1.0, 30.0, 0.0, *bend(exponent, depth))
    deep = np.linspace(0.0, 2.0 * depth, 101)
    stress, slope = np.transpose([yielding(give, each) for each in deep])
    law = depth * (deep / depth) ** exponent
    assert np.abs(stress - law).max() < 0.05 * depth
    np.testing.assert_allclose(slope[1:-1], (stress[2:] - stress[:-2]) / (deep[2:] - deep[:-2]), rtol=0.02)
    assert yielding(give, -0.001)[0] == 0.0


@pytest.mark.parametrize("exponent", [0.3, 2.0, 2.5, 4.0])
def test_springs_never_pull_however_the_soil_yields(exponent):
    give = Give(1.0, 30.0, 0.0, *bend(exponent, 0.01))
    stress, slope = np.transpose([yielding(give, each) for each in np.linspace(0.0, 0.05, 200)])
    assert stress.min() >= 0.0
    assert slope.min() >= 0.0
    if exponent <= 2.0:
        assert yielding(give, 0.01)[0] == pytest.approx(0.01, rel=0.15)


def test_stiffness_is_how_forces_grow():
    """Of all springs together, those that damp among them, by finite differences."""
    scene = Scene(hills(4), soil="soft")
    scene.wheels[:] = 6.0, 4.0
    scene.look((0.01, -0.02), 0.3)
    _, count = scene.gather(*scene.at)
    sums, found, step = [], np.zeros((3, 3)), 1e-9
    for axis in range(3):
        for sign in (-1.0, 1.0):
            scene.springs.shift[:] = 0.0
            scene.springs.shift[axis] = sign * step
            resist(scene.springs, count, scene.give)
            sums.append(scene.springs.sums.copy())
        found[axis] = (sums[-1] - sums[-2])[:3] / (2.0 * step)
    a, b, c, d, e, f = 0.5 * (sums[0] + sums[1])[3:]
    expected = -np.array([[a, b, c], [b, d, e], [c, e, f]])
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())


def test_quarters_that_carry_nothing_have_lengths():
    y, x = np.mgrid[-40:41, -40:41] * 0.01
    seen = Scene(0.5 * x * y, soil="rigid").look()
    assert seen[LOAD : LOAD + QUARTERS].min() == 0.0
    assert np.isfinite(seen).all()
    assert seen[ENTRY : ENTRY + QUARTERS].min() >= LEAST_ENTRY
    assert seen[DRAGGED : DRAGGED + QUARTERS].min() > 0.0
    assert seen[LEVER : LEVER + QUARTERS].min() > 0.0


def test_a_wheel_near_the_middle_counts_for_its_own_side():
    feet = WHEELED.feet.copy()
    wheels = feet["radius"] > 0.0
    feet["y"][wheels] = np.copysign(0.02, feet["y"][wheels])
    feet["half_width"][wheels] = 0.03
    scene = Scene(np.zeros((61, 61)), shape=replace(WHEELED, feet=feet), soil="soft")
    scene.wheels[:] = 4.0
    seen = scene.look()
    loads = seen[LOAD : LOAD + QUARTERS]
    np.testing.assert_allclose(loads[:2], loads[2:], rtol=1e-6)
    assert seen[LEVER : LEVER + QUARTERS].min() > 0.5 * WHEELED.radius


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_underside_has_gone_over_the_soil_from_its_foremost_part_on(sign):
    scene = Scene(np.zeros((61, 61)), soil="soft")
    scene.heights[:] = 0.03 * (np.abs(np.arange(-30, 31)) < 7)[:, None] * (np.abs(np.arange(-30, 31)) < 7)
    scene.ground.initial[:] = scene.heights
    scene.wheels[:] = 3.0 * sign
    seen = scene.look()
    assert seen[UNDER : UNDER + QUARTERS].min() > 0.0
    front, rear = (seen[DRAGGED : DRAGGED + QUARTERS].reshape(2, 2).T)[:: int(sign)]
    assert (rear > front).all()
    assert front.min() > 0.0
    assert rear.max() < 0.2


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("shape", [WHEELED, TRACKED], ids=["wheeled", "tracked"])
def test_lengths_travelled_over_the_soil_are_those_of_a_plain_twin(shape, sign):
    """Soil comes below a wheel at the first spring that carries, and is as far below its centre as the rim there is."""
    scene = Scene(hills(5), shape=shape, soil="soft")
    scene.wheels[:] = 5.0 * sign, 3.0 * sign
    seen = scene.look((0.01, 0.02), 0.6)
    scene.gather(*scene.at)
    rows = scene.springs.blocks.reshape(-1, BLOCK // LANES, LANES)
    gap, depth, drag, size, x, y = (rows[:, row // LANES].ravel() for row in (GAP, DEPTH, DRAG, SIZE, X, Y))
    elastic, first = -scene.give.ratio * gap, 0
    loads = size * np.clip(np.minimum(elastic, stress_at(scene.give, -depth)), 0.0, None)
    loads += size * np.clip(np.minimum(elastic, drag), 0.0, None)
    sums = np.zeros((3, QUARTERS))
    round_feet = shape.feet["radius"] > 0.0
    for foot, last in zip(shape.feet[round_feet], scene.springs.ends[round_feet], strict=True):
        part = [k for k in range(first, last) if loads[k] > 0.0]
        begins = min(max(sign * scene.springs.along[k] for k in part) + 0.005, foot["straight"] + foot["radius"])
        for k in part:
            quarter = (0 if x[k] >= 0.0 else 1) + (0 if y[k] >= 0.0 else 2)
            places = np.linspace(sign * scene.springs.along[k], begins, 400)
            over = np.clip(np.abs(places) - foot["straight"], 0.0, foot["radius"])
            below = np.sqrt(foot["radius"] ** 2 - over**2)
            sums[:, quarter] += loads[k] * np.array([1.0, places[-1] - places[0], np.trapezoid(below, places)])
        first = last
    travelled = sums[1] / sums[0]
    np.testing.assert_allclose(seen[ENTRY : ENTRY + QUARTERS], travelled, rtol=0.03)
    np.testing.assert_allclose(seen[LEVER : LEVER + QUARTERS], sums[2] / sums[1], rtol=0.03)


@pytest.mark.skipif(config.DISABLE_JIT, reason="the reference calls MuJoCo from compiled code")
def test_cohesive_soil_is_stiffer_below_a_short_contact():
    """Bekker's cohesive modulus counts over the smaller side of the contact patch, as in the reference."""
    world = Terrain(soil="LETE sand", terrain="flat", shape=(100, 100))
    world.reset(seed=1)
    for _ in range(60):
        world.step(np.array([[0.2, 0.0]]))
    contacts = world.task.ground.soil._contacts
    patches = [contacts.patches.contact[each["patch_start"] : each["patch_end"]] for each in contacts.shapes]
    widths = [reference_width(each, 0.01) for each in patches if len(each)]
    assert patch_width(PRESETS["LETE sand"], WHEELED) == pytest.approx(np.mean(widths), rel=0.2)
    assert patch_width(PRESETS["LETE sand"], TRACKED) == TRACKED.width


def test_wheels_that_turn_rest_higher_and_carry_ahead():
    """The soil damps the front of a wheel that presses into it, and the rear has left it."""
    for sign in (1.0, -1.0):
        still, turning = Scene(np.zeros((61, 61)), soil="soft"), Scene(np.zeros((61, 61)), soil="soft")
        turning.wheels[:] = 8.0 * sign
        before, after = still.look(), turning.look()
        assert sign * (after - before)[SHIFT : SHIFT + QUARTERS].min() > 0.05
        assert turning.springs.rest[0] > still.springs.rest[0]
        assert turning.unbalanced().max() < 0.02


@pytest.mark.parametrize(
    ("height", "firm", "expected"),
    [
        (0.0, 0.0, (0.0, 0.0)),  # untouched
        (-0.01, -0.01, (-0.01, 0.01)),  # pressed
        (0.01, 0.0, (0.0, 0.0)),  # loose soil lies on it
        (-0.002, -0.01, (-0.01, 0.01)),  # in a rut
        (-0.005, 0.0, (-0.005, 0.0)),  # soil slid away
        (0.01 + LOOSE_DEPTH, 0.0, (0.01, 0.0)),  # so much that what lies below is firm
    ],
)
def test_loose_soil_carries_nothing_and_soil_that_slid_away_was_not_pressed(height, firm, expected):
    ground = make_ground(np.zeros((3, 3)), (0.0, 0.0), 0.01, True)
    ground.heights[1, 1], ground.firm[1, 1] = height, firm
    np.testing.assert_allclose(carrying(ground, 1, 1), expected, atol=1e-12)


def test_a_rover_rests_on_the_firm_soil_below_loose_soil():
    scene = Scene(np.zeros((61, 61)))
    scene.look()
    rest = scene.springs.rest[0]
    scene.heights += 0.01
    scene.look()
    assert scene.springs.rest[0] == pytest.approx(rest, abs=PRECISION)
