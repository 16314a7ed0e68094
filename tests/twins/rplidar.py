"""Slow and simple decoders of the packets of a lidar, as its protocol describes them, in floating point degrees."""

import math
from itertools import pairwise


def node(data):
    """Angle [degree], distance [mm], quality and start of a standard packet."""
    return ((data[1] >> 1) | (data[2] << 7)) / 64, (data[3] | data[4] << 8) / 4, data[0] >> 2, bool(data[0] & 1)


def is_sealed(capsule):
    check = 0
    for each in capsule[2:]:
        check ^= each
    return capsule[0] == 0xA0 | check & 15 and capsule[1] == 0x50 | check >> 4


def _span(capsule, following):
    begin, end = (((c[2] | c[3] << 8) & 0x7FFF) / 64 for c in (capsule, following))
    return begin, (end - begin) % 360


def express(capsule, following):
    begin, covered = _span(capsule, following)
    result = []
    for k in range(32):
        cabin = capsule[4 + 5 * (k // 2) : 9 + 5 * (k // 2)]
        word = cabin[2 * (k % 2)] | cabin[2 * (k % 2) + 1] << 8
        extra = cabin[4] & 15 if k % 2 == 0 else cabin[4] >> 4
        offset = (extra | (word & 3) << 4) / 8
        result.append(((begin + covered * k / 32 - offset) % 360, word >> 2))
    return result


def dense(capsule, following):
    begin, covered = _span(capsule, following)
    return [((begin + covered * k / 40) % 360, capsule[4 + 2 * k] | capsule[5 + 2 * k] << 8) for k in range(40)]


def _scale(code):
    for least, distance, level in ((3328, 16384, 4), (1792, 4096, 3), (1280, 2048, 2), (512, 512, 1)):
        if code >= least:
            return distance + ((code - least) << level), level
    return code, 0


def _signed(value):
    return value - 1024 if value >= 512 else value


def ultra(capsule, following):
    begin, covered = _span(capsule, following)
    words = [int.from_bytes(capsule[4 + 4 * k : 8 + 4 * k], "little") for k in range(32)]
    words.append(int.from_bytes(following[4:8], "little"))
    distances = []
    for word, ahead in pairwise(words):
        major, level = _scale(word & 0xFFF)
        major2, level2 = _scale(ahead & 0xFFF)
        one, two = _signed(word >> 12 & 0x3FF), _signed(word >> 22)
        base, scale = (major2, level2) if not major and major2 else (major, level)
        distances += [
            major,
            0 if one in (-512, 511) else max(base + one * 2**scale, 0),
            0 if two in (-512, 511) else max(major2 + two * 2**level2, 0),
        ]
    return [((begin + covered * k / 96 - _offset(d)) % 360, d) for k, d in enumerate(distances)]


def _offset(distance):
    """Angle of a sample behind the head [degree], by distance [mm]."""
    if distance < 50:
        return 7.5
    k = 98361 // (4 * distance)
    return 8.0 - math.degrees((64 * k + k**3 / 98304) / 65536)
