"""The tab "Rover": a rover at the other end of a link, with its map, scan and battery, modes, waypoints, and a halt."""

import html
import math
import threading
import time
from collections.abc import Callable
from typing import Any, TypeAlias, cast

import numpy as np

from sandlot.errors import SandlotError
from sandlot.lab.stage import Stage
from sandlot.robots.remote import RemoteDirection, RemoteRover, View
from sandlot.typing import Array
from sandlot.worlds.scene import (
    FLOOR,
    FRONT,
    GOAL,
    RETURN,
    ROBOT,
    WALL,
    Item,
    Lines,
    Points,
    Scene,
    Shape,
    blend,
    upright,
)

Connect: TypeAlias = Callable[[str], RemoteRover]
"""Opens a link to the address of a rover, ``HOST:PORT``."""
RATE = 5.0
"""Views a second."""
STROKE = 0.4
"""How long a press of a direction drives [s]."""
RADIUS, HEIGHT = 0.17, 0.1
"""Of the rover as drawn, and half its height [m]."""
PATH, FREE = (70, 140, 80), (222, 232, 214)
RED = (200, 30, 30)
MOST = 8000
"""Free cells that are drawn; of more, every second, third and so on."""
REACH = 3.0
"""So much around the rover is shown [m]."""
SETTLED = 5
"""The camera is placed above the rover after so many views."""
HINT = "A rover is served with `sandlot rover serve`; click its map to send it there (mode SEMI)."


class RoverTab:
    """The tab, and the link.

    Attributes:
        rover: At the other end; None before a link was opened.
        seen: The last view of it.
    """

    def __init__(self, server: Any, stage: Stage, connect: Connect | None) -> None:
        """Put the tab's elements on the page, where the present context of viser is."""
        self._server, self._stage, self._connect = server, stage, connect
        self.rover: RemoteRover | None = None
        self.seen = View()
        self._scene: Scene | None = None
        self._closed = False
        gui = server.gui
        self._address = gui.add_text("Rover address", "127.0.0.1:4760")
        gui.add_button("Connect").on_click(lambda _: self.open(self._address.value))
        gui.add_button("HALT", color=RED, hint="Stops the motors, and forgets all orders to move").on_click(
            lambda _: self._order(lambda rover: rover.halt())
        )
        self._mode = gui.add_button_group("Mode", ("MANUAL", "SEMI", "AUTO"))
        self._drive = gui.add_button_group("Drive", ("forwards", "backwards"))
        self._turn = gui.add_button_group("Turn", ("left", "right"))
        gui.add_button("Go on", hint="After the link was lost").on_click(
            lambda _: self._order(lambda rover: rover.go_on())
        )
        self._battery = gui.add_progress_bar(0.0)
        self._status = gui.add_markdown(HINT)
        self._telemetry = gui.add_markdown("")
        self._mode.on_click(lambda event: self._order(lambda rover: rover.set_mode(event.target.value)))
        for group in (self._drive, self._turn):
            group.on_click(lambda event: self._move(event.target.value))
        self._listens, self._views = False, 0
        threading.Thread(target=self._loop, name="rover tab", daemon=True).start()

    def open(self, address: str) -> None:
        """Open a link to a rover."""
        self._address.value = address
        if self._connect is None:
            self._status.content = "**Not possible:** this page was opened without a link to rovers"
            return
        self._status.content = "Connecting ..."
        try:
            fresh = self._connect(address)
        except (SandlotError, OSError) as error:
            self._status.content = f"**Not possible:** {html.escape(str(error))}"
            return
        before, self.rover = self.rover, fresh
        if before is not None:
            before.close()
        if not self._listens:
            self._listens = True
            self._server.scene.on_click()(self._click)
        self._scene, self._views = rover_scene(self.seen), 0
        self._stage.show(self, lambda: () if self._scene is None else (self._scene,))

    def close(self) -> None:
        """End the link."""
        self._closed = True
        if self.rover is not None:
            self.rover.close()

    def click(self, origin: Array, direction: Array) -> None:
        """Send the rover to where a ray meets the floor.

        Args:
            origin: (3,) of the ray, on the page [m].
            direction: (3,) of the ray.
        """
        if self.rover is None or not self._stage.shows(self) or direction[2] >= -1e-6:
            return
        x, y, _ = self._stage.to_scene(origin - direction * (origin[2] / direction[2]))
        self._order(lambda rover: rover.go_to(float(x), float(y)))

    def _click(self, event: Any) -> None:
        self.click(np.array(event.ray_origin, np.float64), np.array(event.ray_direction, np.float64))

    def _move(self, direction: str) -> None:
        self._order(lambda rover: rover.move(cast(RemoteDirection, direction), STROKE))

    def _order(self, give: Callable[[RemoteRover], None]) -> None:
        if self.rover is None:
            self._status.content = "**Not possible:** there is no link to a rover"
            return
        try:
            give(self.rover)
        except (SandlotError, ValueError) as error:
            self._status.content = f"**Not possible:** {html.escape(str(error))}"

    def _loop(self) -> None:
        while not self._closed:
            time.sleep(1.0 / RATE)
            rover = self.rover
            if rover is None:
                continue
            self.seen = seen = rover.view()
            self._scene = rover_scene(seen)
            self._say(seen)
            self._views += 1
            if self._views == SETTLED and self._stage.shows(self):
                self._stage.view("top")

    def _say(self, seen: View) -> None:
        link = "" if seen.connected else f"**No link:** {html.escape(seen.problem)}. "
        held = f" **Waits:** {html.escape(seen.held)}." if seen.held else ""
        place = f"x {seen.pose.x:.2f} m, y {seen.pose.y:.2f} m, yaw {math.degrees(seen.pose.yaw):.0f}°"
        report = f": {html.escape(seen.report)}" if seen.report else ""
        power = ""
        if math.isfinite(seen.charge):
            self._battery.value = 100.0 * seen.charge
            power = f"Battery {100.0 * seen.charge:.0f}%, {seen.time_left / 3600.0:.1f} h left"
            power += ", **backup**" if seen.backup else ""
        self._status.content = f"{link}**{seen.mode}** {seen.state}{report}.{held}\n\n{place}\n\n{power}"
        rows = "\n".join(f"| {html.escape(name)} | {value:.2f} |" for name, value in seen.telemetry.items())
        self._telemetry.content = f"| telemetry | |\n| --- | --- |\n{rows}" if rows else ""


