"""Endless ground: its window follows the robot, which moves as on one large ground."""

import io

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandlot.errors import ModelError, SandlotError
from sandlot.physics.soil import PRESETS, EndlessSoil, Soil
from sandlot.physics.soil.ground import new_ground, raise_node
from sandlot.physics.soil.search.nodes import tilt
from sandlot.physics.soil.window import MAX_EXCESS, new_strips
from soil_scenes import BODIES, GRAVITY, SLOW, compiled, loose_body, make, tracked

SPACING, SIZE, CORNER = 0.02, (1.2, 0.9), (-0.6, -0.45)
CART = """<body name="cart" pos="0 0 0.3"><freejoint/><geom type="box" size="0.12 0.05 0.02" mass="10"/>
<body pos="0.12 0 -0.1" euler="90 0 0"><joint name="front" axis="0 0 -1"/>
<geom type="cylinder" size="0.1 0.05" mass="3"/></body>
<body pos="-0.12 0 -0.1" euler="90 0 0"><joint name="back" axis="0 0 -1"/>
<geom type="cylinder" size="0.1 0.05" mass="3"/></body>
<body pos="0 0.15 -0.1"><joint name="left" axis="0 1 0"/><geom type="sphere" size="0.09" mass="3"/></body>
<body pos="0 -0.15 -0.1"><joint name="right" axis="0 1 0"/><geom type="sphere" size="0.09" mass="3"/></body></body>"""

MOTORS = "".join(f'<velocity joint="{name}" kv="5"/>' for name in ("front", "back", "left", "right"))


def waves(x, y):
    return 0.03 * np.sin(4.0 * x) + 0.02 * np.cos(5.0 * y)


def stripes(x, y):
    return (np.floor(2.0 * x + y) % 2.0).astype(int)


def large(height, nx=400, ny=120, corner=CORNER, kind="mid", which=None):
    """One ground with an edge, whose nodes are those of endless ground."""
    x, y = np.meshgrid(corner[0] + SPACING * np.arange(nx), corner[1] + SPACING * np.arange(ny))
    return Soil(height(x, y), SPACING, kind, corner, which=None if which is None else which(x, y))


def endless(height=0.0, kind="mid", which=None, corner=CORNER, size=SIZE):
    return EndlessSoil(height, size, SPACING, kind, corner, which)


