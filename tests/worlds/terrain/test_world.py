"""The terrain world: what it observes, records and refuses, and that the map can be rebuilt from its recordings."""

from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from PIL import Image

from sandlot import recordings
from sandlot.control.sessions import Session
from sandlot.errors import SandlotError
from sandlot.recordings import check_frame
from sandlot.robots.rover import BODIES
from sandlot.settings import build, read_settings
from sandlot.worlds.record import Record, record_world
from sandlot.worlds.terrain.settings import TerrainSettings
from sandlot.worlds.terrain.windows import Windows, rebuild, sample, sample_patch
from sandlot.worlds.terrain.world import Terrain

SEED = np.random.SeedSequence(0)
SMALL = {"shape": (80, 90), "window": 32, "map_every": 40}
TINY_PARTICLES = {"ground": "particles", "shape": (48, 48), "window": 16, "particles": {"depth": 0.06, "settle": True}}
EXAMPLES = Path(__file__).parents[3] / "docs/examples/terrain"
GROUNDS = pytest.mark.parametrize(
    "settings", [SMALL, {**SMALL, "ground": "rigid"}, TINY_PARTICLES], ids=["soil", "rigid", "particles"]
)


def drive(world, steps, controller="session", seed=0):
    observation, _ = world.reset(seed=seed)
    act = world.controller(controller, SEED, steps)
    for _ in range(steps):
        observation, _, terminated, truncated, _ = world.step(act(observation))
        if terminated or truncated:
            break
    return observation


def changed_rover(folder, tags, inside):
    """The wheeled rover with other insides of the chassis' first element of these tags; its path."""
    text = (BODIES / "wheeled.urdf").read_text()
    start = text.index(tags[0]) + len(tags[0])
    (folder / "rover.urdf").write_text(text[:start] + inside + text[text.index(tags[1], start) :])
    (folder / "rover.toml").write_text('urdf = "rover.urdf"')
    return str(folder / "rover.toml")


@GROUNDS
@pytest.mark.filterwarnings("error", "ignore:.*symmetric and normalized")
def test_passes_the_checker_on_any_ground(settings):
    check_env(gymnasium.make("sandlot/Terrain-v0", render_mode="rgb_array", **settings).unwrapped)


@GROUNDS
def test_frames_are_as_declared_and_repeat_by_seed(settings):
    kept = []
    for _ in range(2):
        world = Terrain(**settings, rovers=("tracked",), imu={"rate_noise": 0.01})
        observation = drive(world, 25, "random")
        check_frame(world.frame(), world.quantities)
        kept.append([observation, *(np.copy(value) for value in world.frame().values())])
    assert all(np.array_equal(one, other) for one, other in zip(*kept, strict=True))


def test_episodes_on_particles_are_alike_whether_or_not_there_was_one_before():
    world = Terrain(**TINY_PARTICLES)
    first, again = (drive(world, 10, "straight") for _ in range(2))
    assert np.array_equal(first, again)


def test_on_rigid_flat_ground_it_drives_as_it_is_told():
    world = Terrain(terrain="flat", ground="rigid", shape=(60, 60))
    world.reset(seed=0)
    for _ in range(200):
        *_, reward, _, _, _ = world.step(np.array([[0.2, 0.0]]))
    frame = world.frame()
    assert reward == pytest.approx(0.2 * 0.01, rel=0.03)
    assert frame["way"][0] == pytest.approx(0.2 * 2.0, rel=0.05)
    assert frame["left"][0] == pytest.approx(0.2 / 0.03, rel=0.02)
    assert frame["linear"].tolist() == [0.2]
    outcomes = world.outcomes()
    assert outcomes["slip"] == pytest.approx(0.0, abs=0.03)
    assert outcomes["rut"] == 0.0
    assert set(outcomes) == set(world.outcome_quantities)


def test_ground_that_goes_on_has_positions_within_the_map_and_smooth_differences():
    world = Terrain(terrain="flat", ground="rigid", shape=(60, 60))
    world.reset(seed=0)
    x, dx = [world.frame()["x"][0]], []
    for _ in range(400):
        world.step(np.array([[0.25, 0.0]]))
        x.append(world.frame()["x"][0])
        dx.append(world.frame()["dx"][0])
    assert np.abs(x).max() <= 0.3
    assert np.min(np.diff(x)) < -0.55
    assert np.max(np.abs(dx)) < 0.004
    assert np.allclose((np.diff(x) - dx + 0.3) % 0.6 - 0.3, 0.0, atol=1e-12)
    assert world.outcomes()["distance"] > 0.6


