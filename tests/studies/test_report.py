"""The page of a run is one file that shows everything and loads nothing."""

import base64
import html
import os
import shlex
from html.parser import HTMLParser
from pathlib import Path

import pytest
import xarray as xr
from matplotlib.figure import Figure

import sandlot
from sandlot.settings import build, read_settings
from sandlot.studies import Claim, find
from sandlot.studies.report import write_page, write_report
from sandlot.studies.runner import Outcome, command, run

PNG = b"\x89PNG\r\n\x1a\n"
SETTINGS = {"world": {"shape": [12, 12], "terrain": "heap"}, "probabilities": [0.9, 0.3, 0.5], "replicates": 2}


class Page(HTMLParser):
    """Collects what a page says, and whatever a browser might go and fetch."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.source = path.read_text(encoding="utf-8")
        self.images: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.words: list[str] = []
        self.feed(self.source)
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attributes:
            if name in ("src", "srcset", "data", "poster", "background"):
                self.images.append(value or "")
            if name in ("href", "action"):
                self.links.append(value or "")

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory) -> Outcome:
    return run(build(find("leveling.probabilities"), SETTINGS), tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def page(outcome) -> Page:
    path = write_report(outcome)
    assert path == outcome.directory / "index.html"
    return Page(path)


def test_the_page_loads_nothing(page):
    assert len(page.images) == 3, "a figure and two scenes"
    for image in page.images:
        assert image.startswith("data:image/png;base64,")
        assert base64.b64decode(image.partition(",")[2], validate=True).startswith(PNG)
    assert not {"link", "script", "iframe", "object", "embed", "base"} & set(page.tags)
    bare = page.source
    for image in page.images:
        bare = bare.replace(image, "")
    assert not any(word in bare for word in ("http:", "https:", "//", "url(", "@import"))


def test_the_data_are_where_the_page_says(page, outcome):
    assert {"results.csv", "results.sqlite"} <= set(page.links)
    assert all((outcome.directory / link).is_file() for link in page.links)
    assert (outcome.directory / "figure.png").read_bytes().startswith(PNG)


def test_the_page_shows_every_claim(page, outcome):
    assert len(outcome.claims) == 2
    for claim in outcome.claims:
        assert claim.text in page.text
        assert str(claim.source) in page.text
        assert str(claim.measured) in page.text
        assert claim.note in page.text
    for mark, verdict in (("✓", "holds"), ("✗", "does not hold"), ("?", "undecided")):
        assert page.text.count(f"{mark} {verdict}") == sum(claim.verdict == verdict for claim in outcome.claims)


def test_the_page_shows_every_setting(page):
    for key, value in [
        ("seed", "0"),
        ("replicates", "2"),
        ("probabilities", "[0.9, 0.3, 0.5]"),
        ("world.shape", "[12, 12]"),
        ("world.terrain", '"heap"'),
        ("world.agents", "8"),
        ("max_cycles", "20000000"),
    ]:
        assert f"{key} {value} " in page.text


def test_the_page_says_where_it_comes_from(page, outcome):
    assert outcome.digest in page.text
    assert outcome.study.source in page.text
    assert outcome.study.question() in page.text
    assert sandlot.__version__ in page.text
    assert "6 jobs" in page.text


def test_the_page_shows_every_comparison(page, outcome):
    tests = outcome.study.comparisons(outcome.results)
    assert len(tests) == 2
    assert all(f"{each.ratio:.3f} {each.p:.2g} {each.effect:.2f}" in page.text for each in tests)


def test_the_command_on_the_page_makes_the_same_run(page, outcome):
    words = shlex.split([words for words in page.words if words.startswith("sandlot run")][-1])
    assert words[:3] == ["sandlot", "run", outcome.study.name]
    assert set(words[3::2]) == {"--set"}
    assert build(find(words[2]), read_settings(None, words[4::2])) == outcome.study


@pytest.mark.parametrize("terrain", ["pictures/a b.png", "it's.png", 'say "hills".png', "$HOME/Gelände.png", "🏔.png"])
def test_the_command_can_be_pasted_whatever_the_settings_are(terrain):
    study = build(find("leveling.probabilities"), {"world": {"terrain": terrain, "sensing": 1e-7}})
    words = shlex.split(command(study))
    assert build(find(words[2]), read_settings(None, words[4::2])) == study


def test_the_page_of_the_same_run_is_the_same(outcome, page):
    assert write_report(outcome).read_text(encoding="utf-8") == page.source


@pytest.mark.usefixtures("page")
def test_a_page_about_several_runs_has_them_all(outcome, tmp_path):
    other = run(build(find("leveling.probabilities"), SETTINGS | {"seed": 1}), tmp_path / "deep/other")
    write_report(other)
    page = Page(write_page(tmp_path / "pages/index.html", "Two runs", "One after the other.", [outcome, other]))
    assert "Two runs" in page.text
    assert "One after the other." in page.text
    assert outcome.digest in page.text
    assert other.digest in page.text
    assert len(page.images) == 6
    within = [link for link in page.links if link.startswith("#")]
    assert within == ["#leveling.probabilities"] * 2, "a table at the top leads to each"
    assert all((tmp_path / "pages" / link).is_file() for link in set(page.links) - set(within))
    assert os.path.relpath(other.directory / "results.csv", tmp_path / "pages") in page.links


def test_what_looks_like_html_stays_text(outcome, tmp_path):
    evil = '<script>alert("5 > 3")</script> & <b>more</b>'

    class Evil(type(outcome.study)):
        def figure(self, results: xr.Dataset) -> Figure:
            return Figure()

        def scenes(self, results):
            return iter(())

    study = Evil(world={"terrain": "<i>it's.png"}, probabilities=(0.9, 0.3, 0.5))
    claims = [Claim(evil, evil, evil, True, evil)]
    strange = Outcome(study, tmp_path, outcome.results, outcome.digest, 1.0, claims)
    page = Page(write_page(tmp_path / "index.html", evil, evil, [strange]))
    assert not {"script", "b", "i"} & set(page.tags)
    assert "<script>alert" not in page.source
    assert html.escape("<script>", quote=False) in page.source
    assert page.text.count(evil) >= 6
    assert "<i>it's.png" in page.text


@pytest.mark.parametrize("width", [360, 400, 1000])
def test_nothing_is_cut_off_on_a_narrow_screen(outcome, browser, tmp_path, width):
    path = write_page(tmp_path / "index.html", "A run", "With claims.", [outcome])
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(path.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    beyond = "[...document.querySelectorAll('*')].filter(each => each.getBoundingClientRect().right > innerWidth + 1)"
    assert page.evaluate(f"{beyond}.map(each => each.outerHTML.slice(0, 100))") == []
    page.close()
