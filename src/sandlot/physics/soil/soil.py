"""Soil under any MuJoCo model: ground that deforms, carries bodies, and keeps their tracks.

    soil = Soil(heights, 0.01, "soft").attach(model, geoms=["left_foot", "right_foot"])
    soil.step(data, 1000)

A step is MuJoCo's own, with the forces of the soil added to those of the user; geoms go on colliding with each other.
"""

from collections.abc import Sequence
from typing import Any, Self

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from sandlot.errors import ModelError, SettingError
from sandlot.physics.attachment import Track, check_data
from sandlot.physics.height_map import heights_between
from sandlot.physics.mujoco_bridge import AppliedForces, addresses, applied_forces, simulation_arrays
from sandlot.physics.soil.contacts import Contacts, new_contacts
from sandlot.physics.soil.ground import NEVER_TOUCHED, NO_STEP, new_ground, release
from sandlot.physics.soil.kinds import PRESETS, SoilKind
from sandlot.physics.soil.slides import slide
from sandlot.physics.soil.step import advance
from sandlot.typing import Array


class Soil:
    """Ground that deforms under the bodies of a MuJoCo model.

    Attributes:
        kind: What it is made of.
        spacing: Distance of nodes [m].
        corner: x and y of the first node [m].
        wrap: Whether the ground continues at its opposite edge.
    """

    def __init__(
        self,
        heights: ArrayLike,
        spacing: float,
        kind: str | SoilKind = "soft",
        corner: Sequence[float] | None = None,
        wrap: bool = False,
    ) -> None:
        """Undisturbed ground.

        Args:
            heights: (ny, nx) of the surface [m]: rows along y, columns along x.
            spacing: Distance of nodes [m].
            kind: Name of a preset, or what the ground is made of.
            corner: x and y of the first node [m]; if not given, the centre of the ground is at the origin.
            wrap: Whether the ground continues at its opposite edge.

        Raises:
            SettingError: If an argument is unknown or impossible.
        """
        allowed = "allowed: finite numbers, at least 3 by 3"
        try:
            field = np.array(heights, np.float64)
        except (TypeError, ValueError):
            raise SettingError(f"heights are not a grid of numbers; {allowed}") from None
        if field.ndim != 2 or min(field.shape) < 3:
            raise SettingError(f"heights are of shape {field.shape}; {allowed}")
        if not np.isfinite(field).all():
            raise SettingError(f"{np.sum(~np.isfinite(field))} of {field.size} heights are NaN or infinite; {allowed}")
        if not 0.0 < spacing < np.inf:
            raise SettingError(f"spacing={spacing:g} is not possible; allowed: greater than 0")
        if isinstance(kind, str) and kind not in PRESETS:
            raise SettingError(f"unknown soil {kind!r}; allowed: {', '.join(PRESETS)}")
        if not isinstance(kind, str | SoilKind):
            raise SettingError(f"kind={kind!r} is not possible; allowed: a SoilKind, or {', '.join(PRESETS)}")
        if corner is not None and (np.shape(corner) != (2,) or not np.isfinite(corner).all()):
            raise SettingError(f"corner={corner!r} is not possible; allowed: x and y, finite")
        self.kind = PRESETS[kind] if isinstance(kind, str) else kind
        ny, nx = field.shape
        centred = (-0.5 * spacing * (nx - 1), -0.5 * spacing * (ny - 1))
        self.spacing, self.wrap = float(spacing), wrap
        self.corner = np.array(centred if corner is None else corner, np.float64)
        self._ground = new_ground(field, self.spacing, self.corner, wrap)
        self._parameters = self.kind.parameters()
        self._model: Any = None
        self._contacts: Contacts
        self._user: AppliedForces
        self._enqueue_steep(field)

    def _enqueue_steep(self, heights: Array) -> None:
        """Queue every node of a slope that is steeper than the angle of repose."""
        ground = self._ground
        steep = np.zeros(heights.shape, np.bool_)
        beyond = np.pad(heights, 1, mode="wrap") if self.wrap else np.pad(heights, 1, constant_values=np.nan)
        for i, j in ((1, 2), (2, 1), (2, 2), (2, 0)):
            fall = np.abs(heights - beyond[i : i + ground.ny, j : j + ground.nx])
            steep |= np.nan_to_num(fall) > self._parameters.repose * self.spacing * np.hypot(i - 1, j - 1)
        which = np.flatnonzero(steep)
        ground.ring[: len(which)], ground.queue["count"] = which, len(which)
        ground.queued[which] = True

    def surface(self) -> Array:
        """Heights of the surface at the nodes: (ny, nx) [m]. A read-only view that changes with every step."""
        view = self._ground.nodes["height"].reshape(self._ground.ny, self._ground.nx)
        view.flags.writeable = False
        return view

    @property
    def volume(self) -> float:
        """Volume of the soil above 0 [m^3]; it never changes."""
        return float(np.sum(self._ground.nodes["height"])) * self.spacing**2

    def height_at(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Height of the surface between nodes [m]; beyond the edge, that of the nearest edge.

        Args:
            x: (...,) [m]
            y: (...,) [m]
        """
        x, y = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64))
        rows, columns = ((y - self.corner[1]) / self.spacing).ravel(), ((x - self.corner[0]) / self.spacing).ravel()
        found = np.empty(rows.size)
        heights_between(self.surface(), rows, columns, self.wrap, found)
        return found.reshape(x.shape)

    def settle(self, max_nodes: int = 10_000_000) -> None:
        """Let slopes steeper than the angle of repose slide until none is left; check no more than ``max_nodes``."""
        queue, step = self._ground.queue, float(self._contacts.counters["step"]) if self._model is not None else 0.0
        while queue["count"] > 0 and max_nodes > 0:
            checks = min(int(queue["count"]), max_nodes)
            slide(self._ground, self._parameters.repose, step if step > 0.0 else NO_STEP, checks)
            max_nodes -= checks

    def attach(
        self, model: mujoco.MjModel, geoms: Sequence[str | int] | None = None, tracks: Sequence[Track] = ()
    ) -> Self:
        """Put this ground under a model.

        Args:
            model: MuJoCo's model, with any integrator but RK4.
            geoms: Names or numbers of the geoms that touch the ground; if not given, all geoms of moving bodies that
                collide with anything.
            tracks: Belts that touch it.

        Raises:
            ModelError: If a geom is of an unsupported shape or too small, or the model cannot be used.
            SettingError: If there is no such geom, or a track is impossible.
        """
        contacts = new_contacts(model, geoms, tracks, self.spacing, self.kind.elastic)
        if self._model is not None:
            # Nodes under the bodies of the model before are released, and the numbers of its steps are forgotten.
            release(self._ground, self._contacts.before[: self._contacts.counters["touched"]], NO_STEP)
            self._ground.nodes["contact"] = NEVER_TOUCHED
        self._model, self._contacts, self._user = model, contacts, applied_forces(model)
        return self

    def step(self, data: mujoco.MjData, steps: int = 1) -> None:
        """Make steps of the simulation, as ``mj_step`` does, with the forces of the soil.

        Raises:
            ModelError: If the soil is not attached to the model of this simulation.
        """
        check_data(self._model, data, "this soil is")
        simulation, where, dt = simulation_arrays(data), addresses(self._model, data), self._model.opt.timestep
        advance(self._ground, self._parameters, self._contacts, simulation, self._user, where, dt, steps)

    @property
    def forces(self) -> Array:
        """On the body of each attached shape in the last step: (shapes, 6) force [N], torque about its centre [N*m]."""
        if self._model is None:
            raise ModelError("this soil is attached to no model; use attach first")
        return np.concatenate([self._contacts.loads["force"], self._contacts.loads["torque"]], axis=1)