def test_left_and_overturned_end_an_episode():
    world = Terrain(terrain="flat", ground="rigid", shape=(60, 60), wrap=False)
    drive(world, 400, "straight")
    assert world.left
    assert not world.exploded
    world.reset(seed=0)
    world.fleet.data.qpos[2:7] = (0.3, 0.0, 1.0, 0.0, 0.0)
    *_, terminated, truncated, _ = world.step(np.zeros((1, 2)))
    assert terminated
    assert not truncated
    assert world.outcomes()["overturned"] == 1.0


@pytest.mark.parametrize("value", [np.nan, 1e3])
def test_explosions_are_noticed_and_nothing_goes_on(value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo keeps a log of its warnings
    world = Terrain(**SMALL, patch=3)
    world.reset(seed=0)
    world.fleet.data.qvel[2] = value
    for _ in range(2):
        observation, reward, terminated, truncated, info = world.step(np.zeros((1, 2)))
        assert (reward, terminated, truncated) == (0.0, False, True)
        assert info["exploded"]
        assert world.exploded
        assert world.observation_space.contains(observation)
        check_frame(world.frame(), world.quantities)
    assert world.render().shape[2] == 3
    world.reset(seed=0)
    assert not world.exploded


def test_the_patch_is_the_ground_around_the_rover_turned_with_it():
    settings = {"ground": "rigid", "terrain": "A", "patch": 5, "poses": [(0.1, 0.2, np.pi / 2)]}
    world = Terrain(**SMALL, **settings)
    observation, _ = world.reset(seed=0)
    assert observation.shape == (1, 11 + 25)
    patch = observation[0, 11:].reshape(5, 5)
    x, y, z = world.fleet.position[0]
    yaw = world.fleet.angles[0, 2]
    for i, left in enumerate((-0.02, -0.01, 0.0, 0.01, 0.02)):
        for j, ahead in enumerate((-0.02, -0.01, 0.0, 0.01, 0.02)):
            east, north = x + ahead * np.cos(yaw) - left * np.sin(yaw), y + ahead * np.sin(yaw) + left * np.cos(yaw)
            known = world.ground._ground.height_at(east, north) - z
            assert patch[i, j] == pytest.approx(float(known), abs=1e-6)


def test_sampling_between_nodes_and_beyond_the_edge():
    field = np.arange(12.0).reshape(3, 4)
    assert sample(field, 1.5, 2.25, False) == pytest.approx(0.75 * (6 + 10) / 2 + 0.25 * (7 + 11) / 2)
    assert sample(field, -5.0, 1.0, False) == 1.0
    assert sample(field, -1.0, 1.0, True) == 9.0
    assert sample(field, 2.5, 4.0, True) == pytest.approx((8 + 0) / 2)
    patch = np.zeros((3, 3))
    sample_patch(field, 1.0, 1.0, 0.0, False, patch)
    assert np.array_equal(patch, field[:3, :3])


def test_the_session_has_as_many_frames_as_steps():
    world = Terrain(**SMALL)
    assert list(world.controllers()) == ["session", "straight", "random"]
    session = world.controller("session", SEED, 800)
    assert isinstance(session, Session)
    assert session.frames == 800
    assert world.controller("session", SEED).frames == 64_000
    assert session.speeds[0] == pytest.approx((0.25, np.pi / 2), rel=0.01)
    with pytest.raises(SandlotError, match="did you mean 'session'"):
        world.controller("sesion", SEED)


# What is told of the ground.


def test_windows_tell_every_change_once():
    rng = np.random.default_rng(0)
    heights = rng.uniform(0.0, 0.3, (20, 25))
    for wrap in (True, False):
        windows = Windows((20, 25), 2, 8, wrap)
        windows.restart(heights)
        told = windows.shown.astype(np.float64)
        now, seen = heights.copy(), np.zeros(heights.shape, bool)
        for _ in range(200):
            now += rng.choice([0.0, 3e-7, 2e-4], now.shape, p=[0.8, 0.1, 0.1]) * rng.normal(size=now.shape)
            nodes = rng.uniform(0.0, (20.0, 25.0)) + np.array([[0.0, 0.0], [2.0, 1.0]])
            windows.place(nodes)
            windows.tell(now)
            for change, row, column in zip(windows.change, windows.rows, windows.columns, strict=True):
                assert wrap or (0 <= row <= 12 and 0 <= column <= 17)
                here = np.ix_((row + np.arange(8)) % 20, (column + np.arange(8)) % 25)
                told[here] += change
                seen[here] = True
                assert np.abs(told[here] - now[here]).max() < 1e-6
        assert seen.all()
        assert np.abs(windows.shown - told).max() < 1e-6


def test_a_window_larger_than_the_map_is_the_map():
    windows = Windows((20, 9), 1, 16, False)
    windows.place(np.array([[5.0, 5.0]]))
    assert windows.change.shape == (1, 16, 9)
    assert (windows.rows[0], windows.columns[0]) == (0, 0)


@pytest.mark.parametrize("kind", ["wrap", "edge", "rovers", "hills", "particles"])
def test_the_map_of_any_frame_can_be_rebuilt(kind, tmp_path):
    settings = {
        "wrap": {**SMALL, "soil": "soft", "window": 64},
        "edge": {**SMALL, "wrap": False, "terrain": "B"},
        "rovers": {**SMALL, "shape": (120, 130), "rovers": ("wheeled", "tracked")},
        "hills": {**SMALL, "terrain": "hills", "relief": 0.05, "hill_size": 0.2},
        "particles": {**TINY_PARTICLES, "map_every": 40},
    }[kind]
    world = Terrain(**settings)
    seen = []
    with Record(world, tmp_path / "a") as env:
        for episode, steps in enumerate((130, 20, 60)):
            observation, _ = env.reset(seed=episode)
            seen.append(world.ground.heights.copy())
            act = Session(world.fleet.speeds, SEED, steps)
            for _ in range(steps):
                observation, *_ = env.step(act(observation))
                seen.append(world.ground.heights.copy())
    recording = recordings.open(tmp_path / "a")
    assert recording["heights"].sizes["time_heights"] == -(-len(seen) // 40)
    frames = [*range(0, 130, 7), 39, 40, 41, 131, 140, 151, 152, 155, 170, 211]
    if kind == "hills":  # no map was kept in the second episode, frames 131 to 151; in the third from frame 160 on
        frames = [frame for frame in frames if frame <= 130 or frame >= 160]
        for frame in (131, 159):
            with pytest.raises(SandlotError, match="no map was kept"):
                rebuild(recording, frame)
    for frame in frames:
        truth, built = seen[frame], rebuild(recording, frame)
        row, column = (recording[f"window_{axis}"].values[frame] for axis in ("row", "column"))
        ny, nx = truth.shape
        size = world.windows.change.shape[1:]
        for r, c in zip(row, column, strict=True):
            here = np.ix_((r + np.arange(size[0])) % ny, (c + np.arange(size[1])) % nx)
            assert np.abs(built.values[here] - truth[here]).max() < 1e-6, frame
        if kind == "wrap":  # nothing slides far from the rover
            assert np.abs(built.values - truth).max() < 1e-6
    assert built.dims == ("map_y", "map_x")
    assert np.diff(built["map_x"]) == pytest.approx(recordings.settings(recording)["spacing"])
    assert float(built["map_y"].mean()) == pytest.approx(0.0, abs=1e-9)
    assert built.equals(rebuild(recording, np.float64(frame)))
    for wrong in (213, -1, 5.5, np.nan, "5"):
        with pytest.raises(SandlotError, match=f"^frame={wrong} is not .* allowed: whole numbers from 0 to 212$"):
            rebuild(recording, wrong)


# What it refuses.


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"soil": "mud"}, "soil=mud: no such soil; did you mean 'mid'"),
        ({"soil": {"kphi": -1}}, "soil: kphi=-1"),
        ({"terrain": "hill"}, "did you mean 'hills'"),
        ({"terrain": "no/such.png"}, "no image at"),
        ({"ground": "sand"}, "one of soil, particles, rigid"),
        ({"ground": "particles", "wrap": True}, "which lie in a container"),
        ({"rovers": ("wheeld",)}, "there is no rover 'wheeld', and no such file; did you mean 'wheeled'"),
        ({"rovers": ()}, "a list of one or more texts"),
        ({"poses": [(0, 0, 0), (1, 1, 1)]}, "poses has 2 for 1 rovers"),
        ({"rovers": ("wheeled", "tracked"), "poses": [(0, 0, 0), (0.1, 0, 0)]}, "rovers 0 and 1 start inside"),
        ({"poses": [(9, 0, 0)], "wrap": False, "shape": (60, 60)}, "beyond the ground; allowed: -0.3 to 0.3"),
        ({"rovers": ("wheeled", "tracked"), "poses": [(0, 0, 0), (6, -12, 0)]}, "as the ground goes on after 6 x 6 m"),
        ({"spacing": 1e-4}, "hills with a radius of 0.35 m are larger than the map, which is 0.06 m"),
        ({"terrain": "hills", "hill_size": 7.0}, "hills with a radius of 7 m are larger"),
        ({"terrain": "flat", "spacing": 1e-4}, "rover 0 is 0.34 m across, and the ground only 0.06 x 0.06 m"),
        ({"spacing": 0.05}, "less than the spacing of the ground; allowed: spacing of at most"),
        ({"interval": 0.0105}, "not a whole number of steps"),
        ({"shape": (4, 4)}, "at least 8"),
        ({"patch": -1}, "at least 0"),
    ],
)
def test_mistakes_are_explained_in_one_line(settings, message):
    with pytest.raises(SandlotError, match=message) as error:
        Terrain(**settings)
    assert "\n" not in str(error.value)


