"""The terrain world: what it observes, what a frame holds, how episodes end, and what it refuses."""

from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from PIL import Image

from sandlot.control.sessions import Session
from sandlot.errors import SandlotError
from sandlot.recordings import check_frame
from sandlot.robots.rover import BODIES
from sandlot.settings import build, read_settings
from sandlot.worlds.picture import from_above
from sandlot.worlds.record import record_world
from sandlot.worlds.rollout import rollout
from sandlot.worlds.terrain.settings import TerrainSettings
from sandlot.worlds.terrain.world import Terrain

SMALL = {"shape": (80, 90), "window": 32, "map_every": 40}
TINY_PARTICLES = {"ground": "particles", "shape": (48, 48), "window": 16, "particles": {"depth": 0.06, "settle": True}}
EXAMPLES = Path(__file__).parents[3] / "docs/examples/terrain"
GROUNDS = pytest.mark.parametrize(
    "settings", [SMALL, {**SMALL, "ground": "rigid"}, TINY_PARTICLES], ids=["soil", "rigid", "particles"]
)


def drive(world, steps, controller="session", seed=0):
    """Drive until the end; returns the last observation."""
    for step in rollout(world, world.controller(controller, steps), seed, steps):
        observation = step.observations[0]
    return observation


def changed_rover(folder, tags, inside):
    """The wheeled rover with other contents of the chassis' first element of these tags; its path."""
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


def test_other_packings_of_the_same_terrain_have_other_surfaces_as_high():
    surfaces = []
    for packing in (0, 0, 1):
        world = Terrain(**{**TINY_PARTICLES, "particles": {**TINY_PARTICLES["particles"], "packing": packing}})
        world.reset(seed=0)
        surfaces.append(world.task.ground.heights.copy())
    first, again, other = surfaces
    np.testing.assert_array_equal(first, again)
    assert 1e-3 < np.abs(other - first).mean() < 0.0125
    assert other.mean() == pytest.approx(first.mean(), abs=1e-3)


def test_episodes_on_particles_are_alike_whether_or_not_there_was_one_before():
    world = Terrain(**TINY_PARTICLES)
    first, again = (drive(world, 10, "straight") for _ in range(2))
    assert np.array_equal(first, again)


def test_on_rigid_flat_ground_it_follows_commands():
    world = Terrain(terrain="flat", ground="rigid", shape=(60, 60))
    world.reset(seed=0)
    for _ in range(200):
        *_, reward, _, _, _ = world.step(np.array([[0.2, 0.0]]))
    frame = world.frame()
    assert reward == pytest.approx(0.2 * 0.01, rel=0.03)
    assert frame["path_length"][0] == pytest.approx(0.2 * 2.0, rel=0.05)
    assert frame["wheel_speed_left"][0] == pytest.approx(0.2 / 0.03, rel=0.02)
    assert frame["command_speed"].tolist() == [0.2]
    outcomes = world.outcomes()
    assert outcomes["slip"] == pytest.approx(0.0, abs=0.03)
    assert outcomes["rut_depth"] == 0.0
    assert set(outcomes) == set(world.outcome_quantities)


def test_on_ground_that_wraps_positions_stay_within_the_map_and_differences_have_no_jumps():
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


def test_leaving_the_map_or_overturning_ends_an_episode():
    world = Terrain(terrain="flat", ground="rigid", shape=(60, 60), wrap=False)
    drive(world, 400, "straight")
    assert world.task.off_map
    assert not world.exploded
    world.reset(seed=0)
    world.task.rovers.data.qpos[2:7] = (0.3, 0.0, 1.0, 0.0, 0.0)
    *_, terminated, truncated, _ = world.step(np.zeros((1, 2)))
    assert terminated
    assert not truncated
    assert world.outcomes()["overturned"] == 1.0


