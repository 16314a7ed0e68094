"""Importing and exporting: formats are recognized, recordings appear whole or not at all, and come back the same."""

import dataclasses
import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data import real_log
from fuzzing import damaged
from sandlot import recordings
from sandlot.errors import SandlotError
from sandlot.recordings.logs import FORMATS, Pose, Scan, Source, export_log, guess_format, import_log
from sandlot.recordings.logs.findings import Tally
from sandlot.recordings.logs.recorded import OPTIONAL
from sandlot.recordings.scans import quantities

LINE = "FLASER 2 1.5 {range} {x} 2 0.5 {x} 2.5 0.4 {time} host {time}\n"
CARMEN = "".join(LINE.format(x=0.5 * n, time=10 + 0.25 * n, range=3 if n % 4 else 81.83) for n in range(8))
ROVER5 = " ".join(map(str, [0, 0, 0, *range(360)])) + "\n"
GRAPH = "VERTEX2 0 1 2 3\nROBOTLASER1 0 -1.5 3.0 1.5 50 0.1 0 2 4.5 50 0 1 2 0.25 1 2 0.25 0 0 0 0 0 7 host 1\n"
TABLE = "time,range_0.5\n0,2\n1,3\n"
SAMPLES = {"carmen": CARMEN, "rover5": ROVER5, "posegraph": GRAPH, "csv": TABLE}


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("kind", SAMPLES)
@pytest.mark.parametrize("packed", [False, True])
def test_formats_are_recognized_by_content(tmp_path, kind, packed):
    data = SAMPLES[kind].encode()
    path = write(tmp_path / "some.dat", gzip.compress(data) if packed else data)
    assert guess_format(Source(path)) == kind
    assert import_log(path, tmp_path / "out").format == kind
    assert recordings.settings(recordings.open(tmp_path / "out"))["format"] == kind


def test_a_recording_of_scans(tmp_path):
    seen = []
    found = import_log(
        write(tmp_path / "a.log", CARMEN + "NEFF 1\n"),
        tmp_path / "a",
        progress=lambda done, total: seen.append((done, total)),
    )
    assert dataclasses.asdict(found) == {
        "format": "carmen",
        "scans": 8,
        "beams": 2,
        "duration": 1.75,
        "distance": 3.5,
        "missing": 2 / 16,
        "gaps": 0,
        "longest_gap": 0.0,
        "backwards": 0,
        "damage": "",
        "notes": ("lines left out: NEFF (1)",),
    }
    assert seen[-1][0] == seen[-1][1] == len(CARMEN) + 7
    with recordings.open(tmp_path / "a") as recording:
        assert set(recording.variables) - {"time_bearings"} == set(quantities(2))
        assert recording["ranges"].dims == ("time", "beam")
        assert recording["ranges"].dtype == np.float32
        assert recording["x"].dims == ("time",)
        np.testing.assert_allclose(recording["bearings"].values, np.radians([[-90, 0]]))
        about = recordings.settings(recording)
        assert (about["source"], about["format"], about["start"]) == ("a.log", "carmen", 10.0)
        assert about["notes"] == ["lines left out: NEFF (1)"]
        assert about["findings"]["distance"] == 3.5
    assert names(tmp_path) == ["a", "a.log"]


def test_bearings_are_kept_once(tmp_path):
    wide = " ".join(["FLASER", "50000", *["1.5"] * 50_000, "0 0 0 0 0 0 1 host 1"]) + "\n"
    import_log(write(tmp_path / "a.log", wide * 3), tmp_path / "a")
    with recordings.open(tmp_path / "a") as recording:
        assert recording["bearings"].shape == (1, 50_000)
        assert recording["bearings"].encoding["chunks"] == (1, 50_000)
        assert recording["ranges"].encoding["chunks"][0] <= 7


