"""The commands ``show`` and ``export --to``."""

import pytest
from PIL import Image

from commands import assert_one_clear_line

RECORD = ("record", "leveling", "--steps", 9, "--set", "shape=[8,8]", "--set", "agents=3", "--out", "a")


@pytest.fixture
def recording(sandlot_, tmp_path):
    said = sandlot_(*RECORD, "--video", "a.gif", "--video-speed", 2)
    assert said.status == 0
    assert "a.gif" in said.out
    assert "sandlot show a" in said.out
    return tmp_path / "a"


def test_show_writes_a_picture_a_table_and_what_to_do_next(sandlot_, recording, tmp_path):
    said = sandlot_("show", "a")
    assert said.status == 0
    assert "10 frames" in said.out
    assert "duration [s]" in said.out
    assert "sandlot export a --to html" in said.out
    assert "sandlot export a --to rerun" in said.out
    with Image.open(tmp_path / "a.png") as picture:
        assert min(picture.size) > 400
    found = sandlot_("show", "a", "--out", "other.svg", "--json").json()
    assert found["frames"] == 10
    assert found["picture"] == "other.svg"
    assert [row["frames"] for row in found["episodes"]] == [10]


def test_export_writes_beside_the_recording(sandlot_, recording, tmp_path):
    for to, name in (("rerun", "a.rrd"), ("mcap", "a.mcap"), ("webp", "a.webp"), ("html", "a.html")):
        said = sandlot_("export", "a", "--to", to)
        assert said.status == 0, said.err
        assert name in said.out
        assert (tmp_path / name).stat().st_size > 1000
    assert_one_clear_line(sandlot_("export", "a", "--to", "rerun"), "a.rrd", "already exists")


def test_mistakes_get_one_clear_line(sandlot_, recording, tmp_path):
    (tmp_path / "file").write_text("no recording")
    for path in ("file", "nothing"):
        assert_one_clear_line(sandlot_("show", path), path)
        assert_one_clear_line(sandlot_("export", path, "--to", "rerun"), path)
    assert_one_clear_line(sandlot_("show", "a", "--out", "a.txt"), "a.txt", ".png")
    assert_one_clear_line(sandlot_("export", "a", "--to", "html", "--out", "a.txt"), "a.txt", ".html")
    assert_one_clear_line(sandlot_("export", "a"), "--to", "mcap")
    assert_one_clear_line(sandlot_("record", "leveling", "--video", "a.avi"), "a.avi", ".mp4")
    chunk = next((recording / "reward").glob("c.*"))
    chunk.write_bytes(chunk.read_bytes()[:-4] + b"0000")
    assert_one_clear_line(sandlot_("show", "a", "--out", "b.png"), "damaged")
    assert_one_clear_line(sandlot_("export", "a", "--to", "gif", "--out", "b.gif"), "damaged")
