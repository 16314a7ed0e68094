"""The commands ``import`` and ``export``: what they say for people and programs, and how they take a mistake."""

import json
import re
import sys

import pytest

from sandlot import recordings
from sandlot.cli import main

LINE = "FLASER 2 1.5 81.83 {x} 2 0.5 {x} 2.5 0.4 {time} host {time}\n"
LOG = "".join(LINE.format(x=0.5 * n, time=10 + 0.25 * n) for n in range(8)) + LINE.format(x=5, time=30) + "NEFF 1\n"


@pytest.fixture
def sandlot_(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    (tmp_path / "a.log").write_text(LOG)
    (tmp_path / "cut.log").write_text(LOG[:-30])

    def call(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["sandlot", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = (re.sub(r"\x1b\[[0-9;]*m", "", text) for text in capsys.readouterr())
        return ended.value.code or 0, out, err

    return call


def test_import_says_what_it_found(sandlot_, tmp_path):
    status, out, err = sandlot_("import", "a.log", "--out", "a")
    assert status == 0
    assert [line.split(None, 1) for line in map(str.rstrip, out.splitlines())][:6] == [
        ["format", "carmen"],
        ["scans", "9 in 20.0 s"],
        ["beams", "2"],
        ["driven", "5.0 m"],
        ["missing", "50.0% of returns"],
        ["gaps", "1, the longest 18.2 s"],
    ]
    assert "Note: lines left out: NEFF (1)" in out
    assert out.endswith("Recording: a\n")
    assert "1/1" in err  # kilobyte
    assert recordings.open(tmp_path / "a").sizes["time"] == 9


def test_import_for_programs(sandlot_):
    status, out, _ = sandlot_("import", "a.log", "--out", "a", "--format", "carmen", "--json")
    facts = json.loads(out)
    assert status == 0
    assert (facts["scans"], facts["distance"], facts["recording"]) == (9, 5.0, "a")


def test_unknown_numbers_are_null(sandlot_, tmp_path):
    (tmp_path / "b.csv").write_text("time,range_0\n1,2\n")
    assert json.loads(sandlot_("import", "b.csv", "--out", "b", "--json")[1])["distance"] is None
    (tmp_path / "c.csv").write_text("time,range_0\n2,2\n1,3\n")
    out = sandlot_("import", "c.csv", "--out", "c")[1]
    assert re.search("driven +unknown", out)
    assert re.search("times +go back 1 times", out)


def test_a_damaged_log(sandlot_, tmp_path):
    status, out, err = sandlot_("import", "cut.log", "--out", "a")
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert "--partial keeps the 8 scans before it" in err
    assert not (tmp_path / "a").exists()
    status, out, _ = sandlot_("import", "cut.log", "--out", "a", "--partial")
    assert status == 0
    assert "Only a part: cut.log, line 9: " in out
    assert recordings.open(tmp_path / "a").sizes["time"] == 8


def test_export(sandlot_, tmp_path):
    sandlot_("import", "a.log", "--out", "a")
    for name in ("a.mcap", "a.csv"):
        status, out, err = sandlot_("export", "a", "--out", name)
        assert (status, out) == (0, f"Written: {name}\n")
        assert "9/9" in err
        assert sandlot_("import", name, "--out", f"from {name}")[0] == 0
    assert sandlot_("import", "a.mcap", "--out", "b", "--topic", "/scan")[0] == 0
    first, second = recordings.open(tmp_path / "a"), recordings.open(tmp_path / "from a.csv")
    assert first.drop_attrs(deep=False).identical(second.drop_attrs(deep=False))


def test_the_case_of_a_suffix_does_not_matter(sandlot_, tmp_path):
    sandlot_("import", "a.log", "--out", "a")
    assert sandlot_("export", "a", "--out", "a.CSV")[0] == 0
    assert (tmp_path / "a.CSV").read_bytes()[:1] != b"\x89"  # MCAP begins so


def test_export_for_programs(sandlot_):
    sandlot_("import", "a.log", "--out", "a")
    status, out, _ = sandlot_("export", "a", "--out", "a.csv", "--json")
    assert status == 0
    assert json.loads(out) == {"recording": "a", "file": "a.csv", "left_out": []}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["import", "nothing.log", "--out", "b"], "there is no log at nothing.log"),
        (["import", "a.log"], "--out"),
        (["import", "a.log", "--out", "cut.log"], "cut.log already exists"),
        (["import", "a.log", "--out", "b", "--format", "karmen"], "no format 'karmen'; known: ros1, ros2"),
        (["export", "nothing", "--out", "b.csv"], "there is no recording at nothing"),
        (["export", "a.log", "--out", "b.bag"], "cannot write b.bag: an export of scans ends in .mcap, .csv"),
    ],
)
def test_a_mistake_gets_one_clear_line(sandlot_, tmp_path, words, said):
    status, out, err = sandlot_(*words)
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert err.startswith("error: ")
    assert said in err
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.log", "cut.log"]
