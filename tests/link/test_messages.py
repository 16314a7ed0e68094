"""Messages of the link: what is allowed, and that nothing else gets through."""

import json

import numpy as np
import pytest

from sandlot.errors import LinkError
from sandlot.link.data import describe, pack, unpack
from sandlot.link.framing import Framer
from sandlot.link.messages import (
    Acknowledgement,
    Configuration,
    CorrectedMove,
    Descriptor,
    Halt,
    Hello,
    ManualMove,
    MapRequest,
    ModeChange,
    Result,
    ScanRequest,
    SetWaypoint,
    Status,
    read_controller,
    read_rover,
)

ORDERS = [
    Configuration(parameter="usb_power", value=0, N=1),
    ModeChange(mode="SEMI", N=2),
    ManualMove(direction="left", duration=0.5, N=3),
    CorrectedMove(mvt_type="linear", distance=-500.0, N=4),
    SetWaypoint(x=1000.0, y=-20.5, N=5),
    ScanRequest(SAMPLE_SIZE=400, MAX_RANGE=6000.0, N=6),
    MapRequest(N=7),
    Halt(priority=True, N=8),
]


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: order.type)
def test_every_order_has_the_shape_of_the_source(order):
    (packet,) = Framer().feed(order.packet())
    text = json.loads(packet.text)
    assert text["type"] == order.type
    assert {"priority", "N"} <= set(text)
    assert read_controller(packet.text) == order


def test_an_order_as_the_source_writes_it():
    text = b'{"type": "CORRECTED_MOVE_ORDER", "mvt_type": "rotation", "distance": 90.0, "priority": false, "N": 12}'
    assert read_controller(text) == CorrectedMove(mvt_type="rotation", distance=90.0, N=12)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"null",
        b'{"type":"SHELL","N":1}',
        b'{"type":"HALT_OVERRIDE","N":-1}',
        b'{"type":"HALT_OVERRIDE","N":1.5}',
        b'{"type":"HALT_OVERRIDE","N":"1"}',
        b'{"type":"HALT_OVERRIDE","N":99999999999999999999}',
        b'{"type":"HALT_OVERRIDE","N":1,"also":2}',
        b'{"type":"MANUAL_MOVE_ORDER","direction":"up","duration":1,"N":1}',
        b'{"type":"MANUAL_MOVE_ORDER","direction":"left","duration":NaN,"N":1}',
        b'{"type":"MANUAL_MOVE_ORDER","direction":"left","duration":-1,"N":1}',
        b'{"type":"MANUAL_MOVE_ORDER","direction":"left","duration":Infinity,"N":1}',
        b'{"type":"SET_WAYPOINT","x":1e300,"y":0,"N":1}',
        b'{"type":"WELCOME","boot":"0","known":true}',
        b'{"type":"RESULT","outcome":"done","N":1}',
        b"[" * 5000,
        b'{"a":' * 3000,
        b"\xff\xfe",
    ],
)
def test_what_is_no_order_is_one_clear_line(text):
    with pytest.raises(LinkError, match="cannot be read") as caught:
        read_controller(text)
    assert "\n" not in str(caught.value)


def test_messages_of_the_rover():
    for each in (Acknowledgement(N=3), Result(outcome="done", N=3), Status(time=1.0, mode="SEMI", state="driving")):
        (packet,) = Framer().feed(each.packet())
        assert read_rover(packet.text) == each


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8", "int32"])
@pytest.mark.parametrize("shape", [(0,), (5,), (3, 2), (2, 4, 3)])
def test_arrays_survive(dtype, shape):
    array = np.random.default_rng(0).integers(0, 200, shape).astype(dtype)
    told = describe(array, data="MAP", N=9)
    (packet,) = Framer(max_data=10**6).feed(pack(9, array))
    assert packet.kind == "data"
    got = unpack(packet.text, told)
    assert got.dtype == array.dtype
    np.testing.assert_array_equal(got, array)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{}",
        b'{"N":1,"data":"AAAA"}',
        b'{"N":9,"data":"AAAA"}',
        b'{"N":9,"data":"A*AA"}',
        b'{"N":9,"data":5}',
        b'{"N":9,"data":null}',
        b"[" * 100_000,
        b'{"N":9,"data":"\\u00e9"}',
    ],
)
def test_data_that_is_not_as_announced_is_refused(text):
    with pytest.raises(LinkError):
        unpack(text, Descriptor(data="SCAN", dtype="float32", shape=(2,), N=9))


def test_an_announced_array_that_is_too_large_is_refused_before_it_is_read():
    with pytest.raises(LinkError, match="announced"):
        unpack(b"{}", Descriptor(data="SCAN", dtype="float64", shape=(10_000, 10_000), N=9))


def fuzz(count, seed):
    """Damage packets and feed them: nothing but a `LinkError` may come out, and no order that was not sent."""
    rng, sent = np.random.default_rng(seed), {order.packet() for order in ORDERS}
    whole = sorted(sent)
    hello = Hello(version=1, session="0" * 32, nonce="0" * 64).packet()
    whole.append(hello)
    framer, read, refused = Framer(), 0, 0
    picks = rng.integers(len(whole), size=count).tolist()
    kinds = rng.integers(5, size=count).tolist()
    for pick, kind in zip(picks, kinds, strict=True):
        packet = bytearray(whole[pick])
        at = int(rng.integers(len(packet)))
        if kind == 0:
            packet[at] = int(rng.integers(256))
        elif kind == 1:
            del packet[at : at + int(rng.integers(1, 20))]
        elif kind == 2:
            packet[at:at] = rng.bytes(int(rng.integers(1, 20)))
        elif kind == 3:
            other = whole[int(rng.integers(len(whole)))]
            packet = packet[:at] + other[int(rng.integers(len(other))) :]
        try:
            packets = framer.feed(bytes(packet))
        except LinkError:
            framer, refused = Framer(), refused + 1
            continue
        for each in packets:
            try:
                read_controller(each.text)
                read += 1
            except LinkError:
                refused += 1
    return read, refused


def test_fuzzed_packets_are_read_or_refused():
    read, refused = fuzz(20_000, 0)
    assert read > 4000
    assert refused > 4000


@pytest.mark.slow
def test_a_million_fuzzed_packets_are_read_or_refused():
    read, refused = fuzz(1_000_000, 1)
    assert read > 200_000
    assert refused > 200_000


def test_orders_to_move_and_quick_orders_say_so():
    assert [each.moves for each in ORDERS] == [False, False, True, True, True, False, False, False]
    assert [each.quick for each in ORDERS] == [True, False, False, False, False, True, True, False]
