"""The tab "Maps": the log of a robot being mapped, live."""

import html
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from sandlot.errors import SandlotError
from sandlot.geometry.planar import compose
from sandlot.lab.simulation import RATE
from sandlot.lab.stage import Stage
from sandlot.mapping.mapper import Mapper
from sandlot.mapping.submaps import place
from sandlot.recordings.logs import read_scans
from sandlot.recordings.scans import Scan
from sandlot.typing import Array
from sandlot.worlds.scene import FRONT, RETURN, ROBOT, WALL, Item, Lines, Points, Scene, Shape, upright

MOST = 60_000
"""Points that are drawn; of more, every second, third and so on."""
PATH = (70, 140, 80)
RADIUS, HEIGHT = 0.25, 0.2
"""Of the robot, as drawn, and half its height [m]."""


class MapsTab:
    """The tab, and the map that is made.

    Attributes:
        mapper: What maps; None before a log was opened.
    """

    def __init__(self, server: Any, stage: Stage) -> None:
        """Put the tab's elements on the page, where the present context of viser is."""
        self._stage = stage
        self.mapper: Mapper | None = None
        self._scene: Scene | None = None
        self._stopped, self._paused = True, False
        self._turn = 0
        self._lock = threading.Lock()
        gui = server.gui
        self._path = gui.add_text("Log", "", hint="ROS bag, MCAP, CARMEN log, or a recording of the indoor world")
        self._odometry = gui.add_checkbox("Use odometry", True, hint="Or scans alone")
        self._press = gui.add_button_group("Map", ("map", "pause", "stop"))
        self._progress = gui.add_progress_bar(0.0)
        self._status = gui.add_markdown("Give the path of a log of a robot with a laser.")
        self._press.on_click(lambda event: getattr(self, f"_{event.target.value}")())

    def open(self, path: Path) -> None:
        """Map a log, in a thread of its own."""
        self._path.value = str(path)
        self._turn += 1  # whoever maps another log stops
        self._stopped = self._paused = False
        threading.Thread(target=self._work, args=(path, self._turn), name="mapping", daemon=True).start()

    def close(self) -> None:
        """Stop mapping."""
        self._stop()

    def _map(self) -> None:
        if self._paused and not self._stopped:
            self._paused = False
        else:
            self.open(Path(self._path.value))

    def _pause(self) -> None:
        self._paused = not self._paused

    def _stop(self) -> None:
        self._stopped = True

    def _work(self, path: Path, turn: int) -> None:
        with self._lock:  # one log at a time
            try:
                self._run(path, turn)
            except (SandlotError, OSError) as error:
                self._status.content = f"**Not possible:** {html.escape(str(error))}"

    def _run(self, path: Path, turn: int) -> None:
        self._status.content = "Reading the log ..."
        log = read_scans(path)
        self.mapper = mapper = Mapper(self._odometry.value, log.mount)
        shown = 0.0
        for number, scan in enumerate(log.scans):
            while self._paused and not self._stopped and turn == self._turn:
                time.sleep(0.05)
            if self._stopped or turn != self._turn:
                return
            mapper.add(scan)
            now = time.monotonic()
            if now - shown > 1.0 / RATE or number == len(log.scans) - 1:
                self._show(mapper, scan)
                self._progress.value = 100.0 * (number + 1) / len(log.scans)
                self._say(mapper, number + 1, len(log.scans))
                shown = time.monotonic()
        mapper.finish()
        self._show(mapper, log.scans[-1])
        self._say(mapper, len(log.scans), len(log.scans))

    def _show(self, mapper: Mapper, scan: Scan) -> None:
        self._scene = map_scene(mapper, scan)
        if not self._stage.shows(self):
            self._stage.show(self, lambda: () if self._scene is None else (self._scene,))

    def _say(self, mapper: Mapper, done: int, total: int) -> None:
        self._status.content = (
            f"{done:,} of {total:,} scans, {len(mapper.keyframes):,} keyframes, {len(mapper.submaps)} submaps, "
            f"{len(mapper.loops.kept)} loops closed, {len(mapper.refused)} scans refused"
        )


def map_scene(mapper: Mapper, scan: Scan) -> Scene:
    """What a mapper knows: points of all keyframes, the path, the robot, and its last scan."""
    poses = [compose(mapper.submaps[each.submap].pose, each.local) for each in mapper.keyframes]
    points = [place(each.points, pose) for each, pose in zip(mapper.keyframes, poses, strict=True)]
    known = np.concatenate(points) if points else np.zeros((1, 2))
    known = known[:: -(-len(known) // MOST)]
    x, y, yaw = mapper.pose
    low, high = known.min(axis=0) - 1.0, known.max(axis=0) + 1.0
    items: list[Item] = [Points("map", flat(known), 0.04, WALL)]
    if len(poses) > 1:
        way = flat(np.array(poses)[:, :2])
        items.append(Lines("path", np.stack([way[:-1], way[1:]], axis=1), PATH, 2.0))
    items.append(Shape("robot", "cylinder", (RADIUS, HEIGHT), *upright(x, y, yaw=yaw), ROBOT))
    ahead = np.array([x + 0.7 * RADIUS * np.cos(yaw), y + 0.7 * RADIUS * np.sin(yaw)])
    items.append(Shape("front", "sphere", (0.4 * RADIUS,), *upright(ahead[0], ahead[1], HEIGHT), FRONT))
    if points:
        items.append(Points("scan", flat(points[-1]), 0.06, RETURN))
    middle = 0.5 * (low + high)
    reach = 0.35 * float(np.max(high - low))
    return Scene(tuple(items), low, high, 640, focus=np.array([*middle, 0.0]), reach=reach)


def flat(points: Array) -> Array:
    """Points (n, 2) on the floor: (n, 3)."""
    return np.column_stack([points, np.zeros(len(points))])
