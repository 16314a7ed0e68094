"""The stream of a lidar: answers, scans, stale bytes and banners, in any pieces."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lidar_streams import MODES, patchy, receive, same_samples, samples_of, stream
from sandlot.sensing.rplidar import Health, Info, Restarted, SampleRate, Samples, ScanBegun, Status
from sandlot.sensing.rplidar.answers import BANNER, LENGTHS, SCANS, AccessoryBoard, Answer, Configuration, descriptor

INFO = Info(0x18, (1, 29), 7, "0123456789ABCDEF" * 2)
TEXT = BANNER + b"\r\nFirmware Ver 1.29 - rtm, HW Ver 7\r\nModel: 18\r\n"
ANSWERS = {
    Answer.INFO: INFO,
    Answer.HEALTH: Health(Status.WARNING, 0x0102),
    Answer.SAMPLE_RATE: SampleRate(508e-6, 254e-6),
    Answer.CONFIGURATION: Configuration(0x7F, b"Boost\0"),
    Answer.ACCESSORY_BOARD: AccessoryBoard(True),
}


def spoken(answer):
    data = ANSWERS[answer].encode()
    return descriptor(answer, len(data)) + data


def test_descriptors_are_as_documented():
    assert descriptor(Answer.STANDARD) == bytes.fromhex("A55A0500004081")
    assert descriptor(Answer.EXPRESS) == bytes.fromhex("A55A5400004082")
    assert descriptor(Answer.ULTRA) == bytes.fromhex("A55A8400004084")
    assert descriptor(Answer.INFO) == bytes.fromhex("A55A1400000004")


def test_a_real_answer_about_the_device():
    data = bytes.fromhex("A55A1400000004" + "181D01070102030405060708090A0B0C0D0E0F10")
    (info,), _ = receive(data)
    assert (info.firmware, info.hardware, info.name) == ((1, 29), 7, "A1M8")
    assert info.serial == "0102030405060708090A0B0C0D0E0F10"


def test_the_code_of_a_health_is_little_endian():
    (health,), _ = receive(bytes.fromhex("A55A0300000006" + "023412"))
    assert health == Health(Status.ERROR, 0x1234)


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("stale", [b"", b"\xa5", b"\xa5\x5a\x05", TEXT[5:], bytes(range(256)) * 3])
def test_an_answer_behind_stale_bytes(answer, stale):
    events, receiver = receive(stale + spoken(answer))
    assert events == [ANSWERS[answer]]
    assert receiver.losses.stale == len(stale)


def test_an_answer_is_not_held_back_by_its_last_byte():
    """A serial number may end as a descriptor or a banner begins."""
    for end in ("A5", "52"):
        info = Info(0x18, (1, 29), 7, "00" * 15 + end)
        assert receive(descriptor(Answer.INFO) + info.encode())[0] == [info]


@pytest.mark.parametrize("name", MODES)
def test_a_request_in_a_scan_ends_it(name):
    data, _ = stream(name, 0.3)
    events, receiver = receive(data + spoken(Answer.HEALTH))
    assert isinstance(events[0], ScanBegun)
    assert isinstance(events[1], Samples)
    assert events[2:] == [ANSWERS[Answer.HEALTH]]
    assert receiver.scanning is None


@pytest.mark.parametrize("name", MODES)
def test_a_device_that_restarts_in_a_scan_is_noticed(name):
    data, _ = stream(name, 0.3)
    events, receiver = receive(data[:-20] + TEXT)
    assert events[-1] == Restarted()
    assert receiver.scanning is None


@pytest.mark.parametrize("name", MODES)
def test_bytes_after_the_end_of_a_scan_are_stale(name):
    data, _ = stream(name, 0.3)
    _, receiver = receive(data[:700])
    receiver.end_scan()
    before = receiver.losses.stale
    assert receiver.receive(data[700:]) == []
    assert receiver.losses.stale - before >= len(data[700:]) - 16


@st.composite
def broken_streams(draw):
    """Scans and answers with lost, flipped and stale bytes, and where they are cut into pieces."""
    name = draw(st.sampled_from(list(MODES)))
    data = bytearray(stream(name, 0.12, patchy)[0])
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(data) - 1))
        kind = draw(st.sampled_from(["lost", "flipped", "stale", "answer", "banner"]))
        if kind == "lost":
            del data[at : at + draw(st.integers(1, 200))]
        elif kind == "flipped":
            data[at] ^= 1 << draw(st.integers(0, 7))
        elif kind == "stale":
            data[at:at] = draw(st.binary(max_size=30))
        elif kind == "answer":
            data[at:at] = spoken(draw(st.sampled_from(list(ANSWERS))))
        else:
            data[at:at] = TEXT
        if not data:
            break
    cuts = draw(st.lists(st.integers(0, len(data)), max_size=40))
    return bytes(data), cuts


def same_events(first, second):
    assert [type(each) for each in first] == [type(each) for each in second]
    for one, other in zip(first, second, strict=True):
        assert same_samples(one, other) if isinstance(one, Samples) else one == other


@given(broken_streams())
def test_pieces_change_nothing(broken):
    data, cuts = broken
    whole, receiver = receive(data)
    pieces, other = receive(data, cuts)
    same_events(whole, pieces)
    assert receiver.losses == other.losses


@pytest.mark.parametrize("name", MODES)
def test_single_bytes_change_nothing(name):
    data = stream(name, 0.1)[0] + TEXT + spoken(Answer.INFO)
    whole, receiver = receive(data)
    pieces, other = receive(data, range(len(data)))
    same_events(whole, pieces)
    assert receiver.losses == other.losses


@given(st.sampled_from([None, *SCANS]), st.binary(max_size=600), st.lists(st.integers(0, 600), max_size=5))
def test_any_bytes_are_taken(answer, data, cuts):
    head = b"" if answer is None else descriptor(answer)
    events, _ = receive(head + data, [cut for cut in cuts if cut < len(data)])
    for event in events:
        if isinstance(event, Samples):
            assert ((event.angles >= 0) & (event.angles < 360 * 64)).all()
            assert (event.distances >= 0).all()


@st.composite
def faults(draw):
    """A mode, where a fault is in a second of its stream (0 to 1), and the fault."""
    kind = draw(st.sampled_from(["lost", "flipped", "stale"]))
    size = draw(st.integers(1, 400))
    return (
        draw(st.sampled_from(list(MODES))),
        draw(st.floats(0.05, 0.3)),
        kind,
        draw(st.binary(min_size=size, max_size=size)),
    )


@given(faults())
def test_it_is_in_step_again_within_two_turns(fault):
    """And from there on, samples are those of a stream without the fault."""
    name, share, kind, noise = fault
    data, turn = stream(name, 0.9, patchy)
    at = 7 + int(share * len(data))
    if kind == "lost":
        broken = data[:at] + data[at + len(noise) :]
    elif kind == "stale":
        broken = data[:at] + noise + data[at:]
    else:
        broken = data[:at] + bytes([data[at] ^ (noise[0] or 1)]) + data[at + 1 :]
    left = len(data) - at - 2 * turn - 400
    count = left // LENGTHS[MODES[name][1].answer] * {"Standard": 1, "Express": 32, "Boost": 96, "Dense": 40}[name]
    expected, found = samples_of(data), samples_of(broken)
    assert count > 300
    assert same_samples(expected[-count:], found[-count:])


@pytest.mark.parametrize("name", MODES)
def test_a_lost_byte_costs_little(name):
    """At most two capsules, or two nodes, wherever it is in a packet."""
    data, _ = stream(name, 0.3 if name != "Dense" else 0.1)
    whole, middle = samples_of(data), len(data) // 2
    for at in range(middle, middle + 140, 7):
        events, receiver = receive(data[:at] + data[at + 1 :])
        found = events[1]
        assert 0 < len(whole) - len(found) <= {"Standard": 2, "Express": 64, "Boost": 192, "Dense": 80}[name]
        assert found.gaps.sum() == 1
        assert receiver.losses.breaks == 1
        assert receiver.losses.bytes > 0


def test_whole_capsules_that_are_missing_leave_a_gap():
    """Their neighbours would be decoded with wrong angles."""
    data, _ = stream("Express", 0.5)
    at = 7 + 84 * 10
    events, receiver = receive(data[:at] + data[at + 84 :])
    samples = events[1]
    assert receiver.losses.gaps == 1
    seen = ~np.isnan(samples.ranges)
    whole = samples_of(data)
    kept = set(zip(whole.angles.tolist(), whole.distances.tolist(), strict=True))
    assert set(zip(samples.angles[seen].tolist(), samples.distances[seen].tolist(), strict=True)) <= kept


def test_a_device_that_begins_anew_drops_the_capsule_before():
    first, second = (stream("Express", 0.1, descriptor=False)[0] for _ in range(2))
    size = 84 * (len(first) // 84)
    events, receiver = receive(descriptor(Answer.EXPRESS) + first[:size] + second)
    assert receiver.losses.bytes == 84
    assert len(events[1]) == 32 * (size // 84 - 1 + len(second) // 84 - 1)
