"""The command ``fit``: what it says for people and programs, what it keeps, and how it takes a mistake."""

import json
import re
import sys

import numpy as np
import pytest
from numba import config
from PIL import Image

from sandlot import recordings
from sandlot.cli import main
from sandlot.surrogates.files import KINDS, load
from sandlot.surrogates.sensor_models import assess
from sandlot.surrogates.sensorgraph import Sensorgraph
from sandlot.worlds.record import record_world

SCANS = 20 if config.DISABLE_JIT else 120


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Two recordings, one of another laser, and one without any."""
    folder = tmp_path_factory.mktemp("recordings")
    for seed, name in enumerate(("a", "b")):
        record_world("indoor", folder / name, SCANS - 1, None, seed, {"laser": {"beams": 36}})
    record_world("indoor", folder / "narrow", 5, None, 0, {"laser": {"beams": 18}})
    record_world("indoor", folder / "single", 5, None, 0, {"laser": {"beams": 1}})
    record_world("leveling", folder / "sand", 2, None, 0, {"shape": (6, 6), "agents": 1})
    return folder


@pytest.fixture
def fit(monkeypatch, capsys, tmp_path, logs):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    for each in logs.iterdir():
        (tmp_path / each.name).symlink_to(each)

    def call(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["sandlot", *map(str, words)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = (re.sub(r"\x1b\[[0-9;]*m", "", text) for text in capsys.readouterr())
        return ended.value.code or 0, out, err

    return call


def graph(path):
    with recordings.open(path) as recording:
        return Sensorgraph.of(recording)


@pytest.mark.parametrize("kind", KINDS)
def test_it_tells_how_wrong_the_model_is_and_keeps_one_fitted_to_all(fit, tmp_path, kind):
    status, out, err = fit("fit", "sensor", "a", "b", "--out", "models/m.json", "--kind", kind, "--json")
    assert status == 0, err
    facts = json.loads(out)
    both = [graph(tmp_path / name) for name in "ab"]
    errors = assess(KINDS[kind](), both, 0.2)
    np.testing.assert_allclose(facts["errors"], errors)
    assert facts["error"] == pytest.approx(errors.mean())
    assert (facts["scans"], facts["held_out"], facts["beams"]) == (2 * SCANS, 2 * SCANS // 5, 36)
    assert (facts["kind"], facts["recordings"], facts["model"]) == (kind, ["a", "b"], "models/m.json")
    assert facts["thin"] == Sensorgraph.join(both).thin()
    kept, again = load(tmp_path / "models/m.json"), KINDS[kind]().fit(Sensorgraph.join(both))
    np.testing.assert_array_equal(kept.predict(both[0].poses), again.predict(both[0].poses))
    assert facts["size"] == kept.size
    assert facts["equation"] == again.equation()


def test_it_speaks_to_people_and_the_model_can_be_used(fit, tmp_path):
    status, out, err = fit("fit", "sensor", "a", "--out", "m.json", "--kind", "headings", "--figure", "seen.png")
    assert status == 0, err
    assert "2/2" in err, "a bar on standard error"
    lines = out.splitlines()
    assert lines[0] == f"{SCANS} scans of 36 beams in 1 recording"
    assert [line for line in lines if line.startswith("warning: few scans around ")] == [
        f"warning: {line}" for line in graph(tmp_path / "a").thin()
    ]
    assert f"Mean absolute error on the {SCANS // 5} scans at the end, fitted without them:" in out
    rows = [line.split() for line in lines if re.match(r" +(\d|all) ", line)]
    errors = assess(KINDS["headings"](), [graph(tmp_path / "a")], 0.2)
    assert [row[:3] for row in rows[:6]] == [[str(k), str(30 * k - 90), str(30 * k - 60)] for k in range(6)]
    assert [row[-1] for row in rows] == [f"{error:.4f}" for error in (*errors, errors.mean())]
    assert re.search(r"a headings model of \d+ coefficients; one of its equations:\n  range = \S+ ", out)
    assert max(len(line) for line in lines) < 240
    assert "Figure: seen.png\nModel: m.json\n" in out
    width, height = Image.open(tmp_path / "seen.png").size
    assert width > 3 * height
    *_, use = lines
    status, _, err = fit(*use.removeprefix("Use it: sandlot ").split(), "--steps", 3)
    assert status == 0, err


def test_a_local_model_says_what_its_equations_are_of(fit):
    _, out, _ = fit("fit", "sensor", "a", "--out", "m.json", "--holdout", 0)
    assert "Mean absolute error" not in out
    assert "(of turn, across and along, as shares of a cell; ahead is how far along the ray from its middle [m])" in out


@pytest.mark.parametrize(
    ("form", "suffix", "word"), [("python", "py", "def "), ("c", "c", "double "), ("text", "txt", "")]
)
def test_equations_are_written_beside_the_model(fit, tmp_path, form, suffix, word):
    words = ["--out", "x/m.json", "--kind", "sectors", "--equations", form, "--json"]
    status, out, err = fit("fit", "sensor", "a", *words)
    assert status == 0, err
    assert json.loads(out)["equations"] == f"x/m.{suffix}"
    assert f"{word}heading_11_segment_5" in (tmp_path / f"x/m.{suffix}").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing", "--out", "m.json"], "there is no recording at nothing"),
        (["sand", "--out", "m.json"], "sand: the recording has no bearings, heading, position, ranges; a sensorgraph"),
        (["single", "--out", "m.json"], "a scan has 1 of the 6 beams that 6 segments need at least"),
        (["a", "narrow", "--out", "m.json"], "different lasers, of 36 and 18 beams"),
        (["narrow", "--out", "m.json", "--holdout", "0.01"], "6 scans are too few to hold out 0.01 of them"),
        (["a", "--out", "m.json", "--holdout", "1"], "--holdout"),
        (["a", "--out", "m.json", "--kind", "lokal"], "'lokal' is not one of"),
        (["a", "--out", "m.json", "--equations", "c"], "too many equations to print, of turn, across and along"),
        (["a", "--out", "model"], "model should end in .json"),
        (["a"], "--out"),
        (["--out", "m.json"], "RECORDING"),
        (["a", "--out", "here.json"], "here.json already exists; choose another path or remove it first"),
        (["a", "--out", "eq.json", "--kind", "sectors", "--equations", "python"], "eq.py already exists"),
    ],
)
def test_a_mistake_gets_one_clear_line(fit, tmp_path, words, said):
    for name in ("here.json", "eq.py"):
        (tmp_path / name).write_text("mine")
    before = sorted(tmp_path.iterdir())
    status, out, err = fit("fit", "sensor", *words)
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1, err
    assert err.startswith("error: ")
    assert said in err
    assert sorted(tmp_path.iterdir()) == before, "a mistake leaves nothing behind"
    assert (tmp_path / "here.json").read_text() == "mine"


def test_a_figure_that_cannot_be_written_is_explained(fit, tmp_path):
    words = ["fit", "sensor", "a", "--out", "m.json", "--kind", "headings", "--holdout", 0, "--figure", "no/where.png"]
    status, out, err = fit(*words)
    assert (status, out) == (2, "")
    assert err.splitlines()[-1].startswith("error: cannot write no/where.png")
    assert not (tmp_path / "m.json").exists()


def test_what_can_be_fitted_is_listed(fit):
    assert "sensor" in fit("fit", "--help")[1]
    status, out, _ = fit("fit", "sensor", "--help")
    assert status == 0
    for option in ("--out", "--kind", "--holdout", "--equations", "--figure", "--json"):
        assert option in out
    for words, said in ((["fit"], "Missing command"), (["fit", "senser"], "sensor")):
        status, _, err = fit(*words)
        assert status == 2
        assert len(err.splitlines()) == 1
        assert said in err
