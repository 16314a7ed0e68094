"""Numbers that README, guides and texts of studies quote are those of the kept results."""

import json
import re
import runpy
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
QUOTE = runpy.run_path(str(ROOT / "docs/quote.py"))
PAGES = {page.relative_to(ROOT).as_posix(): page for page in QUOTE["pages"]()}
KEPT_BY_TESTS = {"docs/reliability.md"}
"""Each of its lines names the test that keeps it."""
UNQUOTED = tomllib.loads(Path(__file__).with_name("unquoted.toml").read_text(encoding="utf-8"))

UNIT = (
    r"(?:%|(?:times|fold|x(?! \d)|million|billion|thousand|percent|steps|[mckµu]?m|kg|N|J|k?W|k?Pa|[mµun]?s|min|minutes"
    r"|hours|seconds|\w+seconds|k?Hz|deg|degrees|rad|[kMG]B)\b)"
)
NUMBER = r"(?<![\w.,/*-])[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?"
MEASURED = re.compile(rf"{NUMBER}(?: (?:to|and|or) (?:{NUMBER}|¤))?[ -]?{UNIT}|(?:instead of|p =) {NUMBER}")
FENCED = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", PAGES)
def test_quoted_numbers_are_the_kept_ones(name):
    text = PAGES[name].read_text(encoding="utf-8")
    assert QUOTE["update"](text) == text, "run: make docs-pages"


@pytest.mark.parametrize("name", sorted({*PAGES} - KEPT_BY_TESTS))
def test_every_measured_number_is_quoted(name):
    text, allowed = PAGES[name].read_text(encoding="utf-8"), UNQUOTED.get(Path(name).name, {})
    left = unquoted(text, [snippet for snippets in allowed.values() for snippet in snippets])
    assert not left, f"quote kept results for these, as docs/quote.py says, or list them in unquoted.toml: {left}"


def test_pages_with_exceptions_are_there():
    assert {*UNQUOTED} <= {Path(name).name for name in PAGES}


def unquoted(text, allowed):
    """Numbers with a unit that are neither quoted nor in an allowed snippet, with what is before them."""
    text = " ".join(QUOTE["QUOTE"].sub("¤", FENCED.sub("", text)).replace("**", "").split())
    for snippet in allowed:
        assert snippet in text, f"unquoted.toml: the page has no {snippet!r}"
        text = text.replace(snippet, "")
    text = re.sub(r"`[^`]*`", "", text)
    return [text[max(0, found.start() - 30) : found.end()] for found in MEASURED.finditer(text)]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("It takes 12 ms.", 1),
        ("It takes 12<!-- a.b ours c --> ms.", 0),
        ("37 to 47<!-- a.b ours c --> times", 1),
        ("37<!-- a.b ours c --> to 47 times", 1),
        ("102 cm instead of 143", 2),
        ("it is 4.2 million steps, 3% more (p = 0.3)", 3),
        ("in 1969, 910 scans of section 7.7 on 32 x 32 cells", 0),
        ("a line\nbreak: 12\nms", 1),
        ("**12** us, 5 ns, 12-fold, 90 percent, 5 kHz", 5),
        ("`12 ms`\n\n```text\n12 ms\n```\n", 0),
    ],
)
def test_numbers_without_a_quote_are_found(text, count):
    assert len(unquoted(text, [])) == count


@pytest.fixture
def results(tmp_path):
    rows = [
        {"name": "steps", "ours": 4205522.85, "peer": 2.0, "ratio": 0.0352},
        {"name": "steps of all", "ours": 66.34, "peer": None, "ratio": None},
    ]
    (tmp_path / "benchmark.x.jsonl").write_text("\n".join(map(json.dumps, rows)))
    claims = [
        {"text": "It swims.", "source": 97.2, "measured": "fast: 1,234.5 m (p=6e-11), -3%", "holds": True, "note": ""},
        {"text": "It stops.", "source": "0.25 s", "measured": 0.1, "holds": False, "note": ""},
    ]
    summary = {"claims": claims, "wall_time": 59.4, "settings": {"replicates": 30}}
    (tmp_path / "water.x.json").write_text(json.dumps(summary))
    return tmp_path


@pytest.mark.parametrize(
    ("before", "quote", "after"),
    [
        ("1.0", "benchmark.x ours/1e6 steps", "4.2"),
        ("1", "benchmark.x ours steps", "4,205,523"),
        ("99", "benchmark.x ours steps of", "66"),
        ("9", "benchmark.x 1/ratio steps", "28"),
        ("9", "benchmark.x 1e3*peer steps", "2,000"),
        ("9", "water.x measured[1] It swims", "1,234"),
        ("+9", "water.x measured[3] It swims", "-3"),
        ("9", "water.x -measured[3] It swims", "3"),
        ("+9.0", "water.x source It swims", "+97.2"),
        ("0.00", "water.x source[1] It stops", "0.25"),
        ("9", "water.x wall_time", "59"),
        ("9", "water.x replicates", "30"),
        ("9", "claims hold", "1"),
        ("9", "claims all", "2"),
    ],
)
def test_a_quote_is_written_with_the_decimals_it_had(results, before, quote, after):
    text = "about {}<!-- {} --> m, 7 of them"
    assert QUOTE["update"](text.format(before, quote), results) == text.format(after, quote)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("9<!-- benchmark.y ours steps -->", "docs/results has no benchmark.y"),
        ("9<!-- benchmark.x ours stops -->", "0 entries"),
        ("9<!-- water.x measured It -->", "2 entries"),
        ("9<!-- water.x measured It swims -->", "has 3 numbers"),
        ("9<!-- water.x measured[4] It swims -->", "has 3 numbers"),
        ("9<!-- water.x holds It swims -->", "not a number"),
        ("9<!-- water.x speed It swims -->", "there is no 'speed'"),
        ("9<!-- water.x ours+1 It swims -->", "is not a value"),
        ("9<!-- claims fail -->", "is not a value"),
        ("about <!-- water.x source It swims -->", "follows a number"),
        ("about 12<!--water.x source It swims-->", "follows a number"),
    ],
)
def test_a_quote_of_nothing_is_an_error(results, text, words):
    with pytest.raises(QUOTE["QuoteError"], match=re.escape(words)):
        QUOTE["update"](text, results)
