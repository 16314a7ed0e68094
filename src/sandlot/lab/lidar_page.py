"""A page that shows a live lidar: its returns around the robot, or the map that is made from them."""

import html

import numpy as np

from sandlot.lab.lab import Lab
from sandlot.lab.maps_tab import HEIGHT, RADIUS, map_scene
from sandlot.mapping.mapper import Mapper
from sandlot.mapping.matching.points import scan_points
from sandlot.recordings.scans import Scan
from sandlot.worlds.scene import FRONT, LASER, RETURN, ROBOT, Item, Lines, Points, Scene, Shape, upright

MIN_REACH = 1.0
"""Radius that is shown at least [m]."""
GROWN = 1.4
"""The camera moves back when there is so much more to see, and otherwise stays where the viewer has put it."""
RETURN_RADIUS = 0.03
"""Of a return, as drawn [m]."""


class LidarPage:
    """A page with a live scan.

    Attributes:
        lab: The page.
    """

    def __init__(self, port: int, title: str) -> None:
        """Serve the page at a port of this machine, 0 for any that is free.

        Raises:
            SandlotError: The port is in use, or viser is not installed.
        """
        self.lab = Lab(port, tabs=False)
        gui = self.lab.server.gui
        gui.main_panel.expand()
        gui.add_markdown(f"**{html.escape(title)}**")
        self._status = gui.add_markdown("Waiting for the first turn ...")
        self._scene: Scene | None = None
        self._reach, self._viewed = MIN_REACH, 0.0
        self.lab.stage.show(self, lambda: () if self._scene is None else (self._scene,))

    def show(self, scan: Scan, mapper: Mapper | None, status: str) -> None:
        """Show a scan, in the map if there is one, and what there is to say."""
        if self._scene is not None and self._scene.looked_at[1] > GROWN * self._viewed:
            self._viewed = self._scene.looked_at[1]
            self.lab.stage.view("top")  # of the scene before, which is drawn by now
        if mapper is None:
            seen = scan.ranges[np.isfinite(scan.ranges)]
            self._reach = max(self._reach, float(np.quantile(seen, 0.95)) if len(seen) else 0.0)
            self._scene = scan_scene(scan, self._reach)
        else:
            self._scene = map_scene(mapper, scan)
        self._status.content = html.escape(status)

    def close(self) -> None:
        """Stop serving."""
        self.lab.close()


def scan_scene(scan: Scan, reach: float) -> Scene:
    """A scan around its robot, of which so much is shown [m]."""
    points = scan_points(scan, max_range=np.inf)
    ends = np.column_stack([points, np.zeros(len(points))])
    items: list[Item] = []
    if len(ends):
        beams = np.stack([np.zeros_like(ends), ends], axis=1)
        items += [Lines("beams", beams, LASER, 1.0), Points("returns", ends, RETURN_RADIUS, RETURN)]
    items.append(Shape("robot", "cylinder", (RADIUS, HEIGHT), *upright(0.0, 0.0), ROBOT))
    items.append(Shape("front", "sphere", (0.4 * RADIUS,), *upright(0.7 * RADIUS, 0.0, HEIGHT), FRONT))
    low = np.array([-reach, -reach])
    return Scene(tuple(items), low, -low, 640, focus=np.zeros(3), reach=reach)
