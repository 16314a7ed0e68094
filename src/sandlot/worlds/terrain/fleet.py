"""The rovers of the terrain world: where they start, how they are put on the ground, and where they are."""

import math
from collections.abc import Sequence

import mujoco
import numpy as np

from sandlot.errors import SandlotError
from sandlot.geometry.rotations import roll_pitch_yaw, rotation_matrix
from sandlot.robots.rover import load_rover
from sandlot.robots.rover_model import build_model, drive, move_belts
from sandlot.robots.sensors import chassis_rotations
from sandlot.typing import Array
from sandlot.worlds.terrain.ground import TerrainGround
from sandlot.worlds.terrain.windows import sample

ROOM = 0.1
"""Between rovers that start side by side [m]."""
CLEAR = 0.002
"""So far above the ground they are put down [m]."""
SETTLING = 0.3
"""For which time they then stand still [s]."""
FASTEST, WILDEST = 20.0, 300.0
"""No rover moves [m/s] or turns [rad/s] like this, unless its simulation has exploded."""


class Fleet:
    """Rovers in one MuJoCo model.

    Attributes:
        rovers: The model, and where they are in it.
        data: The state of the simulation.
        count: How many.
        speeds: (count, 2) highest linear [m/s] and angular [rad/s] speed that each can be told.
        radius: (count,) of their wheels [m].
        reach: (count,) how far the furthest part of each is from the middle of its chassis [m].
        position: (count, 3) of their chassis [m].
        angles: (count, 3) roll, pitch, yaw [rad].
        wheels: (count, 2) speeds of the left and the right wheels [rad/s].
    """

    def __init__(
        self, names: Sequence[str], poses: Sequence[Sequence[float]] | None, step: float, size: Array, wrap: bool
    ) -> None:
        """Put rovers into a model.

        Args:
            names: Shipped ones, or paths of TOML files.
            poses: (count, 3) x, y [m] and yaw [rad] where they start; in the middle, side by side, if none.
            step: Of the physics [s].
            size: (2,) of the ground along x and y [m], with the origin in its middle.
            wrap: Whether that goes on at the other edge.

        Raises:
            SandlotError: If a rover cannot be read, is larger than the ground, or starts beyond it or inside another.
        """
        kinds, self.count = [load_rover(name) for name in names], len(names)
        self.rovers = build_model(kinds, np.zeros((self.count, 6)), step)
        self.data = mujoco.MjData(self.rovers.model)
        parts = self.rovers.rovers
        linear = np.array([each.rover.top_speed * each.radius for each in parts])
        base = np.array([each.base for each in parts])
        self.speeds = np.column_stack([linear, 2.0 * linear / base])
        self.radius = np.array([each.radius for each in parts])
        self._places = np.array([each.qpos for each in parts])[:, None] + np.arange(3)
        self._limits = np.full(self.rovers.model.nv, np.inf)
        for each in parts:
            self._limits[each.dof : each.dof + 6] = 3 * [FASTEST] + 3 * [WILDEST]
        self._wheels = np.array([[wheel.dof for wheel in each.first] for each in parts])
        self._tracked = any(each.tracks for each in parts) and self.count > 1
        self._measure()
        self.poses = self._spread() if poses is None else np.array(poses, np.float64)
        self._check(size, wrap)
        self.look()

    def _measure(self) -> None:
        """How far the solid parts of each reach around and below its chassis."""
        model, data = self.rovers.model, self.data
        mujoco.mj_kinematics(model, data)
        self.reach, self._below = np.zeros(self.count), np.zeros(self.count)
        corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        solid, roots = (model.geom_contype | model.geom_conaffinity) != 0, model.body_rootid[model.geom_bodyid]
        for k, parts in enumerate(self.rovers.rovers):
            for geom in np.flatnonzero(solid & (roots == model.body_rootid[parts.chassis])):
                box = model.geom_aabb[geom, :3] + corners * model.geom_aabb[geom, 3:]
                points = box @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom] - data.xpos[parts.chassis]
                self.reach[k] = max(self.reach[k], np.hypot(points[:, 0], points[:, 1]).max())
                self._below[k] = max(self._below[k], -points[:, 2].min())

    def _spread(self) -> Array:
        """Side by side along y, looking along x, in as many ranks as make the whole about square."""
        apart = 2.0 * self.reach.max() + ROOM
        files = math.ceil(math.sqrt(self.count))
        ranks = math.ceil(self.count / files)
        rank, file = np.divmod(np.arange(self.count), files)
        x, y = apart * (0.5 * (ranks - 1) - rank), apart * (0.5 * (files - 1) - file)
        return np.column_stack([x, y, np.zeros(self.count)])

    def _check(self, size: Array, wrap: bool) -> None:
        large = np.flatnonzero(2.0 * self.reach > size.min())
        if large.size:
            raise SandlotError(
                f"rover {large[0]} is {2.0 * self.reach[large[0]]:.2g} m across, and the ground only "
                f"{size[0]:g} x {size[1]:g} m; give it more nodes, or more spacing"
            )
        outside = np.flatnonzero(np.any(np.abs(self.poses[:, :2]) > 0.5 * size, axis=1))
        if outside.size and not wrap:
            x, y, _ = self.poses[outside[0]]
            raise SandlotError(
                f"rover {outside[0]} starts at x={x:g}, y={y:g}, beyond the ground; "
                f"allowed: {-0.5 * size[0]:g} to {0.5 * size[0]:g} and {-0.5 * size[1]:g} to {0.5 * size[1]:g}"
            )
        self._check_apart(self.poses, "")
        # Where the ground goes on, what is a whole map further stands on the same spot.
        for pose in self.poses if wrap and self.count > 1 else ():
            near = self.poses.copy()
            near[:, :2] += size * np.rint((pose[:2] - near[:, :2]) / size)
            self._check_apart(near, f", as the ground goes on after {size[0]:g} x {size[1]:g} m")

    def _check_apart(self, poses: Array, why: str) -> None:
        """Put rovers there, and see whether any two touch."""
        model, data = self.rovers.model, self.data
        for k, pose in enumerate(poses):
            self._put(k, np.array([*pose[:2], 0.0]), rotation_matrix(0.0, 0.0, pose[2]))
        mujoco.mj_kinematics(model, data)
        mujoco.mj_collision(model, data)
        if data.ncon:
            bodies = model.body_rootid[model.geom_bodyid[data.contact.geom[0]]]
            one, two = (int(np.flatnonzero([p.chassis == body for p in self.rovers.rovers])[0]) for body in bodies)
            raise SandlotError(f"rovers {one} and {two} start inside each other{why}; put their poses further apart")

    def _put(self, rover: int, position: Array, rotation: Array) -> None:
        start = self._places[rover, 0]
        self.data.qpos[start : start + 3] = position
        mujoco.mju_mat2Quat(self.data.qpos[start + 3 : start + 7], np.ascontiguousarray(rotation).ravel())

    def restart(self, ground: TerrainGround) -> None:
        """Put all rovers on the ground, as it slopes under each of them, and let them stand for a moment."""
        mujoco.mj_resetData(self.rovers.model, self.data)
        self._wanted = np.zeros((self.count, 2))
        for k, (x, y, yaw) in enumerate(self.poses):
            spots = np.linspace(-self.reach[k], self.reach[k], 15)
            spots = np.array([(a, b) for a in spots for b in spots if np.hypot(a, b) <= self.reach[k]])
            places = (spots + np.array([x, y]) - ground.corner) / ground.spacing
            under = np.array([sample(ground.heights, row, column, ground.wrap) for column, row in places])
            (a, b, c), *_ = np.linalg.lstsq(np.column_stack([spots, np.ones(len(spots))]), under, rcond=None)
            above = float(np.max(under - spots @ (a, b) - c))
            up = np.array([-a, -b, 1.0]) / math.sqrt(1.0 + a * a + b * b)
            ahead = np.array([math.cos(yaw), math.sin(yaw), 0.0])
            ahead -= ahead @ up * up
            ahead /= np.linalg.norm(ahead)
            rotation = np.column_stack([ahead, np.cross(up, ahead), up])
            self._put(k, np.array([x, y, c + above]) + (self._below[k] + CLEAR) * up, rotation)
        ground.step(self.data, round(SETTLING / self.rovers.model.opt.timestep))
        self.look()

    def drive(self, ground: TerrainGround, wanted: Array, steps: int) -> None:
        """Drive for some steps of the physics; ``wanted`` (count, 2) linear [m/s] and angular [rad/s] speeds."""
        if not np.array_equal(wanted, self._wanted):  # motors keep what they were told last
            drive(self.rovers, self.data, wanted)
            self._wanted = wanted.copy()
        if self._tracked:
            move_belts(self.rovers, self.data)
        ground.step(self.data, steps)
        self.look()

    def look(self) -> None:
        """See where the rovers are now."""
        rotations = chassis_rotations(self.rovers, self.data)
        self.position = self.data.qpos[self._places]
        self.angles = roll_pitch_yaw(rotations)
        self.wheels = self.data.qvel[self._wheels]
        self._up = rotations[:, 2, 2]

    @property
    def middles(self) -> Array:
        """Of every chassis and wheel along x and y: (parts, 2) [m]."""
        return np.asarray(self.data.xpos[1:, :2])

    @property
    def overturned(self) -> bool:
        """Whether a rover lies on its back."""
        return bool((self._up < 0.0).any())

    @property
    def exploded(self) -> bool:
        """Whether a rover is nowhere, or faster than any could be."""
        # What is no number is not less than anything.
        sane = (np.abs(self.data.qvel) < self._limits).all() and np.isfinite(self.data.qpos).all()
        return not sane
