"""Drives a rover again on other soil, window by window, and compares where it is and what it leaves.

At the beginning of a window the rover is put back to where it was recorded, with its recorded horizontal speed and turn
rate. Its height, its tilt and the ground are those of the simulation: they follow from the soil, and most logs do not
have them.
"""

import math
from contextlib import suppress

import mujoco
import numpy as np

from sandlot.errors import DivergedError
from sandlot.geometry.rotations import roll_pitch_yaw
from sandlot.physics.height_map import heights_between
from sandlot.physics.soil import Soil, SoilKind
from sandlot.robots.rover import load_rover
from sandlot.robots.rover_model import build_model, drive
from sandlot.robots.rover_placing import SETTLING, extents, pose_on, put
from sandlot.surrogates.soil.evidence import Channel, Layout
from sandlot.surrogates.soil.rover_log import RoverLog
from sandlot.surrogates.terrain.shape import shape_of
from sandlot.typing import Array

STEP = 1e-3
"""Longest step of the physics [s]."""
HEAVY = 1e3
"""Inertia of wheels that turn as recorded, whatever the ground does to them [kg*m^2]."""
SLID = 2e-4
"""A rover that slides further than this while it settles is put down anew [m]."""
CHECKS = 4
"""Poses of a window that are compared, evenly apart."""
MOVES = (
    Channel("distance ahead [m]", 0.01, 2e-4),
    Channel("distance to the left [m]", 0.01, 2e-4),
    Channel("turn [rad]", 0.05, 1e-3),
)
TILTS = (Channel("height [m]", 0.005, 1e-4), Channel("roll [rad]", 0.02, 1e-3), Channel("pitch [rad]", 0.02, 1e-3))
RUTS = Channel("depth of ruts [m]", 0.005, 2e-4)


class Vehicle:
    """A rover that follows logs, as a MuJoCo model that simulations share.

    Attributes:
        rovers: The model.
        steps: Of the physics, in each frame.
        shape: What touches the ground.
        reach: Of its solid parts around the chassis [m].
        below: Of its solid parts below the chassis [m].
        sides: Speeds of the left and the right wheels, by their numbers in the model.
    """

    def __init__(self, name: str, interval: float, prescribed: bool) -> None:
        """Make the model.

        Args:
            name: Of the rover, or of its file.
            interval: Between frames [s].
            prescribed: Whether wheels turn as recorded; else motors follow commands.

        Raises:
            SandlotError: If the rover cannot be read.
        """
        self.steps = math.ceil(interval / STEP - 1e-9)
        self.rovers = build_model([load_rover(name)], np.zeros((1, 6)), interval / self.steps)
        model, (parts,) = self.rovers.model, self.rovers.rovers
        self.sides = [[wheel.dof for wheel in parts.wheels if wheel.side == side] for side in ("left", "right")]
        if prescribed:
            for dofs in self.sides:
                model.dof_armature[dofs] = HEAVY
            model.actuator_gainprm[:], model.actuator_biasprm[:] = 0.0, 0.0
        self.shape = shape_of(name)
        (self.reach,), (self.below,) = extents(self.rovers, mujoco.MjData(model))


