import re
import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import mujoco
import numpy as np
import pytest

from sandlot.physics.soil import Soil

DOCS = Path(__file__).parents[2] / "docs"
BOX = """<mujoco><option timestep="0.001"/><worldbody><body pos="0.2 0 0.1"><freejoint/>
<geom type="box" size="0.1 0.1 0.05" mass="9"/></body></worldbody></mujoco>"""


def test_the_endless_example_drives_as_its_caption_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(DOCS / "examples/endless.py"), run_name="__main__")
    plt.close("all")
    printed = re.match(r"(.*) m with (.*) MB of ground: (.*) m/s on soft soil, (.*) m/s", capsys.readouterr().out)
    page = " ".join((DOCS / "soil.md").read_text(encoding="utf-8").split())
    shown = re.search(
        r"drives (\S+) m over .* with (\S+) MB of ground: at (\S+) m/s on soft soil, at (\S+) m/s on mid", page
    )
    assert [*map(float, printed.groups())] == pytest.approx([*map(float, shown.groups())], rel=0.1)
    assert (tmp_path / "endless.png").stat().st_size > 10_000


def test_the_examples_of_kinds_and_of_endless_ground_carry_a_box():
    page = (DOCS / "soil.md").read_text(encoding="utf-8")
    section = page[page.index("## Several kinds on one map") : page.index("## How it works")]
    examples, model = re.findall(r"```python\n(.*?)```", section, re.DOTALL), mujoco.MjModel.from_xml_string(BOX)
    assert len(examples) == 2
    for example in examples:
        names = {"np": np, "Soil": Soil}
        exec(example, names)
        data = mujoco.MjData(model)
        names["soil"].attach(model).step(data, 1500)
        assert len(names["soil"].kinds) == 2
        assert names["soil"].contacts()[0].force[2] == pytest.approx(9.0 * 9.81, rel=0.02)
