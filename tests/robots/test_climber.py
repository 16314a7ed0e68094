"""The description of a climbing robot."""

import numpy as np
import pytest

from sandlot.errors import SettingError
from sandlot.robots.climber import BODIES, load_climber, mass_centre
from sandlot.robots.climber_shape import hull, outlines
from twins.climbing import hull_gap

CLIMBER = load_climber()


def test_it_fits_a_door_and_its_span_is_that_of_the_source():
    assert 2.0 * (CLIMBER.axles.back_offset + 0.5 * CLIMBER.track.width) < 0.7
    assert CLIMBER.axles.front_offset + CLIMBER.track.width <= CLIMBER.axles.back_offset + 0.01
    assert CLIMBER.axles.span == 0.3


def test_the_mass_centre_is_that_of_annex_a():
    """With the annex's own formulas, in which the pitch is positive with the nose up."""
    theta, front, back = -0.3, 0.7, -0.4
    g, k, m, body = CLIMBER.axles.span, CLIMBER.track.reach, 2.0 * CLIMBER.track.mass, CLIMBER.body.mass
    up = -theta
    j1 = 0.5 * g * np.cos(up) + 0.5 * k * np.cos(front + up), 0.5 * g * np.sin(up) + 0.5 * k * np.sin(front + up)
    j2 = -0.5 * g * np.cos(up) - 0.5 * k * np.cos(back + up), -0.5 * g * np.sin(up) - 0.5 * k * np.sin(back + up)
    expected = m * (np.array(j1) + np.array(j2)) / (2.0 * m + body)
    found = mass_centre(CLIMBER, np.array(theta), np.array([front, back]))
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_raised_axles_move_the_mass_centre_with_the_pitch():
    raised = CLIMBER.model_copy(update={"axles": CLIMBER.axles.model_copy(update={"height": 0.05})})
    (level, down) = (mass_centre(raised, np.array(pitch), np.zeros(2)) for pitch in (0.0, 0.5))
    share = 4.0 * CLIMBER.track.mass / CLIMBER.mass
    np.testing.assert_allclose(level, [0.0, 0.05 * share], atol=1e-12)
    np.testing.assert_allclose(down, 0.05 * share * np.array([np.sin(0.5), np.cos(0.5)]), atol=1e-12)


def test_outlines_are_hulls_of_the_wheels():
    track = CLIMBER.track
    points = hull(track.wheel, track.tip, track.reach)
    ends = (np.zeros(2), track.wheel), (np.array([track.reach, 0.0]), track.tip)
    assert max(abs(hull_gap(point, *ends)[0]) for point in points) < 1e-6


def test_positive_axle_angles_turn_front_tips_up_and_rear_tips_down():
    back, _, front = outlines(CLIMBER, np.zeros(2), 0.0, np.array([0.5, 0.5]))
    assert front[front[:, 0].argmax(), 1] > 0.1
    assert back[back[:, 0].argmin(), 1] < -0.1


def test_a_positive_pitch_is_nose_down():
    _, _, front = outlines(CLIMBER, np.zeros(2), 0.5, np.zeros(2))
    assert front[front[:, 0].argmax(), 1] < -0.1


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("reach = 0.32", "reach = 0.04", "reach must be more than the difference"),
        ("length = 0.32", "length = 0.1", "length must be at least its height"),
        ("mass = 12.0", "mass = 0.0", "body.mass=0.0 is not possible; allowed"),
        ("span = 0.30", "spam = 0.30", "axles.span is missing; allowed: a number above 0"),
        ("[laser]", "[lasers]", "laser is missing"),
        ("[laser]", "[sonar]\n[laser]", "no setting 'sonar'"),
    ],
)
def test_mistakes_in_a_file_are_explained(tmp_path, old, new, message):
    text = (BODIES / "climber.toml").read_text()
    assert old in text
    path = tmp_path / "a.toml"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(SettingError, match=message):
        load_climber(path)


def test_an_unknown_robot_is_explained():
    with pytest.raises(SettingError, match="no climbing robot 'climbr', and no such file; did you mean 'climber'"):
        load_climber("climbr")
    with pytest.raises(SettingError, match="cannot read"):
        load_climber("nowhere.toml")
