"""Ground made of particles, under any MuJoCo model: equal spheres in a container, which bodies push around.

    particles = Particles(heights, 0.3).settle(rng).attach(model, geoms=["blade"], tracks=[left, right])
    particles.step(data, 10)

A step is MuJoCo's own, with the forces of the particles added to those of the user; geoms go on colliding with each
other. Particles make as many shorter steps in the meantime as they need. Those that do not move sleep, and cost
nothing.
"""

import math
from collections.abc import Sequence
from typing import Any, Self

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sandlot.errors import SandlotError
from sandlot.physics import shapes
from sandlot.physics.attached import Track, check_data, check_integrator, check_track, choose_geoms
from sandlot.physics.particles.bodies import Bodies, Shapes
from sandlot.physics.particles.contacts import energy
from sandlot.physics.particles.state import ASLEEP, AWAKE, SKIN, STILL, Law, V, W, X, new_state
from sandlot.physics.particles.surface import stacks, surface
from sandlot.physics.particles.threads import proceed
from sandlot.typing import Array

KINDS = {
    shapes.SPHERE: "sphere",
    shapes.CAPSULE: "capsule",
    shapes.ELLIPSOID: "ellipsoid",
    shapes.CYLINDER: "cylinder",
    shapes.BOX: "box",
}
HARDNESS = 300.0
"""A particle's weight on Earth presses it into the ground by its radius over this."""
DAMPING = 0.4
"""Share of critical damping; two particles that collide go apart with two fifths of their speed."""
HEADROOM = 2.0
"""How far the grid reaches above the highest particle at the start [m]; what is higher is found, but slowly."""
MELTING, SHAKE, USUAL = 0.4, 0.5, 0.15
"""For how long stacks that are made to settle have no friction [s], and how fast they are shaken [m/s], if particles
are of the usual radius [m]. Both grow as its square root, as does the time that a particle takes to fall by it."""
LIGHT = 4.0
"""Bodies of less than this many particles' mass are touched more softly."""
EACH, CELL, MOST = 1e3, 8.0, 2e10
"""What a particle and a cell of the grid take of memory, and what all of them may [byte]."""