def test_parts_that_particles_do_not_know_are_refused_before_the_first_reset(tmp_path):
    (tmp_path / "body.obj").write_text("v 0 0 0\nv .1 0 0\nv 0 .1 0\nv 0 0 .1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n")
    rover = changed_rover(tmp_path, ("<collision>", "</collision>"), '<geometry><mesh filename="body.obj"/></geometry>')
    assert Terrain(rovers=(rover,), terrain="flat", shape=(60, 60))
    with pytest.raises(SandlotError, match=r"^geom rover0/Body 0 is of a kind that particles do not know"):
        Terrain(rovers=(rover,), ground="particles")


def test_what_is_only_looked_at_does_not_hold_a_rover_up(tmp_path):
    flag = '<geometry><box size="0.01 0.01 1.5"/></geometry>'
    rover = changed_rover(tmp_path, ("<visual>", "</visual>"), flag)
    world = Terrain(rovers=(rover,), terrain="flat", ground="rigid", shape=(60, 60))
    world.reset(seed=0)
    assert world.fleet.reach[0] == pytest.approx(Terrain(shape=(60, 60)).fleet.reach[0])
    assert world.fleet.position[0, 2] == pytest.approx(0.051, abs=0.001)
    assert np.abs(world.fleet.data.qvel).max() < 0.01


