"""Controllers that Stable-Baselines3 trains: what is kept, and what is refused."""

import numpy as np
import pytest
import safetensors

from sandlot.control.trained import TrainedController, choices_of, load_trained
from sandlot.errors import ModelError, SandlotError, SettingError
from sandlot.learning import reinforcement
from sandlot.learning.checkpoints import keep, resume
from sandlot.learning.reinforcement import net_of, train
from sandlot.learning.training_settings import RECIPES, Training, with_recipe
from sandlot.models.dense import forward, load_dense, make_dense
from sandlot.models.policies import KIND, settings_for
from sandlot.models.store import load_card
from sandlot.settings import build
from sandlot.worlds import load
from sandlot.worlds.gap import measure_gap
from sandlot.worlds.record import record_world

SMALL = {"members": 4, "horizon": 8, "batch": 16, "epochs": 1, "longest": 20, "layers": (8, 8), "begin": 0}


def small(**changes):
    return Training(**{**SMALL, "steps": 64, **changes})


@pytest.fixture(scope="module")
def swimmer(tmp_path_factory):
    """A controller after two updates."""
    out = tmp_path_factory.mktemp("trained") / "swimmer"
    train("water", small(), out, {"frame_skip": 2})
    return out


@pytest.mark.parametrize(
    ("world", "algorithm"),
    [("water", "ppo"), ("water", "sac"), ("avoid", "dqn"), ("avoid", "ppo"), ("leveling", "ppo")],
)
def test_the_kept_net_acts_as_the_library_does(world, algorithm):
    given = small(algorithm=algorithm, replay=1000)
    worlds = reinforcement._worlds(world, {"interface": "normalised"}, 4, 20)
    model = reinforcement._model(given, worlds)
    space = worlds.action_space
    mine = TrainedController(net_of(model), choices_of(space), space.shape == ())
    rows = np.random.default_rng(0).normal(size=(50, *worlds.observation_space.shape)).astype(np.float32)
    rows = np.clip(rows, worlds.observation_space.low, worlds.observation_space.high)
    theirs, _ = model.predict(rows, deterministic=True)
    np.testing.assert_allclose(mine.act(rows), theirs, atol=1e-5)
    worlds.close()


def test_a_trained_controller_is_recorded_and_its_gap_measured(swimmer, tmp_path):
    assert settings_for(str(swimmer), "water") == {"frame_skip": 2, "interface": "normalised"}
    assert load_card(swimmer).kind == KIND
    facts = record_world("water", tmp_path / "recording", 10, str(swimmer))
    assert facts["controller"] == str(swimmer)
    outcomes = measure_gap("water", str(swimmer), 1, 5)
    assert outcomes.fidelity.values.tolist() == ["fast", "reference"]


def test_the_net_is_kept_for_other_programs(swimmer):
    onnxruntime = pytest.importorskip("onnxruntime")
    graph = swimmer.with_name("swimmer.training") / "controller.onnx"
    net, _ = load_dense(swimmer, KIND)
    rows = np.random.default_rng(0).normal(size=(9, int(net.sizes[0])))
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    np.testing.assert_allclose(session.run(None, {"inputs": rows})[0], forward(net, rows), atol=1e-12)


def test_the_log_opens_in_tensorboard(swimmer):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

    (file,) = swimmer.with_name("swimmer.training").rglob("events.out.tfevents.*")
    tags = {value.tag for event in EventFileLoader(str(file)).Load() for value in event.summary.value}
    assert {"train/loss", "time/fps"} <= tags


def test_a_training_goes_on_where_it_was_interrupted(tmp_path):
    out, seen = tmp_path / "swimmer", []

    def interrupt(done, total):
        if done >= 100:
            raise KeyboardInterrupt

    given = small(steps=160, every=32)
    with pytest.raises(KeyboardInterrupt):
        train("water", given, out, progress=interrupt)
    assert not out.exists()
    with safetensors.safe_open(out.with_name("swimmer.training") / "checkpoint.safetensors", "numpy") as file:
        assert {name.split("/")[0] for name in file.keys()} == {"policy", "optimizer"}  # noqa: SIM118
    train("water", given, out, progress=lambda done, total: seen.append(done))
    assert seen[0] > 64
    assert seen[-1] == 160
    assert load_card(out).settings["steps"] >= 160