def rover_scene(seen: View) -> Scene:
    """What is known of a rover: walls as dark as their reputation, free cells, path, waypoint, scan and rover."""
    x, y, yaw = seen.pose
    items: list[Item] = []
    low, high = np.array([x, y]) - REACH, np.array([x, y]) + REACH
    if seen.map is not None:
        known = seen.map
        side, corner = known.resolution, np.array(known.corner)
        free = np.argwhere(known.kinds == 1)
        free = free[:: max(-(-len(free) // MOST), 1)]
        items.append(Points("free", _flat((free[:, ::-1] + 0.5) * side + corner), 0.6 * side, FREE))
        solid = np.argwhere(known.kinds >= 2)
        if len(solid):
            shades = blend(FLOOR, WALL, 0.25 + 0.75 * known.reputation[solid[:, 0], solid[:, 1]].astype(np.float64))
            colours = tuple((int(r), int(g), int(b)) for r, g, b in shades.tolist())
            items.append(Points("walls", _flat((solid[:, ::-1] + 0.5) * side + corner, 0.02), 0.7 * side, colours))
    if len(seen.path) > 1:
        way = _flat(seen.path, 0.03)
        items.append(Lines("path", np.stack([way[:-1], way[1:]], axis=1), PATH, 3.0))
    if seen.waypoint is not None:
        items.append(Shape("waypoint", "cylinder", (0.08, 0.01), *upright(*seen.waypoint.tolist()), GOAL))
    if len(seen.points):
        items.append(Points("scan", _flat(seen.points, 0.05), 0.02, RETURN))
    items.append(Shape("rover", "cylinder", (RADIUS, HEIGHT), *upright(x, y, HEIGHT, yaw), ROBOT))
    ahead = x + 0.7 * RADIUS * math.cos(yaw), y + 0.7 * RADIUS * math.sin(yaw)
    items.append(Shape("front", "sphere", (0.4 * RADIUS,), *upright(*ahead, 2.0 * HEIGHT), FRONT))
    return Scene(tuple(items), low, high, 640, focus=np.array([x, y, 0.0]), reach=REACH)


def _flat(points: Array, height: float = 0.0) -> Array:
    return np.column_stack([points, np.full(len(points), height)])
