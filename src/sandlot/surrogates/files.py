"""Sensor models in files: JSON, with everything that `predict` needs."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from sandlot.errors import SandlotError
from sandlot.surrogates import equations
from sandlot.surrogates.lines import Grid
from sandlot.surrogates.local import MOST_DEGREE, Local
from sandlot.surrogates.sensor_models import Headings, Sectors
from sandlot.surrogates.terms import NONE

FORMAT = "sandlot sensor model"
VERSION = 1
KINDS: dict[str, type[Sectors] | type[Headings] | type[Local]] = {
    "local": Local,
    "sectors": Sectors,
    "headings": Headings,
}
"""Models that can be kept, by name; the first is the best."""
INTEGERS = ("shape", "factors")
MOST_CELLS, MOST_GRIDS = 10_000_000, 8
SUFFIXES = {"python": ".py", "c": ".c", "latex": ".tex", "text": ".txt"}
"""Of files with equations."""
COMMENTS = {"python": "# ", "c": "// ", "latex": "% ", "text": ""}


def save(model: Sectors | Headings | Local, path: Path) -> None:
    """Keep a model.

    Raises:
        SandlotError: If the file cannot be written.
    """
    kind = next(name for name, each in KINDS.items() if type(model) is each)
    _write(json.dumps({"format": FORMAT, "version": VERSION, "kind": kind, **_content(model)}, allow_nan=False), path)


def save_equations(model: Sectors | Headings, path: Path, form: str) -> None:
    """Write all polynomials of a model, as Python, C, LaTeX or text.

    Raises:
        SandlotError: If the file cannot be written, or the model comes from a file.
    """
    lines = [
        "Medians [m] of the segments of a laser scan, 0 the rightmost.",
        f"x and y [m] are counted from the middle of the log, at {model.origin_[0]:.17g}, {model.origin_[1]:.17g}.",
        f"Heading g: the nearest of {model.groups} equal parts of a turn, 0 along x, counter-clockwise."
        if model.groups > 1
        else "c and s: cosine and sine of the heading.",
        "The model keeps each within what was seen:",
    ]
    limits = zip(model.lowest_.tolist(), model.highest_.tolist(), strict=True)
    lines += [f"segment {k}: {low:.6g} to {high:.6g} m" for k, (low, high) in enumerate(limits)]
    parts = ["\n".join(COMMENTS[form] + line for line in lines) + "\n"]
    for group in range(model.groups):
        for segment in range(model.segments):
            name = f"heading_{group}_segment_{segment}" if model.groups > 1 else f"segment_{segment}"
            parts.append(_written(model, group, segment, form, name))
    _write("\n".join(parts), path)


def _written(model: Sectors | Headings, group: int, segment: int, form: str, name: str) -> str:
    found = model.narmax(group, segment)
    if form == "latex":
        return f"% {name}\n\\[\n{equations.latex(found, f'r_{{{group},{segment}}}')}\\]\n"
    if form == "text":
        return equations.text(found, name) + "\n"
    return equations.python(found, name) if form == "python" else equations.c(found, name)


def _write(text: str, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SandlotError(f"cannot write {path}: {error.strerror}") from None


def load(path: Path) -> Sectors | Headings | Local:
    """Take a model from its file.

    Raises:
        SandlotError: If it cannot be read, or is not one.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise ValueError
        if content["version"] > VERSION:
            raise SandlotError(f"{path} was written by a newer Sandlot; this one reads version {VERSION}")
        return _model(content)
    except OSError as error:
        raise SandlotError(f"cannot read a sensor model from {path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, OverflowError, MemoryError):
        raise SandlotError(f"{path} is not a sensor model, or is damaged; `sandlot fit sensor` makes one") from None


def _content(model: Sectors | Headings | Local) -> dict[str, Any]:
    plain: dict[str, Any] = {"segments": model.segments, "degree": model.degree}
    plain |= {"spread": model.spread_, "middle": model.middle_}
    if isinstance(model, Local):
        grids = []
        for grid in model.grids_:
            kept = {name: getattr(grid, name).tolist() for name in Grid._fields if name != "model"}
            grids.append(kept | {"cells": np.flatnonzero(grid.model >= 0).tolist()})  # few have one
        return plain | {
            "usual": model.usual_.tolist(),
            "centres": model.centres_.tolist(),
            "limits": model.limits_,
            "grids": grids,
        }
    arrays = ("origin", "factors", "coefficients", "lowest", "highest")
    return plain | {"groups": model.groups} | {name: getattr(model, f"{name}_").tolist() for name in arrays}


def _model(content: dict[str, Any]) -> Sectors | Headings | Local:
    kind, segments, degree = content["kind"], _count(content["segments"]), _count(content["degree"])
    spread, middle = _number(content["spread"]), _number(content["middle"])
    _require(0.0 < spread <= 7.0 and abs(middle) <= 7.0)
    if kind == "local":
        local = Local(degree, segments=segments)
        local.spread_, local.middle_ = spread, middle
        usual = _numbers(content["usual"])  # files of before have one number for all segments
        _require(usual.shape in ((1,), (segments,)))
        local.usual_ = np.full(segments, usual)
        local.limits_ = _number(content["limits"][0]), _number(content["limits"][1])
        local.centres_ = _numbers(content["centres"])
        _require(local.centres_.shape == (segments,) and bool((np.abs(local.centres_) <= 7.0).all()))
        _require(isinstance(content["grids"], list) and len(content["grids"]) <= MOST_GRIDS)
        local.grids_ = [_grid(each, degree) for each in content["grids"]]
        return local
    groups = _count(content["groups"])
    model = Sectors(groups, degree, segments=segments) if kind == "sectors" else Headings(degree, segments=segments)
    _require(kind in KINDS and model.groups == groups)
    factors, coefficients = _integers(content["factors"]), _numbers(content["coefficients"])
    _require(factors.shape == (*coefficients.shape, degree) and coefficients.shape[:2] == (groups, segments))
    _require(factors.min(initial=NONE) >= NONE and factors.max(initial=NONE) < len(model.names))
    model.factors_, model.coefficients_, model.spread_, model.middle_ = factors, coefficients, spread, middle
    model.lowest_, model.highest_ = _numbers(content["lowest"]), _numbers(content["highest"])
    model.origin_ = _numbers(content["origin"])
    _require(model.origin_.shape == (2,))
    _require(model.lowest_.shape == model.highest_.shape == (segments,))
    model.prepare()
    return model


def _grid(content: dict[str, Any], degree: int) -> Grid:
    """A grid whose numbers fit together: a kernel will follow them."""
    names = [name for name in Grid._fields if name != "model"]
    arrays = {name: _integers(content[name]) if name in INTEGERS else _numbers(content[name]) for name in names}
    shape, cells = arrays["shape"], _integers(content["cells"])
    _require(shape.shape == (3,) and bool((shape >= 1).all()) and math.prod(shape.tolist()) <= MOST_CELLS)
    model = np.full(math.prod(shape.tolist()), -1, np.int64)
    _require(cells.ndim == 1 and cells.min(initial=0) >= 0)
    model[cells] = np.arange(len(cells))
    grid = Grid(model=model, **arrays)
    polynomials, terms = grid.coefficients.shape
    _require(degree <= MOST_DEGREE)
    _require(len(cells) == polynomials)
    _require(grid.factors.shape == (polynomials, terms, degree) and grid.limits.shape == (polynomials, 2))
    _require(grid.factors.min(initial=NONE) >= NONE and grid.factors.max(initial=NONE) < 3)
    _require(grid.axes.shape == (int(grid.shape[0]) + 1, 2))
    _require(grid.corner.shape == grid.origin.shape == (2,) and grid.width.shape == (3,))
    _require(bool((grid.width > 0.0).all()) and math.isclose(grid.width[0] * grid.shape[0], 2.0 * math.pi))
    return grid


def _require(fits: bool) -> None:
    if not fits:
        raise ValueError


def _count(value: Any) -> int:
    _require(isinstance(value, int) and 1 <= value <= 10_000)
    return int(value)


def _number(value: Any) -> float:
    _require(math.isfinite(value))
    return float(value)


def _numbers(values: Any) -> Any:
    array = np.array(values, np.float64)
    _require(bool(np.isfinite(array).all()))
    return np.ascontiguousarray(array)


def _integers(values: Any) -> Any:
    array = np.array(values)
    _require(array.size == 0 or np.issubdtype(array.dtype, np.integer))
    return np.ascontiguousarray(array, np.int64)