class Particles:
    """Equal spheres in a container, which has a floor at z = 0 and four walls, but no lid.

    Attributes:
        law: How they touch.
        state: All that changes, as arrays; to keep it, keep these.
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
            radius: [m]
            density: Of a particle [kg/m^3].
            friction: Coefficient, between particles and with all else.
            rolling: How much of the friction is felt when rolling, as torque over radius; 0 for perfect spheres.
            gravity: [m/s^2]
            inertia: Moment of inertia over mass and squared radius; 0.4 is a solid sphere.
            corner: x and y of the container's lowest corner [m]; its middle is at the origin if not given.

        Raises:
            SandlotError: If there is nothing to fill, a setting is impossible, or particles are too many.
        """
        field = _numbers(heights)
        if field is None or field.ndim != 2 or field.size == 0:
            which = "" if field is None else f", not of shape {field.shape}"
            raise SandlotError(f"a height map is a grid of finite numbers with two axes{which}")
        positive = {"spacing": spacing, "radius": radius, "density": density, "inertia": inertia}
        for name, value in positive.items():
            if not 0.0 < value < math.inf:
                raise SandlotError(f"{name}={value:g}; allowed: above 0")
        for name, value in {"friction": friction, "rolling": rolling, "gravity": gravity}.items():
            if not 0.0 <= value < math.inf:
                raise SandlotError(f"{name}={value:g}; allowed: 0 or more")
        ny, nx = field.shape
        low = _numbers((-0.5 * nx * spacing, -0.5 * ny * spacing) if corner is None else corner)
        if low is None or low.shape != (2,):
            raise SandlotError(f"corner={corner!r} is not possible; allowed: two finite numbers, x and y")
        _check_count(field, spacing, radius)
        position = stacks(field, spacing, radius)
        if len(position) == 0:
            raise SandlotError(f"radius={radius:g} is too large: not one particle fits under these heights")
        x, y = low
        position[:, :2] += low
        self.law = make_law(radius, density, friction, rolling, gravity, inertia)
        box = np.array([x, x + nx * spacing, y, y + ny * spacing])
        self.state = new_state(position, radius, box, float(position[:, 2].max()) + radius + HEADROOM)
        self._shapes = _no_shapes()
        self._model: Any = None

    @property
    def position(self) -> Array:
        """Of the centres: (n, 3) [m]. A view."""
        return self.state.motion[:, X : X + 3]

    @property
    def velocity(self) -> Array:
        """(n, 3) [m/s]. A view."""
        return self.state.motion[:, V : V + 3]

    @property
    def spin(self) -> Array:
        """Angular velocity: (n, 3) [rad/s]. A view."""
        return self.state.motion[:, W : W + 3]

    @property
    def awake(self) -> int:
        """How many are."""
        return int(self.state.tally[AWAKE])

    @property
    def asleep(self) -> NDArray[np.bool_]:
        """Which are not: (n,)."""
        return self.state.links[:, ASLEEP] != 0

    @property
    def energy(self) -> float:
        """Of motion, of height, and what is stored in contacts with each other and the container [J]."""
        return float(energy(self.law, self.state))

    @property
    def forces(self) -> Array:
        """On the body of each attached shape in the last step: (shapes, 6) force [N], torque about its centre [N*m]."""
        return self._shapes.wrench[:, :6].copy()

    def heights(self, shape: tuple[int, int]) -> Array:
        """The surface: the highest point of a sphere above the middle of each pixel, or the floor.

        Args:
            shape: (ny, nx) pixels that the container is divided into.

        Returns:
            (ny, nx) [m]
        """
        heights = np.zeros(shape)
        surface(self.state.motion, self.law.radius, self.state.box, heights)
        return heights

    def attach(
        self, model: mujoco.MjModel, geoms: Sequence[str | int] | None = None, tracks: Sequence[Track] = ()
    ) -> Self:
        """Let particles feel a model, and the model particles.

        Args:
            model: MuJoCo's. Its integrator is any but RK4.
            geoms: Names or numbers of the geoms that feel particles; if not given, all of moving bodies that collide
                with anything, and are thus not there for their looks.
            tracks: Belts that do.

        Raises:
            SandlotError: If there is no such geom, or it is of a kind that particles do not know.
        """
        check_integrator(model)
        chosen = choose_geoms(model, geoms, tracks)
        for track in tracks:
            check_track(model, track)
        ids, sizes, places, softness = [], [], [], []
        for geom in chosen:
            _check_kind(model, geom)
            body, rotation = int(model.geom_bodyid[geom]), np.empty(9)
            mujoco.mju_quat2Mat(rotation, model.geom_quat[geom])
            ids.append((body, model.body_rootid[body], -1, int(model.geom_type[geom])))
            sizes.append(model.geom_size[geom])
            places.append((*model.geom_pos[geom], *rotation))
            softness.append(self._softness(float(model.body_invweight0[body, 0])))
        for track in tracks:
            ids.append((track.body, model.body_rootid[track.body], track.dof, shapes.TRACK))
            sizes.append(np.array([track.half_length, track.radius, track.half_width]))
            places.append((*track.position, *np.ravel(track.rotation)))
            belt = float(model.dof_invweight0[track.dof]) * track.radius**2
            softness.append(self._softness(max(float(model.body_invweight0[track.body, 0]), belt)))
        n = len(ids)
        self._shapes = Shapes(
            np.array(ids, np.int64).reshape(n, 4),
            np.array(sizes, np.float64).reshape(n, 3),
            np.array(places, np.float64).reshape(n, 12),
            np.array(softness, np.float64),
            np.full((n, 13), np.nan),
            np.zeros((n, 7)),
        )
        self._model = model
        return self

    def _softness(self, inverse_mass: float) -> float:
        """How soft contacts with a body must be, so that explicit steps do not throw it about."""
        return 1.0 / max(1.0, LIGHT * self.law.mass * inverse_mass)

    def step(self, data: mujoco.MjData, steps: int = 1) -> None:
        """Make steps of the simulation, as ``mj_step`` does, with the forces of the particles.

        Raises:
            SandlotError: If the particles are not attached to the model of this simulation.
        """
        check_data(self._model, data, "these particles are")
        model = self._model
        bodies = Bodies(*(getattr(data, name) for name in Bodies._fields))
        forces, torques = data.xfrc_applied.copy(), data.qfrc_applied.copy()
        parts = math.ceil(model.opt.timestep / self.law.longest_step - 0.01)
        dt = model.opt.timestep / parts
        for _ in range(steps):
            # The first half brings poses and velocities up to date; the second half uses the forces.
            mujoco.mj_step1(model, data)
            proceed(self.law, self.state, self._shapes, bodies, dt, parts)
            mujoco.mj_step2(model, data)
            data.xfrc_applied[:], data.qfrc_applied[:] = forces, torques

    def wake(self, which: ArrayLike) -> None:
        """Wake these particles, as is needed after they were moved from outside."""
        links, tally, which = self.state.links, self.state.tally, np.unique(which)
        sleeping = which[links[which, ASLEEP] != 0]
        links[which, STILL] = links[which, ASLEEP] = 0
        self.state.awake[tally[AWAKE] : tally[AWAKE] + len(sleeping)] = sleeping
        tally[AWAKE] += len(sleeping)

    def fall(self, seconds: float) -> None:
        """Let time go by for particles alone, without any bodies [s]."""
        steps = math.ceil(seconds / self.law.longest_step - 1e-9)
        if steps > 0:
            proceed(self.law, self.state, _no_shapes(), _no_bodies(), seconds / steps, steps)

    def settle(self, rng: np.random.Generator, shake: float | None = None, most: float = 20.0) -> Self:
        """Make loose ground of the stacks, and wait until everything sleeps.

        Stacks are a crystal, in which particles stand like columns: shaken and free of friction for a moment, they fall
        into each other. The surface sinks by about an eighth, and slopes that are too steep slide. Small particles come
        to rest sooner than large ones, and need not lie still for as long as usual before they sleep.

        Args:
            rng: For the shaking.
            shake: Standard deviation of the speed along x and y that each gets [m/s]; if not given, 0.5 for particles
                of 0.15 m, and less for smaller ones.
            most: Time to wait, at most [s].
        """
        pace = math.sqrt(self.law.radius / USUAL)
        speed = pace * SHAKE if shake is None else shake
        self.velocity[:, :2] += rng.normal(0.0, speed, (len(self.position), 2))
        rough, self.law = self.law, self.law._replace(friction=0.0, rolling=0.0)
        self.fall(pace * MELTING)
        self.law = rough._replace(patience=min(pace, 1.0) * rough.patience)
        for _ in range(math.ceil(most / (0.1 * pace))):
            self.fall(0.1 * pace)
            if self.awake == 0:
                break
        self.law = rough
        return self


