"""Swimming snakes in MuJoCo, with contacts and, if asked, a ball."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import mujoco
import numpy as np
from mujoco.batch import Batch

from sandlot.errors import SettingError
from sandlot.geometry.planar import rotate
from sandlot.physics.mujoco_bridge import quietly
from sandlot.physics.swimming import callback, forces, reduced, rows
from sandlot.physics.swimming.callback import SIMULATION_WORDS
from sandlot.physics.swimming.energy import Energies, energies
from sandlot.robots.snake import DRAG, Snake, link_centres
from sandlot.robots.swimmers import Swimmers
from sandlot.typing import Array, BoolArray, IntArray

STIFFNESS = 25.0
"""Rate at which the reference's servos correct errors [1/s]. Torques are computed, so that only contacts and the
integrator cause errors. The lower this rate, the longer the steps with which the reference converges."""

MAX_GAIN = 3.0
"""A simulation has exploded if, from one command to the next, its kinetic energy in the frame of the water grows by
more than this times the energy that its motors could give. It is above 1 because the torque limit is soft. With the
source's motors, random gaits stay below 0.7, and fetching below 0.2."""
ROUNDING = 1e-3
"""Share of its energy that a body may gain on top, by rounding: without drag a gliding body keeps it only roughly."""


class Ball(NamedTuple):
    """A ball in the water.

    Attributes:
        radius: [m]
        mass: [kg]
        drag: Drag coefficient, for the area of its cross-section [N*s/m^3].
    """

    radius: float = 1.0
    mass: float = 0.42
    drag: float = DRAG

    @property
    def damping(self) -> float:
        """Drag force over speed [N*s/m]."""
        return self.drag * (math.pi * self.radius**2)


BALL = Ball()
"""The ball of the source, with drag."""


