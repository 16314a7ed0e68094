"""Settings that explain themselves: every mistake becomes one line that says what is allowed.

Worlds, rules and studies describe what can be set as pydantic models.
`read_settings` collects plain values from a TOML file and the command line;
`build` makes a model from them, and turns pydantic's report into one line.
"""

import difflib
import json
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from sandlot.errors import SandlotError


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


def _explain(model: type[BaseModel], kind: str, place: tuple[int | str, ...], message: str, given: object) -> str:
    if not place:
        return message.removeprefix("Value error, ")
    # A location also names union members and list positions; a user only knows the path of keys.
    schema = model.model_json_schema()
    node: dict[str, Any] = schema
    path: list[str] = []
    for part in place:
        properties = _resolve(node, schema).get("properties", {})
        if not isinstance(part, str) or (part not in properties and kind != "extra_forbidden"):
            break
        path.append(part)
        if part not in properties:
            prefix = "".join(f"{table}." for table in path[:-1])
            return f"no setting {prefix + part!r}; {nearest(part, list(properties), prefix)}"
        node = properties[part]
    key = ".".join(path)
    if kind == "missing" and len(place) == len(path):
        return f"{key} is missing; allowed: {allowed(node, schema)}"
    if kind == "value_error":
        what = key if isinstance(given, Mapping) else f"{key}={given}"
        return f"{what}: {message.removeprefix('Value error, ')}"
    return f"{key}={given} is not possible; allowed: {allowed(node, schema)}"


def _resolve(node: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in node:
        node = schema["$defs"][node["$ref"].rsplit("/", 1)[1]]
    return node


def allowed(node: dict[str, Any], schema: dict[str, Any]) -> str:
    """Say in words what a JSON schema node allows."""
    node = _resolve(node, schema)
    if "anyOf" in node:
        return " or ".join(allowed(option, schema) for option in node["anyOf"])
    if "enum" in node:
        return "one of " + ", ".join(map(str, node["enum"]))
    if "const" in node:
        return f"only {node['const']}"
    kind = node.get("type", "a value")
    if kind == "array":
        items = [allowed(item, schema) for item in node.get("prefixItems", [node.get("items", {})])]
        least = f"at least {node['minItems']} of" if "minItems" in node and "items" in node else "a list of"
        return f"{least}: {', '.join(items)}"
    words = {"integer": "a whole number", "number": "a number", "string": "text", "boolean": "true or false"}
    words |= {"object": "a table", "null": "nothing"}
    limits = {"minimum": "at least", "maximum": "at most", "exclusiveMinimum": "above", "exclusiveMaximum": "below"}
    bounds = [f"{word} {node[name]:g}" for name, word in limits.items() if name in node]
    return " ".join([words.get(kind, kind), " and ".join(bounds)]).strip()


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
