"""Scans in capsules, packets of many samples with a checksum: express (legacy), dense and ultra, which boost modes use.

A capsule holds the angle at which it begins; where it ends is known when the next one has come. Angles are computed in
integers, bit for bit as the maker's driver does. It takes the six bits of an express sample's angle as unsigned, and so
do captured capsules, although the published protocol calls the highest a sign.
"""

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.sensing.rplidar.nodes import AFTER_LOSS, BREAKS, GAPS, LOST_BYTES, POSITION, Bytes
from sandlot.sensing.rplidar.samples import DEGREE, TURN
from sandlot.typing import BoolArray, IntArray

Numbers = NDArray[np.int32]
HEAD = 4
EXPRESS, DENSE, ULTRA = 32, 40, 96
"""Samples of a capsule."""
PREVIOUS, CONFIRMED, LAST_STEP = 1, 2, 7
"""More entries of a finder's state: offset of the capsule before (-1 if there is none), whether it followed another,
and the angle from the one before it to it [1/64 degree]."""
FASTER, MARGIN = 1.6, 2 * DEGREE
"""A capsule that covers so many times more than the one before, plus a margin [1/64 degree], has lost its neighbour."""
FULL = 360 << 16
"""A turn in the units of angles within a capsule, 1/65536 degree."""
NEAREST = 200
"""Distances below have a constant offset of their angle [1/4 mm]."""
OFFSET = int(8 * 3.1415926535 * (1 << 16) / 180)
"""Of the angle of a sample far away, from the direction of the head [1/65536 rad]."""
NEAR_OFFSET = int(7.5 * 3.1415926535 * (1 << 16) / 180)
INVALID_LOW, INVALID_HIGH = -512, 511
"""Predictions of an ultra capsule that mean that there was no return."""


def begin_capsules() -> IntArray:
    """State of a finder that knows nothing."""
    state = np.zeros(8, np.int64)
    state[PREVIOUS] = -1
    return state


@kernel(allocates=False)
def start_angle(data: Bytes, at: int) -> int:
    """Angle at which a capsule begins [1/64 degree]."""
    return int(data[at + 2]) | (int(data[at + 3] & 0x7F) << 8)


@kernel(allocates=False)
def is_capsule(data: Bytes, at: int, size: int) -> bool:
    """Whether a capsule whose first two bytes fit has the right checksum and an angle within a turn."""
    check = 0
    for k in range(at + 2, at + size):
        check ^= data[k]
    return check == (data[at] & 15) | ((data[at + 1] & 15) << 4) and start_angle(data, at) <= TURN


@kernel(nogil=True, allocates=False)
def find_capsules(data: Bytes, size: int, state: IntArray, found: IntArray) -> int:
    """Find pairs of neighbouring capsules; the first of each can be decoded.

    A capsule found while searching may be bytes that look like one by chance. It counts when another follows; if none
    does, the search goes on one byte behind its beginning.

    Args:
        data: Bytes that are not decided yet, with those that have come since.
        size: Of a capsule [byte].
        state: See `POSITION` and `PREVIOUS`; updated in place.
        found: (n, 2) to be filled with the offset of the first of each pair, and 1 if something was lost before it.
            ``n`` is at least the number of bytes over ``size``.

    Returns:
        The number of pairs.
    """
    count, at, end = 0, state[POSITION], data.shape[0]
    while end - at >= 2:
        before = state[PREVIOUS]
        if data[at] >> 4 == 0xA and data[at + 1] >> 4 == 0x5:
            if end - at < size:
                break
            if is_capsule(data, at, size):
                if before >= 0:
                    state[CONFIRMED] = 1
                    step = (start_angle(data, at) - start_angle(data, before)) % TURN
                    if data[at + 3] >> 7:  # the device has begun anew: the one before has no end
                        state[LOST_BYTES] += size
                        state[AFTER_LOSS], state[LAST_STEP] = 1, 0
                    elif state[LAST_STEP] and step > FASTER * state[LAST_STEP] + MARGIN:
                        state[GAPS] += 1
                        state[LOST_BYTES] += size
                        state[AFTER_LOSS], state[LAST_STEP] = 1, step
                    else:
                        found[count, 0], found[count, 1] = before, state[AFTER_LOSS]
                        state[AFTER_LOSS], state[LAST_STEP] = 0, step
                        count += 1
                state[PREVIOUS] = at
                at += size
                continue
        if before >= 0 and state[CONFIRMED] == 0:
            at = before  # search again from the byte behind
            state[PREVIOUS] = -1
        elif before >= 0:
            state[PREVIOUS], state[CONFIRMED], state[AFTER_LOSS] = -1, 0, 1
            state[BREAKS] += 1
            state[LOST_BYTES] += size  # the one before has no end
        state[LOST_BYTES] += 1
        at += 1
    state[POSITION] = at
    return count


@kernel(allocates=False)
def span(data: Bytes, at: int, size: int) -> tuple[int, int]:
    """Where a capsule begins and how much it covers, up to the next one [1/256 degree]."""
    begin, end = start_angle(data, at) << 2, start_angle(data, at + size) << 2
    return begin, end - begin + ((360 << 8) if begin > end else 0)


