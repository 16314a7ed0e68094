"""The terrain world: rovers on ground that gives way."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from sandlot.control.sessions import FRAMES, Session
from sandlot.geometry.planar import wrap
from sandlot.recordings import Frame, Quantity
from sandlot.typing import Array
from sandlot.worlds.actions import check_action
from sandlot.worlds.base import Controller, World, WorldSettings
from sandlot.worlds.terrain.fleet import Fleet
from sandlot.worlds.terrain.ground import TerrainGround
from sandlot.worlds.terrain.picture import draw
from sandlot.worlds.terrain.settings import TerrainSettings
from sandlot.worlds.terrain.windows import Windows, sample_patch

ACTION = "a linear [m/s] and an angular [rad/s] speed for each rover"
FELT = 11
"""Numbers that a rover observes besides its patch of heights."""
FAR = 1e6
"""No observation is larger [rad, rad/s, m/s^2, m]."""


class Terrain(World):
    """Rovers drive over hills, sink in, slip, and leave ruts.

    They steer by turning the wheels, or tracks, of their two sides at different speeds. The ground is soil on a height
    map, which is pressed down and pushed aside but never lost; or many small particles; or rigid. The task is that of
    chapter 5 of Daniel Cook, *Tractable Robot Simulation for Terrain Leveling*, Memorial University of Newfoundland,
    2017: to gather recordings of how a rover moves, and how it changes the ground. A metre is 12 units of the source.

    ## Actions
    ``Box`` of shape (rovers, 2): the speed forward [m/s] and the rate of turning to the left [rad/s] that each rover
    should have; the bounds are what it could do of one alone. If both together are too much for its motors, it drives
    the same curve more slowly. One step is one frame, 0.01 s.

    ## Observations
    ``Box`` of shape (rovers, 11 + patch^2), per rover: roll, pitch and yaw [rad], the rates of turning about its own
    axes [rad/s] and the specific force along them [m/s^2], from its inertial measurement unit; the speeds of its left
    and its right wheels [rad/s], from their encoders; and, if ``patch`` is set, the heights of the ground in a square
    around it that turns with it, relative to its chassis [m]: rows to the left, columns ahead, as far apart as nodes.

    ## Reward
    The way that the rovers drove forward, summed over them [m]; back is negative.

    ## Start and end
    The rovers start side by side in the middle, or where ``poses`` says, on ground that nothing has touched, and stand
    for 0.3 s before the first frame. ``reset(seed=...)`` draws hills, if these are wanted, and the noise of sensors. An
    episode terminates when a rover lies on its back. It is truncated when one, or a wheel of it, has left ground that
    does not go on at the other edge, or when the simulation explodes (``info["exploded"]``): when a rover is nowhere,
    faster than 20 m/s, or turns faster than 300 rad/s. Then it stops, and observes what it did last.

    ## Ground that goes on
    With ``wrap``, what leaves the map on one side comes in on the other. The rover is not moved for that: ``x`` and
    ``y`` of a frame are counted within the map, while ``dx`` and ``dy`` go on smoothly. Rovers that
    meet across the edge press into the same ground, but do not touch each other; they may not start on the same spot.

    ## Recordings
    A frame has every quantity of the source's table 5.1; ``dx``, ``dy`` and ``dyaw`` are differences to the last frame,
    along the axes of the world. In place of a picture of the ground in each frame, ``change`` tells what has changed in
    a window of nodes around each rover since the last frame, in whole micrometres; where windows overlap, the first
    rover's tells it. Node ``[r, i, j]`` of it is node ``[(window_row[r] + i) % ny, (window_column[r] + j) % nx]`` of
    the map: where the ground goes on, a window may begin before the first node and end after the last. Every
    ``map_every`` frames, ``heights`` has the whole map, whose middle is at the origin: node ``[i, j]`` lies at
    ``x = spacing * (j - (nx - 1) / 2)`` and ``y = spacing * (i - (ny - 1) / 2)``.
    `sandlot.worlds.terrain.windows.rebuild` makes the map of any frame.

    ## Controllers
    ``session``, which drives forwards, backwards, turns and curves with changing speeds (algorithm 5 of the source);
    ``straight`` drives forward as fast as it can; ``random``.

    ## Versions
    v0: first version.
    """

    Settings: ClassVar[type[WorldSettings]] = TerrainSettings
    reward_units = "m"
    metadata = {"render_modes": ["rgb_array"], "render_fps": 100}
    outcome_quantities: ClassVar[Mapping[str, Quantity]] = {
        "way": Quantity("m", "way driven, forwards or backwards, on the mean of all rovers"),
        "distance": Quantity("m", "from where they started, on the mean of all rovers"),
        "slip": Quantity("1", "share of the wheels' way that was not driven; none if they did not turn"),
        "rut": Quantity("m", "how far the ground has been lowered where it was most"),
        "overturned": Quantity("1", "whether a rover lies on its back"),
    }
    settings: TerrainSettings

    def __init__(self, render_mode: str | None = None, **settings: Any) -> None:
        super().__init__(render_mode, **settings)
        given = self.settings
        # An image brings its own size, known only once it is read; and a mistake in it shows now.
        self._map = given.heights(np.random.default_rng(0))
        shape = self._map.shape
        self._period = given.spacing * np.array(shape[::-1], np.float64)
        self.fleet = Fleet(given.rovers, given.poses, given.step, self._period, given.wraps)
        self.ground = TerrainGround(given, self.fleet.rovers)
        self.windows = Windows(shape, self.fleet.count, given.window, given.wraps)
        self._imu = given.imu.model_copy(update={"interval": given.interval})
        n = self.fleet.count
        self.observation_space = Box(-FAR, FAR, (n, FELT + given.patch**2), np.float32)
        self.action_space = Box(-self.fleet.speeds.astype(np.float32), self.fleet.speeds.astype(np.float32))
        self._frames = 0
        self.quantities = _quantities(n, shape, self.windows.change.shape[1:], given.map_every)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start anew, on new ground."""
        super().reset(seed=seed)
        if self.settings.drawn:
            self._map = self.settings.heights(self.np_random)
        self.ground.restart(self._map)
        self._start = self.ground.heights.copy()
        self.fleet.restart(self.ground)
        count = self.fleet.count
        self._bias = self._imu.draw_bias(count, self.np_random), self.settings.encoders.draw_bias(count, self.np_random)
        self._steps, self._wanted = 0, np.zeros((count, 2))
        self._way, self._turned, self._driven = np.zeros((3, count))
        self._origin = self.fleet.position[:, :2].copy()
        self._frame: Frame | None = None
        self._last: tuple[Array, Array] | None = None
        self._lost = False
        self.windows.restart(self.ground.heights)
        self._seen = self._observe()
        return self._seen, self._info()

    def step(self, action: NDArray[Any]) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Go on to the next frame."""
        fleet, before, yaw = self.fleet, self.fleet.position, self.fleet.angles[:, 2]
        self._wanted = check_action(action, (self.fleet.count, 2), ACTION)
        self._frame = None
        self._steps += 1
        if not self._lost:
            fleet.drive(self.ground, self._wanted, self.settings.steps)
            self._lost = fleet.exploded
        if self._lost:
            return self._seen, 0.0, False, True, self._info()
        moved = fleet.position[:, :2] - before[:, :2]
        heading = yaw + 0.5 * wrap(fleet.angles[:, 2] - yaw)
        forward = moved[:, 0] * np.cos(heading) + moved[:, 1] * np.sin(heading)
        rolled = fleet.radius * fleet.wheels.mean(axis=1) * self.settings.interval
        self._way += np.hypot(moved[:, 0], moved[:, 1])
        self._turned += np.abs(rolled)
        self._driven += forward * np.sign(rolled)
        self._seen = self._observe()
        return self._seen, float(forward.sum()), fleet.overturned, self.left, self._info()

    @property
    def exploded(self) -> bool:
        """Whether the simulation is no longer to be trusted."""
        return self._lost

    @property
    def left(self) -> bool:
        """Whether a rover has left the ground, where this does not go on; once a wheel has, it hangs on the edge."""
        return not self.ground.wrap and bool((np.abs(self.fleet.middles) > 0.5 * self._period).any())

    def controllers(self) -> dict[str, Callable[[np.random.SeedSequence], Controller]]:
        """Those of the class docstring."""
        ahead = self.fleet.speeds * (1.0, 0.0)
        return {"session": self._session, "straight": lambda _: lambda _: ahead, **super().controllers()}

    def controller(self, name: str, seed: np.random.SeedSequence, steps: int | None = None) -> Controller:
        """Make one of the ready controllers; a session has as many frames as there will be steps."""
        return self._session(seed, steps) if name == "session" and steps else super().controller(name, seed)

    def _session(self, seed: np.random.SeedSequence, frames: int | None = None) -> Controller:
        return Session(self.fleet.speeds, seed, frames or FRAMES)

    def outcomes(self) -> dict[str, float]:
        """What has come of the episode so far, as ``outcome_quantities`` names it."""
        away = np.hypot(*(self.fleet.position[:, :2] - self._origin).T)
        turned = float(self._turned.sum())
        return {
            "way": float(self._way.mean()),
            "distance": float(away.mean()),
            "slip": 1.0 - float(self._driven.sum()) / turned if turned > 0.0 else np.nan,
            "rut": float(np.max(self._start - self.ground.heights)),
            "overturned": float(self.fleet.overturned),
        }

    def frame(self) -> Frame:
        """Where the rovers are, what they want, and what has changed of the ground since the last frame."""
        if self._frame is None:
            self._frame = self._look()
        return self._frame

    def _look(self) -> Frame:
        fleet, windows = self.fleet, self.windows
        position, angles = fleet.position, fleet.angles
        before = self._last or (position, angles)
        moved, turned = position - before[0], wrap(angles[:, 2] - before[1][:, 2])
        self._last = position, angles
        nodes = (position[:, 1::-1] - self.ground.corner[::-1]) / self.settings.spacing
        if self.ground.wrap:
            # The map reaches half a spacing beyond its first and last nodes.
            nodes = (nodes + 0.5) % self._map.shape - 0.5
        place = self.ground.corner + self.settings.spacing * nodes[:, ::-1]
        if not self._lost:
            windows.place(nodes)
            windows.tell(self.ground.heights)
            if self._frames % self.settings.map_every == 0:
                change = windows.change.copy()
                windows.restart(self.ground.heights)
                windows.change[:] = change
        self._frames += 1
        return {
            "time": np.float64(self._steps * self.settings.interval),
            "x": place[:, 0],
            "y": place[:, 1],
            "z": position[:, 2],
            "roll": angles[:, 0],
            "pitch": angles[:, 1],
            "yaw": angles[:, 2],
            "dx": moved[:, 0],
            "dy": moved[:, 1],
            "dyaw": turned,
            "left": fleet.wheels[:, 0],
            "right": fleet.wheels[:, 1],
            "linear": self._wanted[:, 0],
            "angular": self._wanted[:, 1],
            "way": self._way,
            "window_row": windows.rows,
            "window_column": windows.columns,
            "change": windows.change,
            "heights": windows.shown,
        }

    def render(self) -> NDArray[np.uint8]:
        """The ground from above in a low light, with its ruts, and the rovers to scale: the longer side 720 pixels."""
        ground, given = self.ground, self.settings
        grain = given.particles.radius if given.ground == "particles" else 0.0
        return draw(ground.heights, self._start, ground.spacing, ground.corner, ground.wrap, self.fleet, grain)

    def _observe(self) -> NDArray[np.float32]:
        fleet, given = self.fleet, self.settings
        felt = self._imu.read(fleet.rovers, fleet.data, self._bias[0], self.np_random)
        wheels = given.encoders.read(fleet.rovers, fleet.data, self._bias[1], self.np_random).speeds
        parts = [felt.orientation, felt.rates, felt.force, wheels]
        if given.patch:
            patch = np.zeros((fleet.count, given.patch, given.patch))
            for k, (x, y, z) in enumerate(fleet.position):
                column, row = (np.array([x, y]) - self.ground.corner) / given.spacing
                sample_patch(self.ground.heights, row, column, fleet.angles[k, 2], self.ground.wrap, patch[k])
                patch[k] -= z
            parts.append(patch.reshape(fleet.count, -1))
        return np.clip(np.concatenate(parts, axis=1), -FAR, FAR).astype(np.float32)

    def _info(self) -> dict[str, Any]:
        return {"time": self._steps * self.settings.interval, "exploded": self._lost}


def _quantities(count: int, shape: tuple[int, ...], window: tuple[int, ...], map_every: int) -> dict[str, Quantity]:
    """What a frame of the terrain world holds."""

    def each(units: str, long_name: str, dtype: str = "float64") -> Quantity:
        return Quantity(units, f"{long_name}, of each rover", ("rover",), (count,), dtype)

    window_dims, map_dims = ("rover", "window_y", "window_x"), ("map_y", "map_x")
    return {
        "time": Quantity("s", "time since the start"),
        "x": each("m", "position of the chassis along x, within the map"),
        "y": each("m", "position of the chassis along y, within the map"),
        "z": each("m", "height of the chassis"),
        "roll": each("rad", "roll, positive with the left side up"),
        "pitch": each("rad", "pitch, positive with the nose down"),
        "yaw": each("rad", "yaw, positive to the left"),
        "dx": each("m", "change of x since the last frame"),
        "dy": each("m", "change of y since the last frame"),
        "dyaw": each("rad", "change of yaw since the last frame"),
        "left": each("rad/s", "speed of the left wheels"),
        "right": each("rad/s", "speed of the right wheels"),
        "linear": each("m/s", "wanted speed forward"),
        "angular": each("rad/s", "wanted rate of turning, to the left"),
        "way": each("m", "way driven since the start"),
        "window_row": each("1", "row of the map of the window's first node", "int64"),
        "window_column": each("1", "column of the map of the window's first node", "int64"),
        "change": Quantity(
            "m", "change of heights in a window around each rover", window_dims, (count, *window), "float32"
        ),
        "heights": Quantity("m", "height of the ground at each node", map_dims, shape, "float32", every=map_every),
    }
