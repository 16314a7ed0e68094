"""Climbing robots in MuJoCo: in space, with four belts of their own speeds.

MuJoCo moves a belt by its surface velocity but has no reaction on it. Here each belt is a slider with an inertia and a
motor, and the Jacobian of every contact gets one more column: how the slip changes with the speed of the belt. MuJoCo
then solves contacts, belts and motors together. So the motor's torque limits the thrust, a belt that is held or slips
changes its speed, and momentum is conserved.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import mujoco
import numpy as np

from sandlot.physics.mujoco_bridge import quietly
from sandlot.places.courses import Course
from sandlot.robots.belt_contacts import AXLES, BELTS, command_motors, couple_belts
from sandlot.robots.climber import Climber
from sandlot.robots.climber_model import climber_model
from sandlot.robots.climbers import INTERVAL, START, Climbers, Start, clearance
from sandlot.typing import Array, BoolArray, IntArray

STEP = 0.001
"""Of the physics [s]."""
ABOVE = 1e-4
"""Robots start this far above the ground [m]: MuJoCo has no normal of round geoms that touch it at a gap of 0."""


class Simulation:
    """One robot on its course.

    Attributes:
        model: MuJoCo's.
        data: MuJoCo's.
    """

    def __init__(self, climber: Climber, course: Course, step: float, friction: tuple[float, float]) -> None:
        """Make it; `place` puts the robot somewhere."""
        self._climber, self._step, self._made = climber, step, climber_model(climber, course, step, friction)
        self.model, self.data = self._made.model, mujoco.MjData(self._made.model)
        self._flat = (self.model.geom_type == mujoco.mjtGeom.mjGEOM_BOX) & (self.model.geom_bodyid > 0)

    def place(self, start: Start, ground: float) -> None:
        """Put the robot at its start, on ground of a height [m]."""
        mujoco.mj_resetData(self.model, self.data)
        height = ground + clearance(self._climber.track, self._climber.axles.height, np.array(start.axles))
        self.data.qpos[:7] = start.x, 0.0, height + ABOVE, *_yaw(start.yaw)
        self.data.qpos[7:9] = start.axles

    def run(self, targets: Array, seconds: float) -> None:
        """Simulate for a time with one command (4,)."""
        model, data, made, climber = self.model, self.data, self._made, self._climber
        motors = np.array([climber.axles.gain, climber.axles.speed, climber.thrust, climber.belts.speed])
        state = data.qpos, data.qvel, data.ctrl, model.actuator_forcerange
        belts = made.belt_geoms, made.belt_of, made.per_speed, model.geom_surfacevel
        turns, left = data.geom_xmat, data.xmat[1, 1::3]
        for _ in range(round(seconds / self._step)):
            command_motors(targets, motors, *state, *belts)
            mujoco.mj_step1(model, data)
            if data.ncon:
                contacts = data.contact
                touching = contacts.geom, contacts.frame, contacts.efc_address
                couple_belts(*touching, self._flat, made.belt_of, turns, left, data.efc_J, data.efc_D, data.efc_R)
            mujoco.mj_step2(model, data)


class ReferenceClimbers(Climbers):
    """Robots in MuJoCo."""

    def __init__(
        self,
        climber: Climber,
        courses: Sequence[Course],
        *,
        step: float = STEP,
        friction: tuple[float, float] | None = None,
        threads: int = 1,
    ) -> None:
        """Put robots at the start of their courses.

        Args:
            climber: The robot.
            courses: One for each robot.
            step: Of the physics [s].
            friction: Coefficient of the left and of the right belts; that of the robot if left out.
            threads: Number of simulations that run at the same time.
        """
        super().__init__(climber, courses)
        self._step, self._friction = step, friction or (climber.track.friction,) * 2
        self._simulations = [self._make(course) for course in courses]
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self._place(np.arange(self.count), False, [START] * self.count)

    def _make(self, course: Course) -> Simulation:
        return Simulation(self.climber, course, self._step, self._friction)

    def _place(self, which: IntArray, new_courses: bool, starts: Sequence[Start]) -> None:
        for k, start in zip(which.tolist(), starts, strict=True):
            if new_courses:
                self._simulations[k] = self._make(self.courses[k])
            self._simulations[k].place(start, self.courses[k].height(start.x))

    def _simulate(self, targets: Array, running: BoolArray) -> None:
        goes_on = running & ~self.exploded
        work = [(each, row) for each, row, on in zip(self._simulations, targets, goes_on, strict=True) if on]
        with quietly():
            if self._pool is None:
                for simulation, row in work:
                    simulation.run(row, INTERVAL)
            else:
                list(self._pool.map(lambda each: each[0].run(each[1], INTERVAL), work))

    def _stack(self, name: str, part: slice) -> Array:
        return np.stack([getattr(each.data, name)[part] for each in self._simulations])

    @property
    def position(self) -> Array:
        """Middle of the body: (count, 3) [m]."""
        return self._stack("qpos", slice(0, 3))

    @property
    def _rotation(self) -> Array:
        """From the body's axes to the world's: (count, 3, 3)."""
        found = np.empty((self.count, 9))
        for row, quaternion in zip(found, self._stack("qpos", slice(3, 7)), strict=True):
            mujoco.mju_quat2Mat(row, quaternion)
        return found.reshape(-1, 3, 3)

    @property
    def attitude(self) -> Array:
        """Roll, pitch and yaw of the body: (count, 3) [rad]; the rotation is yaw, then roll, then pitch, as in (24)."""
        rotation = self._rotation
        left = rotation[:, :, 1]
        yaw, roll = np.arctan2(-left[:, 0], left[:, 1]), np.arcsin(np.clip(left[:, 2], -1.0, 1.0))
        ahead = np.stack([np.cos(yaw), np.sin(yaw), np.zeros_like(yaw)], axis=1)
        pitch = np.arctan2((rotation[:, :, 2] * ahead).sum(axis=1), (rotation[:, :, 0] * ahead).sum(axis=1))
        return np.stack([roll, pitch, yaw], axis=1)

    def _horizontal(self, vectors: Array) -> Array:
        """Vectors (count, 3) of the world in the robots' horizontal frames."""
        yaw = self.attitude[:, 2]
        c, s = np.cos(yaw), np.sin(yaw)
        return np.stack(
            [c * vectors[:, 0] + s * vectors[:, 1], c * vectors[:, 1] - s * vectors[:, 0], vectors[:, 2]], 1
        )

    @property
    def velocity(self) -> Array:
        """Of the middle of the body, forward, left and up in its horizontal frame: (count, 3) [m/s]."""
        return self._horizontal(self._stack("qvel", slice(0, 3)))

    @property
    def rates(self) -> Array:
        """Rates of the body about the axes of its horizontal frame: (count, 3) [rad/s]."""
        return self._horizontal(np.einsum("nij,nj->ni", self._rotation, self._stack("qvel", slice(3, 6))))

    @property
    def axles(self) -> Array:
        """Angles of the front and the rear axle: (count, 2) [rad]."""
        return self._stack("qpos", slice(AXLES, AXLES + 2))

    @property
    def axle_rates(self) -> Array:
        """Their rates: (count, 2) [rad/s]."""
        return self._stack("qvel", slice(6, 8))

    @property
    def axle_torques(self) -> Array:
        """Torques of their motors at the last step: (count, 2) [N*m]."""
        return self._stack("actuator_force", slice(0, 2))

    @property
    def belts(self) -> Array:
        """Belt speeds, front left, front right, rear left, rear right: (count, 4) [m/s]."""
        return self._stack("qvel", slice(BELTS, BELTS + 4))

    @property
    def thrusts(self) -> Array:
        """Forces of the belt motors at the last step, in the same order: (count, 4) [N]."""
        return self._stack("actuator_force", slice(2, 6))


def _yaw(angle: float) -> tuple[float, float, float, float]:
    return float(np.cos(0.5 * angle)), 0.0, 0.0, float(np.sin(0.5 * angle))
