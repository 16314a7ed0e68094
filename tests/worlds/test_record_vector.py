"""Recordings of compiled vector worlds hold, of each member, what a recording of the single world holds."""

import gymnasium
import numpy as np
import pytest

from sandlot import recordings
from sandlot.errors import SettingError
from sandlot.worlds import world_id
from sandlot.worlds.record import Record
from sandlot.worlds.record_vector import RecordVector
from sandlot.worlds.replay import moments

CASES = {
    "water": {"snake": {"links": 4}},
    "leveling": {"shape": (4, 4), "agents": 2},
    "indoor": {"laser": {"beams": 9}, "task": "goal"},
}
KEPT = ("time", "observation", "action", "reward", "terminated", "truncated", "episode", "exploded")


def single(name, path, member, actions, limit):
    """Record the single world with the actions of a member; those at resets of the vector are left out."""
    env = Record(gymnasium.make(world_id(name), max_episode_steps=limit, **CASES[name]), path, 3 + member)
    env.reset(seed=3 + member)
    ended = False
    for action in actions:
        if ended:
            env.reset()
            ended = False
            continue
        _, _, terminated, truncated, _ = env.step(action[member])
        ended = terminated or truncated
    env.close()
    return recordings.open(path)


@pytest.mark.parametrize("name", CASES)
def test_each_member_is_recorded_as_the_single_world(name, tmp_path):
    vector = RecordVector(
        gymnasium.make_vec(world_id(name), num_envs=2, max_episode_steps=4, **CASES[name]), tmp_path / "all"
    )
    vector.reset(seed=3)
    vector.action_space.seed(1)
    actions = [vector.action_space.sample() for _ in range(12)]
    for action in actions:
        vector.step(action)
    vector.close()
    for member in range(2):
        found = recordings.open(tmp_path / "all" / str(member))
        other = single(name, tmp_path / f"single{member}", member, actions, 4)
        assert other.sizes["time"] == found.sizes["time"] == 13
        for key in KEPT:
            np.testing.assert_array_equal(found[key].values, other[key].values)
            assert found[key].attrs == other[key].attrs
        assert found["truncated"].values.any() or found["terminated"].values.any()
        assert recordings.settings(found) == recordings.settings(other)
    assert len(list(moments(tmp_path / "all" / "1"))) == 13


def test_members_that_are_reset_in_the_same_step_keep_their_last_observation(tmp_path):
    settings = {**CASES["water"], "max_episode_steps": 4}
    vector = RecordVector(
        gymnasium.make_vec("sandlot/Water-v0", num_envs=2, autoreset_mode="SameStep", **settings), tmp_path / "a"
    )
    vector.reset(seed=3)
    finals = []
    for _ in range(9):
        *_, info = vector.step(vector.action_space.sample())
        if "final_obs" in info:
            finals.append(info["final_obs"][1])
    vector.close()
    found = recordings.open(tmp_path / "a" / "1")
    assert found["episode"].values.tolist() == [0] * 5 + [1] * 5 + [2] * 2
    np.testing.assert_array_equal(found["observation"].values[found["truncated"].values], finals)


def test_without_a_seed_one_is_drawn_that_every_format_can_hold(tmp_path):
    vector = RecordVector(gymnasium.make_vec("sandlot/Avoid-v0", num_envs=2), tmp_path / "a")
    with pytest.raises(SettingError, match="resets all members"):
        vector.reset(options={"reset_mask": np.array([True, False])})
    vector.reset()
    vector.step(vector.action_space.sample())
    vector.close()
    with recordings.open(tmp_path / "a" / "1") as found:
        assert 0 <= found.attrs["seed"] < 2**32
        found.to_netcdf(tmp_path / "a.nc")


def test_members_are_seeded_once(tmp_path):
    vector = RecordVector(gymnasium.make_vec("sandlot/Avoid-v0", num_envs=2), tmp_path / "a")
    vector.reset(seed=3)
    vector.reset()
    with pytest.raises(SettingError, match="seeded only at its first reset"):
        vector.reset(seed=4)
    vector.close()
    with recordings.open(tmp_path / "a" / "1") as found:
        assert found.attrs["seed"] == 4
        assert found["episode"].values.tolist() == [0, 1]


def test_what_cannot_be_recorded_is_refused(tmp_path):
    with pytest.raises(SettingError, match="NextStep or SameStep, not Disabled"):
        RecordVector(gymnasium.make_vec("sandlot/Water-v0", num_envs=2, autoreset_mode="Disabled"), tmp_path / "a")
    with pytest.raises(SettingError, match="a compiled vector world of Sandlot, not SyncVectorEnv"):
        RecordVector(gymnasium.make_vec("CartPole-v1", num_envs=2, vectorization_mode="sync"), tmp_path / "a")
