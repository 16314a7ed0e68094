"""Invalid settings are refused with one line, and bodies that cannot swim before the first job."""

import pytest

from sandlot.errors import SandlotError
from sandlot.settings import build
from sandlot.studies import find
from sandlot.studies.runner import run

TOO_LONG = {"snake": {"step": 0.05, "interval": 0.1}}


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("water.stop", {"durations": [0.1, 0.2]}, r"durations=.*: the first must be 0"),
        ("water.drift", {"swims": 10.0, "seconds": 8.0}, "seconds=8 is too short to drift after swims=10; .* least 11"),
        ("water.currents", {"strengths": []}, "strengths=.* is not possible; allowed: a list of one or more numbers"),
        ("water.currents", {"strengths": [0.2, 0.2]}, "strengths=.*: the values must all differ"),
        ("water.currents", {"strengths": [-0.2]}, r"strengths\[0\]=-0.2 is not possible; allowed: a number at least 0"),
        ("water.turn", {"veers": [0.1, 0.1]}, "veers=.*: the values must all differ"),
        ("water.carry", {"seconds": 2.0}, "seconds=2 is too short; allowed: at least 3.02, since it swims from 3 s on"),
        ("water.heads", {"seconds": 3.0}, "seconds=3 is too short; allowed: at least 3.02"),
        ("water.shared", {"seconds": 0.01}, "seconds=0.01 is too short; allowed: at least 0.02$"),
        ("water.shared", {"seconds": 0.04, "snake": {"interval": 0.05}}, "allowed: at least 0.05"),
        ("water.evolve", {"seconds": 0.01}, "seconds=0.01 is too short"),
        ("water.neat", {"seconds": 0.01}, "seconds=0.01 is too short"),
        ("water.pareto", {"seconds": 0.01}, "seconds=0.01 is too short"),
        ("water.optimizers", {"seconds": 0.01}, "seconds=0.01 is too short"),
        ("water.fidelity", {"seconds": 0.01}, "seconds=0.01 is too short"),
    ],
)
def test_invalid_settings_are_refused(name, settings, message):
    with pytest.raises(SandlotError, match=message) as error:
        build(find(name), settings)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("water.shared", TOO_LONG, "step=0.05 would make the reference unstable"),
        ("water.carry", TOO_LONG, "step=0.05 would make the reference unstable"),
        ("water.carry", {"snake": {"links": 7}}, "6 joints are too few to hold with 3 and swim with at least 4"),
        ("water.heads", {"snake": {"links": 9}}, "a head is folded from 8 joints, .*; this body has 8"),
        ("water.grasp", TOO_LONG, "step=0.05 would make the reference unstable"),
        ("water.grasp", {"snake": {"links": 4}}, "a ball is held by at least 3 of at least 4 joints; this body has 3"),
        ("water.spin", TOO_LONG, "step=0.05 would make the reference unstable"),
        ("water.spin", {"snake": {"interval": 0.04}}, "interval=0.04 does not divide the 0.1 s between samples evenly"),
        ("water.turn", TOO_LONG, "step=0.05 would make the reference unstable"),
        ("water.turn", {"gait": {"amplitude": [0.1, 0.2]}}, "amplitude has 2 values; this body has 7 joints"),
        ("water.drift", {"masses": [1e-4]}, "step=0.01 would make the reference unstable"),
        ("water.fidelity", TOO_LONG, "step=0.05 would make the reference unstable"),
        ("water.capture", TOO_LONG, "step=0.05 would make the reference unstable"),
        ("water.capture", {"snake": {"links": 5}}, "4 joints are too few to hold with 3"),
        ("water.deliver", {"snake": {"links": 5}}, "4 joints are too few to hold with 3"),
        ("water.currents", {"snake": {"links": 5}}, "4 joints are too few to hold with 3"),
    ],
)
def test_unsuitable_bodies_are_refused_before_the_first_job(tmp_path, name, settings, message):
    reported = []
    with pytest.raises(SandlotError, match=f"^{message}") as error:
        run(build(find(name), settings), tmp_path / "run", progress=lambda *each: reported.append(each))
    assert "\n" not in str(error.value)
    assert not reported
    assert not (tmp_path / "run").exists()
