"""Quadrature decoding as the source's table gives it, missed pulses, and odometry."""

import math

import numpy as np
import pytest

from sandlot.sensing.track_encoders import TrackEncoders, decode

EXACT = TrackEncoders(missed=0.0)
FORWARD, BACKWARD = 1, -1
TABLE = [
    ("A", "rising", 0, FORWARD),
    ("A", "rising", 1, BACKWARD),
    ("A", "falling", 0, BACKWARD),
    ("A", "falling", 1, FORWARD),
    ("B", "rising", 0, BACKWARD),
    ("B", "rising", 1, FORWARD),
    ("B", "falling", 0, FORWARD),
    ("B", "falling", 1, BACKWARD),
]
"""Section 6.3.1 of the source: channel, edge, level of the other channel, direction; clockwise is forward."""


@pytest.mark.parametrize(("channel", "edge", "other", "direction"), TABLE)
def test_an_edge_is_decoded_as_in_the_source(channel, edge, other, direction):
    assert decode(channel == "A", edge == "rising", bool(other)) == direction


def read(encoders, travels, width=0.3, interval=1.0):
    travels = np.asarray(travels, np.float64)[None]
    state = encoders.start(np.zeros((1, 3)), np.array([3], np.uint64))
    encoders.read(state, travels, width, interval)
    return state[0]


def twin(travels, encoders):
    """Count by looking at the levels of both channels on a fine grid."""
    pulse, count = math.pi * encoders.sprocket / encoders.pulses, 0
    fine = np.interp(np.linspace(0, len(travels) - 1, 200_001), np.arange(len(travels)), travels) / pulse
    a, b = np.mod(fine, 1.0) < 0.5, np.mod(fine - 0.25, 1.0) < 0.5
    for mine, other, is_a in ((a, b, True), (b, a, False)):
        for k in np.flatnonzero(mine[1:] != mine[:-1]) if is_a or encoders.channels == 2 else ():
            count += next(
                row[3]
                for row in TABLE
                if row[:3] == ("A" if is_a else "B", "rising" if mine[k + 1] else "falling", int(other[k + 1]))
            )
    return count


@pytest.mark.parametrize("channels", [1, 2])
def test_counts_agree_with_a_twin_that_watches_both_channels(channels):
    encoders = TrackEncoders(missed=0.0, channels=channels)
    travels = [0.0001, 0.02, 0.0313, 0.011, -0.04, -0.0377, 0.003]
    assert read(encoders, np.column_stack([travels, travels])).count_left == twin(travels, encoders)


def test_a_turn_of_the_sprocket_has_76_pulses_and_152_edges():
    assert EXACT.travel == pytest.approx(math.pi * 0.05 / 152)
    around = math.pi * 0.05 * np.linspace(0.0, 1.0, 20) + 1e-6
    state = read(EXACT, np.column_stack([around, -around]))
    assert (state.count_left, state.count_right) == (152, -152)


def test_missed_edges_are_lost_at_their_rate():
    ahead = np.linspace(0.0, 10.0, 501)
    state = read(TrackEncoders(missed=0.05), np.column_stack([ahead, ahead]))
    for count in (state.count_left, state.count_right):
        assert count * EXACT.travel == pytest.approx(9.5, abs=0.1)
    assert state.count_left != state.count_right
    assert read(TrackEncoders(missed=1.0), np.column_stack([ahead, ahead])).count_left == 0


def test_odometry_follows_the_counts():
    ahead = np.linspace(0.0, 1.0, 51)
    state = read(EXACT, np.column_stack([ahead, ahead]), interval=4.0)
    assert (state.odometry_x, state.odometry_y, state.odometry_yaw) == pytest.approx((1.0, 0.0, 0.0), abs=0.003)
    assert (state.speed, state.turn_rate) == pytest.approx((0.25, 0.0), abs=0.002)
    state = read(EXACT, np.column_stack([0.85 * ahead, 1.15 * ahead]), interval=4.0)
    assert state.odometry_yaw == pytest.approx(1.0, abs=0.01)
    assert (state.odometry_x, state.odometry_y) == pytest.approx((math.sin(1.0), 1.0 - math.cos(1.0)), abs=0.01)
    assert state.turn_rate == pytest.approx(0.25, abs=0.003)


def test_reading_in_pieces_gives_the_same_counts():
    travels = np.cumsum(np.random.default_rng(0).normal(0.002, 0.005, (1, 41, 2)), axis=1)
    whole, parts = (EXACT.start(np.zeros((1, 3)), np.zeros(1, np.uint64)) for _ in range(2))
    EXACT.read(whole, travels, 0.3, 1.0)
    for low in range(0, 40, 8):
        EXACT.read(parts, travels[:, low : low + 9], 0.3, 0.2)
    for name in ("count_left", "count_right", "odometry_x", "odometry_y", "odometry_yaw"):
        assert whole[name][0] == parts[name][0]
