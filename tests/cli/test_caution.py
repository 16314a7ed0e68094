"""Warnings about a user's files are one line."""

import warnings

from sandlot.cli.caution import one_line_warnings
from sandlot.errors import RobotWarning


def test_a_warning_about_a_robot_is_one_line_without_the_program():
    usual = warnings.formatwarning
    with one_line_warnings():
        assert warnings.formatwarning("a caster", RobotWarning, "rover.py", 3) == "warning: a caster\n"
        assert "rover.py:3: UserWarning: other" in warnings.formatwarning("other", UserWarning, "rover.py", 3)
    assert warnings.formatwarning is usual
