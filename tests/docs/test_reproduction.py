"""The page of all claims is made from the published results, and says of each where it comes from."""

import re
import runpy
from pathlib import Path

import pytest

from sandlot.errors import RunError

DOCS = Path(__file__).parents[2] / "docs"
MADE = runpy.run_path(str(DOCS / "reproduction.py"))
TOML = """
[sources]
water = "Someone 2015"
[before]
"Someone 2015" = [1, 3]
[claims."water.swim"]
"" = "ours, beside line 3"
"It swims" = "line 12"
"It swims by" = "Newton 1687"
[reasons."water.swim"]
"It swims" = ["the water is too thick", "water.why", "Thin water"]
"""


def claim(text, holds, source="97.20 m", measured=48.35444):
    return {"text": text, "source": source, "measured": measured, "holds": holds, "note": ""}


@pytest.fixture
def kept():
    swim = [claim("It swims 97.20 m.", False), claim("It swims by its laws.", True), claim("It is | fast.", False)]
    return {
        "water.swim": {"source": "Someone 2015, section 1", "claims": swim},
        "water.why": {"source": "ours", "claims": [claim("Thin water is faster.", True)]},
    }


def origins(kept, folder, text=TOML + '[claims."water.why"]\n"" = "ours"\n'):
    file = folder / "origins.toml"
    file.write_text(text)
    return MADE["Origins"](kept, file)


def test_the_page_is_up_to_date():
    published = MADE["load"]()
    page = MADE["page"](published, MADE["Origins"](published), MADE["waiting"](published))
    assert MADE["PAGE"].read_text(encoding="utf-8") == page, "run: make docs-pages"


def test_the_published_page_has_every_claim_and_a_word_on_every_failure():
    page, published = MADE["PAGE"].read_text(encoding="utf-8"), MADE["load"]()
    claims = [each for summary in published.values() for each in summary["claims"]]
    assert len(re.findall(r" \| (?:✓|✗ .+) \|$", page, re.MULTILINE)) == len(claims)
    assert page.count(" | ✗ ") == sum(not each["holds"] for each in claims)


def test_studies_that_are_not_run_anew_are_named_and_their_entries_left_alone(kept, tmp_path):
    text = TOML + '[claims."water.why"]\n"" = "ours"\n[claims."water.turn"]\n"It turns" = "line 3"\n'
    page = MADE["page"](kept, origins(kept, tmp_path, text), ["water.turn"])
    assert "Not counted, because they were not run since they were written or changed: water.turn." in page
    with pytest.raises(RunError, match="no published claim begins with 'It turns'"):
        origins(kept, tmp_path, text.replace("water.turn", "water.gone"))


def test_a_claim_has_its_source_line_value_and_reason_in_one_line(kept, tmp_path):
    page = MADE["page"](kept, origins(kept, tmp_path))
    why = "the water is too thick ([water.why](studies/water.why.md))"
    assert f"| It swims 97.20 m. | 97.20 m | line 12 | 48.35 | ✗ {why} |" in page
    assert "| It swims by its laws. | 97.20 m | Newton 1687 | 48.35 | ✓ |" in page
    assert r"| It is \| fast. | 97.20 m | ours, beside line 3 | 48.35 | ✗ unexplained |" in page


def test_claims_are_counted_by_whose_they_are(kept, tmp_path):
    page = MADE["page"](kept, origins(kept, tmp_path))
    assert "| Someone 2015 | 1 of 3 | 0 of 1 |" in page
    assert "| theory and Project Chrono | 0 of 0 | 1 of 1 |" in page
    assert "| ours | 0 of 0 | 1 of 2 |" in page
    assert "| **all** | 1 of 3 | 2 of 4 |" in page


def test_without_a_claim_that_holds_a_failure_is_unexplained(kept, tmp_path):
    kept["water.why"]["claims"][0]["holds"] = False
    assert "too thick" not in MADE["page"](kept, origins(kept, tmp_path))


def test_a_reason_names_a_published_claim(kept, tmp_path):
    kept["water.why"]["claims"][0]["text"] = "Cold water is faster."
    with pytest.raises(RunError, match="the reason of 'It swims' names no published claim"):
        origins(kept, tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (TOML, r'[claims."water.why"] has no entry for \'Thin water is faster.\''),
        (TOML + '[claims."water.why"]\n"Thin" = "ours"\n"Thick" = "ours"\n', "no published claim begins with 'Thick'"),
        (TOML.replace('"It swims" = [', '"It sinks" = [') + '[claims."water.why"]\n"" = "ours"\n', "'It sinks'"),
    ],
)
def test_entries_and_claims_belong_together(kept, tmp_path, text, words):
    with pytest.raises(RunError, match=re.escape(words.replace("\\", ""))):
        origins(kept, tmp_path, text)
