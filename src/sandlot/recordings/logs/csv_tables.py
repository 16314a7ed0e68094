"""Tables of comma-separated values, read and written without loss.

The first line names the columns, in any order: ``time`` [s]; the pose ``x``, ``y`` [m], ``yaw`` [rad]; the same by
odometry after ``odometry_``; ``speed`` [m/s], ``turn_rate`` [rad/s]; and for each beam ``range_`` followed by its
bearing [rad], as in ``range_-0.0174``. ``time`` and a range are required; an empty cell is an unknown value. The first
row may also hold ``start``, the time that ``time`` counts from [s], and ``laser_x``, ``laser_y``, the laser's position
on the robot [m].
"""

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from sandlot.errors import quote
from sandlot.recordings.logs.source import Source, numbers
from sandlot.recordings.scans import MAX_BEAMS, NUMBERS, Pose, Scan
from sandlot.typing import Array

if TYPE_CHECKING:
    import xarray as xr

RANGE = "range_"
ONCE = ("start", "laser_x", "laser_y")
"""Columns that only the first row fills in."""
MAX_RANGE = 1e6
"""Of any laser [m]."""


def read_csv(source: Source) -> Iterator[Scan]:
    """Read the scans of a table; times stay as they are.

    Yields:
        One scan for each row.

    Raises:
        DamagedError: The header lacks columns, or a row does not fit to it.
    """
    lines = source.lines()
    number, line = next(lines, (1, ""))
    header = _cells(line.removeprefix("\ufeff"))
    places = {name: place for place, name in enumerate(header) if name in (*NUMBERS, *ONCE)}
    beams = [place for place, name in enumerate(header) if name.startswith(RANGE)]
    if "time" not in places:
        raise source.damaged(number, f"no column 'time' among {quote(', '.join(header[:9]))}")
    if not beams:
        raise source.damaged(number, f"no ranges among {quote(', '.join(header[:9]))}; name them as in range_-0.0174")
    if len(header) > len(set(header)) or len(beams) > MAX_BEAMS:
        raise source.damaged(number, f"two columns have the same name, or there are more than {MAX_BEAMS:,} beams")
    try:
        bearings = np.array(numbers([header[place].removeprefix(RANGE) for place in beams]))
    except ValueError as error:
        raise source.damaged(number, f"the bearing of a range is wrong ({error}); write as in range_-0.0174") from error
    unknown = [name for name in header if name not in places and not name.startswith(RANGE)]
    if unknown:
        known = ", ".join((*NUMBERS, *ONCE))
        source.note(f"columns left out: {quote(', '.join(unknown[:9]))}; known: {known}, range_BEARING")
    first = True
    for number, line in lines:
        cells = _cells(line)
        if len(cells) != len(header):
            raise source.damaged(number, f"{len(cells)} cells, but {len(header)} columns")
        try:
            values = {name: _number(cells[place]) for name, place in places.items()}
            ranges = np.array([_number(cells[place]) for place in beams], np.float64)
        except ValueError as error:
            raise source.damaged(number, str(error)) from error
        if not math.isfinite(values["time"]):
            raise source.damaged(number, "it has no time")
        if not (np.isnan(ranges) | (np.abs(ranges) <= MAX_RANGE)).all():
            raise source.damaged(number, f"a range is beyond {MAX_RANGE:g} m")
        if first:
            source.settings |= _settings(values)
            first = False
        time, x, y, yaw, odometry_x, odometry_y, odometry_yaw, speed, turn_rate = (
            values.get(name, math.nan) for name in NUMBERS
        )
        pose, odometry = Pose(x, y, yaw), Pose(odometry_x, odometry_y, odometry_yaw)
        yield Scan(time, ranges.astype(np.float32), bearings, pose, odometry, speed, turn_rate)


def _settings(values: Mapping[str, float]) -> dict[str, Any]:
    """Start and laser position, as far as the first row gives them."""
    start, laser_x, laser_y = (values.get(name, math.nan) for name in ONCE)
    found: dict[str, Any] = {} if math.isnan(start) else {"start": start}
    return found if math.isnan(laser_x + laser_y) else {**found, "laser_position": [laser_x, laser_y]}


def _cells(line: str) -> list[str]:
    return [cell.strip().strip('"') for cell in line.split(",", MAX_BEAMS + 100)]


def _number(cell: str) -> float:
    """A number; NaN for an empty cell."""
    return numbers([cell])[0] if cell else math.nan


class CsvWriter:
    """Writes blocks of a recording as rows.

    Args:
        file: To write to.
        bearings: (beams,) [rad].
        start: Time that the recording's times count from [s]; None if unknown.
        laser: Position of the laser on the robot, x and y [m]; None if unknown.
    """

    def __init__(
        self, file: TextIO, bearings: Array, start: float | None = None, laser: tuple[float, float] | None = None
    ) -> None:
        self._file = file
        once = {} if start is None else {"start": start}
        once |= {} if laser is None else {"laser_x": laser[0], "laser_y": laser[1]}
        self._once = [repr(value) for value in once.values()]
        file.write(",".join([*NUMBERS, *once, *(f"{RANGE}{bearing!r}" for bearing in bearings.tolist())]) + "\n")

    def write(self, block: "xr.Dataset") -> None:
        """Write the frames of a part of a recording."""
        rows = np.column_stack([block[name] for name in NUMBERS])
        ranges = block["ranges"].values.astype(str)  # the shortest text that gives the same float32
        for row, seen in zip(rows.tolist(), ranges.tolist(), strict=True):
            cells = [*map(repr, row), *self._once, *seen]
            self._file.write(",".join("" if cell == "nan" else cell for cell in cells) + "\n")
            self._once = [""] * len(self._once)
