"""Checks settings before the code that they are for is imported, which would take seconds.

``declared.json`` holds the JSON schema of the settings of every study, world and training. ``make docs-pages`` writes
it, and a test fails if it is out of date. What a schema cannot decide is left to the model itself (`settings.build`).
"""

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandlot.errors import SettingError, quote
from sandlot.schema import KNOWN, MODEL, Node, tagged, without_null

if TYPE_CHECKING:
    from pydantic import BaseModel

FILE = Path(__file__).with_name("declared.json")
SAID = "said"
"""Marks nodes whose values a model changes before it checks them."""
DROPPED = ("title", "description", "default", "fidelity")
"""Keys of a schema that say nothing about what is allowed."""
NAMED = ("properties", "$defs")
"""Keys of a schema whose values are nodes by name."""
TRUTHS = {"0", "off", "f", "false", "n", "no", "1", "on", "t", "true", "y", "yes"}
"""Texts that pydantic takes for a truth value."""


def check(name: str, values: Mapping[str, Any]) -> None:
    """Refuse values that cannot be the settings of this study, world, training or fit, and files that do not exist.

    Args:
        name: Such as ``study leveling.memetic``, ``world water``, ``train climber``, ``fit motion``.
        values: Plain values.

    Raises:
        SandlotError: The same line that the model would give, or what uses the file.
    """
    check_values(name, values)
    for key, node in _declared().get(name, {}).get("properties", {}).items():
        if isinstance(values.get(key), str | list):
            _check_files(node, values[key])


def check_values(name: str, values: Mapping[str, Any]) -> None:
    """Refuse values alone; see `check`.

    Raises:
        SettingError: The same line that the model would give.
    """
    schema = _declared().get(name)
    found = None if schema is None else misfit(schema, schema, dict(values), ())
    if schema is None or found is None:
        return
    from sandlot.settings import explain  # pydantic takes longer to load than all else here

    raise SettingError(explain(schema, *found))


def _check_files(node: Node, value: Any) -> None:
    """Refuse a file or model that does not exist."""
    if KNOWN in node.get("items", {}):
        for each in value if isinstance(value, list) else [value]:
            _check_files(node["items"], each)
    elif not isinstance(value, str):
        return
    elif MODEL in node:
        from sandlot.models.store import load_card

        load_card(Path(value))
    elif KNOWN in node and value not in node[KNOWN]["names"] and not Path(value).exists():
        raise SettingError(f"cannot read {quote(value)}: No such file or directory")


def misfit(node: Node, schema: Node, value: Any, place: tuple[int | str, ...]) -> tuple[Any, ...] | None:
    """The first part of a value that is certainly not allowed: its kind of error, place, message and value.

    Args:
        node: What is allowed.
        schema: The whole schema, for references.
        value: To check.
        place: Keys and indices that lead to the value.
    """
    if KNOWN in node and isinstance(value, str):
        return _misspelt(node, value, place)
    if SAID in node:
        return _short_form(node, schema, value, place)
    node = without_null(node, schema)
    wrong = "", place, "", value
    if SAID in node or "anyOf" in node:
        return None
    if kinds := tagged(node, schema):
        tag = value.get(node["discriminator"]["propertyName"]) if isinstance(value, dict) else None
        inner = kinds.get(tag) if isinstance(tag, str) else None
        return wrong if inner is None else misfit(inner, schema, value, (*place, str(tag)))
    if "enum" in node or "const" in node:
        return wrong if value not in node.get("enum", [node.get("const")]) else None
    check_kind = KINDS.get(node.get("type", ""))
    return None if check_kind is None else check_kind(node, schema, value, place)


def _misspelt(node: Node, value: str, place: tuple[int | str, ...]) -> tuple[Any, ...] | None:
    if value in node[KNOWN]["names"]:
        return None
    from sandlot.settings import Named

    problem = Named(**node[KNOWN]).misspelt(value)
    return None if problem is None else ("value_error", place, problem, value)


