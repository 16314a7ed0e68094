"""Models on disk: one layout for everything that was fitted, trained or evolved.

A model is a directory with ``card.json`` and either ``arrays.safetensors`` or ``model.onnx``. One that people edit by
hand, such as a gait, is a single ``.toml`` or ``.json`` file instead: the card's fields and its ``settings`` side by
side. `save` and `load` take both. Reading executes nothing and is bounded.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import safetensors.numpy
from numpy.typing import NDArray
from safetensors import SafetensorError

from sandlot.errors import ModelError, SandlotError, quote
from sandlot.models.card import FORMAT_VERSION, KINDS, Card
from sandlot.reading import parse_json, parse_toml, read_bytes
from sandlot.settings import build
from sandlot.writing import drafted

CARD, ARRAYS, ONNX = "card.json", "arrays.safetensors", "model.onnx"
TEXT = (".toml", ".json")
"""Suffixes of models in a single file."""
MAX_TEXT, MAX_CONTENT = 2**24, 2**30
"""Largest card or text file, and largest file of arrays, that is read [bytes]."""


class Model(NamedTuple):
    """A model as read from disk.

    Attributes:
        card: What it is.
        arrays: By name; empty for a text file or an ONNX graph.
        onnx: The ONNX graph, serialized; empty if there is none.
    """

    card: Card
    arrays: dict[str, NDArray[Any]]
    onnx: bytes = b""

    def array(self, name: str, shape: tuple[int | None, ...], dtype: type = np.float64) -> NDArray[Any]:
        """One of the arrays, checked.

        Args:
            name: Of the array.
            shape: Expected lengths; None for any.
            dtype: Expected type.

        Raises:
            ModelError: If it is missing, or has another type or shape.
        """
        if name not in self.arrays:
            raise ModelError(f"the array {name} is missing")
        found = self.arrays[name]
        fits = found.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, found.shape, strict=True))
        if not fits or found.dtype != dtype:
            wanted = ", ".join("any" if n is None else str(n) for n in shape)
            raise ModelError(
                f"the array {name} is {found.dtype} of shape {found.shape}; it should be {np.dtype(dtype)} ({wanted})"
            )
        return found


def save(path: Path, card: Card, arrays: Mapping[str, NDArray[Any]] | None = None, onnx: bytes = b"") -> None:
    """Write a new model atomically.

    Args:
        path: A directory to make; or a ``.toml`` or ``.json`` file for a model without arrays.
        card: What it is.
        arrays: All finite.
        onnx: A serialized ONNX graph, in place of arrays.

    Raises:
        ModelError: If the path exists or cannot be written, or an array has NaN or infinity.
    """
    if path.suffix in TEXT:
        if arrays or onnx:
            raise ModelError(f"{path}: a model with arrays is a directory; leave out {path.suffix}")
        with drafted(path, ModelError) as draft:
            draft.write_text(text(card, path.suffix), encoding="utf-8")
        return
    values = {name: np.ascontiguousarray(each) for name, each in (arrays or {}).items()}
    _check_finite(values)
    content = onnx or safetensors.numpy.save(values)
    card = card.model_copy(update={"content_digest": _digest(content)})
    about = json.dumps(card.model_dump(mode="json"), indent=2, ensure_ascii=False, allow_nan=False)
    with drafted(path, ModelError) as draft:
        draft.mkdir()
        (draft / CARD).write_text(about, encoding="utf-8")
        (draft / (ONNX if onnx else ARRAYS)).write_bytes(content)


def load(path: Path, kind: str | None = None) -> Model:
    """Read a model.

    Args:
        path: A directory, or a ``.toml`` or ``.json`` file.
        kind: Which kind it must be, one of `sandlot.models.card.KINDS`; any if left out.

    Raises:
        ModelError: One line that says what is wrong: the path is missing, no model, damaged, too large, of another
            kind, or from a newer Sandlot, or the model has NaN or infinity.
    """
    card = load_card(path, kind)
    if not path.is_dir():
        return Model(card, {})
    graph = (path / ONNX).exists()
    content = read_bytes(path / (ONNX if graph else ARRAYS), MAX_CONTENT, ModelError)
    if card.content_digest != _digest(content):
        raise ModelError(f"{path} is damaged: its content does not match its card; restore it from a copy")
    if graph:
        return Model(card, {}, content)
    try:
        # Copies, since kernels would be compiled once more for arrays that are read only.
        arrays = {name: np.array(each) for name, each in safetensors.numpy.load(content).items()}
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{path / ARRAYS} is damaged: {error}; restore it from a copy") from None
    try:
        _check_finite(arrays)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
    return Model(card, arrays)


def load_card(path: Path, kind: str | None = None) -> Card:
    """Read the card alone; see `load`."""
    if path.is_dir():
        if not (path / CARD).exists():
            raise ModelError(f"{quote(path)} is not a model: it has no {CARD}")
    elif path.suffix not in TEXT:
        missing = f"there is no model at {quote(path)}" if not path.exists() else f"{quote(path)} is not a model"
        raise ModelError(f"{missing}; a model is a directory, or a .toml or .json file")
    try:
        values = _parse(path)
        version = values.get("format_version", FORMAT_VERSION)
        if isinstance(version, int) and version > FORMAT_VERSION:
            raise ModelError(f"a newer Sandlot wrote this model; this one reads format {FORMAT_VERSION}")
        if not path.is_dir():
            about = {name: values[name] for name in Card.model_fields if name in values}
            values = about | {"settings": {name: values[name] for name in values if name not in about}}
            values = {"sandlot_version": ""} | values  # a file that a person wrote need not say
        card = build(Card, values)
    except SandlotError as error:
        raise ModelError(f"{path}: {error}") from None
    if kind is not None and card.kind != kind:
        raise ModelError(f"{path}: this is a {KINDS[card.kind]} (kind={card.kind}), not a {KINDS[kind]} (kind={kind})")
    return card


def is_model(path: Path) -> bool:
    """Whether something is at a path that `load` may read: a directory with a card, or any file."""
    try:
        return path.is_file() or (path / CARD).is_file()
    except (OSError, ValueError):  # a path that is too long, or has a null character
        return False


def find(roots: Iterable[Path]) -> list[Path]:
    """All models in or below directories, each directory's in the order of their names."""
    found = []
    for root in roots:
        for folder, folders, files in os.walk(root):
            here = Path(folder)
            if CARD in files:
                found.append(here)
            if CARD in files or "zarr.json" in files:  # recordings hold no models, but many files
                folders.clear()
                continue
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            found += [here / name for name in sorted(files) if _is_text_model(here / name)]
    return found


