"""The guard of the motors, on gpiozero's mock pins."""

import os
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("gpiozero")
PROGRAM = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets its jobs in the background ignore it
from sandlot.robots.hardware import guard
guard.start([5, 6])
print("driving", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_motors_are_switched_off_when_the_program_is_killed(tmp_path, how):
    log = tmp_path / "log"
    environment = {**os.environ, "GPIOZERO_PIN_FACTORY": "mock"}
    with log.open("wb") as said:
        driven = subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=said, env=environment)
        assert driven.stdout.readline() == b"driving\n"
        assert b"motors off" not in log.read_bytes()
        driven.send_signal(how)
        driven.wait(20)
        end = time.monotonic() + 20.0
        while b"motors off: pins 5 6" not in log.read_bytes():
            assert time.monotonic() < end
            time.sleep(0.05)
        driven.stdout.close()
