"""What ground has to know of the MuJoCo model on it: which geoms touch it, and belts, which MuJoCo does not have."""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from sandlot.errors import SandlotError


@dataclass(frozen=True, eq=False)
class Track:
    """A belt around two pulleys, fixed to a body: a stadium, seen from the side.

    Attributes:
        body: Which, in MuJoCo.
        position: (3,) of its middle in the body's frame [m].
        rotation: (3, 3) from its axes (x along the belt, y along the axles, z up) to the body's.
        half_length: Half the way between the axles [m].
        radius: Of the pulleys, with the belt [m].
        half_width: Half its width [m].
        dof: The degree of freedom that drives it: its speed [rad/s] times the radius is that of the belt, which drives
            forward where it is positive.
    """

    body: int
    position: NDArray[np.float64]
    rotation: NDArray[np.float64]
    half_length: float
    radius: float
    half_width: float
    dof: int


def find_geom(model: mujoco.MjModel, which: str | int) -> int:
    """The number of a geom, given by name or number.

    Raises:
        SandlotError: If there is none.
    """
    number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, which) if isinstance(which, str) else int(which)
    if not 0 <= number < model.ngeom:
        names = [model.geom(k).name for k in range(model.ngeom) if model.geom(k).name]
        raise SandlotError(f"the model has no geom {which!r}; allowed: {', '.join(names) or 'numbers'}")
    return number


def choose_geoms(model: mujoco.MjModel, geoms: Sequence[str | int] | None, tracks: Sequence[Track]) -> list[int]:
    """The numbers of geoms that are to feel the ground.

    Args:
        model: Theirs.
        geoms: Names or numbers; if not given, all of moving bodies that collide with anything.
        tracks: Belts that feel it as well.

    Raises:
        SandlotError: If there is no such geom, or nothing at all.
    """
    if isinstance(geoms, str):
        raise SandlotError(f"geoms={geoms!r} is one name; allowed: a list of them")
    solid = (model.geom_contype | model.geom_conaffinity) != 0
    moving = np.flatnonzero(solid & (model.body_weldid[model.geom_bodyid] > 0))
    chosen = [int(k) for k in moving] if geoms is None else [find_geom(model, each) for each in geoms]
    if not chosen and not tracks:
        raise SandlotError("nothing of this model can touch the ground; allowed: geoms of bodies that move")
    return chosen


def check_track(model: mujoco.MjModel, track: Track) -> None:
    """Refuse a track on a body or a degree of freedom that the model does not have, or of an impossible size.

    Raises:
        SandlotError: What is wrong with it.
    """
    for name, value, count in (("body", track.body, model.nbody), ("dof", track.dof, model.nv)):
        if not 0 <= value < count:
            raise SandlotError(f"track with {name}={value}: the model has none; allowed: 0 to {count - 1}")
    for name in ("half_length", "radius", "half_width"):
        if not 0.0 < getattr(track, name) < np.inf:
            raise SandlotError(f"track with {name}={getattr(track, name):g}; allowed: above 0")


def check_data(model: mujoco.MjModel | None, data: mujoco.MjData, name: str) -> None:
    """Refuse a simulation of another model than the one that ground is attached to.

    Raises:
        SandlotError: If it is, or if there is no model yet.
    """
    if model is None:
        raise SandlotError(f"{name} under no model; use attach first")
    if data.model is not model:
        raise SandlotError(f"this data is of another model than the one that {name} under; attach that one")


def check_integrator(model: mujoco.MjModel) -> None:
    """Refuse an integrator that takes several looks at the forces in one step.

    Raises:
        SandlotError: If it is RK4.
    """
    if model.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4:
        raise SandlotError("ground cannot be used with the integrator RK4; allowed: Euler, implicit, implicitfast")