@pytest.mark.parametrize(("world", "algorithm"), [("water", "ppo"), ("water", "sac"), ("avoid", "dqn")])
def test_a_checkpoint_holds_weights_and_optimizers(world, algorithm, tmp_path):
    given, about = small(algorithm=algorithm, replay=1000), {"training": {}}
    worlds = [reinforcement._worlds(world, {"interface": "normalised"}, 4, 20) for _ in range(2)]
    first, second = (reinforcement._model(given.model_copy(update={"seed": k}), each) for k, each in enumerate(worlds))
    first.learn(64)
    keep(first, tmp_path / "file", about)
    assert resume(second, tmp_path / "file", about) == first.num_timesteps
    for mine, other in zip(first.policy.parameters(), second.policy.parameters(), strict=True):
        assert (mine == other).all()
    keep(second, tmp_path / "again", about)
    with (
        safetensors.safe_open(tmp_path / "file", "numpy") as a,
        safetensors.safe_open(tmp_path / "again", "numpy") as b,
    ):
        for name in a.keys():  # noqa: SIM118
            np.testing.assert_array_equal(a.get_tensor(name), b.get_tensor(name))


def test_checkpoints_of_others_and_damaged_ones_are_refused(tmp_path, swimmer):
    model = reinforcement._model(small(), reinforcement._worlds("water", {"interface": "normalised"}, 4, 20))
    keep(model, tmp_path / "file", {"training": {"rate": 1.0}})
    with pytest.raises(ModelError, match="another training"):
        resume(model, tmp_path / "file", {"training": {"rate": 2.0}})
    (tmp_path / "file").write_bytes(b"\x10" * 40)
    with pytest.raises(ModelError, match="damaged"):
        resume(model, tmp_path / "file", {"training": {}})


def test_what_does_not_fit_is_one_clear_line(swimmer, tmp_path):
    with pytest.raises(ModelError, match="trained in the world water, not in avoid"):
        record_world("avoid", tmp_path / "a", 5, str(swimmer))
    with pytest.raises(ModelError, match="interface=normalised"):
        load("water")().controller(str(swimmer))
    with pytest.raises(ModelError, match="gives"):
        record_world("water", tmp_path / "b", 5, str(swimmer), settings={"snake": {"links": 7}})
    with pytest.raises(SettingError, match="use ppo or dqn"):
        train("avoid", small(algorithm="sac"), tmp_path / "c")
    with pytest.raises(SettingError, match="dqn needs"):
        train("water", small(algorithm="dqn"), tmp_path / "c")
    controller = TrainedController(make_dense([np.full((2, 1), np.nan)], [np.zeros(1)], ["linear"]))
    with pytest.raises(SandlotError, match="NaN"):
        controller.act(np.ones((1, 2)))
    with pytest.raises(SandlotError, match="rows of 2 numbers"):
        controller.act(np.ones((1, 3)))


def test_a_controller_of_another_kind_is_not_taken(tmp_path, swimmer):
    world = load("water")(interface="normalised", frame_skip=2)
    assert isinstance(load_trained(swimmer, world.observation_space, world.action_space), TrainedController)
    with pytest.raises(ModelError, match="not a feed-forward"):
        load_dense(swimmer)


@pytest.mark.parametrize("world", RECIPES)
def test_recipes_are_settings_of_their_world_and_give_way(world):
    recipe, kind = RECIPES[world], load(world)
    build(kind.Settings, recipe.world)
    build(Training, recipe.training)
    assert with_recipe({"longest": 7}, recipe.training)["longest"] == 7
    if world == "indoor":
        build(kind.Settings, with_recipe({"robot": "tracked"}, recipe.world))
