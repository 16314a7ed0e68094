"""Scans with their poses: from recordings, cut into segments and windows, and how well they cover a place."""

import itertools
import math

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from sandlot import recordings
from sandlot.errors import RecordingError, SandlotError
from sandlot.surrogates.sensorgraph import Sensorgraph, directions, parts
from sandlot.worlds.record import record_world

SEEDS = st.integers(0, 2**32 - 1)


def graph(seed=0, scans=7, beams=36, lost=0.2, field_of_view=math.pi):
    rng = np.random.default_rng(seed)
    poses = rng.uniform((-3.0, -2.0, -9.0), (3.0, 5.0, 9.0), (scans, 3))
    ranges = rng.uniform(0.5, 9.0, (scans, beams))
    ranges[rng.random((scans, beams)) < lost] = np.nan
    return Sensorgraph(poses, ranges, ((np.arange(beams) + 0.5) / beams - 0.5) * field_of_view)


def dataset(**changes):
    made = graph()
    found = {
        **{name: (("time",), made.poses[:, k]) for k, name in enumerate(("x", "y", "yaw"))},
        "ranges": (("time", "beam"), made.ranges.astype(np.float32)),
        "bearings": (("once", "beam"), made.bearings[None]),
    }
    return xr.Dataset({name: value for name, value in (found | changes).items() if value is not None})


def median(values):
    known = sorted(value for value in values if not math.isnan(value))
    middle = len(known) // 2
    if not known:
        return math.nan
    return known[middle] if len(known) % 2 else 0.5 * (known[middle - 1] + known[middle])


def test_it_is_made_from_a_recording(tmp_path):
    record_world("indoor", tmp_path / "a", 12, None, 0, {"laser": {"beams": 24}})
    with recordings.open(tmp_path / "a") as recording:
        made = Sensorgraph.of(recording)
        assert len(made) == 13
        names = ("x", "y", "yaw")
        np.testing.assert_array_equal(made.poses, np.column_stack([recording[name].values for name in names]))
        np.testing.assert_array_equal(made.ranges.astype(np.float32), recording["ranges"].values)
    assert made.ranges.dtype == np.float64
    assert made.bearings.shape == (24,)
    assert made.field_of_view == pytest.approx(math.pi)
    assert made.centre_bearing == 0.0


def test_scans_without_a_pose_are_left_out():
    yaw = graph().poses[:, 2].copy()
    yaw[[1, 4]] = np.nan, np.inf
    made = Sensorgraph.of(dataset(yaw=(("time",), yaw)))
    np.testing.assert_array_equal(made.poses, graph().poses[[0, 2, 3, 5, 6]])
    np.testing.assert_allclose(made.ranges, graph().ranges[[0, 2, 3, 5, 6]], rtol=1e-6)


def test_beams_of_an_upside_down_laser_are_reversed():
    around = graph()
    made = Sensorgraph.of(
        dataset(
            bearings=(("once", "beam"), around.bearings[None, ::-1]),
            ranges=(("time", "beam"), around.ranges[:, ::-1]),
        )
    )
    np.testing.assert_array_equal(made.bearings, around.bearings)
    np.testing.assert_array_equal(made.ranges, around.ranges)


@pytest.mark.parametrize("name", ["x", "y", "yaw", "ranges", "bearings"])
def test_missing_quantities_are_named(name):
    with pytest.raises(SandlotError, match=f"has no {name}; a sensor model needs scans and poses"):
        Sensorgraph.of(dataset(**{name: None}))


