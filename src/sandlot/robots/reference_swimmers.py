"""Swimming snakes in MuJoCo, with contacts and, if asked, a ball.

A motor gives its joint the commanded rate with whatever torque this needs, up to its largest. That is dry friction
between the joint and a heavy flywheel that turns at the commanded rate. MuJoCo solves this friction together with the
contacts, so that neither lags behind the other, and a motor cannot give more energy than its torque does.
"""

import math
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
from mujoco.batch import Batch

from sandlot.errors import SettingError
from sandlot.physics.mujoco_bridge import quietly
from sandlot.physics.swimming.drag import add_drag
from sandlot.physics.swimming.energy import Energies, energies
from sandlot.physics.swimming.momentum import keep_momentum
from sandlot.physics.swimming.simulation import SIMULATION, water
from sandlot.robots.ball import BALL, Ball
from sandlot.robots.snake import Snake, link_centres
from sandlot.robots.swimmers import Swimmers
from sandlot.typing import Array, BoolArray, IntArray

REFINE = 4
"""Steps of the reference for each step of the body's settings. Halving the default of 0.0025 s changes the distance of
73 of 80 random gaits by less than 2%, and halving it again that of 75. Most of the others are chaotic."""

MOTORS = 400.0
"""Rate of the motion in violent gaits [1/s]. Steps of the reference longer than 2 over this let such gaits explode."""

MAX_GAIN = 1.5
"""A simulation has exploded if, from one command to the next, its kinetic energy in the frame of the water grows by
more than this times the energy that its motors could give at the joint rates before or after. Random gaits stay below
0.8. It is above 1 because rates may be higher between commands."""
ROUNDING = 1e-3
"""Share of its energy that a body may gain on top, by rounding: without drag a gliding body keeps it only roughly."""

BOUND = {"_batch", "_position", "_velocity", "_forces", "_constraints"}
"""Attributes that are MuJoCo's batch and views of it."""

SATURATED = 1.0 - 1e-9
"""Share of its largest torque beyond which a motor counts as at its limit."""


