"""A rover's settings and files, and the equations of differential drive."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rover_scenes import BOTH
from sandlot.errors import SandlotError
from sandlot.robots.rover import Rover, load_rover, wheel_speeds


def test_wheel_speeds_follow_the_equations_of_the_source():
    assert wheel_speeds(0.2, 0.5, 0.19, 0.03) == pytest.approx([(0.2 - 0.0475) / 0.03, (0.2 + 0.0475) / 0.03])


def test_wheel_speeds_of_a_batch():
    speeds = wheel_speeds(np.zeros((4, 1)), np.ones((1, 3)), 0.2, 0.1)
    assert speeds.shape == (4, 3, 2)
    assert speeds[2, 1] == pytest.approx([-1.0, 1.0])


@given(st.floats(-5.0, 5.0), st.floats(-30.0, 30.0))
def test_commands_beyond_the_motors_keep_the_curve(linear, angular):
    free, limited = (wheel_speeds(linear, angular, 0.2, 0.03, top) for top in (np.inf, 8.0))
    assert np.abs(limited).max() <= 8.0 * (1.0 + 1e-12)
    assert limited[0] * free[1] == pytest.approx(limited[1] * free[0])
    if np.abs(free).max() <= 8.0:
        assert limited == pytest.approx(free)
    else:
        assert np.abs(limited).max() == pytest.approx(8.0)


def test_only_the_tracked_rover_has_tracks_unless_set():
    assert Rover(urdf="tracked").tracks
    assert not Rover(urdf="tracked", tracks=False).tracks
    assert not Rover().tracks


@BOTH
def test_files_of_shipped_rovers_hold_the_defaults(name):
    assert load_rover(name) == Rover(urdf=name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("urdf = 1", "^urdf=1 is not possible; allowed: text"),
        ("wheel = 1", "^no setting 'wheel'"),
        ("torque = -1", "^torque=-1 is not possible; allowed: a number above 0"),
        ("left = []", r"^left=\[\] is not possible; allowed: a list of one or more texts"),
        ('left = ["a", "a"]', "the values must all differ"),
        ("left", "is not TOML"),
    ],
)
def test_mistakes_in_a_file_are_named(tmp_path, text, message):
    (tmp_path / "r.toml").write_text(text)
    with pytest.raises(SandlotError, match=message):
        load_rover(tmp_path / "r.toml")


def test_unknown_names_are_refused():
    with pytest.raises(SandlotError, match=r"^there is no rover 'weeled', and no such file; did you mean 'wheeled'"):
        load_rover("weeled")
    with pytest.raises(SandlotError, match="known: tracked, wheeled"):
        load_rover("spirit")


def test_missing_files_are_refused(tmp_path):
    with pytest.raises(SandlotError, match=r"^cannot read .*r.toml"):
        load_rover(tmp_path / "r.toml")
    (tmp_path / "r.toml").write_text("urdf = 'none.urdf'")
    with pytest.raises(SandlotError, match=rf"^cannot read .*{tmp_path.name}/none.urdf: No such file"):
        load_rover(tmp_path / "r.toml").assembly()
