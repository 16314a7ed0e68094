"""Packets are decoded as the protocol describes them: captured ones exactly, made ones as a plain decoder does."""

import json

import numpy as np
import pytest

from data import real_log
from lidar_streams import MODES, patchy, room, samples_of, stream
from sandlot.sensing.rplidar.answers import LENGTHS, Answer, descriptor
from sandlot.sensing.rplidar.encoding import encode_dense, encode_express, encode_nodes, encode_ultra, head_offsets
from twins import rplidar as twin

TWINS = {Answer.EXPRESS: twin.express, Answer.DENSE: twin.dense, Answer.ULTRA: twin.ultra}


@pytest.mark.parametrize(("name", "answer"), [("express", Answer.EXPRESS), ("ultra", Answer.ULTRA)])
def test_captured_capsules_are_decoded_exactly(name, answer):
    captured = json.loads(real_log(f"rplidar-bytes/pyrplidar_{name}_capsules.json").read_text())
    samples = samples_of(descriptor(answer) + b"".join(map(bytes.fromhex, captured["packets_hex"])))
    expected = np.array(captured["expected"]).reshape(-1, 4)
    assert len(samples) == len(expected) == {"express": 128, "ultra": 384}[name]
    np.testing.assert_array_equal(np.where(samples.starts, 1, 2), expected[:, 0])
    np.testing.assert_array_equal(samples.qualities.astype(int) << 2, expected[:, 1])
    np.testing.assert_array_equal((samples.angles.astype(np.int64) << 8) // 90, expected[:, 2])
    np.testing.assert_array_equal(samples.distances, expected[:, 3])


def random_capsules(answer, rng, count=6):
    body = LENGTHS[answer] - 4
    distances = rng.integers(0, 2**14, (count, {80: 32}.get(body, 96)))
    starts = (np.arange(count) * 1200 + rng.integers(0, 60, count) + 22000) % (360 * 64)
    if answer is Answer.EXPRESS:
        return encode_express(starts, distances, rng.integers(0, 64, distances.shape))
    if answer is Answer.DENSE:
        return encode_dense(starts, rng.integers(0, 2**16, (count, 40)))
    return encode_ultra(starts, np.where(rng.random(distances.shape) < 0.3, 0, distances // 4 + 40))


@pytest.mark.parametrize("answer", TWINS)
@pytest.mark.parametrize("seed", range(3))
def test_capsules_agree_with_a_plain_decoder(answer, seed):
    capsules = random_capsules(answer, np.random.default_rng(seed))
    samples = samples_of(descriptor(answer) + capsules.tobytes())
    pairs = zip(capsules.tolist(), capsules.tolist()[1:], strict=False)
    expected = np.array([each for pair in pairs for each in TWINS[answer](*pair)])
    assert all(twin.is_sealed(capsule) for capsule in capsules.tolist())
    np.testing.assert_array_equal(samples.distances / 4, expected[:, 1])
    apart = (samples.angles / 64 - expected[:, 0] + 180) % 360 - 180
    # The integers of the maker's driver cut the increment of an ultra capsule to 1/65536 degree.
    assert abs(apart).max() < 1.5 / 64 + 96 / 65536


def test_random_bodies_of_ultra_capsules_agree_with_a_plain_decoder():
    rng = np.random.default_rng(4)
    capsules = random_capsules(Answer.ULTRA, rng)
    capsules[:, 4:] = rng.integers(0, 256, capsules[:, 4:].shape)
    check = np.bitwise_xor.reduce(capsules[:, 2:], axis=1)
    capsules[:, 0], capsules[:, 1] = 0xA0 | check & 15, 0x50 | check >> 4
    samples = samples_of(descriptor(Answer.ULTRA) + capsules.tobytes())
    pairs = zip(capsules.tolist(), capsules.tolist()[1:], strict=False)
    expected = np.array([each for pair in pairs for each in twin.ultra(*pair)])
    np.testing.assert_array_equal(samples.distances / 4, expected[:, 1])


def test_standard_packets_agree_with_a_plain_decoder():
    rng, count = np.random.default_rng(0), 300
    angles = (np.arange(count) * 85 + rng.integers(-100, 100, count)) % (360 * 64)
    packets = encode_nodes(angles, rng.integers(0, 2**16, count), rng.integers(0, 64, count), rng.random(count) < 0.1)
    samples = samples_of(descriptor(Answer.STANDARD) + packets.tobytes())
    expected = [twin.node(packet) for packet in packets.tolist()][: len(samples)]
    assert len(samples) >= count - 12
    found = zip(samples.angles / 64, samples.distances / 4, samples.qualities, samples.starts, strict=True)
    assert list(found) == expected


def test_the_highest_bit_of_an_express_offset_is_no_sign():
    offsets = np.full((2, 32), 40)
    capsules = encode_express(np.array([6400, 6400 + 32 * 32]), np.full((2, 32), 1000), offsets)
    assert samples_of(descriptor(Answer.EXPRESS) + capsules.tobytes()).angles[0] == 6400 - 5 * 64


@pytest.mark.parametrize("name", MODES)
@pytest.mark.parametrize("view", [room, patchy])
def test_a_room_is_measured(name, view):
    """Ranges of all modes are those of the room, in counter-clockwise directions."""
    data, _ = stream(name, 0.4, view)
    samples = samples_of(data)
    expected = view(samples.bearings, samples.times)
    seen = ~np.isnan(expected) & ~np.isnan(samples.ranges)
    # At edges of what returns, the angle of an ultra sample may fall on the other side.
    assert np.mean(np.isnan(expected) == np.isnan(samples.ranges)) > 0.97
    assert len(samples) > 500
    assert abs(samples.ranges - expected)[seen].max() < 0.03
    assert np.median(abs(samples.ranges - expected)[seen]) < 0.001


def test_offsets_of_samples_behind_the_head():
    assert head_offsets([0, 199]) == pytest.approx([7.5, 7.5], abs=1e-3)
    assert head_offsets([400_000])[0] == pytest.approx(8.0, abs=1e-3)
