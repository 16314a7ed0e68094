import gymnasium
import numpy as np
import pytest
import xarray as xr

from sandlot import recordings
from sandlot.errors import SandlotError
from sandlot.physics.swimming import rows
from sandlot.robots.fast_swimmers import FastSwimmers
from sandlot.robots.swimmers import Swimmers
from sandlot.worlds.record import Record, record_world


def test_the_same_seed_gives_the_same_recording(tmp_path):
    for name in ("a", "b"):
        record_world("leveling", tmp_path / name, 50, seed=3)
    one, other = (recordings.open(tmp_path / name).load() for name in ("a", "b"))
    assert one.equals(other)


def test_when_an_episode_ends_the_next_one_begins(tmp_path):
    facts = record_world("leveling", tmp_path / "a", 10, settings={"relief": 0})
    recording = recordings.open(tmp_path / "a")
    assert facts["episodes"] == 11
    assert recording.sizes["time"] == facts["frames"] == 21
    assert recording["episode"].values.tolist() == sorted([*range(10), *range(11)])


@pytest.mark.parametrize("value", [np.nan, 1e9])
def test_episodes_that_explode_are_counted_and_marked(tmp_path, monkeypatch, value):
    """Here the second of three episodes, in its second step."""
    honest, commands = FastSwimmers.command, []

    def command(self, targets):
        commands.append(0)
        if len(commands) == 4:
            self.state[rows.velocities(self.snake.joints)] = value
        honest(self, targets)

    monkeypatch.setattr(FastSwimmers, "command", command)
    with Record(gymnasium.make("sandlot/Water-v0", interface="units", snake={"links": 4}), tmp_path / "a") as env:
        for steps in (2, 2, 2):
            env.reset(seed=0)
            for _ in range(steps):
                env.step(np.zeros(3))
        assert (env.episodes, env.exploded) == (3, 1)
    recording = recordings.open(tmp_path / "a")
    assert recording["exploded"].values.tolist() == [False] * 5 + [True] + [False] * 3
    assert recording["episode"].values[5] == 1
    trusted = recording.isel(time=~recording["exploded"].values)
    assert all(np.isfinite(trusted[key].values).all() for key in trusted.data_vars)


def test_exploded_episodes_are_among_the_facts(tmp_path, monkeypatch):
    monkeypatch.setattr(Swimmers, "exploded", property(lambda self: self.time > 0.05))
    facts = record_world("water", tmp_path / "a", 7, "swim", settings={"snake": {"links": 4}})
    assert (facts["episodes"], facts["exploded"], facts["frames"]) == (3, 2, 10)
    assert recordings.open(tmp_path / "a")["exploded"].values.sum() == 2


@pytest.mark.parametrize("name", ["avoid", "indoor"])
def test_recordings_of_worlds_can_be_kept_as_netcdf(tmp_path, name):
    record_world(name, tmp_path / "a", 3)
    with recordings.open(tmp_path / "a") as recording:
        recording.to_netcdf(tmp_path / "a.nc")
    with xr.open_dataset(tmp_path / "a.nc") as read:
        assert read.sizes["time"] == 4


def test_only_worlds_can_be_recorded(tmp_path):
    with pytest.raises(SandlotError, match="only Sandlot worlds"):
        Record(gymnasium.make("CartPole-v1"), tmp_path / "a")


def test_wrapped_worlds_can_be_recorded(tmp_path):
    env = Record(gymnasium.make("sandlot/Leveling-v0", max_episode_steps=5), tmp_path / "a", seed=0)
    env.reset(seed=0)
    for _ in range(5):
        *_, truncated, _ = env.step(env.action_space.sample())
    assert truncated
    env.close()
    assert recordings.open(tmp_path / "a").sizes["time"] == 6
