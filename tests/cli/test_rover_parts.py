"""A rover from its parts."""

import pytest

from sandlot.cli.rover_parts import simulated_rover
from sandlot.errors import SettingError


def test_a_simulated_rover_takes_settings_of_the_indoor_world():
    rover = simulated_rover("arena", 0, ["start=[5.0,5.0,0.0]", "robot.top_speed=0.2"])
    assert rover.chassis.top_speed == 0.2
    with pytest.raises(SettingError, match="no setting"):
        simulated_rover("arena", 0, ["wings=2"])
