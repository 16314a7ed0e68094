"""The command ``shape``: a picture, and warnings."""

import re
import sys

import pytest
from PIL import Image

from sandlot.cli import main


@pytest.fixture
def shape(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)

    def call(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["sandlot", "shape", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = (re.sub(r"\x1b\[[0-9;]*m", "", text) for text in capsys.readouterr())
        return ended.value.code or 0, out, err

    return call


def test_angles_become_a_picture(shape, tmp_path):
    status, out, err = shape(0, 0, 0, 90, 0, 0, 0, "--out", "a.png")
    assert (status, out, err) == (0, "a.png: 8 links, centre of mass at (-6, 0) m\n", "")
    assert Image.open(tmp_path / "a.png").size == (960, 600)


def test_negative_angles_are_no_options(shape, tmp_path):
    assert shape("-10", "-20.5", 30)[1].startswith("shape.png: 4 links")
    assert (tmp_path / "shape.png").exists()


@pytest.mark.parametrize(
    ("words", "links"),
    [
        (["--circle"], 8),
        (["--circle", "--links", 17], 17),
        (["--amplitude", 1], 8),
        (["--amplitude", 0.5, "--frequency", 2, "--phase", 0.7, "--veer", 0.05, "--time", 1.3, "--links", 12], 12),
    ],
)
def test_circles_and_waves(shape, words, links):
    status, out, err = shape(*words)
    assert (status, err) == (0, "")
    assert out.startswith(f"shape.png: {links} links")
    assert "warning" not in out


def test_links_that_cross_or_touch_are_named(shape):
    _, out, _ = shape(*[45] * 7)
    assert out.splitlines()[1:] == ["warning: links 0 and 7 touch"]
    _, out, _ = shape(0, 100, 100, 100, 0)
    assert re.search(r"warning: links \d and \d cross", out)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "give the angles"),
        ([10, 20, "--circle"], "one of them"),
        (["--circle", "--amplitude", 1], "one of them"),
        ([10], "links=2 is not possible"),
        (["abc", 1, 2], "'abc' is not an angle [deg]"),
        (["nan", 1, 2], "'nan' is not an angle [deg]"),
        ([1, 2, "--ouut", 3], "'--ouut' is not an angle [deg]"),
        ([1, 2, "--out", "/dev/null/a.png"], "cannot write /dev/null/a.png: Not a directory"),
        ([1, 2, "--out", "a.xyz"], "cannot write a.xyz: a picture ends in .png, .svg, .pdf"),
        (["--circle", "--links", 2], "links"),
    ],
)
def test_a_mistake_gets_one_clear_line(shape, words, said):
    status, out, err = shape(*words)
    assert status == 2
    assert out == ""
    assert len(err.splitlines()) == 1
    assert err.startswith("error: ")
    assert said in err
