import re
from pathlib import Path

import mujoco
import numpy as np
import pytest

from sandlot.physics.soil import Soil

SCENE = """<mujoco><option timestep="0.001"/><worldbody><geom name="floor" type="plane" size="5 5 0.1"/>
<body pos="0 0 0.05"><freejoint/><geom type="box" size="0.1 0.1 0.05" mass="9"/></body></worldbody></mujoco>"""


class Viewer:
    """A viewer that runs for a second, without a window."""

    def __init__(self, model, data):
        self.model, self.data = model, data

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def is_running(self):
        return self.data.time < 1.0

    def update_hfield(self, number):
        assert number == self.model.hfield("soil").id

    def sync(self):
        pass


def test_the_first_example_of_soil_runs_as_it_is(capsys):
    page = (Path(__file__).parents[2] / "docs/soil.md").read_text(encoding="utf-8")
    example = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    assert example
    exec(example[1], {})
    said = re.fullmatch(r"It stands \d+ mm deep, and the soil carries (\d+) N\.\n", capsys.readouterr().out)
    assert said
    assert float(said[1]) == pytest.approx(22.0 * 9.81, rel=0.02), "its weight; after a second it still sways a little"


@pytest.mark.filterwarnings("error")
def test_the_examples_with_a_scene_run_as_they_are(tmp_path, monkeypatch):
    viewer = pytest.importorskip("mujoco.viewer", exc_type=ImportError)
    monkeypatch.setattr(viewer, "launch_passive", Viewer)
    monkeypatch.chdir(tmp_path)
    Path("scene.xml").write_text(SCENE, encoding="utf-8")
    page = (Path(__file__).parents[2] / "docs/soil.md").read_text(encoding="utf-8")
    section = page[page.index("## In a scene of your own") : page.index("## Standing and walking")]
    names = {"mujoco": mujoco, "np": np, "Soil": Soil}
    for example in re.findall(r"```python\n(.*?)```", section, re.DOTALL):
        exec(example, names)
    assert names["data"].time == pytest.approx(1.1)
    assert names["data"].ncon == 0
    assert np.array_equal(names["other"].qpos, names["data"].qpos)
    assert names["soil"].contacts()[0].force[2] == pytest.approx(9.0 * 9.81, rel=0.02)
