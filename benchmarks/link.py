"""The rover link, side by side with a plain asyncio echo: messages per second of processor time, and how soon it halts.

A server with a rover that costs nothing is loaded from another process by 50 controllers with 10,000 orders a second,
for a minute; every order is checked, acknowledged, queued, executed and answered. One controller drives and halts all
the time; the clock runs from sending the halt in one process until the motors are off in the other. The echo gets
packets of the same size at the same rate; it is the limit of sockets and event loop, and its longest packet shows how
long this machine lets a process wait. Both have normal priority, and not the higher one that `sandlot rover serve` asks
for.
"""

import asyncio
import bisect
import json
import subprocess
import sys
import threading
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import numpy as np

from _link_echo import Echo
from _side_by_side import Comparison, best_rates, main
from sandlot.link.framing import Framer
from sandlot.link.messages import ManualMove, read_controller
from sandlot.link.proofs import new_token
from sandlot.link.server import Server
from sandlot.recordings.scans import Pose, Scan
from sandlot.robots.driver import Chassis, Sensed

CLIENTS, RATE, SECONDS, WARM = 50, 10_000.0, 60.0, 5.0
"""Controllers, orders a second, and how long [s], after a warm-up [s]."""
AT_ONCE, REPETITIONS = 20_000, 5
"""Messages that are decoded at once, and how often."""


class FreeRover:
    """A rover that costs nothing."""

    chassis = Chassis(0.15, 0.3, 0.4, 0.001, 0.01)
    _time = 0.0

    def drive(self, left: float, right: float, seconds: float) -> Sensed:
        """Nothing but time passes."""
        self._time += seconds
        return Sensed(self._time, Pose(0.0, 0.0, 0.0), (0, 0), ())

    def halt(self) -> Sensed:
        """Be at rest."""
        return self.drive(0.0, 0.0, 0.0)

    def scan(self, turns: int = 1) -> Sensed:
        """Turns that see nothing."""
        sensed = self.drive(0.0, 0.0, 0.2 * turns)
        scan = Scan(sensed.time, np.full(90, np.nan, np.float32), np.linspace(-3.0, 3.0, 90))
        return Sensed(sensed.time, sensed.odometry, sensed.counts, (scan,) * turns)


class _Thread:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(60.0)


def loaded(thread: _Thread) -> tuple[dict[str, Any], float, float]:
    """Load a server; returns its tally, processor time of a message [s], and memory that it grew by [MB]."""
    token = new_token()
    server = Server(FreeRover(), token, pace=1.0)
    thread.run(server.open("127.0.0.1", 0))
    command = [sys.executable, "-m", "sandlot.link.load", "--port", str(server.address[1])]
    command += ["--clients", str(CLIENTS), "--rate", str(RATE)]

    def load(seconds: float) -> dict[str, Any]:
        given = [*command, "--seconds", str(seconds)]
        return dict(
            json.loads(subprocess.run(given, input=token, stdout=subprocess.PIPE, text=True, check=True).stdout)
        )

    load(WARM)
    before, began = _memory(), time.process_time()
    tally = load(SECONDS)
    spent, grown = time.process_time() - began, _memory() - before
    offs = list(server.executor.wheels.braked)
    tally["acted"] = sorted(offs[bisect.bisect_left(offs, sent)] - sent for sent, _ in tally["halted"])
    thread.run(server.close())
    return tally, spent / tally["sent"], grown


def echoed(thread: _Thread) -> tuple[float, float, float]:
    """Processor time of a message that is only echoed, and the median and longest time of single ones [s]."""
    server = thread.run(_listen())
    port = server.sockets[0].getsockname()[1]
    began = time.process_time()
    command = [sys.executable, str(Path(__file__).with_name("_link_echo.py")), str(port), str(CLIENTS), str(RATE)]
    command.append(str(SECONDS))
    said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    count, median, longest = (float(each) for each in said.split())
    spent = time.process_time() - began
    thread.loop.call_soon_threadsafe(server.close)
    return spent / count, median, longest


async def _listen() -> Any:
    return await asyncio.get_running_loop().create_server(Echo, "127.0.0.1", 0)


def decode() -> float:
    """Cut a stream into packets and check their messages."""
    stream = ManualMove(direction="forwards", duration=0.5, N=7).packet() * 64
    framer, count = Framer(), 0
    while count < AT_ONCE:
        for packet in framer.feed(stream):
            read_controller(packet.text)
            count += 1
    return count


def _memory() -> float:
    """Of this process [MB]."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


def compare() -> list[Comparison]:
    """Load a rover's server with orders, beside a plain asyncio echo."""
    thread = _Thread()
    tally, ours, grown = loaded(thread)
    (decoded,) = best_rates(REPETITIONS, decode)
    echo, median, longest = echoed(thread)
    acted = tally["acted"]
    lost = tally["sent"] - tally["done"] + tally["disordered"]
    return [
        Comparison("orders, of a second of processor time", 1.0 / ours, "1/s", 1.0 / echo),
        Comparison("orders of 50 controllers", tally["answered rate"], "1/s", at_least=0.95 * RATE),
        Comparison("orders that were lost, refused or out of order", lost, "", at_most=0.0),
        Comparison("median time from a halt to motors off", 1000.0 * acted[len(acted) // 2], "ms", at_most=50.0),
        Comparison("longest time from a halt to motors off", 1000.0 * acted[-1], "ms", at_most=50.0),
        Comparison("longest time from a halt to its answer", 1000.0 * tally["longest halt"], "ms"),
        Comparison("median packet of the echo there and back", 1000.0 * median, "ms"),
        Comparison("longest packet of the echo there and back", 1000.0 * longest, "ms"),
        Comparison("memory that a minute adds", grown, "MB", at_most=20.0),
        Comparison("messages that are decoded", decoded, "1/s", at_least=100_000.0),
    ]


if __name__ == "__main__":
    main(compare)
