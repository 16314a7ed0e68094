"""The command ``models``: lists models, explains one, and takes damaged ones well."""

import json
import re
import sys

import numpy as np
import pytest

from sandlot.cli import main
from sandlot.models.card import Card, TrainingData
from sandlot.models.store import save

SENSOR = Card(
    kind="sensor",
    description="laser of the arena",
    trained_on=(TrainingData(path="recordings/a", digest="abc123", frames=1400),),
    errors={"mean absolute error [m]": 0.125},
    valid_ranges={"x [m]": (-1.5, 2.0)},
    settings={"segments": 6, "names": [*"abcdefghij"]},
)


@pytest.fixture
def models(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["sandlot", "models", *map(str, words)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = (re.sub(r"\x1b\[[0-9;]*m", "", text) for text in capsys.readouterr())
        return ended.value.code or 0, out, err

    return call


@pytest.fixture
def kept(models, tmp_path):
    save(tmp_path / "models" / "arena", SENSOR, {"weights": np.zeros((2, 3))})
    save(tmp_path / "runs" / "water.evolve" / "best.toml", Card(kind="gait", settings={"amplitude": 0.5}))
    return tmp_path


def test_models_and_runs_are_listed(models, kept):
    status, out, err = models()
    assert (status, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert lines[0] == ["model", "kind", "size", "description"]
    assert (lines[1][:2], lines[1][-4:]) == (["models/arena", "sensor"], ["laser", "of", "the", "arena"])
    assert lines[2][:2] == ["runs/water.evolve/best.toml", "gait"]
    status, out, _ = models("--json")
    rows = json.loads(out)
    assert [(row["path"], row["kind"], row["error"]) for row in rows] == [
        ("models/arena", "sensor", None),
        ("runs/water.evolve/best.toml", "gait", None),
    ]
    assert rows[0]["bytes"] == sum(each.stat().st_size for each in (kept / "models" / "arena").iterdir())


def test_other_places_can_be_searched(models, kept):
    assert [row["kind"] for row in json.loads(models("runs", "--json")[1])] == ["gait"]
    both = json.loads(models("models", "runs/water.evolve/best.toml", "--json")[1])
    assert [row["kind"] for row in both] == ["gait", "sensor"]


def test_one_model_is_explained(models, kept):
    status, out, err = models("models/arena")
    assert (status, err) == (0, "")
    for line in (
        "models/arena: sensor model: laser ranges from the pose, ",
        "laser of the arena\n",
        "trained on\n  recordings/a: 1,400 frames, abc123\n",
        "errors\n  mean absolute error [m]: 0.125\n",
        "valid for\n  x [m]: -1.5 to 2\n",
        "settings\n  segments: 6\n  names: 10 entries\n",
        "arrays\n  weights: float64 (2, 3)\n",
        f"written by\n  Sandlot {SENSOR.sandlot_version}, format 1\n",
    ):
        assert line in out
    facts = json.loads(models("models/arena", "--json")[1])
    assert facts["arrays"] == {"weights": {"shape": [2, 3], "dtype": "float64"}}
    assert facts["trained_on"] == [{"path": "recordings/a", "digest": "abc123", "frames": 1400}]


def test_a_gait_is_explained_too(models, kept):
    status, out, _ = models("runs/water.evolve/best.toml")
    assert status == 0
    assert "gait of a swimming snake" in out
    assert "amplitude: 0.5" in out


def test_a_damaged_model_is_listed_with_its_error(models, kept):
    (kept / "models" / "arena" / "card.json").write_text("{")
    status, out, _ = models()
    assert status == 0
    assert "card.json is not JSON" in out
    rows = json.loads(models("--json")[1])
    assert (rows[0]["kind"], rows[1]["error"]) == (None, None)
    assert "card.json is not JSON" in rows[0]["error"]
    status, out, err = models("models/arena")
    assert (status, out) == (2, "")
    assert err.startswith("error: models/arena: card.json is not JSON")
    assert len(err.splitlines()) == 1


def test_without_models_it_says_how_to_make_one(models, tmp_path):
    assert models()[:2] == (0, "no models in models or runs; sandlot fit sensor makes one\n")
    assert json.loads(models("--json")[1]) == []
    (tmp_path / "empty").mkdir()
    assert "no models in empty" in models("empty")[1]


def test_a_path_that_does_not_exist_is_named(models):
    status, out, err = models("nothing")
    assert (status, out) == (2, "")
    assert err == "error: there is no nothing; give a model, or a directory to search\n"