@pytest.mark.parametrize(
    "line", ["FLASER 180 1.0\n", LINE.format(x=1, time=1, range=1).replace("FLASER 2 1.5", "FLASER 1")]
)
def test_damage_keeps_nothing_unless_asked_for(tmp_path, line):
    path = write(tmp_path / "a.log", CARMEN + line)
    with pytest.raises(SandlotError, match="--partial keeps the 8 scans before it"):
        import_log(path, tmp_path / "a")
    assert names(tmp_path) == ["a.log"]
    found = import_log(path, tmp_path / "a", partial=True)
    assert found.scans == 8
    assert "a.log" in found.damage
    with recordings.open(tmp_path / "a") as recording:
        assert recording.sizes["time"] == 8
        assert recordings.settings(recording)["findings"]["damage"] == found.damage
    assert names(tmp_path) == ["a", "a.log"]


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        (b"", None, "is empty; known formats: ros1, ros2, mcap"),
        (b"hello\n", None, "is not of a known log format"),
        (bytes(range(256)) * 9, None, "is not of a known log format"),
        (b"\x1f\x8b\x08 not gzip", None, "is empty"),
        (
            b"ODOM 0 0 0 0 0 0 1 h 1\n",
            None,
            "has no scans; in the format carmen they are lines of FLASER or ROBOTLASER1",
        ),
        (b"time,range_0\n", None, "has no scans; in the format csv they are rows"),
        (CARMEN.encode(), "rover5", "line 1: 13 numbers; a line has 363"),
        (CARMEN.encode(), "ros1", "does not begin like a ROS 1 bag"),
        (CARMEN.encode(), "mcap", "does not begin like an MCAP file"),
        (CARMEN.encode(), "ros2", "cannot be read as a ROS 2 bag: file is not a database"),
        (CARMEN.encode(), "karmen", "no format 'karmen'; known: ros1"),
        (gzip.compress(b"#ROSBAG V2.0\n", mtime=0), None, "is a bag inside gzip; unpack it first"),
        (b"#ROSBAG V2.0\n", None, "has no scans; in the format ros1"),
    ],
)
def test_a_file_that_is_not_a_log_gets_one_line(tmp_path, text, kind, said):
    path = write(tmp_path / "a.log", text)
    with pytest.raises(SandlotError) as error:
        import_log(path, tmp_path / "a", kind, partial=True)
    assert said in str(error.value)
    assert names(tmp_path) == ["a.log"]


def test_paths_that_are_wrong(tmp_path):
    with pytest.raises(SandlotError, match="there is no log at"):
        import_log(tmp_path / "nothing", tmp_path / "a")
    with pytest.raises(SandlotError, match="directory without a ROS 2 bag"):
        import_log(tmp_path, tmp_path / "a")
    path = write(tmp_path / "a.log", CARMEN)
    (tmp_path / "a").mkdir()
    with pytest.raises(SandlotError, match="already exists"):
        import_log(path, tmp_path / "a")
    with pytest.raises(SandlotError, match=r"^cannot write .*a\.log/a: Not a directory$"):
        import_log(path, path / "a")


def test_gaps_and_steps_back():
    tally = Tally()
    times = [0.0, 0.1, 0.2, 0.15, 0.25, 0.4, 3.0, 3.1, 3.2, 4.1, 10.0, 10.1]
    for time in times:
        tally.add(Scan(time, np.float32([np.nan]), np.zeros(1), Pose(time, 0, 0)))
    found = tally.findings("test")
    assert (found.gaps, found.backwards, found.missing) == (2, 1, 1.0)
    assert found.longest_gap == pytest.approx(5.9)
    assert found.duration == 10.1
    assert found.distance == pytest.approx(10.2)


def test_slow_lasers_have_no_gaps():
    tally = Tally()
    for time in range(0, 100, 3):
        tally.add(Scan(float(time), np.float32([1]), np.zeros(1)))
    assert tally.findings("test").gaps == 0
    assert np.isnan(tally.findings("test").distance)


@pytest.mark.parametrize("kind", SAMPLES)
@settings(max_examples=12)
@given(data=st.data())
def test_damaged_logs_leave_a_recording_or_nothing(tmp_path_factory, kind, data):
    folder = tmp_path_factory.mktemp("damaged")
    path = write(folder / "a.log", data.draw(damaged(SAMPLES[kind].encode() * 2)))
    try:
        found = import_log(path, folder / "a", data.draw(st.sampled_from([None, *FORMATS])), partial=True)
    except SandlotError:
        assert names(folder) == ["a.log"]
    else:
        with recordings.open(folder / "a") as recording:
            assert recording.sizes["time"] == found.scans > 0
            recording.load()


