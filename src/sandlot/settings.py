"""Settings that explain themselves: every mistake becomes one line that says what is allowed.

Worlds, rules and studies describe what can be set as pydantic models.
`read_settings` collects plain values from a TOML file and the command line;
`build` makes a model from them, and turns pydantic's report into one line;
`describe` lists what a model takes.
"""

import difflib
import inspect
import json
import re
import tomllib
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import PydanticUndefined, to_jsonable_python

from sandlot.errors import SandlotError
from sandlot.schema import allowed, given, inside


class Settings(BaseModel):
    """Base of everything that can be set: frozen, and strict about names."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


M = TypeVar("M", bound=BaseModel)
V = TypeVar("V")


def build(model: type[M], values: Mapping[str, Any]) -> M:
    """Make settings from plain values.

    Raises:
        SandlotError: One line that names the first wrong key and what is allowed.
    """
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        problem = error.errors()[0]
        raise SandlotError(_explain(model, problem["type"], problem["loc"], problem["msg"], problem["input"])) from None


def distinct(values: tuple[V, ...]) -> tuple[V, ...]:
    """For a field whose values must all differ."""
    if len(set(values)) < len(values):
        raise ValueError("the values must all differ")
    return values


def nearest(word: str, known: list[str], prefix: str = "") -> str:
    """A hint for a misspelt word: the closest known one, behind ``prefix``, or all of them."""
    close = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {prefix + close[0]!r}?" if close else f"known: {', '.join(sorted(known))}"


def _explain(model: type[BaseModel], kind: str, place: tuple[int | str, ...], message: str, value: object) -> str:
    if not place:
        return message.removeprefix("Value error, ")
    if kind == "missing" and isinstance(place[-1], int):
        kind, place = "too_short", place[:-1]  # the list itself is wrong
    # A location also names union members; a user only knows the path of keys and the places in lists.
    schema = model.model_json_schema()
    node, key, known = schema, "", 0
    for part in place:
        holder, prefix = given(node, schema), f"{key}." if key else ""
        found = inside(holder, part)
        if found is None:
            if kind == "extra_forbidden" and "properties" in holder:
                return f"no setting {f'{prefix}{part}'!r}; {nearest(str(part), list(holder['properties']), prefix)}"
            break
        node, key, known = found, f"{key}[{part}]" if isinstance(part, int) else f"{prefix}{part}", known + 1
    if kind == "missing" and known == len(place):
        return f"{key} is missing; allowed: {allowed(node, schema)}"
    if kind == "value_error":
        what = key if isinstance(value, Mapping) else f"{key}={value}"
        return f"{what}: {message.removeprefix('Value error, ')}"
    return f"{key}={value} is not possible; allowed: {allowed(node, schema)}"


def read_settings(file: Path | None = None, assignments: Iterable[str] = ()) -> dict[str, Any]:
    """Merge a TOML file with assignments, which win; dots in a key reach into tables.

    Raises:
        SandlotError: If the file is missing or not TOML, or an assignment has no ``=``.
    """
    settings: dict[str, Any] = {}
    if file is not None:
        try:
            settings = tomllib.loads(file.read_text(encoding="utf-8"))
        except OSError as error:
            raise SandlotError(f"cannot read settings from {file}: {error.strerror}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise SandlotError(f"{file} is not TOML: {error}") from None
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        if not equals or not key.strip():
            raise SandlotError(f"--set {assignment}: write it as key=value, as in --set replicates=3")
        *tables, last = key.strip().split(".")
        table = settings
        for name in tables:
            table = table.setdefault(name, {})
            if not isinstance(table, dict):
                raise SandlotError(f"--set {assignment}: {name!r} is a value, not a table")
        table[last] = _value(text.strip())
    return settings


def _value(text: str) -> Any:
    """A TOML value; what is none is taken as text, so that strings need no quotes."""
    try:
        table = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return table["value"] if len(table) == 1 else text


def flatten(settings: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Nested settings as dotted keys and the values that `read_settings` would take for them."""
    flat: dict[str, str] = {}
    for key, value in settings.items():
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{prefix}{key}.")
        else:
            flat[prefix + key] = json.dumps(value, ensure_ascii=False)
    return flat


@dataclass(frozen=True)
class Setting:
    """One thing that can be set.

    Attributes:
        key: By which ``--set`` knows it.
        allowed: What it may be, in words.
        default: What it is if it is not set, as it would be written.
        meaning: What the docstring says about it.
    """

    key: str
    allowed: str
    default: str
    meaning: str


def describe(model: type[BaseModel], prefix: str = "", usual: BaseModel | None = None) -> list[Setting]:
    """Everything that can be set in a model; what is inside tables comes last.

    Args:
        model: Whose fields are settings.
        prefix: Of the keys.
        usual: Holds the defaults; those of the model itself if not given.
    """
    schema, meanings = model.model_json_schema(), _meanings(model)
    rows, tables = [], []
    for name, field in model.model_fields.items():
        default = getattr(usual, name) if usual else field.get_default(call_default_factory=True)
        table = _table(field.annotation)
        if table is not field.annotation:
            about = allowed(schema["properties"][name], schema), _written(default), meanings.get(name, "")
            rows.append(Setting(prefix + name, *about))
        if table is not None:
            tables += describe(table, f"{prefix}{name}.", default if isinstance(default, table) else None)
    return rows + tables


def _table(annotation: Any) -> type[BaseModel] | None:
    """The model that a setting is, or may be."""
    options = get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)
    return next((each for each in options if isinstance(each, type) and issubclass(each, BaseModel)), None)


def _written(value: object) -> str:
    if value is PydanticUndefined:
        return "needed"
    return "nothing" if value is None else json.dumps(to_jsonable_python(value), ensure_ascii=False)


def _meanings(model: type) -> dict[str, str]:
    """What the docstrings of a class and its bases say about attributes."""
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        _, _, text = inspect.cleandoc(base.__doc__ or "").partition("Attributes:\n")
        section = re.split(r"^(?=\S)", text, maxsplit=1, flags=re.MULTILINE)[0]
        for entry in re.split(r"^ {4}(?=\w)", section, flags=re.MULTILINE):
            name, _, meaning = entry.partition(":")
            found[name] = " ".join(meaning.split())
    return found
