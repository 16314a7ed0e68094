"""Several frames of the terrain world under one command, in one call of a kernel.

Between two frames, Python takes half as long as the physics of a frame. A recording of a controller that ignores
observations needs none of that: a kernel makes the steps, keeps positions and velocities, and writes the changes of the
ground to where the recording keeps them. The rest is done for all frames together. All numbers are, bit for bit, those
of single frames.

A frame that may end the episode is left to the code for single frames, which decides.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sandlot.kernels import kernel
from sandlot.physics.soil.loops import Stepping, stepping
from sandlot.physics.soil.step import advance
from sandlot.robots.rover_reader import MAX_RATE, MAX_SPEED
from sandlot.typing import Array
from sandlot.worlds.terrain.fleet import MujocoFleet
from sandlot.worlds.terrain.frames import ROVER_QUANTITIES, node_along, rover_columns
from sandlot.worlds.terrain.ground import SoilGround
from sandlot.worlds.terrain.task import TerrainTask, account
from sandlot.worlds.terrain.windows import Windows, record_windows

UPRIGHT = 1e-6
"""A rover may lie on its back if the vertical component of its upward axis is less than this."""


class Rows(NamedTuple):
    """Where `drive_frames` writes.

    Attributes:
        recorded: (ny, nx) heights already recorded [micrometre].
        heights: (ny, nx) the same [m].
        row: (frames, rovers) row of each window's first node.
        column: (frames, rovers) its column.
        change: (frames, rovers, rows, columns) to be recorded [m]; empty if changes are not recorded.
        qpos: (frames, positions) of the simulation.
        qvel: (frames, velocities) of the simulation.
        qacc: (frames, velocities) accelerations of it.
    """

    recorded: NDArray[np.int32]
    heights: NDArray[np.float32]
    row: NDArray[np.int64]
    column: NDArray[np.int64]
    change: NDArray[np.float32]
    qpos: Array
    qvel: Array
    qacc: Array


@kernel(error_model="numpy", allocates=False)
def may_end(qpos: Array, qvel: Array, rovers: NDArray[np.void], xpos: Array, half: Array, wrap: bool) -> bool:
    """Whether a rover may lie on its back, has left the map, or has exploded.

    Args:
        qpos: Positions of the simulation.
        qvel: Its velocities.
        rovers: (rovers,) of `sandlot.robots.rover_reader.ADDRESSES`.
        xpos: (bodies, 3) [m]; the first is the world.
        half: (2,) half the lengths of the map [m].
        wrap: Whether it continues at the opposite edge.
    """
    for k in range(len(rovers)):
        at, dof = rovers[k]["qpos"], rovers[k]["dof"]
        # The last number of the rotation matrix of a quaternion. NaN compares false.
        up = qpos[at + 3] ** 2 - qpos[at + 4] ** 2 - qpos[at + 5] ** 2 + qpos[at + 6] ** 2
        well = up > UPRIGHT
        for m in range(6):
            well &= abs(qvel[dof + m]) < (MAX_SPEED if m < 3 else MAX_RATE)
        if not well:
            return True
    for value in qpos:
        if not abs(value) < np.inf:
            return True
    for value in qvel:
        if not abs(value) < np.inf:
            return True
    if not wrap:
        for k in range(1, len(xpos)):
            if abs(xpos[k, 0]) > half[0] or abs(xpos[k, 1]) > half[1]:
                return True
    return False


@kernel(error_model="numpy", nogil=True)
def drive_frames(
    soil: Stepping,
    qpos: Array,
    frames: int,
    steps: int,
    rovers: NDArray[np.void],
    corner: Array,
    half: Array,
    surface: Array,
    rows: Rows,
) -> tuple[int, bool]:
    """Make frames until one may end the episode.

    Args:
        soil: Ground and bodies.
        qpos: Positions of the simulation.
        frames: Number of frames, at most.
        steps: Of the physics in a frame.
        rovers: (rovers,) of `sandlot.robots.rover_reader.ADDRESSES`.
        corner: (2,) x and y of the first node [m].
        half: (2,) half the lengths of the map [m].
        surface: (ny, nx) heights, which change with the steps [m].
        rows: What the frames are written to.

    Returns:
        The number of frames, and whether another one was made that may end the episode; that one is not recorded.
    """
    simulation, nodes = soil.simulation, np.empty((len(rovers), 2))
    spacing, wrap = soil.ground.spacing, soil.ground.wrap
    for k in range(frames):
        _, worst = advance(
            soil.ground,
            soil.soils,
            soil.contacts,
            simulation,
            soil.dynamics,
            soil.user,
            soil.addresses,
            soil.dt,
            steps,
            False,
        )
        if worst >= 0 or may_end(qpos, simulation.qvel, rovers, simulation.xpos, half, wrap):
            return k, True
        rows.qpos[k], rows.qvel[k], rows.qacc[k] = qpos, simulation.qvel, soil.dynamics.qacc
        if rows.change.size > 0:
            for m in range(len(rovers)):
                for axis in range(2):
                    x, count = qpos[rovers[m]["qpos"] + axis], surface.shape[1 - axis]
                    nodes[m, 1 - axis] = node_along(x, corner[axis], spacing, count, wrap)
            record_windows(
                surface, nodes, wrap, rows.row[k], rows.column[k], rows.recorded, rows.heights, rows.change[k]
            )
    return frames, False


@kernel(error_model="numpy")
def account_frames(
    position: Array,
    attitude: Array,
    wheel_speeds: Array,
    commands: Array,
    wheel_radius: Array,
    interval: float,
    travel: Array,
    corner: Array,
    spacing: float,
    shape: tuple[int, int],
    wrap: bool,
    columns: Array,
) -> tuple[Array, Array]:
    """Account for how rovers have moved in several frames, and gather their quantities.

    Args:
        position: (1 + frames, rovers, 3) before the first frame, and after each [m].
        attitude: (1 + frames, rovers, 3) roll, pitch and yaw [rad].
        wheel_speeds: (frames, rovers, 2) [rad/s]
        commands: (rovers, 2) [m/s, rad/s]
        wheel_radius: (rovers,) [m]
        interval: Length of a frame [s].
        travel: (3, rovers) as in `account`; added to.
        corner: (2,) of the grid [m].
        spacing: Of the grid [m].
        shape: Of the grid.
        wrap: Whether it continues at the opposite edge.
        columns: (frames, 14, rovers) receives the quantities of ``ROVER_QUANTITIES``.

    Returns:
        (rovers, 3) change of x, y [m] and yaw [rad] in the last frame; (frames, rovers) distance driven forward [m].
    """
    frames, rovers = wheel_speeds.shape[:2]
    forward, nodes, moved = np.empty((frames, rovers)), np.empty((rovers, 2)), np.empty((rovers, 3))
    for k in range(frames):
        moved, forward[k] = account(
            position[k],
            attitude[k],
            position[k + 1],
            attitude[k + 1],
            wheel_speeds[k],
            wheel_radius,
            interval,
            False,
            travel,
        )
        rover_columns(
            position[k + 1],
            attitude[k + 1],
            moved,
            wheel_speeds[k],
            commands,
            travel[0],
            corner,
            spacing,
            shape,
            wrap,
            columns[k],
            nodes,
        )
    return moved, forward


class Stretches:
    """Drives the rovers of a task for several frames at once."""

    def __init__(self, task: TerrainTask, fleet: MujocoFleet, ground: SoilGround, windows: Windows) -> None:
        """Of a task, with its rovers and its ground, for a recording with these windows."""
        self._task, self._fleet, self._ground, self._windows = task, fleet, ground, windows

    @classmethod
    def of(cls, task: TerrainTask, windows: Windows) -> "Stretches | None":
        """Those of a task; none if its rovers or its ground need Python between frames."""
        fleet, ground = task.rovers, task.ground
        if isinstance(fleet, MujocoFleet) and isinstance(ground, SoilGround) and not fleet.belts_touch:
            return cls(task, fleet, ground, windows)
        return None

    def drive(self, commands: Array, rows: Mapping[str, NDArray[Any]]) -> tuple[Array, bool]:
        """Drive with one command, and write every frame.

        Args:
            commands: (rovers, 2) forward speed [m/s] and turn rate to the left [rad/s].
            rows: Of every quantity, room for as many frames as are to be driven.

        Returns:
            (frames, rovers) distances driven forward [m], and whether another frame was driven, which may end the
            episode: `finish` accounts for it, and it is not written.
        """
        task, fleet, grid = self._task, self._fleet, self._ground.grid
        before, kept = task.state, self._rows(rows)
        fleet.command(commands)
        with stepping(self._ground.soil, fleet.data) as soil:
            made, more = drive_frames(
                soil,
                fleet.data.qpos,
                len(rows["time"]),
                task.settings.steps,
                fleet.reader.addresses,
                grid.corner,
                0.5 * grid.size,
                self._ground.heights,
                kept,
            )
        states = fleet.reader.read_several(kept.qpos[:made], kept.qvel[:made], kept.qacc[:made])
        position = np.concatenate([before.position, states.position]).reshape(made + 1, fleet.count, 3)
        attitude = np.concatenate([before.attitude, states.attitude]).reshape(made + 1, fleet.count, 3)
        columns = np.empty((made, len(ROVER_QUANTITIES), fleet.count))
        moved, forward = account_frames(
            position,
            attitude,
            states.wheel_speeds.reshape(made, fleet.count, 2),
            commands,
            fleet.wheel_radius,
            task.settings.interval,
            task.travel,
            grid.corner,
            grid.spacing,
            grid.shape,
            grid.wrap,
            columns,
        )
        if "observation" in rows:
            rows["observation"][:made] = task.observe_several(states).reshape(rows["observation"][:made].shape)
        rows["time"][:made] = (task.steps + np.arange(1, made + 1)) * task.settings.interval
        for k, name in enumerate(ROVER_QUANTITIES):
            rows[name][:made] = columns[:, k]
        self._last = position[-1], attitude[-1]
        task.steps += made
        if made:
            task.commands, task.moved = commands, moved
        fleet.read()
        return forward, more

    def finish(self, commands: Array) -> float:
        """Account for the frame that may end the episode; returns the distance driven forward by all rovers [m]."""
        return float(self._task.arrive(commands, *self._last).sum())

    def _rows(self, rows: Mapping[str, NDArray[Any]]) -> Rows:
        """Where the kernel writes: to the rows of a recording, and to memory for the positions and velocities."""
        frames, rovers, windows, model = len(rows["time"]), self._fleet.count, self._windows, self._fleet.model.model
        none = np.empty((frames, rovers), np.int64)
        return Rows(
            windows.recorded,
            windows.heights,
            rows.get("window_row", none),
            rows.get("window_column", none),
            rows.get("height_change", np.empty((frames, *windows.change.shape), np.float32)),
            np.empty((frames, model.nq)),
            np.empty((frames, model.nv)),
            np.empty((frames, model.nv)),
        )
