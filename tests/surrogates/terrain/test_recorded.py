"""Drives are read from recordings as they were driven."""

import numpy as np
import pytest

from sandlot import recordings
from sandlot.errors import RecordingError
from sandlot.physics.soil import PRESETS
from sandlot.surrogates.terrain.contact import LOAD, QUARTERS, RUT, SEEN, UNDER, look
from sandlot.surrogates.terrain.drives import STATES, symmetries
from sandlot.surrogates.terrain.feet import make_ground
from sandlot.surrogates.terrain.grip import GRIPS, hold_along, spots_of
from sandlot.surrogates.terrain.inputs import SOIL_INPUTS, shear_of
from sandlot.surrogates.terrain.recorded import (
    Follower,
    Poses,
    drives_of,
    ground_before,
    open_drives,
    read_drives,
    soil_below,
)
from sandlot.surrogates.terrain.shape import shape_of
from sandlot.surrogates.terrain.springs import Give, make_springs
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
    np.testing.assert_array_equal(drive.seen[0, RUT : RUT + QUARTERS], 0.0)
    untouched = ground_before(recording, 0).heights
    settled = rebuild(recording, 0).values
    assert (untouched - settled).max() > 0.005
    assert untouched.sum() == pytest.approx(settled.sum(), abs=1e-4)


def test_a_rover_is_where_the_recorded_ground_carries_it(recorded):
    """Its height and tilt are close to those at which springs carry its weight, which knows nothing of the drive."""
    for soil, height, tilt in (("soft", 2e-3, 0.01), ("mid", 2e-3, 0.01)):
        drive = next(drives_of(open_drives(recorded[soil]), SHAPE))
        rests = np.median(np.abs(drive.rests[5:]), axis=0)
        assert np.all(rests < (height, tilt, tilt))
        loads = drive.seen[5:, LOAD : LOAD + QUARTERS].sum(axis=1) + drive.seen[5:, UNDER : UNDER + QUARTERS].sum(
            axis=1
        )
        np.testing.assert_allclose(np.median(loads), 4.0, atol=0.1)


def test_rigid_ground_keeps_no_footprints(tmp_path):
    record_world("terrain", tmp_path / "rigid", 60, "varied", settings={"ground": "rigid", "shape": (60, 60)})
    recording = open_drives(tmp_path / "rigid")
    (drive,) = drives_of(recording, SHAPE)
    follower = Follower(recording, SHAPE, drive.soil, 0)
    follower.follow(Poses(drive.position, drive.attitude, drive.wheels), 60)
    assert follower.state["imprints"] == 0
    np.testing.assert_array_equal(follower.ground.firm, follower.ground.initial)


def test_motion_is_that_of_the_recording(drive):
    speed = np.hypot(*drive.motion[1:, :2].T)
    np.testing.assert_allclose(speed * 0.01, np.hypot(*np.diff(drive.position[1:, :2], axis=0).T), atol=1e-12)
    inputs = drive.inputs(SHAPE)
    assert inputs.shape == (len(drive.commands) - 1, SEEN + 2 + STATES + GRIPS)
    np.testing.assert_allclose(inputs[1:, SEEN + 2 : SEEN + 5], drive.motion[1:-1], atol=1e-12)
    np.testing.assert_allclose(np.cumsum(drive.states[:, 8:11], axis=0), drive.motion - drive.motion[0], atol=1e-12)


@pytest.mark.parametrize(("ground", "expected"), [("soil", "soft"), ("particles", "mid"), ("rigid", "rigid")])
def test_ground_that_is_no_soil_may_be_taken_for_one(recorded, monkeypatch, ground, expected):
    path = recorded["soft"]
    given = recordings.settings(recordings.open(path)) | {"ground": ground}
    monkeypatch.setattr(recordings, "settings", lambda recording: given)
    assert soil_below(open_drives(path, PRESETS["mid"])) == PRESETS[expected]
    assert soil_below(open_drives(path)) == (None if ground == "particles" else PRESETS[expected])


