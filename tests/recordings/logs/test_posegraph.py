"""Pose graphs: a vertex is the pose of the scan that follows it."""

import numpy as np
import pytest
from hypothesis import given, settings

from data import real_log
from fuzzing import damaged, survive
from sandlot.recordings.logs.posegraph import read_posegraph
from sandlot.recordings.logs.source import DamagedError, Source

LASER = "ROBOTLASER1 0 -1.5 3.0 0.5 50.0 0.1 0 3 4.5 50.0 81.83  0 1 2 0.25 1 2 0.25 0 0 0 0 0 {} host 1.0\n"
GRAPH = "VERTEX2 {} {} 3.5 0.5\n"
EDGE = "EDGE2 0 1 0.003973 0.000461 0.278146 100 0 100 500 0 0\n"


def log(times):
    return (
        "".join(GRAPH.format(number, number) + LASER.format(time) for number, time in enumerate(times))
        + "#LOOP\n"
        + EDGE
    )


def read(tmp_path, text):
    (tmp_path / "a.log").write_text(text)
    source = Source(tmp_path / "a.log")
    return source, list(read_posegraph(source))


def test_vertices_are_the_best_known_poses(tmp_path):
    source, scans = read(tmp_path, log([7.5, 8.0]))
    assert [scan.pose for scan in scans] == [(0, 3.5, 0.5), (1, 3.5, 0.5)]
    assert scans[0].odometry == (1, 2, 0.25)
    assert [scan.time for scan in scans] == [0.0, 0.5]
    np.testing.assert_array_equal(scans[0].ranges, np.float32([4.5, np.nan, np.nan]))
    assert np.isnan(scans[0].speed)
    assert (source.settings["start"], source.notes) == (7.5, [])


def test_without_times_scans_are_numbered(tmp_path):
    source, scans = read(tmp_path, log([0, 0, 0]))
    assert [scan.time for scan in scans] == [0, 1, 2]
    assert "no times" in source.notes[0]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (LASER.format(1), "a vertex has to come before every scan"),
        ("VERTEX2 0 1\n", "not a valid 'VERTEX2' line"),
        ("VERTEX2 0 1 2 nan\n", "not a finite number"),
        ("VERTEX3 0 1 2 3\n", "known are VERTEX2"),
        ("VERTEX2 0 1 2 3\nROBOTLASER1 0\n", "ends before"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, line, said):
    with pytest.raises(DamagedError, match=r"a.log, line \d: ") as error:
        read(tmp_path, log([1]).removesuffix(EDGE) + line)
    assert said in str(error.value)


@settings(max_examples=100)
@given(data=damaged(log([7.5, 8.0, 8.5]).encode()))
def test_damage(tmp_path_factory, data):
    survive(read_posegraph, tmp_path_factory.getbasetemp() / "graph.log", data)


def test_the_intel_lab():
    source = Source(real_log("intel-lab/intel-graph.log.gz"))
    scans = list(read_posegraph(source))
    assert len(scans) == 2672
    assert np.mean([np.isnan(scan.ranges).mean() for scan in scans]) == pytest.approx(0.0222, abs=1e-4)
    steps = np.diff([scan.pose[:2] for scan in scans], axis=0)
    assert np.hypot(*steps.T).sum() == pytest.approx(360.7, abs=0.1)
    np.testing.assert_allclose(np.degrees(scans[0].bearings[[0, 90, 179]]), [-90, 0, 89], atol=0.01)
