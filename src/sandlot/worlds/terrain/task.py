"""The task of the terrain world, for all its rovers at once: drive, measure, and keep account."""

import numpy as np
from numpy.typing import NDArray

from sandlot.geometry.planar import wrap
from sandlot.robots.rover_state import RoverState
from sandlot.typing import Array
from sandlot.worlds.terrain.fidelity import make_physics
from sandlot.worlds.terrain.grid import Grid, sample_patch
from sandlot.worlds.terrain.settings import TerrainSettings

MEASURED = 11
"""Numbers that a rover observes besides its patch of heights."""
MAX_OBSERVED = 1e6
"""Observations are clipped to this [rad, rad/s, m/s^2, m]."""


class TerrainTask:
    """Rovers that drive over ground, and what they measure.

    Attributes:
        settings: Of the world.
        rovers: Moves them.
        ground: Under them.
        steps: Frames since the start.
        commands: (rovers, 2) last forward speed [m/s] and turn rate to the left [rad/s].
        moved: (rovers, 3) change of x, y [m] and yaw [rad] in the last frame, along the world's axes.
        path_length: (rovers,) driven since the start, forwards or backwards [m].
        exploded: Whether the simulation of any rover is no longer to be trusted.
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
        self._begin()

    def _begin(self) -> None:
        count = self.rovers.count
        self.steps, self.commands, self.moved = 0, np.zeros((count, 2)), np.zeros((count, 3))
        self.path_length, self._rolled, self._driven = np.zeros((3, count))
        self._origin = self.state.position[:, :2]
        self.exploded = bool(self.state.exploded.any())

    def restart(self, heights: Array, rng: np.random.Generator) -> None:
        """Lay new ground (ny, nx) [m], put the rovers on it, and draw the biases of their sensors."""
        self.ground.restart(heights)
        self.rovers.restart()
        count = self.rovers.count
        self._bias = self.settings.imu.draw_bias(count, rng), self.settings.encoders.draw_bias(count, rng)
        self._begin()

    def drive(self, commands: Array) -> Array:
        """Drive until the next frame.

        Args:
            commands: (rovers, 2) forward speed [m/s] and turn rate to the left [rad/s].

        Returns:
            (rovers,) distance driven forward [m]; zeros once the simulation has exploded, and nothing moves any more.
        """
        before, self.commands = self.state, commands
        self.steps += 1
        if not self.exploded:
            self.rovers.drive(commands)
            self.ground.change(before, self.state)
            self.exploded = bool(self.state.exploded.any())
        shift, turn = self.state.position[:, :2] - before.position[:, :2], wrap(self.state.yaw - before.yaw)
        self.moved = np.column_stack([shift, turn])
        if self.exploded:
            return np.zeros(self.rovers.count)
        yaw = before.yaw + 0.5 * turn
        forward = shift[:, 0] * np.cos(yaw) + shift[:, 1] * np.sin(yaw)
        rolled = self.rovers.wheel_radius * self.state.wheel_speeds.mean(axis=1) * self.settings.interval
        self.path_length = self.path_length + np.hypot(shift[:, 0], shift[:, 1])
        self._rolled += np.abs(rolled)
        self._driven += forward * np.sign(rolled)
        return forward

    def observe(self, rng: np.random.Generator) -> NDArray[np.float32]:
        """What the rovers measure, as `Terrain` describes it: (rovers, 11 + patch^2)."""
        state, given = self.state, self.settings
        imu = given.imu.read(state, self._bias[0], given.interval, rng)
        wheels = given.encoders.read(state.wheel_angles, state.wheel_speeds, self._bias[1], rng)
        parts = [imu.orientation, imu.rates, imu.force, wheels.speeds]
        if given.patch:
            parts.append(self._patches())
        return np.clip(np.concatenate(parts, axis=1), -MAX_OBSERVED, MAX_OBSERVED).astype(np.float32)

    def _patches(self) -> Array:
        """Heights around each rover, relative to its chassis: (rovers, patch^2) [m]."""
        grid, heights, n = self.ground.grid, self.ground.heights, self.settings.patch
        patches = np.zeros((self.rovers.count, n, n))
        for patch, (x, y, z), yaw in zip(patches, self.state.position, self.state.yaw, strict=True):
            column, row = (np.array([x, y]) - grid.corner) / grid.spacing
            sample_patch(heights, row, column, yaw, grid.wrap, patch)
            patch -= z
        return patches.reshape(len(patches), -1)

    @property
    def state(self) -> RoverState:
        """Of all rovers, now."""
        return self.rovers.state

    @property
    def time(self) -> float:
        """Since the start [s]."""
        return self.steps * self.settings.interval

    @property
    def overturned(self) -> bool:
        """Whether any rover lies on its back."""
        return bool(self.state.overturned.any())

    @property
    def off_map(self) -> bool:
        """Whether a rover, or a wheel of it, has left the map; never, if the ground wraps."""
        return not self.ground.grid.contains(self.rovers.footprint)

    def outcomes(self) -> dict[str, float]:
        """Results of the episode so far, as `Terrain.outcome_quantities` names them."""
        away = np.hypot(*(self.state.position[:, :2] - self._origin).T)
        rolled = float(self._rolled.sum())
        return {
            "path_length": float(self.path_length.mean()),
            "distance": float(away.mean()),
            "slip": 1.0 - float(self._driven.sum()) / rolled if rolled > 0.0 else np.nan,
            "rut_depth": float(np.max(self.ground.initial - self.ground.heights)),
            "overturned": float(self.overturned),
        }
