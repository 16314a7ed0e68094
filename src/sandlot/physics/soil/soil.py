"""Soil under any MuJoCo model: ground that gives way, carries, and keeps the traces.

    soil = Soil(heights, 0.01, "soft").attach(model, geoms=["left_foot", "right_foot"])
    soil.step(data, 1000)

A step is MuJoCo's own, with the forces of the soil added to those of the user; geoms go on colliding with each other.
"""

import ctypes
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Self

import mujoco
import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from sandlot.errors import SandlotError
from sandlot.physics import shapes
from sandlot.physics.attached import Track, check_data, check_integrator, check_track, choose_geoms
from sandlot.physics.soil.contact import ELASTIC, FINE, LANES, PATCH, REPOSE, ROWS
from sandlot.physics.soil.ground import FREE, HEIGHT, NODE, TOUCHED, Ground, aligned, release, slide
from sandlot.physics.soil.step import Bodies, Simulation, advance
from sandlot.settings import Settings
from sandlot.typing import Array, IntArray

POWERS_KEPT = 4000
NEVER, LONG_AGO = -0.5, -0.25
"""A step in which nothing is touched, and one that is never the last."""
BOUNCE = 0.5
"""Elastic stiffness times the square of the step over the mass it acts on, at most: twice that is too much for two."""


class SoilKind(Settings):
    """What ground is made of.

    Attributes:
        kphi: Bekker's frictional modulus [Pa/m^n]; infinite for ground that never yields.
        kc: Bekker's cohesive modulus [Pa/m^(n-1)].
        exponent: Bekker's n.
        cohesion: [Pa]
        friction: Angle of internal friction [deg].
        shear: Janosi and Hanamoto's shear displacement K [m].
        elastic: Elastic stiffness [Pa/m].
        damping: [Pa*s/m]
        repose: Steeper slopes slide [deg]; as the angle of friction if not given.
    """

    kphi: float = Field(gt=0.0, allow_inf_nan=True)
    kc: float = Field(0.0, ge=0.0)
    exponent: float = Field(1.0, gt=0.0)
    cohesion: float = Field(0.0, ge=0.0)
    friction: float = Field(gt=0.0, lt=90.0)
    shear: float = Field(gt=0.0)
    elastic: float = Field(gt=0.0)
    damping: float = Field(0.0, ge=0.0)
    repose: float | None = Field(None, gt=0.0, lt=90.0)

    def record(self) -> Array:
        """As the kernels of `sandlot.physics.soil.contact` want it."""
        slope = self.friction if self.repose is None else self.repose
        tangents = np.tan(np.radians([self.friction, slope]))
        stress = (self.kphi, self.kc, self.exponent, self.cohesion, tangents[0], self.shear)
        powers = (FINE * np.arange(POWERS_KEPT)) ** self.exponent
        return np.array([*stress, self.elastic, self.damping, tangents[1], *powers])


PRESETS = {
    "soft": SoilKind(kphi=2e5, exponent=1.1, friction=30.0, shear=0.01, elastic=4e7, damping=3e4),
    "mid": SoilKind(kphi=2e6, exponent=1.1, friction=30.0, shear=0.01, elastic=2e8, damping=3e4),
    "LETE sand": SoilKind(
        kphi=5.301e6, kc=1.02e5, exponent=0.793, cohesion=1300.0, friction=31.1, shear=0.012, elastic=4e8, damping=3e4
    ),
    "rigid": SoilKind(kphi=np.inf, friction=38.7, shear=1e-3, elastic=1e8, damping=3e4, repose=89.9),
}
"""Soft and mid are the soils of Project Chrono's demonstrations; LETE sand is that of Wong, Theory of Ground Vehicles
(2008), table 2.3. Rigid ground never yields, and has a coefficient of friction of 0.8."""


