"""Drives are read from recordings as they were driven."""

import numpy as np
import pytest

from sandlot import recordings
from sandlot.errors import RecordingError
from sandlot.surrogates.terrain.drives import mirrored, order_after, turned, with_symmetries
from sandlot.surrogates.terrain.recorded import drives_of, ground_before, open_drives, read_drives
from sandlot.surrogates.terrain.shape import shape_of
from sandlot.worlds.record import record_world
from sandlot.worlds.terrain.windows import rebuild

SHAPE = shape_of("wheeled")


@pytest.fixture(scope="module")
def drive(recorded):
    return next(drives_of(open_drives(recorded["soft"]), SHAPE))


def test_the_first_frame_is_before_the_rover_settles(drive, recorded):
    recording = recordings.open(recorded["soft"])
    assert len(drive.commands) == recording.sizes["time"]
    np.testing.assert_array_equal(drive.position[0], drive.position[1])
    np.testing.assert_array_equal(drive.seen[0, len(SHAPE.samples) :], 0.0)
    untouched = ground_before(recording, 0).heights
    settled = rebuild(recording, 0).values
    assert (untouched - settled).max() > 0.005
    assert untouched.sum() == pytest.approx(settled.sum(), abs=1e-4)


def test_ground_below_the_rover_counts_as_it_was_before(recorded):
    """It drives ahead for 5 cm: the front wheels come to untouched soil, the others into ruts only later."""
    drive = next(drives_of(open_drives(recorded["mid"]), SHAPE))
    driven = np.hypot(*(drive.position[1:, :2] - drive.position[1, :2]).T)
    assert driven.max() > 0.05
    near = driven < 0.05
    depth = drive.seen[near][:, 2 * len(SHAPE.samples) :]
    sunk = 0.051 - (drive.position[1, 2] - drive.planes[0, 2])
    assert sunk > 0.005
    assert depth.mean() < 0.1 * sunk


def test_motion_is_that_of_the_recording(drive):
    speed = np.hypot(*drive.motion[1:, :2].T)
    np.testing.assert_allclose(speed * 0.01, np.hypot(*np.diff(drive.position[1:, :2], axis=0).T), atol=1e-12)
    inputs, moves = drive.drive_inputs(SHAPE), drive.moves()
    assert inputs.shape == (len(drive.commands) - 1, 3 + 44 + 5 + 7)
    np.testing.assert_allclose(inputs[:-1, -7:-4] + moves[:-1, :3], drive.motion[1:-1], atol=1e-12)


def test_symmetries_are_their_own_inverse_and_keep_what_is_symmetric(drive):
    for change, signs in ((mirrored, (1.0, -1.0)), (turned, (-1.0, -1.0))):
        order = order_after(SHAPE, signs)
        once = change(drive, order)
        twice = change(once, order)
        np.testing.assert_allclose(twice.drive_inputs(SHAPE), drive.drive_inputs(SHAPE), atol=1e-12)
        np.testing.assert_allclose(np.abs(once.motion), np.abs(drive.motion), atol=1e-9)
        np.testing.assert_allclose(once.rests[:, 0], drive.rests[:, 0], atol=1e-12)
    assert len(with_symmetries([drive], SHAPE)) == 4


def test_missing_quantities_are_named(tmp_path):
    record_world("leveling", tmp_path / "other", 5)
    with pytest.raises(RecordingError, match=r"lacks .*wheel_speed_left.*height_change"):
        open_drives(tmp_path / "other")


def test_several_rovers_are_refused(tmp_path):
    given = {"rovers": ("wheeled", "wheeled"), "shape": (150, 150), "terrain": "flat"}
    record_world("terrain", tmp_path / "two", 3, settings=given)
    with pytest.raises(RecordingError, match="2 rovers"):
        read_drives([tmp_path / "two"], SHAPE)


def test_random_hills_without_a_map_are_refused(tmp_path):
    given = {"terrain": "hills", "shape": (150, 150), "map_every": 100}
    record_world("terrain", tmp_path / "hills", 10, settings=given)
    recording = open_drives(tmp_path / "hills")
    later = recording.assign(episode=recording["episode"].copy(data=[0] * 5 + [1] * 6))
    with pytest.raises(RecordingError, match="map_every=1"):
        list(drives_of(later, SHAPE))
