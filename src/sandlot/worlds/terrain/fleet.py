"""Rovers in one MuJoCo model, on ground that moves with them."""

import math
from collections.abc import Sequence
from contextlib import suppress

import mujoco
import numpy as np

from sandlot.errors import DivergedError, PlaceError
from sandlot.geometry.rotations import rotation_matrix
from sandlot.physics.height_map import height_between
from sandlot.robots.rover import load_rover
from sandlot.robots.rover_model import build_model, drive, move_belts
from sandlot.robots.rover_reader import RoverReader
from sandlot.robots.rover_shapes import DrawnShape, drawn_shapes
from sandlot.typing import Array
from sandlot.worlds.terrain.grid import Grid
from sandlot.worlds.terrain.ground import MujocoGround
from sandlot.worlds.terrain.settings import TerrainSettings

GAP = 0.1
"""Between rovers that start side by side [m]."""
CLEARANCE = 0.002
"""Rovers are put down this high above the ground [m]."""
SETTLING = 0.3
"""They then stand still for this time [s]."""


class MujocoFleet:
    """A `sandlot.worlds.terrain.seam.Drive` whose rovers are in one MuJoCo model.

    Attributes:
        model: The MuJoCo model, and the addresses of the rovers in it.
        data: The state of the simulation.
        poses: (count, 3) x, y [m] and yaw [rad] at the start.
        reach: (count,) largest horizontal distance of a solid part from the chassis' origin [m].
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
        self._belts_touch = any(each.tracks for each in parts) and self.count > 1
        self._measure()
        self.poses = self._side_by_side() if settings.poses is None else np.array(settings.poses, np.float64)
        self._check_start(ground.grid)
        ground.attach(self.model)
        self._reader = RoverReader(self.model, self.data)
        self.state = self._reader.read()

    def _measure(self) -> None:
        """Measure how far the solid parts of each rover reach around and below its chassis."""
        model, data = self.model.model, self.data
        mujoco.mj_kinematics(model, data)
        self.reach, self._below = np.zeros(self.count), np.zeros(self.count)
        corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        solid, roots = (model.geom_contype | model.geom_conaffinity) != 0, model.body_rootid[model.geom_bodyid]
        for k, parts in enumerate(self.model.rovers):
            for geom in np.flatnonzero(solid & (roots == model.body_rootid[parts.chassis])):
                box = model.geom_aabb[geom, :3] + corners * model.geom_aabb[geom, 3:]
                points = box @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom] - data.xpos[parts.chassis]
                self.reach[k] = max(self.reach[k], np.hypot(points[:, 0], points[:, 1]).max())
                self._below[k] = max(self._below[k], -points[:, 2].min())

    def _side_by_side(self) -> Array:
        """Start poses in rows along y, looking along x, with about as many rows as columns."""
        apart = 2.0 * self.reach.max() + GAP
        columns = math.ceil(math.sqrt(self.count))
        rows = math.ceil(self.count / columns)
        row, column = np.divmod(np.arange(self.count), columns)
        x, y = apart * (0.5 * (rows - 1) - row), apart * (0.5 * (columns - 1) - column)
        return np.column_stack([x, y, np.zeros(self.count)])

    def _check_start(self, grid: Grid) -> None:
        size = grid.size
        large = np.flatnonzero(2.0 * self.reach > size.min())
        if large.size:
            raise PlaceError(
                f"rover {large[0]} is {2.0 * self.reach[large[0]]:.2g} m across, and the ground only "
                f"{size[0]:g} x {size[1]:g} m; give it more nodes, or more spacing"
            )
        outside = np.flatnonzero(np.any(np.abs(self.poses[:, :2]) > 0.5 * size, axis=1))
        if outside.size and not grid.wrap:
            x, y, _ = self.poses[outside[0]]
            raise PlaceError(
                f"rover {outside[0]} starts at x={x:g}, y={y:g}, beyond the ground; "
                f"allowed: {-0.5 * size[0]:g} to {0.5 * size[0]:g} and {-0.5 * size[1]:g} to {0.5 * size[1]:g}"
            )
        self._check_apart(self.poses, "")
        # Where the ground wraps, rovers that are a whole map apart stand on the same spot.
        for pose in self.poses if grid.wrap and self.count > 1 else ():
            near = self.poses.copy()
            near[:, :2] += size * np.rint((pose[:2] - near[:, :2]) / size)
            self._check_apart(near, f", as the ground wraps after {size[0]:g} x {size[1]:g} m")

    def _check_apart(self, poses: Array, why: str) -> None:
        """Put rovers at these poses, and refuse them if two touch."""
        model, data = self.model.model, self.data
        for k, pose in enumerate(poses):
            self._put(k, np.array([*pose[:2], 0.0]), rotation_matrix(0.0, 0.0, pose[2]))
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        if data.ncon:
            bodies = model.body_rootid[model.geom_bodyid[data.contact.geom[0]]]
            one, two = (int(np.flatnonzero([p.chassis == body for p in self.model.rovers])[0]) for body in bodies)
            raise PlaceError(f"rovers {one} and {two} start inside each other{why}; put their poses further apart")

    def _put(self, rover: int, position: Array, rotation: Array) -> None:
        start = self.model.rovers[rover].qpos
        self.data.qpos[start : start + 3] = position
        mujoco.mju_mat2Quat(self.data.qpos[start + 3 : start + 7], np.ascontiguousarray(rotation).ravel())

    def restart(self) -> None:
        """Put all rovers on the ground, tilted as it slopes under each of them, and let them stand for a moment."""
        mujoco.mj_resetData(self.model.model, self.data)
        self._commands = np.zeros((self.count, 2)).tobytes()
        grid, heights = self.ground.grid, self.ground.heights
        for k, (x, y, yaw) in enumerate(self.poses):
            steps = np.linspace(-self.reach[k], self.reach[k], 15)
            spots = np.array([(a, b) for a in steps for b in steps if np.hypot(a, b) <= self.reach[k]])
            nodes = (spots + np.array([x, y]) - grid.corner) / grid.spacing
            under = np.array([height_between(heights, row, column, grid.wrap) for column, row in nodes])
            (a, b, c), *_ = np.linalg.lstsq(np.column_stack([spots, np.ones(len(spots))]), under, rcond=None)
            above = float(np.max(under - spots @ (a, b) - c))
            up = np.array([-a, -b, 1.0]) / math.sqrt(1.0 + a * a + b * b)
            ahead = np.array([math.cos(yaw), math.sin(yaw), 0.0])
            ahead -= ahead @ up * up
            ahead /= np.linalg.norm(ahead)
            rotation = np.column_stack([ahead, np.cross(up, ahead), up])
            self._put(k, np.array([x, y, c + above]) + (self._below[k] + CLEARANCE) * up, rotation)
        self._step(round(SETTLING / self.model.model.opt.timestep))

    def drive(self, commands: Array) -> None:
        """Drive until the next frame; commands (count, 2) forward speed [m/s] and turn rate to the left [rad/s]."""
        if (given := commands.tobytes()) != self._commands:  # motors keep their last command
            drive(self.model, self.data, commands)
            self._commands = given
        if self._belts_touch:
            move_belts(self.model, self.data)
        self._step(self._steps)

    def _step(self, steps: int) -> None:
        # A state that is no longer finite counts as exploded.
        with suppress(DivergedError):
            self.ground.step(self.data, steps)
        self.state = self._reader.read()

    @property
    def footprint(self) -> Array:
        """Of every chassis and wheel: (points, 2) x and y [m]."""
        return np.asarray(self.data.xpos[1:, :2])
