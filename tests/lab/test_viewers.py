"""Several viewers at once, of which one never reads."""

import asyncio
import threading
import time
from urllib.parse import urlsplit

import pytest

from sandlot.lab.lab import Lab
from sandlot.lab.simulation import FASTEST

VIEWERS = 10
ENOUGH = 3_000_000
"""More than the buffers of a connection hold [byte]."""


class Viewers:
    """Connections to a page; all but the first read what they get."""

    def __init__(self, address, count):
        self.read = [0] * count
        self._where, self._done = f"ws://{urlsplit(address).netloc}/", threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self._thread.start()

    async def _run(self):
        import viser
        from websockets.asyncio.client import connect

        options = {"subprotocols": [f"viser-v{viser.__version__}"], "max_size": None, "max_queue": 1}
        opened = [await connect(self._where, **options) for _ in self.read]
        readers = [asyncio.create_task(self._listen(k, opened[k])) for k in range(1, len(opened))]
        while not self._done.is_set():
            await asyncio.sleep(0.05)
        for each in readers:
            each.cancel()
        for each in opened:
            each.transport.abort()

    async def _listen(self, k, connection):
        async for message in connection:
            self.read[k] += len(message)

    def close(self):
        self._done.set()
        self._thread.join(10.0)


def until(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


@pytest.mark.filterwarnings("ignore:Queued a Gui")
def test_a_viewer_that_never_reads_stops_neither_the_physics_nor_the_others(tmp_path):
    lab, viewers = Lab(0, runs=tmp_path), None
    try:
        # All of the ground changes in each step, so that much is sent.
        lab.worlds.open("leveling", settings={"shape": [60, 60], "agents": 200})
        viewers = Viewers(lab.address, VIEWERS)
        simulation = lab.worlds.simulation
        simulation.speed = FASTEST
        until(lambda: min(viewers.read[1:]) > ENOUGH)
        steps, read, snapshot = simulation.runs[0].steps, list(viewers.read), simulation.latest
        until(lambda: simulation.latest is not snapshot and simulation.runs[0].steps != steps)
        until(lambda: all(now > before for now, before in zip(viewers.read[1:], read[1:], strict=True)))
        assert viewers.read[0] == 0
    finally:
        if viewers is not None:
            viewers.close()
        lab.close()
