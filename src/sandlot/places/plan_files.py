"""Floor plans in TOML: walls as lines or rectangles, boxes, and circles.

```toml
shine = 0.1                       # of all that do not say otherwise: 0 is matt, 1 a mirror

[[walls]]
points = [[0, 0], [10, 0], [10, 8], [0, 8]]
closed = true                     # back to the first point
[[walls]]
points = [[4, 0], [4, 3]]
thickness = 0.1                   # on both sides of the line, half each
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

from sandlot.errors import SandlotError
from sandlot.places.plans import Plan, make_plan
from sandlot.settings import Settings, build, nearest, read_settings

Point = tuple[float, float]
Line = tuple[float, float, float, float]
Shine = Annotated[float, Field(ge=0.0, le=1.0)]
Length = Annotated[float, Field(gt=0.0)]


class Wall(Settings):
    """A line through points, or a rectangle.

    Attributes:
        points: Of the line [m].
        rectangle: x and y of a corner, width along x, depth along y [m], in place of points.
        closed: Whether the line goes back to its first point.
        thickness: Of the wall [m]; 0 is a mere line.
        shine: From 0, matt, to 1, a mirror.
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
        """Segments."""
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
            # Where two pieces meet, each reaches into the other: no notch at the corner.
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
        shine: From 0, matt, to 1, a mirror.
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
        shine: From 0, matt, to 1, a mirror.
    """

    centre: Point
    radius: float = Field(gt=0.0)
    shine: Shine


KINDS: dict[str, type[Settings]] = {"walls": Wall, "boxes": Box, "circles": Circle}


def outline(centre: Point, size: Point, angle: float) -> Iterator[Line]:
    """The four sides of a box."""
    cosine, sine = math.cos(angle), math.sin(angle)
    corners = [
        (centre[0] + cosine * x - sine * y, centre[1] + sine * x + cosine * y)
        for x, y in ((sx * size[0] / 2, sy * size[1] / 2) for sx, sy in ((-1, -1), (1, -1), (1, 1), (-1, 1)))
    ]
    for one, other in zip(corners, corners[1:] + corners[:1], strict=True):
        yield (*one, *other)


def read_toml(path: Path) -> Plan:
    """Read a plan from TOML.

    Raises:
        SandlotError: One line that says what is wrong with the file.
    """
    try:
        table = read_settings(path)
    except RecursionError:
        raise SandlotError(f"{path} is not a plan: it has lists within lists without end") from None
    shine = table.pop("shine", 0.0)
    for key in table:
        if key not in KINDS:
            raise SandlotError(f"{path}: a plan has no {key!r}; {nearest(key, [*KINDS, 'shine'])}")
    lines: list[Line] = []
    discs: list[tuple[float, float, float]] = []
    shines: list[float] = []
    round_shines: list[float] = []
    for kind in KINDS:
        for thing in _things(path, kind, table.get(kind, []), shine):
            if isinstance(thing, Circle):
                discs.append((*thing.centre, thing.radius))
                round_shines.append(thing.shine)
            elif isinstance(thing, Wall | Box):
                sides = thing.lines() if isinstance(thing, Wall) else outline(thing.centre, thing.size, thing.angle)
                lines.extend(sides)
                shines.extend([thing.shine] * (len(lines) - len(shines)))
    return make_plan(lines, discs, shines + round_shines)


def _things(path: Path, kind: str, entries: Any, shine: Any) -> Iterator[Settings]:
    """Those of one kind."""
    if not isinstance(entries, list):
        raise SandlotError(f"{path}: {kind} is a list of tables; write each as [[{kind}]]")
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, dict):
            raise SandlotError(f"{path}: {kind} is a list of tables; write each as [[{kind}]]")
        try:
            yield build(KINDS[kind], {"shine": shine, **entry})
        except SandlotError as error:
            raise SandlotError(f"{path}: number {number} of the {kind}: {error}") from None
