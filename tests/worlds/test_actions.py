"""An action of the wrong shape, or with NaN or infinity, is explained in one line."""

import re

import numpy as np
import pytest

from sandlot.errors import SandlotError
from sandlot.worlds.actions import check_action


def test_a_valid_action_is_returned():
    assert check_action([[1, 2]], (1, 2), "speeds [m/s]").tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (np.zeros(3), "an action is speeds [m/s], of shape (2,), not (3,)"),
        (np.array([np.nan, 0.0]), "an action is speeds [m/s]; 1 of 2 are not finite"),
        (np.array([np.inf, -np.inf]), "an action is speeds [m/s]; 2 of 2 are not finite"),
        ("left", "an action is speeds [m/s], not 'left'"),
    ],
)
def test_a_wrong_action_is_explained(action, message):
    with pytest.raises(SandlotError, match=f"^{re.escape(message)}$"):
        check_action(action, (2,), "speeds [m/s]")
