"""The reinforcement learning controller of Vincent 2008, section 5.3: it takes over when the reactive one is stuck.

While a robot is stuck, its net proposes angles of both axles, and one axle at a time is turned towards them. A reward
says how well that went; the net learns to propose the present angle plus the reward in the direction of search. The
direction is reversed when the reward fell, or the axle is at its limit. When the robot moves, the reactive controller
goes on.

The source does not say how long an iteration is. Here it is the time that an axle needs for the largest change, 30
degrees. Velocities are means over an iteration, as those of a single command shake.
"""

import math
from collections.abc import Sequence

import numpy as np

from sandlot.control.climbing.memory import Recent
from sandlot.control.climbing.online_net import OnlineNets, draw_net
from sandlot.control.climbing.reactive import Reactive
from sandlot.control.climbing.reward import Motion, reward
from sandlot.control.climbing.sight import Sight, split, stuck
from sandlot.control.controller import Action, Controller, Observation
from sandlot.robots.climber import AXLE_LIMIT, NOMINAL_SPEED, Climber, mass_centre
from sandlot.robots.climbers import INTERVAL
from sandlot.typing import Array, BoolArray, IntArray

CELLS = 201
INPUTS = CELLS + 6
"""The map straight ahead, v_x, v_z, pitch, both axle angles and P_k (figure 27)."""
NODES = 4
LIMIT = math.radians(30.0)
"""Largest change of an axle's angle in one iteration [rad]."""
WORSE = 0.1
"""The search is reversed if the reward falls by more than this."""
RATE = 1.0
"""Learning rate alpha."""
TALL = 0.5
"""Height that is an input of 1 [m]; chosen."""


def iteration(climber: Climber) -> int:
    """Commands that an axle needs for the largest change."""
    return max(math.ceil(LIMIT / climber.axles.speed / INTERVAL), 1)


