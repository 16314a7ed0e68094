"""The lab's page: frames a second of large ground with many robots, and what viewers cost the physics.

A browser without a graphics card (headless Chromium) shows a terrain of 600 x 600 nodes with 32 rovers. A frame counts
if it shows other poses of the rovers than the frame before. All rates are per second on the clock, so this benchmark
needs idle cores.
"""

import time
from collections.abc import Iterator
from typing import Any

from _side_by_side import Comparison, main
from _viewers import browser, chromium, readers
from sandlot.lab.lab import Lab
from sandlot.lab.simulation import FASTEST, Simulation

SETTLE, SECONDS = 8.0, 8.0
"""Time until the page has read everything, and of one measurement [s]."""
CROWDS = {"learned": 1.0, "reference": 0.2}
"""Fidelities, and the speed of the simulation: 32 rovers on soil in MuJoCo take more than one core in real time."""
VIEWERS, SILENT, TURNS = 10, 1, 2
"""Connections in all, those of them that never read, and how often each is measured."""


def crowd(fidelity: str) -> dict[str, object]:
    """Settings of a terrain with 32 rovers, all over it."""
    poses = [(0.7 * i - 2.45, 1.4 * j - 2.1, 0.3 * (4 * i + j)) for i in range(8) for j in range(4)]
    return {"fidelity": fidelity, "rovers": ["wheeled"] * 32, "poses": poses, "soil": "soft", "shape": [600, 600]}


def open_world(lab: Lab, settings: dict[str, object], speed: float) -> Simulation:
    """Let terrain run on the page."""
    lab.worlds.open("terrain", str(settings.get("fidelity", "reference")), settings=settings)
    simulation = lab.worlds.simulation
    assert simulation is not None
    simulation.speed = speed
    return simulation


def drawn(page: Any) -> tuple[float, float]:
    """Updates that a page draws, and frames [1/s]."""
    before, began = page.evaluate("counted()"), time.monotonic()
    time.sleep(SECONDS)
    after, passed = page.evaluate("counted()"), time.monotonic() - began
    return (after["updates"] - before["updates"]) / passed, (after["frames"] - before["frames"]) / passed


def steps(simulation: Simulation) -> float:
    """Steps that a simulation makes [1/s]."""
    run = simulation.runs[0]
    before, began = (simulation.latest.episode, run.steps), time.monotonic()
    time.sleep(SECONDS)
    if simulation.latest.episode != before[0]:
        raise RuntimeError("the episode ended while it was measured")
    return (run.steps - before[1]) / (time.monotonic() - began)


def compare() -> list[Comparison]:
    """Count frames of a page in headless Chromium, and steps of a simulation with and without ten viewers."""
    lab = Lab(0)
    try:
        return [*(_frames(lab) if chromium.find() else []), *_viewers(lab)]
    finally:
        lab.close()


def _frames(lab: Lab) -> Iterator[Comparison]:
    for fidelity, speed in CROWDS.items():
        open_world(lab, crowd(fidelity), speed)
        with browser(lab.address) as page:
            time.sleep(SETTLE)
            updates, _ = drawn(page)
        name = f"600 x 600 terrain with 32 rovers, {fidelity}, speed {speed:g}, updates drawn"
        yield Comparison(name, updates, "frames/s", at_least=15.0 if fidelity == "learned" else None)


def _viewers(lab: Lab) -> Iterator[Comparison]:
    for speed, name in ((1.0, "in real time"), (FASTEST, "as fast as it can")):
        simulation = open_world(lab, {"soil": "soft"}, speed)
        time.sleep(2.0)
        alone, seen = [], []
        for _ in range(TURNS):
            alone.append(steps(simulation))
            with readers(lab.address, VIEWERS, SILENT) as read:
                time.sleep(2.0)
                before = read.value
                seen.append(steps(simulation))
                if read.value == before:
                    raise RuntimeError("no viewer has read anything")
        what = f"a rover on soil {name}, {VIEWERS} viewers of which {SILENT} never reads, against none"
        yield Comparison(what, max(seen), "steps/s", max(alone), at_least=0.95 if speed == 1.0 else None)


if __name__ == "__main__":
    main(compare)
