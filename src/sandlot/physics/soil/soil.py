"""Soil under any MuJoCo model: ground that deforms, carries bodies, and keeps their tracks.

    soil = Soil(heights, 0.01, "soft").attach(model, geoms=["left_foot", "right_foot"])
    soil.step(data, 1000)

A step is MuJoCo's own, with the forces of the soil added to those of the user; geoms go on colliding with each other.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Self

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sandlot.errors import DivergedError, ModelError, RobotWarning
from sandlot.physics.attachment import Track, check_data, shape_name
from sandlot.physics.floors import Replaces, replace_floors
from sandlot.physics.geoms import choose_geoms
from sandlot.physics.height_map import heights_between
from sandlot.physics.mujoco_bridge import AppliedForces, Prepared, applied_forces, prepare, without_reset
from sandlot.physics.soil import state as states
from sandlot.physics.soil.contacts import Contacts, new_contacts
from sandlot.physics.soil.ground import NEVER_TOUCHED, NO_STEP, NO_WINDOW, new_ground, release
from sandlot.physics.soil.inputs import Kind, distinct, read_heights, read_kinds, read_place, read_spacing, read_which
from sandlot.physics.soil.kinds import SoilKind, soil_records
from sandlot.physics.soil.picture import add_picture, write_picture
from sandlot.physics.soil.readings import Contact, read_contacts
from sandlot.physics.soil.slides import slide, steep
from sandlot.physics.soil.step import FOLLOW, MAX_VALUE, advance
from sandlot.typing import Array, IntArray


class Soil:
    """Ground that deforms under the bodies of a MuJoCo model.

    Attributes:
        kinds: What it is made of.
        spacing: Distance of nodes [m].
        corner: x and y of the first node [m].
        wrap: Whether the ground continues at its opposite edge.
    """

    def __init__(
        self,
        heights: ArrayLike,
        spacing: float,
        kind: Kind | Sequence[Kind] = "soft",
        corner: Sequence[float] | None = None,
        wrap: bool = False,
        which: ArrayLike | None = None,
    ) -> None:
        """Undisturbed ground.

        Args:
            heights: (ny, nx) of the surface [m]: rows along y, columns along x.
            spacing: Distance of nodes [m].
            kind: Name of a preset, or what the ground is made of; with ``which``, a list of these.
            corner: x and y of the first node [m]; if not given, the centre of the ground is at the origin.
            wrap: Whether the ground continues at its opposite edge.
            which: (ny, nx) numbers of the kinds at the nodes, from 0 on.

        Raises:
            SettingError: If an argument is unknown or impossible.
        """
        field, self.spacing, self.wrap = read_heights(heights), read_spacing(spacing), wrap
        given, (ny, nx) = read_kinds(kind, which), field.shape
        centred = (-0.5 * self.spacing * (nx - 1), -0.5 * self.spacing * (ny - 1))
        self.corner = read_place("corner", centred if corner is None else corner)
        self.kinds, numbers = distinct(given)
        self._soils, kinds = soil_records(self.kinds), numbers[read_which(which, len(given), field.shape)]
        self._ground = new_ground(field, self.spacing, self.corner, wrap, kinds)
        self._heights = field
        self._model: Any = None
        self._tracks: Sequence[Track] = ()
        self._contacts: Contacts
        self._samples: IntArray
        self._constraint: Array
        self._user: AppliedForces
        self._prepared: Prepared | None = None
        self._left = False
        self._enqueue_steep()

    def __getstate__(self) -> dict[str, Any]:
        """Everything but addresses and views of the simulation that was stepped last."""
        return {**self.__dict__, "_prepared": None}

    def _enqueue_steep(self) -> None:
        """Queue every node of a slope of undisturbed ground that is steeper than the angle of repose."""
        repose = self._soils["repose"][self._ground.marks["kind"]].reshape(self._heights.shape)
        states.enqueue_only(self._ground, np.flatnonzero(steep(self._heights, repose, self.spacing, self.wrap)))

    @property
    def kind(self) -> SoilKind:
        """What it is made of, if that is one kind of soil."""
        if len(self.kinds) > 1:
            raise ModelError(f"this ground has {len(self.kinds)} kinds of soil; use kinds instead of kind")
        return self.kinds[0]

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
            slide(self._ground, self._soils["repose"], step if step > 0.0 else NO_STEP, checks)
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
        contacts = new_contacts(model, geoms, tracks, self.spacing, len(self._ground.nodes), len(self.kinds))
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
        self._prepared, self._left = None, False

    def step(self, data: mujoco.MjData, steps: int = 1) -> None:
        """Make steps of the simulation, as ``mj_step`` does, with the forces of the soil.

        Raises:
            ModelError: If the soil is not attached to the model of this simulation.
            DivergedError: If the simulation diverges; ``data`` keeps the state in which it did.

        Warns:
            RobotWarning: Once, if everything attached is beyond the edge of the ground.
        """
        check_data(self._model, data, "this soil is")
        if self._prepared is None or self._prepared.data is not data:
            self._prepared = prepare(self._model, data)
        with without_reset(self._model):
            wrong = self._advance(self._prepared, steps)
        if wrong:
            allowed = f"allowed: finite velocities, and accelerations below {MAX_VALUE:g}"
            raise DivergedError(f"the simulation {wrong}; {allowed}")
        if not (self._contacts.counters["shapes"] or self._left):
            self._warn_if_left(data)

    def _warn_if_left(self, data: mujoco.MjData) -> None:
        """Warn once if everything attached is beyond the edge, where nothing carries it."""
        if self.wrap or self._ground.window["row"] != NO_WINDOW:
            return
        at = data.xpos[self._contacts.shapes["body"], :2] - self.corner
        size = self.spacing * np.array([self._ground.nx - 1, self._ground.ny - 1])
        if ((at < 0.0) | (at > size)).any(axis=1).all():
            self._left = True
            warnings.warn(
                f"at {data.time:.4g} s everything on the soil has left it: beyond its edge nothing carries the robot; "
                "make the ground larger, or let it continue with wrap=True",
                RobotWarning,
                stacklevel=3,
            )

    def _advance(self, prepared: Prepared, steps: int) -> str:
        """Make steps of a simulation; returns when and where it diverged, if it did."""
        model, contacts, data = self._model, self._contacts, prepared.data
        start, dt = data.time, model.opt.timestep
        # The first guess of a step is that constraints do what they did in the last one, whatever was computed since.
        data.qfrc_constraint[:] = self._constraint
        made, worst, begun = 0, FOLLOW, False
        while worst == FOLLOW:
            if begun:
                self._follow()
            more, worst = advance(
                self._ground,
                self._soils,
                contacts,
                prepared.simulation,
                prepared.dynamics,
                self._user,
                prepared.addresses,
                dt,
                steps - made,
                begun,
            )
            made, begun = made + more, True
        self._constraint[:] = data.qfrc_constraint
        if worst < 0:
            return ""
        force, name = np.linalg.norm(contacts.loads[worst]["force"]), shape_name(model, contacts.shapes[worst])
        return f"diverged at {start + made * dt:.4g} s, with {force:.3g} N on {name}"

    def _follow(self) -> None:
        """Move the ground to where the bodies are: only endless ground does."""

    def _check_attached(self) -> None:
        if self._model is None:
            raise ModelError("this soil is attached to no model; use attach first")

    @property
    def forces(self) -> Array:
        """On the body of each attached shape in the last step: (shapes, 6) force [N], torque about its centre [N*m]."""
        self._check_attached()
        return np.concatenate([self._contacts.loads["force"], self._contacts.loads["torque"]], axis=1)

    def contacts(self) -> list[Contact]:
        """What the soil did to each attached shape in the last step, in the order of `forces`."""
        self._check_attached()
        return read_contacts(self._model, self._ground, self._contacts)

    def reset(self) -> None:
        """Make the ground undisturbed again, as it was made; what is attached stays attached."""
        states.fill(self._ground, self._heights)
        self._enqueue_steep()
        if self._model is not None:
            states.clear(self._contacts, self._samples)
            self._constraint[:] = 0.0
            self._left = False

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

    def _anew(self) -> Self:
        """Undisturbed ground as this one was made, attached to nothing."""
        which = self._ground.marks["kind"].reshape(self._heights.shape)
        return type(self)(self._heights, self.spacing, self.kinds, self.corner.tolist(), self.wrap, which)

    def copy(self) -> Self:
        """Independent soil in the same state, attached to the same model, for another simulation of that model."""
        twin = self._anew()
        if self._model is not None:
            geoms = [int(geom) for geom in self._contacts.shapes["geom"] if geom >= 0]
            room = len(self._ground.nodes), len(self.kinds)
            contacts = new_contacts(self._model, geoms, self._tracks, self.spacing, *room)
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
