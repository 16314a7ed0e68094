"""The lab's page: frames a second of large ground with many robots, and what viewers cost the physics.

A browser without a graphics card (headless Chromium) shows a terrain of 600 x 600 nodes with 32 rovers on soft soil. A
frame counts if it shows other poses of the rovers than the frame before. Both rates are of the clock on the wall, so
that this benchmark needs idle cores.
"""

import time

import numpy as np

from _side_by_side import Comparison, main
from _viewers import browser, chromium, readers
from sandlot.lab.lab import Lab
from sandlot.lab.simulation import FASTEST, Simulation

SETTLE, SECONDS = 12.0, 15.0
"""Time until the page has read everything, and of one measurement [s]."""
SPEED = 0.1
"""Of the simulation that the page shows: 32 rovers on soil take more than one core in real time."""
VIEWERS, SILENT = 10, 1
"""Connections in all, and those of them that never read."""
TURNS = 3


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


def drawn(page: object) -> tuple[float, float]:
    """Updates that a page draws, and frames [1/s]."""
    before, began = page.evaluate("counted()"), time.monotonic()  # type: ignore[attr-defined]
    page.wait_for_timeout(1e3 * SECONDS)  # type: ignore[attr-defined]
    after, passed = page.evaluate("counted()"), time.monotonic() - began  # type: ignore[attr-defined]
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
    found = []
    lab = Lab(0)
    try:
        if chromium.find() is not None:
            open_world(lab, crowd(), SPEED)
            with browser(lab.address) as page:
                page.wait_for_timeout(1e3 * SETTLE)
                updates, _ = drawn(page)
            found.append(
                Comparison("600 x 600 terrain with 32 rovers, updates drawn", updates, "frames/s", at_least=15.0)
            )
        rates: dict[str, list[float]] = {"alone": [], "seen": []}
        for speed, name in ((1.0, "in real time"), (FASTEST, "as fast as it can")):
            simulation = open_world(lab, {"soil": "soft"}, speed)
            time.sleep(2.0)
            rates = {"alone": [], "seen": []}
            for _ in range(TURNS):
                rates["alone"].append(steps(simulation))
                with readers(lab.address, VIEWERS, SILENT) as read:
                    time.sleep(2.0)
                    before = read.value
                    rates["seen"].append(steps(simulation))
                    if read.value == before:
                        raise RuntimeError("no viewer has read anything")
            found.append(
                Comparison(
                    f"a rover on soil, {name}, with {VIEWERS} viewers, {SILENT} of which never reads, against none",
                    float(np.median(rates["seen"])),
                    "steps/s",
                    float(np.median(rates["alone"])),
                    at_least=0.95 if speed == 1.0 else None,
                )
            )
    finally:
        lab.close()
    return found


if __name__ == "__main__":
    main(compare)
