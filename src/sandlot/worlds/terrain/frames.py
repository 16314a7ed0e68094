"""What a frame of the terrain world holds."""

import numpy as np

from sandlot.kernels import kernel
from sandlot.recordings import Frame, Quantity
from sandlot.recordings.vocabulary import quantity
from sandlot.typing import Array
from sandlot.worlds.terrain.task import TerrainTask
from sandlot.worlds.terrain.windows import rounded

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
    fill(task, columns, np.empty((task.rovers.count, 2)))
    each = dict(zip(ROVER_QUANTITIES, columns, strict=True))
    return {"time": np.float64(task.time), **each, "heights": rounded(task.ground.heights)}


def fill(task: TerrainTask, columns: Array, nodes: Array) -> None:
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
def node_along(x: float, first: float, spacing: float, count: int, wrap: bool) -> float:
    """The node at x [m], with fractions, along an axis of ``count`` nodes whose first is at ``first`` [m]."""
    node = (x - first) / spacing
    return (node + 0.5) % count - 0.5 if wrap else node


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
            node = node_along(position[k, axis], corner[axis], spacing, shape[1 - axis], wrap)
            nodes[k, 1 - axis] = node
            columns[axis, k] = corner[axis] + spacing * node
            columns[9 + axis, k], columns[11 + axis, k] = wheel_speeds[k, axis], commands[k, axis]
        columns[2, k], columns[13, k] = position[k, 2], path_length[k]
        for axis in range(3):
            columns[3 + axis, k], columns[6 + axis, k] = attitude[k, axis], moved[k, axis]
