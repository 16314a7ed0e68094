"""Whole turns, sorted by bearing, with a time for each sample; what was lost in them is said."""

import math

import numpy as np
import pytest

from lidar_streams import MODES, room, samples_of, stream
from sandlot.sensing.rplidar import Turns
from sandlot.sensing.rplidar.clock import FASTER, SLOWER, Arrivals, steady
from sandlot.sensing.rplidar.device import KINDS
from sandlot.sensing.rplidar.turns import MAX_SAMPLES, even_bearings


def turns_of(samples, pieces=1):
    turns, found = Turns(), []
    for part in np.array_split(np.arange(len(samples)), pieces):
        found += turns.add(samples[part])
    return found


@pytest.mark.parametrize("name", MODES)
@pytest.mark.parametrize("pieces", [1, 97])
def test_turns_are_whole_and_sorted(name, pieces):
    kind, mode = MODES[name]
    data, _ = stream(name, 1.2)
    times = {"baud": KINDS[kind].baud, "times": lambda end: _sent(name, end)}
    turns = turns_of(samples_of(data, cuts=range(0, len(data), 500), **times), pieces)
    rate = KINDS[kind].turns
    assert math.floor(1.2 * rate) - 2 <= len(turns) <= math.floor(1.2 * rate)  # the first and the last are cut
    for turn in turns:
        bearings = turn.samples.bearings
        assert turn.complete
        assert (np.diff(bearings) >= 0).all()
        assert bearings[0] > -math.pi
        assert bearings[-1] <= math.pi
        assert len(turn.samples) == pytest.approx(1.0 / (rate * mode.period), rel=0.05)
        scan = turn.scan(max_range=12.0)
        assert np.nanmax(abs(scan.ranges - room(scan.bearings, None))) < 0.03


@pytest.mark.parametrize("yaw", [0.0, 1.0, -3.0])
def test_a_turned_lidar(yaw):
    turn = turns_of(samples_of(stream("Express", 0.8)[0]))[1]
    scan, even = turn.scan(yaw=yaw), turn.even_scan(360, yaw=yaw)
    assert (np.diff(scan.bearings) >= 0).all()
    assert np.nanmax(abs(scan.ranges - room(scan.bearings - yaw, None))) < 0.03
    assert np.nanmedian(abs(even.ranges - room(even.bearings - yaw, None))) < 0.02
    np.testing.assert_allclose(even.bearings, even_bearings(360))
    # Beams that are measured later are younger; the turn begins in front and goes clockwise.
    order = np.argsort(np.mod(yaw - even.bearings, 2.0 * math.pi))
    assert (np.diff(even.ages[order]) <= 0).all()


def test_the_nearest_return_of_a_beam_is_kept():
    turn = turns_of(samples_of(stream("Boost", 0.8)[0]))[1]
    even, scan = turn.even_scan(90), turn.scan()
    for k, bearing in enumerate(even.bearings):
        inside = abs(scan.bearings - bearing) < math.pi / 90 - 1e-9
        assert even.ranges[k] <= np.nanmin(scan.ranges[inside])


def test_far_returns_are_left_out():
    turn = turns_of(samples_of(stream("Express", 0.8)[0]))[1]
    assert np.nanmax(turn.scan(max_range=2.0).ranges) < 2.0
    assert np.isnan(turn.scan(max_range=2.0).ranges).any()


