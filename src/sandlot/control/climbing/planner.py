"""A planner without learning: a path over an obstacle through shapes that the robot can hold at rest.

It estimates what geometry, friction and motors allow a robot that moves slowly; momentum may carry one further. It
searches a grid of x and both axle angles. At each of its points the robot rests at certain pitches, which are looked
for only where a path leads (`sandlot.control.climbing.resting`). It moves on to a neighbour, or rocks to another pitch,
if contact forces can hold it there (`sandlot.control.climbing.statics`). If it drives, the belts must also overcome the
friction of its body. Small gaps below tracks count as contacts, as belts give.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sandlot.control.climbing.resting import RESTS, STEEPEST, come_down, hulls, rests
from sandlot.control.climbing.statics import COLUMNS, ROWS, stands
from sandlot.errors import PlaceError
from sandlot.kernels import kernel
from sandlot.physics.climbing.contacts import find
from sandlot.physics.climbing.ground import empty_ground, set_ground
from sandlot.physics.climbing.robot import CONTACTS
from sandlot.places.courses import Course
from sandlot.robots.climber import AXLE_LIMIT, Climber
from sandlot.robots.fast_climbers import record
from sandlot.typing import Array, IntArray

ADVANCE = 0.02
"""Step of x on the coarsest grid [m]."""
BEND = math.radians(5.0)
"""Step of the axle angles, and of the pitch at which contacts are compared, on the coarsest grid [rad]."""
ROCK = math.radians(10.0)
"""Largest change of the pitch from one rest to the next, and the range in which rests are looked for at once [rad]."""
SECTORS = round(2.0 * STEEPEST / ROCK)
"""Number of these ranges."""
FALL = 0.05
"""Largest fall of the mass centre from one rest to the next [m]; it rises at most as a step of an axle can lift it."""
GIVE = 0.002
"""Largest gap of a contact of a track, by which its belt gives [m]. It is the same on all grids: gaps that half a step
of the axles closes, 16 mm on the coarsest grid, would raise heights by centimetres."""
CLOSE = 0.001
"""Largest gap of a contact of the body [m]."""
AROUND = 6
"""Memory is reserved for so many rests of each shape at each x, on average."""
UNKNOWN, FALLS, HOLDS = range(3)
START, NOT_REACHED = -1, -2


class Grid(NamedTuple):
    """The grid of a search.

    Attributes:
        begin: x of the first slice [m].
        advance: Step of x [m].
        slices: Number of them.
        bend: Step of the axle angles [rad].
        bends: Number of angles of each axle, around stretched.
        lift: Largest rise of the mass centre in a step, by one step of an axle [m].
    """

    begin: float
    advance: float
    slices: int
    bend: float
    bends: int
    lift: float


class Rests(NamedTuple):
    """The rests that a search has found so far.

    Attributes:
        first: (points of the grid, SECTORS) one more than the first rest of each range of the pitch, 0 if it was not
            looked at.
        count: (points, SECTORS) number of rests of each.
        point: (rests,) the point of each.
        angle: (rests,) of the body, counter-clockwise [rad].
        height: (rests,) of the mass centre [m].
        known: (rests, 3) whether the robot falls or holds when it drives backwards, stays and drives forwards.
        before: (rests,) the rest before each on its path.
    """

    first: Any
    count: Any
    point: Any
    angle: Array
    height: Array
    known: Any
    before: Any


@dataclass(frozen=True, eq=False)
class Plan:
    """A path of shapes.

    Attributes:
        position: (n, 2) x and z of the middle of the body [m].
        pitch: (n,) positive with the nose down [rad].
        axles: (n, 2) angles of the front and the rear axle [rad].
    """

    position: Array
    pitch: Array
    axles: Array


def plan(climber: Climber, course: Course, fine: int = 1) -> Plan | None:
    """Find a path over an obstacle; None if there is none.

    Args:
        climber: The robot.
        course: The ground.
        fine: Steps of the coarsest grid are divided by this.

    Raises:
        PlaceError: If the ground has overhangs, such as stairs without risers.
    """
    if course.slabs:
        raise PlaceError("the planner needs ground without overhangs; give stairs their risers")
    robot = record(climber)[0]
    ground = set_ground(empty_ground(1), 0, course.outlines(), course.near, course.end)
    advance, bend = ADVANCE / fine, BEND / fine
    begin = course.near - climber.reach - advance
    slices = math.ceil((course.end + climber.reach - begin) / advance) + 1
    lift = bend * (climber.track.reach + climber.track.tip)
    grid = Grid(begin, advance, slices, bend, 2 * round(AXLE_LIMIT / bend) + 1, lift)
    points = slices * grid.bends**2
    size = AROUND * points  # of this, the operating system gives memory only to what is written
    found = Rests(
        np.zeros((points, SECTORS), np.int32),
        np.zeros((points, SECTORS), np.int8),
        np.empty(size, np.int32),
        np.empty(size),
        np.empty(size),
        np.zeros((size, 3), np.int8),
        np.empty(size, np.int32),
    )
    last = search(robot, ground.segments[0], ground.cells[0], ground.extent[0], grid, found)
    if last < 0:
        return None
    path = [last]
    while found.before[path[-1]] >= 0:
        path.append(int(found.before[path[-1]]))
    poses = np.array([place(robot, ground.segments[0], grid, found, each) for each in path[::-1]])
    return Plan(poses[:, :2], -poses[:, 2], poses[:, 3:] - poses[:, 2:3])


def limit(
    climber: Climber, course: Callable[[float], Course], levels: Sequence[float], guess: int = 0, fine: int = 1
) -> int:
    """How many of ascending levels have a plan, by bisection: if one has a plan, so have those below.

    Args:
        climber: The robot.
        course: The obstacle of a level.
        levels: Ascending, such as heights.
        guess: Of the result; a good one saves time.
        fine: As of `plan`.
    """
    low, high, step = 0, len(levels) + 1, 2  # level `low` (counted from 1) has a plan, level `high` has none
    tried = min(max(guess, 1), len(levels))
    while high - low > 1:
        if plan(climber, course(levels[tried - 1]), fine) is not None:
            low, after = tried, tried + step
        else:
            high, after = tried, tried - step
        step *= 2
        tried = after if low < after < high and (low == 0 or high > len(levels)) else (low + high) // 2
    return low


@kernel(error_model="numpy", allocates=False)
def place(robot: Any, segments: Array, grid: Grid, found: Rests, rest: int) -> Any:
    """The pose at a rest: x and z of the middle of the body [m], angles of body, front and rear tracks [rad]."""
    x, front, back = _shape(grid, found.point[rest])
    body = found.angle[rest]
    z, _ = come_down(robot, segments, x, body, body + front, body + back)
    return x, z, body, body + front, body + back


@kernel(error_model="numpy", allocates=False)
def _shape(grid: Grid, point: int) -> Any:
    """X [m] and the angles of the axles at a point of the grid [rad]."""
    middle = grid.bends // 2
    front, back = point // grid.bends % grid.bends - middle, point % grid.bends - middle
    return grid.begin + grid.advance * (point // (grid.bends * grid.bends)), grid.bend * front, grid.bend * back


@kernel(error_model="numpy", nogil=True)
def search(robot: Any, segments: Array, cells: IntArray, extent: Array, grid: Grid, found: Rests) -> int:
    """Search all rests that are connected with the first, deep and forwards first.

    Args:
        robot: Record of `ROBOT`.
        segments: (n, 8) of the ground.
        cells: (m, 2) its index.
        extent: (2,) of the index.
        grid: Of the search.
        found: Filled here.

    Returns:
        A rest of the last slice that was reached; -1 if there is none, -2 if there are more rests than room.
    """
    touching, labels = np.empty((CONTACTS, 5)), np.empty((CONTACTS, 2), np.int64)
    tableau, basis, angles = np.empty((ROWS, COLUMNS)), np.empty(ROWS, np.int64), np.empty(RESTS)
    bends, room = grid.bends, len(found.angle)
    shapes = bends * bends
    stack, waiting, total = np.empty(room, np.int32), 0, 0
    first = bends // 2 * bends + bends // 2  # stretched, in the first slice
    for sector in range(_sector(-0.5 * grid.bend), _sector(0.5 * grid.bend) + 1):
        total = _look(robot, segments, grid, found, first, sector, angles, total)
    for rest in range(total):
        if abs(found.angle[rest]) < 0.5 * grid.bend:
            found.before[rest], stack[waiting], waiting = START, rest, waiting + 1
    while waiting > 0:
        waiting -= 1
        rest = stack[waiting]
        point = found.point[rest]
        if point // shapes == grid.slices - 1:
            return rest
        front, back = point // bends % bends, point % bends
        for way in range(7):
            move = -1 if way == 0 else 1 if way == 6 else 0
            f = front + (1 if way == 1 else -1 if way == 2 else 0)
            b = back + (1 if way == 3 else -1 if way == 4 else 0)
            to = (point // shapes + move) * shapes + f * bends + b
            if not (0 <= f < bends and 0 <= b < bends) or to < 0:
                continue
            if move != 0 and not holds(
                robot, segments, cells, extent, grid, found, rest, move, touching, labels, tableau, basis
            ):
                continue
            for sector in range(_sector(found.angle[rest] - ROCK), _sector(found.angle[rest] + ROCK) + 1):
                if found.first[to, sector] == 0:
                    if total + RESTS > room:
                        return -2
                    total = _look(robot, segments, grid, found, to, sector, angles, total)
                begin = found.first[to, sector] - 1
                for other in range(begin, begin + found.count[to, sector]):
                    rise = found.height[other] - found.height[rest]
                    near = abs(found.angle[other] - found.angle[rest]) <= ROCK and -FALL <= rise <= grid.lift
                    if not near or found.before[other] != NOT_REACHED:
                        continue
                    if holds(
                        robot, segments, cells, extent, grid, found, other, move, touching, labels, tableau, basis
                    ):
                        found.before[other], stack[waiting], waiting = rest, other, waiting + 1
    return -1


@kernel(error_model="numpy", allocates=False)
def _sector(angle: float) -> int:
    """Number of the range of the pitch in which an angle of the body lies [rad]."""
    return min(max(int((angle + STEEPEST) / ROCK), 0), SECTORS - 1)


@kernel(error_model="numpy", allocates=False)
def _look(
    robot: Any, segments: Array, grid: Grid, found: Rests, point: int, sector: int, angles: Array, total: int
) -> int:
    """Add the rests of a point in a range of the pitch to the ``total`` ones that are known; returns the new total."""
    x, front, back = _shape(grid, point)
    begin, turns = sector * ROCK - STEEPEST, round(ROCK / grid.bend)
    count = rests(robot, segments, x, front, back, begin, ROCK / turns, turns, angles)
    found.first[point, sector], found.count[point, sector] = total + 1, count
    for k in range(count):
        rest, body = total + k, angles[k]
        z, _ = come_down(robot, segments, x, body, body + front, body + back)
        found.point[rest], found.angle[rest], found.before[rest] = point, body, NOT_REACHED
        found.height[rest] = z + _mass_height(robot, body, body + front, body + back)
    return total + count


@kernel(error_model="numpy", allocates=False)
def _mass_height(robot: Any, body: float, front: float, back: float) -> float:
    """Height of the mass centre above the middle of the body [m], as of `mass_centres` for one robot."""
    tracks, arm = robot.front_mass + robot.back_mass, 0.5 * robot.reach
    along = robot.body_mass * robot.load_x + (robot.front_mass - robot.back_mass) * robot.half_span
    across = robot.body_mass * robot.load_z + tracks * robot.hip
    moment = math.sin(body) * along + math.cos(body) * across
    moment += arm * (robot.front_mass * math.sin(front) - robot.back_mass * math.sin(back))
    return moment / (robot.body_mass + tracks)


@kernel(error_model="numpy", allocates=False)
def holds(
    robot: Any,
    segments: Array,
    cells: IntArray,
    extent: Array,
    grid: Grid,
    found: Rests,
    rest: int,
    move: int,
    touching: Array,
    labels: IntArray,
    tableau: Array,
    basis: IntArray,
) -> bool:
    """Whether contact forces can hold the robot at a rest while it drives backwards, stays or drives forwards."""
    if found.known[rest, move + 1] == UNKNOWN:
        pose = place(robot, segments, grid, found, rest)
        x, z, body, front, back = pose
        count = 0
        for part in range(3):
            hull = hulls(robot, x, z, body, front, back, part)
            gap = CLOSE if part == 2 else GIVE
            count = find(segments, cells, extent, hull, gap, part, touching, labels, count)
        count = min(count, CONTACTS)
        held = stands(robot, pose, touching, labels, count, move, tableau, basis)
        found.known[rest, move + 1] = HOLDS if held else FALLS
    return found.known[rest, move + 1] == HOLDS
