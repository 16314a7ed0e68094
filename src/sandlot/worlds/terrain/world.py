"""The terrain world: rovers on ground that yields."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sandlot.control.controller import Controller, as_controller
from sandlot.control.passive_leveling import KINDS, PassiveLeveling, PassiveRule
from sandlot.control.sessions import Session, Varied
from sandlot.recordings import Frame, Quantity
from sandlot.typing import Array
from sandlot.worlds.actions import check_action
from sandlot.worlds.base import StepResult, World
from sandlot.worlds.scene import Scene
from sandlot.worlds.settings import WorldSettings
from sandlot.worlds.terrain.frames import frame, frame_quantities
from sandlot.worlds.terrain.recorder import TerrainRecorder
from sandlot.worlds.terrain.scene import terrain_scene
from sandlot.worlds.terrain.settings import TerrainSettings
from sandlot.worlds.terrain.task import TerrainTask, scale, spaces

ACTION = "a linear [m/s] and an angular [rad/s] speed for each rover"


class Terrain(World):
    """Rovers drive over hills, sink in, slip, and leave ruts.

    They steer by turning the wheels, or tracks, of their two sides at different speeds. The ground is soil on a height
    map, which rovers press down and push aside without losing volume; or many small particles; or rigid. The task is
    that of chapter 5 of Daniel Cook, *Tractable Robot Simulation for Terrain Leveling*, Memorial University of
    Newfoundland, 2017: to record how a rover moves and how it changes the ground. A metre is 12 units of the source.

    ## Actions
    ``Box`` of shape (rovers, 2): the commanded forward speed [m/s] and turn rate to the left [rad/s] of each rover. The
    bounds are the highest speed without turning and the highest turn rate on the spot. If the motors cannot do both
    together, the rover drives the same curve more slowly. One step is one frame, 0.01 s, or ``frame_skip`` of them.

    ## Observations
    ``Box`` of shape (rovers, 11 and more), per rover: roll, pitch and yaw [rad], the angular rates about its own axes
    [rad/s] and the specific force along them [m/s^2], from its inertial measurement unit; the speeds of its left and
    its right wheels [rad/s], from their encoders; with ``task="goal"``, the distance [m] and the bearing [rad] of its
    goal, positive to the left, as a positioning system gives them; and, if ``patch`` is set, the heights of the ground
    in a square that rotates with it, relative to its chassis [m]: rows to the left, columns ahead. Its points are
    ``patch_stride`` nodes apart, and its middle is ``patch_ahead`` ahead of the rover.

    ## Reward
    With ``task="drive"``, the distance that the rovers drove forward in the step, summed over them [m]; negative for
    driving backwards. With ``task="goal"``, the distance by which they came nearer to their goals.

    ## Start and end
    The rovers start side by side in the middle, or at ``poses``, on untouched ground, and stand still for 0.3 s before
    the first frame. ``reset(seed=...)`` draws random hills, if ``terrain`` is ``hills`` or ``redraw`` is set, the noise
    of the sensors, and goals, unless ``goal`` gives one. An episode terminates when a rover lies on its back, or when
    all rovers have reached their goals (``info["is_success"]``). It is truncated when a rover, or a wheel of it, leaves
    a map that does not wrap, or when the simulation explodes (``info["exploded"]``): a state is NaN, a rover is faster
    than 20 m/s, or it rotates faster than 300 rad/s. The simulation then stops, and observations stay as they were.

    ## Ground that wraps
    With ``wrap``, the ground continues at the opposite edge of the map. Rovers are not moved for this: ``x`` and ``y``
    of a frame are within the map, while ``dx`` and ``dy`` have no jumps. Rovers on opposite sides of the edge press
    into the same ground but do not collide; they may not start on the same spot.

    ## Recordings
    A recording has every quantity of the source's table 5.1; ``dx``, ``dy`` and ``dyaw`` are differences to the frame
    before, along the axes of the world. Instead of the whole ground, each frame stores ``height_change``: how heights
    in a window of nodes around each rover have changed since the frame before, in whole micrometres; in the first frame
    of an episode, since nothing had touched the ground. Where windows
    overlap, the change is in that of the first rover. Node ``[r, i, j]`` of it is node
    ``[(window_row[r] + i) % ny, (window_column[r] + j) % nx]`` of the map: if the ground wraps, a window may begin
    before the first node and end after the last. Every ``map_every`` frames, ``heights`` has the whole map, whose
    middle is at the origin: node ``[i, j]`` lies at ``x = spacing * (j - (nx - 1) / 2)`` and
    ``y = spacing * (i - (ny - 1) / 2)``. `sandlot.worlds.terrain.windows.rebuild` makes the map of any frame.
    ``frame()`` of the world has all but the windows, and the present ``heights``.

    ## Fidelities
    ``reference`` is MuJoCo with soil, particles or rigid ground. ``learned`` is a stand-in for soil that was fitted to
    recordings of it: nets move the rovers, and their footprints change the ground. It is much faster, and drifts away
    from the reference within seconds; the card of its model says by how much.

    ## Many at once
    ``gymnasium.make_vec("sandlot/Terrain-v0", num_envs=64, fidelity="learned")`` drives the rovers of all members in
    one call of compiled code, each member on a map of its own, and with the same results. At ``reference``, members
    are stepped one after the other, or by ``threads``: `sandlot.worlds.terrain.vector`.

    ## Controllers
    ``session`` drives forwards, backwards, turns and curves with changing speeds (algorithm 5 of the source);
    ``varied`` does so in random order and with rests;
    ``straight`` drives forward at full speed; ``random`` draws an action for every step. Five are rules of section
    7.1.1 of the source, which level the ground by driving alone: ``walk`` walks at random; ``charge`` drives straight
    and fast up hills (algorithm 6); ``spin`` spins at their peaks; ``memory`` remembers peaks and returns to the
    highest; with ``shared``, all rovers remember together.

    ## Versions
    v0: first version.
    """

    Settings: ClassVar[type[WorldSettings]] = TerrainSettings
    reward_units = "m"
    action_units = "m/s, rad/s"
    metadata = {"render_modes": ["rgb_array", "human"], "render_fps": 100}
    outcome_quantities: ClassVar[Mapping[str, Quantity]] = {
        "path_length": Quantity("m", "length of the path driven, forwards or backwards, mean of all rovers"),
        "distance": Quantity("m", "distance from the start, mean of all rovers"),
        "slip": Quantity("1", "1 minus distance driven over distance rolled by the wheels; NaN if they did not turn"),
        "rut_depth": Quantity("m", "largest decrease of the height of the ground"),
        "overturned": Quantity("1", "whether a rover lies on its back"),
        "reached": Quantity("1", "share of the rovers that reached their goal; NaN without one"),
        "goal_left": Quantity("m", "distance left to the goal, mean of all rovers; NaN without one"),
    }
    settings: TerrainSettings

    def __init__(self, render_mode: str | None = None, **given: Any) -> None:
        super().__init__(render_mode, **given)
        self.metadata = {**self.metadata, "render_fps": 1.0 / (self.settings.interval * self.settings.frame_skip)}
        # Making the map finds out the size of an image, and what is wrong with it.
        self._map = self.settings.heights(np.random.default_rng(0))
        self.task = TerrainTask(self.settings, self._map.shape)
        rovers = self.task.rovers
        observed = scale(self.settings, rovers.top_speeds, rovers.wheel_radius)
        self._offer(*spaces(self.settings, rovers.top_speeds), observed)
        self.quantities = frame_quantities(self.task)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin a new episode on new ground."""
        super().reset(seed=seed)
        if self.settings.random:
            self._map = self.settings.heights(self.np_random)
        self.task.restart(self._map, self.np_random)
        self._observed = self.task.observe(self.np_random)
        return self._observed, self._info()

    def step(self, action: NDArray[Any]) -> StepResult:
        """Drive until the next frame, or for ``frame_skip`` of them unless the episode ends."""
        return self.result(self.task.command(self.check(action)))

    def check(self, action: NDArray[Any]) -> Array:
        """Refuse an action that is not one of this world; returns it as float64."""
        return check_action(action, self.task.commands.shape, ACTION)

    def remember(self, observation: NDArray[np.float32]) -> None:
        """Keep the last observation before the simulation may explode, which `result` then returns."""
        self._observed = observation.copy()

    def result(self, reward: float) -> StepResult:
        """What `step` returns when the rovers have been driven to the next frame."""
        task = self.task
        if task.exploded:
            return self._observed, 0.0, False, True, self._info()
        self._observed = task.observe(self.np_random)
        return self._observed, reward, task.overturned or task.arrived, task.off_map, self._info()

    @property
    def exploded(self) -> bool:
        """Whether the simulation is no longer to be trusted."""
        return self.task.exploded

    def controllers(self) -> dict[str, Controller]:
        """Those of the class docstring."""
        speeds = self.task.rovers.top_speeds
        straight = as_controller(lambda _: speeds * (1.0, 0.0))
        passive: dict[str, Controller] = {kind: self.passive_leveling(PassiveRule(kind=kind)) for kind in KINDS}
        ready = {"session": Session(speeds), "varied": Varied(speeds), "straight": straight}
        return {**ready, **passive, **super().controllers()}

    def passive_leveling(self, rule: PassiveRule) -> PassiveLeveling:
        """A controller that levels the ground by driving alone."""
        rovers, period = self.task.rovers, self.settings.interval * self.settings.frame_skip
        return PassiveLeveling(rule, rovers.top_speeds, rovers.wheel_radius, rovers.poses, period)

    def controller(self, name: str, steps: int | None = None) -> Controller:
        """Make one of the ready controllers; a session has as many frames as there will be steps."""
        if name == "session" and steps:
            return Session(self.task.rovers.top_speeds, steps)
        return super().controller(name)

    def outcomes(self) -> dict[str, float]:
        """Results of the episode so far, as ``outcome_quantities`` names them."""
        return self.task.outcomes()

    def frame(self) -> Frame:
        """Where the rovers are, their commands, and the heights of the ground."""
        return frame(self.task)

    def recorder(self) -> TerrainRecorder:
        """Frames of a recording, with the changes of the ground around each rover."""
        return TerrainRecorder(self)

    def scene(self) -> Scene:
        """What there is to draw: the ground with its ruts, the rovers, and their goals."""
        task = self.task
        goals = None if task.goals is None else task.goals.places
        return terrain_scene(task.ground, task.rovers, task.time, goals, self.settings.goal_distance)

    def _info(self) -> dict[str, Any]:
        known = {"time": self.task.time, "exploded": self.task.exploded}
        return known if self.task.goals is None else {**known, "is_success": self.task.arrived}
