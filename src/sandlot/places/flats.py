"""Random flats: a rectangle divided into rooms, doors that join them all, and furniture that blocks none of them."""

import math
from typing import NamedTuple

import numpy as np

from sandlot.geometry.walls import Walls
from sandlot.places.furniture import GAP, OpenFloor, Piece, furnished
from sandlot.places.plan_files import Wall
from sandlot.places.plans import Plan
from sandlot.typing import Array

THICKNESS = 0.1
"""Of inner walls [m]."""
SHINE = 0.05
MIN_SIDE, MAX_AREA = 2.4, 18.0
"""Smallest side of a room [m] and its largest area [m^2]."""
DOOR, FRAME = (0.9, 1.1), 0.25
"""Narrowest and widest door, and the wall that is left on both sides of it [m]."""
ALONG_WALLS = ((2.0, 1.4), (2.0, 0.9), (1.2, 0.5), (1.6, 0.4), (0.8, 0.6), (0.6, 0.6))
"""Beds, sofas, cupboards, shelves, ...: width along the wall and depth [m]."""
ANYWHERE = ((1.2, 0.8), (0.45, 0.45), (0.45, 0.45), (0.9, 0.9))
"""Tables and chairs [m]; the last is round."""


class Room(NamedTuple):
    """A rectangle: lowest and highest x and y [m]."""

    left: float
    low: float
    right: float
    high: float

    @property
    def sides(self) -> tuple[float, float]:
        """Along x and y [m]."""
        return self.right - self.left, self.high - self.low


class Opening(NamedTuple):
    """The wall between two rooms.

    Attributes:
        rooms: Their indices.
        upright: Whether it runs along y.
        at: Its x, or its y if it runs along x [m].
        low: Where it begins [m].
        high: Where it ends [m].
    """

    rooms: tuple[int, int]
    upright: bool
    at: float
    low: float
    high: float


def random_flat(seed: int, furniture: int | None = None) -> Plan:
    """A flat of 60 to 100 m^2.

    A robot of radius 0.4 m gets into every room and around all furniture.

    Args:
        seed: Same seed, same walls.
        furniture: Seed of the furniture; that of the walls if not given.
    """
    rng = np.random.default_rng([seed, 0])
    width = rng.uniform(8.0, 12.0)
    outline = Room(0.0, 0.0, round(width, 2), round(rng.uniform(60.0, 100.0) / width, 2))
    rooms = divide(outline, rng)
    lines = _walls(outline, rooms, rng)
    shines = np.full(len(lines), SHINE)
    pieces = _furniture(lines, outline, rooms, np.random.default_rng([seed if furniture is None else furniture, 1]))
    return furnished(lines, shines, pieces)


def divide(room: Room, rng: np.random.Generator) -> list[Room]:
    """Divide a rectangle into rooms, across its longer side."""
    x, y = room.sides
    if max(x, y) < 2.0 * MIN_SIDE or (x * y < MAX_AREA and rng.random() < 0.7):
        return [room]
    margin = max(MIN_SIDE / max(x, y), 0.3)
    share = rng.uniform(margin, 1.0 - margin)
    if x >= y:
        cut = round(room.left + share * x, 2)
        parts = room._replace(right=cut), room._replace(left=cut)
    else:
        cut = round(room.low + share * y, 2)
        parts = room._replace(high=cut), room._replace(low=cut)
    return [each for part in parts for each in divide(part, rng)]


def between(rooms: list[Room]) -> list[Opening]:
    """All walls between two rooms."""
    found = []
    for i, a in enumerate(rooms):
        for j, b in enumerate(rooms):
            low, high = max(a.low, b.low), min(a.high, b.high)
            if a.right == b.left and low < high:
                found.append(Opening((i, j), True, a.right, low, high))
            low, high = max(a.left, b.left), min(a.right, b.right)
            if a.high == b.low and low < high:
                found.append(Opening((i, j), False, a.high, low, high))
    return found


def _walls(outline: Room, rooms: list[Room], rng: np.random.Generator) -> Array:
    """Segments (n, 4) of the outer walls, and of the inner ones with doors that join all rooms, and some more."""
    group, inner = list(range(len(rooms))), between(rooms)
    lines = list(Wall(rectangle=(0.0, 0.0, *outline.sides), shine=SHINE).lines())
    for k in rng.permutation(len(inner)).tolist():
        wall, width = inner[k], rng.uniform(*DOOR)
        one, other = (group[room] for room in wall.rooms)
        room = wall.high - wall.low - width - 2.0 * FRAME
        pieces = [(wall.low, wall.high)]
        if room > 0.0 and (one != other or rng.random() < 0.25):
            group = [one if each == other else each for each in group]
            begin = wall.low + FRAME + rng.uniform(0.0, room)
            pieces = [(wall.low, begin), (begin + width, wall.high)]
        for low, high in pieces:
            points = ((wall.at, low), (wall.at, high)) if wall.upright else ((low, wall.at), (high, wall.at))
            lines += Wall(points=points, thickness=THICKNESS, shine=SHINE).lines()
    return np.array(lines)


def _furniture(lines: Array, outline: Room, rooms: list[Room], rng: np.random.Generator) -> list[Piece]:
    """Pieces along the walls of each room and in its middle, as many as its area suggests."""
    floor = OpenFloor(Walls(lines, np.zeros((0, 3))), np.array(outline))
    off = 0.5 * THICKNESS + 2.0 * GAP
    for room in rooms:
        x, y = room.sides
        for _ in range(math.ceil(x * y / 2.5)):
            shine = float(rng.choice([0.0, 0.0, 0.1, 0.3]))
            if rng.random() < 0.65:
                width, depth = ALONG_WALLS[rng.integers(len(ALONG_WALLS))]
                side, share = int(rng.integers(4)), rng.random()
                run = (x if side % 2 == 0 else y) - width - 2.0 * off
                at, away = off + 0.5 * width + share * max(run, 0.0), off + 0.5 * depth
                centre = (
                    (room.left + at, room.low + away),
                    (room.right - away, room.low + at),
                    (room.left + at, room.high - away),
                    (room.left + away, room.low + at),
                )[side]
                floor.add(Piece(centre, (width, depth), 0.5 * math.pi * (side % 2), shine=shine))
            else:
                kind = int(rng.integers(len(ANYWHERE)))
                centre = rng.uniform(room.left, room.right), rng.uniform(room.low, room.high)
                floor.add(Piece(centre, ANYWHERE[kind], rng.uniform(0.0, math.pi), kind == 3, shine))
    return floor.pieces
