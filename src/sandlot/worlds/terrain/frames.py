"""What a frame of the terrain world holds, and what a recording adds: the changes of the ground."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.recordings import Frame, Quantity
from sandlot.recordings.vocabulary import quantity
from sandlot.typing import Array
from sandlot.worlds.base import Recorder
from sandlot.worlds.terrain.task import TerrainTask
from sandlot.worlds.terrain.windows import Windows, rounded

if TYPE_CHECKING:
    from sandlot.worlds.terrain.world import Terrain

ROVER_QUANTITIES = (
    *("x", "y", "z", "roll", "pitch", "yaw", "dx", "dy", "dyaw"),
    *("wheel_speed_left", "wheel_speed_right", "command_speed", "command_turn_rate", "path_length"),
)


def frame_quantities(task: TerrainTask) -> dict[str, Quantity]:
    """Quantities of `frame`."""
    shape, every = task.ground.grid.shape, task.settings.map_every
    each = {name: quantity(name, ("rover",), (task.rovers.count,)) for name in ROVER_QUANTITIES}
    heights = quantity("heights", ("map_y", "map_x"), shape, "float32", every)
    return {"time": quantity("time"), **each, "heights": heights}


def frame(task: TerrainTask) -> Frame:
    """The present moment."""
    columns = np.empty((len(ROVER_QUANTITIES), task.rovers.count))
    _fill(task, columns, np.empty((task.rovers.count, 2)))
    each = dict(zip(ROVER_QUANTITIES, columns, strict=True))
    return {"time": np.float64(task.time), **each, "heights": rounded(task.ground.heights)}


def _fill(task: TerrainTask, columns: Array, nodes: Array) -> None:
    """Write the quantities of rovers, and the nodes that they are at."""
    state, grid = task.state, task.ground.grid
    rover_columns(
        state.position,
        state.attitude,
        task.moved,
        state.wheel_speeds,
        task.commands,
        task.path_length,
        grid.corner,
        grid.spacing,
        grid.shape,
        grid.wrap,
        columns,
        nodes,
    )


@kernel(error_model="numpy", allocates=False)
def rover_columns(
    position: Array,
    attitude: Array,
    moved: Array,
    wheel_speeds: Array,
    commands: Array,
    path_length: Array,
    corner: Array,
    spacing: float,
    shape: tuple[int, int],
    wrap: bool,
    columns: Array,
    nodes: Array,
) -> None:
    """Gather the quantities of rovers.

    Args:
        position: (rovers, 3) [m]
        attitude: (rovers, 3) roll, pitch and yaw [rad].
        moved: (rovers, 3) change of x, y [m] and yaw [rad].
        wheel_speeds: (rovers, 2) [rad/s]
        commands: (rovers, 2) [m/s, rad/s]
        path_length: (rovers,) [m]
        corner: (2,) of the grid [m].
        spacing: Of the grid [m].
        shape: Of the grid.
        wrap: Whether it continues at the opposite edge.
        columns: (14, rovers) receives the quantities of ``ROVER_QUANTITIES``.
        nodes: (rovers, 2) receives row and column, with fractions, as `Grid.nodes`.
    """
    for k in range(len(position)):
        for axis in range(2):
            node = (position[k, axis] - corner[axis]) / spacing
            if wrap:
                node = (node + 0.5) % shape[1 - axis] - 0.5
            nodes[k, 1 - axis] = node
            columns[axis, k] = corner[axis] + spacing * node
            columns[9 + axis, k], columns[11 + axis, k] = wheel_speeds[k, axis], commands[k, axis]
        columns[2, k], columns[13, k] = position[k, 2], path_length[k]
        for axis in range(3):
            columns[3 + axis, k], columns[6 + axis, k] = attitude[k, axis], moved[k, axis]


class TerrainRecorder(Recorder):
    """Frames of a recording: they hold the changes of the ground since the frame before, around each rover."""

    def __init__(self, world: "Terrain") -> None:
        """Nothing is recorded yet."""
        self._task, self._every = world.task, world.settings.map_every
        count, grid = self._task.rovers.count, self._task.ground.grid
        self._windows = Windows(grid.shape, count, world.settings.window, grid.wrap)
        self._frames = 0
        self._time, self._columns = np.zeros(()), np.zeros((len(ROVER_QUANTITIES), count))
        self._nodes = np.zeros((count, 2))
        self._frame: dict[str, NDArray[Any]] = {
            "time": self._time,
            **dict(zip(ROVER_QUANTITIES, self._columns, strict=True)),
        }
        self.quantities: dict[str, Quantity] = dict(world.quantities)
        if world.settings.window:
            self._record_windows(count)
        # Where no changes are recorded, every map is that of its frame.
        self._frame["heights"] = self._windows.heights

    def _record_windows(self, count: int) -> None:
        """Add the changes of the ground to frames."""
        windows, heights = self._windows, self.quantities.pop("heights")
        self.quantities |= {
            "window_row": quantity("window_row", ("rover",), (count,), "int64"),
            "window_column": quantity("window_column", ("rover",), (count,), "int64"),
            "height_change": quantity(
                "height_change", ("rover", "window_y", "window_x"), windows.change.shape, "float32"
            ),
            "heights": heights,
        }
        self._frame |= {
            "window_row": windows.rows,
            "window_column": windows.columns,
            "height_change": windows.change,
        }

    def restart(self) -> None:
        """An episode has begun; its first frame has no changes."""
        self._windows.restart(self._task.ground.heights)

    def frame(self) -> Frame:
        """The present moment, and what has changed since the last frame of this recording."""
        task, windows = self._task, self._windows
        _fill(task, self._columns, self._nodes)
        self._time[()] = task.time
        if task.exploded:
            windows.change[:] = 0.0
        else:
            if windows.change.size:
                windows.record(task.ground.heights, self._nodes)
            if self._frames % self._every == 0:  # this frame keeps the whole map
                windows.restart(task.ground.heights)
        self._frames += 1
        return self._frame
