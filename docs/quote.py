"""Writes the kept results into the sentences that quote them: ``make docs-pages``.

A number that README, a guide or the text of a study quotes is followed by a comment, which no page shows::

    66<!-- benchmark.leveling ours/1e6 agent-cycles on one core --> million agent-cycles a second

It names a file of ``docs/results``, a value, and how the name of a benchmark's row or the text of a claim begins. The
value is ``ours``, ``peer`` or ``ratio`` of a row; ``measured``, ``source`` or ``note`` of a claim; or, without a name,
``wall_time``, ``jobs`` or a setting of a study. ``measured[2]`` is the second number in a text, ``note[sectors_has]``
the one after the words "sectors has". ``-``, ``1/`` and ``1e3*`` before a value, or ``/1e6`` after it, scale it.
``claims hold`` and ``claims all`` count the published claims. A number keeps its decimals.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
NUMBER = r"[-+]?\d+(?:,\d{3})*(?:\.\d+)?"
QUOTE = re.compile(rf"(?<![\w.,])({NUMBER})<!-- (\S+) (\S+)(?: ([^>]*?))? -->")
COMMENT = re.compile(r"\d<!--.*?-->|<!-- ?(?:benchmark\.|claims |[a-z]+\.[a-z]+ ).*?-->", re.DOTALL)
"""A comment that is meant as a quote."""
VALUE = re.compile(r"(-)?(?:([\d.e+-]+)([*/]))?([a-z_.]+)(?:\[(\w+)\])?(?:([*/])([\d.e+-]+))?")


class QuoteError(ValueError):
    """A quote that names no kept value."""


def pages() -> Iterator[Path]:
    """README, the guides, and the texts of studies; pages that a script writes are left out."""
    yield DOCS.parent / "README.md"
    yield from sorted({*DOCS.glob("*.md")} - {DOCS / "reproduction.md"})
    yield from sorted((DOCS / "results").glob("*.md"))


def update(text: str, results: Path = DOCS / "results") -> str:
    """The text with every quoted number as the results have it, with the decimals it was written with.

    Raises:
        QuoteError: If a quote names no kept value, or is not in the form above.
    """
    ends = {quote.end() for quote in QUOTE.finditer(text)}
    wrong = [found[0] for found in COMMENT.finditer(text) if found.end() not in ends]
    if wrong:
        raise QuoteError(f"{wrong[0]}: a quote follows a number, and has the form <!-- file value name -->")
    return QUOTE.sub(lambda found: f"{_written(found[1], _value(found, results))}{found[0][len(found[1]) :]}", text)


def _written(before: str, value: float) -> str:
    """A value with the decimals and the sign of the number that it replaces, and with thousands marked."""
    decimals = len(before.partition(".")[2])
    return f"{value:{'+' if before[0] == '+' else ''}{',' if abs(value) >= 1000 else ''}.{decimals}f}"


def _value(quote: re.Match[str], results: Path) -> float:
    file, wanted, name = quote[2], quote[3], quote[4] or ""
    if file == "claims" and wanted in ("hold", "all"):
        claims = [each for kept in results.glob("*.json") for each in json.loads(kept.read_text("utf-8"))["claims"]]
        return len(claims) if wanted == "all" else sum(each["holds"] for each in claims)
    parts = VALUE.fullmatch(wanted)
    if parts is None or file == "claims":
        raise QuoteError(f"{quote[0]}: {wanted!r} is not a value")
    minus, factor, before, key, index, after, scale = parts.groups()
    value = _number(_look_up(_entry(results, file, name, quote[0]), key, quote[0]), index, quote[0])
    if factor:
        value = float(factor) * value if before == "*" else float(factor) / value
    if scale:
        value = value * float(scale) if after == "*" else value / float(scale)
    return -value if minus else value


def _entry(results: Path, file: str, name: str, quote: str) -> Mapping[str, Any]:
    """The row or the claim whose name begins so, the whole summary of a study without a name."""
    rows, summary = results / f"{file}.jsonl", results / f"{file}.json"
    if rows.exists():
        found, key = [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()], "name"
    elif summary.exists():
        kept = json.loads(summary.read_text(encoding="utf-8"))
        if not name:
            return kept
        found, key = kept["claims"], "text"
    else:
        raise QuoteError(f"{quote}: docs/results has no {file}")
    fits = [each for each in found if each[key] == name] or [each for each in found if each[key].startswith(name)]
    if len(fits) != 1:
        raise QuoteError(f"{quote}: {len(fits)} entries of {file} begin with {name!r}")
    return fits[0]


def _look_up(entry: Mapping[str, Any], key: str, quote: str) -> Any:
    if key in entry:
        return entry[key]
    if key in entry.get("settings", {}):
        return entry["settings"][key]
    raise QuoteError(f"{quote}: there is no {key!r}")


def _number(value: Any, index: str | None, quote: str) -> float:
    if isinstance(value, str):
        number = rf"(?<![\w.])({NUMBER}(?:e[-+]?\d+)?)"
        if index is not None and not index.isdigit():
            after = re.findall(rf"{index.replace('_', ' ')} {number}", value)
            if len(after) != 1:
                raise QuoteError(f"{quote}: {value!r} has {len(after)} numbers after {index.replace('_', ' ')!r}")
            return float(after[0].replace(",", ""))
        numbers = re.findall(number, value)
        if index is None or int(index) > len(numbers) or index == "0":
            raise QuoteError(
                f"{quote}: {value!r} has {len(numbers)} numbers; name one as [1], or by the words before it"
            )
        return float(numbers[int(index) - 1].replace(",", ""))
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise QuoteError(f"{quote}: {value!r} is not a number")
    return float(value)


if __name__ == "__main__":
    for page in pages():
        try:
            page.write_text(update(page.read_text(encoding="utf-8")), encoding="utf-8")
        except QuoteError as error:
            sys.exit(f"error: {page.relative_to(DOCS.parent)}: {error}")
