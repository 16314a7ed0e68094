"""Steering by an equation: scans, missing returns, and equations that give extreme turn rates."""

import numpy as np
import pytest

from sandlot.control.perceiving import Perceiver
from sandlot.errors import SandlotError
from sandlot.sensing.laser import Laser
from sandlot.surrogates.narmax import Narmax
from sandlot.surrogates.sensorgraph import Sensorgraph

LASER = Laser(beams=60, max_range=8.1)
NEAREST, FURTHEST = np.full(6, 1.0), np.full(6, 5.0)


class Sum:
    """The turn rate is proportional to the difference between the left and the right side."""

    def __init__(self, gain=0.1):
        self.gain = gain

    def predict(self, medians):
        return self.gain * (medians[:, 3:].sum(1) - medians[:, :3].sum(1))


def perceiver(gain=0.1, **changes):
    given = {
        "equation": Sum(gain),
        "laser": LASER,
        "speed": 0.4,
        "max_turn_rate": 1.5,
        "nearest": NEAREST,
        "furthest": FURTHEST,
    }
    return Perceiver(**given | changes)


def seen(*medians):
    """An observation: ranges, speed and turn rate."""
    return np.concatenate([np.repeat(medians, 10), [0.4, 0.1]]).astype(np.float32)


def test_the_speed_is_constant_and_the_equation_gives_the_turn_rate():
    speed, turn = perceiver()(seen(2.0, 2.0, 2.0, 3.0, 3.0, 4.0))
    assert speed == 0.4
    assert turn == pytest.approx(0.4)


def test_its_medians_are_those_that_equations_are_fitted_to():
    rng = np.random.default_rng(5)
    ranges = rng.uniform(1.5, 4.5, 60)
    ranges[rng.random(60) < 0.2] = np.nan
    act = perceiver()
    act(np.concatenate([np.nan_to_num(ranges, nan=8.1), [0.0, 0.0]]).astype(np.float32))
    graph = Sensorgraph(np.zeros((1, 3)), ranges[None], LASER.bearings)
    assert act.medians == pytest.approx(graph.segments()[0], abs=1e-6)


@pytest.mark.parametrize("gain", [1e6, -1e6, np.inf])
def test_the_turn_rate_is_limited(gain):
    turn = perceiver(gain)(seen(1.0, 1.0, 1.0, 4.0, 4.0, 4.0))[1]
    assert turn == np.sign(gain) * 1.5


@pytest.mark.parametrize("nothing", [8.1, np.nan, np.inf])
def test_a_segment_without_a_return_keeps_its_median(nothing):
    act = perceiver()
    act(seen(2.0, 2.0, 2.0, 3.0, 3.0, 3.0))
    assert act(seen(2.0, 2.0, 2.0, 3.0, nothing, 4.0))[1] == pytest.approx(0.4)
    assert np.isfinite(act.medians).all()


def test_a_segment_that_never_returned_has_the_largest_median():
    act = perceiver(furthest=np.array([5.0, 5.0, 5.0, 5.0, 5.0, 4.0]))
    assert act(seen(*[np.nan] * 6)) == pytest.approx([0.4, -0.1])


def test_medians_are_clipped_to_the_range_of_the_fit():
    act = perceiver()
    act(seen(0.2, 0.2, 0.2, 7.0, 7.0, 3.0))
    assert act.medians.tolist() == [1.0, 1.0, 1.0, 5.0, 5.0, 3.0]


def test_its_arguments_are_not_changed():
    limits = NEAREST.copy(), FURTHEST.copy()
    perceiver(nearest=limits[0], furthest=limits[1])(seen(2.0, 2.0, 2.0, 3.0, 3.0, 3.0))
    assert (limits[0] == NEAREST).all()
    assert (limits[1] == FURTHEST).all()


def test_a_fitted_equation_can_be_used():
    medians = np.random.default_rng(6).uniform(1.0, 5.0, (50, 6))
    model = Narmax(1).fit(medians, Sum().predict(medians))
    scan = seen(2.0, 2.0, 2.0, 3.0, 3.0, 4.0)
    assert perceiver(equation=model)(scan) == pytest.approx(perceiver()(scan))


def test_impossible_limits_are_refused():
    with pytest.raises(SandlotError, match="in this order"):
        perceiver(nearest=FURTHEST, furthest=NEAREST)
    with pytest.raises(SandlotError, match="in this order"):
        perceiver(nearest=np.full(6, np.nan))
    with pytest.raises(SandlotError, match="in this order"):
        perceiver(nearest=np.full(5, 1.0))
