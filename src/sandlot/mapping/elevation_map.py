"""An elevation map ahead of each of many robots, fused from panned scans while they move: Vincent 2008, section 4."""

import numpy as np

from sandlot.mapping.elevation_cells import Cells, add_lines, read_cells
from sandlot.sensing.panned_laser import PAN_ANGLES, PANS, View
from sandlot.sensing.rays import Fan
from sandlot.typing import Array, IntArray

CELL = 0.01
"""Length of a cell along x [m]."""
MEMORY = 5.0
"""A cell that was not measured again for this long is unknown [s]; chosen."""
NOBODY = -(2**62)


class ElevationMap:
    """The highest point of the ground in each cell ahead, along lines of several pan angles.

    The scan lines of a pan angle fill one row. Cell i of a row lies 1 cm times i ahead of the middle of the body, along
    the robot's heading. A scan replaces what earlier ones measured in the same cell. Cells that it does not reach, such
    as those below the robot, move with the robot until they are too old. After a turn, cells to the side that are no
    longer where their row is are dropped.

    Attributes:
        rows: (rows,) index of each row's angle in `PAN_ANGLES`.
        cells: The measured cells.
    """

    def __init__(self, count: int, ahead: int, rows: IntArray, memory: float = MEMORY) -> None:
        """Know nothing.

        Args:
            count: Of robots.
            ahead: Number of cells of a row; 201 in the source.
            rows: (rows,) index of each row's angle in `PAN_ANGLES`.
            memory: A cell that was not measured again for this long is unknown [s].
        """
        self.rows, self._ahead, self._memory = np.asarray(rows), ahead, memory
        self._row_of = np.full(PANS, -1)
        self._row_of[self.rows] = np.arange(len(self.rows))
        shape = (count, len(self.rows), ahead + 64)  # so that a robot that slips back finds what it left
        self.cells = Cells(np.zeros(shape), np.zeros(shape), np.full(shape, NOBODY), np.zeros(shape))
        self._slopes = np.tan(PAN_ANGLES[self.rows])

    def forget(self, which: IntArray) -> None:
        """Make these robots know nothing."""
        self.cells.owners[which] = NOBODY

    def add(self, ranges: Array, view: View, fan: Fan, driven: Array, now: Array) -> None:
        """Put a scan into the maps.

        Args:
            ranges: (count, lines, beams) [m], NaN without a return; missing ones between returns are filled in.
            view: From where they were measured.
            fan: Beams of a line.
            driven: (count,) distance along the heading since the start [m].
            now: (count,) time [s].
        """
        add_lines(ranges, view, self._row_of, PAN_ANGLES, fan, driven, now, CELL, self._ahead, self.cells)

    def read(self, driven: Array, zeros: Array, now: Array, yaws: Array | None = None) -> Array:
        """Heights of the cells ahead.

        Args:
            driven: (count,) distance along the heading since the start [m].
            zeros: (count,) height that counts as zero [m].
            now: (count,) [s]
            yaws: (count,) [rad]; if left out, no cell is dropped for a turn.

        Returns:
            (count, rows, ahead) [m]. Unknown cells are interpolated between known ones of their row.
        """
        found = np.empty((len(driven), len(self.rows), self._ahead))
        yaws = np.full(len(driven), np.nan) if yaws is None else yaws
        read_cells(self.cells, driven, zeros, now, yaws, self._slopes, CELL, self._memory, found)
        return found
