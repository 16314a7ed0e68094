"""Tables of comma-separated values, in and out, exactly.

The first line names the columns: ``time`` [s]; ``x``, ``y`` [m] and ``heading`` [rad]; the same by odometry with
``odometry_`` before; ``speed`` [m/s], ``turn`` [rad/s]; and for each beam ``range_`` with its bearing [rad] behind, as
in ``range_-0.0174``. Only ``time`` has to be there, and an empty cell is not known.
"""

import math
from collections.abc import Iterator
from typing import TextIO

import numpy as np
import xarray as xr

from sandlot.recordings.logs.scans import MOST_BEAMS, Pose, Scan
from sandlot.recordings.logs.source import Source, numbers

COLUMNS = ("time", "x", "y", "heading", "odometry_x", "odometry_y", "odometry_heading", "speed", "turn")
RANGE = "range_"
FARTHEST = 1e6
"""No laser sees further [m]."""


def read_table(source: Source) -> Iterator[Scan]:
    """Read the scans of a table; times stay as they are.

    Yields:
        One scan for each row.

    Raises:
        DamagedError: The header names no columns, or a row does not fit to it.
    """
    lines = source.lines()
    number, line = next(lines, (1, ""))
    header = _cells(line.removeprefix("\ufeff"))
    places = {name: place for place, name in enumerate(header) if name in COLUMNS}
    beams = [place for place, name in enumerate(header) if name.startswith(RANGE)]
    if "time" not in places:
        raise source.damaged(number, f"no column 'time' among {', '.join(header[:9])[:200]}")
    if len(header) > len(set(header)) or len(beams) > MOST_BEAMS:
        raise source.damaged(number, f"two columns have the same name, or there are more than {MOST_BEAMS:,} beams")
    try:
        bearings = np.array(numbers([header[place].removeprefix(RANGE) for place in beams]))
    except ValueError as error:
        raise source.damaged(number, f"the bearing of a range is wrong ({error}); write as in range_-0.0174") from error
    unknown = [name for name in header if name not in COLUMNS and not name.startswith(RANGE)]
    if unknown:
        source.note(f"columns left out: {', '.join(unknown[:9])[:200]}; known: {', '.join(COLUMNS)}, range_BEARING")
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
        if not (np.isnan(ranges) | (np.abs(ranges) <= FARTHEST)).all():
            raise source.damaged(number, f"a range is beyond {FARTHEST:g} m")
        pose, odometry = (
            Pose(*(values.get(prefix + name, math.nan) for name in ("x", "y", "heading")))
            for prefix in ("", "odometry_")
        )
        speed, turn = values.get("speed", math.nan), values.get("turn", math.nan)
        yield Scan(values["time"], ranges.astype(np.float32), bearings, pose, odometry, speed, turn)


def _cells(line: str) -> list[str]:
    return [cell.strip().strip('"') for cell in line.split(",", MOST_BEAMS + 100)]


def _number(cell: str) -> float:
    """A number; an empty cell is not known."""
    return numbers([cell])[0] if cell else math.nan


def write_table(block: xr.Dataset, bearings: np.ndarray[tuple[int], np.dtype[np.float64]], file: TextIO) -> None:
    """Write the rows of a part of a recording.

    Args:
        block: With the quantities of a recording of scans.
        bearings: (beams,) [rad].
        file: To write to; if nothing has been written yet, a header goes first.
    """
    if file.tell() == 0:
        file.write(",".join([*COLUMNS, *(f"{RANGE}{bearing!r}" for bearing in bearings.tolist())]) + "\n")
    poses = [np.column_stack([block[f"{prefix}position"], block[f"{prefix}heading"]]) for prefix in ("", "odometry_")]
    numbers_ = np.column_stack([block["time"], *poses, block["speed"], block["turn"]])
    ranges = block["ranges"].values.astype(str)  # the shortest text that gives the same float32
    for row, seen in zip(numbers_.tolist(), ranges.tolist(), strict=True):
        cells = [*map(repr, row), *seen]
        file.write(",".join("" if cell == "nan" else cell for cell in cells) + "\n")
