"""What a frame of the terrain world holds, and what a recording adds: the changes of the ground."""

from typing import TYPE_CHECKING

import numpy as np

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
    nodes = task.ground.grid.nodes(task.state.position)
    return {**_rover_frame(task, nodes), "heights": rounded(task.ground.heights)}


def _rover_frame(task: TerrainTask, nodes: Array) -> Frame:
    """The quantities of rovers that are at nodes (rovers, 2), row and column."""
    state, place = task.state, task.ground.grid.places(nodes)
    columns = np.column_stack(
        [place, state.position[:, 2], state.attitude, task.moved, state.wheel_speeds, task.commands, task.path_length]
    )
    return {"time": np.float64(task.time), **dict(zip(ROVER_QUANTITIES, columns.T, strict=True))}


class TerrainRecorder(Recorder):
    """Frames of a recording: they hold the changes of the ground since the frame before, around each rover."""

    def __init__(self, world: "Terrain") -> None:
        """Nothing is recorded yet."""
        self._task, self._every = world.task, world.settings.map_every
        count, grid = self._task.rovers.count, self._task.ground.grid
        self._windows = Windows(grid.shape, count, world.settings.window, grid.wrap)
        self._frames = 0
        size = self._windows.change.shape[1:]
        maps = dict(world.quantities)
        heights = maps.pop("heights")
        self.quantities = {
            **maps,
            "window_row": quantity("window_row", ("rover",), (count,), "int64"),
            "window_column": quantity("window_column", ("rover",), (count,), "int64"),
            "height_change": quantity("height_change", ("rover", "window_y", "window_x"), (count, *size), "float32"),
            "heights": heights,
        }

    def restart(self) -> None:
        """An episode has begun; its first frame has no changes."""
        self._windows.restart(self._task.ground.heights)

    def frame(self) -> Frame:
        """The present moment, and what has changed since the last frame of this recording."""
        task, windows = self._task, self._windows
        nodes = task.ground.grid.nodes(task.state.position)
        if task.exploded:
            windows.change[:] = 0.0
        else:
            windows.record(task.ground.heights, nodes)
            if self._frames % self._every == 0:  # this frame keeps the whole map
                windows.restart(task.ground.heights)
        self._frames += 1
        return {
            **_rover_frame(task, nodes),
            "window_row": windows.rows,
            "window_column": windows.columns,
            "height_change": windows.change,
            "heights": windows.heights,
        }
