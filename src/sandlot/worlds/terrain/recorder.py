"""What a recording of the terrain world holds: its frames, and the changes of the ground around each rover."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sandlot.recordings import Frame, Quantity
from sandlot.recordings.vocabulary import quantity
from sandlot.typing import Array
from sandlot.worlds.base import Recorder, StepResult
from sandlot.worlds.terrain.frames import ROVER_QUANTITIES, fill
from sandlot.worlds.terrain.stretches import Stretches
from sandlot.worlds.terrain.windows import Windows

if TYPE_CHECKING:
    from sandlot.worlds.terrain.world import Terrain


class TerrainRecorder(Recorder):
    """Frames of a recording: they hold the changes of the ground since the frame before, around each rover."""

    def __init__(self, world: "Terrain") -> None:
        """Nothing is recorded yet."""
        self._world: Terrain = world
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
        self._stretches = Stretches.of(self._task, self._windows)

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
        """An episode has begun; its first frame has the changes since nothing had touched the ground."""
        self._windows.restart(self._task.ground.initial)

    def frame(self) -> Frame:
        """The present moment, and what has changed since the last frame of this recording."""
        task, windows = self._task, self._windows
        fill(task, self._columns, self._nodes)
        self._time[()] = task.time
        if task.exploded:
            windows.change[:] = 0.0
        else:
            if windows.change.size:
                windows.record(task.ground.heights, self._nodes)
            self._keep_map(self._frames)
        self._frames += 1
        return self._frame

    def _keep_map(self, number: int) -> None:
        """Take the whole map as recorded, if the frame of this number keeps it."""
        if number % self._every == 0:
            self._windows.restart(self._task.ground.heights)

    @property
    def can_hold(self) -> bool:
        """Whether steps are frames on soil without goals, and no sensor draws numbers, which later ones would miss."""
        plain = self._task.goals is None and not self._task.noisy and self._task.settings.frame_skip == 1
        return self._stretches is not None and plain and not self._task.exploded

    def hold(self, action: NDArray[Any], rows: Mapping[str, NDArray[Any]]) -> tuple[Array, StepResult, Frame]:
        """Drive several frames with one command, and write them."""
        assert self._stretches is not None
        commands = self._world.check(action)
        forward, more = self._stretches.drive(commands, rows)
        rewards, made = forward.sum(axis=1), len(forward)
        self._frames += made
        if made:
            self._keep_map(self._frames - 1)
        if more:
            rewards = np.append(rewards, self._stretches.finish(commands))
        result = self._world.result(float(rewards[-1]))
        if result[2] or result[3]:
            result[4]["outcomes"] = self._world.outcomes()
        if more:
            rewards[-1] = result[1]
            for name, value in self.frame().items():
                if name in rows:
                    rows[name][made] = value
        return rewards, result, self._frame