def text(card: Card, suffix: str = ".json") -> str:
    """A model without arrays as TOML or JSON: the fields of its card that are not empty, and its settings.

    Args:
        card: If its ``sandlot_version`` is empty, the text says nothing about versions.
        suffix: ``.toml`` or ``.json``.
    """
    left_out = {"settings"} if card.sandlot_version else {"settings", "format_version"}
    values = {name: value for name, value in card.model_dump(mode="json", exclude=left_out).items() if value}
    values |= card.settings
    if suffix == ".toml":
        return "".join(f"{_toml_key(name)} = {_toml(value)}\n" for name, value in values.items())
    return "{\n" + ",\n".join(f"  {json.dumps(name)}: {_json(value)}" for name, value in values.items()) + "\n}\n"


def _json(value: Any) -> str:
    """JSON with one line for each table in a list."""
    if isinstance(value, list) and all(isinstance(each, dict) for each in value):
        return "[\n" + ",\n".join(f"    {json.dumps(each, allow_nan=False)}" for each in value) + "\n  ]"
    return json.dumps(value, allow_nan=False)


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml_key(name)} = {_toml(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False, allow_nan=False).replace("\x7f", "\\u007f")


def _toml_key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _toml(name)


def _is_text_model(path: Path) -> bool:
    try:
        return path.suffix in TEXT and not path.name.startswith(".") and _parse(path).get("kind") in KINDS
    except (ModelError, TypeError):
        return False


def _parse(path: Path) -> dict[str, Any]:
    """The plain values of a card or of a text file.

    Raises:
        ModelError: If it cannot be read or parsed, or has NaN or infinity.
    """
    file = path / CARD if path.is_dir() else path
    content = read_bytes(file, MAX_TEXT, ModelError)
    form = "TOML" if file.suffix == ".toml" else "JSON"
    try:
        values: Any = (parse_toml if form == "TOML" else parse_json)(content.decode())
    except ValueError as error:
        raise ModelError(f"{file.name} is not {form}: {error}") from None
    if not isinstance(values, dict):
        raise ModelError(f"{file.name} should hold a table of names and values")
    try:
        json.dumps(values, allow_nan=False)
    except (ValueError, TypeError):
        raise ModelError(
            f"{file.name} has NaN, infinity, or a value that is neither number, text, list nor table"
        ) from None
    return values


def _check_finite(arrays: Mapping[str, NDArray[Any]]) -> None:
    for name, values in arrays.items():
        if values.dtype.kind not in "biuf":
            raise ModelError(f"the array {name} holds {values.dtype}; numbers are needed")
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise ModelError(f"the array {name} has NaN or infinity")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
