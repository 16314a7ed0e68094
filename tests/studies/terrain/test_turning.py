"""The study of rovers on hard level ground: its claims about made-up results."""

import numpy as np
import pytest

from claims import assert_fails, changed, failing, scaled
from sandlot.robots.rover import load_rover
from sandlot.robots.rover_model import build_model
from sandlot.studies.terrain.shared import ROVERS
from sandlot.studies.terrain.turning import COMMANDS, EXPECTED, RADIUS, TRACK_WIDTH, WHEELBASE, Turning

LINEAR, ANGULAR = np.array(COMMANDS).T
IDEAL = {"speed": lambda job: LINEAR, "turn_rate": lambda job: EXPECTED[job["vehicle"]] * ANGULAR}
IDEAL_TURNS = "Rovers turn as the equations of differential drive say."


def test_all_claims_but_one_hold_for_expected_turn_rates():
    """Rovers that turn as expected of skid steering do not turn as the equations of differential drive say."""
    assert failing(Turning(), **IDEAL) == [IDEAL_TURNS]
    assert IDEAL_TURNS not in failing(Turning(), **IDEAL | {"turn_rate": lambda job: ANGULAR})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"speed": scaled(0.96, vehicle="tracked")}, ["as fast as their wheels"]),
        ({"turn_rate": scaled(0.96, vehicle="axle")}, ["on one axle"]),
        ({"turn_rate": scaled(0.8, vehicle="wheeled")}, ["longitudinal and lateral slip"]),
    ],
)
def test_each_claim_can_fail(changes, words):
    assert_fails(Turning(), changed(IDEAL, **changes), [IDEAL_TURNS, *words])


@pytest.mark.parametrize("name", ROVERS)
def test_the_equations_have_the_sizes_of_the_rovers(name):
    layout = build_model([load_rover(name)], np.zeros((1, 6))).rovers[0].layout
    axles = [wheel.middle[0] for wheel in layout.wheels]
    assert (layout.base, layout.radius) == pytest.approx((TRACK_WIDTH, RADIUS))
    assert max(axles) - min(axles) == pytest.approx(WHEELBASE)
