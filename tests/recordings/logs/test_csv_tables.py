"""CSV tables: named columns in any order; exported and imported again, every number is the same."""

import math

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzzing import damaged, survive
from sandlot import recordings
from sandlot.recordings.logs import export_log, import_log
from sandlot.recordings.logs.csv_tables import read_csv
from sandlot.recordings.logs.source import DamagedError, Source
from sandlot.recordings.scans import Pose, Scan, quantities

TABLE = """time,x,y,yaw,speed,range_-0.5,range_0,range_0.5
1.5,0.25,-3,0.125,,2.5,,1e1
2,0.5,-3,0.25,0.5,2.25,3,
"""


def read(tmp_path, text):
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    source = Source(tmp_path / "a.csv")
    return source, list(read_csv(source))


def test_columns_by_their_names(tmp_path):
    source, (first, second) = read(tmp_path, TABLE)
    assert (first.time, second.time) == (1.5, 2.0)
    assert first.pose == (0.25, -3, 0.125)
    assert np.isnan(first.odometry).all()
    assert math.isnan(first.speed)
    assert second.speed == 0.5
    np.testing.assert_array_equal(first.ranges, np.float32([2.5, np.nan, 10]))
    np.testing.assert_array_equal(first.bearings, [-0.5, 0, 0.5])
    assert source.notes == []


def test_order_quotes_blanks_and_a_mark_do_not_matter(tmp_path):
    _, (scan,) = read(tmp_path, '\ufeff"range_0" , "time",x\r\n"4" , 1 ,7\r\n')
    assert (scan.time, scan.pose.x, scan.ranges.tolist()) == (1.0, 7.0, [4.0])


def test_other_columns_are_noted(tmp_path):
    source, _ = read(tmp_path, "time,yaww,range_0\n1,2,3\n")
    assert source.notes[0].startswith("columns left out: yaww; known: time, x, y, yaw")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no column 'time'"),
        ("a,b\n1,2\n", "no column 'time' among a, b"),
        ("time,time,range_0\n1,2,3\n", "same name"),
        ("time,x\n1,2\n", "no ranges among time, x; name them as in range_-0.0174"),
        ("time,range_left\n1,2\n", "the bearing of a range is wrong"),
        ("time,range_nan\n1,2\n", "the bearing of a range is wrong"),
        ("time,range_0\n1\n", "line 2: 1 cells, but 2 columns"),
        ("time,range_0\n1,2\n1,2,3\n", "line 3: 3 cells, but 2 columns"),
        ("time,range_0\n1,abc\n", "line 2: 'abc' is not a finite number"),
        ("time,range_0\n1,inf\n", "'inf' is not a finite number"),
        ("time,range_0\n,1\n", "has no time"),
    ],
)
def test_a_wrong_table(tmp_path, text, said):
    with pytest.raises(DamagedError, match=r"a.csv, line \d: ") as error:
        read(tmp_path, text)
    assert said in str(error.value)


number = st.floats(allow_infinity=False, width=64)


@st.composite
def drives(draw):
    """Scans with every kind of number, NaN where a value is unknown."""
    beams = draw(st.integers(1, 4))
    bearings = np.array(draw(st.lists(st.floats(-7, 7), min_size=beams, max_size=beams, unique_by=repr)))
    ranges = st.lists(st.floats(0, 2.0**19, width=32) | st.just(math.nan), min_size=beams, max_size=beams)
    times = draw(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=4))
    return [
        Scan(
            time,
            np.array(draw(ranges), np.float32),
            bearings,
            Pose(*draw(st.tuples(number, number, number))),
            Pose(*draw(st.tuples(number, number, number))),
            draw(number),
            draw(number),
        )
        for time in times
    ]


@settings(max_examples=15)
@given(scans=drives())
def test_out_and_in_again_is_the_same(tmp_path_factory, scans):
    folder = tmp_path_factory.mktemp("round")
    kept = quantities(len(scans[0].ranges))
    about = {"start": 1e9 + 0.1, "laser_position": [0.1 + 0.2, -1e-17]}
    with recordings.Writer(folder / "a", kept, settings=about, seed=None, world="log", chunk=2) as writer:
        for scan in scans:
            writer.append(scan.frame())
    assert export_log(folder / "a", folder / "a.csv") == ()
    import_log(folder / "a.csv", folder / "b")
    first, second = (recordings.open(folder / name) for name in "ab")
    xr.testing.assert_identical(first.drop_attrs(deep=False), second.drop_attrs(deep=False))
    assert {key: recordings.settings(second)[key] for key in about} == about


@settings(max_examples=100)
@given(data=damaged(TABLE.encode()))
def test_damage(tmp_path_factory, data):
    survive(read_csv, tmp_path_factory.getbasetemp() / "table.csv", data)


def test_very_many_columns(tmp_path):
    wide = ",".join(["time", *(f"range_{n}" for n in range(100_001))]) + "\n"
    assert survive(read_csv, tmp_path / "a.csv", wide.encode()) == []
    survive(read_csv, tmp_path / "a.csv", b"time,x\n" + b"," * 900_000)


def test_a_range_that_no_laser_has_is_damage(tmp_path):
    (tmp_path / "a.csv").write_text("time,x,range_0\n1,2,1e308\n")
    with pytest.raises(DamagedError, match="a range is beyond"):
        list(read_csv(Source(tmp_path / "a.csv")))
