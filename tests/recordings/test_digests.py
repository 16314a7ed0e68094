"""The digest of a recording depends on its frames and settings, not on when or how they were written."""

import numpy as np
import pytest

from sandlot import recordings
from sandlot.errors import RecordingError
from sandlot.recordings import digests
from sandlot.recordings.digests import digest
from sandlot.worlds.record import record_world


def record(path, seed=0, steps=5, **settings):
    record_world("leveling", path, steps, None, seed, {"shape": (6, 6), "agents": 1, **settings})
    with recordings.open(path) as recording:
        return digest(recording)


def test_the_same_recording_has_the_same_digest(tmp_path):
    found = record(tmp_path / "a")
    assert found == record(tmp_path / "b")
    assert len(found) == 64


def test_other_frames_or_settings_have_another_digest(tmp_path):
    found = [
        record(tmp_path / "a"),
        record(tmp_path / "b", seed=1),
        record(tmp_path / "c", steps=6),
        record(tmp_path / "d", sensing=0.02),
    ]
    assert len(set(found)) == 4


def test_the_size_of_blocks_makes_no_difference(tmp_path, monkeypatch):
    found = record(tmp_path / "a", steps=40)
    monkeypatch.setattr(digests, "BLOCK_BYTES", 100)
    assert record(tmp_path / "b", steps=40) == found


def test_one_changed_value_changes_the_digest(tmp_path):
    record(tmp_path / "a")
    with recordings.open(tmp_path / "a") as recording:
        before, changed = digest(recording), recording.load().copy(deep=True)
        changed["reward"].values[3] = np.nextafter(changed["reward"].values[3], np.inf)
        assert digest(changed) != before


def test_damage_is_explained(tmp_path):
    record(tmp_path / "a")
    for chunk in (tmp_path / "a" / "reward").rglob("c*"):
        if chunk.is_file():
            content = bytearray(chunk.read_bytes())
            content[len(content) // 2] ^= 0xFF
            chunk.write_bytes(content)
    with recordings.open(tmp_path / "a") as recording, pytest.raises(RecordingError, match="the recording is damaged"):
        digest(recording)
