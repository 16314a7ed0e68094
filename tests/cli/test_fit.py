"""The command ``fit``: its output for people and programs, the saved model, and its error messages."""

import json
import re
import sys

import numpy as np
import pytest
from numba import config
from PIL import Image

from sandlot import recordings
from sandlot.cli import main
from sandlot.models.store import load_card
from sandlot.recordings.digests import digest
from sandlot.recordings.vocabulary import quantity
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
def test_it_reports_the_error_and_saves_a_model_fitted_to_all_scans(fit, tmp_path, kind):
    status, out, err = fit("fit", "sensor", "a", "b", "--out", "models/m", "--kind", kind, "--json")
    assert status == 0, err
    facts = json.loads(out)
    both = [graph(tmp_path / name) for name in "ab"]
    errors = assess(KINDS[kind](), both, 0.2)
    np.testing.assert_allclose(facts["errors"], errors)
    assert facts["error"] == pytest.approx(errors.mean())
    assert (facts["scans"], facts["held_out"], facts["beams"]) == (2 * SCANS, 2 * SCANS // 5, 36)
    assert (facts["kind"], facts["model"]) == (kind, "models/m")
    assert [each["path"] for each in facts["recordings"]] == ["a", "b"]
    card = load_card(tmp_path / "models/m")
    assert [each.model_dump() for each in card.trained_on] == facts["recordings"]
    for each in card.trained_on:
        with recordings.open(tmp_path / each.path) as recording:
            assert (each.digest, each.frames) == (digest(recording), SCANS)
    assert card.errors["mean absolute error on held-out scans [m]"] == pytest.approx(facts["error"])
    positions = np.concatenate([log.poses[:, 0] for log in both])
    assert card.valid_ranges["x [m]"] == (positions.min(), positions.max())
    assert facts["thin"] == Sensorgraph.join(both).thin()
    kept, again = load(tmp_path / "models/m"), KINDS[kind]().fit(Sensorgraph.join(both))
    np.testing.assert_array_equal(kept.predict(both[0].poses), again.predict(both[0].poses))
    assert (facts["size"], facts["polynomials"]) == (kept.size, kept.polynomials)
    if kind != "local":
        assert facts["polynomials"] == {"sectors": 72, "headings": 6}[kind]
    assert facts["equation"] == again.equation()


def test_it_prints_a_summary_and_the_model_can_be_used(fit, tmp_path):
    status, out, err = fit("fit", "sensor", "a", "--out", "m", "--kind", "headings", "--figure", "seen.png")
    assert status == 0, err
    assert "2/2" in err, "a bar on standard error"
    lines = out.splitlines()
    assert lines[0] == f"{SCANS} scans of 36 beams in 1 recording"
    assert [line for line in lines if line.startswith("warning: few scans around ")] == [
        f"warning: {line}" for line in graph(tmp_path / "a").thin()
    ]
    assert f"Mean absolute error on the last {SCANS // 5} scans, which were held out:" in out
    rows = [line.split() for line in lines if re.match(r" +(\d|all) ", line)]
    errors = assess(KINDS["headings"](), [graph(tmp_path / "a")], 0.2)
    assert [row[:3] for row in rows[:6]] == [[str(k), str(30 * k - 90), str(30 * k - 60)] for k in range(6)]
    assert [row[-1] for row in rows] == [f"{error:.4f}" for error in (*errors, errors.mean())]
    assert re.search(r"a headings model, 6 polynomials with \d+ coefficients; one of them:\n  range = \S+ ", out)
    assert max(len(line) for line in lines) < 240
    assert "Figure: seen.png\nModel: m\n" in out
    width, height = Image.open(tmp_path / "seen.png").size
    assert width > 3 * height
    *_, use = lines
    status, _, err = fit(*use.removeprefix("Use it: sandlot ").split(), "--steps", 3)
    assert status == 0, err


def test_the_default_model_says_that_others_can_be_read_and_gives_the_units_of_an_equation(fit):
    _, out, _ = fit("fit", "sensor", "a", "--out", "m", "--holdout", 0)
    assert re.search(r"a local model, [\d,]+ polynomials with [\d,]+ coefficients; one of them:", out)
    assert "--kind sectors gives 72 short polynomials, --kind headings 6 long ones" in out
    assert "Mean absolute error" not in out
    assert (
        "(turn, across and along in units of a cell; ahead: distance along the ray from the cell's centre [m])" in out
    )


@pytest.mark.parametrize(
    ("form", "suffix", "word"), [("python", "py", "def "), ("c", "c", "double "), ("text", "txt", "")]
)
def test_equations_are_written_beside_the_model(fit, tmp_path, form, suffix, word):
    words = ["--out", "x/m", "--kind", "sectors", "--equations", form, "--json"]
    status, out, err = fit("fit", "sensor", "a", *words)
    assert status == 0, err
    assert json.loads(out)["equations"] == f"x/m.{suffix}"
    assert f"{word}sector_11_segment_5" in (tmp_path / f"x/m.{suffix}").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing", "--out", "m"], "there is no recording at nothing"),
        (["sand", "--out", "m"], "sand: the recording has no bearings, ranges, x, y, yaw; a sensor model needs"),
        (["single", "--out", "m"], "a scan has 1 beams; 6 segments need at least 6"),
        (["a", "narrow", "--out", "m"], "different lasers: 36 beams from"),
        (["narrow", "--out", "m", "--holdout", "0.01"], "6 scans are too few to hold out 0.01 of them"),
        (["a", "--out", "m", "--holdout", "1"], "--holdout"),
        (["a", "--out", "m", "--kind", "lokal"], "'lokal' is not one of"),
        (["a", "--out", "m", "--equations", "c"], "too many equations to print, one for each of its cells"),
        (["a", "--out", "model.json"], "model.json: a sensor model is a directory; leave out .json"),
        (["a"], "--out"),
        (["--out", "m"], "RECORDING"),
        (["a", "--out", "here"], "here already exists; choose another path or remove it first"),
        (["a", "--out", "eq", "--kind", "sectors", "--equations", "python"], "eq.py already exists"),
    ],
)
def test_a_mistake_gets_one_clear_line(fit, tmp_path, words, said):
    for name in ("here", "eq.py"):
        (tmp_path / name).write_text("mine")
    before = sorted(tmp_path.iterdir())
    status, out, err = fit("fit", "sensor", *words)
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1, err
    assert err.startswith("error: ")
    assert said in err
    assert sorted(tmp_path.iterdir()) == before, "a mistake leaves nothing behind"
    assert (tmp_path / "here").read_text() == "mine"