def test_hills_as_large_as_the_map_are_hills():
    for given in ({"terrain": "hills", "hill_size": 0.35}, {"terrain": "hills", "hill_size": 0.35, "wrap": False}, {}):
        heights = TerrainSettings(shape=(35, 35), **given).heights(np.random.default_rng(0))
        assert np.ptp(heights) > 0.01
        assert np.abs(np.diff(heights, 2)).max() < 0.03 * np.ptp(heights)  # rounding would leave noise


def test_an_image_wraps_only_if_its_edges_fit(tmp_path):
    x = np.arange(64)
    wave = 0.5 + 0.5 * np.sin(2 * np.pi * x / 64) * np.ones((48, 1))
    for name, field, kind in (("wave", wave, np.uint16), ("ramp", np.tile(x / 63, (48, 1)), np.uint8)):
        Image.fromarray((field * np.iinfo(kind).max).astype(kind)).save(tmp_path / f"{name}.png")
    given = {"relief": 0.1, "ground": "rigid"}
    world = Terrain(terrain=tmp_path / "wave.png", wrap=True, **given)
    world.reset(seed=0)
    assert world.ground.heights.shape == (48, 64)
    assert np.ptp(world.ground.heights) == pytest.approx(0.1, rel=1e-3)
    assert not Terrain(terrain=tmp_path / "ramp.png", **given).settings.wraps
    with pytest.raises(SandlotError, match="63 times as steep as inside; allowed: 3") as error:
        Terrain(terrain=tmp_path / "ramp.png", wrap=True, **given)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (np.zeros(2), r"speed for each rover, of shape \(1, 2\), not \(2,\)$"),
        (np.zeros((2, 2)), r"of shape \(1, 2\), not \(2, 2\)$"),
        (np.array([[0.1, np.nan]]), r"speed for each rover; 1 of 2 are not finite$"),
    ],
)
def test_a_bad_action_is_explained(action, message):
    world = Terrain(**SMALL)
    world.reset(seed=0)
    with pytest.raises(SandlotError, match=message):
        world.step(action)


