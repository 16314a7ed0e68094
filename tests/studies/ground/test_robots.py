"""The study of robots on soil: a small run, its claims about made-up results, and models of others."""

import mujoco
import numpy as np
import pytest

from claims import assert_fails, changed, failing, scaled
from sandlot.robots.legged import ROBOTS, legged_spec, standing_height
from sandlot.studies.ground.robots import Robots
from sandlot.studies.runner import run

IDEAL = {
    "load": lambda job: 30.0,
    "depth": lambda job: 0.0 if job["ground"] == "rigid" else 0.05,
    "expected": lambda job: 0.0 if job["ground"] == "rigid" else 0.05,
    "dropped": lambda job: 0.0 if job["ground"] == "rigid" else 0.06,
    "speed": lambda job: 1e-5,
    "gained": lambda job: 0.01,
    "height": lambda job: 0.9 * standing_height(ROBOTS[job["robot"]]),
    "diverged": lambda job: 0.0,
}
SHORT = {"seconds": 1.0, "steps": (0.002,), "grounds": ("mid",)}


def test_claims_hold_for_robots_at_rest_and_can_fail():
    assert failing(Robots(), **IDEAL) == []
    only = {"robot": "hexapod", "ground": "mid"}
    assert_fails(Robots(), changed(IDEAL, speed=scaled(1e3, step=0.002, **only)), ["Every robot"])
    assert_fails(Robots(), changed(IDEAL, gained=scaled(10.0, **only)), ["A robot gains"])
    assert_fails(Robots(), changed(IDEAL, depth=scaled(0.7, **only)), ["A foot sinks"])
    assert_fails(Robots(), changed(IDEAL, dropped=scaled(1.1, step=0.001, **only)), ["With steps of 1 ms"])
    assert_fails(Robots(), changed(IDEAL, dropped=scaled(1.1, step=0.002, **only)), [])
    assert_fails(Robots(), changed(IDEAL, dropped=scaled(1.2, step=0.002, **only)), ["With steps of 2 ms"])
    assert_fails(
        Robots(), changed(IDEAL, height=scaled(0.2, **only)), ["No robot falls", "Robots fall over only where"]
    )
    tips = {"robot": "humanoid", "ground": "soft"}
    assert_fails(Robots(), changed(IDEAL, height=scaled(0.2, **tips)), ["No robot falls"])
    assert_fails(Robots(), changed(IDEAL, diverged=lambda job, _: float(job["robot"] == "humanoid")), ["No simulation"])


def test_a_robot_of_ones_own_is_put_down_as_ours_is(tmp_path):
    file = tmp_path / "mine.xml"
    file.write_text(legged_spec(ROBOTS["hexapod"]).to_xml())
    ours = run(Robots(robots=("hexapod",), **SHORT), tmp_path / "ours").results
    mine = run(Robots(robots=(str(file),), **SHORT), tmp_path / "mine").results
    assert mine["height"].item() == pytest.approx(ours["height"].item(), abs=1e-6)
    assert ours["depth"].item() == pytest.approx(ours["expected"].item(), rel=0.2)
    assert np.isnan(mine["expected"].item())


def test_a_missing_robot_is_named():
    with pytest.raises(ValueError, match=r"no robot 'dragon'; allowed: hexapod, [^\n]*, or a file with a MuJoCo model"):
        Robots(robots=("dragon",))


def test_the_figure_shows_every_robot(tmp_path):
    study = Robots(robots=("hexapod",), **SHORT)
    results = run(study, tmp_path / "run").results
    left, right = study.figure(results).axes
    assert [text.get_text() for text in left.get_legend().get_texts()] == ["hexapod", "as deep"]
    assert right.get_yscale() == "log"


@pytest.mark.parametrize("name", ROBOTS)
def test_robots_stand_on_a_plane(name):
    """They have the mass that is published, and their springs hold them up."""
    model = legged_spec(ROBOTS[name], floor=True).compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    before = data.qpos[2]
    for _ in range(1000):
        mujoco.mj_step(model, data)
    assert model.body_mass.sum() == pytest.approx(ROBOTS[name].mass, rel=1e-9)
    assert data.qpos[2] == pytest.approx(before, rel=0.05)
    assert np.abs(data.qvel).max() < 1e-3
