"""Ground made of particles, under any MuJoCo model: equal spheres in a container, which bodies push around.

    particles = Particles(heights, 0.3).settle(rng).attach(model, geoms=["blade"], tracks=[left, right])
    particles.step(data, 10)

A step is MuJoCo's own, with the forces of the particles added to those of the user; geoms go on colliding with each
other. Particles make as many shorter steps in the meantime as they need. Particles that do not move sleep, and cost
nothing.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Self

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sandlot.errors import ModelError, SettingError
from sandlot.physics import shapes
from sandlot.physics.attachment import LOAD, Track, check_data, shape_records
from sandlot.physics.floors import Replaces, replace_floors
from sandlot.physics.mujoco_bridge import applied_forces, keep_forces, restore_forces, simulation_arrays
from sandlot.physics.particles.bodies import PARTICLE_SHAPE, Bodies, no_bodies
from sandlot.physics.particles.contacts import energy
from sandlot.physics.particles.floor import DAMPING, STIFFNESS
from sandlot.physics.particles.law import make_law
from sandlot.physics.particles.state import NEIGHBOUR_MARGIN, new_state
from sandlot.physics.particles.surface import raise_surface, stacks
from sandlot.physics.particles.threads import advance_threaded
from sandlot.typing import Array, BoolArray

KINDS = (shapes.SPHERE, shapes.CAPSULE, shapes.ELLIPSOID, shapes.CYLINDER, shapes.BOX)
"""Kinds of geoms that particles can touch."""
HEADROOM = 2.0
"""Height of the grid above the highest particle at the start [m]; higher particles are found, but slowly."""
REFERENCE_RADIUS = 0.15
"""Radius for which the times and speeds of settling are given [m]. They grow as the square root of the radius, as does
the time in which a particle falls by it."""
FRICTIONLESS_TIME, SHAKE_SPEED = 0.4, 0.5
"""Time without friction [s] and standard deviation of the speeds [m/s] with which stacks are shaken to settle, for
particles of the reference radius."""
LIGHT_BODY = 4.0
"""Contacts with bodies lighter than this many particles are softer."""
PARTICLE_BYTES, CELL_BYTES, MAX_BYTES = 1e3, 8.0, 2e10
"""Memory of a particle and of a cell of the grid, and the maximum of all [byte]."""


class Particles:
    """Equal spheres in a container, which has a floor at z = 0 and four walls, but no lid.

    The floor is a firm layer: attached bodies that push the particles aside stand on it.

    Attributes:
        law: Properties of particles and contacts.
        state: State of the particles, as arrays.
        shape: (ny, nx) of the height map that was filled.
    """

    def __init__(
        self,
        heights: ArrayLike,
        spacing: float,
        radius: float = 0.15,
        density: float = 1600.0,
        friction: float = 0.5,
        rolling: float = 0.09,
        gravity: float = 9.81,
        inertia: float = 0.4,
        corner: tuple[float, float] | None = None,
    ) -> None:
        """Fill the volume under a height map: one stack of particles in each square of their width.

        Args:
            heights: (ny, nx) [m]
            spacing: Width of a pixel of ``heights`` [m].
            radius: Radius of a particle [m].
            density: Density of a particle [kg/m^3].
            friction: Coefficient of friction, between particles and with bodies and walls.
            rolling: Rolling friction as a fraction of the friction, as torque over radius; 0 for perfect spheres.
            gravity: [m/s^2]
            inertia: Moment of inertia over mass and squared radius; 0.4 is a solid sphere.
            corner: Minimum x and y of the container [m]; if not given, its centre is at the origin.

        Raises:
            SettingError: If there is nothing to fill, a setting is impossible, or there are too many particles.
        """
        field = _numbers(heights)
        if field is None or field.ndim != 2 or field.size == 0:
            which = "" if field is None else f", not of shape {field.shape}"
            raise SettingError(f"a height map is a grid of finite numbers with two axes{which}")
        positive = {"spacing": spacing, "radius": radius, "density": density, "inertia": inertia}
        for name, value in positive.items():
            if not 0.0 < value < math.inf:
                raise SettingError(f"{name}={value:g}; allowed: above 0")
        for name, value in {"friction": friction, "rolling": rolling, "gravity": gravity}.items():
            if not 0.0 <= value < math.inf:
                raise SettingError(f"{name}={value:g}; allowed: 0 or more")
        ny, nx = field.shape
        low = _numbers((-0.5 * nx * spacing, -0.5 * ny * spacing) if corner is None else corner)
        if low is None or low.shape != (2,):
            raise SettingError(f"corner={corner!r} is not possible; allowed: two finite numbers, x and y")
        _check_count(field, spacing, radius)
        position = stacks(field, spacing, radius)
        if len(position) == 0:
            raise SettingError(f"radius={radius:g} is too large: no particle fits under these heights")
        x, y = low
        position[:, :2] += low
        self.law = make_law(radius, density, friction, rolling, gravity, inertia)
        box = (x, x + nx * spacing, y, y + ny * spacing)
        self.state = new_state(position, radius, box, float(position[:, 2].max()) + radius + HEADROOM)
        self.shape = (ny, nx)
        self._bodies = no_bodies()
        self._model: Any = None

    @property
    def position(self) -> Array:
        """Positions of the centres: (n, 3) [m]. A view of the state, which changes with every step."""
        return self.state.motion["position"]

    @property
    def velocity(self) -> Array:
        """Velocities: (n, 3) [m/s]. A view, as `position`."""
        return self.state.motion["velocity"]

    @property
    def spin(self) -> Array:
        """Angular velocities: (n, 3) [rad/s]. A view, as `position`."""
        return self.state.motion["spin"]

    @property
    def awake(self) -> int:
        """Number of particles that are awake."""
        return int(self.state.counters["awake"][0])

    @property
    def asleep(self) -> BoolArray:
        """Whether each particle sleeps: (n,)."""
        return self.state.links["asleep"] != 0

    @property
    def energy(self) -> float:
        """Kinetic and potential energy, and elastic energy of contacts with each other and the container [J]."""
        return float(energy(self.law, self.state))

    @property
    def forces(self) -> Array:
        """On the body of each attached shape in the last step: (shapes, 6) force [N], torque about its centre [N*m]."""
        if self._model is None:
            raise ModelError("these particles are attached to no model; use attach first")
        return np.concatenate([self._bodies.loads["force"], self._bodies.loads["torque"]], axis=1)

    def surface(self, shape: tuple[int, int] | None = None) -> Array:
        """Heights of the surface: the highest point of a sphere above the centre of each pixel, or the floor.

        Args:
            shape: (ny, nx) pixels into which the container is divided; if not given, those of the height map that was
                filled.

        Returns:
            (ny, nx) [m]
        """
        heights = np.zeros(self.shape if shape is None else shape)
        raise_surface(self.state.motion, self.law.radius, self.state.box, heights)
        return heights

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """A copy of the state, as arrays by name, to `restore` it or to save it in a file."""
        return {name: array.copy() for name, array in self.state._asdict().items() if isinstance(array, np.ndarray)}

    def restore(self, snapshot: Mapping[str, NDArray[Any]]) -> None:
        """Set the state to that of a snapshot, of the same number of particles in the same container."""
        for name, array in snapshot.items():
            getattr(self.state, name)[...] = array

    def attach(
        self,
        model: mujoco.MjModel,
        geoms: Sequence[str | int] | None = None,
        tracks: Sequence[Track] = (),
        replaces: Replaces = None,
    ) -> Self:
        """Put these particles under a model.

        Args:
            model: MuJoCo's model, with any integrator but RK4; with ``replaces``, changed as by `Soil.attach`.
            geoms: Names or numbers of the geoms that touch particles; if not given, all geoms of moving bodies that
                collide with anything or are in a contact pair with a floor.
            tracks: Belts that touch them.
            replaces: Floors that no longer touch their bodies, as for `Soil.attach`.

        Raises:
            ModelError: If a geom is of an unsupported shape, or the model cannot be used.
            SettingError: If there is no such geom, or a track is impossible.
        """
        records = shape_records(PARTICLE_SHAPE, model, geoms, tracks, KINDS, "particles")
        replace_floors(model, records["body"].tolist(), replaces, stacklevel=2)
        # Poses are taken from the bodies, for geoms as for tracks.
        records["geom"] = -1
        for record in records:
            inverse_mass = float(model.body_invweight0[record["body"], 0])
            if record["dof"] >= 0:
                belt = float(model.dof_invweight0[record["dof"]]) * float(record["size"][1]) ** 2
                inverse_mass = max(inverse_mass, belt)
            # Explicit steps would throw light bodies about if contacts were not softer.
            record["softness"] = 1.0 / max(1.0, LIGHT_BODY * self.law.mass * inverse_mass)
            # All shapes of a body share its mass on the floor.
            mass = 1.0 / max(inverse_mass * np.count_nonzero(records["body"] == record["body"]), 1e-12)
            record["floor_stiffness"] = STIFFNESS * mass / model.opt.timestep**2
            record["floor_damping"] = DAMPING * mass / model.opt.timestep
        # NaN: no shape has been at rest yet.
        records["rest_position"] = records["rest_rotation"] = records["rest_travel"] = np.nan
        self._bodies = Bodies(records, np.zeros(len(records), LOAD), no_bodies().simulation)
        self._user = applied_forces(model)
        self._model = model
        return self

    def step(self, data: mujoco.MjData, steps: int = 1) -> None:
        """Make steps of the simulation, as ``mj_step`` does, with the forces of the particles.

        Raises:
            ModelError: If the particles are not attached to the model of this simulation.
        """
        check_data(self._model, data, "these particles are")
        model, bodies = self._model, self._bodies._replace(simulation=simulation_arrays(data))
        keep_forces(bodies.simulation, self._user)
        parts = math.ceil(model.opt.timestep / self.law.longest_step - 0.01)
        dt = model.opt.timestep / parts
        for _ in range(steps):
            # The first half updates poses and velocities; the second half uses the forces.
            mujoco.mj_step1(model, data)
            advance_threaded(self.law, self.state, bodies, dt, parts)
            mujoco.mj_step2(model, data)
            restore_forces(bodies.simulation, self._user)

    def wake(self, which: ArrayLike) -> None:
        """Wake these particles, as is needed after they were moved from outside."""
        links, counters, which = self.state.links, self.state.counters[0], np.unique(which)
        sleeping = which[links["asleep"][which] != 0]
        links["still"][which] = links["asleep"][which] = 0
        self.state.awake[counters["awake"] : counters["awake"] + len(sleeping)] = sleeping
        counters["awake"] += len(sleeping)

    def fall(self, seconds: float) -> None:
        """Simulate the particles alone, without bodies, for a time [s]."""
        steps = math.ceil(seconds / self.law.longest_step - 1e-9)
        if steps > 0:
            advance_threaded(self.law, self.state, no_bodies(), seconds / steps, steps)

    def settle(self, rng: np.random.Generator, shake: float | None = None, max_time: float = 20.0) -> Self:
        """Turn the stacks into loose ground, and wait until all particles sleep.

        Stacks are a crystal in which particles stand like columns. They are shaken, and without friction for a moment,
        so that they fall into each other. The surface sinks by about an eighth, and slopes that are too steep slide.
        Small particles come to rest sooner than large ones, and need not be still for as long before they sleep.

        Args:
            rng: Random numbers for the shaking.
            shake: Standard deviation of the speed along x and y that each particle gets [m/s]; if not given, 0.5 for
                particles of 0.15 m, and less for smaller ones.
            max_time: Maximum time to wait [s].
        """
        scale = math.sqrt(self.law.radius / REFERENCE_RADIUS)
        speed = scale * SHAKE_SPEED if shake is None else shake
        self.velocity[:, :2] += rng.normal(0.0, speed, (len(self.position), 2))
        rough, self.law = self.law, self.law._replace(friction=0.0, rolling=0.0)
        self.fall(scale * FRICTIONLESS_TIME)
        self.law = rough._replace(sleep_delay=min(scale, 1.0) * rough.sleep_delay)
        for _ in range(math.ceil(max_time / (0.1 * scale))):
            self.fall(0.1 * scale)
            if self.awake == 0:
                break
        self.law = rough
        return self


def _numbers(values: ArrayLike) -> Array | None:
    """As an array if they are finite numbers, else None."""
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        return None
    return array if np.isfinite(array).all() else None


def _check_count(heights: Array, spacing: float, radius: float) -> None:
    """Refuse more particles than fit into memory, before any is made."""
    pixel = spacing * spacing
    filled = pixel * float(np.maximum(heights, 0.0).sum()) / 8.0
    grid = pixel * heights.size * (max(float(heights.max()), 0.0) + HEADROOM) / (2.0 + NEIGHBOUR_MARGIN) ** 3
    smallest = math.cbrt((PARTICLE_BYTES * filled + CELL_BYTES * grid) / MAX_BYTES)
    if radius < smallest:
        share = smallest / radius
        raise SettingError(
            f"radius={radius:g} is too small: about {filled / radius / radius / radius:.2g} particles would take "
            f"{1e-9 * MAX_BYTES * share * share * share:.2g} GB; "
            f"allowed: at least {smallest:.2g}, for {1e-9 * MAX_BYTES:g} GB"
        )