class Simulation:
    """A rover on soil, which follows a log."""

    def __init__(self, log: RoverLog, vehicle: Vehicle, kind: SoilKind) -> None:
        """Put the rover down where the log begins, and let it stand for a moment."""
        self.log, self._vehicle, self._rovers = log, vehicle, vehicle.rovers
        model, (self._parts,) = vehicle.rovers.model, vehicle.rovers.rovers
        self._data = mujoco.MjData(model)
        self.soil = Soil(log.heights, log.spacing, kind, log.corner, log.wrap)
        self.soil.attach(model, self._parts.ground, self._parts.tracks)
        # A rover that settles on a slope slides. It is put down so that it stands at the recorded place in the end: put
        # back afterwards, it would stand beside the hollows that it has pressed.
        slid = self._settle(log.position[0])
        if np.hypot(*slid) > SLID:
            mujoco.mj_resetData(model, self._data)
            self.soil.reset()
            self._settle(log.position[0] - slid)

    def _settle(self, place: Array) -> Array:
        """Put the rover down at x and y (2,), and let it stand; how far from the recorded place it comes to rest."""
        vehicle, (x, y) = self._vehicle, place.tolist()
        pose = pose_on(self._before, x, y, float(self.log.yaw[0]), vehicle.reach, vehicle.below)
        put(self._rovers, self._data, 0, *pose)
        self.soil.step(self._data, round(SETTLING / self._rovers.model.opt.timestep))
        return np.asarray(self.pose[:2] - self.log.position[0])

    def _before(self, places: Array) -> Array:
        """Heights (n,) of the ground before the drive [m], at places (n, 2) [m]."""
        return height_of(self.log, self.log.heights, places)

    @property
    def pose(self) -> Array:
        """x, y, z [m], roll, pitch and yaw [rad]: (6,)."""
        start, rotation = self._parts.qpos, np.empty(9)
        mujoco.mju_quat2Mat(rotation, self._data.qpos[start + 3 : start + 7])
        return np.concatenate([self._data.qpos[start : start + 3], roll_pitch_yaw(rotation.reshape(1, 3, 3))[0]])

    @property
    def motion(self) -> Array:
        """Horizontal velocity along x and y [m/s], and turn rate [rad/s]: (3,)."""
        dof, rotation = self._parts.dof, np.empty(9)
        mujoco.mju_quat2Mat(rotation, self._data.qpos[self._parts.qpos + 3 : self._parts.qpos + 7])
        turn = rotation[6:] @ self._data.qvel[dof + 3 : dof + 6]
        return np.array([*self._data.qvel[dof : dof + 2], turn])

    def put_back(self, place: Array, yaw: float, motion: Array) -> None:
        """Move the rover to x and y (2,) [m] and a yaw [rad], with a motion as of `motion`; keep height and tilt.

        It is lifted or lowered as the ground was before the drive, from one place to the other.
        """
        start, dof, data, now = self._parts.qpos, self._parts.dof, self._data, self.pose
        data.qpos[start + 2] += self._middle(place, yaw) - self._middle(now[:2], now[5])
        data.qpos[start : start + 2] = place
        turned, turn = np.empty(4), np.empty(4)
        mujoco.mju_axisAngle2Quat(turn, np.array([0.0, 0.0, 1.0]), yaw - now[5])
        mujoco.mju_mulQuat(turned, turn, data.qpos[start + 3 : start + 7])
        data.qpos[start + 3 : start + 7] = turned
        rotation = np.empty(9)
        mujoco.mju_quat2Mat(rotation, turned)
        data.qvel[dof : dof + 2] = motion[:2]
        data.qvel[dof + 3 : dof + 6] += rotation[6:] * (motion[2] - rotation[6:] @ data.qvel[dof + 3 : dof + 6])

    def _middle(self, place: Array, yaw: float) -> float:
        """Height of the plane through the ground under the wheels before the drive, below the chassis [m]."""
        below = self._vehicle.shape.below
        plane = np.linalg.pinv(np.column_stack([below, np.ones(len(below))]))
        return float(plane[2] @ self._before(around(below, place, yaw)))

    def advance(self, frame: int) -> None:
        """Drive from a frame of the log to the next.

        Raises:
            DivergedError: If the simulation diverges.
        """
        log = self.log
        if log.commands is None:
            for dofs, speed in zip(self._vehicle.sides, log.wheels[frame + 1].tolist(), strict=True):
                self._data.qvel[dofs] = speed
        else:
            drive(self._rovers, self._data, log.commands[frame + 1 : frame + 2])
        self.soil.step(self._data, self._vehicle.steps)


def around(samples: Array, place: Array, yaw: float) -> Array:
    """Places (n, 2) [m] of samples (n, 2) in the axes of a rover."""
    c, s = math.cos(yaw), math.sin(yaw)
    return np.asarray(place + samples @ np.array([[c, s], [-s, c]]))


def height_of(log: RoverLog, heights: Array, places: Array) -> Array:
    """Heights (n,) [m] at places (n, 2) of a map of the ground of a log."""
    found = np.empty(len(places))
    columns, rows = ((places - log.corner) / log.spacing).T
    heights_between(heights, np.ascontiguousarray(rows), np.ascontiguousarray(columns), log.wrap, found)
    return found


