"""Requests are as documented, and a device reads them back."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandlot.sensing.rplidar.answers import Answer, Key
from sandlot.sensing.rplidar.modes import A1_MODES, S2_MODES
from sandlot.sensing.rplidar.requests import (
    Command,
    Request,
    RequestReader,
    accessory_board,
    express_scan,
    get_configuration,
    motor_pwm,
    motor_rpm,
    plain,
)


def test_bytes_are_as_documented():
    assert express_scan() == bytes.fromhex("A5 82 05 00 00 00 00 00 22")
    assert plain(Command.STOP) == bytes.fromhex("A525")
    assert motor_pwm(660) == bytes.fromhex("A5F0029402C1")
    assert motor_rpm(600)[:5] == bytes.fromhex("A5A8025802")
    assert accessory_board() == bytes.fromhex("A5FF04000000005E")
    assert get_configuration(Key.MODE_NAME, 2)[:9] == bytes.fromhex("A584067F0000000200")


def test_a_mode_knows_its_request():
    assert A1_MODES[0].request() == plain(Command.SCAN)
    assert A1_MODES[1].request() == express_scan(0)
    assert A1_MODES[2].request() == express_scan(2)
    assert S2_MODES[1].answer is Answer.DENSE


REQUESTS = st.builds(
    lambda command, payload: Request(command, payload if command & 0x80 else b""),
    st.sampled_from(list(Command)),
    st.binary(max_size=40),
)


@given(st.lists(REQUESTS, max_size=8), st.lists(st.integers(0, 200), max_size=8))
def test_a_device_reads_requests_in_any_pieces(requests, cuts):
    data, reader, found = b"".join(each.encode() for each in requests), RequestReader(), []
    edges = [0, *sorted(cuts), len(data)]
    for begin, end in pairwise(edges):
        found += reader.receive(data[begin:end])
    assert found == requests


@given(st.binary(max_size=300))
def test_any_bytes_are_taken(data):
    RequestReader().receive(data)


def test_a_wrong_checksum_is_dropped_and_the_next_request_found():
    broken = bytearray(express_scan())
    broken[-1] ^= 1
    assert RequestReader().receive(bytes(broken) + plain(Command.STOP)) == [Request(Command.STOP)]


@pytest.mark.parametrize(("pause", "count"), [(1.0, 1), (6.0, 0)])
def test_bytes_of_a_request_that_come_too_late_are_forgotten(pause, count):
    reader, data = RequestReader(), express_scan()
    reader.receive(data[:4], 0.0)
    assert len(reader.receive(data[4:], pause)) == count
