"""The thread that brakes goes on whatever happens."""

import pytest

from link.rovers import ToyRover, until
from sandlot.link.wheels import Wheels


@pytest.fixture
def rover():
    return ToyRover()


@pytest.fixture
def wheels(rover):
    made = Wheels(rover)
    yield made
    made.close()


def fail(times, then):
    """A function that fails some times before it works."""
    left = [times]

    def call(*arguments):
        if left[0]:
            left[0] -= 1
            raise OSError("a pin cannot be written")
        return then(*arguments)

    return call


def test_a_halt_that_fails_is_tried_again(rover, wheels, monkeypatch):
    monkeypatch.setattr(rover, "halt", fail(3, rover.halt))
    wheels.drive(0.1, 0.1, 0.02)
    ended = []
    wheels.brake(lambda: ended.append(rover.moving))
    until(lambda: ended)
    assert ended == [False]


def test_a_watch_that_fails_stops_the_rover_and_not_the_braking(rover, wheels):
    calls = []

    def watch():
        calls.append(rover.moving)
        raise OSError("a clock cannot be read")

    wheels.watch = watch
    until(lambda: len(calls) > 1)
    wheels.drive(0.1, 0.1, 0.02)
    until(lambda: True in calls and not rover.moving)
    ended = []
    wheels.brake(lambda: ended.append(1 / 0))
    wheels.brake(lambda: ended.append(rover.moving))
    until(lambda: ended)
    assert ended == [False]


def test_a_halt_that_fails_at_switching_off_is_tried_again(rover, wheels, monkeypatch):
    wheels.drive(0.1, 0.1, 0.02)
    monkeypatch.setattr(rover, "halt", fail(3, rover.halt))
    wheels.close()
    assert not rover.moving


def test_tracks_without_a_new_order_stop_and_are_counted(rover, wheels):
    wheels.drive(0.1, 0.1, 0.02)
    until(lambda: not rover.moving, 5.0)
    assert wheels.late == 1


def test_tracks_stop_after_an_order_that_failed(rover, wheels, monkeypatch):
    wheels.drive(0.1, 0.1, 0.02)
    monkeypatch.setattr(rover, "drive", fail(1, rover.drive))
    with pytest.raises(OSError, match="pin"):
        wheels.drive(0.1, 0.1, 0.02)
    until(lambda: not rover.moving, 5.0)
