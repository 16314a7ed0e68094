"""Packets in a stream of bytes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandlot.errors import LinkError
from sandlot.link.framing import BEGIN, Framer, Packet, frame


@given(
    texts=st.lists(st.tuples(st.sampled_from(["message", "data"]), st.text(max_size=60)), max_size=6),
    cuts=st.lists(st.integers(1, 40), min_size=1),
)
def test_packets_survive_any_cuts(texts, cuts):
    import json

    sent = [(kind, json.dumps(text)) for kind, text in texts]
    stream, framer, got, at, k = (
        b"".join(frame(kind, text.encode()) for kind, text in sent),
        Framer(10**4, 10**4),
        [],
        0,
        0,
    )
    while at < len(stream):
        step = cuts[k % len(cuts)]
        got += framer.feed(stream[at : at + step])
        at, k = at + step, k + 1
    assert [(each.kind, json.loads(each.text)) for each in got] == [(kind, json.loads(text)) for kind, text in sent]
    assert framer.noise == 0
    assert framer.waiting == 0


def test_words_of_the_frame_inside_a_string_are_escaped():
    import json

    text = json.dumps("END TFG MSG, then BEGIN TFG DATA").encode()
    (packet,) = Framer().feed(frame("message", text))
    assert json.loads(packet.text) == "END TFG MSG, then BEGIN TFG DATA"


def test_noise_is_skipped_and_counted():
    framer = Framer()
    assert framer.feed(b"xx BEGIN TFG" + frame("message", b"1") + b"\n" + frame("message", b"2") + b"rest") == [
        Packet("message", b"1"),
        Packet("message", b"2"),
    ]
    assert framer.noise == len(b"xxBEGINTFG") + len(b"rest")


def test_a_packet_that_was_cut_off_does_not_swallow_the_next():
    framer = Framer()
    assert framer.feed(b"BEGIN TFG MSG{half" + frame("message", b"2")) == [Packet("message", b"2")]
    assert framer.noise == len(b"{half")


@pytest.mark.parametrize("step", [1, 7, 5000])
def test_a_packet_that_is_too_large_is_refused(step):
    framer, stream = Framer(max_message=100), b"BEGIN TFG MSG" + b"x" * 5000

    def feed():
        for at in range(0, len(stream), step):
            framer.feed(stream[at : at + step])

    with pytest.raises(LinkError, match="more than the 100 bytes"):
        feed()
    assert framer.waiting < 200 + step


def test_data_packets_are_refused_where_none_are_allowed():
    with pytest.raises(LinkError, match="data packet"):
        Framer().feed(frame("data", b"12"))


def test_a_header_byte_by_byte_takes_linear_time():
    framer = Framer(max_message=10**6)
    framer.feed(b"BEGIN TFG MSG")
    for _ in range(20_000):
        framer.feed(b"x")
    assert framer._searched >= 20_000 - len(BEGIN)


def test_random_bytes_never_crash_and_never_fill_the_memory():
    rng = np.random.default_rng(0)
    words = [BEGIN, b"BEGIN TFG MSG", b"END TFG MSG", b"BEGIN TFG DATA", b"END TFG DATA", b'{"type":', b" "]
    framer = Framer(1000, 1000)
    for _ in range(5000):
        piece = words[rng.integers(len(words))] if rng.random() < 0.5 else rng.bytes(int(rng.integers(1, 30)))
        try:
            framer.feed(piece)
        except LinkError:
            framer = Framer(1000, 1000)
        assert framer.waiting < 1100
