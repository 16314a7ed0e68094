"""The members of a vector of terrain worlds: each has rovers on ground of its own, whatever physics moves them."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sandlot.robots.rover_shapes import DrawnShape
from sandlot.robots.rover_state import RoverState
from sandlot.sensing.imu import ImuBias
from sandlot.typing import Array, BoolArray, IntArray
from sandlot.worlds.scene import Scene
from sandlot.worlds.terrain.fidelity import make_physics
from sandlot.worlds.terrain.goals import Goals
from sandlot.worlds.terrain.grid import Grid
from sandlot.worlds.terrain.learned import LearnedFleet, LearnedGround
from sandlot.worlds.terrain.scene import Bodies, Surface, terrain_scene
from sandlot.worlds.terrain.seam import Drive, Ground
from sandlot.worlds.terrain.settings import TerrainSettings
from sandlot.worlds.terrain.task import account, measure, outcomes_of, spaces


class Fleets(Protocol):
    """Rovers of all members: those of the first, then those of the second, and so on.

    Attributes:
        top_speeds: (rovers of a member, 2) as of `Drive`.
        wheel_radius: (rovers of a member,) [m].
    """

    top_speeds: Array
    wheel_radius: Array

    @property
    def state(self) -> RoverState:
        """Of all rovers, now."""

    def heights(self, member: int) -> Array:
        """Of the ground of a member, now: (ny, nx) [m]."""

    def initial(self, member: int) -> Array:
        """The same at its restart."""

    def scene(self, member: int) -> tuple[Surface, Bodies]:
        """What there is to draw of a member."""

    def off_map(self) -> BoolArray:
        """Whose rovers have left the map: (members,)."""

    def restart(self, member: int, heights: Array) -> None:
        """Lay new ground for a member (ny, nx) [m], and put its rovers on it; `settle` follows."""

    def settle(self, members: IntArray) -> None:
        """Read the state of members that were restarted."""

    def drive(self, commands: Array, members: IntArray) -> None:
        """Drive the rovers of some members until the next frame, by commands (rovers, 2) of all rovers."""


@dataclass(frozen=True)
class _Surface:
    """The ground of one member."""

    grid: Grid
    grain: float
    heights: Array
    initial: Array


@dataclass(frozen=True)
class _Bodies:
    """The rovers of one member."""

    count: int
    shapes: Sequence[Sequence[DrawnShape]]
    state: RoverState


class LearnedFleets:
    """The rovers of all members in one call of compiled code."""

    def __init__(self, settings: TerrainSettings, grid: Grid, members: int) -> None:
        self._ground = LearnedGround(grid, members)
        self._fleet = LearnedFleet(settings, self._ground, members)
        self._each, self._members = len(settings.rovers), members
        self.top_speeds, self.wheel_radius = (
            known[: self._each] for known in (self._fleet.top_speeds, self._fleet.wheel_radius)
        )

    @property
    def state(self) -> RoverState:
        """Of all rovers, now."""
        return self._fleet.state

    def heights(self, member: int) -> Array:
        """Of the ground of a member."""
        return self._ground.maps.heights[member]

    def initial(self, member: int) -> Array:
        """The same at its restart."""
        return self._ground.maps.initial[member]

    def scene(self, member: int) -> tuple[Surface, Bodies]:
        """What there is to draw of a member."""
        on, state = self._rovers(member), self._fleet.state
        now = RoverState(*(getattr(state, each.name)[on] for each in fields(RoverState)))
        ground = _Surface(self._ground.grid, self._ground.grain, self.heights(member), self.initial(member))
        return ground, _Bodies(self._each, self._fleet.shapes[: self._each], now)

    def off_map(self) -> BoolArray:
        """Whose rovers have left the map."""
        beyond = self._ground.grid.beyond(self._fleet.footprint.reshape(self._members, -1, 2))
        return np.asarray(beyond.any(axis=1))

    def restart(self, member: int, heights: Array) -> None:
        """Lay new ground."""
        self._ground.restart(heights, member)

    def settle(self, members: IntArray) -> None:
        """Put the rovers of members on their ground."""
        self._fleet.restart(self._rovers(members))

    def drive(self, commands: Array, members: IntArray) -> None:
        """Drive the rovers of some members."""
        self._fleet.drive(commands, self._rovers(members))

    def _rovers(self, members: IntArray | int) -> IntArray:
        first: IntArray = self._each * np.atleast_1d(members)
        return (first[:, None] + np.arange(self._each)).ravel()


class SingleFleets:
    """Each member with a simulation of its own, one after the other or on several threads."""

    def __init__(self, settings: TerrainSettings, grid: Grid, members: int, threads: int) -> None:
        self._all: list[tuple[Drive, Ground]] = [make_physics(settings, grid) for _ in range(members)]
        self._each, self._grid, self._threads = len(settings.rovers), grid, threads
        self._pool: ThreadPoolExecutor | None = None
        first = self._all[0][0]
        self.top_speeds, self.wheel_radius = first.top_speeds, first.wheel_radius
        self.settle(np.arange(members))

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the threads: a copy starts its own."""
        return {**self.__dict__, "_pool": None}

    def heights(self, member: int) -> Array:
        """Of the ground of a member."""
        return self._all[member][1].heights

    def initial(self, member: int) -> Array:
        """The same at its restart."""
        return self._all[member][1].initial

    @property
    def state(self) -> RoverState:
        """Of all rovers, now."""
        return self._state

    def scene(self, member: int) -> tuple[Surface, Bodies]:
        """What there is to draw of a member."""
        rovers, ground = self._all[member]
        return ground, rovers

    def off_map(self) -> BoolArray:
        """Whose rovers have left the map."""
        return np.array([not self._grid.contains(rovers.footprint) for rovers, _ in self._all], np.bool_)

    def restart(self, member: int, heights: Array) -> None:
        """Lay new ground, and put the rovers on it."""
        rovers, ground = self._all[member]
        ground.restart(heights)
        rovers.restart()

    def settle(self, members: IntArray) -> None:
        """Read the state of all rovers."""
        states = [rovers.state for rovers, _ in self._all]
        names = [each.name for each in fields(RoverState)]
        self._state = RoverState(*(np.concatenate([getattr(state, name) for state in states]) for name in names))

    def drive(self, commands: Array, members: IntArray) -> None:
        """Drive the rovers of some members."""

        def one(member: int) -> None:
            (rovers, ground), first = self._all[member], member * self._each
            before = rovers.state
            rovers.drive(commands[first : first + self._each])
            ground.change(before, rovers.state)

        if self._threads > 1 and len(members) > 1:
            self._pool = self._pool or ThreadPoolExecutor(self._threads)
            list(self._pool.map(one, members.tolist()))
        else:
            for member in members.tolist():
                one(member)
        self.settle(members)


