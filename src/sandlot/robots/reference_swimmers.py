"""Swimming snakes in MuJoCo, with contacts and perhaps a ball, and such that start anew one by one."""

import math
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
from mujoco.batch import Batch

from sandlot.errors import SandlotError
from sandlot.physics.swimming import callback, water
from sandlot.physics.swimming.callback import MARK, USER_ROWS
from sandlot.physics.swimming.energy import energies
from sandlot.robots.snake import DRAG, Snake, link_centres
from sandlot.robots.swimmers import Swimmers
from sandlot.typing import Array, BoolArray, IntArray

STIFFNESS = 25.0
"""Rate at which the reference's servos correct errors [1/s]. Torques are computed, so that only contacts and the
integrator leave any; the lower the rate, the longer the steps with which the reference converges."""

GENEROUS = 3.0
"""A simulation has exploded if, from one command to the next, its kinetic energy in the frame of the water grows by
more than so many times what its motors could give. It is not 1, as their limit is a soft one. With the source's motors,
gaits at random stay below 0.7, and fetching below 0.2."""
ROUNDING = 1e-3
"""Share of the energy that may be gained besides: a body that glides without drag keeps its own only nearly."""


class ReferenceSwimmers(Swimmers):
    """Bodies in MuJoCo: the same drag and servos on rigid-body dynamics, with contacts and perhaps a ball."""

    def __init__(
        self,
        snake: Snake,
        count: int,
        current: Sequence[float] = (0.0, 0.0),
        balls: Array | None = None,
        ball_radius: float = 1.0,
        ball_mass: float = 0.42,
        ball_drag: float = DRAG,
        contact: bool = True,
        integrator: str = "RK4",
        threads: int = 1,
    ) -> None:
        """As for all `Swimmers`.

        Args:
            snake: Their body.
            count: How many.
            current: Velocity of the water [m/s].
            balls: (count, 2) where the balls are [m]; none without.
            ball_radius: [m]
            ball_mass: [kg]
            ball_drag: Drag coefficient of the ball, for the area of its cross-section [N*s/m^3].
            contact: Whether links collide with each other (neighbours never do) and with the ball.
            integrator: MuJoCo's; others than the default are quicker, and less accurate.
            threads: How many simulations run at the same time.

        Raises:
            SandlotError: If the step is too long for this body, or its ball, in this water.
        """
        super().__init__(snake, count, current)
        pull = ball_drag * math.pi * ball_radius**2
        check_stable(snake, 0.0 if balls is None else pull / ball_mass)
        callback.install()
        model = mujoco.MjModel.from_xml_string(
            mjcf(snake, balls is not None, ball_radius, ball_mass, contact, integrator)
        )
        self._batch = Batch(model, count, threads)
        self._position, self._velocity = self._batch.bind("qpos"), self._batch.bind("qvel")
        self._user = self._batch.bind("userdata")
        body = snake.record()
        self._body, self._ball_mass = body, 0.0 if balls is None else ball_mass
        if balls is not None:
            self._position[:, -2:] = balls
        self._position[:, 0] = -0.5 * snake.length
        motors = (STIFFNESS, snake.max_torque, 0.0, 0.0, 0.0, -1.0 if balls is None else pull)
        drags = (body["side_drag"], body["end_drag"], body["tip_drag"])
        links = (snake.links, snake.length, *drags, *self.current, snake.link_mass, snake.inertia)
        self._user[:, :USER_ROWS] = (MARK, *links, *motors)
        self._last = np.zeros((count, snake.joints))
        self._lost = np.zeros(count, np.bool_)
        self._commands = 0

    def command(self, targets: Array) -> None:
        """Go on to the next command; what has exploded stays as it is."""
        self._check(targets)
        snake, joints, user, first = self.snake, self.snake.joints, self._user, USER_ROWS
        before = self._energies()
        state = self._plan_state()
        accelerations = np.empty((joints, self.count))
        water.plan(self._body, state, np.ascontiguousarray(targets.T), accelerations)
        self._last = state[water.FIXED + 2 * joints :].T
        user[:, callback.SINCE] = self.time
        user[:, callback.SHARES] += state[water.DRIVE]
        user[:, callback.COMMANDS] += 1.0
        user[:, first : first + joints] = self.angles
        user[:, first + joints : first + 2 * joints] = self.rates
        user[:, first + 2 * joints :] = accelerations.T
        with callback.quietly():
            self._batch.step(np.flatnonzero(~self._lost), nstep=snake.substeps)
        self._commands += 1
        self.time = self._commands * snake.interval
        self._lost |= super().exploded | self._burst(before)

    def _energies(self) -> Array:
        """Kinetic energy [J], most power [W] and the ball's speed [m/s], as `energies` gives them: (count, 3)."""
        return energies(self._body, self._position, self._velocity, self.current, self._ball_mass)

    def _burst(self, before: Array) -> BoolArray:
        """Which have gained energy that no motor gave since ``before``, or have thrown their ball away: (count,)."""
        after = self._energies()
        given = GENEROUS * self.snake.interval * np.maximum(before[:, 1], after[:, 1])
        sane = after[:, 0] <= (1.0 + ROUNDING) * before[:, 0] + given
        sane &= (after[:, 2] < self._fastest) & np.isfinite(self._position).all(axis=1)
        return ~sane

    def _plan_state(self) -> Array:
        """What the servos need to know, as rows of the reduced model's state; drive is zero."""
        state = water.rest(self.snake.joints, self.count)
        cosine, sine = np.cos(self.head), np.sin(self.head)
        vx, vy = (self.velocity - self.current).T
        state[water.U], state[water.V] = vx * cosine + vy * sine, vy * cosine - vx * sine
        state[water.W] = self._velocity[:, 2]
        state[water.FIXED :] = np.concatenate([self.angles, self.rates, self._last], axis=1).T
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
        """Angle of the head link: (count,) [rad]."""
        return self._position[:, 2]

    @property
    def angles(self) -> Array:
        """Of the joints: (count, joints) [rad]."""
        return self._position[:, 3 : 3 + self.snake.joints]

    @property
    def rates(self) -> Array:
        """Of the joints: (count, joints) [rad/s]."""
        return self._velocity[:, 3 : 3 + self.snake.joints]

    @property
    def velocity(self) -> Array:
        """Of the centre of mass: (count, 2) [m/s]."""
        return self._velocity[:, :2] + self._speeds().mean(axis=1)

    @property
    def angular_momentum(self) -> Array:
        """About the centre of mass: (count,) [kg*m^2/s]."""
        arms = link_centres(np.zeros((self.count, 2)), self.directions, self.snake.length)
        speeds = self._speeds()
        moments = (arms[..., 0] * speeds[..., 1] - arms[..., 1] * speeds[..., 0]).sum(axis=1)
        return self.snake.link_mass * moments + self.snake.inertia * self._turns().sum(axis=1)

    def _turns(self) -> Array:
        """How fast every link turns: (count, links) [rad/s]."""
        return self._velocity[:, 2, None] - np.cumsum(np.pad(self.rates, ((0, 0), (1, 0))), axis=1)

    def _speeds(self) -> Array:
        """Velocity of every link relative to the head link: (count, links, 2) [m/s]."""
        across = np.stack([-np.sin(self.directions), np.cos(self.directions)], axis=-1) * self._turns()[..., None]
        steps = -0.5 * self.snake.length * (across[:, 1:] + across[:, :-1])
        return np.pad(np.cumsum(steps, axis=1), ((0, 0), (1, 0), (0, 0)))

    @property
    def drive(self) -> Array:
        """Mean share of the wanted acceleration that the motors could give: (count,)."""
        return self._user[:, callback.SHARES] / np.maximum(self._user[:, callback.COMMANDS], 1.0)

    @property
    def exploded(self) -> BoolArray:
        """Which simulations are no longer to be trusted, since some command: (count,)."""
        return self._lost.copy()

    @property
    def balls(self) -> Array:
        """Where the balls are: (count, 2) [m].

        Raises:
            SandlotError: If there are none.
        """
        self._check_balls()
        return self._position[:, -2:]

    @property
    def ball_velocity(self) -> Array:
        """Of the balls: (count, 2) [m/s].

        Raises:
            SandlotError: If there are none.
        """
        self._check_balls()
        return self._velocity[:, -2:]

    def _check_balls(self) -> None:
        if self._ball_mass == 0.0:
            raise SandlotError("these swimmers have no balls; give balls=... where they are made")


