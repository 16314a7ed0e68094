"""The pictures of a run are drawn once, and again only if its results or sources change."""

import base64
from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from sandlot.studies import pictures, runner
from sandlot.studies.base import Picture
from toy_study import Toy


class Drawing(Toy):
    """Does it draw?"""

    def figure(self, results):
        """The caption."""
        with Path(self.place, "drawn").open("a") as drawn:
            drawn.write("x")
        return Figure()

    def scenes(self, results):
        yield Picture("A scene.", Figure())


@pytest.fixture
def outcome(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "find", lambda name: Drawing)
    return runner.run(Drawing(place=str(tmp_path), size=1, seconds=0.0), tmp_path / "run")


def times_drawn(outcome):
    return len(Path(outcome.study.place, "drawn").read_text())


def test_pictures_are_drawn_once(outcome):
    first = pictures.draw(outcome)
    assert [each.caption for each in first] == ["The caption.", "A scene."]
    assert base64.b64decode(first[0].png) == (outcome.directory / "figure.png").read_bytes()
    assert pictures.draw(outcome) == first
    assert times_drawn(outcome) == 1


def test_other_results_or_missing_or_damaged_files_are_drawn_again(outcome):
    pictures.draw(outcome)
    pictures.draw(replace(outcome, digest="0" * 64))
    assert times_drawn(outcome) == 2
    pictures.draw(outcome)
    (outcome.directory / "scene-1.png").unlink()
    pictures.draw(outcome)
    assert times_drawn(outcome) == 4
    for damage in ("", "[]", '{"captions": 3}', '{"key": "a"}'):
        (outcome.directory / "pictures.json").write_text(damage)
        pictures.draw(outcome)
    assert times_drawn(outcome) == 8
