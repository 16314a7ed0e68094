import json
import tomllib

import numpy as np
import pytest

from sandlot.control.snake.files import load_controller, net_card, net_text, save_controller
from sandlot.control.snake.gaits import Gait, GaitController
from sandlot.control.snake.nets import NetController, make_net, to_card
from sandlot.errors import ModelError, SandlotError
from sandlot.models.store import load_card, text
from sandlot.robots.snake import Snake

SNAKE = Snake(links=4, mass=75.0)
GAIT = Gait(amplitude=(0.1, 0.25, 1 / 3), frequency=2.0, phase=-0.68, veer=1e-7)
NET = make_net(3, 0.63, [3, 4, 5], [0, 1, 2], [1.5, -20.0, 1 / 3], np.zeros(4), np.ones(4))


def test_a_gait_is_the_same_after_saving_and_loading(tmp_path):
    file = tmp_path / "swimmer.toml"
    save_controller(file, GAIT, SNAKE, "slow")
    loaded = load_controller(file, SNAKE)
    assert isinstance(loaded, GaitController)
    assert loaded.gait == GAIT
    assert tomllib.loads(file.read_text())["links"] == 4
    card = load_card(file)
    assert (card.kind, card.description, card.settings["veer"]) == ("gait", "slow", 1e-7)


def test_a_net_is_the_same_after_saving_and_loading(tmp_path):
    file = tmp_path / "swimmer.json"
    save_controller(file, NET, SNAKE)
    loaded = load_controller(file, SNAKE)
    assert isinstance(loaded, NetController)
    assert to_card(loaded.net) == to_card(NET)
    assert '    {"source": "clock", "target": "joint 0", "weight": 1.5},\n' in file.read_text()


@pytest.mark.parametrize("controller", [GAIT, NET])
def test_a_controller_may_be_the_directory_of_a_model(tmp_path, controller):
    save_controller(tmp_path / "swimmer", controller, SNAKE, "slow")
    loaded = load_controller(tmp_path / "swimmer", SNAKE)
    assert (loaded.gait == GAIT) if controller is GAIT else (to_card(loaded.net) == to_card(NET))
    assert load_card(tmp_path / "swimmer").description == "slow"
    (tmp_path / "swimmer" / "arrays.safetensors").write_bytes(b"other")
    with pytest.raises(ModelError, match="is damaged"):
        load_controller(tmp_path / "swimmer", SNAKE)


@pytest.mark.parametrize(("name", "controller"), [("swimmer.toml", GAIT), ("swimmer.json", NET)])
def test_a_file_for_another_body_is_refused(tmp_path, name, controller):
    file = tmp_path / name
    save_controller(file, controller, SNAKE)
    with pytest.raises(ModelError) as error:
        load_controller(file, Snake())
    assert str(error.value) == (
        f"{file}: the controller is for a body of 4 links and 3 joints; this body has 17 links and 16 joints"
    )


def test_a_controller_for_another_body_is_not_saved(tmp_path):
    for name, controller in (("a.toml", GAIT), ("a.json", NET)):
        with pytest.raises(SandlotError, match="3"):
            save_controller(tmp_path / name, controller, Snake())
        assert not (tmp_path / name).exists()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", "{", "a.json: a.json is not JSON: "),
        ("a.json", "[]", "a.json should hold a table of names and values"),
        ("a.json", "{}", "a.json: kind is missing"),
        ("a.json", '{"kind": "sensor"}', "a.json: kind=sensor is not possible for a snake; allowed: gait, net"),
        ("a.json", '{"kind": "net", "links": 4}', "a.json: joints is missing"),
        ("a.toml", "kind = ", "a.toml: a.toml is not TOML: "),
        ("a.toml", 'kind = "gate"', "a.toml: kind=gate: no such kind of model; did you mean 'gait'?"),
        ("a.toml", 'kind = "gait"\nlinks = 4', "a.toml: joints is missing: a controller says which body it is for"),
        ("a.toml", 'kind = "gait"\njoints = 3', "a.toml: links is missing: a controller says which body it is for"),
        ("a.toml", 'kind = "gait"\nlinks = 4\njoints = 3\namplitud = 1', "did you mean 'amplitude'"),
        ("a.toml", 'kind = "gait"\nlinks = 4\njoints = 3\namplitude = [1, 2]', "amplitude has 2 values"),
        ("a.txt", "", "a.txt is not a model; a model is a directory, or a .toml or .json file"),
    ],
)
def test_a_broken_file_gets_one_line(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(ModelError) as error:
        load_controller(tmp_path / name, SNAKE)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_file_is_named(tmp_path):
    for name in ("none.toml", "none.json"):
        with pytest.raises(ModelError, match=f"{name}: No such file"):
            load_controller(tmp_path / name, SNAKE)


def test_the_suffix_of_a_file_must_fit_its_kind(tmp_path):
    with pytest.raises(SandlotError, match=r"ends in \.toml, not as swimmer\.json"):
        save_controller(tmp_path / "swimmer.json", GAIT, SNAKE)
    with pytest.raises(ModelError, match=r"ends in \.json, not as swimmer\.toml"):
        save_controller(tmp_path / "swimmer.toml", NET, SNAKE)
    (tmp_path / "file").touch()
    with pytest.raises(ModelError, match=r"cannot write .*swimmer\.json: Not a directory"):
        save_controller(tmp_path / "file" / "swimmer.json", NET, SNAKE)


def test_a_gait_may_be_written_in_json_and_a_net_in_toml(tmp_path):
    (tmp_path / "a.json").write_text('{"kind": "gait", "links": 4, "joints": 3, "amplitude": 0.5}')
    assert load_controller(tmp_path / "a.json", SNAKE).gait == Gait(amplitude=0.5)
    (tmp_path / "a.toml").write_text(text(net_card(to_card(NET)), ".toml"))
    assert to_card(load_controller(tmp_path / "a.toml", SNAKE).net) == to_card(NET)


def test_the_text_of_a_net_does_not_depend_on_the_version(tmp_path):
    assert net_text(to_card(NET)).startswith('{\n  "kind": "net",\n  "links": 4,\n  "joints": 3,\n')
    (tmp_path / "a.json").write_text(net_text(to_card(NET)))
    assert to_card(load_controller(tmp_path / "a.json", SNAKE).net) == to_card(NET)


def test_nan_is_refused(tmp_path):
    file = tmp_path / "swimmer.json"
    card = to_card(NET).model_dump(mode="json") | {"frequency": float("nan")}
    file.write_text(json.dumps(card))
    with pytest.raises(ModelError, match="has NaN, infinity"):
        load_controller(file, SNAKE)
