"""What must be true of every registered world, at every fidelity, in its single and in its vector form."""

import copy
import pickle
from importlib.metadata import entry_points

import gymnasium
import imageio_ffmpeg
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import RecordVideo, TimeLimit
from stable_baselines3.common.env_checker import check_env as check_env_for_stable_baselines

from same import assert_same, assert_same_step
from sandlot import recordings
from sandlot.control.controller import as_controller
from sandlot.errors import SandlotError, SettingError
from sandlot.recordings import check_frame
from sandlot.recordings.vocabulary import VOCABULARY
from sandlot.surrogates.files import save
from sandlot.surrogates.sensor_models import Headings
from sandlot.worlds import VECTORS, WORLDS, load, register, world_id
from sandlot.worlds.indoor.learned import explore
from sandlot.worlds.indoor.settings import IndoorSettings
from sandlot.worlds.picture import from_above, picture
from sandlot.worlds.record import Record
from sandlot.worlds.rollout import rollout
from sandlot.worlds.settings import WorldSettings

SMALL = {
    "indoor": {"laser": {"beams": 24}},
    "leveling": {"shape": (8, 8), "agents": 3},
    "terrain": {"shape": (200, 200)},
    "water": {"snake": {"links": 6}, "distance": 5.0},
}
"""Settings that make a world fast to simulate."""
MODEL = {}
CASES = [(name, fidelity) for name in WORLDS for fidelity in load(name).fidelities()]
every_world = pytest.mark.parametrize("name", WORLDS)
every_fidelity = pytest.mark.parametrize(("name", "fidelity"), CASES)
every_compiled = pytest.mark.parametrize(("name", "fidelity"), [case for case in CASES if case[0] in VECTORS])
STEPS = 30


@pytest.fixture(scope="module", autouse=True)
def sensor_model(tmp_path_factory):
    """A small model for the indoor world at ``learned``, as the one it fits by itself takes long."""
    path = tmp_path_factory.mktemp("models") / "model"
    save(Headings(2).fit(explore(IndoorSettings(**SMALL["indoor"]), 60)), path)
    MODEL["model"] = path


def pickle_copy(world):
    return pickle.loads(pickle.dumps(world))


def settings(name, fidelity):
    return {"fidelity": fidelity, **SMALL.get(name, {}), **(MODEL if (name, fidelity) == ("indoor", "learned") else {})}


def make(name, fidelity, **given):
    """A world in units, as controllers and recordings use it."""
    return load(name)(**{**settings(name, fidelity), **given})


def make_vector(name, fidelity, count=2, **given):
    """Its vector form."""
    given = {"interface": "units", **settings(name, fidelity), **given}
    return gymnasium.make_vec(world_id(name), num_envs=count, **given)


def frames(name, fidelity, seed, steps=STEPS):
    """The frames of an episode under random actions."""
    world = make(name, fidelity)
    return [world.frame() for _ in rollout(world, world.controller("random"), seed, steps)]


@every_fidelity
@pytest.mark.filterwarnings(
    "error",
    "ignore:.*symmetric and normalized",  # actions have units
    "ignore:.*dtype float64",  # joint angles are commanded exactly
    "ignore:.*unconventional shape",  # one row for each agent or rover
    "ignore:.*uses a multidimensional array",  # one row for each agent
)
def test_passes_both_checkers_in_units(name, fidelity):
    given = {**settings(name, fidelity), "interface": "units", "render_mode": "rgb_array"}
    world = gymnasium.make(world_id(name), **given).unwrapped
    check_env(world)
    check_env_for_stable_baselines(world, skip_render_check=False)


@every_fidelity
def test_what_gymnasium_makes_is_for_learners(name, fidelity):
    world = gymnasium.make(world_id(name), **settings(name, fidelity)).unwrapped
    assert world.settings.interface == "normalised"
    assert list(world.controllers()) == ["random"]
    other = next(iter(make(name, fidelity).controllers()))
    with pytest.raises(SettingError, match=rf"^no controller '{other}' at interface=normalised; make .* with units$"):
        world.controller(other)


