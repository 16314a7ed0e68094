"""Packets of scans as a device makes them, for the emulator and for tests; many packets at a time."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sandlot.sensing.rplidar.capsules import DENSE, EXPRESS, INVALID_LOW, NEAR_OFFSET, NEAREST, OFFSET, ULTRA
from sandlot.typing import Array, IntArray

Packets = NDArray[np.uint8]
SCALES = ((16384, 3328, 4), (4096, 1792, 3), (2048, 1280, 2), (512, 512, 1), (0, 0, 0))
"""Distances from [mm], their code, and the power of two of their resolution, in an ultra capsule."""
LARGEST_CODE = 4095


def head_offsets(distances: ArrayLike) -> Array:
    """Angle from the head to samples, by distance [1/4 mm]: laser and camera are apart; [degree]."""
    given = np.asarray(distances, np.int64)
    k = 98361 // np.maximum(given, NEAREST)
    offsets = np.where(given >= NEAREST, OFFSET - (k << 6) - k**3 // 98304, NEAR_OFFSET)
    return np.asarray(offsets * (180 / 3.14159265 / 65536))


def encode_nodes(angles: ArrayLike, distances: ArrayLike, qualities: ArrayLike, starts: ArrayLike) -> Packets:
    """Standard packets: (n, 5).

    Args:
        angles: (n,) [1/64 degree], 0 to 360 degrees.
        distances: (n,) [1/4 mm], 0 without a return.
        qualities: (n,) 0 to 63.
        starts: (n,) whether a turn begins.
    """
    angle, distance = np.asarray(angles, np.int64), np.asarray(distances, np.int64)
    start = np.asarray(starts, np.int64)
    head = (np.asarray(qualities, np.int64) << 2) | ((1 - start) << 1) | start
    columns = [head, ((angle & 0x7F) << 1) | 1, angle >> 7, distance & 0xFF, distance >> 8]
    return np.stack(columns, axis=1).astype(np.uint8)


def encode_express(
    start_angles: IntArray, distances: IntArray, offsets: IntArray, begins: ArrayLike = False
) -> Packets:
    """Legacy express capsules: (n, 84).

    Args:
        start_angles: (n,) direction of the head at the first sample [1/64 degree].
        distances: (n, 32) [mm], 0 without a return, below 2^14.
        offsets: (n, 32) angle of each sample behind the head [1/8 degree], 0 to 63.
        begins: (n,) whether the device has just begun to scan.
    """
    words = (distances << 2) | (offsets >> 4)
    cabins = np.empty((len(distances), EXPRESS // 2, 5), np.uint8)
    for k in range(2):
        cabins[:, :, 2 * k], cabins[:, :, 2 * k + 1] = words[:, k::2] & 0xFF, words[:, k::2] >> 8
    cabins[:, :, 4] = (offsets[:, 0::2] & 15) | ((offsets[:, 1::2] & 15) << 4)
    return _sealed(start_angles, begins, cabins.reshape(len(distances), -1))


def encode_dense(start_angles: IntArray, distances: IntArray, begins: ArrayLike = False) -> Packets:
    """Dense capsules: (n, 84), of distances (n, 40) [mm], below 2^16; else as `encode_express`."""
    words = distances.astype("<u2").view(np.uint8).reshape(len(distances), 2 * DENSE)
    return _sealed(start_angles, begins, words)


def encode_ultra(
    start_angles: IntArray, distances: IntArray, next_distance: int = 0, begins: ArrayLike = False
) -> Packets:
    """Ultra capsules: (n, 132), of distances (n, 96) [mm]; of each three, two are told relative to their neighbours.

    Distances lose resolution as they grow. One that differs too much from its neighbours counts as no return.

    Args:
        start_angles: (n,) direction of the head at the first sample [1/64 degree].
        distances: (n, 96) [mm], 0 without a return.
        next_distance: First distance of the capsule that follows [mm].
        begins: (n,) whether the device has just begun to scan.
    """
    flat = np.append(distances.ravel(), next_distance)
    codes = _scaled(flat[::3])
    majors, levels = _unscaled(codes)
    here, ahead = slice(None, -1), slice(1, None)
    empty = (majors[here] == 0) & (majors[ahead] != 0)
    base, level = np.where(empty, majors[ahead], majors[here]), np.where(empty, levels[ahead], levels[here])
    first = _prediction(flat[1::3], base, level)
    second = _prediction(flat[2::3], majors[ahead], levels[ahead])
    combined = codes[here] | ((first & 0x3FF) << 12) | ((second & 0x3FF) << 22)
    body = combined.astype("<u4").view(np.uint8).reshape(len(distances), ULTRA // 3 * 4)
    return _sealed(start_angles, begins, body)


def _sealed(start_angles: IntArray, begins: ArrayLike, body: Packets) -> Packets:
    """Put the head before the bodies of capsules: checksum, start angle, and whether the device has just begun."""
    words = np.asarray(start_angles, np.int64) | (np.asarray(begins, np.int64) << 15)
    angles = words.astype("<u2").view(np.uint8).reshape(-1, 2)
    rest = np.hstack([angles, body])
    check = np.bitwise_xor.reduce(rest, axis=1)
    return np.column_stack([0xA0 | (check & 15), 0x50 | (check >> 4), rest]).astype(np.uint8)


def _scaled(distances: IntArray) -> IntArray:
    conditions = [distances >= least for least, _, _ in SCALES]
    values = [code + ((distances - least) >> level) for least, code, level in SCALES]
    return np.minimum(np.select(conditions, values), LARGEST_CODE)


def _unscaled(codes: IntArray) -> tuple[IntArray, IntArray]:
    conditions = [codes >= code for _, code, _ in SCALES]
    distances = np.select(conditions, [least + ((codes - code) << level) for least, code, level in SCALES])
    return distances, np.select(conditions, [np.full_like(codes, level) for _, _, level in SCALES])


def _prediction(distances: IntArray, base: IntArray, level: IntArray) -> IntArray:
    steps = np.round((distances - base) / (1 << level)).astype(np.int64)
    return np.where((distances > 0) & (abs(steps) < -INVALID_LOW - 1), steps, INVALID_LOW)