def motion_at(log: RoverLog, frame: int) -> Array:
    """Recorded motion at a frame, from the frames beside it: velocity along x and y [m/s], and turn rate: (3,)."""
    one, two = max(frame - 1, 0), min(frame + 1, len(log.yaw) - 1)
    change = np.array([*(log.position[two] - log.position[one]), log.yaw[two] - log.yaw[one]])
    return change / (log.interval * (two - one))


class Shooting:
    """A log as evidence about soil.

    Attributes:
        width: Of the wheels or belts [m].
        layout: Of what is compared.
        measured: (n,) as it was recorded.
        frames: Of one prediction.
    """

    def __init__(self, log: RoverLog, rover: str, window: float) -> None:
        """Prepare to fit soil to a log of a rover; ``window`` is the time after which it is put back [s]."""
        self.log, self.vehicle = log, Vehicle(rover, log.interval, log.commands is None)
        shape = self.vehicle.shape
        self.width, self._under = shape.width, shape.below
        self._span = max(round(window / log.interval), CHECKS)
        count = (len(log.yaw) - 1) // self._span
        self.frames = count * self._span
        self._checks = np.unique(np.linspace(0, self._span, CHECKS + 1).round().astype(int))[1:]
        self._ruts = bool(len(log.maps))
        channels = MOVES + (() if log.tilt is None else TILTS) + ((RUTS,) if self._ruts else ())
        kinds = np.tile(np.arange(3 if log.tilt is None else 6), len(self._checks))
        if self._ruts:
            kinds = np.concatenate([kinds, np.full(len(self._checks) * len(self._under), len(channels) - 1)])
        self.layout = Layout(channels, np.tile(kinds, count), np.repeat(np.arange(count), len(kinds)))
        self.measured = np.concatenate([self._window(k, self._recorded(k), self._map(k)) for k in range(count)])

    def _map(self, window: int) -> Array | None:
        """The recorded change of the ground until the end of a window: (ny, nx) [m]."""
        return self.log.maps[window] - self.log.heights if self._ruts else None

    def _recorded(self, window: int) -> Array:
        """Recorded poses at the checks of a window: (checks, 6); height and tilt are zeros if unknown."""
        at = window * self._span + self._checks
        tilt = np.zeros((len(at), 3)) if self.log.tilt is None else self.log.tilt[at]
        return np.column_stack([self.log.position[at], tilt, self.log.yaw[at]])

    def _window(self, window: int, poses: Array, change: Array | None) -> Array:
        """What is compared of a window: poses (checks, 6) in the recorded axes of its beginning, and depths of ruts."""
        log, first = self.log, window * self._span
        c, s = math.cos(log.yaw[first]), math.sin(log.yaw[first])
        away = poses[:, :2] - log.position[first]
        turn = (poses[:, 5] - log.yaw[first] + np.pi) % (2.0 * np.pi) - np.pi
        rows = [away @ (c, s), away @ (-s, c), turn]
        if log.tilt is not None:
            # Of ground with large grains only changes of the height can be compared.
            datum = float(poses[:, 2].mean()) if log.grain > 0.0 else 0.0
            rows += [poses[:, 2] - datum, poses[:, 3], poses[:, 4]]
        found = [np.column_stack(rows).ravel()]
        if change is not None:
            # Under the recorded wheels, wherever the simulated ones are.
            at = first + self._checks
            places = [around(self._under, log.position[k], log.yaw[k]) for k in at]
            found.append(height_of(log, change, np.concatenate(places)))
        return np.concatenate(found)

    def predict(self, kind: SoilKind) -> Array:
        """The same on another soil: (n,)."""
        count, size = self.frames // self._span, len(self.measured) * self._span // self.frames
        found = np.full((count, size), np.nan)
        with suppress(DivergedError):
            simulation = Simulation(self.log, self.vehicle, kind)
            for window in range(count):
                first, poses = window * self._span, []
                simulation.put_back(self.log.position[first], float(self.log.yaw[first]), motion_at(self.log, first))
                for frame in range(first, first + self._span):
                    simulation.advance(frame)
                    if frame + 1 - first in self._checks:
                        poses.append(simulation.pose)
                change = simulation.soil.surface() - self.log.heights if self._ruts else None
                found[window] = self._window(window, np.array(poses), change)
        return found.ravel()
