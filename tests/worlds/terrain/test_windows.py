"""Recorded ground: every change is recorded once, and the map of any frame can be rebuilt."""

import numpy as np
import pytest
from numba import config

from sandlot import recordings
from sandlot.errors import SandlotError
from sandlot.worlds.record import Record, record_world
from sandlot.worlds.terrain.windows import Windows, rebuild
from sandlot.worlds.terrain.world import Terrain

SMALL = {"shape": (80, 90), "window": 32, "map_every": 40}
TINY_PARTICLES = {"ground": "particles", "shape": (48, 48), "window": 16, "particles": {"depth": 0.06, "settle": True}}

compiled = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="MuJoCo is called by its address")


def test_windows_record_every_change_once():
    rng = np.random.default_rng(0)
    heights = rng.uniform(0.0, 0.3, (20, 25))
    for wrap in (True, False):
        windows = Windows((20, 25), 2, 8, wrap)
        windows.restart(heights)
        total = windows.heights.astype(np.float64)
        now, seen = heights.copy(), np.zeros(heights.shape, bool)
        for _ in range(200):
            now += rng.choice([0.0, 3e-7, 2e-4], now.shape, p=[0.8, 0.1, 0.1]) * rng.normal(size=now.shape)
            nodes = rng.uniform(0.0, (20.0, 25.0)) + np.array([[0.0, 0.0], [2.0, 1.0]])
            windows.record(now, nodes)
            for change, row, column in zip(windows.change, windows.rows, windows.columns, strict=True):
                assert wrap or (0 <= row <= 12 and 0 <= column <= 17)
                here = np.ix_((row + np.arange(8)) % 20, (column + np.arange(8)) % 25)
                total[here] += change
                seen[here] = True
                assert np.abs(total[here] - now[here]).max() < 1e-6
        assert seen.all()
        assert np.abs(windows.heights - total).max() < 1e-6


def test_a_window_larger_than_the_map_is_the_map():
    windows = Windows((20, 9), 1, 16, False)
    windows.record(np.zeros((20, 9)), np.array([[5.0, 5.0]]))
    assert windows.change.shape == (1, 16, 9)
    assert (windows.rows[0], windows.columns[0]) == (0, 0)


@compiled
@pytest.mark.parametrize("kind", ["wrap", "edge", "rovers", "hills", "particles"])
def test_the_map_of_any_frame_can_be_rebuilt(kind, tmp_path):
    settings = {
        "wrap": {**SMALL, "soil": "soft", "window": 64},
        "edge": {**SMALL, "wrap": False, "terrain": "B"},
        "rovers": {**SMALL, "shape": (120, 130), "rovers": ("wheeled", "tracked")},
        "hills": {**SMALL, "terrain": "hills", "relief": 0.05, "hill_size": 0.2},
        "particles": {**TINY_PARTICLES, "map_every": 40},
    }[kind]
    world = Terrain(**settings)
    seen = []
    with Record(world, tmp_path / "a") as env:
        for episode, steps in enumerate((130, 20, 60)):
            observation, _ = env.reset(seed=episode)
            seen.append(world.task.ground.heights.copy())
            session = world.controller("session", steps)
            session.reset([np.random.SeedSequence(0)])
            for _ in range(steps):
                env.step(session.act(observation[None])[0])
                world.frame()  # a viewer that looks takes no changes from the recording
                seen.append(world.task.ground.heights.copy())
    recording = recordings.open(tmp_path / "a")
    assert recording["heights"].sizes["time_heights"] == -(-len(seen) // 40)
    frames = [*range(0, 130, 7), 39, 40, 41, 131, 140, 151, 152, 155, 170, 211]
    if kind == "hills":  # no map was kept in the second episode, frames 131 to 151; in the third from frame 160 on
        frames = [frame for frame in frames if frame <= 130 or frame >= 160]
        for frame in (131, 159):
            with pytest.raises(SandlotError, match="no map was kept"):
                rebuild(recording, frame)
    for frame in frames:
        truth, built = seen[frame], rebuild(recording, frame)
        row, column = (recording[f"window_{axis}"].values[frame] for axis in ("row", "column"))
        ny, nx = truth.shape
        size = recording["height_change"].shape[2:]
        for r, c in zip(row, column, strict=True):
            here = np.ix_((r + np.arange(size[0])) % ny, (c + np.arange(size[1])) % nx)
            assert np.abs(built.values[here] - truth[here]).max() < 1e-6, frame
        if kind == "wrap":  # nothing slides far from the rover
            assert np.abs(built.values - truth).max() < 1e-6
    assert built.dims == ("map_y", "map_x")
    assert np.diff(built["map_x"]) == pytest.approx(recordings.settings(recording)["spacing"])
    assert float(built["map_y"].mean()) == pytest.approx(0.0, abs=1e-9)
    assert built.equals(rebuild(recording, np.float64(frame)))
    for wrong in (213, -1, 5.5, np.nan, "5"):
        with pytest.raises(SandlotError, match=f"^frame={wrong} is not .* allowed: whole numbers from 0 to 212$"):
            rebuild(recording, wrong)


@compiled
def test_two_recordings_of_one_world_do_not_disturb_each_other():
    """One of them skips frames: both still add up to the same map, if the window has moved little in between."""
    world = Terrain(**(SMALL | {"window": 48}), soil="soft")
    world.reset(seed=0)
    every, some = world.recorder(), world.recorder()
    totals = []
    for recorder in (every, some):
        recorder.restart()
        totals.append(np.rint(recorder.frame()["heights"].astype(np.float64) * 1e6))
    for k in range(1, 37):
        world.step(np.array([[0.25, 0.3]]))
        for recorder, total in zip((every, some), totals, strict=True):
            if recorder is every or k % 9 == 0:
                frame = recorder.frame()
                rows = (frame["window_row"][0] + np.arange(48)) % 80
                columns = (frame["window_column"][0] + np.arange(48)) % 90
                total[np.ix_(rows, columns)] += np.rint(frame["height_change"][0].astype(np.float64) * 1e6)
    assert np.array_equal(*totals)
    assert np.abs(totals[0] * 1e-6 - world.task.ground.heights).max() < 1e-6
    assert np.abs(totals[0] * 1e-6 - world.task.ground.initial).max() > 1e-3
    assert world.frame()["heights"] == pytest.approx(totals[0] * 1e-6, abs=1e-7)


@compiled
def test_motion_can_be_recorded_without_the_changes_of_the_ground(tmp_path):
    for window in (0, 16):
        record_world("terrain", tmp_path / str(window), 90, settings={**SMALL, "window": window})
    motion, ground = (recordings.open(tmp_path / name).load() for name in ("0", "16"))
    assert set(ground.data_vars) - set(motion.data_vars) == {"height_change", "window_row", "window_column"}
    assert motion.drop_attrs().equals(ground[list(motion.data_vars)].drop_attrs())
