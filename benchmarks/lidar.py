"""Decoding of RPLIDAR bytes: how fast, and who decodes what.

The same streams of bytes, made from known angles and distances, go to this driver and to the drivers on PyPI, each in a
process of its own with a stand-in for pyserial. A sample is right if its angle is within 0.2 degrees and its distance
within 0.4% or 1.5 mm of what was sent. The packages are installed into ``runs/lidar-peers`` on first use; without a
network they are left out.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from _lidar_peer import DRIVERS
from _side_by_side import Comparison, best_rates, main
from sandlot.sensing.rplidar import Receiver, Samples, Turns
from sandlot.sensing.rplidar.answers import Answer, descriptor
from sandlot.sensing.rplidar.encoding import encode_dense, encode_express, encode_nodes, encode_ultra, head_offsets
from sandlot.sensing.rplidar.samples import DEGREE, TURN, join
from sandlot.typing import Array

FASTEST = 32_000.0
"""Samples a second of the fastest device, an S2 [1/s]."""
BAR = 100.0
"""Decoding is at least so many times faster."""
READ = 4096
"""Bytes of a read in the measurement of speed."""
OURS = "sandlot"
OTHER = (("express, one bit flipped", "express"), ("express, 100 stale bytes first", "express"))
AT_LEAST = {"standard, one byte lost": 99.0, "express, one byte lost": 90.0, "express, one bit flipped": 90.0}
"""Share of the samples that must be right after a fault [%]; all of them without one."""


class Truth(NamedTuple):
    """A stream, and what it means.

    Attributes:
        data: Bytes, from the descriptor on.
        angles: (n,) [degree]
        distances: (n,) [mm]
    """

    data: bytes
    angles: Array
    distances: Array


def make(mode: str, turns: int) -> Truth:
    """A stream of whole turns in a room whose walls are 0.5 to 5.5 m away."""
    per_turn = {"standard": 360, "express": 704, "ultra": 1440, "dense": 3200}[mode]
    size = {"standard": 1, "express": 32, "ultra": 96, "dense": 40}[mode]
    count = (turns * per_turn // size + 1) * size
    heads = np.round(np.arange(count // size) * (360.0 * size / per_turn) * DEGREE) / DEGREE
    heads = (heads[:, None] + np.arange(size) * (360.0 / per_turn)).ravel()
    distances = np.round(3000.0 + 2500.0 * np.sin(np.radians(3.0 * heads))).astype(np.int64)
    # In an ultra capsule, two of three samples are relative to the next one: they cannot stand alone beside empty ones.
    number = np.arange(count)
    distances[np.floor(heads[number // 3 * 3] / 25.0) % 4 == 0] = 0
    distances[(number % 3 == 2) & (np.append(distances[1:], 0) == 0)] = 0
    offsets = head_offsets(4 * distances)
    starts = np.round(heads[::size] * DEGREE).astype(np.int64) % TURN
    table = distances.reshape(-1, size)
    if mode == "standard":
        units = np.round((heads - offsets) * DEGREE).astype(np.int64) % TURN
        begins = np.diff(np.floor(heads / 360.0), prepend=-1.0) > 0
        packets = encode_nodes(units, 4 * distances, np.where(distances > 0, 40, 0), begins)
        return Truth(descriptor(Answer.STANDARD) + packets.tobytes(), units / DEGREE, distances.astype(float))
    if mode == "express":
        eighths = np.round(8.0 * offsets).astype(np.int64)
        data = descriptor(Answer.EXPRESS) + encode_express(starts, table, eighths.reshape(-1, size)).tobytes()
        angles = heads - eighths / 8.0
    elif mode == "ultra":
        data, angles = descriptor(Answer.ULTRA) + encode_ultra(starts, table).tobytes(), heads - offsets
    else:
        data, angles = descriptor(Answer.DENSE) + encode_dense(starts, table).tobytes(), heads
    return Truth(data, np.mod(angles, 360.0)[:-size], distances[:-size].astype(float))


def cases() -> dict[str, tuple[str, Truth]]:
    """Streams by name, and their mode."""
    found = {mode: (mode, make(mode, 6)) for mode in ("standard", "express", "ultra", "dense")}
    for name, mode in (*((f"{mode}, one byte lost", mode) for mode in ("standard", "express")), *OTHER):
        truth = found[mode][1]
        data, at = truth.data, len(truth.data) // 3
        if name.endswith("lost"):
            data = data[:at] + data[at + 1 :]
        elif name.endswith("flipped"):
            data = data[:at] + bytes([data[at] ^ 8]) + data[at + 1 :]
        else:
            data = data[500:600] + data
        found[name] = mode, truth._replace(data=data)
    return found


def score(truth: Truth, decoded: Array) -> tuple[float, int]:
    """Share of the samples that were decoded right [%], and number of wrong ones; decoded: (m, 2)."""
    right, at = 0, 0
    apart = np.maximum(0.004 * truth.distances, 1.5)
    for angle, distance in decoded:
        window = slice(at, at + 400)
        turned = np.abs(np.mod(truth.angles[window] - angle + 180.0, 360.0) - 180.0)
        fits = np.flatnonzero((turned < 0.2) & (np.abs(truth.distances[window] - distance) <= apart[window]))
        if len(fits):
            right, at = right + 1, at + int(fits[0]) + 1
    return 100.0 * right / len(truth.angles), len(decoded) - right


def decode(data: bytes, size: int = READ) -> Samples:
    """All samples of a stream, by this driver."""
    receiver = Receiver()
    events = [event for at in range(0, len(data), size) for event in receiver.receive(data[at : at + size])]
    return join([event for event in events if isinstance(event, Samples)])


def install(package: str, folder: Path) -> str:
    """Install a package into a folder of its own; returns its version, empty if it cannot be installed."""
    target = folder / package
    if not target.exists():
        command = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps"]
        done = subprocess.run([*command, "--target", str(target), package], capture_output=True, check=False)
        if done.returncode:
            print(f"left out: {package}, which cannot be installed here", file=sys.stderr)
            return ""
    return next(iter(target.glob("*.dist-info"))).name.removesuffix(".dist-info").rpartition("-")[2]


def run_peer(package: str, folder: Path, mode: str, data: bytes) -> tuple[Array, float, str]:
    """What a driver decodes: (m, 2) [degree, mm], in how many seconds, and with which error it stopped."""
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(data)
        script = Path(__file__).with_name("_lidar_peer.py")
        done = subprocess.run(
            [sys.executable, str(script), package, mode, file.name],
            env={**os.environ, "PYTHONPATH": str(folder / package)},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
    found = json.loads(done.stdout)
    return np.array(found["samples"], np.float64).reshape(-1, 2), found["seconds"], found["error"]


def compare_speed() -> list[Comparison]:
    """Rates of decoding, beside that of the fastest device."""
    rows = []
    for mode in ("standard", "express", "ultra", "dense"):
        data = make(mode, 400 if mode == "standard" else 100).data

        def samples(data: bytes = data) -> float:
            return float(len(decode(data)))

        def turns(data: bytes = data) -> float:
            receiver, turns, count = Receiver(), Turns(), 0
            for at in range(0, len(data), READ):
                for event in receiver.receive(data[at : at + READ], 1e-4 * at):
                    if isinstance(event, Samples):
                        turns.add(event)
                        count += len(event)
            return float(count)

        samples(), turns()
        rates = best_rates(5, samples, turns)
        for name, rate in zip(("samples", "whole turns"), rates, strict=True):
            rows.append(Comparison(f"decoding {mode} to {name}, beside an S2", rate, "1/s", FASTEST, at_least=BAR))
    return rows


def compare_peers(folder: Path) -> list[Comparison]:
    """Who decodes what, and how fast."""
    versions = {package: install(package, folder) for package in DRIVERS}
    rows, speeds = [], {}
    for name, (mode, truth) in cases().items():
        ours = decode(truth.data, 100)
        share, wrong = score(truth, np.column_stack([ours.angles / DEGREE, ours.distances / 4]))
        rows.append(Comparison(f"{name}: right, {OURS}", share, "%", at_least=AT_LEAST.get(name, 99.0)))
        rows.append(Comparison(f"{name}: wrong, {OURS}", float(wrong), "samples", at_most=0.0))
        for package, version in versions.items():
            if not version:
                continue
            decoded, seconds, error = run_peer(package, folder, mode, truth.data)
            share, wrong = score(truth, decoded)
            note = f"version {version}" + (f"; {error}" if error else "")
            rows.append(Comparison(f"{name}: right, {package}", share, "%", note=note))
            rows.append(Comparison(f"{name}: wrong, {package}", float(wrong), "samples", note=note))
            if name == mode and len(decoded):
                speeds[mode, package] = len(decoded) / seconds
    for (mode, package), peer in speeds.items():
        data = make(mode, 40).data
        decode(data)
        begin = time.process_time()
        rate = len(decode(data)) / (time.process_time() - begin)
        rows.append(Comparison(f"decoding {mode}, beside {package}", rate, "1/s", peer))
    return rows


def compare() -> list[Comparison]:
    """Measure decoding of RPLIDAR bytes, and what drivers on PyPI make of the same bytes."""
    work: list[Callable[[], list[Comparison]]] = [compare_speed, lambda: compare_peers(Path("runs/lidar-peers"))]
    return [row for each in work for row in each()]


if __name__ == "__main__":
    main(compare)