class ReferenceSwimmers(Swimmers):
    """Bodies in MuJoCo: the same drag and servos on rigid-body dynamics, with contacts and, if asked, a ball."""

    def __init__(
        self,
        snake: Snake,
        count: int,
        current: Sequence[float] = (0.0, 0.0),
        balls: Array | None = None,
        *,
        ball: Ball = BALL,
        contact: bool = True,
        integrator: str = "RK4",
        threads: int = 1,
    ) -> None:
        """Make the bodies.

        Args:
            snake: Their body.
            count: How many.
            current: Velocity of the water [m/s].
            balls: (count, 2) where the balls are [m]; none if left out.
            ball: What each of the balls is like.
            contact: Whether links collide with each other (neighbours never do) and with the ball.
            integrator: MuJoCo's; others than the default are faster and less accurate.
            threads: Number of simulations that run at the same time.

        Raises:
            SettingError: If the step is too long for this body, or its ball, in this water.
        """
        super().__init__(snake, count, current, balls)
        self.solid_balls = balls is not None
        check_stable(snake, ball.damping / ball.mass if self.solid_balls else 0.0)
        callback.install()
        xml = mjcf(snake, ball if self.solid_balls else None, contact, integrator)
        model = mujoco.MjModel.from_xml_string(xml)
        self._batch = Batch(model, count, threads)
        self._position, self._velocity = self._batch.bind("qpos"), self._batch.bind("qvel")
        user = self._batch.bind("userdata")
        self._simulation = user[:, :SIMULATION_WORDS].view(forces.SIMULATION)[:, 0]
        self._plan = user[:, SIMULATION_WORDS:].reshape(count, 3, snake.joints)
        self._body, self._ball_mass = snake.record(), ball.mass if self.solid_balls else 0.0
        self._simulation[:] = (
            forces.MARK,
            self._body,
            *self.current,
            STIFFNESS,
            0.0,
            ball.damping if self.solid_balls else -1.0,
        )
        if balls is not None:
            self._position[:, -2:] = balls
        self._position[:, 0] = -0.5 * snake.length
        self._last = np.zeros((count, snake.joints))
        self._shares = np.zeros(count)
        self._lost = np.zeros(count, np.bool_)
        # The whole of a simulation: position, velocity, time, user data, and the solver's warm start.
        self._start = self._batch.state.copy()

    def command(self, targets: Array) -> None:
        """Simulate until the next command; bodies that have exploded stay as they are."""
        self._check(targets)
        snake, joints = self.snake, self.snake.joints
        before = self._energies()
        state = self._reduced_state()
        accelerations = np.empty((joints, self.count))
        reduced.plan(self._body, state, np.ascontiguousarray(targets.T), accelerations)
        self._last = state[rows.last_commands(joints)].T
        self._shares += state[rows.DRIVE]
        self._simulation["command_time"] = self.time
        self._plan[:, forces.ANGLE] = self.angles
        self._plan[:, forces.RATE] = self.rates
        self._plan[:, forces.ACCELERATION] = accelerations.T
        # MuJoCo warns when a simulation explodes, which `exploded` reports instead.
        with quietly():
            self._batch.step(np.flatnonzero(~self._lost), nstep=snake.substeps)
        self._commands += 1
        self._lost |= super().exploded | self._gained_energy(before)

    def restart(self, which: IntArray, balls: Array | None = None) -> None:
        """Put some bodies back to their start, while the others go on."""
        self._batch.state[which] = self._start[which]
        if balls is not None:
            self._check_balls()
            self._position[which, -2:] = balls
        self._last[which], self._shares[which], self._lost[which], self._commands[which] = 0.0, 0.0, False, 0

    def _energies(self) -> Energies:
        return energies(self._body, self._position, self._velocity, self.current, self._ball_mass)

    def _gained_energy(self, before: Energies) -> BoolArray:
        """Which bodies gained energy since ``before`` that no motor gave, or have a ball that is too fast: (count,)."""
        after = self._energies()
        given = MAX_GAIN * self.snake.interval * np.maximum(before.max_power, after.max_power)
        valid = after.kinetic <= (1.0 + ROUNDING) * before.kinetic + given
        valid &= (after.ball_speed < self._max_speed) & np.isfinite(self._position).all(axis=1)
        return ~valid

    def _reduced_state(self) -> Array:
        """Velocities and joints as rows of the reduced model's state, for its servos; drive is zero."""
        state = rows.rest(self.snake.joints, self.count)
        state[rows.SURGE], state[rows.SWAY] = rotate(self.velocity - self.current, -self.head).T
        state[rows.YAW_RATE] = self._velocity[:, 2]
        state[rows.FIXED :] = np.concatenate([self.angles, self.rates, self._last], axis=1).T
        return state

    @property
    def centre(self) -> Array:
        """Centre of mass: (count, 2) [m]."""
        return self._position[:, :2] - self._arms()

    def _arms(self) -> Array:
        """From the centre of mass to the head link: (count, 2) [m]."""
        return link_centres(np.zeros((self.count, 2)), self.directions, self.snake.length)[:, 0]

    @property
    def head(self) -> Array:
        """Yaw of the head link: (count,) [rad]."""
        return self._position[:, 2]

    @property
    def angles(self) -> Array:
        """Joint angles, from the head on: (count, joints) [rad]."""
        return self._position[:, 3 : 3 + self.snake.joints]

    @property
    def rates(self) -> Array:
        """Joint rates, from the head on: (count, joints) [rad/s]."""
        return self._velocity[:, 3 : 3 + self.snake.joints]

    @property
    def velocity(self) -> Array:
        """Of the centre of mass: (count, 2) [m/s]."""
        return self._velocity[:, :2] + self._link_velocities().mean(axis=1)

    @property
    def angular_momentum(self) -> Array:
        """About the centre of mass: (count,) [kg*m^2/s]."""
        arms = link_centres(np.zeros((self.count, 2)), self.directions, self.snake.length)
        speeds = self._link_velocities()
        moments = (arms[..., 0] * speeds[..., 1] - arms[..., 1] * speeds[..., 0]).sum(axis=1)
        return self.snake.link_mass * moments + self.snake.inertia * self._link_rates().sum(axis=1)

    def _link_rates(self) -> Array:
        """Yaw rate of every link: (count, links) [rad/s]."""
        return self._velocity[:, 2, None] - np.cumsum(np.pad(self.rates, ((0, 0), (1, 0))), axis=1)

    def _link_velocities(self) -> Array:
        """Velocity of every link relative to the head link: (count, links, 2) [m/s]."""
        across = np.stack([-np.sin(self.directions), np.cos(self.directions)], axis=-1) * self._link_rates()[..., None]
        steps = -0.5 * self.snake.length * (across[:, 1:] + across[:, :-1])
        return np.pad(np.cumsum(steps, axis=1), ((0, 0), (1, 0), (0, 0)))

    @property
    def _drive_sum(self) -> Array:
        return self._shares

    @property
    def exploded(self) -> BoolArray:
        """Which simulations have become invalid since their start: (count,)."""
        return self._lost.copy()

    @property
    def _ball_positions(self) -> Array:
        return self._position[:, -2:]

    @property
    def ball_velocity(self) -> Array:
        """Of the balls: (count, 2) [m/s].

        Raises:
            SettingError: If there are none.
        """
        self._check_balls()
        return self._velocity[:, -2:]