def test_damage_is_explained(tmp_path):
    record_world("indoor", tmp_path / "a", 4, None, 0, {"laser": {"beams": 24}})
    for chunk in (tmp_path / "a" / "ranges").rglob("c*"):
        if chunk.is_file():
            content = bytearray(chunk.read_bytes())
            content[len(content) // 2] ^= 0xFF
            chunk.write_bytes(content)
    with recordings.open(tmp_path / "a") as recording, pytest.raises(SandlotError, match="the recording is damaged"):
        Sensorgraph.of(recording)


def test_no_pose_at_all_is_explained():
    with pytest.raises(SandlotError, match="no scan with a known pose"):
        Sensorgraph.of(dataset(yaw=(("time",), np.full(7, np.nan))))


@pytest.mark.parametrize(
    "changes",
    [
        {"ranges": (("time", "beam"), np.zeros((7, 0))), "bearings": (("once", "beam"), np.zeros((1, 0)))},
        {"bearings": (("once", "beam"), np.zeros((0, 36)))},
        {"bearings": (("once", "angle"), np.zeros((1, 35)))},
        {"bearings": (("beam",), np.zeros(36))},
        {"bearings": (("once", "beam"), np.full((1, 36), np.nan))},
    ],
    ids=["no beams", "no row", "other length", "one axis", "NaN"],
)
def test_a_table_of_bearings_that_is_empty_or_wrong_is_explained(changes):
    with pytest.raises(RecordingError, match="bearings of the beams are missing, or do not match the ranges"):
        Sensorgraph.of(dataset(**changes))


@given(SEEDS, st.integers(1, 9), st.floats(0.0, 1.0))
def test_segments_are_medians_of_equal_parts(seed, count, lost):
    made = graph(seed, lost=lost)
    found = made.segments(count)
    assert found.shape == (7, count)
    for scan, row in zip(made.ranges.tolist(), found, strict=True):
        sizes = [36 // count + (k < 36 % count) for k in range(count)]
        ends = np.cumsum([0, *sizes])
        expected = [median(scan[low:high]) for low, high in itertools.pairwise(ends)]
        np.testing.assert_allclose(row, expected, rtol=1e-15)


@given(SEEDS, st.sampled_from([1, 3, 6]), st.sampled_from([2.0, 5.0, 11.0]), st.sampled_from([0.0, 0.4, 0.95]))
def test_windows_are_as_wide_as_a_segment_and_have_the_right_direction(seed, count, step, lost):
    made = graph(seed, lost=lost)
    rays, medians, scans = made.windows(count, math.radians(step))
    wide, apart = 36 // count, max(1, round(step / 5.0))
    expected = []
    for k in range(len(made)):
        for start in range(0, 36 - wide + 1, apart):
            value = median(made.ranges[k, start : start + wide].tolist())
            if not math.isnan(value):
                middle = made.bearings[start] + 0.5 * (wide - 1) * math.pi / 36
                expected.append((*made.poses[k, :2], made.poses[k, 2] + middle, value, k))
    expected = np.array(expected).reshape(-1, 5)
    np.testing.assert_allclose(rays, expected[:, :3], atol=1e-12)
    np.testing.assert_allclose(medians, expected[:, 3], rtol=1e-15)
    np.testing.assert_array_equal(scans, expected[:, 4])


def test_windows_at_segments_equal_the_segments():
    made = graph(lost=0.0)
    rays, medians, _ = made.windows(6, math.radians(30.0))
    np.testing.assert_array_equal(medians.reshape(7, 6), made.segments())
    np.testing.assert_allclose(rays, directions(made.poses, made.segment_bearings()), atol=1e-12)


def test_directions_are_the_segment_bearings_plus_yaw():
    np.testing.assert_allclose(np.degrees(graph().segment_bearings()), [-75, -45, -15, 15, 45, 75])
    aside = Sensorgraph(graph().poses, graph().ranges, graph().bearings + 0.3)
    assert aside.centre_bearing == pytest.approx(0.3)
    asked = directions(aside.poses, aside.segment_bearings())
    np.testing.assert_allclose(asked[:6, 2] - aside.poses[0, 2], aside.bearings.reshape(6, 6).mean(1), atol=1e-12)
    assert asked.shape == (42, 3)


@given(SEEDS, st.integers(1, 20), st.integers(1, 40))
def test_histograms_count_every_scan_once(seed, bins, scans):
    made = graph(seed, scans)
    coverage = made.coverage(bins)
    assert [int(coverage[name].sum()) for name in ("x", "y", "yaw")] == [scans] * 3
    place = np.abs(np.angle(np.exp(1j * (coverage["yaw_bin"].values[:, None] - made.poses[:, 2])))).argmin(0)
    np.testing.assert_array_equal(np.bincount(place, minlength=bins), coverage["yaw"].values)
    assert coverage["x"].attrs["units"] == "1"
    assert coverage["yaw_bin"].attrs["units"] == "rad"


def test_places_with_few_scans_are_named():
    turn = np.linspace(-math.pi, math.pi, 120, endpoint=False)
    ranges, bearings = np.ones((120, 6)), graph(beams=6).bearings
    even = Sensorgraph(np.column_stack([np.linspace(0, 12, 120), np.linspace(0, 6, 120), turn]), ranges, bearings)
    assert even.thin() == []
    poses = even.poses.copy()
    poses[:, 0] = np.where((poses[:, 0] > 4.0) & (poses[:, 0] < 6.0), 0.0, poses[:, 0])
    assert Sensorgraph(poses, ranges, bearings).thin() == [
        "few scans around x = 4.5, 5.5 m: the model is unreliable there"
    ]
    poses[:, 2] = np.abs(turn)
    assert "yaw = -2.9, -2.4, -1.8, -1.3, -0.8, -0.3 rad" in Sensorgraph(poses, ranges, bearings).thin()[1]


@given(SEEDS, st.integers(1, 30), st.floats(0.0, 1.0))
def test_a_split_keeps_the_order_and_loses_nothing(seed, scans, share):
    made = graph(seed, scans)
    first, last = made.split(share)
    assert abs(len(last) - share * scans) <= 0.5
    both = Sensorgraph.join([first, last])
    np.testing.assert_array_equal(both.poses, made.poses)
    np.testing.assert_array_equal(both.ranges, made.ranges)


def test_only_logs_of_the_same_laser_can_be_joined():
    with pytest.raises(SandlotError, match=r"different lasers: 36 beams from .* and 18 beams"):
        Sensorgraph.join([graph(), graph(beams=18)])
    with pytest.raises(SandlotError, match="different lasers"):
        Sensorgraph.join([graph(), graph(field_of_view=3.0)])


def test_scans_without_enough_beams_or_returns_are_refused():
    with pytest.raises(SandlotError, match="a scan has 4 beams; 6 segments need at least 6"):
        graph(beams=4).check()
    with pytest.raises(SandlotError, match="no beam of any scan has a return"):
        graph(lost=1.1).check()
    graph().check()


def test_part_selects_scans():
    made = graph()
    np.testing.assert_array_equal(made.part([2, 0]).poses, made.poses[[2, 0]])
    assert len(made.part(slice(3))) == 3


@pytest.mark.parametrize("beams", [6, 8, 20, 181, 360])
def test_segment_bearings_are_the_means_of_their_beams(beams):
    made = graph(beams=beams)
    each = [made.bearings[part] for part in parts(beams)]
    assert np.concatenate(each).tolist() == made.bearings.tolist()
    np.testing.assert_allclose(made.segment_bearings(), [np.mean(part) for part in each])


@pytest.mark.parametrize(
    "bearings",
    [
        np.arange(360) * 2.0 * np.pi / 360,  # once around, from straight ahead
        -np.arange(360) * 2.0 * np.pi / 360,  # clockwise
        np.arange(360) * 2.0 * np.pi / 360 - np.pi,
    ],
)
def test_beams_of_a_full_circle_start_behind_the_robot(bearings):
    ranges = np.tile(np.abs((bearings + np.pi) % (2.0 * np.pi) - np.pi), (7, 1)).astype(np.float32)
    made = Sensorgraph.of(dataset(bearings=(("once", "beam2"), bearings[None]), ranges=(("time", "beam2"), ranges)))
    assert abs(made.centre_bearing) < 0.02
    assert made.field_of_view == pytest.approx(2.0 * np.pi)
    assert (np.diff(made.bearings) > 0.0).all()
    np.testing.assert_allclose(made.ranges[0], np.abs(made.bearings), atol=1e-5)


def test_a_field_of_view_across_pi_stays_in_one_piece():
    bearings = np.pi + np.radians(np.arange(-45.0, 46.0, 2.5))
    made = Sensorgraph.of(
        dataset(bearings=(("once", "beam2"), bearings[None]), ranges=(("time", "beam2"), np.ones((7, len(bearings)))))
    )
    assert made.field_of_view == pytest.approx(np.radians(92.5))
    assert abs(abs(made.centre_bearing) - np.pi) < 1e-9


def test_poses_are_moved_to_the_laser():
    plain = Sensorgraph.of(dataset())
    moved = dataset()
    moved.attrs["settings"] = '{"laser_position": [0.4, -0.1]}'
    made = Sensorgraph.of(moved)
    cos, sin = np.cos(plain.poses[:, 2]), np.sin(plain.poses[:, 2])
    np.testing.assert_allclose(made.poses[:, 0] - plain.poses[:, 0], 0.4 * cos + 0.1 * sin, atol=1e-12)
    np.testing.assert_allclose(made.poses[:, 1] - plain.poses[:, 1], 0.4 * sin - 0.1 * cos, atol=1e-12)
    np.testing.assert_array_equal(made.poses[:, 2], plain.poses[:, 2])