@pytest.mark.parametrize("kind", SAMPLES)
def test_mcap_and_back(tmp_path, kind):
    import_log(write(tmp_path / "a.log", SAMPLES[kind]), tmp_path / "a")
    assert export_log(tmp_path / "a", tmp_path / "a.mcap") == ()
    assert import_log(tmp_path / "a.mcap", tmp_path / "b").format == "mcap"
    assert_alike(tmp_path / "a", tmp_path / "b")
    assert names(tmp_path) == ["a", "a.log", "a.mcap", "b"]


def assert_alike(first, second):
    with recordings.open(first) as a, recordings.open(second) as b:
        np.testing.assert_array_equal(b["ranges"], a["ranges"])
        np.testing.assert_allclose(b["bearings"], a["bearings"], atol=1e-5)
        for name in ("time", "x", "y", "odometry_x", "odometry_y", "speed", "turn_rate"):
            np.testing.assert_allclose(b[name], a[name], atol=1e-6, err_msg=name)
        for name in ("yaw", "odometry_yaw"):
            np.testing.assert_allclose(
                np.exp(1j * b[name].values), np.exp(1j * a[name].values), atol=1e-6, err_msg=name
            )
        there, here = (recordings.settings(each).get("laser_position", [0, 0]) for each in (a, b))
        np.testing.assert_allclose(here, there)


@pytest.mark.parametrize("times", [[5, 6, 4, 4, 7], [3, 3, 3, 3, 3]])
def test_mcap_keeps_the_order_of_scans_whose_times_go_back_or_stand_still(tmp_path, times):
    lines = [LINE.format(x=0.5 * n, time=time, range=n + 1) for n, time in enumerate(times)]
    import_log(write(tmp_path / "a.log", "".join(lines)), tmp_path / "a")
    export_log(tmp_path / "a", tmp_path / "a.mcap")
    import_log(tmp_path / "a.mcap", tmp_path / "b")
    assert_alike(tmp_path / "a", tmp_path / "b")


def test_times_that_stand_still_are_noted(tmp_path):
    lines = [LINE.format(x=n, time=time, range=1) for n, time in enumerate([3, 3, 3, 4, 4])]
    found = import_log(write(tmp_path / "a.log", "".join(lines)), tmp_path / "a")
    assert found.notes == ("3 of 5 scans have the same time as the one before; do not trust the times",)


def test_other_readers_open_exported_files(tmp_path):
    from rosbags.highlevel import AnyReader

    import_log(write(tmp_path / "a.log", CARMEN), tmp_path / "a")
    export_log(tmp_path / "a", tmp_path / "a.mcap")
    with AnyReader([tmp_path / "a.mcap"]) as bag:
        assert {topic: info.msgcount for topic, info in bag.topics.items()} == {
            "/scan": 8,
            "/odom": 8,
            "/tf": 8,
            "/tf_static": 1,
        }
        scans = [bag.deserialize(data, each.msgtype) for each, _, data in bag.messages() if each.topic == "/scan"]
    assert scans[0].header.frame_id == "laser"
    np.testing.assert_array_equal(scans[0].ranges, np.float32([1.5, np.inf]))
    assert scans[0].range_max > 1.5
    assert scans[0].header.stamp.sec == 10


@pytest.mark.parametrize("suffix", [".csv", ".mcap"])
@pytest.mark.parametrize("settings", [{}, {"start": None}, {"start": [1.0, 2.0, 0.5], "laser_position": "top"}])
def test_quantities_may_be_missing_or_unknown_in_an_export(tmp_path, suffix, settings):
    """A world has no odometry and no speeds, but a quantity of its own, and settings that mean something else."""
    kept = {name: quantity for name, quantity in quantities(2).items() if name not in OPTIONAL}
    with recordings.Writer(
        tmp_path / "a", kept | {"wind": kept["yaw"]}, settings=settings, seed=1, world="Indoor-v0"
    ) as out:
        for number in range(300):
            scan = Scan(float(number), np.float32([1, np.nan]), np.array([0.0, 1.0]), Pose(number, 1.0, 0.5)).frame()
            out.append({name: scan[name] for name in kept} | {"wind": np.float64(3)})
    assert export_log(tmp_path / "a", tmp_path / f"a{suffix}") == ("wind",)
    import_log(tmp_path / f"a{suffix}", tmp_path / "b")
    with recordings.open(tmp_path / "a") as first, recordings.open(tmp_path / "b") as second:
        for name in ("time", "x", "y", "yaw", "ranges"):
            np.testing.assert_allclose(second[name], first[name], atol=1e-9)
        assert np.isnan(second["speed"]).all()


