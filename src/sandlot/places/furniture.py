"""Furniture: where a piece can stand so that a robot still gets everywhere, and the same flat with its pieces moved."""

import math
from typing import NamedTuple

import numpy as np
from scipy import ndimage

from sandlot.errors import PlaceError
from sandlot.geometry.planar import rectangle
from sandlot.geometry.walls import Walls, block
from sandlot.places.plans import Plan, make_plan
from sandlot.typing import Array, BoolArray

SPACING, MAX_SQUARES = 0.05, 2**16
"""Side of the squares on which pieces are placed [m], larger where a plan would have more squares than that."""
GAP = 0.05
"""Smallest distance between a piece and other pieces or walls [m]."""
RADIUS = 0.4
"""A robot of this radius gets around every piece [m]."""
MAX_SPACING = 0.2
"""Largest side of a square [m]; furniture of larger plans is not moved."""


class Piece(NamedTuple):
    """A box, or a round piece whose radius is half its first size.

    Attributes:
        centre: x, y [m].
        size: Along its own x and y [m].
        angle: Counter-clockwise [rad].
        round: Whether it is round.
        shine: 0 is matt, 1 a mirror.
    """

    centre: tuple[float, float]
    size: tuple[float, float]
    angle: float = 0.0
    round: bool = False
    shine: float = 0.0

    @property
    def walls(self) -> Walls:
        """Its outline."""
        if self.round:
            return Walls(np.zeros((0, 4)), np.array([(*self.centre, 0.5 * self.size[0])]))
        corners = rectangle(self.centre, self.size, self.angle)
        return Walls(np.hstack([corners, np.roll(corners, -1, axis=0)]), np.zeros((0, 3)))


class OpenFloor:
    """Squares of a floor with walls and pieces.

    Attributes:
        pieces: What stands on it.
    """

    def __init__(self, walls: Walls, bounds: Array, pieces: tuple[Piece, ...] = ()) -> None:
        """Take walls within bounds (4,): x, y of the lower left and the upper right corner [m].

        Raises:
            PlaceError: If the plan is too large.
        """
        self._corner = bounds[:2].copy()
        width, depth = (bounds[2:] - bounds[:2]).tolist()
        self._spacing = max(SPACING, math.sqrt(width * depth / MAX_SQUARES))
        if self._spacing > MAX_SPACING:
            raise PlaceError(f"a plan of {width:g} x {depth:g} m is too large to place furniture in it")
        nx, ny = (math.ceil(side / self._spacing) for side in (width, depth))
        self._xs, self._ys = (bounds[k] + self._spacing * (np.arange(n) + 0.5) for k, n in ((0, nx), (1, ny)))
        self._free, self._empty = np.ones((2, ny, nx), np.bool_)
        self.pieces: list[Piece] = []
        self._block(walls, self._free, self._empty)
        self._regions = ndimage.label(self._free)[1]
        for piece in pieces:
            self._put(piece)
        if pieces:
            self._regions = ndimage.label(self._free)[1]

    def add(self, piece: Piece) -> bool:
        """Put a piece down, unless it overlaps something or divides the floor; returns whether it stands."""
        inside = self._inside(piece, GAP)
        if not inside.any() or not self._empty[inside].all():
            return False
        before = self._free.copy(), self._empty.copy()
        self._put(piece)
        if ndimage.label(self._free)[1] == self._regions:
            return True
        self._free, self._empty = before
        self.pieces.pop()
        return False

    def _put(self, piece: Piece) -> None:
        self.pieces.append(piece)
        self._block(piece.walls, self._free, self._empty)
        inside = self._inside(piece, 0.0)
        self._free &= ~inside
        self._empty &= ~inside

    def _block(self, walls: Walls, free: BoolArray, empty: BoolArray) -> None:
        block(walls, RADIUS, self._corner, self._spacing, free)
        block(walls, 0.5 * self._spacing, self._corner, self._spacing, empty)

    def _inside(self, piece: Piece, margin: float) -> BoolArray:
        """(ny, nx) squares whose middle is under a piece, or within a margin [m] of it."""
        x, y = self._xs[None, :] - piece.centre[0], self._ys[:, None] - piece.centre[1]
        if piece.round:
            near: BoolArray = np.hypot(x, y) <= 0.5 * piece.size[0] + margin
            return near
        c, s = math.cos(piece.angle), math.sin(piece.angle)
        along, aside = np.abs(c * x + s * y), np.abs(c * y - s * x)
        under: BoolArray = (along <= 0.5 * piece.size[0] + margin) & (aside <= 0.5 * piece.size[1] + margin)
        return under


def furnished(lines: Array, shines: Array, pieces: list[Piece]) -> Plan:
    """A plan of walls (n, 4) [m] with their shine (n,), and pieces of furniture."""
    boxes, rounds = [each for each in pieces if not each.round], [each for each in pieces if each.round]
    segments = [lines, *(each.walls.segments for each in boxes)]
    shine = [*shines.tolist(), *(each.shine for each in boxes for _ in range(4)), *(each.shine for each in rounds)]
    circles = np.reshape([(*each.centre, 0.5 * each.size[0]) for each in rounds], (-1, 3))
    return make_plan(np.concatenate(segments), circles, shine, boxes=len(boxes))


def pieces_of(plan: Plan) -> tuple[Array, Array, list[Piece]]:
    """The walls (n, 4) [m] of a plan without furniture, their shine (n,), and its furniture."""
    count = len(plan.segments) - 4 * plan.boxes
    sides, found = plan.segments[count:].reshape(-1, 4, 4), []
    for k, box in enumerate(sides):
        corners, middle = box[:, :2], box[:, :2].mean(axis=0)
        one, other = corners[1] - corners[0], corners[2] - corners[1]
        size = float(np.hypot(*one)), float(np.hypot(*other))
        angle = math.atan2(one[1], one[0])
        found.append(Piece((middle[0], middle[1]), size, angle, shine=plan.shine[count + 4 * k]))
    shines = plan.shine[len(plan.segments) :]
    for (x, y, radius), shine in zip(plan.circles.tolist(), shines.tolist(), strict=True):
        found.append(Piece((x, y), (2.0 * radius, 2.0 * radius), round=True, shine=shine))
    return plan.segments[:count], plan.shine[:count], found


def moved(plan: Plan, seed: int, distance: float = 0.6, tries: int = 30) -> Plan:
    """The same walls with every piece of furniture moved and turned a little, if there is room for that.

    Args:
        plan: With furniture: the boxes and circles of a TOML file, or of a random flat.
        seed: Same seed, same places.
        distance: Along x and y a piece moves at most this far [m].
        tries: How often a new place is drawn before a piece stays where it is.

    Raises:
        PlaceError: If the plan has no furniture, as one from an image.
    """
    lines, shines, pieces = pieces_of(plan)
    if not pieces:
        raise PlaceError("this plan has no furniture to move: boxes and circles of a TOML plan, or a random flat's")
    rng, bounds = np.random.default_rng(seed), plan.bounds
    walls = Walls(lines, np.zeros((0, 3)))
    for k in rng.permutation(len(pieces)).tolist():
        floor = OpenFloor(walls, bounds, (*pieces[:k], *pieces[k + 1 :]))
        for _ in range(tries):
            dx, dy = rng.uniform(-distance, distance, 2).tolist()
            x, y = pieces[k].centre
            piece = pieces[k]._replace(centre=(x + dx, y + dy), angle=pieces[k].angle + rng.uniform(-0.4, 0.4))
            if floor.add(piece):
                pieces[k] = piece
                break
    return furnished(lines, shines, pieces)
