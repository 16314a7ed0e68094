"""Controllers that a user names by where they are."""

import pytest

from sandlot.control.imported import import_controller
from sandlot.errors import ModelError
from sandlot.worlds.rollout import rollout
from sandlot.worlds.water.world import Water

SOURCE = """
from __future__ import annotations
from dataclasses import dataclass
import numpy as np
from sandlot.control.controller import Controller, as_controller

def still(observation):
    return np.zeros(5)

@dataclass
class Bend:
    angle: float = 0.1

class Bent(Controller):
    def __init__(self, world):
        self.joints = world.settings.snake.joints

    def reset(self, seeds, members=None):
        pass

    def act(self, observations, members=None):
        return np.full((len(observations), self.joints), Bend().angle)

class Simple(Bent):
    def __init__(self):
        self.joints = 5

ready = as_controller(still)
number = 3
"""


@pytest.fixture
def world(tmp_path, monkeypatch):
    (tmp_path / "own_controllers.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    return Water(snake={"links": 6})


@pytest.mark.parametrize("place", ["own_controllers", "own_controllers.py"])
@pytest.mark.parametrize(("name", "angle"), [("still", 0.0), ("Bent", 0.1), ("Simple", 0.1), ("ready", 0.0)])
def test_a_class_or_function_controls_a_world(world, place, name, angle):
    *_, last = rollout(world, world.controller(f"{place}:{name}"), 1, 3)
    assert last.actions.tolist() == [[angle] * 5]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_such_module:a", "No module named 'no_such_module'"),
        ("no_such_file.py:a", "No such file"),
        ("own_controllers:bent", "has no attribute 'bent'"),
        ("own_controllers:number", "is not a controller: name a subclass of Controller"),
        ("own_controllers:Controller", "abstract"),
    ],
)
def test_mistakes_get_one_line(world, name, message):
    with pytest.raises(ModelError, match=message) as caught:
        import_controller(name, world)
    assert "\n" not in str(caught.value)
