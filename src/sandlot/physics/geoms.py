"""Which geoms of a MuJoCo model touch the ground, and which rigid floors they would touch as well."""

from collections.abc import Sequence

import mujoco
import numpy as np

from sandlot.errors import ModelError, SettingError
from sandlot.typing import BoolArray

PLANE, HEIGHT_FIELD = int(mujoco.mjtGeom.mjGEOM_PLANE), int(mujoco.mjtGeom.mjGEOM_HFIELD)
FLAT_NORMAL = 0.5
"""A plane is a floor if the vertical part of its normal is at least this; a steeper one is a wall."""


def geom_name(model: mujoco.MjModel, geom: int) -> str:
    """How messages call a geom: by its name, or its number."""
    return f"geom {model.geom(geom).name or geom}"


def find_geom(model: mujoco.MjModel, which: str | int) -> int:
    """The number of a geom, given by name or number.

    Raises:
        SettingError: If there is no such geom.
    """
    number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, which) if isinstance(which, str) else int(which)
    if not 0 <= number < model.ngeom:
        names = [model.geom(k).name for k in range(model.ngeom) if model.geom(k).name]
        raise SettingError(f"the model has no geom {which!r}; allowed: {', '.join(names) or 'numbers'}")
    return number


def moving(model: mujoco.MjModel) -> BoolArray:
    """Whether each geom is of a body that can move: (ngeom,)."""
    return np.asarray(model.body_weldid[model.geom_bodyid] > 0, np.bool_)


def can_be_floor(model: mujoco.MjModel, geom: int) -> bool:
    """Whether a geom is a plane or a height field of a body that does not move."""
    return int(model.geom_type[geom]) in (PLANE, HEIGHT_FIELD) and not moving(model)[geom]


def find_floors(model: mujoco.MjModel) -> list[int]:
    """The numbers of all planes and height fields that do not move, without planes that stand like walls."""
    found = [geom for geom in range(model.ngeom) if can_be_floor(model, geom)]
    if not found:
        return []
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    return [geom for geom in found if model.geom_type[geom] != PLANE or data.geom_xmat[geom, 8] >= FLAT_NORMAL]


def paired(model: mujoco.MjModel, floor: int) -> list[tuple[int, int]]:
    """Explicit contact pairs with a floor: number of the pair, and the other geom."""
    first, second = model.pair_geom1, model.pair_geom2
    which = np.flatnonzero((first == floor) | (second == floor))
    return [(int(k), int(second[k] if first[k] == floor else first[k])) for k in which]


def choose_geoms(model: mujoco.MjModel, geoms: Sequence[str | int] | None, tracks: int) -> list[int]:
    """The numbers of the geoms that touch the ground.

    Args:
        model: MuJoCo's model.
        geoms: Names or numbers; if not given, all geoms of moving bodies that collide with anything, or are in an
            explicit contact pair with a floor.
        tracks: How many tracks touch the ground too.

    Raises:
        ModelError: If nothing touches the ground.
        SettingError: If there is no such geom, or one is given twice.
    """
    if isinstance(geoms, str):
        raise SettingError(f"geoms={geoms!r} is one name; allowed: a list of them")
    if geoms is None:
        solid = (model.geom_contype | model.geom_conaffinity) != 0
        for floor in find_floors(model) if model.npair else ():
            solid[[other for _, other in paired(model, floor)]] = True
        chosen = [int(k) for k in np.flatnonzero(solid & moving(model))]
    else:
        chosen = [find_geom(model, each) for each in geoms]
    twice = sorted({each for each in chosen if chosen.count(each) > 1})
    if twice:
        names = ", ".join(geom_name(model, each) for each in twice)
        raise SettingError(f"geoms has {names} more than once; allowed: each geom once")
    if not chosen and not tracks:
        raise ModelError("nothing of this model can touch the ground; allowed: geoms of bodies that move")
    return chosen
