"""The stage of the page: draws the scenes of whichever tab was used last, and places cameras.

What a scene looks at is drawn at the origin: when the robot moves, the world moves the other way. So every viewer's
camera follows the robot, and each viewer may turn and zoom without being disturbed.
"""

import logging
import operator
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from sandlot.lab.canvas import Canvas
from sandlot.lab.ground import SUN
from sandlot.lab.simulation import RATE
from sandlot.typing import Array
from sandlot.worlds.scene import HeightField, Scene

Source: TypeAlias = Callable[[], Sequence[Scene]]
"""Gives the scenes to draw now, side by side; the same objects again if nothing has changed."""
VIEWS = {"3D": (-0.75, -1.0, 0.85), "side": (0.0, -1.4, 0.35), "top": (0.0, -0.02, 1.9)}
"""Where the camera is, relative to what it looks at and to the radius that it should see."""
APART = 2.4
"""Distance between two scenes, relative to the radius that the camera should see."""
FIELD_OF_VIEW = 0.75
"""Of the camera, vertical [rad]."""
POLL = 0.01
"""Time between two looks for a new scene [s]."""
LABELLED = 0.62
"""Height of a name above its scene, relative to the radius that the camera should see."""


class Stage:
    """Draws scenes as they come, up to 18 times a second.

    Attributes:
        follow: Whether the camera follows what the scene looks at.
    """

    def __init__(self, server: Any) -> None:
        """Take a server of viser, light its scene, and begin to draw."""
        self._server, self.follow = server, True
        self._canvases: list[Canvas] = []
        self._labels: list[Any] = []
        self._source: Source | None = None
        self._owner: object = None
        self._drawn: list[Scene] = []
        self._floor: Any = None
        self._names: Sequence[str] = ()
        self._framed: tuple[float, bool] | None = None
        self._lock = threading.RLock()
        self._closed = False
        self._sun = light(server)
        server.initial_camera.fov = FIELD_OF_VIEW
        self._thread = threading.Thread(target=self._loop, name="stage", daemon=True)
        self._thread.start()

    def show(self, owner: object, source: Source, names: Sequence[str] = ()) -> None:
        """Draw from now on what this source gives.

        Args:
            owner: Whose source it is; see `leave`.
            source: Gives the scenes.
            names: Of the scenes, if there are several.
        """
        with self._lock:
            self.clear()
            self._owner, self._source, self._names = owner, source, names
            self._framed = None

    def shows(self, owner: object) -> bool:
        """Whether the scenes of this owner are drawn."""
        return self._owner is owner

    def to_scene(self, point: Array) -> Array:
        """A point (3,) on the page as a point of the first scene [m]."""
        with self._lock:
            shift = np.asarray(self._canvases[0].frame.position, np.float64) if self._canvases else np.zeros(3)
        return point - shift

    def clear(self) -> None:
        """Take everything off the page."""
        with self._lock:
            for each in (*self._canvases, *self._labels):
                each.remove()
            if self._floor is not None:
                self._floor.remove()
            self._canvases, self._labels, self._drawn, self._floor = [], [], [], None
            self._source = self._owner = None

    def view(self, name: str) -> None:
        """Place the cameras of all viewers, and of those who come later: one of `VIEWS`."""
        with self._lock:
            if not self._drawn:
                return
            reach = self._drawn[0].looked_at[1] * (1.0 if len(self._drawn) == 1 else 1.75)
            at = 1.75 * reach * np.array(VIEWS[name])
        camera = self._server.initial_camera
        camera.position, camera.look_at = tuple(at), (0.0, 0.0, 0.0)
        for client in self._server.get_clients().values():
            with client.atomic():
                client.camera.position, client.camera.look_at = at, np.zeros(3)
                client.camera.up_direction = np.array([0.0, 0.0, 1.0])
                client.camera.fov = FIELD_OF_VIEW

    def shadows(self, wanted: bool) -> None:
        """Let the sun cast shadows; that is slow without a graphics card."""
        self._sun.cast_shadow = wanted

    def close(self) -> None:
        """Stop drawing."""
        self._closed = True
        self._thread.join(timeout=5.0)

    def _loop(self) -> None:
        due = 0.0
        while not self._closed:
            now = time.monotonic()
            with self._lock:
                if self._source is not None:
                    try:
                        scenes = list(self._source())
                        fresh = len(scenes) != len(self._drawn) or any(map(operator.is_not, scenes, self._drawn))
                        if fresh or now >= due:
                            due = now + 1.0 / RATE
                            self._draw(scenes, fresh, now)
                    except Exception:  # a scene that cannot be drawn must not end the drawing of all others
                        logging.getLogger("sandlot").exception("a scene cannot be drawn")
                        self._source = None
            # Sources give at most `RATE` scenes a second; asking more often shows them at once, and misses none.
            time.sleep(POLL)

    def _draw(self, scenes: list[Scene], fresh: bool, now: float) -> None:
        self._drawn = scenes
        if len(self._canvases) != len(scenes):
            self._prepare(scenes)
        reach = max((scene.looked_at[1] for scene in scenes), default=1.0)
        crop = None if len(scenes) == 1 else 0.48 * APART * reach
        with self._server.atomic():
            for k, (canvas, scene) in enumerate(zip(self._canvases, scenes, strict=True)):
                if not fresh:
                    canvas.settle(now)
                    continue
                canvas.draw(scene, now, crop)
                if self.follow or self._framed is None:
                    canvas.frame.position = tuple(_beside(k, scenes) - scene.looked_at[0])
        framed = round(float(np.log2(reach))), len(scenes) > 1
        if scenes and self._framed != framed:
            first, self._framed = self._framed is None, framed
            if first:
                self.view("side" if scenes[0].side else "3D")

    def _prepare(self, scenes: list[Scene]) -> None:
        """Make canvases, names and a floor for a new number of scenes."""
        for each in (*self._canvases, *self._labels):
            each.remove()
        scene = self._server.scene
        self._canvases = [Canvas(scene, f"/stage/{k}") for k in range(len(scenes))]
        self._labels = []
        if len(scenes) > 1:
            for k, name in enumerate(self._names):
                up = np.array([0.0, 0.0, LABELLED * scenes[k].looked_at[1]])
                self._labels.append(scene.add_label(f"/stage/name {k}", name, position=tuple(_beside(k, scenes) + up)))
        if self._floor is not None:
            self._floor.remove()
            self._floor = None
        fields = [each for scene in scenes for each in scene.items if isinstance(each, HeightField)]
        if scenes and not scenes[0].side and not any(np.ptp(each.heights) > 0.0 or not each.cells for each in fields):
            far = 25.0 * scenes[0].looked_at[1]
            corners = np.array([(-far, -far, 0.0), (far, -far, 0.0), (far, far, 0.0), (-far, far, 0.0)])
            self._floor = scene.add_mesh_simple(
                "/stage/floor",
                corners,
                np.array([[0, 1, 2], [0, 2, 3]]),
                color=scenes[0].background[:3],
                position=(0.0, 0.0, -2e-3 * scenes[0].looked_at[1]),
                cast_shadow=False,
            )


def light(server: Any) -> Any:
    """Give a server of viser its light; returns the sun. The page itself has the sky (`door.SKY`)."""
    scene = server.scene
    scene.configure_environment_map(None)
    scene.configure_default_lights(False)
    scene.add_light_ambient("/light/sky", intensity=1.2)
    return scene.add_light_directional("/light/sun", intensity=1.8, position=tuple(10.0 * SUN))


def _beside(k: int, scenes: Sequence[Scene]) -> Array:
    """Where the focus of scene k is drawn: (3,) [m]."""
    apart = APART * max(scene.looked_at[1] for scene in scenes)
    ground = any(isinstance(each, HeightField) and not each.cells for each in scenes[0].items)
    if not ground and not scenes[0].side:
        apart = max(apart, 1.05 * float(scenes[0].high[1] - scenes[0].low[1]))
    middle = 0.5 * (len(scenes) - 1)
    return (
        np.array([(k - middle) * apart, 0.0, 0.0])
        if not scenes[0].side
        else np.array([0.0, (middle - k) * 0.9 * apart, 0.0])
    )
