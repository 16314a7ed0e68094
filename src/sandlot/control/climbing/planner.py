"""A planner without learning: a path over an obstacle through shapes that the robot can hold at rest.

It is a bound on what geometry, friction and motors allow a robot that moves slowly; momentum may carry one further. It
searches a grid of x, pitch and both axle angles. The robot rests on the ground at the height where it first touches.
It moves on to a neighbour if contact forces can hold it there (`sandlot.control.climbing.statics`). If it drives, the
belts must also overcome the friction of its body. As pitch is a grid too, gaps up to half a step of it count as
contacts, so heights are overestimated by about a centimetre.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sandlot.control.climbing.resting import lift
from sandlot.control.climbing.statics import COLUMNS, ROWS, stands
from sandlot.errors import PlaceError
from sandlot.kernels import kernel
from sandlot.physics.climbing.contacts import find
from sandlot.physics.climbing.ground import empty_ground, set_ground
from sandlot.physics.climbing.robot import CONTACTS
from sandlot.places.course_kinds import Box, Stairs
from sandlot.places.courses import Course
from sandlot.robots.climber import Climber
from sandlot.robots.fast_climbers import record
from sandlot.typing import Array, IntArray

ADVANCE = 0.02
"""Step of x [m]."""
TURN = math.radians(2.5)
"""Step of the pitch [rad]."""
BEND = math.radians(5.0)
"""Step of the axle angles [rad]."""
PITCHES, BENDS = 61, 49
"""Steps of pitch, around level, and of each axle, around stretched."""
JUMP = 4
"""Largest change of the pitch from one node to the next, in steps."""
LEVER = 0.5
"""Distance from the middle of the body to its furthest contacts [m]."""
GAP = 0.5 * TURN * LEVER
"""Largest gap of a contact [m]."""
MARGIN = 0.6
"""The path begins and ends this far from the obstacle [m]."""
DISTANCE = 1.0
"""From x = 0 to the obstacles of `limit` [m]."""
UNKNOWN, FALLS, HOLDS = range(3)
NOT_REACHED = -2
SHAPES = PITCHES * BENDS * BENDS


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


def plan(climber: Climber, course: Course) -> Plan | None:
    """Find a path over an obstacle; None if there is none.

    Raises:
        PlaceError: If the ground has overhangs, such as stairs without risers.
    """
    if course.slabs:
        raise PlaceError("the planner needs ground without overhangs; give stairs their risers")
    robot = record(climber)[0]
    ground = set_ground(empty_ground(1), 0, course.outlines(), course.near, course.end)
    begin = course.near - MARGIN
    slices = math.ceil((course.end + MARGIN - begin) / ADVANCE) + 1
    known, before = np.zeros((slices * SHAPES, 3), np.int8), np.full(slices * SHAPES, NOT_REACHED, np.int64)
    last = search(robot, ground.segments[0], ground.cells[0], ground.extent[0], begin, known, before)
    if last < 0:
        return None
    nodes = [last]
    while before[nodes[-1]] >= 0:
        nodes.append(int(before[nodes[-1]]))
    poses = np.array([place(robot, ground.segments[0], begin, node) for node in nodes[::-1]])
    return Plan(poses[:, :2], -poses[:, 2], poses[:, 3:] - poses[:, 2:3])


def limit(climber: Climber, kind: Literal["box", "stairs"], size: float, resolution: float = 0.01) -> float:
    """The highest obstacle with a plan, if all lower ones have one too; 0 if there is none.

    Args:
        climber: The robot.
        kind: Box, or stairs of three steps up and down.
        size: Depth of the box, or of a tread [m].
        resolution: Of the result [m].

    Returns:
        Height of the box, or of a riser [m].
    """
    low, high = 0.0, 1.5
    rng = np.random.default_rng(0)  # neither kind draws from it
    while high - low > resolution:
        height = 0.5 * (low + high)
        box = Box(distance=DISTANCE, height=height, depth=size)
        course = box if kind == "box" else Stairs(distance=DISTANCE, riser=height, tread=size, steps=3)
        low, high = (height, high) if plan(climber, course.draw(rng)) is not None else (low, height)
    return low


@kernel(error_model="numpy", allocates=False)
def hulls(robot: Any, x: float, z: float, body: float, front: float, back: float, part: int) -> Any:
    """The hull of one part as `sandlot.physics.climbing.contacts.find` takes it."""
    c, s = math.cos(body), math.sin(body)
    if part == 2:
        straight = robot.straight
        return x - straight * c, z - straight * s, robot.radius, c, s, 2.0 * straight, robot.radius
    side = 1.0 if part == 0 else -1.0
    angle = front if part == 0 else back
    along, across = side * robot.half_span, robot.hip
    dx, dz = side * math.cos(angle), side * math.sin(angle)
    return x + c * along - s * across, z + s * along + c * across, robot.wheel, dx, dz, robot.reach, robot.tip


@kernel(error_model="numpy", allocates=False)
def place(robot: Any, segments: Array, begin: float, node: int) -> Any:
    """The pose at a node: x and z of the middle of the body [m], angles of body, front and rear tracks [rad]."""
    x, shape = begin + ADVANCE * (node // SHAPES), node % SHAPES
    body = TURN * (shape // (BENDS * BENDS) - PITCHES // 2)
    front = body + BEND * (shape // BENDS % BENDS - BENDS // 2)
    back = body + BEND * (shape % BENDS - BENDS // 2)
    z = -1e9
    for part in range(3):
        z = max(z, lift(segments, hulls(robot, x, 0.0, body, front, back, part)))
    return x, z, body, front, back


@kernel(error_model="numpy", nogil=True)
def search(
    robot: Any, segments: Array, cells: IntArray, extent: Array, begin: float, known: Any, before: IntArray
) -> int:
    """Search all nodes that are connected with the first, deep and forwards first.

    Args:
        robot: Record of `ROBOT`.
        segments: (n, 8) of the ground.
        cells: (m, 2) its index.
        extent: (2,) of the index.
        begin: x of the first slice [m].
        known: (slices * SHAPES, 3) zeros; whether the robot falls or holds at each node when it drives backwards, stays
            and drives forwards is written here.
        before: (slices * SHAPES,) `NOT_REACHED`; the node before each on its path is written here.

    Returns:
        A node of the last slice that was reached, or -1.
    """
    found, labels = np.empty((CONTACTS, 5)), np.empty((CONTACTS, 2), np.int64)
    tableau, basis = np.empty((ROWS, COLUMNS)), np.empty(ROWS, np.int64)
    stack, last = np.empty(len(before), np.int64), len(before) - SHAPES
    stack[0] = (PITCHES // 2 * BENDS + BENDS // 2) * BENDS + BENDS // 2
    before[stack[0]], count = -1, 1
    while count > 0:
        count -= 1
        node = stack[count]
        if node >= last:
            return node
        pitch, front, back = node % SHAPES // (BENDS * BENDS), node // BENDS % BENDS, node % BENDS
        for way in range(-1, 6):
            move = -1 if way == -1 else 1 if way == 5 else 0
            f = front + (1 if way == 0 else -1 if way == 1 else 0)
            b = back + (1 if way == 2 else -1 if way == 3 else 0)
            if not (0 <= f < BENDS and 0 <= b < BENDS) or node + move * SHAPES < 0:
                continue
            if move != 0:
                here = holds(robot, segments, cells, extent, begin, node, move, known, found, labels, tableau, basis)
                if not here:
                    continue
            for p in range(max(pitch - JUMP, 0), min(pitch + JUMP, PITCHES - 1) + 1):
                to = (node // SHAPES + move) * SHAPES + (p * BENDS + f) * BENDS + b
                if before[to] != NOT_REACHED:
                    continue
                if holds(robot, segments, cells, extent, begin, to, move, known, found, labels, tableau, basis):
                    before[to], stack[count] = node, to
                    count += 1
    return -1


@kernel(error_model="numpy", allocates=False)
def holds(
    robot: Any,
    segments: Array,
    cells: IntArray,
    extent: Array,
    begin: float,
    node: int,
    move: int,
    known: Any,
    found: Array,
    labels: IntArray,
    tableau: Array,
    basis: IntArray,
) -> bool:
    """Whether contact forces can hold the robot at a node while it drives backwards, stays or drives forwards."""
    if known[node, move + 1] == UNKNOWN:
        pose = place(robot, segments, begin, node)
        x, z, body, front, back = pose
        count = 0
        for part in range(3):
            hull = hulls(robot, x, z, body, front, back, part)
            count = find(segments, cells, extent, hull, GAP, part, found, labels, count)
        count = min(count, CONTACTS)
        held = stands(robot, pose, found, labels, count, move, tableau, basis)
        known[node, move + 1] = HOLDS if held else FALLS
    return known[node, move + 1] == HOLDS
