"""Recorded drives, driven again on other soil."""

import numpy as np
import pytest
from numba import config

from sandlot import recordings
from sandlot.errors import RecordingError
from sandlot.physics.soil import PRESETS
from sandlot.recordings.vocabulary import quantity
from sandlot.surrogates.soil.reading import ReadSettings, read_evidence
from sandlot.surrogates.soil.rover_log import envelope, read_logs
from sandlot.surrogates.soil.shooting import Shooting, Simulation, motion_at

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="MuJoCo is called by its address")


def errors(evidence, kind):
    away, layout = evidence.predict(kind) - evidence.measured, evidence.layout
    return {
        channel.name: float(np.sqrt(np.mean(away[layout.channel == k] ** 2)))
        for k, channel in enumerate(layout.channels)
    }


def real_log(drive, path):
    """What a real rover would keep of the same drive: poses and wheel speeds."""
    recording = recordings.open(drive)
    names = ("time", "x", "y", "yaw", "wheel_speed_left", "wheel_speed_right")
    columns = [recording[name].values.reshape(len(recording["time"])) for name in names]
    lines = [",".join(names), *(",".join(map(repr, row)) for row in np.column_stack(columns).tolist())]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_soil_of_a_recording_explains_it_better_than_others(drive):
    (log,) = read_logs(drive, 2.0, 0.5)
    evidence = Shooting(log, "wheeled", 0.5)
    true, soft = errors(evidence, PRESETS["mid"]), errors(evidence, PRESETS["soft"])
    assert true["height [m]"] < 2e-4
    assert true["depth of ruts [m]"] < 1e-3
    assert true["distance ahead [m]"] < 2e-3
    for name in true:
        assert true[name] < 0.6 * soft[name], name


def test_a_simulation_with_the_same_soil_stays_near_a_recording(drive):
    (log,) = read_logs(drive, 2.0, 0.5)
    simulation = Simulation(log, Shooting(log, "wheeled", 0.5).vehicle, PRESETS["mid"])
    simulation.put_back(log.position[0], log.yaw[0], motion_at(log, 0))  # it slid while it settled
    for frame in range(50):
        simulation.advance(frame)
    driven = np.hypot(*(log.position[50] - log.position[0]))
    assert np.hypot(*(simulation.pose[:2] - log.position[50])) < 0.05 * driven


def test_a_rover_that_is_put_back_moves_as_recorded(drive):
    (log,) = read_logs(drive, 2.0, 0.5)
    simulation = Simulation(log, Shooting(log, "wheeled", 0.5).vehicle, PRESETS["soft"])
    before = simulation.pose
    simulation.put_back(log.position[60], log.yaw[60], motion_at(log, 60))
    assert simulation.pose[[0, 1, 5]] == pytest.approx([*log.position[60], log.yaw[60]], abs=1e-9)
    assert simulation.pose[3:5] == pytest.approx(before[3:5], abs=1e-9)
    assert simulation.motion == pytest.approx(motion_at(log, 60), abs=1e-9)


def test_a_log_with_wheel_speeds_alone_is_evidence_too(drive, tmp_path):
    path = real_log(drive, tmp_path / "log.csv")
    (evidence,) = read_evidence([path], ReadSettings(seconds=1.0))
    assert [channel.name for channel in evidence.layout.channels] == [
        "distance ahead [m]",
        "distance to the left [m]",
        "turn [rad]",
    ]
    assert evidence.log.commands is None
    predicted = evidence.predict(PRESETS["mid"])
    assert np.isfinite(predicted).all()
    wheels = [evidence.vehicle.rovers.model.dof_armature[dofs] for dofs in evidence.vehicle.sides]
    assert (np.concatenate(wheels) > 1.0).all()


def test_wheels_of_such_a_log_turn_as_recorded(drive, tmp_path):
    (evidence,) = read_evidence([real_log(drive, tmp_path / "log.csv")], ReadSettings(seconds=1.0))
    simulation = Simulation(evidence.log, evidence.vehicle, PRESETS["soft"])
    for frame in range(20):
        simulation.advance(frame)
    left, right = (simulation._data.qvel[dofs] for dofs in evidence.vehicle.sides)
    assert left == pytest.approx(evidence.log.wheels[20, 0], abs=1e-4)
    assert right == pytest.approx(evidence.log.wheels[20, 1], abs=1e-4)


def test_missing_quantities_are_named(drive, tmp_path):
    path = tmp_path / "poses"
    with recordings.Writer(path, {n: quantity(n) for n in ("time", "x", "y")}, settings={}, seed=0, world="log") as out:
        for k in range(5):
            out.append({"time": 0.1 * k, "x": 0.0, "y": 0.0})
    with pytest.raises(RecordingError, match="poses lacks yaw, wheel_speed_left, wheel_speed_right; to fit soil"):
        read_logs(path, 1.0, 0.5)
    text = real_log(drive, tmp_path / "log.csv").read_text().replace("wheel_speed_left", "left")
    (tmp_path / "log.csv").write_text(text)
    with pytest.raises(RecordingError, match="lacks wheel_speed_left"):
        read_evidence([tmp_path / "log.csv"], ReadSettings())


def test_short_and_uneven_logs_are_refused(drive, tmp_path):
    with pytest.raises(RecordingError, match="no drive of at least 30 s"):
        read_evidence([drive], ReadSettings(window=30.0))
    lines = real_log(drive, tmp_path / "log.csv").read_text().splitlines()
    (tmp_path / "log.csv").write_text("\n".join([*lines[:50], *lines[60:]]))
    with pytest.raises(RecordingError, match="uneven times"):
        read_evidence([tmp_path / "log.csv"], ReadSettings())


def test_wheels_stand_on_the_tops_of_grains():
    x = np.arange(60)
    grains = 0.0125 * np.abs(np.sin(np.pi * x / 2.5))[None, :] * np.ones((60, 1))
    found = envelope(grains, 0.0125, 0.01)
    assert np.ptp(found) < 0.1 * np.ptp(grains)
    assert found.mean() > 0.9 * grains.max()
    assert np.array_equal(envelope(grains, 0.0, 0.01), grains)
