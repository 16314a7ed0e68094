"""Many controllers at once."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from link.rovers import ToyRover, serving


def loaded(served, clients, rate, seconds):
    command = [sys.executable, "-m", "sandlot.link.load", "--port", str(served.port), "--clients", str(clients)]
    command += ["--rate", str(rate), "--seconds", str(seconds)]
    done = subprocess.run(
        command, input=served.token, capture_output=True, text=True, timeout=seconds + 100, check=True
    )
    return json.loads(done.stdout)


def check(tally):
    assert tally["acknowledged"] == tally["done"] + tally["refused"] == tally["sent"]
    assert tally["refused"] == tally["disordered"] == 0
    assert tally["halts"] >= 3


def test_orders_of_many_controllers_stay_in_order_and_halts_are_quick():
    with serving(ToyRover(), pace=1.0) as served:
        tally = loaded(served, 50, 1000, 2.0)
        check(tally)
        assert tally["median halt"] < 0.05
        assert not served.driver.moving


@pytest.mark.slow
def test_ten_thousand_messages_a_second_for_a_minute():
    with serving(ToyRover(), pace=1.0) as served:
        loaded(served, 50, 10_000, 5.0)
        before = memory()
        tally = loaded(served, 50, 10_000, 60.0)
        check(tally)
        assert memory() - before < 20.0
        assert len(served.server.executor.queue) == 0


def memory():
    """Of this process [MB]."""
    with Path("/proc/self/statm").open(encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096 / 1e6
