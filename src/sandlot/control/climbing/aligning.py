"""Steering that turns the climbing robot square to the edges of its obstacle: future work in section 8.2 of the source.

It drives beside any climbing controller, which knows nothing of it: that one chooses the axles and the speed, this one
adds a difference between the belts. The yaw against the edges comes from the elevation map; between edges, and where
none is in view, it follows the measured yaw rate.
"""

from collections.abc import Sequence

import numpy as np

from sandlot.control.climbing.sight import split
from sandlot.control.controller import Action, Controller, Observation
from sandlot.errors import SettingError
from sandlot.mapping.edges import yaw_from_edges
from sandlot.robots.climber import Climber
from sandlot.robots.climbers import INTERVAL
from sandlot.sensing.panned_laser import MAP_ROWS, PAN_ANGLES
from sandlot.typing import Array, IntArray

YAW_RATE = 7
"""Column of the yaw rate in an observation."""
TRUST = 0.3
"""Share by which a yaw seen in the map corrects the yaw that follows the rate."""
GAIN = 2.5
"""Speed added to the belts of one side and taken from the other, per yaw [m/s/rad]."""
MOST = 0.4
"""Largest such speed [m/s]."""
SLOW = 0.5
"""Yaw at which the speed would be reduced to zero, if `LEAST` did not limit that [rad]: turn first, then drive."""
LEAST = 0.3
"""Share of the speed that is always left."""


class Aligned(Controller):
    """A climbing controller with steering.

    Attributes:
        inner: The controller that climbs.
        yaw: (members,) yaw against the edges, positive to the left [rad]; 0 until an edge was seen.
    """

    def __init__(self, inner: Controller, climber: Climber, rows: int) -> None:
        """Begin with `reset`.

        Args:
            inner: Its actions are (n, 4) axle angles [rad] and belt speeds, left and right [m/s].
            climber: The robot.
            rows: Of the elevation map; more than 1.

        Raises:
            SettingError: If the map has one row, which shows no direction.
        """
        if rows == 1:
            raise SettingError("rows=1 shows no direction of edges; allowed for steering: rows=5 or 19")
        self.inner, self._mount, self._rows = inner, climber.laser.ahead, rows
        self._pans = PAN_ANGLES[MAP_ROWS[rows]]
        self.yaw = np.zeros(0)

    def reset(self, seeds: Sequence[np.random.SeedSequence], members: Sequence[int] | None = None) -> None:
        """Begin new episodes, in which no edge was seen yet."""
        self.inner.reset(seeds, members)
        if members is None:
            self.yaw = np.zeros(len(seeds))
        else:
            self.yaw[list(members)] = 0.0

    def act(self, observations: Observation, members: Sequence[int] | None = None) -> Action:
        """The inner controller's action, with different speeds left and right: (n, 4)."""
        who = np.arange(len(observations)) if members is None else np.asarray(members, np.int64)
        actions = np.array(self.inner.act(observations, members), np.float64)
        yaw = self._update(observations, who)
        turn = np.clip(GAIN * yaw, -MOST, MOST)
        actions[:, 2:] *= np.maximum(1.0 - np.abs(yaw) / SLOW, LEAST)[:, None]
        actions[:, 2] += turn
        actions[:, 3] -= turn
        return actions

    def _update(self, observations: Observation, who: IntArray) -> Array:
        """The present yaw of members: (n,) [rad]."""
        sight = split(observations, self._rows)
        seen = yaw_from_edges(sight.maps, sight.pitch, self._pans, self._mount)
        held = self.yaw[who] + INTERVAL * sight.states[:, YAW_RATE]
        self.yaw[who] = np.where(np.isnan(seen), held, held + TRUST * (seen - held))
        return self.yaw[who]