@pytest.mark.parametrize("name", MODES)
def test_a_turn_whose_beginning_was_lost_is_cut_all_the_same(name):
    """No turn is twice as long as the others, and those with a loss say so."""
    kind, _ = MODES[name]
    data, turn_bytes = stream(name, 1.4)
    times = {"baud": KINDS[kind].baud, "times": lambda end: _sent(name, end)}
    usual = np.median([len(turn.samples) for turn in turns_of(samples_of(data))])
    for share in np.linspace(0.0, 1.0, 9):
        at = 7 + int((2.0 + share) * turn_bytes)
        broken = data[:at] + data[at + turn_bytes // 6 + 1 :]
        turns = turns_of(samples_of(broken, cuts=range(0, len(broken), 100), **times))
        assert max(len(turn.samples) for turn in turns) < 1.2 * usual
        assert sum(not turn.complete for turn in turns) in (1, 2)
        assert len(turns) >= 4


def test_a_head_that_stands_still_fills_no_memory():
    turns, samples = Turns(), samples_of(stream("Express", 0.3)[0])
    still = samples[np.zeros(1000, np.int64)]
    for _ in range(2 * MAX_SAMPLES // 1000):
        assert turns.add(still) == []
    assert turns._count <= MAX_SAMPLES


@pytest.mark.parametrize("name", MODES)
@pytest.mark.parametrize("delay", [0.0, 0.004])
def test_times_are_those_of_the_measurement(name, delay):
    """The head's direction at that time is that of the sample; random delays of pieces are partly removed."""
    kind, _ = MODES[name]
    rng, (data, _) = np.random.default_rng(1), stream(name, 1.0 if delay else 0.3)
    cuts = np.unique(rng.integers(0, len(data), 100)) if delay else np.arange(1, len(data), 3)
    delays = dict(zip([*cuts.tolist(), len(data)], rng.exponential(delay, len(cuts) + 1).tolist(), strict=True))
    late = {end: _sent(name, end) + delays.get(end, 0.0) for end in [*cuts.tolist(), len(data)]}
    samples = samples_of(data, cuts=cuts, baud=KINDS[kind].baud, times=late.get)
    head = 360.0 * KINDS[kind].turns * samples.times + 1.5 * np.sin(2.0 * math.pi * 0.3 * samples.times)
    behind = np.mod(head - samples.angles / 64 + 180.0, 360.0) - 180.0
    error = (behind - (0.0 if name == "Dense" else 7.7)) / (360.0 * KINDS[kind].turns)
    assert abs(np.median(error)) < (delay or 0.001)
    assert np.quantile(abs(error), 0.9) < 0.0015 + 1.2 * delay  # nine of ten raw delays are below 2.3 times the mean


def _sent(name, end):
    """When a device has sent so many bytes of a scan, of which each packet is sent when it is complete [s]."""
    kind, mode = MODES[name]
    size, count = {"Standard": (5, 1), "Express": (84, 32), "Boost": (132, 96), "Dense": (84, 40)}[name]
    packets = max(end - 7, 0) // size
    late = 1 if name == "Boost" else 0  # the first sample of the next packet must be known
    return ((packets + 1) * count + late) * mode.period + (max(end - 7, 0) % size) * 10 / KINDS[kind].baud


def test_a_piece_arrives_byte_by_byte():
    arrivals = Arrivals(0.001)
    arrivals.note(10, 5.0)
    arrivals.note(12, 6.0)
    np.testing.assert_allclose(arrivals.at(np.array([0, 9, 10, 11])), [4.991, 5.0, 5.999, 6.0])
    arrivals.forget(11)
    np.testing.assert_allclose(arrivals.at(np.array([11])), [6.0])


def plain_steady(arrived, fresh, duration, before):
    times, last = [], before
    for now, new in zip(arrived, fresh, strict=True):
        expected = last + SLOWER * duration
        now = now if new or not expected < now else max(expected, now - 0.1)
        last = now if math.isnan(last) else max(now, last + FASTER * duration)
        times.append(last)
    return times


def test_times_increase_when_a_late_reader_finds_several_pieces_at_once():
    """Each piece holds 0.3 s, and is read after a pause: by the line's rate, it began before the last."""
    piece = 0.008 * np.arange(-37, 1)
    arrived, times = np.concatenate([1.0 + piece, 1.001 + piece, 1.002 + piece]), np.empty(114)
    steady(arrived, np.zeros(114, np.int64), 0.008, math.nan, times)
    assert (np.diff(times) > 0.0).all()


def test_times_are_steady():
    rng = np.random.default_rng(0)
    arrived = np.arange(200) * 0.008 + rng.exponential(0.003, 200)
    fresh = (rng.random(200) < 0.02).astype(np.int64)
    times = np.empty(200)
    steady(arrived, fresh, 0.008, math.nan, times)
    np.testing.assert_allclose(times, plain_steady(arrived, fresh, 0.008, math.nan))
    share = FASTER * 0.008 * np.arange(200)
    assert (np.diff(times) >= FASTER * 0.008 - 1e-12).all()
    assert (times <= np.maximum.accumulate(arrived - share) + share + 1e-12).all(), "no later than needed to increase"
    assert np.std(times - np.arange(200) * 0.008) < 0.6 * np.std(arrived - np.arange(200) * 0.008)
