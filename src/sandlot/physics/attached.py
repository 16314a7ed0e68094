"""What ground has to know of the MuJoCo model on it: which geoms touch it, and belts, which MuJoCo does not have."""

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


def check_track(model: mujoco.MjModel, track: Track) -> None:
    """Refuse a track on a body or a degree of freedom that the model does not have.

    Raises:
        SandlotError: If it has none.
    """
    for name, value, count in (("body", track.body, model.nbody), ("dof", track.dof, model.nv)):
        if not 0 <= value < count:
            raise SandlotError(f"track with {name}={value}: the model has none; allowed: 0 to {count - 1}")


def check_integrator(model: mujoco.MjModel) -> None:
    """Refuse an integrator that takes several looks at the forces in one step.

    Raises:
        SandlotError: If it is RK4.
    """
    if model.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4:
        raise SandlotError("ground cannot be used with the integrator RK4; allowed: Euler, implicit, implicitfast")
