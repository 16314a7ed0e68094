"""`sandlot lab` and `sandlot play`."""

import socket

import pytest

from commands import assert_one_clear_line


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["play", "moon"], "no world 'moon'"),
        (["play", "water", "--port", "0", "--set", "agents=3"], "no setting"),
        (["play", "water", "--port", "0", "--fidelity", "wrong"], "fidelity=wrong is not possible"),
        (["play", "water", "--port", "0", "--controller", "wrong"], "no controller 'wrong'"),
        (["lab", "--host", "0.0.0.0"], "--token"),
        (["lab", "--host", "0.0.0.0", "--token", "short"], "at least 8"),
    ],
)
def test_a_mistake_is_one_line(sandlot_, arguments, says):
    assert_one_clear_line(sandlot_(*arguments, "--no-browser"), says)


def test_a_port_in_use_is_one_line(sandlot_):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        said = sandlot_("lab", "--no-browser", "--port", str(taken.getsockname()[1]))
    assert_one_clear_line(said, "choose another with --port")