def make_law(
    radius: float, density: float, friction: float, rolling: float, gravity: float, inertia: float = 0.4
) -> Law:
    """How particles of this kind touch; arguments as those of `Particles`."""
    mass = 4.0 / 3.0 * math.pi * radius**3 * density
    stiffness = HARDNESS * mass * 9.81 / radius
    damping = 2.0 * DAMPING * math.sqrt(stiffness * 0.5 * mass)
    # With this part of the stiffness, two particles swing past each other as fast as towards each other.
    past = inertia / (1.0 + inertia)
    turning = inertia * radius**2
    return Law(
        radius=radius,
        mass=mass,
        inertia=turning * mass,
        stiffness=stiffness,
        damping=damping,
        slip_stiffness=past * stiffness,
        slip_damping=past * damping,
        roll_stiffness=turning * stiffness,
        roll_damping=turning * damping,
        friction=friction,
        rolling=rolling * friction,
        gravity=gravity,
        tolerance=0.005 * radius,
        patience=0.25,
    )


def _numbers(values: ArrayLike) -> Array | None:
    """As an array, if they are finite numbers."""
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        return None
    return array if np.isfinite(array).all() else None


def _check_count(heights: Array, spacing: float, radius: float) -> None:
    """Refuse more particles than fit into memory, before any of them is made."""
    pixel = spacing * spacing
    filled = pixel * float(np.maximum(heights, 0.0).sum()) / 8.0
    grid = pixel * heights.size * (max(float(heights.max()), 0.0) + HEADROOM) / (2.0 + SKIN) ** 3
    smallest = math.cbrt((EACH * filled + CELL * grid) / MOST)
    if radius < smallest:
        share = smallest / radius
        raise SandlotError(
            f"radius={radius:g} is too small: about {filled / radius / radius / radius:.2g} particles would take "
            f"{1e-9 * MOST * share * share * share:.2g} GB; allowed: at least {smallest:.2g}, for {1e-9 * MOST:g} GB"
        )


def _check_kind(model: mujoco.MjModel, geom: int) -> None:
    """Refuse what particles cannot touch."""
    if int(model.geom_type[geom]) not in KINDS:
        raise SandlotError(
            f"geom {model.geom(geom).name or geom} is of a kind that particles do not know; "
            f"allowed: {', '.join(KINDS.values())}"
        )


def _no_shapes() -> Shapes:
    """Nothing to touch."""
    columns = {"size": 3, "place": 12, "rest": 13, "wrench": 7}
    arrays: dict[str, Any] = {name: np.empty((0, n)) for name, n in columns.items()}
    return Shapes(ids=np.empty((0, 4), np.int64), softness=np.empty(0), **arrays)


def _no_bodies() -> Bodies:
    """A world without any."""
    columns = {"xpos": 3, "xmat": 9, "xipos": 3, "cvel": 6, "subtree_com": 3, "xfrc_applied": 6}
    return Bodies(**{name: np.empty((0, columns[name]) if name in columns else 0) for name in Bodies._fields})
