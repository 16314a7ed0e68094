"""Endless ground: a window of nodes around the robot is kept, so that a drive of any length takes little memory.

    soil = EndlessSoil(lambda x, y: 0.05 * np.sin(x), size=(3.0, 3.0), spacing=0.01).attach(model)
    soil.step(data, 100_000)

The window follows the attached bodies. Tracks that it leaves behind are forgotten: who comes back finds undisturbed
ground.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sandlot.errors import ModelError, SettingError
from sandlot.physics.attachment import shape_name
from sandlot.physics.height_map import heights_between
from sandlot.physics.soil.inputs import Kind, distinct, read_kinds, read_place, read_spacing, read_which
from sandlot.physics.soil.picture import write_picture
from sandlot.physics.soil.soil import Soil
from sandlot.physics.soil.window import (
    MARGIN,
    REACH,
    enqueue_steep,
    forget,
    in_order,
    new_strips,
    place_window,
    renew,
)
from sandlot.typing import Array, IntArray

Function = Callable[[Array, Array], ArrayLike]
"""A function of x and y, arrays (n,) [m], that gives a value for each point."""
MIN_NODES = 9
"""Fewest nodes along a side of a window."""


class EndlessSoil(Soil):
    """Ground without an edge that deforms under the bodies of a MuJoCo model, in a window that follows them.

    Attributes:
        corner: x and y of the first node of the window [m].
        moved_in: Volume of the ground that has entered the window, minus that of the ground that has left it [m^3].
    """

    def __init__(
        self,
        height: float | Function = 0.0,
        size: Sequence[float] = (3.0, 3.0),
        spacing: float = 0.01,
        kind: Kind | Sequence[Kind] = "soft",
        corner: Sequence[float] | None = None,
        which: Function | None = None,
    ) -> None:
        """Undisturbed ground.

        Args:
            height: Of the undisturbed surface [m]: a number, or a function of x and y.
            size: Of the window, along x and y [m]. The attached bodies have to fit into it.
            spacing: Distance of nodes [m].
            kind: As for `Soil`.
            corner: x and y of the first node of the window at the start [m]; if not given, its middle is at the origin.
            which: With a list of kinds, a function of x and y that gives the number of the kind there, from 0 on.

        Raises:
            SettingError: If an argument is unknown or impossible.
        """
        spacing, sides = read_spacing(spacing), read_place("size", size)
        least = (MIN_NODES - 1) * spacing
        if min(sides) < least * (1.0 - 1e-9):
            raise SettingError(f"size={size!r} is not possible; allowed: at least {least:g} by {least:g}")
        if not (callable(height) or (isinstance(height, int | float) and np.isfinite(height))):
            said = f"of shape {np.shape(height)}" if np.ndim(height) else repr(height)
            raise SettingError(f"height={said} is not possible; allowed: a finite number, or a function of x and y")
        if not (which is None or callable(which)):
            raise SettingError(f"which={which!r} is not possible; allowed: a function of x and y")
        nx, ny = (np.rint(sides / spacing).astype(int) + 1).tolist()
        start = -0.5 * spacing * np.array([nx - 1, ny - 1]) if corner is None else read_place("corner", corner)
        self._size, self._height, self._which = sides, height, which
        self._given = read_kinds(kind, which)
        self._merged = distinct(self._given)[1]
        y, x = (start[axis] + spacing * each for axis, each in ((1, np.arange(ny)), (0, np.arange(nx))))
        points = np.tile(x, ny), np.repeat(y, nx)
        heights, numbers = self.undisturbed(*points), self._numbers(*points)
        super().__init__(heights.reshape(ny, nx), spacing, self._given, start.tolist(), False, numbers.reshape(ny, nx))
        # In memory, the nodes at opposite edges of the window are neighbours.
        self._ground = self._ground._replace(wrap=True)
        self._start_kinds = self._ground.marks["kind"].copy()
        window = self._ground.window
        window["reach_x"], window["reach_y"] = REACH * sides
        window["room_x"], window["room_y"] = 0.5 * sides - MARGIN * spacing
        self._place(np.zeros(2, np.int64), 0.0)

    def _place(self, first: IntArray, moved_in: float) -> None:
        """Say where the window is: ``first`` (2,) row and column, counted from where it was at the start."""
        self._first, self.moved_in = first, moved_in
        place_window(self._ground, first)
        self.corner = np.array([self._ground.x0, self._ground.y0]) + self.spacing * first[::-1]

    def undisturbed(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Height of the surface before anything touched it [m].

        Args:
            x: (...,) [m]
            y: (...,) [m]

        Raises:
            SettingError: If the function that gives it returns anything but finite numbers.
        """
        x, y = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64))
        if not callable(self._height):
            return np.full(x.shape, self._height, np.float64)
        try:
            given = np.asarray(self._height(x.ravel(), y.ravel()), np.float64)
            found: Array = np.array(np.broadcast_to(given, x.size))
        except (TypeError, ValueError) as error:
            raise SettingError(f"height fails for arrays x and y of {x.size} points: {error}") from error
        if not np.isfinite(found).all():
            at = int(np.flatnonzero(~np.isfinite(found))[0])
            place = f"x={x.flat[at]:g}, y={y.flat[at]:g}"
            raise SettingError(f"height is {found[at]} at {place}; allowed: a finite number everywhere")
        return found.reshape(x.shape)

    def _numbers(self, x: Array, y: Array) -> NDArray[np.intp]:
        """Numbers of the given kinds at points: (n,)."""
        return read_which(None if self._which is None else self._which(x, y), len(self._given), x.shape)

    def surface(self) -> Array:
        """Heights of the surface at the nodes of the window: (ny, nx) [m]. A copy."""
        return in_order(self._ground, self._ground.nodes["height"])

    @property
    def volume(self) -> float:
        """Volume of the soil above 0 in the window [m^3]; it changes only as ``moved_in`` does."""
        return super().volume

    def height_at(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Height of the surface between nodes [m]; beyond the window, as nothing had touched it.

        Args:
            x: (...,) [m]
            y: (...,) [m]
        """
        x, y = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64))
        ground, found = self._ground, self.undisturbed(x, y).ravel()
        rows, columns = ((y - ground.y0) / self.spacing).ravel(), ((x - ground.x0) / self.spacing).ravel()
        (row, column), (ny, nx) = self._first, (ground.ny, ground.nx)
        inside = (rows >= row) & (rows <= row + ny - 1) & (columns >= column) & (columns <= column + nx - 1)
        between = np.empty(int(inside.sum()))
        heights_between(ground.nodes["height"].reshape(ny, nx), rows[inside], columns[inside], True, between)
        found[inside] = between
        return found.reshape(x.shape)

    def _follow(self) -> None:
        """Move the window by whole nodes, so that the bodies are in its middle."""
        window, shapes = self._ground.window, self._contacts.shapes
        places, extents = shapes["position"][:, :2], shapes["radius"][:, None]
        low, high = (places - extents).min(axis=0), (places + extents).max(axis=0)
        middle, needed = 0.5 * (low + high), high - low + 2.0 * (MARGIN + 1.0) * self.spacing
        if np.any(needed > self._size):
            away = np.abs(places - middle) + extents - 0.5 * self._size
            name = shape_name(self._model, shapes[np.argmax(away.max(axis=1))])
            needed = np.ceil(10.0 * np.maximum(needed, self._size)) / 10.0
            raise ModelError(
                f"{name} does not fit into a window of {self._size[0]:g} by {self._size[1]:g} m around the attached "
                f"geoms; allowed: fewer geoms, or a size of at least {needed[0]:g} by {needed[1]:g}"
            )
        self._move(np.rint((middle - [window["x"], window["y"]]) / self.spacing).astype(np.int64)[::-1])

    def _move(self, shift: IntArray) -> None:
        """Move the window by so many rows and columns: (2,)."""
        ground, first = self._ground, self._first + shift
        ny, nx, renewed, more = ground.ny, ground.nx, np.zeros(len(ground.nodes), np.bool_), 0.0
        rows, columns = first[0] + np.arange(ny), first[1] + np.arange(nx)
        for i, j in new_strips(shift, (ny, nx)):
            row, column = (each.ravel() for each in np.meshgrid(rows[i], columns[j], indexing="ij"))
            where = row % ny * nx + column % nx
            points = ground.x0 + column * self.spacing, ground.y0 + row * self.spacing
            heights, kinds = self.undisturbed(*points), self._merged[self._numbers(*points)]
            more += float(heights.sum() - ground.nodes["height"][where].sum()) * self.spacing**2
            renew(ground, where, heights, kinds)
            renewed[where] = True
        self._place(first, self.moved_in + more)
        forget(ground, renewed)
        enqueue_steep(ground, np.flatnonzero(renewed), self._soils["repose"])
        held, contacts = int(self._contacts.counters["held"]), self._contacts
        kept = contacts.before[:held][~renewed[contacts.before[:held]]]
        contacts.before[: len(kept)], contacts.counters["held"] = kept, len(kept)

    def reset(self) -> None:
        """Make the ground undisturbed again, with the window where it was at first."""
        self._ground.marks["kind"] = self._start_kinds
        self._place(np.zeros(2, np.int64), 0.0)
        super().reset()

    def state(self) -> dict[str, NDArray[Any]]:
        """As for `Soil`, with the place of the window; nodes are in the order of memory."""
        place = {"window": self._first.copy(), "moved_in": np.array(self.moved_in)}
        return super().state() | place | {"kinds": self._ground.marks["kind"].copy()}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go back to a state, as for `Soil`."""
        super().restore(state)
        self._ground.marks["kind"] = state["kinds"]
        self._place(np.array(state["window"]), float(state["moved_in"]))

    def _anew(self) -> Self:
        start = [self._ground.x0, self._ground.y0]
        kind = self._given if self._which else self._given[0]
        return type(self)(self._height, self._size.tolist(), self.spacing, kind, start, self._which)

    def write_to(self, model: mujoco.MjModel, name: str = "soil") -> int:
        """As for `Soil`; the height field is moved to the window."""
        window = self._ground.window
        return write_picture(model, name, self.surface(), np.array([window["x"], window["y"]]))
