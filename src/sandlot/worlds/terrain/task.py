"""The task of the terrain world, for all its rovers at once: drive, measure, and keep account."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.robots.rover_state import RoverState
from sandlot.sensing.imu import ImuBias
from sandlot.typing import Array
from sandlot.worlds.terrain.fidelity import make_physics
from sandlot.worlds.terrain.goals import OBSERVED, Goals
from sandlot.worlds.terrain.grid import Grid, sample_patches
from sandlot.worlds.terrain.settings import TerrainSettings

MEASURED = 11
"""Numbers that a rover observes besides its goal and its patch of heights."""
MAX_OBSERVED = 1e6
"""Observations are clipped to this [rad, rad/s, m/s^2, m]."""
NEAR, BUMP, GRAVITY = 2.0, 0.1, 9.81
"""At the normalised interface these are 1: a distance to the goal [m], a height [m], an acceleration [m/s^2]."""


@kernel(error_model="numpy")
def account(
    from_position: Array,
    from_attitude: Array,
    position: Array,
    attitude: Array,
    wheel_speeds: Array,
    wheel_radius: Array,
    interval: float,
    exploded: bool,
    travel: Array,
) -> tuple[Array, Array]:
    """Account for how rovers have moved in a frame.

    Args:
        from_position: (rovers, 3) before it [m].
        from_attitude: (rovers, 3) roll, pitch and yaw before it [rad].
        position: (rovers, 3) after it [m].
        attitude: (rovers, 3) after it [rad].
        wheel_speeds: (rovers, 2) of the left and the right wheels [rad/s].
        wheel_radius: (rovers,) [m]
        interval: Length of the frame [s].
        exploded: Whether distances mean nothing any more, and are not added.
        travel: (3, rovers) sums of path lengths, of distances rolled by the wheels, and of distances driven in the
            direction in which they roll [m]; added to.

    Returns:
        (rovers, 3) change of x, y [m] and yaw [rad] along the world's axes, and (rovers,) distance driven forward [m],
        0 if exploded.
    """
    moved, forward = np.empty((len(position), 3)), np.zeros(len(position))
    for k in range(len(position)):
        x, y = position[k, 0] - from_position[k, 0], position[k, 1] - from_position[k, 1]
        turn = attitude[k, 2] - from_attitude[k, 2]
        turn -= 2.0 * np.pi * np.rint(turn / (2.0 * np.pi))
        moved[k, 0], moved[k, 1], moved[k, 2] = x, y, turn
        if not exploded:
            yaw = from_attitude[k, 2] + 0.5 * turn
            forward[k] = x * math.cos(yaw) + y * math.sin(yaw)
            rolled = wheel_radius[k] * ((wheel_speeds[k, 0] + wheel_speeds[k, 1]) / 2.0) * interval
            travel[0, k] += math.hypot(x, y)
            travel[1, k] += abs(rolled)
            travel[2, k] += forward[k] * np.sign(rolled)
    return moved, forward


class TerrainTask:
    """Rovers that drive over ground, and what they measure.

    Attributes:
        settings: Of the world.
        rovers: Moves them.
        ground: Under them.
        steps: Frames since the start.
        commands: (rovers, 2) last forward speed [m/s] and turn rate to the left [rad/s].
        moved: (rovers, 3) change of x, y [m] and yaw [rad] in the last step, along the world's axes.
        travel: (3, rovers) path length, distance rolled by the wheels, and distance driven in their direction [m].
        exploded: Whether the simulation of any rover is no longer to be trusted.
        goals: Of the rovers, if the task is to reach them.
    """

    def __init__(self, settings: TerrainSettings, shape: tuple[int, int]) -> None:
        """Make rovers and ground; `restart` comes before the first frame.

        Args:
            settings: Of the world.
            shape: (ny, nx) of its height map.

        Raises:
            SandlotError: If a rover cannot be read, does not fit onto the ground, or cannot touch it.
        """
        self.settings = settings
        self.rovers, self.ground = make_physics(settings, Grid(shape, settings.spacing, settings.wraps))
        grid = self.ground.grid
        self.goals = Goals(settings, grid, self.rovers.count) if settings.task == "goal" else None
        self._begin()

    def _begin(self) -> None:
        count = self.rovers.count
        self.steps, self.commands, self.moved = 0, np.zeros((count, 2)), np.zeros((count, 3))
        self.travel = np.zeros((3, count))
        self._origin = self.state.position[:, :2]
        self.exploded = bool(self.state.exploded.any())

    def restart(self, heights: Array, rng: np.random.Generator) -> None:
        """Lay new ground (ny, nx) [m], put the rovers on it, and draw the biases of their sensors."""
        self.ground.restart(heights)
        self.rovers.restart()
        count = self.rovers.count
        self._bias = self.settings.imu.draw_bias(count, rng), self.settings.encoders.draw_bias(count, rng)
        self._begin()
        if self.goals is not None:
            self.goals.restart(np.arange(count), self._origin, rng)

    def command(self, commands: Array) -> float:
        """Drive as many frames as there are in a step, or until the episode ends; returns the reward [m]."""
        reward, moved = 0.0, np.zeros_like(self.moved)
        for _ in range(self.settings.frame_skip):
            reward += float(self.rewards(self.drive(commands)).sum())
            moved += self.moved
            if self.settings.frame_skip > 1 and self.over:
                break
        self.moved = moved
        return reward

    def drive(self, commands: Array) -> Array:
        """Drive until the next frame.

        Args:
            commands: (rovers, 2) forward speed [m/s] and turn rate to the left [rad/s].

        Returns:
            (rovers,) distance driven forward [m]; zeros once the simulation has exploded, and nothing moves any more.
        """
        before = self.state
        if not self.exploded:
            self.rovers.drive(commands)
            self.ground.change(before, self.state)
        return self.arrive(commands, before.position, before.attitude)

    def arrive(self, commands: Array, from_position: Array, from_attitude: Array) -> Array:
        """Account for a frame that was driven.

        Args:
            commands: (rovers, 2) of the frame.
            from_position: (rovers, 3) before it [m].
            from_attitude: (rovers, 3) roll, pitch and yaw before it [rad].

        Returns:
            (rovers,) distance driven forward [m].
        """
        after, self.commands = self.state, commands
        self.steps += 1
        self.exploded = self.exploded or bool(after.exploded.any())
        self.moved, forward = account(
            from_position,
            from_attitude,
            after.position,
            after.attitude,
            after.wheel_speeds,
            self.rovers.wheel_radius,
            self.settings.interval,
            self.exploded,
            self.travel,
        )
        return forward

    def observe(self, rng: np.random.Generator) -> NDArray[np.float32]:
        """What the rovers measure, as `Terrain` describes it: (rovers, 11 and more)."""
        state, ground = self.state, self.ground
        goals = None if self.goals is None else self.goals.observe(state.position[:, :2], state.yaw)
        maps = [ground.heights] if self.settings.patch else []
        return measure(self.settings, state, self._bias, goals, ground.grid, maps, [rng])

    def rewards(self, forward: Array) -> Array:
        """Of a step in which rovers drove so far forward: (rovers,) [m]."""
        if self.goals is None:
            return forward
        return self.goals.advance(self.state.position[:, :2], np.full(len(forward), not self.exploded))

    @property
    def arrived(self) -> bool:
        """Whether all rovers have reached their goals."""
        return self.goals is not None and bool(self.goals.reached.all())

    @property
    def noisy(self) -> bool:
        """Whether `observe` draws random numbers."""
        return self.settings.imu.noisy or self.settings.encoders.noisy

    @property
    def state(self) -> RoverState:
        """Of all rovers, now."""
        return self.rovers.state

    @property
    def path_length(self) -> Array:
        """Driven since the start, forwards or backwards: (rovers,) [m]. Not a copy: it changes with the next step."""
        return self.travel[0]

    @property
    def time(self) -> float:
        """Since the start [s]."""
        return self.steps * self.settings.interval

    @property
    def overturned(self) -> bool:
        """Whether any rover lies on its back."""
        return bool(self.state.overturned.any())

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return self.exploded or self.overturned or self.arrived or self.off_map

    @property
    def off_map(self) -> bool:
        """Whether a rover, or a wheel of it, has left the map; never, if the ground wraps."""
        return not self.ground.grid.contains(self.rovers.footprint)

    def outcomes(self) -> dict[str, float]:
        """Results of the episode so far, as `Terrain.outcome_quantities` names them."""
        ruts = np.array([np.max(self.ground.initial - self.ground.heights)])
        found = outcomes_of(self.state, self._origin, self.travel, self.goals, ruts)
        return {name: float(value[0]) for name, value in found.items()}


def outcomes_of(
    state: RoverState, origin: Array, travel: Array, goals: Goals | None, rut_depths: Array
) -> dict[str, Array]:
    """Results of episodes so far, as `Terrain.outcome_quantities` names them: (members,) each.

    Args:
        state: Of the rovers of all members, as many of each.
        origin: (rovers, 2) where they started [m].
        travel: (3, rovers) as of `TerrainTask`.
        goals: Of the rovers, if they have any.
        rut_depths: (members,) [m]
    """
    members = len(rut_depths)

    def of_members(values: NDArray[Any]) -> NDArray[Any]:
        return values.reshape(members, -1)

    away = np.hypot(*(state.position[:, :2] - origin).T)
    rolled, driven = (of_members(each).sum(axis=1) for each in travel[1:])
    nothing = np.full(members, np.nan)
    return {
        "path_length": of_members(travel[0]).mean(axis=1),
        "distance": of_members(away).mean(axis=1),
        "slip": np.where(rolled > 0.0, 1.0 - driven / np.where(rolled > 0.0, rolled, 1.0), np.nan),
        "rut_depth": rut_depths,
        "overturned": of_members(state.overturned).any(axis=1).astype(np.float64),
        "reached": nothing if goals is None else of_members(goals.reached).mean(axis=1),
        "goal_left": nothing if goals is None else of_members(goals.left).mean(axis=1),
    }


def measure(
    settings: TerrainSettings,
    state: RoverState,
    bias: tuple[ImuBias, Array],
    goals: Array | None,
    grid: Grid,
    maps: Sequence[Array],
    rng: Sequence[np.random.Generator],
) -> NDArray[np.float32]:
    """What rovers measure on one or several maps, with the same number of rovers on each.

    Args:
        settings: Of the world.
        state: Of n rovers.
        bias: Of their inertial measurement units and encoders.
        goals: (n, 2) what they observe of their goals, if they have any.
        grid: Of the maps.
        maps: Of each: (ny, nx) heights [m]; not used without a patch.
        rng: One for each map, for the noise of its rovers.

    Returns:
        (n, 11 and more) as `Terrain` describes it.
    """
    imu = settings.imu.read(state, bias[0], settings.interval, rng)
    wheels = settings.encoders.read(state.wheel_angles, state.wheel_speeds, bias[1], rng)
    parts = [imu.orientation, imu.rates, imu.force, wheels.speeds]
    if goals is not None:
        parts.append(goals)
    if (n := settings.patch) > 0:
        patches, each = np.zeros((len(state.position), n, n)), len(state.position) // len(maps)
        for k, heights in enumerate(maps):
            on = slice(k * each, (k + 1) * each)
            sample_patches(
                heights,
                state.position[on],
                np.ascontiguousarray(state.yaw[on]),
                grid.corner,
                grid.spacing,
                grid.wrap,
                settings.patch_stride,
                settings.patch_ahead / grid.spacing,
                patches[on],
            )
        parts.append(patches.reshape(len(patches), -1))
    seen = np.concatenate(parts, axis=1)
    return np.minimum(np.maximum(seen, -MAX_OBSERVED), MAX_OBSERVED).astype(np.float32)


def spaces(settings: TerrainSettings, top_speeds: Array) -> tuple[Box, Box]:
    """The observation and the action space of a world whose rovers have these top speeds (rovers, 2) [m/s, rad/s]."""
    speeds = top_speeds.astype(np.float32)
    width = MEASURED + OBSERVED * (settings.task == "goal") + settings.patch**2
    return Box(-MAX_OBSERVED, MAX_OBSERVED, (len(speeds), width), np.float32), Box(-speeds, speeds)


def scale(settings: TerrainSettings, top_speeds: Array, wheel_radius: Array) -> Array:
    """What a normalised observation is divided by: (rovers, numbers)."""
    goal, count = [NEAR, np.pi][: OBSERVED * (settings.task == "goal")], len(top_speeds)
    constant = [np.pi] * 3 + [1.0] * 3 + [GRAVITY] * 3 + [1.0] * 2 + goal + [BUMP] * settings.patch**2
    found = np.tile(np.array(constant), (count, 1))
    found[:, 3:6] = top_speeds[:, 1:]
    found[:, 9:11] = (top_speeds[:, 0] / wheel_radius)[:, None]
    return found
