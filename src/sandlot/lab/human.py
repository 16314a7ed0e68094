"""``render_mode="human"``: a page that shows a world which a program of yours steps."""

import time
import webbrowser
from collections.abc import Callable

from sandlot.errors import SandlotError
from sandlot.lab.lab import PORT, Lab, free_port
from sandlot.lab.simulation import RATE
from sandlot.worlds.base import World

_lab: Lab | None = None
"""One page for all worlds of a program; it shows the one that was stepped last."""


def watch(world: World) -> Callable[[], None]:
    """Open the page, or use the one that is open; returns a function that shows the world as it is now.

    That function waits until real time has passed: ``metadata["render_fps"]`` steps take a second.
    """
    global _lab
    if _lab is None:
        try:
            _lab = Lab(free_port(PORT), tabs=False)
        except SandlotError:  # another program has just taken the port
            _lab = Lab(0, tabs=False)
        print(f"The world is shown at {_lab.address}", flush=True)
        webbrowser.open(_lab.address)
    page, interval = _lab, 1.0 / world.metadata["render_fps"]
    scenes, shown, due = [world.scene()], 0.0, time.perf_counter()
    page.stage.show(world, lambda: tuple(scenes))

    def show() -> None:
        nonlocal shown, due
        now = time.perf_counter()
        if now - shown > 1.0 / RATE or not page.stage.shows(world):
            scenes[0], shown = world.scene(), now
            if not page.stage.shows(world):
                page.stage.show(world, lambda: tuple(scenes))
        due = max(due + interval, now)
        time.sleep(max(due - now, 0.0))

    return show


def opened() -> Lab | None:
    """The page that is open."""
    return _lab


def close() -> None:
    """Close the page."""
    global _lab
    if _lab is not None:
        _lab.close()
        _lab = None
