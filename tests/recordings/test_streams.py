"""Streams of different rates in one MCAP file."""

import numpy as np
import pytest

from sandlot.errors import RecordingError
from sandlot.recordings.streams import StreamWriter, flat_pose, read_samples, read_streams, stamped

SCAN, POSE = "sensor_msgs/msg/LaserScan", "geometry_msgs/msg/PoseStamped"


def write(path, scans=5, poses=50):
    with StreamWriter(path) as writer:
        for k in range(poses):
            at = 1000.0 + 0.1 * k
            writer.write("/pose", POSE, at, {"header": stamped(at, "map"), "pose": flat_pose(0.1 * k, 0.0, 0.5)})
            if k % (poses // scans) == 0:
                fields = {"header": stamped(at, "laser"), "angle_increment": 0.1, "ranges": np.full(9, 0.5 * k)}
                writer.write("/scan", SCAN, at, fields)


def test_each_stream_has_its_own_times(tmp_path):
    write(tmp_path / "a.mcap")
    streams = read_streams(tmp_path / "a.mcap")
    assert streams["/pose"].sizes["time"] == 50
    assert streams["/scan"].sizes["time"] == 5
    np.testing.assert_allclose(streams["/scan"].time, 1000.0 + np.arange(5.0), atol=1e-6)
    np.testing.assert_allclose(streams["/pose"]["pose.position.x"], 0.1 * np.arange(50))
    assert streams["/scan"]["ranges"].shape == (5, 9)


def test_rosbags_reads_it(tmp_path):
    highlevel = pytest.importorskip("rosbags.highlevel")
    write(tmp_path / "a.mcap")
    with highlevel.AnyReader([tmp_path / "a.mcap"]) as bag:
        counts = {connection.topic: 0 for connection in bag.connections}
        for connection, _, raw in bag.messages():
            counts[connection.topic] += 1
            message = bag.deserialize(raw, connection.msgtype)
    assert counts == {"/pose": 50, "/scan": 5}
    assert message.header.frame_id


def test_the_library_of_foxglove_reads_it(tmp_path):
    reader = pytest.importorskip("mcap.reader")
    write(tmp_path / "a.mcap")
    with (tmp_path / "a.mcap").open("rb") as file:
        summary = reader.make_reader(file).get_summary()
    assert summary.statistics.message_count == 55
    assert {each.encoding for each in summary.schemas.values()} == {"ros2msg"}


def test_a_file_that_was_cut_off_is_read_up_to_there(tmp_path):
    write(tmp_path / "a.mcap", scans=100, poses=2000)
    whole = (tmp_path / "a.mcap").read_bytes()
    (tmp_path / "b.mcap").write_bytes(whole[: len(whole) // 2])
    assert 100 < len(list(read_samples(tmp_path / "b.mcap"))) < 2100


def test_a_file_is_not_overwritten(tmp_path):
    write(tmp_path / "a.mcap")
    with pytest.raises(RecordingError, match="already exists"):
        StreamWriter(tmp_path / "a.mcap")
