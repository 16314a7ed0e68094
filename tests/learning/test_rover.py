"""Recordings for the learned rovers."""

import pytest

from sandlot.errors import RecordingError
from sandlot.learning.rover import RoverTraining, record_one, train_rover


def test_an_interrupted_recording_is_made_again(tmp_path, monkeypatch):
    given = RoverTraining(frames=100)

    def interrupted(world, path, *others, **more):
        path.mkdir()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("sandlot.learning.rover.record_world", interrupted)
        with pytest.raises(KeyboardInterrupt):
            record_one(tmp_path, given, 0)
    assert not (tmp_path / "0000").exists()
    assert (record_one(tmp_path, given, 0) / "zarr.json").exists()
    assert [each.name for each in tmp_path.iterdir()] == ["0000"]


def test_recordings_of_other_settings_are_not_used(tmp_path, monkeypatch):
    class StopError(Exception):
        pass

    def stop(*_):
        raise StopError

    monkeypatch.setattr("sandlot.learning.rover.record_one", stop)
    for _ in range(2):
        with pytest.raises(StopError):
            train_rover(tmp_path, RoverTraining(seed=1, recordings=2))
    with pytest.raises(RecordingError, match="has recordings of another rover"):
        train_rover(tmp_path, RoverTraining(seed=2, recordings=2))
    with pytest.raises(StopError):
        train_rover(tmp_path, RoverTraining(seed=1, recordings=3))