def _short_form(node: Node, schema: Node, value: Any, place: tuple[int | str, ...]) -> tuple[Any, ...] | None:
    """A value that a model changes before it checks it: a text stands for a list of one, or a table of that kind."""
    texts = [value] if isinstance(value, str) else value
    if KNOWN in node.get("items", {}) and isinstance(texts, list):
        found = (misfit(node["items"], schema, text, (*place, k)) for k, text in enumerate(texts))
        return next(filter(None, found), None)
    kinds = tagged(node, schema)
    if kinds and isinstance(value, str) and value not in kinds:
        return "", place, "", {node["discriminator"]["propertyName"]: value}
    return None


def _table(node: Node, schema: Node, value: Any, place: tuple[int | str, ...]) -> tuple[Any, ...] | None:
    if not isinstance(value, dict):
        return "", place, "", value
    known = node.get("properties", {})
    for name, inner in known.items():
        if name not in value:
            if name in node.get("required", ()):
                return "missing", (*place, name), "", value
            continue
        if found := misfit(inner, schema, value[name], (*place, name)):
            return found
    more = [name for name in value if name not in known] if node.get("additionalProperties") is False else []
    return ("extra_forbidden", (*place, more[0]), "", value[more[0]]) if more else None


def _list(node: Node, schema: Node, value: Any, place: tuple[int | str, ...]) -> tuple[Any, ...] | None:
    if not isinstance(value, list):
        return None if isinstance(value, dict) else ("", place, "", value)
    each = node.get("prefixItems") or [node.get("items", {})] * len(value)
    for k, (inner, part) in enumerate(zip(each, value, strict=False)):
        if found := misfit(inner, schema, part, (*place, k)):
            return found
    short_or_long = not node.get("minItems", 0) <= len(value) <= node.get("maxItems", len(value))
    return ("", place, "", value) if short_or_long else None


def _number(node: Node, schema: Node, value: Any, place: tuple[int | str, ...]) -> tuple[Any, ...] | None:
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    except (TypeError, ValueError):
        return "", place, "", value
    beyond = (
        number < node.get("minimum", number)
        or number > node.get("maximum", number)
        or not node.get("exclusiveMinimum", -float("inf")) < number < node.get("exclusiveMaximum", float("inf"))
        or (node["type"] == "integer" and not number.is_integer())
    )
    return ("", place, "", value) if beyond else None


def _truth(node: Node, schema: Node, value: Any, place: tuple[int | str, ...]) -> tuple[Any, ...] | None:
    fits = value.lower() in TRUTHS if isinstance(value, str) else value in (0, 1)
    return None if fits else ("", place, "", value)


def _text(node: Node, schema: Node, value: Any, place: tuple[int | str, ...]) -> tuple[Any, ...] | None:
    return None if isinstance(value, str) else ("", place, "", value)


KINDS = {"object": _table, "array": _list, "number": _number, "integer": _number, "boolean": _truth, "string": _text}
"""By type of a node."""


@functools.cache
def _declared() -> dict[str, Node]:
    schemas: dict[str, Node] = json.loads(FILE.read_text(encoding="utf-8"))
    return schemas


def declare(models: "Mapping[str, type[BaseModel]]") -> str:
    """The text of ``declared.json`` for pydantic models by name."""
    from pydantic.json_schema import GenerateJsonSchema

    class Marked(GenerateJsonSchema):
        """Marks what a model changes before it checks it."""

        def function_before_schema(self, schema: Any) -> dict[str, Any]:
            return {**super().function_before_schema(schema), SAID: True}

        def function_wrap_schema(self, schema: Any) -> dict[str, Any]:
            return {**super().function_wrap_schema(schema), SAID: True}

    schemas = {name: _slim(model.model_json_schema(schema_generator=Marked)) for name, model in models.items()}
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(each)}" for name, each in schemas.items()) + "\n}\n"


def _slim(node: Any) -> Any:
    """A node without what says nothing about allowed values."""
    if isinstance(node, list):
        return [_slim(each) for each in node]
    if not isinstance(node, dict):
        return node
    kept = {key: value for key, value in node.items() if key not in DROPPED}
    return {
        key: {name: _slim(each) for name, each in value.items()} if key in NAMED else _slim(value)
        for key, value in kept.items()
    }
