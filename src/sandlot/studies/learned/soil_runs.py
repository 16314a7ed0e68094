"""Drives on calibrated soil, as a stand-in for what was recorded, and a net that corrects them."""

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor

from sandlot.geometry.planar import wrap
from sandlot.physics.soil import SoilKind
from sandlot.surrogates.soil.rover_log import RoverLog
from sandlot.surrogates.soil.shooting import Simulation, Vehicle, motion_at
from sandlot.typing import Array

HIDDEN, DECAY = 12, 1.0
"""Neurons of the net that corrects motion, and weight of its squared weights: there are only minutes of data."""


@dataclass(frozen=True, eq=False)
class SoilRun:
    """A drive on soil of T frames, as a log commanded it.

    Attributes:
        poses: (T + 1, 6) x, y, z [m], roll, pitch and yaw [rad]: at first, and after each frame.
        commands: (T, 2) forward speed [m/s] and turn rate [rad/s].
        interval: Between frames [s].
    """

    poses: Array
    commands: Array
    interval: float

    @property
    def motion(self) -> Array:
        """Speed ahead and to the left [m/s] and turn rate [rad/s] in each frame: (T, 3)."""
        return motion_of(self.poses[:, [0, 1, 5]], self.interval)

    @property
    def inputs(self) -> Array:
        """What the net gets: motion on soil, roll and pitch there, and commands: (T, 7)."""
        return np.column_stack([self.motion, self.poses[:-1, 3:5], self.commands])


def motion_of(poses: Array, interval: float) -> Array:
    """Speed ahead and to the left [m/s] and turn rate [rad/s]: (T, 3), of poses (T + 1, 3) x, y [m] and yaw [rad]."""
    turn = wrap(np.diff(poses[:, 2]))
    middle, (dx, dy) = poses[:-1, 2] + 0.5 * turn, np.diff(poses[:, :2], axis=0).T
    c, s = np.cos(middle), np.sin(middle)
    return np.column_stack([c * dx + s * dy, c * dy - s * dx, turn]) / interval


def integrate(start: Array, motion: Array, interval: float) -> Array:
    """Poses (T + 1, 3) x, y [m] and yaw [rad] from the first one (3,) and motion (T, 3), the inverse of `motion_of`."""
    yaw = start[2] + np.concatenate([[0.0], np.cumsum(motion[:, 2] * interval)])
    middle = 0.5 * (yaw[:-1] + yaw[1:])
    c, s = np.cos(middle), np.sin(middle)
    ahead, left = motion[:, 0] * interval, motion[:, 1] * interval
    steps = np.column_stack([c * ahead - s * left, s * ahead + c * left])
    return np.column_stack([start[:2] + np.vstack([[0.0, 0.0], np.cumsum(steps, axis=0)]), yaw])


def recorded_poses(log: RoverLog) -> Array:
    """Recorded x, y [m] and yaw [rad]: (frames, 3)."""
    return np.column_stack([log.position, log.yaw])


def follow_log(log: RoverLog, vehicle: Vehicle, kind: SoilKind, window: int) -> list[SoilRun]:
    """Drive a whole log on soil in windows of frames; at the beginning of each, the rover is put back to the log."""
    simulation, runs = Simulation(log, vehicle, kind), []
    for first in range(0, len(log.yaw) - 1, window):
        runs.append(_drive(simulation, log, first, min(window, len(log.yaw) - 1 - first)))
    return runs


def free_run(log: RoverLog, vehicle: Vehicle, kind: SoilKind, frames: int) -> SoilRun:
    """Drive as in a log from its beginning on, without looking at it."""
    return _drive(Simulation(log, vehicle, kind), log, 0, frames)


def _drive(simulation: Simulation, log: RoverLog, first: int, frames: int) -> SoilRun:
    """Put the rover back to a frame of the log, and drive."""
    assert log.commands is not None
    simulation.put_back(log.position[first], float(log.yaw[first]), motion_at(log, first))
    poses = [simulation.pose]
    for frame in range(first, first + frames):
        simulation.advance(frame)
        poses.append(simulation.pose)
    return SoilRun(np.array(poses), log.commands[first + 1 : first + 1 + frames], log.interval)


class Correction:
    """A small net that corrects how a rover moves on calibrated soil."""

    def __init__(self, runs: list[SoilRun], motion: Array, seed: int) -> None:
        """Fit it.

        Args:
            runs: Drives on soil.
            motion: (frames of all runs, 3) recorded speed ahead and to the left [m/s] and turn rate [rad/s].
            seed: Of the first weights.
        """
        inputs, errors = np.vstack([run.inputs for run in runs]), motion - np.vstack([run.motion for run in runs])
        self._inputs, self._errors = _scaling(inputs), _scaling(errors)
        self._net = MLPRegressor(
            hidden_layer_sizes=(HIDDEN,),
            activation="tanh",
            solver="lbfgs",
            alpha=DECAY,
            max_iter=400,
            random_state=seed,
        )
        with warnings.catch_warnings():
            # The search ends after so many steps, converged or not.
            warnings.simplefilter("ignore", ConvergenceWarning)
            self._net.fit(self._inputs.to(inputs), self._errors.to(errors))

    def poses(self, run: SoilRun) -> Array:
        """Corrected poses of a drive on soil: (T + 1, 3) x, y [m] and yaw [rad]."""
        change = self._errors.back(self._net.predict(self._inputs.to(run.inputs)))
        return integrate(run.poses[0, [0, 1, 5]], run.motion + change, run.interval)


@dataclass(frozen=True, eq=False)
class _Scaling:
    """Means and standard deviations of columns."""

    mean: Array
    deviation: Array

    def to(self, rows: Array) -> Array:
        return (rows - self.mean) / self.deviation

    def back(self, rows: Array) -> Array:
        return rows * self.deviation + self.mean


def _scaling(rows: Array) -> _Scaling:
    deviation = rows.std(axis=0)
    return _Scaling(rows.mean(axis=0), np.where(deviation > 0.0, deviation, 1.0))
