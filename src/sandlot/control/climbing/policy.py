"""A climber that was trained: a small net that runs for many robots at once.

A net can lead a robot into a cycle: the same shapes again and again, without getting further. Training draws actions at
random around those of the net, and so leaves such cycles. A robot that comes no further does the same here.

The world's map begins at the middle of the body. The controller remembers what lies behind, moved by the velocities
that it observes. `sandlot.control.climbing.senses` defines the inputs and outputs of the net, which is a model of kind
``dense``.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sandlot.control.climbing.senses import (
    ACTIONS,
    AHEAD,
    AXLES,
    BEHIND,
    CELL,
    FEATURES,
    FORWARD,
    SPEED,
    UP,
    sense,
    steer,
)
from sandlot.control.climbing.sight import STATES, split
from sandlot.control.controller import Action, Controller, Observation
from sandlot.errors import ModelError
from sandlot.kernels import kernel
from sandlot.mapping.elevation_map import CELL as FINE
from sandlot.models.dense import Dense, forward, load_dense
from sandlot.robots.climbers import INTERVAL
from sandlot.typing import Array, IntArray

SHIPPED = Path(__file__).parent / "trained"
"""The policy that comes with the package; ``sandlot train climber`` made it."""
POOL = round(CELL / FINE)
"""Cells of the map in one of the profile."""
HALTED = 2.0
"""A robot that came no further for so long varies its actions [s]."""
PROGRESS = 0.02
"""Distance that counts as further [m]."""
DEVIATION, HOLD = 0.2, 5
"""Standard deviation of varied actions, and for how many commands a variation is kept."""


@kernel(error_model="numpy", allocates=False)
def remember(maps: Array, members: IntArray, ahead: Array, moved: IntArray, climbed: Array, profile: Array) -> None:
    """Move the maps of robots on and read their profiles.

    Args:
        maps: (robots, (BEHIND + AHEAD) * POOL) heights above the middle of the body, from far behind on [m]; changed in
            place.
        members: (n,) which robots.
        ahead: (n, cells) the world's map [m].
        moved: (n,) cells that each robot advanced.
        climbed: (n,) height that it gained [m].
        profile: (n, BEHIND + AHEAD) the highest of each `POOL` cells [m], written here.
    """
    behind, total = BEHIND * POOL, (BEHIND + AHEAD) * POOL
    for row in range(len(members)):
        own, step = maps[members[row]], moved[row]
        # The order of copying is that in which no cell is overwritten before it is read.
        for k in range(total):
            to = k if step >= 0 else total - 1 - k
            own[to] = own[min(max(to + step, 0), total - 1)] - climbed[row]
        for k in range(behind, total):
            own[k] = ahead[row, min(k - behind, ahead.shape[1] - 1)]
        for cell in range(BEHIND + AHEAD):
            highest = own[cell * POOL]
            for k in range(cell * POOL + 1, (cell + 1) * POOL):
                highest = max(highest, own[k])
            profile[row, cell] = highest


class ClimbPolicy(Controller):
    """A trained climber."""

    def __init__(self, net: Dense, rows: int = 1) -> None:
        """Take the net.

        Args:
            net: With the inputs and outputs of `sandlot.control.climbing.senses`.
            rows: Of the world's map; it uses the middle one, which is straight ahead.

        Raises:
            ModelError: If it has other inputs or outputs than a climber.
        """
        if (net.sizes[0], net.sizes[-1]) != (FEATURES, ACTIONS):
            raise ModelError(
                f"a net with {net.sizes[0]} inputs and {net.sizes[-1]} outputs is not a climber; "
                f"it has {FEATURES} inputs and {ACTIONS} outputs"
            )
        self._net, self._rows = net, rows
        self._make(0)

    def _make(self, count: int) -> None:
        self._fresh = np.ones(count, np.bool_)
        self._maps = np.zeros((count, (BEHIND + AHEAD) * POOL))
        self._targets, self._speeds = np.zeros((count, 2)), np.zeros(count)
        self._velocity, self._left = np.zeros((count, 2)), np.zeros(count)
        self._travelled, self._furthest = np.zeros(count), np.zeros(count)
        self._waited, self._varied = np.zeros(count, np.int64), np.zeros((count, ACTIONS))
        self._rngs: list[np.random.Generator] = []

    def reset(self, seeds: Sequence[np.random.SeedSequence], members: Sequence[int] | None = None) -> None:
        """Begin new episodes."""
        rngs = [np.random.default_rng(seed) for seed in seeds]
        if members is None:
            self._make(len(seeds))
            self._rngs = rngs
            return
        self._fresh[list(members)] = True
        for member, rng in zip(members, rngs, strict=True):
            self._rngs[member] = rng

    def act(self, observations: Observation, members: Sequence[int] | None = None) -> Action:
        """Front and rear axle angle [rad], left and right belt speed [m/s]: (n, 4)."""
        rows = np.asarray(observations, np.float64)
        who = np.arange(len(rows)) if members is None else np.asarray(members, np.int64)
        self._begin(rows, who)
        states, axles = rows[:, :STATES], rows[:, AXLES : AXLES + 2]
        features = sense(states, self._targets[who], self._speeds[who], self._profile(rows, who))
        actions = forward(self._net, features) + self._variations(who)
        self._targets[who], self._speeds[who] = steer(actions, axles, self._targets[who])
        belts = SPEED * self._speeds[who]
        return np.column_stack([self._targets[who], belts, belts])

    def _ahead(self, rows: Array) -> Array:
        """The heights straight ahead: (n, cells) [m]."""
        return np.ascontiguousarray(split(rows, self._rows).ahead)

    def _begin(self, rows: Array, who: IntArray) -> None:
        """Robots that have just been reset know nothing of what lies behind them: it is as below them."""
        new = self._fresh[who]
        which, seen = who[new], rows[new]
        self._maps[which] = self._ahead(seen)[:, :1]
        self._targets[which], self._speeds[which] = seen[:, AXLES : AXLES + 2], 0.0
        self._velocity[which], self._left[which] = seen[:, [FORWARD, UP]], 0.0
        self._travelled[which], self._furthest[which], self._waited[which] = 0.0, 0.0, 0
        self._fresh[which] = False

    def _profile(self, rows: Array, who: IntArray) -> Array:
        velocity = rows[:, [FORWARD, UP]]
        advance, climbed = (0.5 * INTERVAL * (velocity + self._velocity[who])).T
        cells = self._left[who] + advance / FINE
        moved = np.round(cells).astype(np.int64)
        self._left[who], self._velocity[who] = cells - moved, velocity
        self._travelled[who] += advance
        profile = np.empty((len(rows), BEHIND + AHEAD))
        remember(self._maps, who, self._ahead(rows), moved, climbed, profile)
        return profile

    def _variations(self, who: IntArray) -> Array:
        """What robots add to the actions of the net: (n, `ACTIONS`), zeros unless they come no further."""
        further = self._travelled[who] > self._furthest[who] + PROGRESS
        self._furthest[who] = np.where(further, self._travelled[who], self._furthest[who])
        waited = np.where(further, 0, self._waited[who] + 1)
        self._waited[who] = waited
        halted = waited - round(HALTED / INTERVAL)
        for member in who[(halted >= 0) & (halted % HOLD == 0)]:
            self._varied[member] = DEVIATION * self._rngs[member].standard_normal(ACTIONS)
        return np.where((halted >= 0)[:, None], self._varied[who], 0.0)


def load_policy(path: Path = SHIPPED, rows: int = 1) -> ClimbPolicy:
    """Read a trained climber; the one that comes with the package if no path is given.

    Args:
        path: Its directory.
        rows: Of the world's map.

    Raises:
        ModelError: If it cannot be read, or is not a climber.
    """
    net, _ = load_dense(path)
    try:
        return ClimbPolicy(net, rows)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
