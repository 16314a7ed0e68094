"""`sandlot rover`."""

import threading

import pytest

from commands import assert_one_clear_line
from link.rovers import ToyRover, serving
from sandlot.link.keys import local_token, write_token


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["serve", "--host", "0.0.0.0"], "sandlot rover keys"),
        (["serve", "--lidar", "/dev/ttyUSB0"], "both --pins and --lidar"),
        (["serve", "--record", "drive.bag"], ".mcap"),
        (["serve", "--keys", "nowhere"], "sandlot rover keys"),
        (["serve", "--plan", "moon"], "moon"),
        (["drive", "--port", "1"], "no rover of yours"),
        (["drive", "--host", "rover.local"], "--keys"),
    ],
)
def test_a_mistake_is_one_line(sandlot_, monkeypatch, tmp_path, arguments, says):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert_one_clear_line(sandlot_("rover", *arguments), says)


def test_keys_are_made_once(sandlot_):
    assert sandlot_("rover", "keys", "--name", "rover.local").status == 0
    assert_one_clear_line(sandlot_("rover", "keys"), "already exists")


def test_drive_by_words(sandlot_, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with serving(ToyRover()) as served:
        write_token(local_token(served.port), served.token)

        def drive(*words):
            return sandlot_(
                "rover", "drive", "--port", served.port, *(each for word in words for each in ("--do", word))
            )

        said = drive("left 0.1", "mode SEMI", "scan 100", "set note 5", "halt", "help")
        wrong = {word: drive(word, "help") for word in ("go 999 0", "dance", "mode MOON")}
    assert said.status == 0, said.err
    lines = said.out.splitlines()
    assert lines[:2] == ["done", "mode SEMI"]
    assert "samples" in lines[2]
    assert lines[3:5] == ["done", "done"]
    assert [each.status for each in wrong.values()] == [1, 1, 1]
    assert all(len(each.out.splitlines()) == 1 for each in wrong.values()), "the first that fails ends it"
    assert "outside of the map" in wrong["go 999 0"].out
    assert "not understood: 'dance'" in wrong["dance"].out
    assert "no mode MOON" in wrong["mode MOON"].out
    assert threading.active_count() < 50