class ReferenceSwimmers(Swimmers):
    """Bodies in MuJoCo: the same drag and motors on rigid-body dynamics, with contacts and, if asked, a ball."""

    def __init__(
        self,
        snake: Snake,
        count: int,
        current: Sequence[float] = (0.0, 0.0),
        balls: Array | None = None,
        *,
        ball: Ball = BALL,
        contact: bool = True,
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
            threads: Number of simulations that run at the same time.

        Raises:
            SettingError: If the step is too long for this body, or its ball, in this water.
        """
        super().__init__(snake, count, current, balls)
        self.solid_balls, self._step = balls is not None, snake.step / REFINE
        check_stable(snake, ball.damping / ball.mass if self.solid_balls else 0.0)
        model = mujoco.MjModel.from_xml_string(mjcf(snake, ball if self.solid_balls else None, contact, self._step))
        self._made = model, count, threads
        self._bind()
        self._body = snake.record()
        dry = (ball.mass, ball.inertia, ball.damping) if self.solid_balls else (0.0, 0.0, 0.0)
        simulation = np.zeros(1, SIMULATION).view(np.recarray)
        simulation[0] = (self._body, *dry, *self.current, self._step)
        self._simulation, self._water = simulation[0], water(count, snake.links)
        if balls is not None:
            self._ball_positions[:] = balls
        self._position[:, 0] = -0.5 * snake.length
        self._shares = np.zeros(count)
        self._lost = np.zeros(count, np.bool_)
        # The whole of a simulation: position, velocity, time, applied forces, and the solver's warm start.
        self._start = self._batch.state.copy()

    def _bind(self) -> None:
        """Make the simulations, and take views of their arrays."""
        self._batch = Batch(*self._made)
        self._position, self._velocity = self._batch.bind("qpos"), self._batch.bind("qvel")
        self._forces, self._constraints = self._batch.bind("qfrc_applied"), self._batch.bind("qfrc_constraint")

    def __getstate__(self) -> dict[str, Any]:
        """Everything but MuJoCo's batch, which cannot be copied; its state is kept instead."""
        kept = {name: value for name, value in self.__dict__.items() if name not in BOUND}
        return {**kept, "state": self._batch.state.copy()}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        """Make the simulations again, in the state that was kept."""
        state = kept.pop("state")
        self.__dict__.update(kept)
        self._bind()
        self._batch.state[:] = state

    def command(self, targets: Array, running: BoolArray | None = None) -> None:
        """Simulate until the next command; bodies that explode go back to where they were before it, and stay there."""
        self._check(targets)
        running = np.ones(self.count, np.bool_) if running is None else running
        snake, which = self.snake, np.flatnonzero(running & ~self._lost)
        before, state = self._energies(), self._batch.state.copy()
        ends = np.clip(targets, -snake.max_angle, snake.max_angle)
        rates = np.clip(snake.gain * (ends - self.angles), -snake.max_rate, snake.max_rate)
        self._flywheels(self._velocity)[which] = rates[which]
        torques, steps = self._flywheels(self._constraints), snake.substeps * REFINE
        # MuJoCo warns when a simulation explodes, which `exploded` reports instead.
        with quietly():
            for _ in range(steps):
                add_drag(self._simulation, self._position, self._velocity, which, self._water, self._forces)
                self._batch.step(which)
                keep_momentum(self._simulation, self._position, self._velocity, which, self._water)
                self._shares[which] += (np.abs(torques[which]) < SATURATED * snake.max_torque).mean(axis=1) / steps
        self._commands += running
        self._lost |= super().exploded | self._gained_energy(before)
        self._batch.state[self._lost] = state[self._lost]

    def _flywheels(self, coordinates: Array) -> Array:
        """Those of the flywheels: (count, joints), as a view."""
        return coordinates[:, -self.snake.joints :]

    def restart(self, which: IntArray, balls: Array | None = None) -> None:
        """Put some bodies back to their start, while the others go on."""
        self._batch.state[which] = self._start[which]
        if balls is not None:
            self._check_balls()
            self._ball_positions[which] = balls
        self._water.others[which] = 0.0
        self._shares[which], self._lost[which], self._commands[which] = 0.0, False, 0

    def _energies(self) -> Energies:
        return energies(self._simulation, self._position, self._velocity)

    def _gained_energy(self, before: Energies) -> BoolArray:
        """Which bodies gained energy since ``before`` that no motor gave, or have a ball that is too fast: (count,)."""
        after = self._energies()
        given = MAX_GAIN * self.snake.interval * np.maximum(before.max_power, after.max_power)
        valid = after.kinetic <= (1.0 + ROUNDING) * before.kinetic + given
        valid &= (after.ball_speed < self._max_speed) & np.isfinite(self._position).all(axis=1)
        return ~valid

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
        return self._position[:, self._ball_columns]

    @property
    def _ball_columns(self) -> slice:
        """Of x and y of the balls."""
        return slice(self.snake.links + 2, self.snake.links + 4)

    @property
    def ball_velocity(self) -> Array:
        """Of the balls: (count, 2) [m/s].

        Raises:
            SettingError: If there are none.
        """
        self._check_balls()
        return self._velocity[:, self._ball_columns]


def check_stable(snake: Snake, ball: float = 0.0) -> None:
    """Refuse a step with which the reference would be unstable or inaccurate.

    Args:
        snake: The body.
        ball: Rate at which drag slows its ball down [1/s]; 0 without one.

    Raises:
        SettingError: With the longest step that is allowed.
    """
    side = snake.drag * max(snake.length, snake.width) * snake.height
    rates = {"motors": MOTORS, "drag on the body": side / snake.link_mass, "drag on the ball": ball}
    stiffest = max(rates, key=rates.__getitem__)
    longest = 2.0 * REFINE / rates[stiffest]
    if snake.step > longest:
        # Two digits, rounded down, so that the step in the message is allowed.
        unit = 10.0 ** (math.floor(math.log10(longest)) - 1)
        raise SettingError(
            f"step={snake.step:g} would make the reference unstable or wrong: {stiffest} too stiff for it; "
            f"allowed: at most {unit * math.floor(longest / unit):.2g}"
        )


def mjcf(snake: Snake, ball: Ball | None, contact: bool, step: float) -> str:
    """The body as a MuJoCo model that moves in a plane, without gravity; after it, the ball, then the flywheels."""
    half = f"{0.5 * snake.length} {0.5 * snake.width} {0.5 * snake.height}"
    geom = f'<geom type="box" size="{half}" mass="{snake.link_mass}"/>'
    planar = '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint axis="0 0 1"/>'
    body, tendons = f"<body>{planar}{geom}", ""
    for k in range(1, snake.links):
        body += f'<body pos="{-snake.length} 0 0"><joint name="joint{k}" class="bend"/>{geom}'
    body += "</body>" * snake.links
    if ball is not None:
        body += f'<body>{planar}<geom type="sphere" size="{ball.radius}" mass="{ball.mass}"/></body>'
    # So heavy that no torque changes its rate by more than 1e-6 rad/s until the next command.
    heavy = 1e6 * (snake.max_torque * snake.interval + snake.mass * snake.arclength**2)
    for k in range(1, snake.links):
        body += f'<body><inertial pos="0 0 0" mass="1" diaginertia="{heavy} {heavy} {heavy}"/>'
        body += f'<joint name="flywheel{k}" axis="0 0 1"/></body>'
        tendons += f'<fixed><joint joint="joint{k}" coef="1"/><joint joint="flywheel{k}" coef="-1"/></fixed>'
    # The friction and the joint stops are as stiff as the step allows. The solver's tolerance is relative to the
    # inertia of the whole model, so to that of the flywheels. The sparse Newton solver of MuJoCo 4.0 does not converge
    # with these.
    return f"""
        <mujoco>
            <compiler angle="radian"/>
            <option timestep="{step}" gravity="0 0 0" integrator="Euler" jacobian="dense" tolerance="1e-16">
                <flag contact="{"enable" if contact else "disable"}" eulerdamp="disable" autoreset="disable"/>
            </option>
            <default>
                <geom friction="0.5 0.005 0.0001" condim="3"/>
                <tendon frictionloss="{snake.max_torque}" solreffriction="{2.0 * step} 1"
                    solimpfriction="0.9999 0.9999 0.001"/>
                <default class="bend">
                    <joint axis="0 0 -1" pos="{0.5 * snake.length} 0 0" limited="true"
                        range="{-snake.max_angle} {snake.max_angle}" solreflimit="{2.0 * step} 1"/>
                </default>
            </default>
            <worldbody>{body}</worldbody>
            <tendon>{tendons}</tendon>
        </mujoco>
    """