def test_an_export_keeps_the_laser_position_and_the_start(tmp_path):
    settings = {"laser_position": [0.2, 0.1], "start": 1e9}
    with recordings.Writer(tmp_path / "a", quantities(2), settings=settings, seed=None, world="my rover") as out:
        out.append(Scan(0.0, np.float32([1, 2]), np.array([0.0, 1.0]), Pose(0.0, 0.0, 0.0)).frame())
    export_log(tmp_path / "a", tmp_path / "a.mcap")
    import_log(tmp_path / "a.mcap", tmp_path / "b")
    with recordings.open(tmp_path / "b") as dataset:
        found = recordings.settings(dataset)
    assert found["laser_position"] == pytest.approx([0.2, 0.1])
    assert found["start"] == pytest.approx(1e9)


@pytest.mark.parametrize("name", ["ranges", "bearings"])
def test_a_damaged_recording_is_not_exported(tmp_path, name):
    import_log(write(tmp_path / "a.log", CARMEN), tmp_path / "a")
    (chunk,) = (tmp_path / "a" / name).glob("c.*")
    chunk.write_bytes(b"abc" + chunk.read_bytes()[3:])
    with pytest.raises(SandlotError, match="the recording is damaged"):
        export_log(tmp_path / "a", tmp_path / "a.csv")
    assert names(tmp_path) == ["a", "a.log"]


def test_impossible_exports_get_one_line(tmp_path):
    import_log(write(tmp_path / "a.log", CARMEN), tmp_path / "a")
    with pytest.raises(SandlotError, match=r"ends in \.mcap, \.csv"):
        export_log(tmp_path / "a", tmp_path / "a.bag")
    with pytest.raises(SandlotError, match="there is no recording"):
        export_log(tmp_path / "b", tmp_path / "b.csv")
    for name in ("a.csv", "a.mcap"):
        with pytest.raises(SandlotError, match=rf"^cannot write .*a\.log/{name}: Not a directory$"):
            export_log(tmp_path / "a", tmp_path / "a.log" / name)
    write(tmp_path / "a.csv", "")
    with pytest.raises(SandlotError, match="already exists"):
        export_log(tmp_path / "a", tmp_path / "a.csv")
    import_log(write(tmp_path / "uneven.csv", "time,range_0,range_1,range_5\n1,2,3,4\n"), tmp_path / "uneven")
    with pytest.raises(SandlotError, match="not evenly spaced"):
        export_log(tmp_path / "uneven", tmp_path / "uneven.mcap")
    import_log(write(tmp_path / "early.csv", "time,range_0\n-1,2\n"), tmp_path / "early")
    with pytest.raises(SandlotError, match="cannot be written"):
        export_log(tmp_path / "early", tmp_path / "early.mcap")
    kept = {name: quantity for name, quantity in quantities(2).items() if name != "ranges"}
    recordings.Writer(tmp_path / "c", kept, settings={}, seed=None, world="log").close()
    with pytest.raises(SandlotError, match="not a recording of scans: it has no ranges"):
        export_log(tmp_path / "c", tmp_path / "c.csv")
    recordings.Writer(tmp_path / "d", quantities(2), settings={}, seed=None, world="log").close()
    with pytest.raises(SandlotError, match="has no frames"):
        export_log(tmp_path / "d", tmp_path / "d.csv")
    assert names(tmp_path) == ["a", "a.csv", "a.log", "c", "d", "early", "early.csv", "uneven", "uneven.csv"]


@pytest.mark.parametrize(
    ("name", "kind", "scans", "beams", "missing"),
    [
        ("intel-lab/intel-corrected", "carmen", 910, 180, 0.0255),
        ("rover5-rplidar/24jul14", "rover5", 237, 360, 0.618),
    ],
)
def test_real_logs_and_back(tmp_path, name, kind, scans, beams, missing):
    found = import_log(real_log(f"{name}.log.gz"), tmp_path / "a")
    assert (found.format, found.scans, found.beams) == (kind, scans, beams)
    assert found.missing == pytest.approx(missing, abs=1e-3)
    export_log(tmp_path / "a", tmp_path / "a.mcap")
    import_log(tmp_path / "a.mcap", tmp_path / "b")
    assert_alike(tmp_path / "a", tmp_path / "b")