class Reinforced(Controller):
    """The reactive controller, and a net that learns online what to do when that one is stuck.

    Each member has its own net. A net is drawn at the member's first reset and kept from then on: what a robot has
    learned in one episode it knows in the next. `forget` starts anew.

    Attributes:
        reactive: What drives while the robot is not stuck.
        iteration: Commands of an iteration.
        taken: (members,) which are in the hands of the net.
        nets: Of all members.
    """

    def __init__(self, climber: Climber, rows: int = 1, speed: float = NOMINAL_SPEED) -> None:
        """Begin with `reset`.

        Args:
            climber: The robot.
            rows: Of the elevation map, which must have 201 cells; the net sees the row straight ahead.
            speed: Nominal speed of the belts [m/s], above 0.
        """
        self.climber, self.rows, self.speed = climber, rows, speed
        self.reactive = Reactive(climber, rows, speed)
        self.iteration = iteration(climber)
        self._recent = Recent(self.iteration)
        self.nets = OnlineNets(np.zeros((0, NODES, INPUTS + 1)), np.zeros((0, 2, NODES + 1)))

    def forget(self) -> None:
        """Draw new nets at the next reset."""
        self.nets = OnlineNets(self.nets.hidden[:0], self.nets.output[:0])

    def reset(self, seeds: Sequence[np.random.SeedSequence], members: Sequence[int] | None = None) -> None:
        """Begin new episodes; nets of members that have one are kept."""
        self.reactive.reset(seeds, members)
        self._recent.reset(len(seeds), members)
        if members is None:
            count = len(seeds)
            if len(self.nets.hidden) != count:
                drawn = [draw_net(np.random.default_rng(seed), INPUTS, NODES, 2) for seed in seeds]
                self.nets = OnlineNets(*(np.stack(each) for each in zip(*drawn, strict=True)))
            self.taken = np.zeros(count, np.bool_)
            self._clock, self._turn = np.zeros((2, count), np.int64)
            self._search, self._last_reward, self._command = np.zeros((3, count, 2))
            self._centre, self._inputs = np.zeros((count, 2)), np.full((count, INPUTS), np.nan)
        else:
            self.taken[members], self._clock[members] = False, 0

    def act(self, observations: Observation, members: Sequence[int] | None = None) -> Action:
        """(n, 4) angles of the front and the rear axle [rad], speeds of the left and the right belts [m/s]."""
        sight = split(observations, self.rows)
        who = np.arange(len(observations)) if members is None else np.asarray(members)
        actions = self.reactive.act(observations, members)
        velocity = self._recent.mean(who, sight.velocity)  # NaN, which is not stuck, until an iteration has passed
        due = self.taken[who] & (self._clock[who] == 0)
        halted = stuck(velocity)
        self._judge(who, due, sight, velocity)
        begins = halted & ~self.taken[who]
        self.taken[who] = np.where(due, halted, self.taken[who] | begins)
        self._begin(who, begins, sight, velocity)
        self._propose(who, (due & halted) | begins, sight, velocity)
        self._clock[who] = np.where(self.taken[who], (self._clock[who] + 1) % self.iteration, 0)
        actions[:, :2] = np.where(self.taken[who][:, None], self._command[who], actions[:, :2])
        return actions

    def _judge(self, who: IntArray, mask: BoolArray, sight: Sight, velocity: Array) -> None:
        """Reward the axle that was turned, reverse its search if that went badly, and teach the net."""
        if not mask.any():
            return
        mine, axle = who[mask], self._turn[who[mask]]
        centre = mass_centre(self.climber, sight.pitch[mask], sight.axles[mask])
        height = self.reactive.aims.height[mask]
        motion = Motion(velocity[mask, 0], velocity[mask, 2], sight.pitch[mask], height, centre, self._centre[mine])
        found = reward(motion, self.speed)
        angle = sight.axles[mask, axle]
        ends = np.abs(self._command[mine, axle]) >= AXLE_LIMIT
        # NaN, as of the first reward of an axle, compares false.
        reversed_ = (found < self._last_reward[mine, axle] - WORSE) | ends
        self._search[mine, axle] *= np.where(reversed_, -1.0, 1.0)
        self._last_reward[mine, axle] = found
        target = np.clip(angle + RATE * found * self._search[mine, axle], -AXLE_LIMIT, AXLE_LIMIT)
        self.nets.learn(mine, self._inputs[mine], axle, target)
        self._turn[mine] = 1 - axle

    def _begin(self, who: IntArray, mask: BoolArray, sight: Sight, velocity: Array) -> None:
        """Take over: search where the net points, the front axle first."""
        if mask.any():
            mine = who[mask]
            proposed = self.nets(mine, self._see(mask, sight, velocity))
            self._search[mine] = np.where(proposed >= sight.axles[mask], 1.0, -1.0)
            self._last_reward[mine], self._turn[mine], self._command[mine] = np.nan, 0, sight.axles[mask]

    def _propose(self, who: IntArray, mask: BoolArray, sight: Sight, velocity: Array) -> None:
        """Turn one axle towards what the net proposes."""
        if mask.any():
            mine, axle = who[mask], self._turn[who[mask]]
            seen, angle = self._see(mask, sight, velocity), sight.axles[mask, axle]
            proposed = self.nets(mine, seen)[np.arange(len(mine)), axle]
            limited = np.clip(np.clip(proposed, angle - LIMIT, angle + LIMIT), -AXLE_LIMIT, AXLE_LIMIT)
            self._command[mine, axle], self._inputs[mine] = limited, seen
            self._centre[mine] = mass_centre(self.climber, sight.pitch[mask], sight.axles[mask])

    def _see(self, mask: BoolArray, sight: Sight, velocity: Array) -> Array:
        """Inputs of the net, within -1 and 1: (n, 207)."""
        states = (
            sight.ahead[mask] / TALL,
            velocity[mask][:, [0, 2]] / self.speed,
            sight.pitch[mask, None] / (0.5 * np.pi),
            sight.axles[mask] / np.pi,
            self.reactive.aims.height[mask, None] / TALL,
        )
        return np.clip(np.concatenate(states, axis=1), -1.0, 1.0)