@every_compiled
@pytest.mark.filterwarnings("error")
def test_a_vector_for_learners_equals_single_worlds(name, fidelity):
    given = {**settings(name, fidelity), "max_episode_steps": 4}
    one = gymnasium.make_vec(world_id(name), num_envs=3, **given)
    other = gymnasium.make_vec(world_id(name), num_envs=3, vectorization_mode="sync", **given)
    assert one.single_observation_space == other.single_observation_space
    assert one.single_action_space == other.single_action_space
    assert_same(one.reset(seed=7)[0], other.reset(seed=7)[0])
    one.action_space.seed(2)
    for _ in range(9):
        actions = one.action_space.sample()
        step = one.step(actions)
        assert one.observation_space.contains(step[0])
        assert_same_step(step, other.step(actions))


@every_fidelity
def test_a_normalised_action_does_what_its_units_do(name, fidelity):
    given = {"frame_skip": 1} if name == "water" else {}
    plain, world = make(name, fidelity, **given), make(name, fidelity, interface="normalised", **given)
    for each in (plain, world):
        each.reset(seed=1)
    world.action_space.seed(3)
    for _ in range(5):
        action = world.action_space.sample()
        units = action
        if hasattr(plain.action_space, "high"):
            units = (action.astype(np.float64).reshape(plain.action_space.shape)) * plain.action_space.high
        elif plain.action_space.shape:
            units = action.reshape(plain.action_space.shape)
        one, other = plain.step(units), world.step(action)
        assert one[1:4] == other[1:4]
    assert_same(copies(plain.frame()), copies(world.frame()))


@every_fidelity
def test_the_info_at_a_time_limit_has_the_outcomes(name, fidelity):
    env = gymnasium.make(world_id(name), max_episode_steps=3, **settings(name, fidelity))
    for seed in range(2):
        env.reset(seed=seed)
        infos = [env.step(env.action_space.sample())[4] for _ in range(3)]
        assert [set(info.get("outcomes", ())) for info in infos][2] == set(env.unwrapped.outcome_quantities)
        assert "outcomes" not in infos[0]


@every_fidelity
def test_every_quantity_is_in_the_vocabulary_with_its_unit(name, fidelity):
    for key, quantity in make(name, fidelity).quantities.items():
        assert VOCABULARY[key][0] == quantity.units, key
        assert quantity.long_name


@every_fidelity
def test_frames_hold_the_declared_quantities(name, fidelity):
    world = make(name, fidelity)
    for frame in frames(name, fidelity, 0):
        check_frame(frame, world.quantities)


@every_fidelity
def test_reading_a_frame_changes_nothing(name, fidelity):
    """Frames that are read often, seldom and never give the same world, and no step changes an older frame."""
    often, seldom, never = (make(name, fidelity) for _ in range(3))
    walks = [rollout(world, world.controller("random"), 5, STEPS) for world in (often, seldom, never)]
    kept = []
    for one, other, last in zip(*walks, strict=True):
        np.testing.assert_array_equal(one.observations, other.observations)
        np.testing.assert_array_equal(one.observations, last.observations)
        first, second = often.frame(), often.frame()
        assert_same(copies(first), copies(second))
        kept.append((first, copies(first)))
        if one.number % 7 == 0:
            assert_same(copies(seldom.frame()), copies(first))
    assert_same(copies(never.frame()), copies(first))
    for frame, before in kept:
        assert_same(copies(frame), before)


def copies(frame):
    return {key: np.array(value) for key, value in frame.items()}


@every_fidelity
def test_the_same_seed_gives_the_same_frames_and_another_seed_others(name, fidelity):
    one, same, other = (frames(name, fidelity, seed) for seed in (3, 3, 4))
    for a, b in zip(one, same, strict=True):
        assert_same(copies(a), copies(b))
    pairs = zip(one, other, strict=False)
    assert any(not np.array_equal(a[key], b[key]) for a, b in pairs for key in a if key not in ("time", "bearings"))


@every_fidelity
def test_time_increases(name, fidelity):
    times = [float(frame["time"]) for frame in frames(name, fidelity, 0)]
    assert times[0] == 0.0
    assert np.all(np.diff(times) > 0)


