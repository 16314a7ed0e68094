"""Frames that are driven at once are, bit for bit, those that are driven one by one."""

import json

import numpy as np
import pytest

from sandlot import recordings
from sandlot.worlds import record
from sandlot.worlds.record import Record, record_world
from sandlot.worlds.terrain import stretches
from sandlot.worlds.terrain.recorder import TerrainRecorder
from sandlot.worlds.terrain.world import Terrain

SMALL = {"terrain": "hills", "shape": (120, 120), "window": 40, "map_every": 70}
CASES = {
    "wraps": {**SMALL, "soil": "soft"},
    "ends at the edge of the map": {**SMALL, "shape": (60, 60), "wrap": False},
    "overturns": {**SMALL, "ground": "rigid", "relief": 1.5, "hill_size": 0.1},
    "two rovers": {**SMALL, "rovers": ("wheeled", "wheeled")},
    "tracks, no window": {**SMALL, "rovers": ("tracked",), "window": 0},
}


def one_by_one(monkeypatch):
    monkeypatch.setattr(TerrainRecorder, "can_hold", False)


def recorded(path):
    found = recordings.open(path).load()
    return {name: values.values.tobytes() for name, values in found.variables.items()}, found.attrs["outcomes"]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("controller", ["varied", "session"])
def test_recordings_are_those_of_single_frames(tmp_path, monkeypatch, name, controller):
    calls, honest = [], stretches.Stretches.drive

    def drive(self, commands, rows):
        found = honest(self, commands, rows)
        calls.append(len(found[0]))
        return found

    monkeypatch.setattr(stretches.Stretches, "drive", drive)
    monkeypatch.setattr(record, "LONG", 330)
    facts = record_world("terrain", tmp_path / "a", 330, controller, seed=2, settings=CASES[name])
    assert max(calls) > 20
    assert len(calls) < 60
    one_by_one(monkeypatch)
    assert (
        record_world("terrain", tmp_path / "b", 330, controller, seed=2, settings=CASES[name])["episodes"]
        == (facts["episodes"])
    )
    assert facts["episodes"] > 1 or name not in ("ends at the edge of the map", "overturns")
    assert recorded(tmp_path / "a") == recorded(tmp_path / "b")


def test_a_simulation_that_explodes_ends_the_episode_in_that_frame(tmp_path, monkeypatch):
    """A rover that falls from a great height is faster than 20 m/s after a few frames."""

    def drive(name):
        world, action, total, result = Terrain(**SMALL), np.array([[0.2, 0.1]]), 0, None
        env = Record(world, tmp_path / name)
        env.reset(seed=0)
        data = world.task.rovers.data
        data.qpos[2], data.qvel[2] = 50.0, -19.5
        while result is None or not result[3]:
            made, result = env.hold(action, 20)
            total += made
        env.close()
        return total, result[1:], env.exploded

    several = drive("a")
    assert 4 < several[0] < 8
    assert several[2] == 1
    one_by_one(monkeypatch)
    np.testing.assert_equal(drive("b"), several)  # NaN equals NaN here
    assert recorded(tmp_path / "a") == recorded(tmp_path / "b")


def test_noisy_sensors_are_read_in_every_frame(tmp_path):
    """Otherwise the random numbers of the next episode would be others."""
    quiet, noisy = Terrain(**SMALL), Terrain(**SMALL, imu={"rate_noise": 0.1})
    assert quiet.recorder().can_hold
    assert not noisy.recorder().can_hold
    assert not Terrain(**SMALL, fidelity="learned").recorder().can_hold


def test_outcomes_are_noted(tmp_path):
    record_world("terrain", tmp_path / "a", 30, "varied", settings=SMALL)
    assert json.loads(recordings.open(tmp_path / "a").attrs["outcomes"])[0]["path_length"] > 0.0
