import re
from pathlib import Path

import pytest


def test_the_first_example_of_soil_runs_as_it_is(capsys):
    page = (Path(__file__).parents[2] / "docs/soil.md").read_text(encoding="utf-8")
    example = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    assert example
    exec(example[1], {})
    said = re.fullmatch(r"It stands \d+ mm deep, and the soil carries (\d+) N\.\n", capsys.readouterr().out)
    assert said
    assert float(said[1]) == pytest.approx(22.0 * 9.81, rel=0.02), "its weight; after a second it still sways a little"
