"""Rovers in one MuJoCo model, on ground that moves with them."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import mujoco
import numpy as np

from sandlot.errors import DivergedError, PlaceError
from sandlot.geometry.rotations import rotation_matrix
from sandlot.physics.height_map import height_between
from sandlot.robots.rover import load_rover
from sandlot.robots.rover_model import build_model, drive, move_belts
from sandlot.robots.rover_placing import SETTLING, extents, pose_on, put
from sandlot.robots.rover_reader import RoverReader
from sandlot.robots.rover_shapes import DrawnShape, drawn_shapes
from sandlot.typing import Array
from sandlot.worlds.terrain.grid import Grid
from sandlot.worlds.terrain.ground import MujocoGround
from sandlot.worlds.terrain.places import check_places, side_by_side
from sandlot.worlds.terrain.settings import TerrainSettings


class MujocoFleet:
    """A `sandlot.worlds.terrain.seam.Drive` whose rovers are in one MuJoCo model.

    Attributes:
        model: The MuJoCo model, and the addresses of the rovers in it.
        data: The state of the simulation.
        poses: (count, 3) x, y [m] and yaw [rad] at the start.
        reach: (count,) largest horizontal distance of a solid part from the chassis' origin [m].
        reader: Of the state of the rovers.
        belts_touch: Whether belts may touch other rovers, so that their speed is set before every frame.
    """

    def __init__(self, settings: TerrainSettings, ground: MujocoGround) -> None:
        """Build the model and put the ground under it.

        Raises:
            SandlotError: If a rover cannot be read, is larger than the ground, cannot touch it, or starts beyond it or
                inside another rover.
        """
        self.count, self.ground, self._steps = len(settings.rovers), ground, settings.steps
        kinds = [load_rover(name) for name in settings.rovers]
        self.model = build_model(kinds, np.zeros((self.count, 6)), settings.step)
        self.data = mujoco.MjData(self.model.model)
        parts = self.model.rovers
        linear = np.array([each.top_speed * each.radius for each in parts])
        self.top_speeds = np.column_stack([linear, 2.0 * linear / np.array([each.base for each in parts])])
        self.wheel_radius = np.array([each.radius for each in parts])
        self.shapes: Sequence[Sequence[DrawnShape]] = [drawn_shapes(each.layout) for each in parts]
        self.belts_touch = any(each.tracks for each in parts) and self.count > 1
        self.reach, self._below = extents(self.model, self.data)
        self.poses = side_by_side(self.reach) if settings.poses is None else np.array(settings.poses, np.float64)
        self._check_start(ground.grid)
        ground.attach(self.model)
        self.reader = RoverReader(self.model, self.data)
        self.state = self.reader.read()

    def __setstate__(self, kept: dict[str, Any]) -> None:
        """Give a copy's data the copy's model: MuJoCo copies data with a model of its own, which no ground knows."""
        self.__dict__.update(kept)
        model, data = self.model.model, self.data
        self.data = mujoco.MjData(model)
        mujoco.mj_copyData(self.data, model, data)
        self.reader = RoverReader(self.model, self.data)

    def _check_start(self, grid: Grid) -> None:
        check_places(grid, self.poses, self.reach)
        self._check_apart(self.poses, "")
        # Where the ground wraps, rovers that are a whole map apart stand on the same spot.
        for pose in self.poses if grid.wrap and self.count > 1 else ():
            near = self.poses.copy()
            near[:, :2] += grid.size * np.rint((pose[:2] - near[:, :2]) / grid.size)
            self._check_apart(near, f", as the ground wraps after {grid.size[0]:g} x {grid.size[1]:g} m")

    def _check_apart(self, poses: Array, why: str) -> None:
        """Put rovers at these poses, and refuse them if two touch."""
        model, data = self.model.model, self.data
        for k, pose in enumerate(poses):
            put(self.model, data, k, np.array([*pose[:2], 0.0]), rotation_matrix(0.0, 0.0, pose[2]))
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        if data.ncon:
            bodies = model.body_rootid[model.geom_bodyid[data.contact.geom[0]]]
            one, two = (int(np.flatnonzero([p.chassis == body for p in self.model.rovers])[0]) for body in bodies)
            raise PlaceError(f"rovers {one} and {two} start inside each other{why}; put their poses further apart")

    def restart(self) -> None:
        """Put all rovers on the ground, tilted as it slopes under each of them, and let them stand for a moment."""
        mujoco.mj_resetData(self.model.model, self.data)
        self._commands = np.zeros((self.count, 2)).tobytes()
        grid, heights = self.ground.grid, self.ground.heights

        def height_at(places: Array) -> Array:
            nodes = (places - grid.corner) / grid.spacing
            return np.array([height_between(heights, row, column, grid.wrap) for column, row in nodes])

        for k, (x, y, yaw) in enumerate(self.poses):
            put(self.model, self.data, k, *pose_on(height_at, x, y, yaw, self.reach[k], self._below[k]))
        self._step(round(SETTLING / self.model.model.opt.timestep))

    def drive(self, commands: Array) -> None:
        """Drive until the next frame; commands (count, 2) forward speed [m/s] and turn rate to the left [rad/s]."""
        self.command(commands)
        if self.belts_touch:
            move_belts(self.model, self.data)
        self._step(self._steps)

    def command(self, commands: Array) -> None:
        """Set the motors, as in `drive`; they keep their last command."""
        if (given := commands.tobytes()) != self._commands:
            drive(self.model, self.data, commands)
            self._commands = given

    def read(self) -> None:
        """Read the state of the rovers from the simulation."""
        self.state = self.reader.read()

    def _step(self, steps: int) -> None:
        # A state that is no longer finite counts as exploded.
        with suppress(DivergedError):
            self.ground.step(self.data, steps)
        self.read()

    @property
    def footprint(self) -> Array:
        """Of every chassis and wheel: (points, 2) x and y [m]."""
        return np.asarray(self.data.xpos[1:, :2])
