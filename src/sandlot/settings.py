"""Settings: pydantic models whose mistakes become one line that names the key and what is allowed.

Worlds, controllers and studies declare what can be set as pydantic models. `read_settings` collects plain values from a
TOML file and the command line; `build` makes a model from them; `describe` lists the settings of a model.
"""

import difflib
import functools
import inspect
import json
import math
import re
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError, model_validator
from pydantic_core import CoreSchema, PydanticUndefined, core_schema, to_jsonable_python

from sandlot.errors import QUOTED, SettingError, quote
from sandlot.reading import MAX_NESTING, parse_toml, read_toml
from sandlot.schema import KNOWN, Node, allowed, inside, tagged, without_null

MAX_NUMBER = 1e12
"""Largest magnitude of a setting that is a float; with larger ones, squares and products overflow."""


class Settings(BaseModel):
    """Base of all settings: frozen; unknown keys, NaN, infinity and absurdly large numbers are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @model_validator(mode="after")
    def _not_too_large(self) -> Self:
        for name in type(self).model_fields:
            for value in _numbers(getattr(self, name)):
                if MAX_NUMBER < abs(value) < math.inf:  # a field that allows infinity says so itself
                    raise ValueError(
                        f"{name}={value:g} is not possible; allowed: a magnitude of at most {MAX_NUMBER:g}"
                    )
        return self


def _numbers(value: object) -> Iterator[float]:
    if isinstance(value, float):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from _numbers(each)


MAX_SETTINGS_BYTES = 2**20
"""Largest file of settings [bytes]."""

M = TypeVar("M", bound=BaseModel)
V = TypeVar("V")


def build(model: type[M], values: Mapping[str, Any]) -> M:
    """Make settings from plain values.

    Raises:
        SettingError: One line that names the first wrong key and what is allowed.
    """
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        problem = error.errors(include_url=False, include_context=False)[0]
        raise SettingError(
            explain(_schema(model), problem["type"], problem["loc"], problem["msg"], problem["input"])
        ) from None
    except OSError as error:  # a validator looks for a file whose name is too long
        raise SettingError(f"a path among the settings cannot be used: {quote(error.strerror or error)}") from None


@functools.cache
def _schema(model: type[BaseModel]) -> Node:
    return model.model_json_schema()


def distinct(values: tuple[V, ...]) -> tuple[V, ...]:
    """Validator of a field whose values must all differ."""
    if len(set(values)) < len(values):
        raise ValueError("the values must all differ")
    return values


@dataclass(frozen=True)
class Named:
    """Annotation of a setting that is a known name or a file. `sandlot.declared` knows it from the schema.

    Attributes:
        what: What has such names.
        names: The known ones.
        files: Suffix of the files; any if empty. Then a path without a suffix that does not exist is a misspelt name.
    """

    what: str
    names: tuple[str, ...]
    files: str = ""

    def check(self, value: V) -> V:
        """Refuse a misspelt name.

        Raises:
            ValueError: With the nearest name, for pydantic.
        """
        if isinstance(value, str | Path) and (problem := self.misspelt(str(value))):
            raise ValueError(problem)
        return value

    def misspelt(self, value: str) -> str | None:
        """What is wrong with a text; None for a known name or a file."""
        if value in self.names or (self.files and value.endswith(self.files)):
            return None
        if not self.files and (Path(value).suffix or Path(value).exists()):
            return None
        no_file = "" if self.files else ", and no such file"
        return f"no such {self.what}{no_file}; {nearest(value, list(self.names))}"

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """The schema of the type, and this check after it."""
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> Node:
        """The JSON schema of the type, which says what is known."""
        return {**handler(schema), KNOWN: asdict(self)}


def nearest(word: str, known: list[str], prefix: str = "") -> str:
    """A hint for a misspelt word: the most similar known word after ``prefix``, or else the list of all."""
    close = difflib.get_close_matches(word[:QUOTED], known, n=1)
    return f"did you mean {prefix + close[0]!r}?" if close else f"known: {', '.join(sorted(known))}"


def explain(schema: Node, kind: str, place: tuple[int | str, ...], message: str, value: object) -> str:
    """One line about a wrong value.

    Args:
        schema: JSON schema of the settings.
        kind: Of the error, as pydantic names it.
        place: Keys, list indices and members of unions that lead to the value.
        message: Pydantic's own.
        value: The wrong one.
    """
    if not place:
        return message.removeprefix("Value error, ")
    if kind == "missing" and isinstance(place[-1], int):
        kind, place = "too_short", place[:-1]  # the list has the wrong length, not one of its elements
    # Pydantic's location also names members of unions; the message shows only keys and list indices.
    node, key, known = schema, "", 0
    for part in place:
        holder, prefix = without_null(node, schema), f"{key}." if key else ""
        if part in (kinds := tagged(holder, schema)):
            node, known = kinds[str(part)], known + 1
            continue
        found = inside(holder, part)
        if found is None:
            if kind == "extra_forbidden" and "properties" in holder:
                hint = nearest(str(part), list(holder["properties"]), prefix)
                return f"no setting {quote(f'{prefix}{part}')!r}; {hint}"
            break
        node, key, known = found, f"{key}[{part}]" if isinstance(part, int) else f"{prefix}{part}", known + 1
    if kind == "missing" and known == len(place):
        return f"{key} is missing; allowed: {allowed(node, schema)}"
    if kind == "value_error":
        what = key if isinstance(value, Mapping) else f"{key}={quote(value)}"
        return f"{what}: {message.removeprefix('Value error, ')}"
    return f"{key}={quote(value)} is not possible; allowed: {allowed(node, schema)}"


def read_settings(file: Path | None = None, assignments: Iterable[str] = ()) -> dict[str, Any]:
    """Read a TOML file, then apply assignments such as ``world.agents=3``; a dot in a key enters a table.

    Raises:
        SettingError: If the file is missing or not TOML, or an assignment has no ``=``.
    """
    settings = {} if file is None else read_toml(file, MAX_SETTINGS_BYTES)
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        if not equals or not key.strip():
            raise SettingError(f"--set {quote(assignment)}: write it as key=value, as in --set replicates=3")
        *tables, last = key.strip().split(".")
        if len(tables) >= MAX_NESTING:
            raise SettingError(f"--set {quote(assignment)}: a key has at most {MAX_NESTING} parts")
        table = settings
        for name in tables:
            table = table.setdefault(name, {})
            if not isinstance(table, dict):
                raise SettingError(f"--set {quote(assignment)}: {quote(name)!r} is a value, not a table")
        table[last] = _value(text.strip())
    return settings


def _value(text: str) -> Any:
    """A TOML value, or else the text itself, so that strings need no quotes."""
    try:
        table = parse_toml(f"value = {text}")
    except ValueError:
        return text
    return table["value"] if len(table) == 1 else text


def flatten(settings: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Nested settings as dotted keys and JSON values, as `read_settings` accepts them in assignments."""
    flat: dict[str, str] = {}
    for key, value in settings.items():
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{prefix}{key}.")
        else:
            flat[prefix + key] = json.dumps(value, ensure_ascii=False)
    return flat


