"""State and rules of the avoid world for a number of rovers. `Avoid` has one of them, `AvoidVector` many."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandlot.places.situations import KINDS
from sandlot.robots.tracked_rover import substeps
from sandlot.typing import Array, BoolArray, IntArray
from sandlot.worlds.avoid.moves import (
    COLLIDED,
    LATE,
    REACHED,
    REWARDS,
    RUNNING,
    Rovers,
    Rules,
    make_fan,
    make_rovers,
    move,
    restart,
)
from sandlot.worlds.avoid.settings import AvoidSettings

PIECES = 8
"""An exact move forward is checked for collisions in so many pieces."""


def make_rules(settings: AvoidSettings) -> Rules:
    """The settings for compiled code."""
    rover, slips = settings.robot, settings.fidelity == "reference"
    speed, rate = settings.stride / settings.interval, settings.turn / settings.interval
    commands = np.array([(speed, 0.0), (-speed, 0.0), (0.0, -rate), (0.0, rate)])
    return Rules(
        slips,
        settings.stride,
        settings.turn,
        np.clip(rover.tracks(commands), -rover.top_speed, rover.top_speed),
        rover.radius,
        settings.reach,
        settings.noise if slips else 0.0,
        settings.near,
        settings.longest,
        REWARDS.index(settings.reward),
        settings.exponent,
        settings.prize,
        make_fan(settings.lines),
        rover.motion(settings.interval / substeps(rover, settings.interval)),
        rover.grip,
    )


def one_rover(settings: AvoidSettings, count: int = 1) -> Rovers:
    """Room for so many rovers; `restart` begins their episodes."""
    steps = substeps(settings.robot, settings.interval) if settings.fidelity == "reference" else PIECES
    return make_rovers(count, settings.lines, steps)


class AvoidTask:
    """Rovers, each in its own situation.

    Attributes:
        settings: Of the world.
        rovers: Their state.
        lengths: (count,) path length of each so far [m].
        bearings: (lines,) directions of the vision lines [rad].
    """

    def __init__(self, settings: AvoidSettings, count: int = 1) -> None:
        """Make the rovers; `restart` begins their episodes."""
        self.settings, self.count = settings, count
        self.rovers, self.rules = one_rover(settings, count), make_rules(settings)
        self.lengths = np.zeros(count)
        across, up = self.rules.fan.directions
        self.bearings = np.arctan2(up, across)

    def restart(self, which: IntArray, rng: Sequence[np.random.Generator]) -> None:
        """Draw new situations for some rovers; each has its own generator."""
        named = self.settings.situation
        kinds = [int(each.integers(len(KINDS))) if named == "mixed" else KINDS.index(named) for each in rng]
        self.rovers.states["stream"][which] = [int(each.integers(2**64, dtype=np.uint64)) for each in rng]
        restart(self.rovers, which, np.array(kinds, np.int64), self.rules)
        self.lengths[which] = 0.0

    def move(self, actions: NDArray[Any], running: BoolArray) -> Array:
        """Let those that are running make their moves (count,); returns the rewards (count,)."""
        which = np.flatnonzero(running)
        move(self.rovers, which, actions[which].astype(np.int64), self.rules)
        steps = np.diff(self.rovers.traces[which, :, :2], axis=1)
        self.lengths[which] += np.hypot(steps[..., 0], steps[..., 1]).sum(axis=1)
        return np.where(running, self.rovers.rewards, 0.0)

    @property
    def poses(self) -> Array:
        """True poses: (count, 3) x, y [m], yaw [rad]."""
        states = self.rovers.states
        return np.stack([states["x"], states["y"], states["yaw"]], axis=-1)

    @property
    def time(self) -> Array:
        """Since the start: (count,) [s]."""
        return self.rovers.moves.astype(np.float64) * self.settings.interval

    def observe(self) -> NDArray[np.float32]:
        """Observations, as `Avoid` describes them: (count, 4 + lines)."""
        return self.rovers.seen.astype(np.float32)

    def ends(self) -> tuple[BoolArray, BoolArray]:
        """Which rovers have come to an end of their episode; none is cut off: (count,) each."""
        return self.rovers.endings != RUNNING, np.zeros(self.count, np.bool_)

    def values(self) -> Mapping[str, NDArray[Any]]:
        """What ``info`` holds: (count,) each."""
        endings = self.rovers.endings
        return {
            "time": self.time,
            "distance": self.rovers.distances.copy(),
            "reached": endings == REACHED,
            "collided": endings == COLLIDED,
            "late": endings == LATE,
            "is_success": endings == REACHED,
        }

    def outcomes(self) -> dict[str, Array]:
        """Results so far, as `Avoid` names them: (count,) each."""
        rovers = self.rovers
        return {
            "reached": (rovers.endings == REACHED).astype(np.float64),
            "collided": (rovers.endings == COLLIDED).astype(np.float64),
            "moves": rovers.moves.astype(np.float64),
            "path_length": self.lengths.copy(),
            "distance": rovers.distances.copy(),
        }