@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_that_found_nothing_is_not_saved(fit, tmp_path, kind, monkeypatch):
    monkeypatch.setattr(KINDS[kind], "size", 0)
    more = [] if kind == "local" else ["--equations", "c"]
    status, out, err = fit("fit", "sensor", "narrow", "--out", "m", "--kind", kind, "--holdout", 0, *more)
    assert (status, out) == (2, "")
    assert err.splitlines()[-1].startswith("error: the fit found no coefficients: too few scans for any cell")
    assert not (tmp_path / "m").exists()
    assert not (tmp_path / "m.c").exists()


def test_few_scans_give_a_local_model_no_coefficients(fit, tmp_path):
    record_world("indoor", tmp_path / "tiny", 1, None, 0, {"laser": {"beams": 36}})
    status, out, err = fit("fit", "sensor", "tiny", "--out", "m", "--holdout", 0)
    assert (status, out) == (2, "")
    assert err.splitlines()[-1].startswith("error: the fit found no coefficients")
    assert not (tmp_path / "m").exists()


def test_scans_with_an_empty_table_of_bearings_are_explained(fit, tmp_path):
    quantities = {
        **{name: quantity(name) for name in ("time", "x", "y", "yaw")},
        **{name: quantity(name, ("beam",), (0,)) for name in ("ranges", "bearings")},
    }
    with recordings.Writer(tmp_path / "empty", quantities, settings={}, seed=None, world="none") as writer:
        for time in range(9):
            pose = {name: np.float64(0.0) for name in ("x", "y", "yaw")}
            writer.append({"time": np.float64(time), **pose, "ranges": np.zeros(0), "bearings": np.zeros(0)})
    status, out, err = fit("fit", "sensor", "empty", "--out", "m")
    assert (status, out) == (2, "")
    assert err.startswith("error: empty: the bearings of the beams are missing, or do not match the ranges")
    assert len(err.splitlines()) == 1


def test_a_figure_of_no_known_format_is_refused_before_the_fit(fit, tmp_path):
    status, _, err = fit("fit", "sensor", "a", "--out", "m", "--figure", "a.bmp")
    assert status == 2
    assert err.splitlines()[-1] == "error: cannot write a.bmp: a picture ends in .png, .svg, .pdf"
    assert not (tmp_path / "m").exists()


def test_the_model_is_kept_if_its_figure_cannot_be_written(fit, tmp_path):
    words = ["fit", "sensor", "a", "--out", "m", "--kind", "headings", "--holdout", 0, "--figure", "/dev/null/a.png"]
    status, out, err = fit(*words)
    assert (status, out) == (2, "")
    assert err.splitlines()[-1].startswith("error: cannot write /dev/null/a.png: Not a directory")
    assert (tmp_path / "m").exists()


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


PLATE = "length_m,width_m,grid_m,sinkage_m,force_N\n" + "".join(
    f"0.4,0.2,0.02,{depth},{0.08 * 2e5 * depth**1.1}\n" for depth in (0.005, 0.01, 0.02, 0.03, 0.04, 0.05)
)


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="MuJoCo is called by its address")
def test_fit_soil_finds_bekkers_curve_of_a_plate_and_names_the_rest(fit, tmp_path):
    (tmp_path / "plate.csv").write_text(PLATE)
    status, out, _ = fit("fit", "soil", "plate.csv", "--out", "soil", "--workers", 1)
    assert status == 0
    assert "not identified:" in out
    assert "Use it: sandlot record terrain --set soil=soil/soil.toml" in out
    found = json.loads((tmp_path / "soil" / "fit.json").read_text())
    assert found["parameters"]["exponent"]["value"] == pytest.approx(1.1, abs=0.1)
    assert load_card(tmp_path / "soil" / "soil.toml").kind == "soil"
    page = (tmp_path / "soil" / "report.html").read_text()
    assert "Not identified" in page
    assert "data:image/png;base64," in page


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("a", "--out", "new"), "a lacks wheel_speed_left, wheel_speed_right; to fit soil, a log needs"),
        (("plate.csv", "--out", "b"), "b already exists"),
        (("none.csv", "--out", "new"), "there is no table at none.csv"),
        (("plate.csv", "--out", "new", "--set", "rouns=3"), "no setting 'rouns'; did you mean 'rounds'?"),
    ],
)
def test_mistakes_of_fit_soil_get_one_line(fit, words, message, tmp_path):
    (tmp_path / "plate.csv").write_text(PLATE)
    status, _, err = fit("fit", "soil", *words)
    assert status == 2
    assert message in err
