"""Many swimming snakes at once, at two fidelities with one interface.

`FastSwimmers` follow the reduced model of `sandlot.physics.water`; `ReferenceSwimmers` are MuJoCo simulations with
contacts and, if asked, a ball. What they do is told by commands: where every joint should be at the next one.
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import mujoco
import numpy as np
from mujoco.batch import Batch
from numpy.typing import NDArray

from sandlot.errors import SandlotError
from sandlot.physics import water, water_callback
from sandlot.physics.water_callback import FIXED, MARK
from sandlot.robots.snake import DRAG, Snake, link_angles, link_centres

Array = NDArray[np.float64]

STIFFNESS = 25.0
"""Rate at which the reference's servos correct errors [1/s]. Torques are computed, so that only contacts and the
integrator leave any; the lower the rate, the longer the steps with which the reference converges."""


class Swimmers:
    """A number of equal bodies, each alone in its own water.

    Attributes:
        snake: Their body.
        count: How many.
        time: Since the start [s].
    """

    def __init__(self, snake: Snake, count: int, current: Sequence[float] = (0.0, 0.0)) -> None:
        """Bodies at rest, straight, with the front of the head at the origin, heading along x.

        Args:
            snake: Their body.
            count: How many.
            current: Velocity of the water [m/s].
        """
        self.snake, self.count, self.time = snake, count, 0.0
        self.current = np.asarray(current, np.float64)

    @abstractmethod
    def command(self, targets: Array) -> None:
        """Go on to the next command; ``targets`` (count, joints) is where the joints should then be [rad]."""

    @property
    @abstractmethod
    def centre(self) -> Array:
        """Centre of mass: (count, 2) [m]."""

    @property
    @abstractmethod
    def head(self) -> Array:
        """Angle of the head link: (count,) [rad]."""

    @property
    @abstractmethod
    def angles(self) -> Array:
        """Of the joints: (count, joints) [rad]."""

    @property
    @abstractmethod
    def rates(self) -> Array:
        """Of the joints: (count, joints) [rad/s]."""

    @property
    @abstractmethod
    def velocity(self) -> Array:
        """Of the centre of mass: (count, 2) [m/s]."""

    @property
    @abstractmethod
    def angular_momentum(self) -> Array:
        """About the centre of mass: (count,) [kg*m^2/s]."""

    @property
    @abstractmethod
    def drive(self) -> Array:
        """Mean share of the acceleration the servos wanted that the motors could give: (count,)."""

    @property
    def directions(self) -> Array:
        """Angle of every link: (count, links) [rad]."""
        return link_angles(self.head, self.angles)

    @property
    def centres(self) -> Array:
        """Centre of every link: (count, links, 2) [m]."""
        return link_centres(self.centre, self.directions, self.snake.length)

    @property
    def exploded(self) -> NDArray[np.bool_]:
        """Which simulations are no longer to be trusted: not a number, or faster than any motor: (count,)."""
        sane = np.abs(self.rates).max(axis=1) < 3.0 * self.snake.max_rate
        fastest = self.snake.max_rate * self.snake.arclength
        sane &= np.linalg.norm(self.velocity - self.current, axis=1) < fastest
        return ~(sane & np.isfinite(self.centre).all(axis=1))


def start_centre(snake: Snake) -> Array:
    """Where the centre of mass is when the front of the head is at the origin: (2,) [m]."""
    return np.array([-0.5 * snake.arclength, 0.0])


class FastSwimmers(Swimmers):
    """Bodies whose shape is what their servos make it; no contact."""

    def __init__(self, snake: Snake, count: int, current: Sequence[float] = (0.0, 0.0), threads: int = 1) -> None:
        """As for all `Swimmers`; with ``threads``, so many parts of `swim` run at the same time."""
        super().__init__(snake, count, current)
        self._body, self._threads = snake.record(), threads
        # The model's frame drifts with the water.
        self.state = water.rest(snake.joints, count)
        self.state[water.X], self.state[water.Y] = start_centre(snake)[:, None]
        self.state[water.PX], self.state[water.PY] = -snake.mass * self.current[:, None]
        self.state[water.U], self.state[water.V] = -self.current[:, None]
        self._commands = 0

    def command(self, targets: Array) -> None:
        """Go on to the next command."""
        water.command(self._body, self.state, np.ascontiguousarray(targets.T))
        self._count(1)

    def swim(self, starts: Sequence[float], gaits: Array, seconds: float) -> None:
        """Follow gaits given beforehand, all at full speed.

        Args:
            starts: When each gait begins [s], rising from 0.
            gaits: (gaits, 4, joints, count) amplitude, angular frequency, phase, offset, as in `water.swim`.
            seconds: For how long [s].
        """
        interval = self.snake.interval
        first = np.rint(np.asarray(starts) / interval).astype(np.int64)
        commands = round(seconds / interval)
        parts = np.array_split(np.arange(self.count), min(self._threads, self.count))
        pieces = [np.ascontiguousarray(self.state[:, part]) for part in parts]
        work = [
            (self._body, piece, first, np.ascontiguousarray(gaits[..., part]), commands)
            for piece, part in zip(pieces, parts, strict=True)
        ]
        if len(work) == 1:
            water.swim(*work[0])
        else:
            with ThreadPoolExecutor(len(work)) as pool:
                list(pool.map(lambda arguments: water.swim(*arguments), work))
        self.state = np.concatenate(pieces, axis=1)
        self._count(commands)

    def drive_by(self, simulate: Callable[[Any, Array, int], None], seconds: float) -> None:
        """Let a kernel of its own drive the bodies: called with body, state and number of commands."""
        commands = round(seconds / self.snake.interval)
        simulate(self._body, self.state, commands)
        self._count(commands)

    def copies(self, count: int) -> "FastSwimmers":
        """So many of the first body, as it is now; their time and drive begin anew."""
        others = FastSwimmers(self.snake, count, self.current.tolist(), self._threads)
        others.state = np.repeat(self.state[:, :1], count, axis=1)
        others.state[[water.X, water.Y]] = self.centre[0][:, None]
        others.state[water.DRIVE] = 0.0
        return others

    def _count(self, commands: int) -> None:
        self._commands += commands
        self.time = self._commands * self.snake.interval

    @property
    def centre(self) -> Array:
        """Centre of mass: (count, 2) [m]."""
        return self.state[[water.X, water.Y]].T + self.current * self.time

    @property
    def head(self) -> Array:
        """Angle of the head link: (count,) [rad]."""
        return self.state[water.HEADING]

    @property
    def angles(self) -> Array:
        """Of the joints: (count, joints) [rad]."""
        return self.state[water.FIXED : water.FIXED + self.snake.joints].T

    @property
    def rates(self) -> Array:
        """Of the joints: (count, joints) [rad/s]."""
        return self.state[water.FIXED + self.snake.joints : water.FIXED + 2 * self.snake.joints].T

    @property
    def velocity(self) -> Array:
        """Of the centre of mass: (count, 2) [m/s]."""
        return self.state[[water.PX, water.PY]].T / self.snake.mass + self.current

    @property
    def angular_momentum(self) -> Array:
        """About the centre of mass: (count,) [kg*m^2/s]."""
        return self.state[water.L]

    @property
    def drive(self) -> Array:
        """Mean share of the wanted acceleration that the motors could give: (count,)."""
        return self.state[water.DRIVE] / max(self._commands, 1)

    @property
    def heat(self) -> Array:
        """Energy lost to the water: (count,) [J]."""
        return self.state[water.HEAT]


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
            SandlotError: If the step is too long for this body in this water.
        """
        super().__init__(snake, count, current)
        check_stable(snake)
        water_callback.install()
        model = mujoco.MjModel.from_xml_string(
            mjcf(snake, balls is not None, ball_radius, ball_mass, contact, integrator)
        )
        self._batch = Batch(model, count, threads)
        self._position, self._velocity = self._batch.bind("qpos"), self._batch.bind("qvel")
        self._user = self._batch.bind("userdata")
        body, pull = snake.record(), -1.0
        self._body = body
        if balls is not None:
            self._position[:, -2:] = balls
            pull = ball_drag * math.pi * ball_radius**2
        self._position[:, 0] = -0.5 * snake.length
        motors = (STIFFNESS, snake.max_torque, 0.0, 0.0, 0.0, pull)
        drags = (body["side_drag"], body["end_drag"], body["tip_drag"])
        links = (snake.links, snake.length, *drags, *self.current, snake.link_mass, snake.inertia)
        self._user[:, :FIXED] = (MARK, *links, *motors)
        self._last = np.zeros((count, snake.joints))
        self._lost = np.zeros(count, np.bool_)
        self._commands = 0

    def command(self, targets: Array) -> None:
        """Go on to the next command; what has exploded stays as it is."""
        self._lost |= super().exploded
        snake, joints, user = self.snake, self.snake.joints, self._user
        state = self._plan_state()
        accelerations = np.empty((joints, self.count))
        water.plan(self._body, state, np.ascontiguousarray(targets.T), accelerations)
        self._last = state[water.FIXED + 2 * joints :].T
        user[:, water_callback.SINCE] = self.time
        user[:, water_callback.SHARES] += state[water.DRIVE]
        user[:, water_callback.COMMANDS] += 1.0
        user[:, FIXED : FIXED + joints] = self.angles
        user[:, FIXED + joints : FIXED + 2 * joints] = self.rates
        user[:, FIXED + 2 * joints :] = accelerations.T
        with water_callback.quietly():
            self._batch.step(np.flatnonzero(~self._lost), nstep=snake.substeps)
        self._commands += 1
        self.time = self._commands * snake.interval

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
        return self._user[:, water_callback.SHARES] / np.maximum(self._user[:, water_callback.COMMANDS], 1.0)

    @property
    def exploded(self) -> NDArray[np.bool_]:
        """Which simulations are no longer to be trusted: (count,)."""
        return self._lost | super().exploded

    @property
    def balls(self) -> Array:
        """Where the balls are: (count, 2) [m]."""
        return self._position[:, -2:]

    @property
    def ball_velocity(self) -> Array:
        """Of the balls: (count, 2) [m/s]."""
        return self._velocity[:, -2:]


def check_stable(snake: Snake) -> None:
    """Refuse a step that the reference cannot take.

    Raises:
        SandlotError: With the longest step that would do.
    """
    fastest = max(snake.drag * snake.length * snake.height / snake.link_mass, 2.0 * STIFFNESS)
    longest = 2.0 / fastest
    if snake.step > longest:
        raise SandlotError(
            f"step={snake.step:g} would make the reference unstable: drag and servos act at {fastest:.3g}/s; "
            f"allowed: at most {longest:.2g}"
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
            <size nuserdata="{FIXED + 3 * snake.joints}"/>
            <default><geom friction="0.5 0.005 0.0001" condim="3"/></default>
            <worldbody>{body}</worldbody>
        </mujoco>
    """