def test_a_rover_moves_although_the_ground_below_it_would_carry_it_elsewhere(drive):
    """Changes of its height and tilt are those of the rover, but for its way along the slope that it has seen."""
    dx, dy = drive.interval * drive.motion[1:, :2].T
    ahead, left = drive.seen[:-1, -2:].T
    roll, pitch = drive.attitude[1:, 0], drive.attitude[1:, 1]
    expected = np.column_stack([np.diff(drive.position[1:, 2]) - dx * ahead - dy * left, np.diff(pitch), np.diff(roll)])
    np.testing.assert_allclose(drive.states[1:, 11:], expected, atol=1e-12)
    np.testing.assert_array_equal(drive.states[0, 8:], 0.0)
    assert np.abs(drive.shifts).max() > 1e-5


def test_symmetries_are_their_own_inverse_and_keep_what_is_symmetric(drive):
    rows, states = drive.rows(SHAPE), drive.states
    found = symmetries(SHAPE, 0)
    assert len(found) == 4
    for each in found:
        assert sorted(each.rows) == list(range(rows.shape[1]))
        twice = each.then(each)
        np.testing.assert_array_equal(rows[:, twice.rows] * twice.row_signs, rows)
        np.testing.assert_array_equal(states[:, twice.states] * twice.state_signs, states)
        np.testing.assert_array_equal(np.abs(states[:, each.states][:, :3]), np.abs(states[:, :3]))
        turned = np.ascontiguousarray(states[:, each.states] * each.state_signs)
        seen = drive.seen[:, each.rows[:SEEN]] * each.row_signs[:SEEN]
        grips = hold_along(spots_of(SHAPE), drive.interval, shear_of(drive.soil), seen, turned)
        np.testing.assert_allclose(grips, drive.grips(SHAPE)[:, each.grips] * each.grip_signs, atol=1e-12)


def test_a_mirrored_drive_is_what_a_mirrored_world_shows(drive):
    """Exchanging y and -y in the ground, the poses and the commands gives the same rows as the symmetry does."""
    seen = drive.seen[5]
    y, x = np.mgrid[-60:61, -60:61] * 0.01
    heights = 0.05 * np.sin(9.0 * x + 1.0) * np.cos(7.0 * y + 0.5)
    mirror, springs = symmetries(SHAPE, len(SOIL_INPUTS))[1], make_springs(SHAPE.feet, 0.01)
    found, place, give = [], np.array([0.03, 0.02]), Give(1e6, 10.0, 0.02, 1.0, 0.0, 0.0)
    for sign in (1, -1):
        ground = make_ground(np.ascontiguousarray(heights[::sign]), (-0.6, -0.6), 0.01, False)
        ground.initial[:] *= 0.9
        looked, wheels = np.zeros_like(seen), np.array([3.0, -5.0][::sign])
        springs.rest[:] = 0.05, 0.01, 0.02 * sign
        for _ in range(3):
            look(SHAPE.body, ground, place * (1, sign), 0.4 * sign, wheels, give, springs, looked)
        found.append(looked)
    width = len(seen)
    np.testing.assert_allclose(found[1], found[0][mirror.rows[:width]] * mirror.row_signs[:width], atol=1e-3)


def test_missing_quantities_are_named(tmp_path):
    record_world("leveling", tmp_path / "other", 5)
    with pytest.raises(RecordingError, match=r"lacks .*wheel_speed_left.*height_change"):
        open_drives(tmp_path / "other")


def test_several_rovers_are_refused(tmp_path):
    given = {"rovers": ("wheeled", "wheeled"), "shape": (150, 150), "terrain": "flat"}
    record_world("terrain", tmp_path / "two", 3, settings=given)
    with pytest.raises(RecordingError, match="2 rovers"):
        read_drives([tmp_path / "two"], SHAPE)


def test_skipped_frames_are_refused(tmp_path):
    given = {"shape": (150, 150), "terrain": "flat", "frame_skip": 3}
    record_world("terrain", tmp_path / "skipped", 3, settings=given)
    with pytest.raises(RecordingError, match="every 3 frames"):
        read_drives([tmp_path / "skipped"], SHAPE)


def test_random_hills_without_a_map_are_refused(tmp_path):
    given = {"terrain": "hills", "shape": (150, 150), "map_every": 100}
    record_world("terrain", tmp_path / "hills", 10, settings=given)
    recording = open_drives(tmp_path / "hills")
    later = recording.assign(episode=recording["episode"].copy(data=[0] * 5 + [1] * 6))
    with pytest.raises(RecordingError, match="map_every=1"):
        list(drives_of(later, SHAPE))