class RestartingReference(ReferenceSwimmers):
    """As `ReferenceSwimmers` with balls, but each can start anew while the others go on: ``time`` is (count,) [s]."""

    time: Any
    _commands: Any

    def __init__(self, snake: Snake, count: int, current: Sequence[float] = (0.0, 0.0), **options: Any) -> None:
        """As `ReferenceSwimmers`; where the balls are is told by `restart`."""
        super().__init__(snake, count, current, np.zeros((count, 2)), **options)
        # All there is to a simulation: position, velocity, time, user data, and where its solver starts from.
        self._start = self._batch.state.copy()
        self._commands, self.time = np.zeros(count, np.int64), np.zeros(count)

    def restart(self, which: IntArray, balls: Array) -> None:
        """Put these back to where they began; ``balls`` (which, 2) is where their balls are [m]."""
        self._batch.state[which] = self._start[which]
        self._position[which, -2:] = balls
        self._last[which], self._lost[which] = 0.0, False
        self._commands[which], self.time[which] = 0, 0.0


def check_stable(snake: Snake, ball: float = 0.0) -> None:
    """Refuse a step with which the reference would be unstable, or far from right.

    Drag is followed well by steps of up to about 1 / rate. With the source's gait of section 7.7, servos are by steps
    of up to 0.25 / rate, 0.01 s: it then swims 0.7% too far, with 0.02 s 15%, and with 0.04 s three times as far.

    Args:
        snake: The body.
        ball: Rate at which the water slows its ball down [1/s]; 0 without one.

    Raises:
        SandlotError: With the longest step that would do.
    """
    side = snake.drag * max(snake.length, snake.width) * snake.height
    rates = {"servos": 4.0 * STIFFNESS, "drag on the body": side / snake.link_mass, "drag on the ball": ball}
    fastest = max(rates, key=rates.__getitem__)
    longest = 1.0 / rates[fastest]
    if snake.step > longest:
        # Two digits, rounded down: what is named must be allowed.
        unit = 10.0 ** (math.floor(math.log10(longest)) - 1)
        raise SandlotError(
            f"step={snake.step:g} would make the reference unstable, or wrong: {fastest} cannot be followed; "
            f"allowed: at most {unit * math.floor(longest / unit):.2g}"
        )


