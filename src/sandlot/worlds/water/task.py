"""What goes on in the water, for a number of bodies at once. `Water` is one of them, `WaterVector` many."""

from typing import TYPE_CHECKING

import numpy as np

from sandlot.errors import SandlotError
from sandlot.robots.fast_swimmers import RestartingFast
from sandlot.robots.reference_swimmers import RestartingReference
from sandlot.robots.snake import link_centres
from sandlot.typing import Array, BoolArray, IntArray

if TYPE_CHECKING:
    from sandlot.worlds.water.world import WaterSettings

REACHED = 2.0
"""From the head link's centre to the target: it is reached [m] (section 7.3)."""
TOUCH = 0.05
"""So close to the body, in ball radii, and the ball counts as touched: it may have bounced off between commands."""
DRAWS = 1000
"""To find a place for a target."""


class WaterTask:
    """Bodies, each with a target of its own.

    Attributes:
        swimmers: The bodies.
        marks: (count, 2) where the targets were at the start [m].
        centre: (count, 2) the bodies' centres of mass [m].
        centres: (count, links, 2) the links' centres [m].
        directions: (count, links) the links' angles [rad].
        reached: (count,) which heads are at their targets.
        exploded: (count,) which simulations are no longer to be trusted.
        touched: (count,) which bodies have touched their ball.
        arrived: (count,) which have had their head at the target.
        arrival: (count, 5) time [s], centre of mass [m], mean direction of the links [rad] and drive, when that was.
    """

    def __init__(self, settings: "WaterSettings", count: int = 1, threads: int = 1) -> None:
        """Make the bodies; `restart` puts them into the water.

        Args:
            settings: Of the world.
            count: How many bodies.
            threads: At ``reference``, how many move at the same time.

        Raises:
            SandlotError: If the step is too long for the reference, or for its ball, or a target has no place.
        """
        self.settings, self.count = settings, count
        self.swimmers: RestartingFast | RestartingReference
        if settings.fidelity == "fast":
            self.swimmers = RestartingFast(settings.snake, count, settings.current)
        else:
            ball = {each: getattr(settings, each) for each in ("ball_radius", "ball_mass", "ball_drag")}
            self.swimmers = RestartingReference(settings.snake, count, settings.current, threads=threads, **ball)
        self.marks, self.arrival = np.zeros((count, 2)), np.zeros((count, 5))
        self.touched, self.arrived = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
        self._potential = np.zeros(count)
        self._destination = np.asarray(settings.destination)
        self._destinations = np.tile(self._destination, (count, 1))
        if settings.target is None:
            self.draw(np.random.default_rng(0))
        else:
            self.check(np.asarray(settings.target))

    def draw(self, rng: np.random.Generator) -> Array:
        """A target that neither overlaps the straight body nor is reached already: (2,) [m]."""
        most = self.settings.distance
        for _ in range(DRAWS):
            radius, angle = most * np.sqrt(rng.uniform()), rng.uniform(0.0, 2.0 * np.pi)
            target = self._destination + radius * np.array([np.cos(angle), np.sin(angle)])
            head = np.array([-0.5 * self.settings.snake.length, 0.0])
            if self._room(target) > 0.0 and np.linalg.norm(target - head) > REACHED:
                return target
        raise SandlotError(f"distance={most:g} leaves no room for a target beside the body; allowed: more")

    def check(self, target: object) -> Array:
        """Refuse a target that is not a point or, at ``reference``, would lie inside the straight body.

        Raises:
            SandlotError: If it is so.
        """
        try:
            mark = np.asarray(target, np.float64)
        except (TypeError, ValueError):
            mark = np.empty(0)
        if mark.shape != (2,) or not np.isfinite(mark).all():
            said = target.tolist() if isinstance(target, np.ndarray) else target
            raise SandlotError(f"target={said} is not possible; allowed: x, y [m]")
        room = self._room(mark)
        if self.settings.fidelity == "reference" and room <= 0.0:
            x, y = mark
            raise SandlotError(f"target=[{x:g}, {y:g}] lies inside the body; allowed: {-room:.2g} m further away")
        return mark

    def _room(self, target: Array) -> float:
        """Between a ball there and the straight body [m]."""
        snake = self.settings.snake
        beyond = max(-snake.arclength - target[0], target[0], 0.0)
        beside = max(abs(target[1]) - 0.5 * snake.width, 0.0)
        return float(np.hypot(beyond, beside)) - self.settings.ball_radius

    def restart(self, which: IntArray, marks: Array) -> None:
        """Put these bodies back to the start, with targets at ``marks`` (which, 2) [m]."""
        self.marks[which], self.touched[which], self.arrived[which] = marks, False, False
        if isinstance(self.swimmers, RestartingReference):
            self.swimmers.restart(which, marks)
        else:
            self.swimmers.restart(which)
        self._look()
        self._potential = self._potential.copy()
        self._potential[which] = self._distances()[which]

    def command(self, targets: Array) -> Array:
        """Go on to the next command; ``targets`` (count, joints) [rad]. Gives the rewards, (count,) [m].

        What explodes has no reward: where it is says nothing.
        """
        self.swimmers.command(targets)
        self._look()
        before, self._potential = self._potential, np.where(self.exploded, self._potential, self._distances())
        return before - self._potential

    def _look(self) -> None:
        """Bring up to date what is derived from the bodies; some of it is costly, so it is done once."""
        swimmers = self.swimmers
        self.centre, self.directions, self.exploded = swimmers.centre, swimmers.directions, swimmers.exploded
        self.centres = link_centres(self.centre, self.directions, swimmers.snake.length)
        self._to_target = _length(self.centres[:, 0] - self.targets)
        self.reached = self._to_target <= REACHED
        new = self.reached & ~self.arrived
        if new.any():
            self.arrival[new] = self.progress()[new]
            self.arrived |= new
        if isinstance(swimmers, RestartingReference):
            self.touched |= self._gaps() <= TOUCH * self.settings.ball_radius

    def _gaps(self) -> Array:
        """Between every body and its ball: (count,) [m]."""
        away = self.targets[:, None] - self.centres
        c, s = np.cos(self.directions), np.sin(self.directions)
        snake = self.settings.snake
        along = np.abs(away[..., 0] * c + away[..., 1] * s) - 0.5 * snake.length
        across = np.abs(away[..., 1] * c - away[..., 0] * s) - 0.5 * snake.width
        nearest = np.hypot(np.maximum(along, 0.0), np.maximum(across, 0.0)).min(axis=1)
        return nearest - self.settings.ball_radius

    def _distances(self) -> Array:
        if self.settings.fidelity == "fast":
            return self._to_target
        return self._to_target + _length(self.targets - self._destination)

    @property
    def targets(self) -> Array:
        """Where the balls, or the marks, are: (count, 2) [m]."""
        return self.swimmers.balls if isinstance(self.swimmers, RestartingReference) else self.marks

    @property
    def in_region(self) -> BoolArray:
        """Which balls are where they should go: (count,)."""
        return _length(self.targets - self._destination) <= self.settings.region

    @property
    def delivered(self) -> BoolArray:
        """Which balls are where they should go, with the snake, having touched them, clear of them: (count,)."""
        clear = self.settings.ball_radius + 2.0 * self.settings.snake.length
        nearest = _length(self.centres - self.targets[:, None]).min(axis=1)
        return self.in_region & self.touched & (nearest > clear)

    @property
    def done(self) -> BoolArray:
        """Which bodies have done what they should: (count,)."""
        return self.delivered if self.settings.fidelity == "reference" else self.reached

    def progress(self) -> Array:
        """Time [s], centre of mass [m], mean direction of the links [rad] and drive: (count, 5)."""
        swimmers = self.swimmers
        return np.column_stack([swimmers.time, self.centre, self.directions.mean(axis=1), swimmers.drive])

    def observe(self) -> Array:
        """What the bodies know, as `Water` describes it: (count, 8 + 2 joints)."""
        swimmers = self.swimmers
        fixed = (swimmers.time[:, None], self.centre, swimmers.head[:, None], self.targets, self._destinations)
        return np.concatenate((*fixed, swimmers.angles, swimmers.rates), axis=1)


def _length(vectors: Array) -> Array:
    return np.sqrt(vectors[..., 0] ** 2 + vectors[..., 1] ** 2)
