import re
from pathlib import Path


def test_the_first_example_of_soil_runs_as_it_is(capsys):
    page = (Path(__file__).parents[2] / "docs/soil.md").read_text(encoding="utf-8")
    example = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    assert example
    exec(example[1], {})
    assert re.fullmatch(r"It stands \d+ mm deep, and the soil carries 21[56] N\.\n", capsys.readouterr().out)
