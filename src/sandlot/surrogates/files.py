"""Sensor models on disk, kept by `sandlot.models.store`, and their equations as Python, C, LaTeX or text."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from sandlot.errors import ModelError, SandlotError
from sandlot.models import store
from sandlot.models.card import Card, TrainingData
from sandlot.settings import Settings, build
from sandlot.surrogates import equations
from sandlot.surrogates.lines import Grid
from sandlot.surrogates.local import MAX_DEGREE, Local
from sandlot.surrogates.sensor_models import Headings, Sectors
from sandlot.surrogates.terms import NONE
from sandlot.writing import drafted

KINDS: dict[str, type[Sectors] | type[Headings] | type[Local]] = {
    "local": Local,
    "sectors": Sectors,
    "headings": Headings,
}
"""Sensor models that can be saved, by name; the first is the most accurate."""
POLYNOMIALS = ("origin", "factors", "coefficients", "min_ranges", "max_ranges")
"""Arrays of `Sectors` and `Headings`."""
LOCAL = ("fallback", "segment_bearings", "range_limits")
"""Arrays of `Local`, besides its grids."""
MAX_CELLS = 10_000_000
"""Of a grid that is loaded, so that a small file cannot ask for much memory."""
SUFFIXES = {"python": ".py", "c": ".c", "latex": ".tex", "text": ".txt"}
"""Of files with equations."""
COMMENTS = {"python": "# ", "c": "// ", "latex": "% ", "text": ""}


class SensorSettings(Settings):
    """The plain values of a sensor model.

    Attributes:
        method: One of `KINDS`.
        segments: Number of segments of a scan.
        degree: Of the polynomials.
        field_of_view: Of the laser [rad].
        centre_bearing: Bearing of the centre of the field of view [rad].
        groups: Number of sectors of yaw.
        grids: Number of grids of a local model.
        least: Of a local model, as `Local.least_`.
    """

    method: Literal["local", "sectors", "headings"]
    segments: int = Field(ge=1, le=10_000)
    degree: int = Field(ge=1, le=10_000)
    field_of_view: float = Field(gt=0.0, le=7.0)
    centre_bearing: float = Field(ge=-7.0, le=7.0)
    groups: int = Field(1, ge=1, le=10_000)
    grids: int = Field(0, ge=0, le=8)
    least: float = Field(0.0, ge=0.0, lt=1.0)


def save(
    model: Sectors | Headings | Local,
    path: Path,
    trained_on: Sequence[TrainingData] = (),
    errors: Mapping[str, float] | None = None,
    valid_ranges: Mapping[str, tuple[float, float]] | None = None,
) -> None:
    """Write a model to a new directory.

    Args:
        model: Fitted.
        path: Directory to make.
        trained_on: As in `Card`, as are the next two.
        errors: Name to value.
        valid_ranges: Name to smallest and largest value.

    Raises:
        ModelError: If the model has no coefficients, or cannot be written.
    """
    check_found(model)
    method = next(name for name, each in KINDS.items() if type(model) is each)
    settings: dict[str, Any] = {"method": method, "segments": model.segments, "degree": model.degree}
    settings |= {"field_of_view": model.field_of_view_, "centre_bearing": model.centre_bearing_}
    names = LOCAL if isinstance(model, Local) else POLYNOMIALS
    arrays: dict[str, NDArray[Any]] = {name: np.asarray(getattr(model, f"{name}_")) for name in names}
    if isinstance(model, Local):
        settings |= {"grids": len(model.grids_), "least": model.least_}
        for k, grid in enumerate(model.grids_):
            fields = grid._asdict() | {"model": np.flatnonzero(grid.model >= 0)}  # few cells have a polynomial
            arrays |= {f"grids.{k}.{name}": values for name, values in fields.items()}
    else:
        settings["groups"] = model.groups
    card = Card(
        kind="sensor",
        description=f"laser ranges of {model.segments} segments from the pose: {method}, {model.size:,} coefficients",
        trained_on=tuple(trained_on),
        errors=dict(errors or {}),
        valid_ranges=dict(valid_ranges or {}),
        settings=build(SensorSettings, settings).model_dump(),
    )
    store.save(path, card, arrays)


def check_found(model: Sectors | Headings | Local) -> None:
    """Check that a fit found something.

    Raises:
        ModelError: If all coefficients are zero, or there are none.
    """
    if model.size == 0:
        raise ModelError("the fit found no coefficients: too few scans for any cell, or all ranges are 0; record more")


def load(path: Path) -> Sectors | Headings | Local:
    """Read a sensor model.

    Raises:
        ModelError: If it cannot be read, is damaged, or is of another kind.
    """
    stored = store.load(path, "sensor")
    try:
        settings = build(SensorSettings, stored.card.settings)
        model = _local(stored, settings) if settings.method == "local" else _polynomials(stored, settings)
    except SandlotError as error:
        raise ModelError(f"{path}: {error}; `sandlot fit sensor` makes sensor models") from None
    model.field_of_view_, model.centre_bearing_ = settings.field_of_view, settings.centre_bearing
    return model


def _polynomials(stored: store.Model, settings: SensorSettings) -> Sectors | Headings:
    groups, segments, degree = settings.groups, settings.segments, settings.degree
    model = (
        Sectors(groups, degree, segments=segments)
        if settings.method == "sectors"
        else Headings(degree, segments=segments)
    )
    model.coefficients_ = stored.array("coefficients", (model.groups, segments, None))
    model.factors_ = stored.array("factors", (*model.coefficients_.shape, degree), np.int64)
    _check_factors(model.factors_, len(model.names))
    model.origin_ = stored.array("origin", (2,))
    model.min_ranges_, model.max_ranges_ = (stored.array(name, (segments,)) for name in POLYNOMIALS[3:])
    model.prepare()
    return model


def _local(stored: store.Model, settings: SensorSettings) -> Local:
    if settings.degree > MAX_DEGREE:
        raise ModelError(f"degree={settings.degree} is not possible; allowed: from 1 to {MAX_DEGREE}")
    model = Local(settings.degree, segments=settings.segments)
    model.fallback_ = stored.array("fallback", (settings.segments,))
    model.segment_bearings_ = stored.array("segment_bearings", (settings.segments,))
    low, high = stored.array("range_limits", (2,)).tolist()
    model.range_limits_, model.least_ = (low, high), settings.least
    model.grids_ = [_grid(stored, f"grids.{k}.", settings.degree) for k in range(settings.grids)]
    return model


def _grid(stored: store.Model, prefix: str, degree: int) -> Grid:
    """A grid whose indices stay within its arrays, since a kernel follows them unchecked."""
    shape = stored.array(f"{prefix}shape", (3,), np.int64)
    count = math.prod(shape.tolist())
    if shape.min() < 1 or count > MAX_CELLS:
        raise ModelError(f"{prefix}shape={shape.tolist()} is not possible")
    cells = stored.array(f"{prefix}model", (None,), np.int64)
    if cells.min(initial=0) < 0 or cells.max(initial=0) >= count:
        raise ModelError(f"{prefix}model names cells that do not exist")
    model = np.full(count, -1, np.int64)
    model[cells] = np.arange(len(cells))
    coefficients = stored.array(f"{prefix}coefficients", (len(cells), None))
    factors = stored.array(f"{prefix}factors", (*coefficients.shape, degree), np.int64)
    _check_factors(factors, 3)
    width = stored.array(f"{prefix}width", (3,))
    if width.min() <= 0.0 or not math.isclose(width[0] * shape[0], 2.0 * math.pi):
        raise ModelError(f"{prefix}width={width.tolist()} is not possible")
    axes = stored.array(f"{prefix}axes", (int(shape[0]) + 1, 2))
    corner, origin = (stored.array(f"{prefix}{name}", (2,)) for name in ("corner", "origin"))
    limits = stored.array(f"{prefix}limits", (len(cells), 2))
    return Grid(shape, corner, origin, width, axes, model, factors, coefficients, limits)


def _check_factors(factors: NDArray[np.int64], variables: int) -> None:
    if factors.min(initial=NONE) < NONE or factors.max(initial=NONE) >= variables:
        raise ModelError(f"factors should be from {NONE} to {variables - 1}")


def save_equations(model: Sectors | Headings, path: Path, form: str) -> None:
    """Write all polynomials of a model.

    Args:
        model: Fitted, not loaded.
        path: File to make.
        form: python, c, latex or text.

    Raises:
        ModelError: If the file cannot be written, or the model was loaded.
    """
    yaw = f"Sector g of {model.groups}: the yaw nearest to g * 360 / {model.groups} degrees."
    lines = [
        "Median range [m] of each segment of a laser scan; segment 0 is the rightmost.",
        f"x and y [m] are relative to the centre of the log, at {model.origin_[0]:.17g}, {model.origin_[1]:.17g}.",
        yaw if model.groups > 1 else "c and s: cosine and sine of the yaw.",
        "The model clips each segment to the ranges of the log:",
    ]
    limits = zip(model.min_ranges_.tolist(), model.max_ranges_.tolist(), strict=True)
    lines += [f"segment {k}: {low:.6g} to {high:.6g} m" for k, (low, high) in enumerate(limits)]
    parts = ["\n".join(COMMENTS[form] + line for line in lines) + "\n"]
    for group in range(model.groups):
        for segment in range(model.segments):
            name = f"sector_{group}_segment_{segment}" if model.groups > 1 else f"segment_{segment}"
            parts.append(_written(model, group, segment, form, name))
    with drafted(path, ModelError) as draft:
        draft.write_text("\n".join(parts), encoding="utf-8")


def _written(model: Sectors | Headings, group: int, segment: int, form: str, name: str) -> str:
    found = model.narmax(group, segment)
    if form == "latex":
        return f"% {name}\n\\[\n{equations.latex(found, f'r_{{{group},{segment}}}')}\\]\n"
    if form == "text":
        return equations.text(found, name) + "\n"
    return equations.python(found, name) if form == "python" else equations.c(found, name)
