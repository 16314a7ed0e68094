"""What a user says of soil, checked: each mistake gets one line that says what is allowed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sandlot.errors import SettingError
from sandlot.physics.soil.files import SUFFIX, load_soil
from sandlot.physics.soil.ground import KindArray
from sandlot.physics.soil.kinds import PRESETS, SoilKind
from sandlot.typing import Array

Kind = str | SoilKind
"""Name of a preset, the path of a ``.toml`` file, or what ground is made of."""
MAX_KINDS = 256
"""Most kinds on one ground: their numbers are stored in a byte."""


def read_heights(heights: ArrayLike) -> Array:
    """A copy of heights: (ny, nx) [m].

    Raises:
        SettingError: If they are not a grid of finite numbers.
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
    return field


def read_spacing(spacing: float) -> float:
    """A distance of nodes [m].

    Raises:
        SettingError: If it is not possible.
    """
    try:
        number = float(spacing)
    except (TypeError, ValueError):
        number = np.nan
    if not 0.0 < number < np.inf:
        raise SettingError(f"spacing={spacing!r} is not possible; allowed: a number greater than 0")
    return number


def read_place(name: str, place: Any) -> Array:
    """Two coordinates or lengths, by name: (2,) [m].

    Raises:
        SettingError: If they are not two finite numbers.
    """
    try:
        found = np.array(place, np.float64)
    except (TypeError, ValueError):
        found = np.full(2, np.nan)
    if found.shape != (2,) or not np.isfinite(found).all():
        raise SettingError(f"{name}={place!r} is not possible; allowed: x and y, finite")
    return found


def read_kinds(kind: Kind | Sequence[Kind], which: object) -> tuple[SoilKind, ...]:
    """The kinds of soil of ground: one, or several if ``which`` says where they are.

    Raises:
        SettingError: If one is unknown or impossible.
    """
    several = isinstance(kind, list | tuple)
    given: list[Any] = [*kind] if isinstance(kind, list | tuple) else [kind]
    if several and which is None:
        raise SettingError(f"kind is a list of {len(given)}; allowed: one kind of soil, or several with which")
    if not several and which is not None:
        raise SettingError(f"kind={kind!r} is not possible with which; allowed: a list of kinds of soil")
    if not 1 <= len(given) <= MAX_KINDS:
        raise SettingError(f"kind is a list of {len(given)}; allowed: 1 to {MAX_KINDS} kinds of soil")
    for each in given:
        if not isinstance(each, str | SoilKind):
            raise SettingError(f"kind={each!r} is not possible; allowed: a SoilKind, or {', '.join(PRESETS)}")
    return tuple(named_kind(each) if isinstance(each, str) else each for each in given)


def named_kind(name: str) -> SoilKind:
    """A preset by its name, or the soil in a ``.toml`` file.

    Raises:
        SandlotError: If there is no such preset, or the file is no soil.
    """
    if name in PRESETS:
        return PRESETS[name]
    if name.endswith(SUFFIX):
        return load_soil(Path(name))
    raise SettingError(f"unknown soil {name!r}; allowed: {', '.join(PRESETS)}, or a {SUFFIX} file")


def read_which(which: ArrayLike | None, kinds: int, shape: tuple[int, ...]) -> NDArray[np.intp]:
    """Numbers of kinds at the nodes of ground of a shape; all 0 if not given.

    Raises:
        SettingError: If they are not such numbers.
    """
    if which is None:
        return np.zeros(shape, np.intp)
    allowed = f"allowed: whole numbers from 0 to {kinds - 1}, of shape {shape} as the heights"
    try:
        field = np.array(which)
    except (TypeError, ValueError):
        raise SettingError(f"which is not a grid of numbers; {allowed}") from None
    whole = np.issubdtype(field.dtype, np.integer) or field.dtype == np.bool_
    if field.shape != shape or not whole:
        raise SettingError(f"which is of shape {field.shape} and type {field.dtype}; {allowed}")
    wrong = field[(field < 0) | (field >= kinds)]
    if wrong.size:
        raise SettingError(f"which has {wrong[0]}, and there are {kinds} kinds of soil; {allowed}")
    return field.astype(np.intp)


def distinct(kinds: Sequence[SoilKind]) -> tuple[tuple[SoilKind, ...], KindArray]:
    """The kinds that differ, and the number of each kind among these: (kinds,)."""
    found = [*dict.fromkeys(kinds)]
    return tuple(found), np.array([found.index(each) for each in kinds], np.uint8)
