"""The eight situations of figure 25 in which a robot gets stuck, and robots that are handed over there."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sandlot.control.climbing.neural import ROWS
from sandlot.control.climbing.reactive import Reactive
from sandlot.control.controller import Action, Controller, Observation
from sandlot.places.course_kinds import Box, Kind, Stairs, Step
from sandlot.robots.climber import Climber
from sandlot.studies.obstacles.ladder import make_controller
from sandlot.typing import BoolArray


@dataclass(frozen=True)
class Situation:
    """Where a robot gets stuck.

    Attributes:
        text: What it is.
        kinds: Courses on which it may happen.
        perception: How the robots know the ground.
        part: It counts if the middle of the body is on the ``last`` tread of stairs or beyond, or before it on their
            ``rest``, or anywhere: ``all``.
    """

    text: str
    kinds: tuple[Kind, ...]
    perception: Literal["exact", "laser"] = "exact"
    part: Literal["all", "last", "rest"] = "all"

    def counts(self, kind: Kind, ahead: float) -> bool:
        """Whether a robot that is stuck so far beyond the beginning of its obstacle [m] is in this situation."""
        if self.part == "all" or not isinstance(kind, Stairs):
            return True
        return (ahead > kind.tread * (kind.steps - 2)) == (self.part == "last")


def stairs(
    treads: Iterable[float], angles: Iterable[float], way: Literal["up", "down"] = "up", times: int = 1
) -> tuple[Kind, ...]:
    """Stairs of all treads [m] and angles [deg], each so many times."""
    return tuple(
        Stairs(distance=1.0, tread=tread, angle=math.radians(angle), way=way)
        for tread in treads
        for angle in angles
        for _ in range(times)
    )


def boxes(depths: Iterable[float], heights: Iterable[float]) -> tuple[Kind, ...]:
    """Boxes of all depths and heights [m]."""
    return tuple(Box(distance=1.0, depth=depth, height=float(height)) for depth in depths for height in heights)


SEEN = tuple(
    kind
    for tread, steepest in ((0.2, 39), (0.25, 36), (0.3, 33))
    for kind in stairs([tread], range(24, steepest + 1), times=2)
)
"""Stairs that the reactive controller climbs if it knows the ground exactly."""
SITUATIONS = {
    "a": Situation("climbing a box", boxes((0.6, 0.8, 1.0), np.arange(0.28, 0.37, 0.01))),
    "b": Situation("on a narrow box", boxes((0.08, 0.1, 0.12, 0.15), np.arange(0.1, 0.37, 0.02))),
    "c": Situation("descending a box", tuple(Step(distance=1.0, height=-0.02 * k) for k in range(5, 26))),
    "d": Situation("descending the first stair", stairs((0.2, 0.25, 0.3, 0.4), np.arange(25.0, 51.0, 2.5), "down")),
    "e": Situation("climbing the last stair", SEEN, "laser", "last"),
    "f": Situation("inaccurate elevation", SEEN, "laser", "rest"),
    "g": Situation("slipping in steep stairs", stairs((0.1, 0.15, 0.2), range(42, 55))),
    "h": Situation("treads deeper than the robot", stairs((0.4, 0.5, 0.6, 0.7), np.arange(10.0, 32.0, 2.0))),
}
"""By their letters in the figure."""


class Handover(Controller):
    """The reactive controller, and another one that takes robots over.

    Attributes:
        taken: (members,) which are in the hands of the other one.
    """

    def __init__(self, climber: Climber, name: str) -> None:
        """Begin with `reset`.

        Args:
            climber: The robot.
            name: Of the other controller, one of `sandlot.studies.obstacles.ladder.CONTROLLERS`.
        """
        self._first, self._second = Reactive(climber, ROWS), make_controller(name, climber, ROWS)
        # Those that remember the ground or their own commands watch from the start; one that learns from what its
        # commands do must not.
        self._watches = name != "reinforced"

    def reset(self, seeds: Sequence[np.random.SeedSequence], members: Sequence[int] | None = None) -> None:
        """Begin new episodes, in the hands of the reactive controller."""
        for each in (self._first, self._second):
            each.reset(seeds, members)
        if members is None:
            self.taken, self._seeds = np.zeros(len(seeds), np.bool_), list(seeds)
        else:
            self.taken[list(members)] = False

    def take(self, which: BoolArray) -> None:
        """Hand robots over: (members,)."""
        members = np.flatnonzero(which & ~self.taken).tolist()
        if members and not self._watches:
            self._second.reset([self._seeds[k] for k in members], members)
        self.taken[members] = True

    def act(self, observations: Observation, members: Sequence[int] | None = None) -> Action:
        """(n, 4) angles of the front and the rear axle [rad], speeds of the left and the right belts [m/s]."""
        who = np.arange(len(observations)) if members is None else np.asarray(members)
        actions = self._first.act(observations, members)
        mask = np.ones(len(who), np.bool_) if self._watches else self.taken[who]
        if mask.any():
            other = actions.copy()
            other[mask] = self._second.act(observations[mask], who[mask].tolist())
            actions = np.where(self.taken[who][:, None], other, actions)
        return actions
