import json
import tomllib

import numpy as np
import pytest

from sandlot.control.snake.files import GaitController, load_controller, save_controller
from sandlot.control.snake.gaits import Gait
from sandlot.control.snake.nets import NetController, make_net, to_card
from sandlot.errors import SandlotError
from sandlot.robots.snake import Snake

SNAKE = Snake(links=4, mass=75.0)
GAIT = Gait(amplitude=(0.1, 0.25, 1 / 3), frequency=2.0, phase=-0.68, veer=1e-7)
NET = make_net(3, 0.63, [3, 4, 5], [0, 1, 2], [1.5, -20.0, 1 / 3], np.zeros(4), np.ones(4))


def test_a_gait_comes_back_as_it_was(tmp_path):
    file = tmp_path / "swimmer.toml"
    save_controller(file, GAIT, SNAKE)
    loaded = load_controller(file, SNAKE)
    assert isinstance(loaded, GaitController)
    assert loaded.gait == GAIT
    assert tomllib.loads(file.read_text())["links"] == 4


def test_a_net_comes_back_as_it_was(tmp_path):
    file = tmp_path / "swimmer.json"
    save_controller(file, NET, SNAKE)
    loaded = load_controller(file, SNAKE)
    assert isinstance(loaded, NetController)
    assert to_card(loaded.net) == to_card(NET)
    assert '    {"source": "clock", "target": "joint 0", "weight": 1.5},\n' in file.read_text()


def test_a_gait_says_where_to_be_at_the_next_command():
    observation = np.zeros(14)
    observation[0] = 1.0
    action = GaitController(GAIT, SNAKE)(observation)
    np.testing.assert_allclose(action, GAIT.targets(1.02, 3), atol=1e-12)
    wide = GaitController(Gait(veer=9.0), SNAKE)(observation)
    assert np.array_equal(wide, np.full(3, SNAKE.max_angle))


@pytest.mark.parametrize(("name", "controller"), [("swimmer.toml", GAIT), ("swimmer.json", NET)])
def test_a_file_for_another_body_is_refused(tmp_path, name, controller):
    file = tmp_path / name
    save_controller(file, controller, SNAKE)
    with pytest.raises(SandlotError) as error:
        load_controller(file, Snake())
    assert str(error.value) == (
        f"{file}: a controller for a body of 4 links and 3 joints; this body has 17 links and 16 joints"
    )


def test_a_controller_for_another_body_is_not_saved(tmp_path):
    for name, controller in (("a.toml", GAIT), ("a.json", NET)):
        with pytest.raises(SandlotError, match="3"):
            save_controller(tmp_path / name, controller, Snake())
        assert not (tmp_path / name).exists()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", "{", "a.json is not JSON: "),
        ("a.json", "[]", "a.json: a net is a table with kind, links, joints"),
        ("a.json", '{"kind": "gait"}', "a.json: kind=gait is not possible"),
        ("a.json", '{"kind": "net", "links": 4}', "a.json: joints is missing"),
        ("a.toml", "kind = ", "a.toml is not TOML: "),
        ("a.toml", 'kind = "net"', 'a.toml: kind=net is not possible; allowed: only "gait"'),
        ("a.toml", 'kind = "gait"\nlinks = 4', "a.toml: joints is missing: a controller says for which body"),
        ("a.toml", 'kind = "gait"\njoints = 3', "a.toml: links is missing: a controller says for which body it is"),
        ("a.toml", 'kind = "gait"\nlinks = 4\njoints = 3\namplitud = 1', "did you mean 'amplitude'"),
        ("a.toml", 'kind = "gait"\nlinks = 4\njoints = 3\namplitude = [1, 2]', "amplitude has 2 values"),
        ("a.txt", "", "a gait ends in .toml, a net in .json"),
    ],
)
def test_a_broken_file_gets_one_line(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(SandlotError) as error:
        load_controller(tmp_path / name, SNAKE)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_file_is_named(tmp_path):
    for name in ("none.toml", "none.json"):
        with pytest.raises(SandlotError, match=f"{name}: No such file"):
            load_controller(tmp_path / name, SNAKE)


def test_a_file_must_end_as_its_kind_does(tmp_path):
    with pytest.raises(SandlotError, match=r"ends in \.toml, not as swimmer\.json"):
        save_controller(tmp_path / "swimmer.json", GAIT, SNAKE)
    with pytest.raises(SandlotError, match=r"ends in \.json, not as swimmer\.toml"):
        save_controller(tmp_path / "swimmer.toml", NET, SNAKE)
    with pytest.raises(SandlotError, match="cannot write a controller"):
        save_controller(tmp_path / "nowhere" / "swimmer.json", NET, SNAKE)


def test_numbers_that_are_none_are_refused(tmp_path):
    file = tmp_path / "swimmer.json"
    card = to_card(NET).model_dump(mode="json") | {"frequency": float("nan")}
    file.write_text(json.dumps(card))
    with pytest.raises(SandlotError, match="frequency=nan is not possible"):
        load_controller(file, SNAKE)
