"""Swimming snakes in the reduced model of `sandlot.physics.swimming.water`, and such that start anew one by one."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from sandlot.physics.swimming import water
from sandlot.robots.snake import Snake
from sandlot.robots.swimmers import Swimmers, start_centre
from sandlot.typing import Array, IntArray


class FastSwimmers(Swimmers):
    """Bodies whose shape is what their servos make it; no contact.

    They cannot gain energy from the integrator: rates of joints are bounded, and a step takes from the rest what drag
    does, whatever its length. So what `exploded` looks for besides is not looked for here.
    """

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
        self._check(targets)
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
        """So many of the first body, as it is now; their time, drive and heat begin anew."""
        others = FastSwimmers(self.snake, count, self.current.tolist(), self._threads)
        others.state = np.repeat(self.state[:, :1], count, axis=1)
        others.state[[water.X, water.Y]] = self.centre[0][:, None]
        others.state[[water.DRIVE, water.HEAT]] = 0.0
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


class RestartingFast(FastSwimmers):
    """As `FastSwimmers`, but each can start anew while the others go on: ``time`` is (count,) [s]."""

    time: Any
    _commands: Any

    def __init__(self, snake: Snake, count: int, current: Sequence[float] = (0.0, 0.0)) -> None:
        super().__init__(snake, count, current)
        self._start = self.state.copy()
        self._commands, self.time = np.zeros(count, np.int64), np.zeros(count)

    def restart(self, which: IntArray) -> None:
        """Put these back to where they began, straight and at rest."""
        self.state[:, which] = self._start[:, which]
        self._commands[which], self.time[which] = 0, 0.0

    @property
    def centre(self) -> Array:
        """Centre of mass: (count, 2) [m]."""
        return self.state[[water.X, water.Y]].T + self.current * self.time[:, None]

    @property
    def drive(self) -> Array:
        """Mean share of the wanted acceleration that the motors could give: (count,)."""
        return self.state[water.DRIVE] / np.maximum(self._commands, 1)