class Soil:
    """Ground that gives way, under the bodies of a MuJoCo model.

    Attributes:
        kind: What it is made of.
        spacing: Of nodes [m].
        corner: x and y of the first node [m].
        wrap: Whether it goes on at the other edge.
    """

    def __init__(
        self,
        heights: ArrayLike,
        spacing: float,
        kind: str | SoilKind = "soft",
        corner: Sequence[float] | None = None,
        wrap: bool = False,
    ) -> None:
        """Ground that nothing has touched.

        Args:
            heights: (ny, nx) of the surface [m]: rows along y, columns along x.
            spacing: Of nodes [m].
            kind: Name of a preset, or what it is made of.
            corner: x and y of the first node [m]; the middle of the ground is at the origin if not given.
            wrap: Whether it goes on at the other edge.

        Raises:
            SandlotError: If there is no such ground.
        """
        try:
            field = np.array(heights, np.float64)
        except (TypeError, ValueError):
            raise SandlotError("heights are no grid of numbers; allowed: numbers, at least 3 by 3") from None
        if field.ndim != 2 or min(field.shape) < 3:
            raise SandlotError(f"heights of shape {field.shape} are no ground; allowed: numbers, at least 3 by 3")
        if not np.isfinite(field).all():
            raise SandlotError(f"heights of shape {field.shape} are not all finite; allowed: numbers, at least 3 by 3")
        if not 0.0 < spacing < np.inf:
            raise SandlotError(f"spacing={spacing:g} is not possible; allowed: greater than 0")
        if isinstance(kind, str) and kind not in PRESETS:
            raise SandlotError(f"there is no soil {kind!r}; allowed: {', '.join(PRESETS)}")
        if not isinstance(kind, str | SoilKind):
            raise SandlotError(f"kind={kind!r} is no soil; allowed: a SoilKind, or {', '.join(PRESETS)}")
        if corner is not None and (np.shape(corner) != (2,) or not np.isfinite(corner).all()):
            raise SandlotError(f"corner={corner!r} is no place; allowed: x and y")
        self.kind = PRESETS[kind] if isinstance(kind, str) else kind
        ny, nx = field.shape
        self.spacing, self.wrap = float(spacing), wrap
        middle = (-0.5 * spacing * (nx - 1), -0.5 * spacing * (ny - 1))
        self.corner = np.array(middle if corner is None else corner, np.float64)
        nodes = aligned(ny * nx, NODE)
        nodes[:, HEIGHT] = nodes[:, FREE] = field.ravel()
        nodes[:, TOUCHED] = LONG_AGO
        waits, ring, ends = np.zeros(ny * nx, np.bool_), np.zeros(ny * nx, np.int64), np.zeros(2, np.int64)
        self._ground = Ground(nodes, ny, nx, wrap, self.spacing, self.corner, waits, ring, ends)
        self._soil = self.kind.record()
        self._model: Any = None
        self._bodies: Bodies
        self._wake()

    def _wake(self) -> None:
        """Let every node wait whose neighbour is too far below it."""
        heights, ground = self.heights, self._ground
        steep = np.zeros(heights.shape, np.bool_)
        beyond = np.pad(heights, 1, mode="wrap") if self.wrap else np.pad(heights, 1, constant_values=np.nan)
        for i, j in ((1, 2), (2, 1), (2, 2), (2, 0)):
            fall = np.abs(heights - beyond[i : i + ground.ny, j : j + ground.nx])
            steep |= np.nan_to_num(fall) > self._soil[REPOSE] * self.spacing * np.hypot(i - 1, j - 1)
        which = np.flatnonzero(steep)
        ground.ring[: len(which)], ground.ends[:] = which, (0, len(which))
        ground.waits[which] = True

    @property
    def surface(self) -> Array:
        """Heights of the surface: (ny, nx) [m]. A view, which changes with every step; to be read only."""
        view = self._ground.nodes[:, HEIGHT].reshape(self._ground.ny, self._ground.nx)
        view.flags.writeable = False
        return view

    @property
    def heights(self) -> Array:
        """Of the surface: (ny, nx) [m]. A copy."""
        return self.surface.copy()

    @property
    def volume(self) -> float:
        """Of the soil above 0 [m^3]; it never changes."""
        return float(np.sum(self._ground.nodes[:, HEIGHT])) * self.spacing**2

    def height_at(self, x: ArrayLike, y: ArrayLike) -> Array:
        """Height of the surface between nodes [m]; the nearest edge's beyond them.

        Args:
            x: (...,) [m]
            y: (...,) [m]
        """
        places = [
            (np.asarray(v, np.float64) - c) / self.spacing for v, c in zip((y, x), self.corner[::-1], strict=True)
        ]
        heights, sizes = self.surface, (self._ground.ny, self._ground.nx)
        if self.wrap:
            low = [np.floor(p).astype(np.int64) for p in places]
            parts = [p - k for p, k in zip(places, low, strict=True)]
            (i, j), (i2, j2) = ([(k + d) % n for k, n in zip(low, sizes, strict=True)] for d in (0, 1))
        else:
            places = [np.clip(p, 0.0, n - 1.0) for p, n in zip(places, sizes, strict=True)]
            low = [np.minimum(p.astype(np.int64), n - 2) for p, n in zip(places, sizes, strict=True)]
            parts = [p - k for p, k in zip(places, low, strict=True)]
            i, j = low
            i2, j2 = i + 1, j + 1
        v, u = parts
        south = heights[i, j] * (1.0 - u) + heights[i, j2] * u
        north = heights[i2, j] * (1.0 - u) + heights[i2, j2] * u
        return np.asarray(south * (1.0 - v) + north * v)

    def settle(self, most: int = 10_000_000) -> None:
        """Let slopes that are too steep slide until they are not; look at no more nodes than ``most``."""
        ground, step = self._ground, float(self._bodies.counts[1]) if self._model is not None else 0.0
        while ground.ends[1] > 0 and most > 0:
            looks = min(int(ground.ends[1]), most)
            slide(ground, self._soil[REPOSE], step if step > 0.0 else NEVER, looks)
            most -= looks

    def attach(
        self, model: mujoco.MjModel, geoms: Sequence[str | int] | None = None, tracks: Sequence[Track] = ()
    ) -> Self:
        """Put this ground under a model.

        Args:
            model: MuJoCo's. Its integrator is any but RK4.
            geoms: Names or numbers of the geoms that feel the ground; if not given, all of moving bodies that collide
                with anything, and are thus not there for their looks.
            tracks: Belts that feel it.

        Raises:
            SandlotError: If there is no such geom, or it is of a kind that cannot be pressed into soil, or too small.
        """
        check_integrator(model)
        chosen = choose_geoms(model, geoms, tracks)
        for track in tracks:
            check_track(model, track)
        shares = Counter([*(int(model.geom_bodyid[k]) for k in chosen), *(track.body for track in tracks)])
        home = mujoco.MjData(model)
        mujoco.mj_kinematics(model, home)
        rows, reals, points, faces = [], [], [np.zeros((0, 3))], [np.zeros((0, 3), np.int32)]
        first_point = first_face = 0
        for geom in chosen:
            kind, body = int(model.geom_type[geom]), int(model.geom_bodyid[geom])
            mesh = (first_point, 0, first_face, 0)
            if kind == shapes.MESH:
                which = model.geom_dataid[geom]
                p, f = model.mesh_vertadr[which], model.mesh_faceadr[which]
                points.append(model.mesh_vert[p : p + model.mesh_vertnum[which]])
                faces.append(model.mesh_face[f : f + model.mesh_facenum[which]])
                mesh = (first_point, len(points[-1]), first_face, len(faces[-1]))
                first_point, first_face = first_point + mesh[1], first_face + mesh[3]
            size = model.geom_size[geom]
            rows.append((kind, body, model.body_rootid[body], -1, geom, *mesh))
            away = home.geom_xpos[geom] - home.xipos[body]
            reals.append((*size, *np.zeros(12), *self._feel(model, body, kind, size, away, shares[body] - 1)))
        for track in tracks:
            size = np.array([track.half_length, track.radius, track.half_width])
            rows.append(
                (shapes.TRACK, track.body, model.body_rootid[track.body], track.dof, -1, first_point, 0, first_face, 0)
            )
            middle = home.xpos[track.body] + home.xmat[track.body].reshape(3, 3) @ track.position
            away = middle - home.xipos[track.body]
            felt = self._feel(model, track.body, shapes.TRACK, size, away, shares[track.body] - 1)
            reals.append((*size, *track.position, *np.ravel(track.rotation), *felt))
        whole, real = np.array(rows, np.int64), np.array(reals, np.float64)
        self._check_sizes(model, whole, real)
        reach = np.where(whole[:, 0] == shapes.TRACK, real[:, :3].sum(axis=1), model.geom_rbound[whole[:, 4]])
        across = (2.0 * reach / self.spacing + 3.0).astype(np.int64)
        room, rim = int(np.sum(across**2)), 4 * int(across.max()) ** 2
        if self._model is not None:
            # What the bodies before left behind is let go, and forgets in which of their steps they touched it.
            release(self._ground, self._bodies.before[: self._bodies.counts[0]], NEVER)
            self._ground.nodes[:, TOUCHED] = LONG_AGO
        self._bodies = Bodies(
            whole=whole,
            real=real,
            points=np.concatenate(points).astype(np.float64),
            faces=np.concatenate(faces).astype(np.int32),
            under=np.zeros(room, np.int64),
            edge=np.zeros(room, np.int64),
            patch=aligned(room, PATCH),
            line=np.zeros((2, int(across.max()) + 3)),
            before=np.zeros(room, np.int64),
            counts=np.zeros(3, np.int64),
            rim=np.zeros(rim, np.int64),
            weight=np.zeros(rim),
            sums=np.zeros((len(whole), 11)),
            account=np.zeros((len(whole), 2)),
            pose=np.zeros((len(whole), 12)),
            ends=np.zeros(len(whole) + 1, np.int64),
            work=aligned(ROWS * LANES),
            forces=np.zeros((model.nbody, 6)),
            torques=np.zeros(model.nv),
        )
        self._model = model
        return self

    def _feel(self, model: mujoco.MjModel, body: int, kind: int, size: Array, away: Array, others: int) -> Array:
        """What the ground feels of a shape.

        What lies ``away`` from the body's centre of mass turns the body, which is easier than to move it, and so many
        ``others`` may push it at the same time. Stiffness is the soil's, if a step is short enough for it.

        Returns:
            Elastic stiffness under it [Pa/m], mass [kg] and mean moment of inertia [kg*m^2] of its body, and how heavy
            that is where it touches [kg].
        """
        reach = {
            shapes.SPHERE: size[0] ** 2,
            shapes.BOX: 4.0 * np.prod(np.sort(size)[1:]),
            shapes.TRACK: 4.0 * (size[0] + 0.5 * size[1]) * size[2],
            shapes.CYLINDER: 2.0 * size[0] * size[1],
            shapes.CAPSULE: 2.0 * size[0] * (size[1] + 0.5 * size[0]),
        }
        # A plane may have none; it is refused later.
        area = max(float(reach.get(kind, np.prod(np.sort(size)[1:]))), 1e-12)
        moves, turns = model.body_invweight0[body]
        heavy = 1.0 / (max(float(moves + turns * (away[0] ** 2 + away[1] ** 2)), 1e-12) * (1 + others))
        stiff = min(self._soil[ELASTIC], BOUNCE * heavy / (area * model.opt.timestep**2))
        # What is welded together moves together; a body may leave its mass to the others.
        welded = model.body_weldid == model.body_weldid[body]
        mass, inertia = model.body_mass[welded].sum(), model.body_inertia[welded].mean(axis=1).sum()
        return np.array([stiff, max(mass, 1e-9), inertia, heavy])

    def _check_sizes(self, model: mujoco.MjModel, whole: IntArray, real: Array) -> None:
        """Refuse shapes that fall through between the nodes, and those that are no bodies."""
        for row, size in zip(whole, real[:, :3], strict=True):
            kind, geom = int(row[0]), int(row[4])
            name = f"track on body {row[1]}" if geom < 0 else f"geom {model.geom(geom).name or geom}"
            if kind not in ACROSS:
                raise SandlotError(f"{name} is of a kind that soil does not know; allowed: {', '.join(KINDS)}")
            across = 2.0 * (float(model.geom_rbound[geom]) if kind == shapes.MESH else ACROSS[kind](size))
            if across < self.spacing:
                raise SandlotError(
                    f"{name} is {across:.3g} m across, less than the spacing of the ground; "
                    f"allowed: spacing of at most {across:.2g}"
                )

    def step(self, data: mujoco.MjData, steps: int = 1) -> None:
        """Make steps of the simulation, as ``mj_step`` does, with the forces of the soil.

        Raises:
            SandlotError: If the soil is not attached to the model of this simulation.
        """
        check_data(self._model, data, "this soil is")
        arrays = Simulation(*(getattr(data, name) for name in Simulation._fields))
        model, dt = self._model, self._model.opt.timestep
        addresses = (*_steppers(), model._address, data._address)
        first, second, mine, yours = (np.uint64(each) for each in addresses)
        advance(self._ground, self._soil, self._bodies, arrays, dt, steps, first, second, mine, yours)

    @property
    def forces(self) -> Array:
        """On the body of each attached shape in the last step: (shapes, 6) force [N], torque about its centre [N*m]."""
        if self._model is None:
            raise SandlotError("this soil is under no model; use attach first")
        return self._bodies.sums[:, :6].copy()


KINDS = ("sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh")
ACROSS: dict[int, Callable[[Array], float]] = {
    shapes.SPHERE: lambda size: size[0],
    shapes.CAPSULE: lambda size: size[0],
    shapes.ELLIPSOID: lambda size: min(size),
    shapes.CYLINDER: lambda size: min(size[:2]),
    shapes.BOX: lambda size: min(size),
    shapes.MESH: lambda size: np.inf,
    shapes.TRACK: lambda size: min(size[1:]),
}
"""Half the least width of each kind of shape [m]."""


@cache
def _steppers() -> tuple[int, int]:
    """Addresses of MuJoCo's two halves of a step."""
    folder = Path(mujoco.__file__).parent
    (file,) = (path for path in folder.iterdir() if path.name.startswith(("libmujoco", "mujoco.dll")))
    library = ctypes.CDLL(str(file))
    first, second = (ctypes.cast(each, ctypes.c_void_p).value for each in (library.mj_step1, library.mj_step2))
    return int(first or 0), int(second or 0)
