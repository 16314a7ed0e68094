"""An action of the wrong shape, or with numbers that are none, gets one line of its own."""

import re

import numpy as np
import pytest

from sandlot.errors import SandlotError
from sandlot.worlds import WORLDS, load
from sandlot.worlds.actions import check_action


def test_a_good_action_is_taken_as_it_is():
    assert check_action([[1, 2]], (1, 2), "speeds [m/s]").tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (np.zeros(3), "an action is speeds [m/s], of shape (2,), not (3,)"),
        (np.array([np.nan, 0.0]), "an action is speeds [m/s]; 1 of 2 are not finite"),
        (np.array([np.inf, -np.inf]), "an action is speeds [m/s]; 2 of 2 are not finite"),
    ],
)
def test_a_wrong_action_is_told(action, message):
    with pytest.raises(SandlotError, match=f"^{re.escape(message)}$"):
        check_action(action, (2,), "speeds [m/s]")


@pytest.mark.parametrize("name", WORLDS)
def test_no_world_takes_an_action_that_is_not_a_number(name):
    world = load(name)()
    world.reset(seed=0)
    with pytest.raises(SandlotError, match="are not finite"):
        world.step(np.full(world.action_space.shape, np.nan))
