"""The allowed values of a setting in words, from the JSON schema of its type."""

from typing import Any

Node = dict[str, Any]
WORDS = {
    "integer": ("a whole number", "whole numbers"),
    "number": ("a number", "numbers"),
    "string": ("text", "texts"),
    "path": ("a path", "paths"),
    "object": ("a table", "tables"),
}
"""JSON type to singular and plural."""
KNOWN = "known"
"""Key of a node that is a known name or a file (`sandlot.settings.Named`)."""
MODEL = "model"
"""Key of a node that is the path of a model, which must exist when it is used."""
LIMITS = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most", "exclusiveMaximum": "below"}


def allowed(node: Node, schema: Node) -> str:
    """The allowed values of a node of a schema, in words."""
    node = resolve(node, schema)
    if "anyOf" in node:
        options = [allowed(option, schema) for option in node["anyOf"]]
        many = any(mark in option for option in options[:-1] for mark in (",", " or ", " and ", " of "))
        return (", or " if many else " or ").join(options)
    if kinds := tagged(node, schema):
        return f"a table whose {node['discriminator']['propertyName']} is one of {', '.join(kinds)}"
    if "enum" in node:
        return f"one of {', '.join(map(str, node['enum']))}"
    if "const" in node:
        return f"only {node['const']}"
    kind = _kind(node)
    if kind == "array":
        return f"a list {_of(node, schema)}"
    if kind in WORDS:
        return f"{WORDS[kind][0]} {_bounds(node)}".strip()
    return {"boolean": "true or false", "null": "nothing"}.get(kind, "a value")


def resolve(node: Node, schema: Node) -> Node:
    """The node that a reference points to, or the node itself."""
    while "$ref" in node:
        node = schema["$defs"][node["$ref"].rsplit("/", 1)[1]]
    return node


def without_null(node: Node, schema: Node) -> Node:
    """The only type of a node besides null, or the node itself."""
    node = resolve(node, schema)
    options = [option for option in node.get("anyOf", []) if option.get("type") != "null"]
    return without_null(options[0], schema) if len(options) == 1 else node


def tagged(node: Node, schema: Node) -> dict[str, Node]:
    """The kinds of a table by the value of the key that tells them apart; none if a node is no such table."""
    mapping: dict[str, str] = resolve(node, schema).get("discriminator", {}).get("mapping", {})
    return {tag: resolve({"$ref": reference}, schema) for tag, reference in mapping.items()}


def inside(node: Node, part: int | str) -> Node | None:
    """The node of a key of a table, or of an index of a list; None if the node has no such part."""
    if isinstance(part, str):
        return node.get("properties", {}).get(part)
    places: list[Node] = node.get("prefixItems", [])
    return places[part] if part < len(places) else node.get("items")


def _kind(node: Node) -> str:
    kind: str = node.get("type", "")
    return "path" if kind == "string" and node.get("format") == "path" else kind


def _bounds(node: Node) -> str:
    """Limits in words, such as "above 0 and at most 1"."""
    limits = {word: node[name] for name, word in LIMITS.items() if name in node}
    return " and ".join(f"{word} {value if isinstance(value, int) else f'{value:g}'}" for word, value in limits.items())


def _of(node: Node, schema: Node) -> str:
    """The elements of a list in words, such as "of 2 numbers, each above 0"."""
    items: list[Node] = [resolve(item, schema) for item in node.get("prefixItems", [node.get("items", {})])]
    if any(item != items[0] for item in items):
        return f"of: {', '.join(allowed(item, schema) for item in items)}"
    least = node.get("minItems", 0)
    count = str(len(items)) if "prefixItems" in node else f"at least {least}" if least > 1 else "one or more" * least
    item, kind = items[0], _kind(items[0])
    if "enum" in item:
        return f"of {count or 'any'} of {', '.join(map(str, item['enum']))}"
    if kind == "array":
        noun, each = f"lists {_of(item, schema)}", ""
    elif kind in WORDS:
        noun, each = WORDS[kind][1], _bounds(item)
    else:
        noun, each = "values", allowed(item, schema) if item else ""
    return " ".join(["of", *([count] if count else []), noun]) + (f", each {each}" if each else "")
