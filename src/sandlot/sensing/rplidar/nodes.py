"""Standard scans: a packet of 5 bytes for each sample, without a synchronization word or a checksum.

A packet has two check bits and a third that is always 1, so one of four random packets passes. Its neighbours decide:
angles of consecutive samples are close. After a fault, a position counts as the beginning of a packet only if `RUN`
packets from there on are plausible. Every decision depends on a fixed number of bytes, never on how they were chunked.
"""

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.sensing.rplidar.samples import DEGREE, TURN
from sandlot.typing import IntArray

Bytes = NDArray[np.uint8]
SIZE = 5
RUN = 10
"""Packets in a row that must be plausible to find the beginning of packets again."""
NEAR = 20 * DEGREE
"""Angles of consecutive samples differ by less than this [1/64 degree]; a real stream also steps back a little."""
AHEAD = SIZE * (RUN + 2)
"""Bytes that are needed to decide what a fault was."""
POSITION, IN_SYNC, LAST, AFTER_LOSS, LOST_BYTES, BREAKS, GAPS = range(7)
"""Entries of a finder's state: offset of the next byte, whether packets begin there, angle of the last sample (-1 if
there was none), whether something was lost since, and counts of what was lost."""


def begin_nodes() -> IntArray:
    """State of a finder that knows nothing."""
    state = np.zeros(7, np.int64)
    state[LAST] = -1
    return state


@kernel(allocates=False)
def angle_of(data: Bytes, at: int) -> int:
    """Angle of the packet at an offset [1/64 degree]; -1 if its check bits are wrong or it exceeds a turn."""
    first, second = int(data[at]), int(data[at + 1])
    if not ((first ^ (first >> 1)) & 1 and second & 1):
        return -1
    angle = (second >> 1) | (int(data[at + 2]) << 7)
    return angle if angle <= TURN else -1


@kernel(allocates=False)
def near(first: int, second: int) -> bool:
    """Whether two angles are plausible for consecutive samples; -1 is not."""
    if first < 0 or second < 0:
        return False
    apart = abs(first - second) % TURN
    return min(apart, TURN - apart) < NEAR


@kernel(allocates=False)
def is_run(data: Bytes, at: int) -> bool:
    """Whether `RUN` packets from an offset on are plausible."""
    before = angle_of(data, at)
    for k in range(1, RUN):
        angle = angle_of(data, at + k * SIZE)
        if not near(before, angle):
            return False
        before = angle
    return True


@kernel(nogil=True, allocates=False)
def find_nodes(data: Bytes, state: IntArray, found: IntArray) -> int:
    """Find the packets of a standard scan.

    Args:
        data: Bytes that are not decided yet, with those that have come since.
        state: See `POSITION`; updated in place.
        found: (n, 2) to be filled with the offset of each good packet, and 1 if something was lost before it. ``n`` is
            at least the number of bytes over 5.

    Returns:
        The number of good packets.
    """
    count, at, size = 0, state[POSITION], data.shape[0]
    while size - at >= 2 * SIZE:
        angle = angle_of(data, at)
        good = state[IN_SYNC] == 1 and near(angle, angle_of(data, at + SIZE))
        if not good:
            if size - at < AHEAD:
                break
            if state[IN_SYNC] == 0:
                if is_run(data, at):
                    state[IN_SYNC] = 1
                else:
                    state[LOST_BYTES] += 1
                    at += 1
                continue
            if is_run(data, at + SIZE):
                # This packet is damaged; or it is good, and packets behind it were lost.
                good = angle >= 0 and (state[LAST] < 0 or near(state[LAST], angle))
            elif is_run(data, at + 2 * SIZE):
                good = angle >= 0  # the next one is damaged
            else:
                state[IN_SYNC] = 0
                state[BREAKS] += 1
                state[AFTER_LOSS] = 1
                continue
            if not good:
                state[BREAKS] += 1
                state[LOST_BYTES] += SIZE
                state[AFTER_LOSS] = 1
        if good:
            if state[LAST] >= 0 and state[AFTER_LOSS] == 0 and not near(state[LAST], angle):
                state[GAPS] += 1
                state[AFTER_LOSS] = 1
            found[count, 0], found[count, 1] = at, state[AFTER_LOSS]
            state[LAST], state[AFTER_LOSS] = angle, 0
            count += 1
        at += SIZE
    state[POSITION] = at
    return count


def decode_nodes(
    data: Bytes, at: IntArray
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint8], NDArray[np.bool_]]:
    """Angles [1/64 degree], distances [1/4 mm], qualities and starts of the packets at some offsets (n,)."""
    b = data[at[:, None] + np.arange(SIZE)].astype(np.int32)
    angles = ((b[:, 1] >> 1) | (b[:, 2] << 7)) % TURN
    return angles, b[:, 3] | (b[:, 4] << 8), (b[:, 0] >> 2).astype(np.uint8), (b[:, 0] & 1).astype(np.bool_)
