"""Swimming snakes in the fast model of `sandlot.physics.swimming.chain`."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from sandlot.physics.swimming import chain, rows
from sandlot.robots.snake import Snake
from sandlot.robots.swimmers import Swimmers, start_centre
from sandlot.typing import Array, BoolArray, IntArray


class FastSwimmers(Swimmers):
    """Bodies in the compiled model: no contact, and balls are marks.

    Hinges and drag only remove energy, so that the integrator adds none, and `exploded` does not check energy here.
    """

    def __init__(
        self,
        snake: Snake,
        count: int,
        current: Sequence[float] = (0.0, 0.0),
        balls: Array | None = None,
        threads: int = 1,
    ) -> None:
        """Make the bodies.

        Args:
            snake: Their body.
            count: How many.
            current: Velocity of the water [m/s].
            balls: (count, 2) where the balls are [m]; none if left out.
            threads: `swim` uses this many.
        """
        super().__init__(snake, count, current, balls)
        self._body, self._threads = snake.record(), threads
        # The model's frame drifts with the water.
        start = rows.rest(snake.joints, 1)
        start[[rows.X, rows.Y], 0] = start_centre(snake)
        start[rows.velocities(snake.joints), 0] = np.repeat([*-self.current, 0.0], snake.links)
        self._start, self.state = start, np.repeat(start, count, axis=1)
        self._start_balls = np.zeros((count, 2)) if balls is None else np.array(balls, np.float64)
        self._balls = self._start_balls.copy()

    def command(self, targets: Array, running: BoolArray | None = None) -> None:
        """Simulate until the next command."""
        self._check(targets)
        if running is None or running.all():
            chain.command(self._body, self.state, np.ascontiguousarray(targets.T))
            self._commands += 1
        else:
            some = np.ascontiguousarray(self.state[:, running])
            chain.command(self._body, some, np.ascontiguousarray(targets[running].T))
            self.state[:, running] = some
            self._commands += running

    def swim(self, starts: Sequence[float], gaits: Array, seconds: float) -> None:
        """Follow gaits that are known in advance, in one call of the compiled model.

        Args:
            starts: When each gait begins [s], ascending from 0.
            gaits: (gaits, 4, joints, count) amplitude, angular frequency, phase, offset, as in `chain.swim`.
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
            chain.swim(*work[0])
        else:
            with ThreadPoolExecutor(len(work)) as pool:
                list(pool.map(lambda arguments: chain.swim(*arguments), work))
        self.state = np.concatenate(pieces, axis=1)
        self._commands += commands

    def drive_by(self, simulate: Callable[[Any, Array, int], None], seconds: float) -> None:
        """Let another compiled function drive the bodies: it is called with body, state and number of commands."""
        commands = round(seconds / self.snake.interval)
        simulate(self._body, self.state, commands)
        self._commands += commands

    def restart(self, which: IntArray, balls: Array | None = None) -> None:
        """Put some bodies back to their start, while the others go on."""
        self.state[:, which] = self._start
        self._commands[which] = 0
        self._balls[which] = self._start_balls[which] if balls is None else balls

    def copies(self, count: int) -> "FastSwimmers":
        """Copies of the first body in its present state; their time, drive and heat begin at 0."""
        others = FastSwimmers(self.snake, count, self.current.tolist(), threads=self._threads)
        others.state = np.repeat(self.state[:, :1], count, axis=1)
        others.state[[rows.X, rows.Y]] = self.centre[0][:, None]
        others.state[[rows.DRIVE, rows.HEAT]] = 0.0
        return others

    @property
    def _ball_positions(self) -> Array:
        return self._balls

    @property
    def centre(self) -> Array:
        """Centre of mass: (count, 2) [m]."""
        return (self.state[[rows.X, rows.Y]] + self.current[:, None] * self.time).T

    @property
    def head(self) -> Array:
        """Yaw of the head link: (count,) [rad]."""
        return self.state[rows.YAW]

    @property
    def angles(self) -> Array:
        """Joint angles, from the head on: (count, joints) [rad]."""
        return self.state[rows.joint_angles(self.snake.joints)].T

    @property
    def rates(self) -> Array:
        """Joint rates, from the head on: (count, joints) [rad/s]."""
        return -np.diff(self._velocities[2], axis=0).T

    @property
    def _velocities(self) -> Array:
        """Velocities of the links through the water and their yaw rates: (3, links, count) [m/s, m/s, rad/s]."""
        return self.state[rows.velocities(self.snake.joints)].reshape(3, self.snake.links, self.count)

    @property
    def velocity(self) -> Array:
        """Of the centre of mass: (count, 2) [m/s]."""
        return self._velocities[:2].mean(axis=1).T + self.current

    @property
    def angular_momentum(self) -> Array:
        """About the centre of mass: (count,) [kg*m^2/s]."""
        return self.state[rows.ANGULAR_MOMENTUM]

    @property
    def _drive_sum(self) -> Array:
        return self.state[rows.DRIVE]

    @property
    def heat(self) -> Array:
        """Energy lost to the water since the start: (count,) [J]."""
        return self.state[rows.HEAT]