@every_fidelity
def test_a_recording_holds_every_frame(name, fidelity, tmp_path):
    world = make(name, fidelity)
    kept = []
    with Record(world, tmp_path / "a", seed=7) as env:
        for step in rollout(env, world.controller("random"), 7, 20, again=True):
            kept.append(copies(world.frame()) | {"reward": step.rewards[0], "episode": step.episodes[0]})
    recording = recordings.open(tmp_path / "a")
    assert recording.sizes["time"] == len(kept)
    assert recording.attrs["seed"] == 7
    assert recordings.settings(recording) == world.settings.model_dump(mode="json")
    assert type(world.settings)(**recordings.settings(recording)) == world.settings
    for key in (*world.quantities, "reward", "episode"):
        every = world.quantities[key].every if key in world.quantities else 1
        np.testing.assert_array_equal(recording[key].values, np.stack([frame[key] for frame in kept[::every]]))
    for key, quantity in world.quantities.items():
        assert recording[key].attrs["units"] == quantity.units


@every_fidelity
@pytest.mark.parametrize("again", [False, True])
def test_a_rollout_of_a_vector_equals_rollouts_of_single_worlds(name, fidelity, again):
    """Bit for bit, for every controller, when episodes end and the next ones begin; for the first, also when not."""
    for controller in list(make(name, fidelity).controllers())[: None if again else 1]:
        limit = {"max_episode_steps": 12}
        vector = make_vector(name, fidelity, count=3, **limit)
        chosen = make(name, fidelity).controller(controller, STEPS)
        together = [[], [], []]
        for step in rollout(vector, chosen, 5, STEPS, again=again):
            for k in range(3):
                if step.running[k]:
                    together[k].append(member(step, k))
        for k in range(3):
            world = TimeLimit(make(name, fidelity), **limit)
            own = world.unwrapped.controller(controller, STEPS)
            alone = [member(step, 0) for step in rollout(world, own, 5 + k, STEPS, again=again)]
            # The reset of a vector's member takes a step, so that the single world gets further.
            assert len(alone) >= len(together[k]) >= (25 if again else 2)
            for one, other in zip(together[k], alone, strict=False):
                assert_same(one, other)


def member(step, k):
    """What a step says of one member; the action of a reset means nothing."""
    values = {"episode": step.episodes[k], "began": step.began[k], "observation": step.observations[k]}
    values |= {"reward": step.rewards[k], "terminated": step.terminated[k], "truncated": step.truncated[k]}
    if not step.began[k]:
        values["action"] = step.actions[k]
    return {key: np.array(value) for key, value in values.items()}


@every_fidelity
def test_a_vector_repeats_itself_with_the_same_seed(name, fidelity):
    runs = []
    for _ in range(2):
        worlds = make_vector(name, fidelity)
        worlds.action_space.seed(1)
        kept = [worlds.reset(seed=3)[0]]
        for _ in range(STEPS):
            observations, rewards, *_ = worlds.step(worlds.action_space.sample())
            assert worlds.observation_space.contains(observations)
            kept += [observations.copy(), rewards.copy()]
        runs.append(kept)
    for one, other in zip(*runs, strict=True):
        np.testing.assert_array_equal(one, other)


@every_fidelity
def test_controllers_give_possible_actions_and_repeat_themselves(name, fidelity):
    world = make(name, fidelity)
    space = world.action_space
    for controller in world.controllers():
        driver = world.controller(controller, STEPS)
        runs = [[step.actions[0] for step in rollout(world, driver, 0, 5)] for _ in range(2)]
        np.testing.assert_array_equal(*runs)
        assert all(space.contains(action.astype(space.dtype)) for action in runs[0])


@every_fidelity
def test_outcomes_are_the_declared_ones(name, fidelity):
    world = make(name, fidelity)
    for _ in rollout(world, world.controller("random"), 0, 5):
        assert set(world.outcomes()) == set(world.outcome_quantities)
        assert all(isinstance(value, float) for value in world.outcomes().values())


@every_fidelity
def test_settings_are_taken_as_an_object_or_as_keywords(name, fidelity):
    keywords = settings(name, fidelity)
    given = load(name).Settings(**keywords)
    assert load(name)(settings=given).settings is given
    assert load(name)(**keywords).settings == given
    said = load(name).Settings(**keywords, interface="units")
    for_learners = load(name).Settings(**keywords, interface="normalised")
    for each, expected in ((given, for_learners), (said, said), (for_learners, for_learners)):
        assert gymnasium.make(world_id(name), settings=each).unwrapped.settings == expected
        if name in VECTORS:
            assert gymnasium.make_vec(world_id(name), num_envs=2, settings=each).unwrapped.settings == expected