class TerrainMembers:
    """The task of all members, as `sandlot.worlds.terrain.task.TerrainTask` is that of a single world.

    Attributes:
        fleets: Moves the rovers.
        steps: (members,) frames since the start.
        travel: (3, rovers) as of `TerrainTask`.
        exploded: (members,) whose simulation is no longer to be trusted.
        goals: Of the rovers, if the task is to reach them.
    """

    def __init__(self, settings: TerrainSettings, members: int, threads: int) -> None:
        """Make rovers and ground; `restart` comes before the first frame.

        Raises:
            SandlotError: If a rover cannot be read, does not fit onto the ground, or cannot touch it.
        """
        self.settings, self._count, self._each = settings, members, len(settings.rovers)
        self._map = settings.heights(np.random.default_rng(0))
        grid = self.grid = Grid(self._map.shape, settings.spacing, settings.wraps)
        self.fleets: Fleets
        if settings.fidelity == "learned":
            self.fleets = LearnedFleets(settings, grid, members)
        else:
            self.fleets = SingleFleets(settings, grid, members, threads)
        rovers = members * self._each
        self.goals = Goals(settings, grid, rovers) if settings.task == "goal" else None
        self.steps, self.exploded = np.zeros(members, np.int64), np.zeros(members, np.bool_)
        self.travel, self._origin = np.zeros((3, rovers)), np.zeros((rovers, 2))
        self._bias = ImuBias(np.zeros((rovers, 3)), np.zeros((rovers, 3))), np.zeros((rovers, 2))
        self._seen = np.zeros((members, *spaces(settings, self.fleets.top_speeds)[0].shape), np.float32)

    def restart(self, which: IntArray, rng: Sequence[np.random.Generator]) -> None:
        """Begin new episodes of some members; each has its own generator."""
        given = self.settings
        for member, chance in zip(which.tolist(), rng, strict=True):
            self.fleets.restart(member, given.heights(chance) if given.random else self._map)
        self.fleets.settle(which)
        self.steps[which] = 0
        for member, chance in zip(which.tolist(), rng, strict=True):
            on = slice(member * self._each, (member + 1) * self._each)
            imu, (inertial, encoders) = given.imu.draw_bias(self._each, chance), self._bias
            inertial.rates[on], inertial.force[on] = imu.rates, imu.force
            encoders[on] = given.encoders.draw_bias(self._each, chance)
            self.travel[:, on], self._origin[on] = 0.0, self.state.position[on, :2]
            if self.goals is not None:
                self.goals.restart(np.arange(on.start, on.stop), self._origin[on], chance)
        self.exploded[which] = self._of_members(self.state.exploded)[which].any(axis=1)

    def drive(self, commands: Array, running: BoolArray) -> Array:
        """Drive as many frames as there are in a step; a member whose episode ends meanwhile stays as it is.

        Args:
            commands: (members, rovers of a member, 2) forward speed [m/s] and turn rate to the left [rad/s].
            running: (members,) which members drive; the others will be restarted.

        Returns:
            (members,) rewards [m]; 0 of a member that explodes.
        """
        rewards = self._drive(commands, running)
        for _ in range(self.settings.frame_skip - 1):
            terminated, truncated = self.ends()
            running = running & ~(terminated | truncated)
            if not running.any():
                break
            rewards += self._drive(commands, running)
        return np.where(self.exploded, 0.0, rewards)

    def _drive(self, commands: Array, running: BoolArray) -> Array:
        """Drive until the next frame; returns the rewards (members,)."""
        before, moving = self.state, running & ~self.exploded
        self.fleets.drive(np.ascontiguousarray(commands.reshape(-1, 2)), np.flatnonzero(moving))
        after = self.state
        self.steps += running
        self.exploded |= moving & self._of_members(after.exploded).any(axis=1)
        good = np.repeat(moving & ~self.exploded, self._each)
        travel = self.travel.copy()
        _, forward = account(
            before.position,
            before.attitude,
            after.position,
            after.attitude,
            after.wheel_speeds,
            np.tile(self.fleets.wheel_radius, self._count),
            self.settings.interval,
            False,
            travel,
        )
        self.travel = np.where(good, travel, self.travel)
        rewards = forward if self.goals is None else self.goals.advance(after.position[:, :2], good)
        return np.where(good, rewards, 0.0).reshape(self._count, -1).sum(axis=1)

    def observe(self, which: IntArray, rng: Sequence[np.random.Generator]) -> NDArray[np.float32]:
        """Observations of all members after some of them have read their sensors: (members, rovers of each, ...)."""
        good = ~self.exploded[which]
        some, chances = which[good], [chance for chance, fine in zip(rng, good.tolist(), strict=True) if fine]
        if len(some):
            rows = (self._each * some[:, None] + np.arange(self._each)).ravel()
            state = RoverState(*(getattr(self.state, each.name)[rows] for each in fields(RoverState)))
            bias = ImuBias(self._bias[0].rates[rows], self._bias[0].force[rows]), self._bias[1][rows]
            goals = None if self.goals is None else self.goals.observe(self.state.position[:, :2], self.state.yaw)[rows]
            maps = [self.fleets.heights(member) for member in some.tolist()] if self.settings.patch else []
            seen = measure(self.settings, state, bias, goals, self.grid, maps, chances)
            self._seen[some] = seen.reshape(len(some), self._each, -1)
        return self._seen.copy()

    @property
    def state(self) -> RoverState:
        """Of all rovers, now."""
        return self.fleets.state

    @property
    def arrived(self) -> BoolArray:
        """Whose rovers have all reached their goals: (members,)."""
        if self.goals is None:
            return np.zeros(self._count, np.bool_)
        return np.asarray(self._of_members(self.goals.reached).all(axis=1))

    def ends(self) -> tuple[BoolArray, BoolArray]:
        """Whose rovers lie on their back or have arrived; who left the map or exploded: (members,) each."""
        over = self._of_members(self.state.overturned).any(axis=1) | self.arrived
        return over & ~self.exploded, self.fleets.off_map() | self.exploded

    def values(self) -> Mapping[str, NDArray[Any]]:
        """What ``info`` holds: (members,) each."""
        known = {"time": self.steps * self.settings.interval, "exploded": self.exploded.copy()}
        return known if self.goals is None else {**known, "is_success": self.arrived}

    def outcomes(self, which: BoolArray | None = None) -> dict[str, Array]:
        """Results so far, as `Terrain` names them: (members,) each; NaN for the rut depth of others than ``which``."""
        ruts = np.full(self._count, np.nan)
        for k in range(self._count) if which is None else np.flatnonzero(which).tolist():
            ruts[k] = np.max(self.fleets.initial(k) - self.fleets.heights(k))
        return outcomes_of(self.state, self._origin, self.travel, self.goals, ruts)

    def scene(self, member: int) -> Scene:
        """What there is to draw of a member."""
        goals = None if self.goals is None else self.goals.places.reshape(self._count, self._each, 2)[member]
        time = float(self.steps[member] * self.settings.interval)
        return terrain_scene(*self.fleets.scene(member), time, goals, self.settings.goal_distance)

    def _of_members(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values (rovers,) by member: (members, rovers of a member)."""
        return values.reshape(self._count, self._each)