@pytest.mark.parametrize("value", [np.nan, 1e3])
def test_an_explosion_truncates_and_stops_the_simulation(value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo keeps a log of its warnings
    world = Terrain(**SMALL, patch=3)
    world.reset(seed=0)
    world.task.rovers.data.qvel[2] = value
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


def test_the_patch_is_the_ground_around_the_rover_in_its_axes():
    settings = {"ground": "rigid", "terrain": "A", "patch": 5, "poses": [(0.1, 0.2, np.pi / 2)]}
    world = Terrain(**SMALL, **settings)
    observation, _ = world.reset(seed=0)
    assert observation.shape == (1, 11 + 25)
    patch = observation[0, 11:].reshape(5, 5)
    x, y, z = world.task.state.position[0]
    yaw = world.task.state.yaw[0]
    for i, left in enumerate((-0.02, -0.01, 0.0, 0.01, 0.02)):
        for j, ahead in enumerate((-0.02, -0.01, 0.0, 0.01, 0.02)):
            east, north = x + ahead * np.cos(yaw) - left * np.sin(yaw), y + ahead * np.sin(yaw) + left * np.cos(yaw)
            known = world.task.ground._layer.height_at(east, north) - z
            assert patch[i, j] == pytest.approx(float(known), abs=1e-6)


def copied(frame):
    return {name: np.copy(value) for name, value in frame.items()}


def same(one, other):
    return set(one) == set(other) and all(np.array_equal(one[name], other[name]) for name in one)


def test_a_frame_is_pure_and_does_not_change_later():
    quiet, watched = (Terrain(**SMALL, patch=2, imu={"rate_noise": 0.1}) for _ in range(2))
    for world in (quiet, watched):
        world.reset(seed=1)
    for k in range(20):
        command = np.array([[0.2, 0.1 * k]])
        before = watched.frame(), copied(watched.frame())
        one, other = quiet.step(command), watched.step(command)
        assert np.array_equal(one[0], other[0])
        assert same(*before)
        assert same(watched.frame(), watched.frame())
    assert same(quiet.frame(), watched.frame())
    assert watched.frame()["dx"][0] == pytest.approx(watched.frame()["x"][0] - before[1]["x"][0], abs=1e-12)


def test_the_session_has_as_many_frames_as_steps():
    world = Terrain(**SMALL)
    leveling = ["walk", "charge", "spin", "memory", "shared"]
    assert list(world.controllers()) == ["session", "varied", "straight", *leveling, "random"]
    session = world.controller("session", 800)
    assert isinstance(session, Session)
    assert session.frames == 800
    assert world.controller("session").frames == 64_000
    assert session.speeds[0] == pytest.approx((0.25, np.pi / 2), rel=0.01)
    with pytest.raises(SandlotError, match="did you mean 'session'"):
        world.controller("sesion")


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
        ({"rovers": ("wheeld",)}, r"rovers\[0\]=wheeld: no such rover, and no such file; did you mean 'wheeled'"),
        ({"rovers": ()}, "a list of one or more texts"),
        ({"poses": [(0, 0, 0), (1, 1, 1)]}, "poses has 2 for 1 rovers"),
        ({"rovers": ("wheeled", "tracked"), "poses": [(0, 0, 0), (0.1, 0, 0)]}, "rovers 0 and 1 start inside"),
        ({"poses": [(9, 0, 0)], "wrap": False, "shape": (60, 60)}, "beyond the ground; allowed: -0.3 to 0.3"),
        ({"rovers": ("wheeled", "tracked"), "poses": [(0, 0, 0), (6, -12, 0)]}, "as the ground wraps after 6 x 6 m"),
        ({"spacing": 1e-4}, "hills with a radius of 0.35 m are larger than the map, which is 0.06 m"),
        ({"terrain": "hills", "hill_size": 7.0}, "hills with a radius of 7 m are larger"),
        ({"terrain": "flat", "spacing": 1e-4}, "rover 0 is 0.34 m across, and the ground only 0.06 x 0.06 m"),
        ({"spacing": 0.2, "shape": (60, 60)}, "less than half the spacing of the ground; allowed: spacing of at most"),
        ({"interval": 0.0105}, "not a whole number of steps"),
        ({"shape": (4, 4)}, "at least 8"),
        ({"patch": -1}, "at least 0"),
    ],
)
def test_mistakes_are_explained_in_one_line(settings, message):
    with pytest.raises(SandlotError, match=message) as error:
        Terrain(**settings)
    assert "\n" not in str(error.value)