@every_fidelity
@pytest.mark.parametrize("copied", [pickle_copy, copy.deepcopy])
def test_a_copy_has_the_same_future(name, fidelity, copied):
    """As a subprocess that gets a pickle, or a planner that tries actions on copies, needs it."""
    world = make(name, fidelity)
    for _ in rollout(world, world.controller("random"), 5, 5):
        pass
    twin, actions = copied(world), [world.action_space.sample() for _ in range(10)]
    ahead = [(world.step(action), copies(world.frame())) for action in actions]
    for action, (step, frame) in zip(actions, ahead, strict=True):
        assert_same(step[0], twin.step(action)[0])
        assert_same(frame, copies(twin.frame()))


@every_compiled
def test_a_copy_of_a_vector_has_the_same_future(name, fidelity):
    vector = make_vector(name, fidelity)
    vector.action_space.seed(1)
    vector.reset(seed=3)
    vector.step(vector.action_space.sample())
    twin, actions = pickle_copy(vector), [vector.action_space.sample() for _ in range(5)]
    for one, other in zip([vector.step(a) for a in actions], [twin.step(a) for a in actions], strict=True):
        assert_same_step(one, other)


@every_compiled
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_a_vector_resets_members_as_gymnasium_does(name, fidelity, mode):
    """Step by step as ``SyncVectorEnv``, with episodes that end at different times."""
    given = {**settings(name, fidelity), "max_episode_steps": 4, "interface": "units"}
    one = gymnasium.make_vec(world_id(name), num_envs=3, autoreset_mode=mode, **given)
    sync = {"vectorization_mode": "sync", "vector_kwargs": {"autoreset_mode": mode}}
    other = gymnasium.make_vec(world_id(name), num_envs=3, **sync, **given)
    assert one.metadata["autoreset_mode"] is other.metadata["autoreset_mode"] is mode
    one.reset(seed=7)
    other.reset(seed=7)
    assert one.np_random_seed == other.np_random_seed == (7, 8, 9)
    one.action_space.seed(2)
    for number in range(11):
        if number == 2:  # so that members end at different times
            only = np.array([False, True, False])
            for each in (one, other):
                each.reset(options={"reset_mask": only.copy()})
        actions = one.action_space.sample()
        assert_same_step(one.step(actions), other.step(actions))


@every_compiled
def test_the_last_info_of_an_episode_has_its_outcomes(name, fidelity):
    vector = make_vector(name, fidelity, max_episode_steps=3)
    single = make(name, fidelity)
    single.reset(seed=4)
    vector.reset(seed=4)
    vector.action_space.seed(5)
    for _ in range(3):
        actions = vector.action_space.sample()
        *_, info = vector.step(actions)
        single.step(actions[0])
    assert info["_outcomes"].all()
    for key, value in single.outcomes().items():
        np.testing.assert_array_equal(info["outcomes"][key][0], value)


@every_fidelity
def test_a_step_before_the_reset_is_refused(name, fidelity):
    world = make(name, fidelity)
    with pytest.raises(SandlotError, match=r"^before the first step, reset the world$"):
        world.step(world.action_space.sample())


@every_world
def test_episodes_have_a_limit(name):
    assert gymnasium.spec(world_id(name)).max_episode_steps > 0


def test_an_unknown_autoreset_mode_is_explained():
    with pytest.raises(SettingError, match=r"autoreset_mode=later.*allowed: NextStep, SameStep, Disabled"):
        gymnasium.make_vec(world_id("water"), num_envs=2, autoreset_mode="later")


@every_world
def test_settings_that_do_not_fit_are_refused(name):
    with pytest.raises(SettingError, match=r"as an object and as keywords \(fidelity\); give one"):
        load(name)(settings=load(name).Settings(), fidelity=load(name).fidelities()[0])
    with pytest.raises(SettingError, match=f"WorldSettings are not possible here; give {name.capitalize()}Settings"):
        load(name)(settings=WorldSettings(fidelity="fast"))


