"""Floor plans in TOML: walls as lines or rectangles, boxes, and circles.

```toml
shine = 0.1                       # default of all surfaces: 0 is matt, 1 a mirror

[[walls]]
points = [[0, 0], [10, 0], [10, 8], [0, 8]]
closed = true                     # back to the first point
[[walls]]
points = [[4, 0], [4, 3]]
thickness = 0.1                   # half of it on each side of the line
shine = 1.0
[[walls]]
rectangle = [0, 0, 10, 8]         # x and y of a corner, width, depth
[[boxes]]
centre = [2, 3]
size = [0.8, 0.4]
angle = 0.3                       # counter-clockwise
[[circles]]
centre = [6, 4]
radius = 0.5
```
All in metres and radians.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from sandlot.errors import PlaceError, SandlotError, quote
from sandlot.geometry.planar import rectangle
from sandlot.places.plans import Plan, make_plan
from sandlot.reading import read_toml
from sandlot.settings import Settings, build, nearest

Point = tuple[float, float]
Line = tuple[float, float, float, float]
Shine = Annotated[float, Field(ge=0.0, le=1.0)]
Length = Annotated[float, Field(gt=0.0)]


class Wall(Settings):
    """A line through points, or a rectangle.

    Attributes:
        points: Of the line [m].
        rectangle: x and y of a corner, width along x, depth along y [m], in place of points.
        closed: Whether the last point is joined to the first.
        thickness: Of the wall [m]; 0 for a line.
        shine: 0 is matt, 1 a mirror.
    """

    points: tuple[Point, ...] = ()
    rectangle: tuple[float, float, Length, Length] | None = None
    closed: bool = False
    thickness: float = Field(0.0, ge=0.0)
    shine: Shine

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.rectangle is None) == (len(self.points) < 2):
            raise ValueError("a wall has either a rectangle or at least two points")
        return self

    def lines(self) -> Iterator[Line]:
        """The segments of its outline."""
        points, closed = self.points, self.closed
        if self.rectangle is not None:
            x, y, width, depth = self.rectangle
            points, closed = ((x, y), (x + width, y), (x + width, y + depth), (x, y + depth)), True
        last = len(points) - (1 if closed else 2)
        for k, (one, other) in enumerate(zip(points, (*points[1:], points[0])[: last + 1], strict=False)):
            if self.thickness == 0.0:
                yield (*one, *other)
                continue
            angle, length = math.atan2(other[1] - one[1], other[0] - one[0]), math.dist(one, other)
            # Where two pieces meet, each is extended by half the thickness, so that the corner has no notch.
            before, after = (0.5 * self.thickness if closed or k != end else 0.0 for end in (0, last))
            middle = 0.5 * (length + after - before)
            centre = one[0] + middle * math.cos(angle), one[1] + middle * math.sin(angle)
            yield from outline(centre, (length + before + after, self.thickness), angle)


class Box(Settings):
    """A carton, a table, a cupboard.

    Attributes:
        centre: [m]
        size: Along its own x and y [m].
        angle: Counter-clockwise [rad].
        shine: 0 is matt, 1 a mirror.
    """

    centre: Point
    size: tuple[Length, Length]
    angle: float = 0.0
    shine: Shine


class Circle(Settings):
    """A pillar, a round table, a bin.

    Attributes:
        centre: [m]
        radius: [m]
        shine: 0 is matt, 1 a mirror.
    """

    centre: Point
    radius: float = Field(gt=0.0)
    shine: Shine


KINDS: dict[str, type[Settings]] = {"walls": Wall, "boxes": Box, "circles": Circle}


def outline(centre: Point, size: Point, angle: float) -> Iterator[Line]:
    """The four sides of a box."""
    front_left, rear_left, rear_right, front_right = rectangle(centre, size, angle).tolist()
    for one, other in (
        (rear_right, front_right),
        (front_right, front_left),
        (front_left, rear_left),
        (rear_left, rear_right),
    ):
        yield (*one, *other)


def read_plan(path: Path) -> Plan:
    """Read a plan from TOML.

    Raises:
        PlaceError: One line that says what is wrong with the file.
    """
    table = read_toml(path, error=PlaceError)
    shine = table.pop("shine", 0.0)
    for key in table:
        if key not in KINDS:
            raise PlaceError(f"{path}: a plan has no {quote(key)!r}; {nearest(key, [*KINDS, 'shine'])}")
    lines: list[Line] = []
    discs: list[tuple[float, float, float]] = []
    shines: list[float] = []
    round_shines: list[float] = []
    boxes = 0
    for kind in KINDS:
        for thing in _objects(path, kind, table.get(kind, []), shine):
            if isinstance(thing, Circle):
                discs.append((*thing.centre, thing.radius))
                round_shines.append(thing.shine)
            elif isinstance(thing, Wall | Box):
                sides = thing.lines() if isinstance(thing, Wall) else outline(thing.centre, thing.size, thing.angle)
                lines.extend(sides)
                boxes += isinstance(thing, Box)
                shines.extend([thing.shine] * (len(lines) - len(shines)))
    return make_plan(lines, discs, shines + round_shines, boxes=boxes)


def _objects(path: Path, kind: str, entries: Any, shine: Any) -> Iterator[Settings]:
    """The walls, boxes or circles of a file."""
    if not isinstance(entries, list):
        raise PlaceError(f"{path}: {kind} is a list of tables; write each as [[{kind}]]")
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, dict):
            raise PlaceError(f"{path}: {kind} is a list of tables; write each as [[{kind}]]")
        try:
            yield build(KINDS[kind], {"shine": shine, **entry})
        except SandlotError as error:
            raise PlaceError(f"{path}: number {number} of the {kind}: {error}") from None