# Terrains, pictures and experiments.


@pytest.mark.parametrize("shape", [(150, 150), (600, 600)])
def test_terrains_a_and_b_are_fixed_and_differ_in_character(shape):
    slopes = {}
    for name in ("A", "B"):
        one, other = (TerrainSettings(terrain=name, shape=shape).heights(np.random.default_rng(k)) for k in (0, 1))
        assert np.array_equal(one, other)
        slopes[name] = np.degrees(np.arctan(np.hypot(*np.gradient(one, 0.01))))
    assert slopes["A"].max() < 15.0
    assert 20.0 < slopes["B"].max() < 30.0  # below the angle of repose
    assert np.diff(slopes["B"]).std() > 2.5 * np.diff(slopes["A"]).std()


@pytest.mark.parametrize("terrain", ["A", "B"])
@pytest.mark.parametrize("rover", ["wheeled", "tracked"])
def test_a_session_on_a_and_b_neither_gets_stuck_nor_overturns(terrain, rover):
    world = Terrain(terrain=terrain, shape=(200, 200), rovers=(rover,))
    drive(world, 1600)
    outcomes = world.outcomes()
    assert outcomes["overturned"] == 0.0
    assert outcomes["way"] > 1.0
    assert 0.0 < outcomes["slip"] < 0.6
    assert 0.001 < outcomes["rut"] < 0.1


def test_several_rovers_start_apart_and_move_alone():
    world = Terrain(**{**SMALL, "shape": (200, 200)}, rovers=("wheeled", "tracked", "wheeled"))
    world.reset(seed=0)
    start = world.fleet.position[:, 0]
    for _ in range(50):
        world.step(np.array([[0.2, 0.0], [0.0, 0.0], [-0.2, 0.0]]))
    forward = world.fleet.position[:, 0] - start
    assert forward[0] > 0.05
    assert abs(forward[1]) < 0.01
    assert forward[2] < -0.05
    assert world.frame()["change"].shape == (3, 32, 32)


def test_the_picture_shows_rovers_and_ruts():
    world = Terrain(terrain="flat", shape=(100, 80), wrap=False)
    world.reset(seed=0)
    before = world.render()
    assert before.shape == (720, 576, 3)
    for _ in range(100):
        world.step(np.array([[0.25, 0.0]]))
    after = world.render()
    red = (after[..., 0] > 150) & (after[..., 1] < 110)
    assert 0.002 < red.mean() < 0.05
    rows, columns = np.nonzero(red)
    assert abs(rows.mean() - 360) < 30
    assert 288 < columns.mean() < 576
    assert before[:100, :, 0].std() < 1.0
    assert after[:, 220:270, 0].std() > 5.0


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.toml")), ids=lambda file: file.stem)
def test_shipped_experiments_build_and_run_when_shrunk(file, tmp_path):
    given = read_settings(file)
    build(TerrainSettings, given)
    given.pop("poses", None)
    given |= {"shape": (60, 60), "relief": 0.1, "window": 16}
    facts = record_world("terrain", tmp_path / "a", 12, settings=given)
    assert facts["frames"] >= 13
    assert facts["exploded"] == 0


def test_one_rover_needs_no_list():
    assert TerrainSettings(rovers="tracked").rovers == ("tracked",)