def mjcf(snake: Snake, ball: bool, ball_radius: float, ball_mass: float, contact: bool, integrator: str) -> str:
    """The body as a MuJoCo model: moves in a plane, neither falls nor rises."""
    half = f"{0.5 * snake.length} {0.5 * snake.width} {0.5 * snake.height}"
    geom = f'<geom type="box" size="{half}" mass="{snake.link_mass}"/>'
    # Stops a little beyond what a joint is told at most, so that they are not felt there.
    stop = snake.max_angle + 0.1
    slides = '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>'
    body = f'<body name="link0">{slides}<joint axis="0 0 1"/>{geom}'
    for k in range(1, snake.links):
        joint = f'<joint axis="0 0 -1" pos="{0.5 * snake.length} 0 0" range="{-stop} {stop}" limited="true"/>'
        body += f'<body name="link{k}" pos="{-snake.length} 0 0">{joint}{geom}'
    body += "</body>" * snake.links
    if ball:
        body += f'<body name="ball">{slides}<geom type="sphere" size="{ball_radius}" mass="{ball_mass}"/></body>'
    flag = "enable" if contact else "disable"
    return f"""
        <mujoco>
            <compiler angle="radian"/>
            <option timestep="{snake.step}" gravity="0 0 0" integrator="{integrator}">
                <flag contact="{flag}" autoreset="disable"/>
            </option>
            <size nuserdata="{USER_ROWS + 3 * snake.joints}"/>
            <default><geom friction="0.5 0.005 0.0001" condim="3"/></default>
            <worldbody>{body}</worldbody>
        </mujoco>
    """
