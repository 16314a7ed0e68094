"""`sandlot rover`."""

import os
import pty
import sys
import threading

import pytest

from commands import assert_one_clear_line
from link.rovers import ToyRover, serving, until
from sandlot.cli.terminal import drive_by_keys
from sandlot.link.client import Client
from sandlot.link.console import Console
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


def test_a_halt_typed_right_after_another_key_is_not_left_in_a_buffer(monkeypatch):
    """Nor does it wait for the answer of a mode change, which waits for the drive."""
    ours, theirs = pty.openpty()
    with serving(ToyRover(), pace=1.0) as served, Client(port=served.port, token=served.token) as client:
        monkeypatch.setattr(sys, "stdin", os.fdopen(theirs))
        driving = threading.Thread(target=lambda: drive_by_keys(client, Console(client)))
        driving.start()
        try:
            client.move("forwards", 2.0)
            until(lambda: served.driver.moving)
            os.write(ours, b"2 ")
            until(lambda: not served.driver.moving, 1.5)
        finally:
            os.write(ours, b"q")
            driving.join(10)
        assert not driving.is_alive()
    os.close(ours)