def check_stable(snake: Snake, ball: float = 0.0) -> None:
    """Refuse a step with which the reference would be unstable or inaccurate.

    Drag needs steps of at most about 1 / rate, servos of at most 0.25 / rate, which is 0.01 s: with that step the
    source's gait of section 7.7 swims 0.7% too far, with 0.02 s 15%, and with 0.04 s three times as far.

    Args:
        snake: The body.
        ball: Rate at which drag slows its ball down [1/s]; 0 without one.

    Raises:
        SettingError: With the longest step that is allowed.
    """
    side = snake.drag * max(snake.length, snake.width) * snake.height
    rates = {"servos": 4.0 * STIFFNESS, "drag on the body": side / snake.link_mass, "drag on the ball": ball}
    stiffest = max(rates, key=rates.__getitem__)
    longest = 1.0 / rates[stiffest]
    if snake.step > longest:
        # Two digits, rounded down, so that the step in the message is allowed.
        unit = 10.0 ** (math.floor(math.log10(longest)) - 1)
        raise SettingError(
            f"step={snake.step:g} would make the reference unstable or wrong: {stiffest} too stiff for it; "
            f"allowed: at most {unit * math.floor(longest / unit):.2g}"
        )


def mjcf(snake: Snake, ball: Ball | None, contact: bool, integrator: str) -> str:
    """The body as a MuJoCo model that moves in a plane, without gravity."""
    half = f"{0.5 * snake.length} {0.5 * snake.width} {0.5 * snake.height}"
    geom = f'<geom type="box" size="{half}" mass="{snake.link_mass}"/>'
    # Stops a little beyond the largest command, so that they have no effect there.
    stop = snake.max_angle + 0.1
    slides = '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>'
    body = f'<body name="link0">{slides}<joint axis="0 0 1"/>{geom}'
    for k in range(1, snake.links):
        joint = f'<joint axis="0 0 -1" pos="{0.5 * snake.length} 0 0" range="{-stop} {stop}" limited="true"/>'
        body += f'<body name="link{k}" pos="{-snake.length} 0 0">{joint}{geom}'
    body += "</body>" * snake.links
    if ball is not None:
        body += f'<body name="ball">{slides}<geom type="sphere" size="{ball.radius}" mass="{ball.mass}"/></body>'
    flag = "enable" if contact else "disable"
    return f"""
        <mujoco>
            <compiler angle="radian"/>
            <option timestep="{snake.step}" gravity="0 0 0" integrator="{integrator}">
                <flag contact="{flag}" autoreset="disable"/>
            </option>
            <size nuserdata="{SIMULATION_WORDS + 3 * snake.joints}"/>
            <default><geom friction="0.5 0.005 0.0001" condim="3"/></default>
            <worldbody>{body}</worldbody>
        </mujoco>
    """