def test_shapes_that_particles_cannot_touch_are_refused_before_the_first_reset(tmp_path):
    (tmp_path / "body.obj").write_text("v 0 0 0\nv .1 0 0\nv 0 .1 0\nv 0 0 .1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n")
    rover = changed_rover(tmp_path, ("<collision>", "</collision>"), '<geometry><mesh filename="body.obj"/></geometry>')
    assert Terrain(rovers=(rover,), terrain="flat", shape=(60, 60))
    with pytest.raises(SandlotError, match=r"^geom rover0/Body 0 has a shape that particles cannot touch"):
        Terrain(rovers=(rover,), ground="particles")


def test_visual_shapes_do_not_hold_a_rover_up(tmp_path):
    flag = '<geometry><box size="0.01 0.01 1.5"/></geometry>'
    rover = changed_rover(tmp_path, ("<visual>", "</visual>"), flag)
    world = Terrain(rovers=(rover,), terrain="flat", ground="rigid", shape=(60, 60))
    world.reset(seed=0)
    assert world.task.rovers.reach[0] == pytest.approx(Terrain(shape=(60, 60)).task.rovers.reach[0])
    assert world.task.state.position[0, 2] == pytest.approx(0.051, abs=0.001)
    assert np.abs(world.task.rovers.data.qvel).max() < 0.01


def test_hills_as_large_as_the_map_are_smooth():
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
    assert world.task.ground.heights.shape == (48, 64)
    assert np.ptp(world.task.ground.heights) == pytest.approx(0.1, rel=1e-3)
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


# Long drives, pictures and experiments.


@pytest.mark.parametrize("terrain", ["A", "B"])
@pytest.mark.parametrize("rover", ["wheeled", "tracked"])
def test_a_session_on_a_and_b_neither_gets_stuck_nor_overturns(terrain, rover):
    world = Terrain(terrain=terrain, shape=(200, 200), rovers=(rover,))
    drive(world, 1600)
    outcomes = world.outcomes()
    assert outcomes["overturned"] == 0.0
    assert outcomes["path_length"] > 1.0
    assert 0.0 < outcomes["slip"] < 0.6
    assert 0.001 < outcomes["rut_depth"] < 0.1


def test_several_rovers_start_apart_and_move_alone():
    world = Terrain(**{**SMALL, "shape": (200, 200)}, rovers=("wheeled", "tracked", "wheeled"))
    world.reset(seed=0)
    start = world.task.state.position[:, 0]
    for _ in range(50):
        world.step(np.array([[0.2, 0.0], [0.0, 0.0], [-0.2, 0.0]]))
    forward = world.task.state.position[:, 0] - start
    assert forward[0] > 0.05
    assert abs(forward[1]) < 0.01
    assert forward[2] < -0.05
    assert world.recorder().quantities["height_change"].shape == (3, 32, 32)


def test_the_picture_shows_rovers_and_ruts():
    world = Terrain(terrain="flat", shape=(100, 80), wrap=False)
    world.reset(seed=0)
    for _ in range(100):
        world.step(np.array([[0.25, 0.0]]))
    after = world.render()
    blue = after[..., 2].astype(int) > after[..., 0].astype(int) + 50
    assert 0.02 < blue.mean() < 0.2, "the rover is larger than a speck"
    rows, columns = np.nonzero(blue[:420])
    assert abs(rows.mean() - 210) < 60, "the picture follows it"
    assert abs(columns.mean() - 320) < 60
    whole = from_above(world.scene())
    assert whole.shape == (720, 576, 3)
    assert whole[:100, :, 0].std() < 1.0
    assert whole[:, 220:270, 0].std() > 5.0, "ruts"


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
