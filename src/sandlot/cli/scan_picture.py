"""A scan in the terminal: a picture from above, of Braille characters with 2 x 4 dots each."""

import numpy as np

from sandlot.recordings.scans import Scan
from sandlot.typing import Array

DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Of a Braille character: rows from above, columns from the left."""
BLANK = 0x2800


def reach_of(scan: Scan) -> float:
    """Radius that shows nearly all returns: 1, 2, 5, 10 m and so on."""
    seen = scan.ranges[np.isfinite(scan.ranges)]
    far = float(np.quantile(seen, 0.97)) if len(seen) else 1.0
    return next((each for each in (1.0, 2.0, 5.0, 10.0, 20.0) if each >= far), 50.0)


def scan_picture(scan: Scan, columns: int, rows: int, reach: float) -> list[str]:
    """Lines of text: the robot in the middle as an arrow, its front up, its left on the left.

    Args:
        scan: What to draw.
        columns: Characters of a line.
        rows: Lines.
        reach: Half of the shorter side [m].
    """
    cells = np.zeros((rows, columns), np.int64)
    scale = 0.5 * min(2 * columns, 4 * rows) / reach  # dots per metre
    seen = np.isfinite(scan.ranges)
    ahead, left = scan.ranges[seen] * np.cos(scan.bearings[seen]), scan.ranges[seen] * np.sin(scan.bearings[seen])
    right, down = _dots(columns - scale * left), _dots(2 * rows - scale * ahead)
    inside = (right >= 0) & (right < 2 * columns) & (down >= 0) & (down < 4 * rows)
    right, down = right[inside], down[inside]
    np.bitwise_or.at(cells, (down // 4, right // 2), np.array(DOTS)[down % 4, right % 2])
    lines = ["".join(chr(BLANK + cell) for cell in row) for row in cells.tolist()]
    middle, centre = rows // 2, columns // 2
    lines[middle] = f"{lines[middle][:centre]}▲{lines[middle][centre + 1 :]}"
    return lines


def _dots(values: Array) -> "np.ndarray[tuple[int, ...], np.dtype[np.int64]]":
    return np.floor(values).astype(np.int64)
