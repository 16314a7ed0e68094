import re
import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

DOCS = Path(__file__).parents[2] / "docs"


def test_the_walking_example_walks_as_its_caption_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(DOCS / "examples/walking.py"), run_name="__main__")
    plt.close("all")
    found = re.fullmatch(r"rigid: (.*) m in .*\nsoft: (.*) m in .* feet (.*) mm.*\n", capsys.readouterr().out)
    *walked, deep = map(float, found.groups())
    page = (DOCS / "soil.md").read_text(encoding="utf-8")
    numbers = (
        r"On rigid ground it walks (.*) m; on soft ground (.*) m, and its feet sink in by (.*) mm \((.*) mm on another"
    )
    *shown, here, elsewhere = map(float, re.search(numbers, page).groups())
    assert walked == pytest.approx(shown, rel=0.1)
    assert deep in (pytest.approx(here, rel=0.1), pytest.approx(elsewhere, rel=0.1))
    assert (tmp_path / "walking.png").stat().st_size > 10_000
