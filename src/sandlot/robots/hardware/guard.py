"""Switches the motors off when the program that drives them dies, however it dies.

Outputs of a Raspberry Pi may stay as they are when a process is killed. So `start` runs this file as a process of its
own, which waits at a pipe. The system closes the pipe when the program ends; the guard then switches the pins off. A
program that ends in order has switched them off before; the guard does it again.
"""

import subprocess
import sys
from collections.abc import Sequence

from sandlot.extras import need


def start(pins: Sequence[int]) -> "subprocess.Popen[bytes]":
    """Let a process of its own guard these pins; it is ended by closing its standard input."""
    command = [sys.executable, "-m", "sandlot.robots.hardware.guard", *map(str, pins)]
    # A session of its own: Ctrl-C in the terminal ends the program, and must not end its guard first.
    return subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)


def wait_and_switch_off(pins: Sequence[int]) -> None:
    """Wait until standard input is closed, then switch the pins off."""
    gpio = need("gpiozero", "rover")
    sys.stdin.buffer.read()
    for pin in pins:
        gpio.DigitalOutputDevice(pin, initial_value=False)


if __name__ == "__main__":
    guarded = [int(each) for each in sys.argv[1:]]
    wait_and_switch_off(guarded)
    print(f"motors off: pins {' '.join(map(str, guarded))}", file=sys.stderr, flush=True)
