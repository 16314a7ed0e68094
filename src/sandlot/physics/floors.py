"""Rigid floors that deformable ground takes the place of.

A scene made for MuJoCo has a floor. A robot on soil must not stand on it as well. A compiled model has no place for new
contact exclusions, so the floor is taken out of contact by its collision bits and by the margins of contact pairs.
"""

import warnings
from collections.abc import Sequence

import mujoco
import numpy as np

from sandlot.errors import ModelError, RobotWarning, SettingError
from sandlot.physics.geoms import can_be_floor, find_floors, find_geom, geom_name, moving, paired
from sandlot.typing import BoolArray

Replaces = str | int | bool | Sequence[str | int] | None
"""Floors that ground takes the place of: name or number, or several; True for all, None for none."""
NO_CONTACT = -1e10
"""Margin of a pair that is taken out [m]: contacts must be deeper than this. The pair itself stays, so that ground
that is attached to the model later finds the geom."""
BITS = 31
"""Collision bits that a geom has; the sign is not used."""


def replace_floors(model: mujoco.MjModel, bodies: Sequence[int], replaces: Replaces, stacklevel: int) -> None:
    """Take floors out of contact with the attached bodies, and warn once of floors that still touch them.

    A foot may be attached by one geom and collide by others, so all geoms of a body, and of those welded to it, count.

    Args:
        model: Changed: collision bits of the floors and of geoms that still touch them, and margins of contact pairs.
        bodies: Numbers of the bodies that touch deformable ground.
        replaces: Which floors.
        stacklevel: As of ``warnings.warn``, for the caller.

    Raises:
        ModelError: If other geoms have to go on touching a floor, and no collision bit is free for that.
        SettingError: If a given geom does not exist, or is no plane or height field of a body that does not move.
    """
    floors, weld = find_floors(model), model.body_weldid
    attached = [int(k) for k in np.flatnonzero(np.isin(weld[model.geom_bodyid], weld[bodies]) & moving(model))]
    for floor in floors if replaces is True else _named(model, replaces):
        _take_out(model, floor, attached)
    left = [floor for floor in floors if _touched(model, floor, attached)]
    if left:
        names = ", ".join(geom_name(model, floor) for floor in left)
        hint = "True" if len(left) > 1 else repr(model.geom(left[0]).name or left[0])
        warnings.warn(
            f"{names} still touches the attached bodies, which would stand on it instead of this ground; "
            f"use replaces={hint}, or remove it from the model",
            RobotWarning,
            stacklevel=stacklevel + 1,
        )


def _named(model: mujoco.MjModel, replaces: Replaces) -> list[int]:
    """The numbers of the floors that are given one by one."""
    if replaces is None or isinstance(replaces, bool):
        return []
    named = [replaces] if isinstance(replaces, str | int) else list(replaces)
    found = [find_geom(model, each) for each in named]
    for geom in found:
        if not can_be_floor(model, geom):
            floors = ", ".join(geom_name(model, each) for each in find_floors(model)) or "none in this model"
            raise SettingError(
                f"replaces: {geom_name(model, geom)} is no plane or height field that does not move; allowed: {floors}"
            )
    return found


def _meets(model: mujoco.MjModel, floor: int) -> BoolArray:
    """Whether collision bits let each geom touch a floor: (ngeom,)."""
    kind, affinity = model.geom_contype, model.geom_conaffinity
    return np.asarray(((kind & affinity[floor]) | (kind[floor] & affinity)) != 0, np.bool_) & moving(model)


def _excluded(model: mujoco.MjModel, floor: int, geom: int) -> bool:
    """Whether the model excludes contacts between the bodies of a floor and a geom."""
    first, second = sorted((int(model.geom_bodyid[floor]), int(model.geom_bodyid[geom])))
    return bool(np.any(model.exclude_signature == (first << 16) + second))


def _touched(model: mujoco.MjModel, floor: int, attached: Sequence[int]) -> bool:
    """Whether a floor could touch one of the attached geoms."""
    if model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_CONTACT:
        return False
    meets, mine = _meets(model, floor), set(attached)
    pairs = [pair for pair, geom in paired(model, floor) if geom in mine]
    collides = any(meets[geom] and not _excluded(model, floor, geom) for geom in mine)
    return collides or any(model.pair_margin[pair] > NO_CONTACT for pair in pairs)


def _take_out(model: mujoco.MjModel, floor: int, attached: Sequence[int]) -> None:
    """Take a floor out of contact with the attached geoms; others go on touching it."""
    mine = list(attached)
    others = _meets(model, floor)
    if np.any(others[mine]):
        others[mine] = False
        bit = _free_bit(model) if others.any() else 0
        model.geom_contype[floor], model.geom_conaffinity[floor] = 0, bit
        model.geom_contype[others] |= bit
    for pair, geom in paired(model, floor):
        if geom in mine:
            model.pair_margin[pair] = NO_CONTACT


def _free_bit(model: mujoco.MjModel) -> int:
    """A collision bit that no geom uses."""
    used = int(np.bitwise_or.reduce(model.geom_contype | model.geom_conaffinity))
    for k in range(BITS):
        if not used >> k & 1:
            return 1 << k
    raise ModelError(
        f"geoms that are not attached touch a floor that is replaced, and all {BITS} collision bits are used; "
        "allowed: attach them too, or use fewer bits of contype and conaffinity"
    )
