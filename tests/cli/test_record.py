"""The commands ``record`` and ``gap``."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from commands import assert_one_clear_line
from sandlot import recordings
from sandlot.robots.swimmers import Swimmers
from sandlot.worlds.water.world import Water


def test_record_says_where_its_settings_are_listed(sandlot_):
    assert "sandlot worlds WORLD" in sandlot_("record", "--help").out


def files(directory: Path) -> dict[str, str]:
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in directory.rglob("*")
        if path.is_file()
    }


def test_record(sandlot_, tmp_path):
    wanted = ["record", "leveling", "--controller", "memetic", "--steps", 30, "--seed", 4, "--set", "agents=3"]
    facts = sandlot_(*wanted, "--json").json()
    assert facts == {
        "world": "leveling",
        "controller": "memetic",
        "seed": 4,
        "steps": 30,
        "episodes": 1,
        "exploded": 0,
        "frames": 31,
        "recording": "recordings/leveling",
    }
    with recordings.open(tmp_path / "recordings/leveling") as recording:
        assert recording.sizes["time"] == 31
        assert recording.sizes["agent"] == 3
        assert recording.attrs["seed"] == 4
        assert recordings.settings(recording)["agents"] == 3
        assert recording["cell_heights"].attrs["units"] == "unit"
        first = recording.load()

    before = files(tmp_path)
    assert_one_clear_line(sandlot_(*wanted), "recordings/leveling", "already exists")
    assert files(tmp_path) == before

    said = sandlot_(*wanted, "--out", "second")
    assert (said.status, "second" in said.out, "31 frames" in said.out) == (0, True, True)
    with recordings.open(tmp_path / "second") as second:
        np.testing.assert_array_equal(second["cell_heights"], first["cell_heights"])
        np.testing.assert_array_equal(second["action"], first["action"])


def test_record_tells_of_explosions(sandlot_, tmp_path, monkeypatch):
    wanted = ["record", "water", "--controller", "swim", "--steps", 7, "--seed", 5, "--set", "snake.links=4"]
    assert "exploded" not in sandlot_(*wanted, "--out", "sound").out
    monkeypatch.setattr(Swimmers, "exploded", property(lambda self: self.time > 0.05))
    said = sandlot_(*wanted)
    assert said.status == 0
    assert "2 of 3 episodes exploded" in said.out
    assert "seed 5" in said.out
    assert "snake.links=4" in said.out
    assert "fidelity=" in said.out
    facts = sandlot_(*wanted, "--out", "again", "--json").json()
    assert (facts["episodes"], facts["exploded"], facts["seed"]) == (3, 2, 5)


def test_record_takes_settings_from_a_file(sandlot_, tmp_path):
    (tmp_path / "world.toml").write_text("shape = [6, 7]\nagents = 2\n")
    said = sandlot_("record", "leveling", "--settings", "world.toml", "--set", "agents=1", "--steps", 2)
    assert said.status == 0
    with recordings.open(tmp_path / "recordings/leveling") as recording:
        assert recording["cell_heights"].shape == (3, 6, 7)
        assert recording.sizes["agent"] == 1


GAIT = """
kind = "gait"
links = 6
joints = 5
amplitude = 0.5
frequency = 1.5
phase = 0.8
"""


def test_record_and_gap_take_controllers_from_files(sandlot_, tmp_path):
    (tmp_path / "gait.toml").write_text(GAIT)
    body = ["--set", "snake.links=6", "--steps", 60, "--controller", "gait.toml"]
    assert sandlot_("record", "water", *body, "--json").json()["controller"] == "gait.toml"
    said = sandlot_("gap", "water", *body, "--episodes", 2, "--json").json()
    assert said["fidelities"] == ["fast", "reference"]
    rows = {row["outcome"]: row for row in said["gaps"]}
    distance = rows["distance"]
    assert (distance["units"], distance["fidelity"], distance["better_fidelity"]) == ("m", "fast", "reference")
    assert distance["gap"] == pytest.approx(distance["better"] - distance["mean"])
    assert distance["episodes"] == 2
    assert rows["reach_time"]["gap"] is None
    assert np.shape(said["outcomes"]["speed"]) == (2, 2)

    shown = sandlot_("gap", "water", *body, "--episodes", 2)
    assert shown.status == 0
    assert "240/240" in shown.err
    line = next(line.split() for line in shown.out.splitlines() if line.startswith("distance"))
    assert line[:3] == ["distance", "m", f"{distance['mean']:.4g}"]
    assert_one_clear_line(
        sandlot_("record", "water", "--controller", "gait.toml", "--out", "other"), "6 links", "17 links"
    )
    assert not (tmp_path / "other").exists()


def test_gap_names_what_exploded(sandlot_, monkeypatch):
    monkeypatch.setattr(Water, "exploded", property(lambda self: self.settings.fidelity == "reference"))
    said = sandlot_("gap", "water", "--set", "snake.links=6", "--controller", "swim", "--steps", 5, "--episodes", 2)
    assert said.status == 0
    assert "2 of 2 simulations at reference exploded and are not counted: seeds " in said.out
    assert "snake.links=6" in said.out
