"""Makes the pictures of the lab in ``docs/images``: ``python docs/screenshots.py [NAME ...]``; needs a Chromium.

Each starts the lab, does in it what a visitor would do, and takes a picture of the page.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sandlot.cli.lab import connect
from sandlot.lab.lab import Lab
from sandlot.worlds.record import record_world

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import chromium

IMAGES = Path(__file__).parent / "images"
SIZE = {"width": 1200, "height": 760}
PATIENCE = 120.0
"""How long to wait for what must happen [s]."""


def until(condition: Callable[[], Any]) -> None:
    """Wait until something has happened."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("the lab did not get that far")
        time.sleep(0.1)


def worlds(lab: Lab, page: Any, folder: Path) -> None:
    """Two rovers on soft soil."""
    lab.worlds.open("terrain", settings={"soil": "soft", "rovers": ["wheeled", "tracked"]})
    until(lambda: lab.worlds.simulation and lab.worlds.simulation.latest.time > 4.0)
    lab.worlds.simulation.pause()  # type: ignore[union-attr]


def beside(lab: Lab, page: Any, folder: Path) -> None:
    """The climber on a box at two fidelities."""
    lab.worlds.open("obstacles", start=False)
    lab.worlds._beside.value = "reference"
    until(lambda: lab.worlds.simulation and len(lab.worlds.simulation.runs) == 2)
    lab.worlds.simulation.start()  # type: ignore[union-attr]
    until(lambda: lab.worlds.simulation.latest.time > 3.0)  # type: ignore[union-attr]
    lab.worlds.simulation.pause()  # type: ignore[union-attr]


def replay(lab: Lab, page: Any, folder: Path) -> None:
    """A recorded drive, its path coloured by a quantity."""
    record_world("terrain", folder / "drive", 400, settings={"soil": "soft"})
    page.get_by_role("tab", name="Replay").click(force=True)
    lab.replay.open(folder / "drive")
    lab.replay._path.value = "recordings/drive"
    lab.replay._colour.value = lab.replay._colour.options[-1]
    lab.replay.show(len(lab.replay.moments) - 1)
    lab.replay._line.value = lab.replay.position


def studies(lab: Lab, page: Any, folder: Path) -> None:
    """A small study that has run."""
    page.get_by_role("tab", name="Studies").click(force=True)
    lab.studies.choose("leveling.probabilities")
    lab.studies._settings.value = "world.shape=[12,12] replicates=2 probabilities=[0.5,0.3,0.1]"
    page.get_by_role("button", name="run", exact=True).click(force=True)
    page.get_by_text("claims hold").first.wait_for(timeout=1e3 * PATIENCE)


def maps(lab: Lab, page: Any, folder: Path) -> None:
    """A simulated log that was mapped."""
    record_world("indoor", folder / "log", 300, seed=3, settings={"plan": "cluttered"})
    page.get_by_role("tab", name="Maps").click(force=True)
    lab.maps.open(folder / "log")
    lab.maps._path.value = "recordings/log"
    page.get_by_text("301 of 301 scans").first.wait_for(timeout=1e3 * PATIENCE)
    lab.stage.view("top")


def rover(lab: Lab, page: Any, folder: Path) -> None:
    """A simulated rover on its way to a waypoint, after it has been at others."""
    words = [sys.executable, "-c", START, "rover", "serve", "--port", str(ROVER_PORT)]
    server = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        page.get_by_role("tab", name="Rover").click(force=True)
        until(lambda: lab.rover.rover is not None or lab.rover.open(f"127.0.0.1:{ROVER_PORT}"))
        remote = lab.rover.rover
        assert remote is not None
        remote.set_mode("SEMI")
        for place in ((1.0, 0.0), (1.5, 0.8), (0.0, 0.0)):
            remote.go_to(*place)
            page.wait_for_timeout(6000)
        lab.stage.view("top")
        page.wait_for_timeout(2000)
        keep(page, "lab-rover")
    finally:
        server.terminate()
        server.wait()


OF_COMMANDS = {
    "lidar": ("lidar", "--emulate", "apartment", "--map", "map", "--page", "--no-browser", "--seconds", "60")
}
"""Commands of ``sandlot`` that show a page, by the name of the picture."""
START = "from sandlot.cli import main; main()"
ROVER_PORT = 4761
COMMAND_PORT, COMMAND_SECONDS = 8765, 30.0
"""Port of their page, and when the picture is taken [s]."""
PICTURES = {f"lab-{each.__name__}": each for each in (worlds, beside, replay, studies, maps, rover)}


def keep(page: Any, name: str) -> None:
    """Take the picture, without notices of the browser."""
    for close in page.get_by_role("alert").get_by_role("button").all():
        close.click(force=True)
    page.wait_for_timeout(1500)
    page.screenshot(path=IMAGES / f"{name}.png")


def shown_by_command(browser: Any, name: str, folder: Path) -> None:
    """Take a picture of the page of a command."""
    words = [
        sys.executable,
        "-c",
        START,
        *OF_COMMANDS[name],
        "--page-port",
        str(COMMAND_PORT),
    ]
    command = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        page = browser.new_page(viewport=SIZE)
        end = time.monotonic() + PATIENCE
        while True:
            try:
                page.goto(f"http://localhost:{COMMAND_PORT}/?smooth")
                break
            except Exception:  # it does not listen yet
                if command.poll() is not None or time.monotonic() > end:
                    raise
                time.sleep(0.5)
        page.wait_for_timeout(1e3 * COMMAND_SECONDS)
        keep(page, name)
        page.close()
    finally:
        command.terminate()
        command.wait()
    sys.stdout.write(f"{name}.png\n")


def main() -> None:
    """Make all pictures, or those that are named on the command line."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=chromium.FLAGS)
        chosen = sys.argv[1:] or [*PICTURES, *OF_COMMANDS]
        for name in [each for each in chosen if each in OF_COMMANDS]:
            shown_by_command(browser, name, Path(folder))
        for name in [each for each in chosen if each in PICTURES]:
            lab = Lab(0, runs=Path(folder) / "runs", connect=lambda address: connect(address, None))
            page = browser.new_page(viewport=SIZE)
            page.goto(f"{lab.address}?smooth")  # in full resolution
            page.get_by_role("tab", name="Worlds").wait_for(timeout=1e3 * PATIENCE)
            PICTURES[name](lab, page, Path(folder))
            if name != "lab-rover":  # which is taken while the rover runs
                page.wait_for_timeout(6000)
                keep(page, name)
            page.close()
            lab.close()
            sys.stdout.write(f"{name}.png\n")
        browser.close()


if __name__ == "__main__":
    main()
