"""Gaits of a swimming snake: waves that travel along its body, and schedules of such gaits.

The command of joint i, counted from the head, is ``amplitude sin(2 pi frequency t - i phase) + veer`` (Draschwandtner
2015, equation 3.4, after Hirose and Saito). A pose is a gait without a wave; a schedule is a sequence of gaits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from sandlot.control.controller import Controller, Observation
from sandlot.errors import SandlotError
from sandlot.robots.snake import Snake
from sandlot.settings import Settings
from sandlot.typing import Array

Each = float | tuple[float, ...]
"""One value for all joints, or one for each."""


class Gait(Settings):
    """A wave along the body; every parameter is one value for all joints, or one for each, from the head on.

    Attributes:
        amplitude: [rad]
        frequency: [Hz]
        phase: Lag of a joint behind the one before it [rad]; a negative one swims backwards.
        veer: Added to every joint [rad]; positive turns to the left.
        lag: Additional lag of a joint [rad], for waves that do not start at the head.
    """

    amplitude: Each = 0.0
    frequency: Each = 0.0
    phase: Each = 0.0
    veer: Each = 0.0
    lag: Each = 0.0

    def waves(self, joints: int) -> Array:
        """Amplitude [rad], angular frequency [rad/s], phase [rad] and offset [rad] of every joint: (4, joints).

        Raises:
            SandlotError: If a parameter has values for another number of joints.
        """
        rows = []
        for name in ("amplitude", "frequency", "phase", "veer", "lag"):
            value = np.atleast_1d(np.asarray(getattr(self, name), np.float64))
            if value.size not in (1, joints):
                raise SandlotError(f"{name} has {value.size} values; this body has {joints} joints: give 1 or {joints}")
            rows.append(np.broadcast_to(value, joints))
        amplitude, frequency, phase, veer, lag = rows
        return np.stack([amplitude, 2.0 * np.pi * frequency, np.arange(joints) * phase + lag, veer])

    def targets(self, time: float, joints: int) -> Array:
        """Target angles of the joints at ``time``: (joints,) [rad]."""
        amplitude, frequency, phase, veer = self.waves(joints)
        return amplitude * np.sin(frequency * time - phase) + veer

    def reversed(self) -> Self:
        """The same wave from tail to head, which swims backwards."""
        return self.model_copy(update={name: _each(-np.asarray(getattr(self, name))) for name in ("phase", "lag")})

    def later(self, seconds: float) -> Self:
        """The same wave, begun ``seconds`` later [s]."""
        lag = np.asarray(self.lag) + 2.0 * np.pi * np.asarray(self.frequency) * seconds
        return self.model_copy(update={"lag": _each(lag)})

    def veering(self, veer: float) -> Self:
        """The same wave, bent to the left by ``veer`` [rad] at every joint."""
        return self.model_copy(update={"veer": veer})

    def one(self, name: str) -> float:
        """A parameter that has one value for all joints.

        Raises:
            SandlotError: If it has several.
        """
        value = np.atleast_1d(np.asarray(getattr(self, name), np.float64))
        if value.size != 1:
            raise SandlotError(f"{name} has {value.size} values; allowed here: one for all joints")
        return float(value[0])

    def beat(self) -> float:
        """Frequency of a travelling wave, one for all joints [Hz].

        Raises:
            SandlotError: If there are several frequencies, or it is not positive.
        """
        frequency = self.one("frequency")
        if not frequency > 0.0:
            raise SandlotError(f"frequency={frequency:g} is not possible here; allowed: a number above 0")
        return frequency


def _each(values: Array) -> Each:
    return tuple(values.tolist()) if values.ndim else float(values)


STRAIGHT = Gait()
"""All joints at zero: the body is straight and drifts."""


def pose(angles: ArrayLike) -> Gait:
    """The body held in a shape; ``angles`` (joints,) [rad]."""
    return Gait(veer=tuple(np.asarray(angles, np.float64).tolist()))


def spin(gait: Gait, joints: int, left: bool = True) -> Gait:
    """Rotate on the spot (equations 3.6 and 3.7): waves travel from the middle to both ends, bent to opposite sides.

    The equations count joints from 1 to n. The source calls n the number of links, but only with the number of joints
    are both halves of the body equal, as its figure 3.11 shows them; otherwise the centre of mass does not stay.

    Args:
        gait: Amplitude, frequency, phase and veer, one value each.
        joints: Number of joints of the body.
        left: Counter-clockwise.

    Raises:
        SandlotError: If the gait has no travelling wave, or different values for different joints.
    """
    phase, veer, i = gait.one("phase"), gait.one("veer"), np.arange(1, joints + 1)
    gait.beat()
    front = i <= joints / 2
    steps = np.where(front, i - joints / 2, joints / 2 + 1 - i)
    side = np.where(front, -1.0, 1.0) * (1.0 if left else -1.0)
    # Equation 3.4 subtracts the steps; then waves would travel from the ends to the middle, contrary to the text.
    return gait.model_copy(update={"phase": 0.0, "lag": _each(-steps * phase), "veer": _each(side * veer)})


class Plan(Protocol):
    """Target angles that are known beforehand."""

    def targets(self, time: float, snake: Snake) -> Array:
        """Target angles of the joints at ``time``: (joints,) [rad]."""
        ...


class GaitController(Controller):
    """A gait as a controller of the water world; it needs no memory and no seed."""

    def __init__(self, gait: Gait, snake: Snake) -> None:
        """Take a gait and the body that swims with it.

        Raises:
            SandlotError: If the gait has parameters for another number of joints.
        """
        self.gait, self.snake = gait, snake
        self._waves = gait.waves(snake.joints)

    def reset(self, seeds: Sequence[np.random.SeedSequence], members: Sequence[int] | None = None) -> None:
        """Begin new episodes: nothing to do, as the time is in the observation."""

    def act(self, observations: Observation, members: Sequence[int] | None = None) -> Array:
        """Target angles of the joints at the next command: (n, joints) [rad]."""
        amplitude, frequency, phase, veer = self._waves
        targets = amplitude * np.sin(frequency * (observations[:, :1] + self.snake.interval) - phase) + veer
        return np.clip(targets, -self.snake.max_angle, self.snake.max_angle)


@dataclass(frozen=True)
class Schedule:
    """A sequence of gaits; their clocks all start at 0, unless they are `Gait.later`.

    Attributes:
        starts: When each gait begins [s], increasing from 0; it begins at the nearest command.
        gaits: As many as starts.
    """

    starts: tuple[float, ...]
    gaits: tuple[Gait, ...]

    def waves(self, joints: int) -> Array:
        """The parameters of `Gait.waves` for each gait: (gaits, 4, joints)."""
        return np.stack([gait.waves(joints) for gait in self.gaits])

    def targets(self, time: float, snake: Snake) -> Array:
        """Target angles of the joints at ``time``: (joints,) [rad]."""
        # A gait that begins at this command gives the targets of the next one, as in the compiled `swim`.
        now = round(time / snake.interval)
        began = max(k for k, start in enumerate(self.starts) if round(start / snake.interval) < now or k == 0)
        return self.gaits[began].targets(time, snake.joints)


def fold(start: ArrayLike, end: ArrayLike, seconds: float, every: float, at: float = 0.0) -> Schedule:
    """Interpolate linearly from one pose to another; angles (joints,) [rad], times [s]."""
    a, b = np.asarray(start, np.float64), np.asarray(end, np.float64)
    count = max(round(seconds / every), 1)
    starts = tuple(at + k * every for k in range(count))
    return Schedule(starts, tuple(pose(a + (b - a) * (k + 1) / count) for k in range(count)))


def then(*parts: Schedule) -> Schedule:
    """Concatenate schedules; each keeps its own starting times."""
    return Schedule(sum((p.starts for p in parts), ()), sum((p.gaits for p in parts), ()))


def square_head(joints: int) -> Array:
    """The square head of section 7.8: (joints,) [rad]; joints 8 and on are straight."""
    return _head(joints, {1: -90.0, 3: -90.0, 5: -90.0, 7: 45.0})


def round_head(joints: int) -> Array:
    """The circular head of section 7.8: (joints,) [rad]; joints 8 and on are straight."""
    return _head(joints, {**dict.fromkeys(range(7), -360.0 / 7.0), 7: 45.0})


def _head(joints: int, degrees: dict[int, float]) -> Array:
    if joints < 10:
        raise SandlotError(f"a head is folded from 8 joints, and more must be left to swim; this body has {joints}")
    angles = np.zeros(joints)
    for joint, angle in degrees.items():
        angles[joint] = np.radians(angle)
    return angles


def grasp_poses(joints: int, grasping: int, left: bool = True) -> Sequence[Array]:
    """The poses of algorithm 3.1: a circle of the whole body, then smaller ones, until ``grasping`` joints hold.

    The source describes two versions; this is the one it uses, in which the head end holds (links 0 to ``grasping``).

    Args:
        joints: Number of joints of the body.
        grasping: Number of joints that hold in the end, with one more link around the object.
        left: Whether the head bends to the left around the object.

    Returns:
        (joints,) [rad] of every pose, the circle first.

    Raises:
        SandlotError: If there are fewer joints than that, or so few that they would have to bend beyond 90 deg.
    """
    if joints <= 3:
        raise SandlotError(f"a ball is held by at least 3 of at least 4 joints; this body has {joints}")
    if not 3 <= grasping < joints:
        raise SandlotError(
            f"{grasping} grasping joints are not possible with {joints} joints; allowed: 3 to {joints - 1}"
        )
    poses = []
    for holding in range(joints, grasping - 1, -1):
        angles = np.zeros(joints)
        angles[:holding] = 2.0 * np.pi / (holding + 1) * (1.0 if left else -1.0)
        poses.append(angles)
    return poses
