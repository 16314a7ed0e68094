import re
from pathlib import Path


def test_the_first_example_of_many_robots_runs_as_it_is(capsys):
    page = (Path(__file__).parents[2] / "docs/many-robots.md").read_text(encoding="utf-8")
    example = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    assert example
    names = {}
    exec(example[1], names)
    assert re.fullmatch(
        r"Robot 7 diverged at 0 s, with .* N on geom foot; it starts again\.\n", capsys.readouterr().out
    )
    soils, datas = names["soils"], names["datas"]
    assert soils.step(datas, 1).all()
    assert soils[7].surface().min() == 0.0
    assert soils[6].surface().min() < -0.001
