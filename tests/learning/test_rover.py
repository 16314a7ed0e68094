"""Recordings for the learned rovers."""

import pytest

from sandlot.learning.rover import RoverTraining, record_one


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
