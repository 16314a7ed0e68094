"""Damaged logs by hypothesis, and the check of a log reader: one line, sound scans, bounded time and memory."""

import re
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from sandlot.errors import SandlotError
from sandlot.recordings.logs.source import Source
from sandlot.recordings.scans import MAX_BEAMS, Scan

ALLOWANCE = 2**24
"""Memory beyond ten times the file: loaded modules, file buffers, one long line [bytes]."""

SECONDS = 10.0
NUMBERS = [
    b"0",
    b"-1",
    b"99999",
    b"100000",
    b"4294967296",
    b"1" * 30,
    b"1e308",
    b"1e400",
    b"nan",
    b"inf",
    b"1_0",
    b"",
    b"x",
]


@st.composite
def damaged(draw: st.DrawFn, sound: bytes) -> bytes:
    """Bytes with one to three damages: cut off, flipped, lost, doubled, or with absurd counts."""
    data = bytearray(sound)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, max(0, len(data) - 1)))
        length = draw(st.integers(1, 200))
        match draw(st.sampled_from(["cut", "flip", "lose", "double", "absurd", "number", "noise"])):
            case "cut":
                del data[place:]
            case "flip":
                if data:
                    data[place] ^= 1 << draw(st.integers(0, 7))
            case "lose":
                del data[place : place + length]
            case "double":
                data[place:place] = data[place : place + length]
            case "absurd":
                size = draw(st.sampled_from([2, 4, 8]))
                value = draw(st.sampled_from([b"\xff" * 8, b"\xff\xff\xff\x7f" + b"\0" * 4, b"\0" * 8]))
                data[place : place + size] = value[:size]
            case "number":
                found = re.search(rb"[-\d.]+", data[place:])
                if found:
                    data[place + found.start() : place + found.end()] = draw(st.sampled_from(NUMBERS))
            case "noise":
                data[place : place + length] = draw(st.binary(min_size=1, max_size=50))
    return bytes(data)


def survive(importer: Callable[[Source], Iterator[Scan]], path: Path, data: bytes) -> list[Scan]:
    """Read damaged data; the scans that come out have to be sound, and a message one line.

    Returns:
        The first scans.
    """
    path.write_bytes(data)
    scans: list[Scan] = []
    many, said = 0, ""
    tracemalloc.start()
    began = time.thread_time()
    try:
        for scan in importer(Source(path)):
            many += 1
            if many <= 5:
                scans.append(scan)
    except SandlotError as error:
        said = str(error)
    finally:
        took = time.thread_time() - began
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert took < SECONDS
    assert "\n" not in said
    assert len(said) < 1000
    assert peak < 10 * len(data) + ALLOWANCE, f"{peak:,} bytes for a file of {len(data):,}"
    for scan in scans:
        assert np.isfinite(scan.time)
        assert scan.ranges.dtype == np.float32
        assert len(scan.ranges) == len(scan.bearings) <= MAX_BEAMS
        assert np.isfinite(scan.bearings).all()
        assert not np.isinf(scan.ranges).any()
    return scans
