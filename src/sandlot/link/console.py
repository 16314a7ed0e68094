"""Drives a rover by words or by keys: each is one order, and its answer is one line."""

import math
import time
from collections.abc import Callable
from typing import cast, get_args

from sandlot.errors import LinkError, SandlotError
from sandlot.link.client import Client, Ticket
from sandlot.link.messages import PARAMETERS, Direction, Mode, ModeChange, Status

HELP = """forwards|backwards|left|right SECONDS   drive by hand, at most 2 s (mode MANUAL)
advance METRES, turn DEGREES            measured and corrected (MANUAL or SEMI)
mode MANUAL|SEMI|AUTO                   change the mode
go X Y                                  drive to a waypoint [m] (mode SEMI)
halt                                    stop at once, and forget orders to move
on                                      go on after the link was lost
scan [SAMPLES], map, status             what the rover senses and knows
set PARAMETER VALUE                     """ + ", ".join(PARAMETERS)
KEYS = {
    "w": "forwards 0.3",
    "s": "backwards 0.3",
    "a": "left 0.2",
    "d": "right 0.2",
    " ": "halt",
    "1": "mode MANUAL",
    "2": "mode SEMI",
    "3": "mode AUTO",
    "g": "on",
    "m": "map",
    "r": "scan",
}
"""Keys of the terminal."""
KEYS_HELP = "w a s d drive, space halts, 1 2 3 modes, g goes on, r scan, m map, : a word, q ends"
LONG = 3600.0
"""Longest time for an order [s]."""
FIRST = 2.0
"""Longest time for the first report [s]."""


class Console:
    """Turns words into orders.

    Attributes:
        failed: Whether the last order was not understood, not possible, or not done.
    """

    def __init__(self, client: Client) -> None:
        """Of a link that is open."""
        self._client, self.failed = client, False

    def run(self, line: str, wait: bool = True) -> str:
        """Give the order of a line; returns the answer.

        Args:
            line: As in `HELP`.
            wait: Whether to wait until the order has ended.
        """
        words = line.split()
        if not words:
            return ""
        name, values = words[0].lower(), words[1:]
        self.failed = False
        try:
            return self._run(name, values, wait)
        except (ValueError, IndexError):
            self.failed = True
            return f"not understood: {line.strip()[:60]!r}; help shows what can be said"
        except SandlotError as problem:
            self.failed = True
            return f"not possible: {problem}"

    def _run(self, name: str, values: list[str], wait: bool) -> str:
        rover = self._client
        if name in get_args(Direction):
            return self._move(lambda: rover.move(cast(Direction, name), float(values[0])), wait)
        moves: dict[str, Callable[[], Ticket]] = {
            "advance": lambda: rover.advance(float(values[0])),
            "turn": lambda: rover.turn(math.radians(float(values[0]))),
            "go": lambda: rover.go_to(float(values[0]), float(values[1])),
        }
        if name in moves:
            return self._move(moves[name], wait)
        orders: dict[str, Callable[[], Ticket]] = {
            "halt": rover.halt,
            "on": rover.go_on,
            "set": lambda: rover.configure(values[0], float(values[1])),
        }
        if name in orders:
            return self._answer(orders[name](), wait)
        if name == "mode":
            mode = values[0].upper()
            if mode not in get_args(Mode):
                raise LinkError(f"no mode {mode[:20]}; known: {', '.join(get_args(Mode))}")
            answer = self._answer(rover.give(ModeChange(mode=cast(Mode, mode))), wait)
            held = self._held()
            return (
                answer if self.failed or not wait else f"mode {mode}" + (f"; the rover is held: {held}" if held else "")
            )
        if name == "scan":
            samples = rover.scan(int(values[0]) if values else 400)
            near = f"{samples[:, 1].min():.2f} to {samples[:, 1].max():.2f} m"
            return f"{len(samples)} samples, ranges {near}"
        if name == "map":
            descriptor, cells = rover.map()
            known = int((cells[0] > 0).sum())
            return f"map of {cells.shape[2]} x {cells.shape[1]} cells of {descriptor.resolution:g} mm, {known:,} known"
        if name == "status":
            self._held()  # waits for the first report
            return "no report yet" if rover.status is None else describe(rover.status)
        if name == "help":
            return HELP
        raise ValueError(name)

    def _move(self, give: Callable[[], Ticket], wait: bool) -> str:
        """Give an order that moves, unless it would wait until the rover is told to go on."""
        if held := self._held():
            raise LinkError(f"the rover is held: {held}")
        return self._answer(give(), wait)

    def _held(self) -> str:
        """Why the rover is held, and what to say; empty if it is not."""
        end = time.monotonic() + FIRST
        while self._client.status is None and time.monotonic() < end:
            time.sleep(0.01)
        return f"{self._client.held}; `on` lets it go on" if self._client.held else ""

    def _answer(self, ticket: Ticket, wait: bool) -> str:
        if not wait:
            return ""
        result = ticket.wait(LONG, self._held)
        self.failed = result.outcome != "done"
        return f"{result.outcome}: {result.report}" if result.report else result.outcome


def describe(status: Status) -> str:
    """A report in one line."""
    place = f"x {status.x / 1000.0:.2f} m, y {status.y / 1000.0:.2f} m, yaw {status.yaw:.0f} degrees"
    power = "" if status.charge is None else f", battery {100.0 * status.charge:.0f}%"
    if status.time_left is not None:
        power += f" ({status.time_left / 3600.0:.1f} h left{', backup' if status.backup else ''})"
    held = f"; waits: {status.held}" if status.held else ""
    said = f": {status.report}" if status.report else ""
    return f"{status.mode} {status.state}{said}; {place}{power}{held}"