@every_world
def test_its_docstring_is_a_page(name):
    page = load(name).__doc__
    for part in ("## Actions", "## Observations", "## Reward", "## Start and end", "## Versions"):
        assert part in page


@every_world
@pytest.mark.parametrize("fidelity", ["no such", 3])
def test_an_unknown_fidelity_is_explained(name, fidelity):
    with pytest.raises(SandlotError, match=r"fidelity=.*allowed"):
        load(name)(fidelity=fidelity)


@every_world
def test_an_unknown_setting_is_explained(name):
    with pytest.raises(SandlotError, match="no setting 'fidelty'; did you mean 'fidelity'"):
        load(name)(fidelty="fast")


@every_world
def test_an_action_with_nan_is_refused(name):
    world = load(name)()
    wrong = as_controller(lambda _: np.full(world.action_space.shape, np.nan))
    with pytest.raises(SandlotError, match="are not finite"):
        list(rollout(world, wrong, 0, 1))


def test_an_unknown_controller_or_render_mode_is_explained():
    with pytest.raises(SandlotError, match="did you mean 'probabilistic'"):
        load("leveling")().controller("probabilistc")
    with pytest.raises(SandlotError, match="allowed: rgb_array, human"):
        load("leveling")(render_mode="ansi")
    with pytest.raises(SandlotError, match="did you mean 'leveling'"):
        load("levelling")


def test_the_entry_point_registers_and_may_do_so_again():
    (plugin,) = entry_points(group="gymnasium.envs", name="sandlot")
    assert plugin.load() is register
    register()
    for name in WORLDS:
        assert world_id(name) in gymnasium.registry
        assert gymnasium.make(f"sandlot:{world_id(name)}") is not None


@every_fidelity
def test_a_scene_has_the_same_names_all_the_time_and_describing_it_changes_nothing(name, fidelity):
    world, twin = make(name, fidelity, render_mode="rgb_array"), make(name, fidelity)
    names = []
    both = (rollout(each, each.controller("random"), 5, 10) for each in (world, twin))
    for drawn, other in zip(*both, strict=True):
        names.append([item.name for item in world.scene().items])
        np.testing.assert_array_equal(world.render(), picture(world.scene()))
        np.testing.assert_array_equal(drawn.observations, other.observations)
    assert len(set(names[0])) == len(names[0])
    assert all(set(each) == set(names[0]) for each in names)


@every_fidelity
def test_gymnasium_records_a_video(name, fidelity, tmp_path):
    """One second of the video is one second of the world, except in the leveling world, where time is chosen."""
    world = make(name, fidelity, render_mode="rgb_array")
    steps = world.metadata["render_fps"]
    env = RecordVideo(world, str(tmp_path / "videos"), disable_logger=True)
    env.reset(seed=1)
    before = float(world.frame()["time"])
    for _ in range(3):
        env.step(env.action_space.sample())
    if name != "leveling":
        assert float(world.frame()["time"]) - before == pytest.approx(3.0 / steps)
    env.close()
    (file,) = tmp_path.glob("videos/*.mp4")
    reader = imageio_ffmpeg.read_frames(str(file))
    about = next(reader)
    assert about["size"] == world.render().shape[1::-1]
    assert about["fps"] == pytest.approx(steps, abs=0.01)
    reader.close()


@every_fidelity
def test_pictures_have_caption_and_legend_and_even_sides(name, fidelity):
    world = make(name, fidelity, render_mode="rgb_array")
    world.reset(seed=1)
    scene = world.scene()
    assert scene.caption
    assert len(dict(scene.legend)) == len(scene.legend) >= 3
    rows, columns, _ = world.render().shape
    assert rows % 2 == columns % 2 == 0


@every_fidelity
def test_no_later_step_changes_a_scene(name, fidelity):
    world = make(name, fidelity)
    steps = rollout(world, world.controller("random"), 5, 10)
    next(steps)
    scene = world.scene()
    before = from_above(scene)
    for _ in steps:
        pass
    np.testing.assert_array_equal(from_above(scene), before)


def test_a_gymnasium_id_in_place_of_a_name_is_explained():
    with pytest.raises(SandlotError, match=r"^no world 'sandlot/Water-v0'; for this Gymnasium id write 'water'$"):
        load("sandlot/Water-v0")