@dataclass(frozen=True)
class Setting:
    """One setting.

    Attributes:
        key: Dotted key, as for ``--set``.
        allowed: Allowed values, in words.
        default: Default value as JSON, ``nothing`` for none, or ``needed`` if there is no default.
        meaning: Its line in the docstring of the model.
    """

    key: str
    allowed: str
    default: str
    meaning: str


def describe(model: type[BaseModel], prefix: str = "", usual: BaseModel | None = None) -> list[Setting]:
    """List all settings of a model; those inside tables come last.

    Args:
        model: The model.
        prefix: Put before each key.
        usual: An instance with the defaults to show, in place of the model's own.
    """
    schema, meanings = model.model_json_schema(), _meanings(model)
    rows, tables = [], []
    for name, field in model.model_fields.items():
        default = getattr(usual, name) if usual else field.get_default(call_default_factory=True)
        inner = _tables(field.annotation)
        if field.annotation not in inner:
            about = allowed(schema["properties"][name], schema), _written(default), meanings.get(name, "")
            rows.append(Setting(prefix + name, *about))
        tag = field.discriminator
        for table in inner:
            found = describe(table, f"{prefix}{name}.", default if isinstance(default, table) else None)
            if isinstance(tag, str):  # a table of several kinds
                kind = table.model_fields[tag].default
                found = [
                    replace(each, meaning=f"{kind}: {each.meaning}")
                    for each in found
                    if each.key != f"{prefix}{name}.{tag}"
                ]
            tables += found
    return rows + tables


def _tables(annotation: Any) -> list[type[BaseModel]]:
    """The models among the types of an annotation."""
    options = get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)
    return [each for each in options if isinstance(each, type) and issubclass(each, BaseModel)]


def _written(value: object) -> str:
    if value is PydanticUndefined:
        return "needed"
    return "nothing" if value is None else json.dumps(to_jsonable_python(value), ensure_ascii=False)


def _meanings(model: type) -> dict[str, str]:
    """Attributes and their meaning, from the docstrings of a class and its bases."""
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        _, _, text = inspect.cleandoc(base.__doc__ or "").partition("Attributes:\n")
        section = re.split(r"^(?=\S)", text, maxsplit=1, flags=re.MULTILINE)[0]
        for entry in re.split(r"^ {4}(?=\w)", section, flags=re.MULTILINE):
            name, _, meaning = entry.partition(":")
            found[name] = " ".join(meaning.split())
    return found
