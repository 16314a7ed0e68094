"""Soil under any MuJoCo model: ground that deforms, carries bodies, and keeps their tracks.

    soil = Soil(heights, 0.01, "soft").attach(model, geoms=["left_foot", "right_foot"])
    soil.step(data, 1000)

A step is MuJoCo's own, with the forces of the soil added to those of the user; geoms go on colliding with each other.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sandlot.errors import DivergedError, ModelError, SettingError
from sandlot.physics.attachment import Track, check_data, shape_name
from sandlot.physics.floors import Replaces, replace_floors
from sandlot.physics.geoms import choose_geoms
from sandlot.physics.height_map import heights_between
from sandlot.physics.mujoco_bridge import AppliedForces, Prepared, applied_forces, prepare, without_reset
from sandlot.physics.soil import state as states
from sandlot.physics.soil.contacts import Contacts, new_contacts
from sandlot.physics.soil.ground import NEVER_TOUCHED, NO_STEP, new_ground, release
from sandlot.physics.soil.kinds import PRESETS, SoilKind
from sandlot.physics.soil.picture import add_picture, write_picture
from sandlot.physics.soil.readings import Contact, read_contacts
from sandlot.physics.soil.slides import slide
from sandlot.physics.soil.step import MAX_VALUE, advance
from sandlot.typing import Array, IntArray


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
        self._heights = field
        self._model: Any = None
        self._tracks: Sequence[Track] = ()
        self._contacts: Contacts
        self._samples: IntArray
        self._constraint: Array
        self._user: AppliedForces
        self._prepared: Prepared | None = None
        self._enqueue_steep()

    def _enqueue_steep(self) -> None:
        """Queue every node of a slope of undisturbed ground that is steeper than the angle of repose."""
        ground, heights = self._ground, self._heights
        steep = np.zeros(heights.shape, np.bool_)
        beyond = np.pad(heights, 1, mode="wrap") if self.wrap else np.pad(heights, 1, constant_values=np.nan)
        for i, j in ((1, 2), (2, 1), (2, 2), (2, 0)):
            fall = np.abs(heights - beyond[i : i + ground.ny, j : j + ground.nx])
            steep |= np.nan_to_num(fall) > self._parameters.repose * self.spacing * np.hypot(i - 1, j - 1)
        states.enqueue_only(ground, np.flatnonzero(steep))

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
        self,
        model: mujoco.MjModel,
        geoms: Sequence[str | int] | None = None,
        tracks: Sequence[Track] = (),
        replaces: Replaces = None,
    ) -> Self:
        """Put this ground under a model.

        Args:
            model: MuJoCo's model, with any integrator but RK4. With ``replaces``, its collision bits and the margins of
                contact pairs are changed.
            geoms: Names or numbers of the geoms that touch the ground; if not given, all geoms of moving bodies that
                collide with anything or are in a contact pair with a floor, and are large enough for the spacing.
            tracks: Belts that touch it.
            replaces: Floors that no longer touch the bodies of these geoms and tracks, since this ground takes their
                place: names or numbers of planes and height fields that do not move, or True for all of them.

        Raises:
            ModelError: If a geom is of an unsupported shape or too small, or the model cannot be used.
            SettingError: If there is no such geom, or a track is impossible.

        Warns:
            RobotWarning: If a floor still touches these bodies, or geoms are too small for the spacing.
        """
        contacts = new_contacts(model, geoms, tracks, self.spacing, len(self._ground.nodes))
        # Geoms that are left out as too small must not stand on a floor either.
        bodies = [*model.geom_bodyid[choose_geoms(model, geoms, len(tracks))], *contacts.shapes["body"]]
        replace_floors(model, bodies, replaces, stacklevel=2)
        if self._model is not None:
            # Nodes under the bodies of the model before are released, and the numbers of its steps are forgotten.
            release(self._ground, self._contacts.before[: self._contacts.counters["held"]], NO_STEP)
            self._ground.nodes["contact"] = NEVER_TOUCHED
        self._set_contacts(model, contacts, tracks)
        return self

    def _set_contacts(self, model: mujoco.MjModel, contacts: Contacts, tracks: Sequence[Track]) -> None:
        """Remember the shapes of a model."""
        self._model, self._contacts, self._tracks, self._user = model, contacts, tracks, applied_forces(model)
        self._samples, self._constraint = contacts.shapes["samples"].copy(), np.zeros(model.nv)
        self._prepared = None

    def step(self, data: mujoco.MjData, steps: int = 1) -> None:
        """Make steps of the simulation, as ``mj_step`` does, with the forces of the soil.

        Raises:
            ModelError: If the soil is not attached to the model of this simulation.
            DivergedError: If the simulation diverges; ``data`` keeps the state in which it did.
        """
        check_data(self._model, data, "this soil is")
        if self._prepared is None or self._prepared.data is not data:
            self._prepared = prepare(self._model, data)
        with without_reset(self._model):
            wrong = self._advance(self._prepared, steps)
        if wrong:
            raise DivergedError(
                f"the simulation {wrong}; allowed: finite velocities, and accelerations below {MAX_VALUE:g}"
            )

    def _advance(self, prepared: Prepared, steps: int) -> str:
        """Make steps of a simulation; returns when and where it diverged, if it did."""
        model, contacts, data = self._model, self._contacts, prepared.data
        start, dt = data.time, model.opt.timestep
        # The first guess of a step is that constraints do what they did in the last one, whatever was computed since.
        data.qfrc_constraint[:] = self._constraint
        made, worst = advance(
            self._ground,
            self._parameters,
            contacts,
            prepared.simulation,
            prepared.dynamics,
            self._user,
            prepared.addresses,
            dt,
            steps,
        )
        self._constraint[:] = data.qfrc_constraint
        if worst < 0:
            return ""
        force, name = np.linalg.norm(contacts.loads[worst]["force"]), shape_name(model, contacts.shapes[worst])
        return f"diverged at {start + made * dt:.4g} s, with {force:.3g} N on {name}"

    @property
    def forces(self) -> Array:
        """On the body of each attached shape in the last step: (shapes, 6) force [N], torque about its centre [N*m]."""
        if self._model is None:
            raise ModelError("this soil is attached to no model; use attach first")
        return np.concatenate([self._contacts.loads["force"], self._contacts.loads["torque"]], axis=1)

    def contacts(self) -> list[Contact]:
        """What the soil did to each attached shape in the last step, in the order of `forces`."""
        if self._model is None:
            raise ModelError("this soil is attached to no model; use attach first")
        return read_contacts(self._model, self._ground, self._contacts)

    def reset(self) -> None:
        """Make the ground undisturbed again, as it was made; what is attached stays attached."""
        states.fill(self._ground, self._heights)
        self._enqueue_steep()
        if self._model is not None:
            states.clear(self._contacts, self._samples)
            self._constraint[:] = 0.0

    def state(self) -> dict[str, NDArray[Any]]:
        """A copy of everything that later steps depend on, as arrays by name; ``np.savez`` can write them.

        A simulation goes on from here bit for bit if MuJoCo's state (``mjSTATE_INTEGRATION``) is kept as well.
        """
        found = states.ground_state(self._ground)
        return found if self._model is None else found | states.contact_state(self._contacts, self._constraint)

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go back to a state of this soil, or of soil of the same size that is attached to the same shapes.

        Raises:
            ModelError: If it is of ground of another size, or of other shapes.
        """
        states.check(state, self.state())
        states.set_ground(self._ground, state)
        if self._model is not None:
            states.set_contacts(self._contacts, state)
            self._constraint[:] = state["constraint"]

    def copy(self) -> "Soil":
        """Independent soil in the same state, attached to the same model, for another simulation of that model."""
        twin = Soil(self._heights, self.spacing, self.kind, self.corner.tolist(), self.wrap)
        if self._model is not None:
            shapes = self._contacts.shapes
            geoms = [int(geom) for geom in shapes["geom"] if geom >= 0]
            contacts = new_contacts(self._model, geoms, self._tracks, self.spacing, len(self._ground.nodes))
            twin._set_contacts(self._model, contacts, self._tracks)
        twin.restore(self.state())
        return twin

    def add_to(self, spec: mujoco.MjSpec, name: str = "soil", depth: float = 0.3) -> Any:
        """Add the surface to a scene, as a height field that MuJoCo draws and that touches nothing.

        It is flat until `write_to` is called.

        Args:
            spec: The scene, before it is compiled.
            name: Of the height field and of the geom that shows it.
            depth: How far the surface may sink or rise beyond its present heights [m].

        Returns:
            The geom, an ``MjsGeom``, to give it a material or a colour.
        """
        return add_picture(spec, name, self.surface(), self.spacing, self.corner, depth)

    def write_to(self, model: mujoco.MjModel, name: str = "soil") -> int:
        """Write the present surface into the height field that `add_to` has added.

        Returns:
            The number of the height field, for ``viewer.update_hfield`` or ``mjr_uploadHField``, which draw it anew.

        Raises:
            ModelError: If the model has no such height field, or the surface is beyond its depth.
        """
        return write_picture(model, name, self.surface())