@kernel(allocates=False)
def word(data: Bytes, at: int) -> int:
    """A little-endian number of 16 bits."""
    return int(data[at]) | (int(data[at + 1]) << 8)


@kernel(allocates=False)
def put(k: int, now: int, step: int, offset: int, angles: Numbers, starts: BoolArray) -> None:
    """Set the angle of sample k and whether a turn begins with it.

    Args:
        k: Of the sample.
        now: Direction of the head [1/65536 degree].
        step: From one sample to the next.
        offset: Of the sample from the head.
        angles: [1/64 degree]
        starts: Whether a turn begins.
    """
    angles[k] = ((now - offset) >> 10) % TURN
    starts[k] = (now + step) % FULL < step


@kernel(nogil=True, allocates=False)
def decode_express(data: Bytes, at: IntArray, angles: Numbers, distances: Numbers, starts: BoolArray) -> None:
    """Decode legacy capsules of 84 bytes at some offsets (n,), each followed by the next, into arrays of 32 n."""
    for n in range(at.shape[0]):
        begin, covered = span(data, at[n], 84)
        step, now = covered << 3, begin << 8
        for k in range(EXPRESS):
            cabin = at[n] + HEAD + 5 * (k // 2)
            value, extra = word(data, cabin + 2 * (k % 2)), int(data[cabin + 4])
            offset = ((extra >> (4 * (k % 2))) & 15) | ((value & 3) << 4)
            distances[EXPRESS * n + k] = value & 0xFFFC
            put(EXPRESS * n + k, now, step, offset << 13, angles, starts)
            now += step


@kernel(nogil=True, allocates=False)
def decode_dense(data: Bytes, at: IntArray, angles: Numbers, distances: Numbers, starts: BoolArray) -> None:
    """Decode dense capsules of 84 bytes at some offsets (n,), each followed by the next, into arrays of 40 n."""
    for n in range(at.shape[0]):
        begin, covered = span(data, at[n], 84)
        step, now = (covered << 8) // DENSE, begin << 8
        for k in range(DENSE):
            distances[DENSE * n + k] = word(data, at[n] + HEAD + 2 * k) << 2
            put(DENSE * n + k, now, step, 0, angles, starts)
            now += step


@kernel(allocates=False)
def unscale(scaled: int) -> tuple[int, int]:
    """Distance that 12 bits stand for [mm], and the power of two of its resolution."""
    if scaled >= 3328:
        return 16384 + ((scaled - 3328) << 4), 4
    if scaled >= 1792:
        return 4096 + ((scaled - 1792) << 3), 3
    if scaled >= 1280:
        return 2048 + ((scaled - 1280) << 2), 2
    if scaled >= 512:
        return 512 + ((scaled - 512) << 1), 1
    return scaled, 0


@kernel(allocates=False)
def head_offset(distance: int) -> int:
    """Angle from the head to a sample, which depends on its distance [1/4 mm], as laser and camera are apart.

    Returns:
        [1/65536 degree]
    """
    offset = NEAR_OFFSET
    if distance >= NEAREST:
        k = 98361 // distance
        offset = OFFSET - (k << 6) - k * k * k // 98304
    return int(offset * 180 / 3.14159265)


@kernel(allocates=False)
def predicted(prediction: int, base: int, level: int) -> int:
    """Distance of a sample between two major ones [1/4 mm]; 0 if it had no return."""
    if prediction in (INVALID_LOW, INVALID_HIGH):
        return 0
    return max((base + prediction * (1 << level)) << 2, 0)


@kernel(nogil=True, allocates=False)
def decode_ultra(data: Bytes, at: IntArray, angles: Numbers, distances: Numbers, starts: BoolArray) -> None:
    """Decode ultra capsules of 132 bytes at some offsets (n,), each followed by the next, into arrays of 96 n."""
    for n in range(at.shape[0]):
        begin, covered = span(data, at[n], 132)
        step, now = (covered << 3) // 3, begin << 8
        for cabin in range(32):
            place = at[n] + HEAD + 4 * cabin
            low, high = word(data, place), word(data, place + 2)
            first = (low >> 12) | ((high & 0x3F) << 4)
            second = high >> 6
            first -= 1024 if first > INVALID_HIGH else 0
            second -= 1024 if second > INVALID_HIGH else 0
            # Behind the last cabin, the first of the next capsule: 4 bytes on, and its head.
            following = place + 4 + (HEAD if cabin == 31 else 0)
            major, level = unscale(low & 0xFFF)
            next_major, next_level = unscale(word(data, following) & 0xFFF)
            k = ULTRA * n + 3 * cabin
            distances[k] = major << 2
            empty = major == 0 and next_major != 0
            distances[k + 1] = predicted(first, next_major if empty else major, next_level if empty else level)
            distances[k + 2] = predicted(second, next_major, next_level)
            for i in range(k, k + 3):
                put(i, now, step, head_offset(distances[i]), angles, starts)
                now += step
