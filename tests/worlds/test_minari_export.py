"""Datasets of Minari hold the episodes of recordings; Minari itself reads them back."""

import importlib.util
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from sandlot import recordings
from sandlot.errors import MissingExtraError, RecordingError
from sandlot.worlds.minari_export import export_minari
from sandlot.worlds.record import record_world
from sandlot.worlds.record_vector import RecordVector

THERE = all(importlib.util.find_spec(name) for name in ("minari", "h5py"))
with_minari = pytest.mark.skipif(not THERE, reason="minari is not installed")


@pytest.mark.skipif(THERE, reason="minari is installed")
def test_what_is_missing_is_said(tmp_path):
    with pytest.raises(MissingExtraError, match=r"pip install 'sandlot\[offline\]'"):
        export_minari(tmp_path, tmp_path / "a-v0")


@with_minari
def test_minari_reads_back_what_was_recorded(tmp_path):
    import minari

    record_world("avoid", tmp_path / "a", 40)
    found = recordings.open(tmp_path / "a")
    assert export_minari(tmp_path / "a", tmp_path / "a-v0") == found["episode"].values.max() + 1
    dataset = minari.MinariDataset(str(tmp_path / "a-v0" / "data"))
    assert dataset.total_steps == 40
    for number, episode in enumerate(dataset.iterate_episodes()):
        own = recordings.episode(found, number)
        np.testing.assert_array_equal(episode.observations, own["observation"].values)
        for name, key in (("actions", "action"), ("rewards", "reward"), ("terminations", "terminated")):
            np.testing.assert_array_equal(getattr(episode, name), own[key].values[1:])
        assert episode.terminations[-1] != episode.truncations[-1]
    world = dataset.recover_environment().unwrapped
    assert type(world).__name__ == "Avoid"
    assert world.settings.interface == "units"


@with_minari
def test_all_members_of_a_vector_are_in_one_dataset(tmp_path):
    vector = RecordVector(gymnasium.make_vec("sandlot/Avoid-v0", num_envs=3, max_episode_steps=4), tmp_path / "a")
    vector.reset(seed=1)
    for _ in range(4):
        vector.step(vector.action_space.sample())
    vector.close()
    assert export_minari(tmp_path / "a", tmp_path / "a-v0") == 3


@with_minari
def test_names_may_be_relative_and_end_in_a_version(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    record_world("avoid", Path("a"), 5)
    assert export_minari(Path("a"), Path("a-v0")) >= 1
    with pytest.raises(RecordingError, match="such as b-v0"):
        export_minari(Path("a"), Path("b"))


@with_minari
def test_a_recording_without_observations_is_refused(tmp_path):
    record_world("avoid", tmp_path / "a", 5, observations=False)
    with pytest.raises(RecordingError, match="it has no observation; record it"):
        export_minari(tmp_path / "a", tmp_path / "a-v0")
    assert not (tmp_path / "a-v0").exists()