def drive(soil, steps=4000, every=50, speeds=(9.0, 9.0, 8.5, 9.5)):
    """A cart with four motors: its path, and the simulation."""
    model, data = make(CART, f"<actuator>{MOTORS}</actuator>", integrator="implicitfast")
    soil.attach(model)
    data.qpos[2] = 0.25 + float(soil.height_at(0.0, 0.0))
    soil.step(data, 300)
    data.ctrl[:] = speeds
    path = []
    for _ in range(steps // every):
        soil.step(data, every)
        path.append(data.qpos.copy())
    return np.array(path), data


@compiled
class TestDrive:
    @pytest.mark.parametrize("kinds", [False, True], ids=["one kind", "stripes"])
    @pytest.mark.parametrize("height", [lambda x, y: 0.0 * x, waves], ids=["level", "waves"])
    def test_a_robot_moves_as_on_one_large_ground_bit_for_bit(self, height, kinds):
        some = {"kind": ["mid", "LETE sand"], "which": stripes} if kinds else {}
        soil = endless(height, **some)
        path, _ = drive(soil)
        fixed, _ = drive(large(height, **some))
        assert path[-1, 0] > 2.5, "farther than the window is long"
        assert np.array_equal(path, fixed)
        assert soil.corner[0] == pytest.approx(path[-1, 0] - 0.5 * SIZE[0], abs=0.3)

    def test_the_number_of_steps_in_a_call_does_not_matter(self):
        one, _ = drive(endless(waves), 1500, 1)
        many, _ = drive(endless(waves), 1500, 750)
        assert np.array_equal(one[[749, 1499]], many)

    def test_the_surface_in_the_window_is_that_of_the_large_ground(self):
        soil, fixed = endless(waves), large(waves)
        _, data = drive(soil)
        drive(fixed)
        i, j = np.rint((soil.corner[::-1] - fixed.corner[::-1]) / SPACING).astype(int)
        ny, nx = soil.surface().shape
        assert j > 30
        assert np.array_equal(soil.surface(), fixed.surface()[i : i + ny, j : j + nx])
        x, y = data.qpos[0] + np.linspace(-0.3, 0.3, 50), np.full(50, data.qpos[1])
        assert np.array_equal(soil.height_at(x, y), fixed.height_at(x, y))
        assert np.ptp(soil.height_at(x, y) - waves(x, y)) > 1e-3, "it has left a track"
        assert [c.force.tolist() for c in soil.contacts()] == [c.force.tolist() for c in fixed.contacts()]
        assert sum(c.force[2] for c in soil.contacts()) == pytest.approx(22.0 * GRAVITY, rel=0.3)

    def test_volume_changes_only_by_what_enters_and_leaves(self):
        soil = endless(lambda x, y: 0.2 + waves(x, y))
        start, before = soil.volume, 0.0
        for steps in (400, 800, 1600):
            drive(soil, steps)
            assert soil.volume - soil.moved_in == pytest.approx(start, rel=1e-12)
            assert soil.moved_in != before
            before = soil.moved_in
            soil.reset()

    def test_tracks_are_forgotten_and_the_ground_ahead_is_undisturbed(self):
        soil = endless(waves, which=stripes, kind=["mid", "soft"])
        drive(soil)
        y, x = np.meshgrid(*(soil.corner[a] + SPACING * np.arange(n) for a, n in ((1, 46), (0, 61))), indexing="ij")
        changed = np.abs(soil.surface() - waves(x, y)) > 1e-9
        assert changed.any()
        assert not changed[:, -5:].any()
        assert soil.height_at(-0.1, 0.0) == waves(-0.1, 0.0), "where it started"
        kinds = np.roll(soil._ground.marks["kind"].reshape(46, 61), (-soil._first[0], -soil._first[1]), (0, 1))
        assert np.array_equal(kinds, stripes(x, y))

    def test_a_robot_may_start_anywhere_and_be_put_elsewhere(self):
        model, data = loose_body(BODIES["box"], (40.0, -70.0, 0.2))
        soil = endless(lambda x, y: 0.1 * np.sign(x)).attach(model)
        soil.step(data, 1500)
        assert soil.forces[0, 2] == pytest.approx(20.0 * GRAVITY, rel=0.02)
        assert soil.corner == pytest.approx([40.0 - 0.6, -70.0 - 0.45], abs=0.2)
        deep = soil.surface().min()
        data.qpos[:3] = -40.0, 0.0, 0.0
        data.qvel[:] = 0.0
        soil.step(data, 1500)
        assert soil.forces[0, 2] == pytest.approx(20.0 * GRAVITY, rel=0.02)
        assert soil.surface().min() == pytest.approx(deep - 0.2, abs=1e-4)
        assert soil.height_at(40.0, -70.0) == 0.1

    def test_tracks_and_belts(self):
        paths = []
        for soil in (
            endless(size=(1.6, 1.6), corner=(-0.8, -0.8)),
            large(lambda x, y: 0.0 * x, 300, 300, (-0.8, -0.8)),
        ):
            model, data, tracks = tracked()
            soil.attach(model, [], tracks)
            data.ctrl[:] = 8.0, 10.0
            soil.step(data, 4000)
            paths.append(data.qpos.copy())
        assert np.linalg.norm(paths[0][:2]) > 1.0
        assert np.array_equal(*paths)

    def test_a_simulation_goes_on_bit_for_bit(self):
        soil = endless(waves, kind=["mid", "soft"], which=stripes)
        _, data = drive(soil, 1500)
        model, file = soil._model, io.BytesIO()
        np.savez(file, **soil.state())
        file.seek(0)
        kept, state = (
            np.load(file, allow_pickle=False),
            np.zeros(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_INTEGRATION)),
        )
        mujoco.mj_getState(model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
        twin, fresh, ends = soil.copy(), endless(waves, kind=["mid", "soft"], which=stripes).attach(model), []
        assert type(twin) is EndlessSoil
        fresh.restore(kept)
        for each in (soil, twin, fresh):
            other = mujoco.MjData(model)
            mujoco.mj_setState(model, other, state, mujoco.mjtState.mjSTATE_INTEGRATION)
            each.step(other, 1500)
            ends.append((other.qpos.tobytes(), each.surface().tobytes(), each.corner.tolist(), each.moved_in))
        assert ends[0] == ends[1] == ends[2]
        assert ends[0][2][0] > kept["window"][1] * SPACING + CORNER[0], "the window went on"
        soil.restore(kept)
        assert soil.corner.tolist() == (CORNER + SPACING * kept["window"][::-1]).tolist()

    def test_after_a_reset_a_drive_repeats(self):
        soil = endless(waves, kind=["mid", "soft"], which=stripes)
        first, _ = drive(soil, 1500)
        soil.reset()
        assert soil.corner.tolist() == list(CORNER)
        assert soil.moved_in == 0.0
        assert np.array_equal(drive(soil, 1500)[0], first)

    def test_the_picture_moves_with_the_window(self):
        spec = mujoco.MjSpec.from_string(f"<mujoco><worldbody>{CART}</worldbody></mujoco>")
        soil = endless(lambda x, y: 0.5 * x)
        soil.add_to(spec, depth=0.1)
        model = spec.compile()
        data = mujoco.MjData(model)
        data.qpos[:3] = 3.0, 2.0, 1.9
        soil.attach(model).step(data)
        soil.write_to(model)
        mujoco.mj_forward(model, data)
        hit = np.zeros(1, np.int32)
        for x, y in ((2.7, 1.8), (3.31, 2.2)):
            away = mujoco.mj_ray(model, data, [x, y, 5.0], [0.0, 0.0, -1.0], None, 1, model.body("cart").id, hit, None)
            assert model.geom(hit[0]).name == "soil"
            assert 5.0 - away == pytest.approx(0.5 * x, abs=1e-6)

    def test_the_bound_of_heights_follows_a_slope(self):
        """Otherwise every part of a robot that goes downhill would be searched for nodes below it."""
        model, data = loose_body(BODIES["sphere"], mass=20.0)
        soil = endless(lambda x, y: -0.3 * x, "rigid").attach(model)
        data.qpos[2], data.qvel[0] = 0.14, 1.0
        soil.step(data, 2500)
        assert data.qpos[0] > 2.0
        assert soil.surface().max() <= soil._ground.queue["highest"] <= soil.surface().max() + MAX_EXCESS


class TestWindow:
    @given(st.integers(-20, 20), st.integers(-20, 20))
    def test_strips_are_what_the_window_has_not_seen(self, di, dj):
        ny, nx = 7, 9
        known = np.zeros((ny, nx), int)
        for i, j in new_strips(np.array([di, dj]), (ny, nx)):
            known[i, j] += 1
        rows, columns = di + np.arange(ny), dj + np.arange(nx)
        seen = ((rows >= 0) & (rows < ny))[:, None] & ((columns >= 0) & (columns < nx))
        assert np.array_equal(known, ~seen)

    @settings(max_examples=5 if SLOW else 25)
    @given(seed=st.integers(0, 2**32 - 1), moves=st.integers(1, 6))
    def test_a_moved_window_is_that_of_a_twin(self, seed, moves):
        """A twin that keeps the changed nodes of all ground by row and column, and forgets those that leave."""
        rng = np.random.default_rng(seed)
        soil = EndlessSoil(waves, (0.3, 0.24), 0.02, ["soft", "rigid"], (0.1, 0.2), stripes)
        soil.attach(make('<body><freejoint/><geom size="0.02"/></body>')[0])
        shape, first, changed = soil.surface().shape, np.zeros(2, int), {}
        ny, nx = shape
        for _ in range(moves):
            where = rng.integers(0, ny * nx)
            i, j = first + np.array(divmod(where, nx))
            raise_node(soil._ground, i % ny * nx + j % nx, 1e-3)
            changed[i, j] = changed.get((i, j), 0.0) + 1e-3
            shift = rng.integers(-6, 7, 2) * rng.choice([1, 1, 1, 5])
            soil._move(shift)
            first = first + shift
            changed = {
                (i, j): v for (i, j), v in changed.items() if np.all(([i, j] >= first) & ([i, j] - first < shape))
            }
            rows, columns = (first[a] + np.arange(n) for a, n in ((0, ny), (1, nx)))
            x, y = np.meshgrid(0.1 + 0.02 * columns, 0.2 + 0.02 * rows)
            wanted = waves(x, y)
            for (i, j), more in changed.items():
                wanted[i - first[0], j - first[1]] += more
            assert soil.surface() == pytest.approx(wanted, abs=1e-15)
            assert soil.corner == pytest.approx([x[0, 0], y[0, 0]])
            inside = x[2:-2, 2:-2] + 0.013, y[2:-2, 2:-2] + 0.004
            far = Soil(wanted, 0.02, corner=soil.corner)
            assert soil.height_at(*inside) == pytest.approx(far.height_at(*inside), abs=1e-12)
            queue = soil.state()["queue"]
            assert {divmod(int(k), nx) for k in queue} == {(i % ny, j % nx) for i, j in changed}
            assert soil._ground.queue["highest"] >= wanted.max()

    def test_slopes_do_not_depend_on_where_nodes_are_in_memory(self):
        """Bit for bit, or a robot would not move as on one large ground."""
        rng, (ny, nx) = np.random.default_rng(0), (7, 9)
        heights, corner = rng.random((ny, nx)), np.zeros(2)
        at_edge, inside = (
            new_ground(np.roll(heights, shift, (0, 1)), 0.01, corner, True) for shift in ((0, 0), (3, 4))
        )
        slopes = [
            [tilt(ground, i + shift[0], j + shift[1]) for i, j in ((0, 0), (0, 3), (-1, 2), (2, -1), (-1, -1))]
            for ground, shift in ((at_edge, (0, 0)), (at_edge, (ny, -2 * nx)), (inside, (3, 4)))
        ]
        assert slopes[0] == slopes[1] == slopes[2]

    def test_opposite_edges_of_the_window_are_not_neighbours(self):
        """A slope has its lower and its upper end there."""
        soil = EndlessSoil(lambda x, y: 0.4 * x, (0.5, 0.4), 0.02)
        soil.attach(make('<body><freejoint/><geom size="0.02"/></body>')[0])
        for shift in ((0, 0), (3, 7)):
            soil._move(np.array(shift))
            before = soil.surface()
            for k in range(before.size):
                raise_node(soil._ground, k, 0.0)
            soil.settle()
            assert np.array_equal(soil.surface(), before)

    def test_ground_that_enters_slides_if_it_is_too_steep(self):
        def cliff(x, y):
            return np.where(x > 0.6, 0.5, 0.0)

        soil = EndlessSoil(cliff, (0.8, 0.4), 0.02, "soft")
        soil.attach(make('<body><freejoint/><geom size="0.02"/></body>')[0])
        assert soil.state()["queue"].size == 0
        soil._move(np.array([0, 15]))
        start = soil.volume
        soil.settle()
        assert np.abs(np.diff(soil.surface(), axis=1)).max() < 0.02 * np.tan(np.radians(30.0)) * 1.011
        assert soil.volume == pytest.approx(start, rel=1e-12)

    def test_heights_beyond_the_window_are_undisturbed(self):
        soil = endless(waves)
        x, y = np.array([[-9.0, 0.0], [0.31, 500.0]]), np.array([[0.0, 0.0], [0.11, 2.0]])
        assert soil.height_at(x, y) == pytest.approx(waves(x, y), abs=2e-4)
        assert soil.height_at(x, y)[0, 0] == waves(-9.0, 0.0)
        assert endless(0.25).height_at(77.0, 3.0) == 0.25


class TestMistakes:
    def says(self, *words):
        return pytest.raises(SandlotError, match="(?s)^[^\n]*" + "[^\n]*".join(words) + "[^\n]*$")

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ({"height": np.nan}, ["height=nan", "finite number, or a function"]),
            ({"height": np.zeros((3, 3))}, [r"height=of shape \(3, 3\)", "finite number, or a function"]),
            ({"height": "x"}, ["height='x'", "finite number, or a function"]),
            ({"size": ("a", "b")}, ["size=", "x and y"]),
            ({"spacing": "x"}, ["spacing='x'", "greater than 0"]),
            ({"height": lambda x, y: np.where(x > 0.15, np.nan, 0.0)}, ["height is nan at x=0.2", "finite"]),
            ({"height": lambda x, y: np.zeros(3)}, ["height", "points"]),
            ({"size": (1.0,)}, ["size=", "x and y"]),
            ({"size": (1.0, 0.5)}, ["size=", "at least 0.8 by 0.8"]),
            ({"spacing": 0.0}, ["spacing=0", "greater than 0"]),
            ({"kind": ["soft", "mid"]}, ["list of 2", "with which"]),
            ({"kind": ["soft", "mid"], "which": [[0]]}, ["which=", "function of x and y"]),
            ({"kind": ["soft", "mid"], "which": lambda x, y: x}, ["which", "whole numbers from 0 to 1"]),
            ({"corner": (0.0, np.inf)}, ["corner=", "finite"]),
        ],
    )
    def test_impossible_ground(self, given, words):
        with self.says(*words):
            EndlessSoil(**{"size": (2.0, 2.0), "spacing": 0.1, **given})

    @compiled
    def test_a_window_that_is_too_small_for_a_geom(self):
        model, data = loose_body(BODIES["box"])
        with self.says("geom it", "window of 0.2 by 0.2", "at least 0.6 by 0.6"):
            EndlessSoil(size=(0.2, 0.2), spacing=0.02).attach(model).step(data)
        EndlessSoil(size=(0.6, 0.6), spacing=0.02).attach(model).step(data)

    @compiled
    def test_bodies_that_are_too_far_apart(self):
        balls = "".join(
            f'<body pos="{3 * k} 0 0.1"><freejoint/><geom name="ball {k}" size="0.1"/></body>' for k in (0, 1)
        )
        model, data = make(balls)
        soil = EndlessSoil(size=(1.0, 1.0), spacing=0.02).attach(model)
        with self.says("ball", "window of 1 by 1 m", "at least 3.4 by 1"):
            soil.step(data)
        wide = EndlessSoil(size=(3.5, 1.0), spacing=0.02).attach(model)
        wide.step(data, 10)

    def test_a_state_of_other_ground(self):
        with pytest.raises(ModelError, match="no 'window'"):
            endless().restore(Soil(np.zeros((46, 61)), SPACING).state())
        assert endless(kind="soft").kind == PRESETS["soft"]
