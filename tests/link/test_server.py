"""A rover over a real socket: its rules, and what happens when things go wrong."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from link.rovers import Served, ToyRover, serving, until
from sandlot.errors import LinkError
from sandlot.link import client as client_module
from sandlot.link import connection as connection_module
from sandlot.link.client import INTERRUPTED, Client
from sandlot.link.console import Console
from sandlot.link.framing import Framer
from sandlot.link.messages import Halt, Hello, ManualMove, MapRequest, ModeChange, Proof
from sandlot.link.proofs import new_token, prove


def test_a_manual_move_drives_and_stops(served, client):
    result = client.move("forwards", 0.2).wait(10)
    assert (result.outcome, result.report) == ("done", "")
    assert served.driver.x == pytest.approx(0.2 * 0.3, abs=0.01)
    assert not served.driver.moving


def test_a_manual_move_is_capped_at_two_seconds():
    with serving(ToyRover()) as served, Client(port=served.port, token=served.token) as client:
        assert client.move("backwards", 60.0).wait(10).report == "capped at 2 s"
        assert served.driver.x == pytest.approx(-2.0 * 0.3, abs=0.02)


def test_orders_of_another_mode_fail_with_a_reason(served, client):
    assert "needs the mode SEMI" in client.go_to(1.0, 0.0).wait(10).report
    with pytest.raises(LinkError, match="no map in the mode MANUAL"):
        client.map()
    client.mode("SEMI")
    assert "need the mode MANUAL" in client.move("left", 0.1).wait(10).report


def test_a_mode_change_waits_for_the_moves_before_it(served, client):
    move = client.move("forwards", 0.4)
    change = client.give(ModeChange(mode="SEMI", priority=True))
    assert change.wait(10).outcome == "done"
    assert move.wait(0.1).outcome == "done"


def test_a_halt_before_a_mode_change_does_not_wait(served, client):
    move = client.move("forwards", 2.0)
    until(lambda: served.driver.moving)
    client.halt()
    change = client.give(ModeChange(mode="SEMI"))
    began = time.monotonic()
    assert change.wait(10).outcome == "done"
    assert move.wait(1).outcome == "halted"
    assert time.monotonic() - began < 1.5


def test_a_halt_stops_the_move_and_forgets_the_ones_that_wait(served, client):
    tickets = [client.move("forwards", 2.0) for _ in range(3)]
    until(lambda: served.driver.moving)
    given = time.monotonic()
    assert client.halt().wait(5).outcome == "done"
    assert not served.driver.moving
    assert served.driver.halted_at - given < 0.5  # the load test measures it; other work shares this processor
    assert {ticket.wait(5).outcome for ticket in tickets} == {"halted"}
    assert served.driver.x < 0.5
    assert client.move("left", 0.05).wait(5).outcome == "done"


def test_samples_are_at_least_as_many_as_asked_and_within_range(served, client):
    samples = client.scan(200, max_range=2.5)
    assert len(samples) >= 200
    assert samples[:, 1].max() <= 2.5


def test_a_map_is_sent_as_arrays(served, client):
    client.mode("SEMI")
    told, cells = client.map()
    assert cells.dtype == np.uint8
    assert cells.shape == told.shape
    assert told.names == ("kind", "reputation")


def test_reports_and_telemetry_come_by_themselves(served, client):
    until(lambda: client.status is not None and "TELEMETRY" in client.latest and "SCAN" in client.latest)
    told, values = client.latest["TELEMETRY"]
    named = dict(zip(told.names, values.tolist(), strict=True))
    assert 3.4 < named["cell_1 [V]"] <= 4.2
    assert client.status.time_left > 3600.0


@pytest.mark.parametrize(
    ("parameter", "value", "says"),
    [("warp", 9, "no parameter 'warp'"), ("report_rate", 1e6, "0.2 to 50"), ("undervoltage", 2, "9 to 12.6")],
)
def test_an_impossible_parameter_is_one_clear_line(client, parameter, value, says):
    result = client.configure(parameter, value).wait(10)
    assert result.outcome == "failed"
    assert says in result.report


def test_motors_without_power_do_not_move(served, client):
    client.configure("motor_power", 0).wait(5)
    assert "supply of the motors is off" in client.move("left", 0.1).wait(5).report
    assert not served.driver.orders
    client.configure("motor_power", 1).wait(5)
    assert client.move("left", 0.1).wait(5).outcome == "done"


def test_a_wrong_token_is_refused_by_both_sides(served):
    with pytest.raises(LinkError, match="not authorised"):
        Client(port=served.port, token=new_token())


def test_no_rover_is_one_clear_line():
    with pytest.raises(LinkError, match="no link to the rover"):
        Client(port=1, token=new_token(), patience=0.5)


def talk(port, *packets, wait=1.0):
    """Send bytes, and return all messages that come back until the rover closes or falls silent."""
    framer, said = Framer(10**6, 10**7), []
    with socket.create_connection(("127.0.0.1", port), timeout=wait) as link:
        try:
            for packet in packets:
                link.sendall(packet)
            while data := link.recv(1 << 16):
                said += [json.loads(each.text) for each in framer.feed(data)]
        except OSError:
            pass
    return said


HELLO = Hello(version=1, session="a" * 32, nonce="b" * 64).packet()
MOVE = ManualMove(direction="forwards", duration=1.0, N=1).packet()


@pytest.mark.parametrize(
    "packets",
    [
        (MOVE,),
        (HELLO, MOVE),
        (HELLO, Proof(proof="0" * 64).packet(), MOVE),
        (HELLO, HELLO, MOVE),
        (b"\x00" * 100_000,),
        (b"GET / HTTP/1.1\r\nHost: rover\r\n\r\n",),
        (b"BEGIN TFG MSG" + b"x" * 100_000,),
        (HELLO + MOVE * 10,),
        (HELLO.replace(b'"version":1', b'"version":2'), MOVE),
    ],
)
def test_nothing_is_executed_without_a_proof(served, packets):
    said = talk(served.port, *packets)
    assert {each["type"] for each in said} <= {"CHALLENGE", "REFUSAL"}
    time.sleep(0.1)
    assert not served.driver.orders
    assert len(served.server.executor.queue) == 0


def test_overheard_bytes_cannot_be_replayed(served):
    session, nonce = "c" * 32, "d" * 64
    hello = Hello(version=1, session=session, nonce=nonce).packet()
    with socket.create_connection(("127.0.0.1", served.port), timeout=5) as link:
        link.sendall(hello)
        framer, packets = Framer(10**6), []
        while not packets:
            packets = framer.feed(link.recv(1 << 16))
        challenge = json.loads(packets[0].text)
        proof = Proof(proof=prove(served.token, "controller", session, challenge["nonce"], nonce)).packet()
        link.sendall(proof + MOVE)
        until(lambda: served.driver.x > 0.0)
    until(lambda: not served.driver.moving)
    before = list(served.driver.orders)
    said = talk(served.port, hello, proof, MOVE)
    assert said[-1] == {"priority": False, "N": 0, "type": "REFUSAL", "reason": "not authorised"}
    assert served.driver.orders == before


def test_a_slow_greeting_is_closed(served, monkeypatch):
    monkeypatch.setattr(connection_module, "GREETING", 0.2)
    with socket.create_connection(("127.0.0.1", served.port), timeout=10) as link:
        for byte in HELLO[:5]:
            link.sendall(bytes([byte]))
        assert b"not authorised" in link.recv(1000)
        assert link.recv(1000) == b""


def test_garbage_after_the_proof_closes_only_that_connection(served, client):
    client._post(b"\xff" * 50)
    until(lambda: client.connections >= 2)  # it has connected again
    assert client.move("left", 0.05).wait(10).outcome == "done"


def test_an_oversized_message_closes_the_connection(served, client):
    client._post(b"BEGIN TFG MSG" + b" " * 40_000)
    until(lambda: client.connections >= 2)


def test_a_silent_controller_stops_the_rover_which_goes_on_when_told(served, monkeypatch):
    monkeypatch.setattr(client_module, "BEAT", 1000.0)
    with Client(port=served.port, token=served.token) as client:
        move, later = client.move("forwards", 2.0), client.move("left", 0.1)
        until(lambda: served.driver.moving)
        until(lambda: not served.driver.moving)
        assert "no word" in move.wait(5).report
        assert served.driver.x < 0.55  # 0.3 m after a second
        until(lambda: client.status is not None and "no word" in client.status.held)
        assert not later.done
        client.go_on()
        assert later.wait(5).outcome == "done"


def test_words_of_a_new_controller_do_not_wait_for_a_held_rover(served):
    with Client(port=served.port, token=served.token) as gone:
        gone.move("forwards", 2.0)
        until(lambda: served.driver.moving)
    until(lambda: served.server.executor.queue.held)
    with Client(port=served.port, token=served.token) as client:
        orders = Console(client)
        began = time.monotonic()
        answers = {word: orders.run(word) for word in ("go 0.2 0", "mode SEMI", "advance 0.1", "status")}
        assert time.monotonic() - began < 10.0
        assert all("no word" in answer for answer in answers.values())
        assert all("`on` lets it go on" in answers[word] for word in ("go 0.2 0", "mode SEMI", "advance 0.1"))
        assert answers["mode SEMI"].startswith("mode SEMI; ")
        assert orders.run("on") == "done"
        assert orders.run("mode MANUAL") == "mode MANUAL"
        assert orders.run("left 0.05") == "done"


def test_a_mode_that_waits_for_held_moves_says_so(served):
    with Client(port=served.port, token=served.token) as client:
        served.server.executor.hold("test")
        move = client.move("left", 0.05)
        with pytest.raises(LinkError, match="MODE_CHANGE waits, because the rover is held: test"):
            client.mode("SEMI")
        client.go_on()
        assert move.wait(10).outcome == "done"


def test_a_new_controller_lets_a_rover_go_on_and_is_watched(served):
    with Client(port=served.port, token=served.token) as gone:
        for _ in range(2):
            gone.move("forwards", 2.0)
        until(lambda: served.driver.moving)
    until(lambda: served.server.executor.queue.held and not served.driver.moving)
    before = served.driver.x
    with Client(port=served.port, token=served.token) as client:
        assert client.go_on().wait(5).outcome == "done"
        until(lambda: served.driver.x > before + 0.55)  # the second move, to its end
        assert not served.server.executor.queue.held


def test_connections_that_prove_nothing_keep_nobody_out(served, monkeypatch):
    monkeypatch.setattr(connection_module, "CONNECTIONS", 8)
    idle = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(30)]
    try:
        with Client(port=served.port, token=served.token, patience=5.0) as client:
            assert client.move("left", 0.05).wait(5).outcome == "done"
            assert len(served.server.connections) <= 8
    finally:
        for each in idle:
            each.close()


def test_an_order_in_pieces_right_after_the_proof_is_read(served):
    session, nonce = "e" * 32, "f" * 64
    with socket.create_connection(("127.0.0.1", served.port), timeout=5) as link:
        link.sendall(Hello(version=1, session=session, nonce=nonce).packet())
        framer, packets = Framer(10**6), []
        while not packets:
            packets = framer.feed(link.recv(1 << 16))
        challenge = json.loads(packets[0].text)
        proof = Proof(proof=prove(served.token, "controller", session, challenge["nonce"], nonce)).packet()
        link.sendall(proof + MOVE[:20])
        time.sleep(0.1)
        link.sendall(MOVE[20:])
        until(lambda: served.driver.x > 0.0)


def test_a_cut_link_loses_no_order_and_repeats_none(served, client):
    client.mode("SEMI")
    tickets = []
    for k in range(300):
        tickets.append(client.configure("note", k))
        if k in (50, 120, 121, 200):
            client.cut()
    assert [ticket.wait(20).outcome for ticket in tickets] == ["done"] * 300
    assert client.connections >= 2
    (session,) = (served.server.sessions.get(each) for each in served.server.sessions._known)
    assert session.last == 301
    assert served.server.executor.values["note"] == 299


def test_results_that_came_while_the_link_was_cut_are_sent_again(served, client):
    move = client.move("forwards", 0.3)
    until(lambda: move.acknowledged)
    client.cut()
    assert move.wait(10).outcome == "done"
    assert served.driver.orders.count((0.3, 0.3)) == 1


def test_a_rover_that_was_started_again_halts_and_goes_on_when_told():
    driver = ToyRover()
    first = Served(driver, pace=1.0)
    with Client(port=first.port, token=first.token) as client:
        move, later = client.move("forwards", 2.0), client.move("left", 0.1)
        until(lambda: driver.moving)
        first.kill()
        assert not driver.moving
        second = Served(driver, first.token, first.port, pace=1.0)
        try:
            assert move.wait(10).report == later.wait(10).report == INTERRUPTED
            before = driver.yaw
            until(lambda: client.connected)
            assert driver.yaw == before  # nothing moves by itself
            assert client.move("left", 0.1).wait(10).outcome == "done"
            assert driver.yaw != before
        finally:
            second.close()


def test_a_half_open_connection_is_closed(served, monkeypatch):
    monkeypatch.setattr(client_module, "BEAT", 1000.0)
    monkeypatch.setattr(connection_module, "SILENT", 0.3)
    with Client(port=served.port, token=served.token) as client:
        (first,) = served.server.connections
        until(lambda: first not in served.server.connections)
        until(lambda: client.connections >= 2)


def test_a_killed_process_is_noticed_and_nothing_is_repeated(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = new_token()
    text = f"from link.rovers import *; Served(ToyRover(), {token!r}, {port}, pace=1.0); time.sleep(60)"
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    command, environment = [sys.executable, "-c", text], {**os.environ, "PYTHONPATH": path}
    first = subprocess.Popen(command, env=environment)
    second = None
    try:
        with Client(port=port, token=token, patience=60.0) as client:
            move, later = client.move("forwards", 2.0), client.move("left", 0.1)
            until(lambda: client.status is not None and client.status.state == "moving")
            first.kill()
            first.wait(20)
            second = subprocess.Popen(command, env=environment)
            assert move.wait(60).report == later.wait(60).report == INTERRUPTED
            assert client.move("left", 0.1).wait(60).outcome == "done"
    finally:
        for process in (first, second):
            if process is not None:
                process.kill()
                process.wait(20)


def test_a_controller_that_does_not_read_stalls_nobody(served, client, monkeypatch):
    monkeypatch.setattr(connection_module, "STUCK", 64 * 1024)
    with Client(port=served.port, token=served.token) as deaf:
        deaf._loop.call_soon_threadsafe(deaf._writer.transport.pause_reading)
        client.configure("report_rate", 50).wait(5)
        for _ in range(20):
            assert client.move("left", 0.02).wait(5).outcome == "done"


def test_too_many_messages_are_refused_but_a_halt_is_not(served, client):
    tickets = [client.give(MapRequest()) for _ in range(4000)]
    assert client.give(Halt()).wait(20).outcome == "done"
    reports = {ticket.wait(20).report for ticket in tickets}
    assert "too many messages a second" in reports


def test_an_undervoltage_stops_the_rover_and_is_reported():
    from sandlot.robots.hardware.board import SimulatedBoard

    board = SimulatedBoard(charge=0.08)
    with serving(ToyRover(), board=board, pace=1.0) as served, Client(port=served.port, token=served.token) as client:
        move = client.move("forwards", 2.0)
        until(lambda: client.status is not None and client.status.backup)
        assert move.wait(5).outcome == "halted"
        assert not served.driver.moving
        assert board.switches == {"motors": False, "usb": False, "main": False, "backup": True}
        client.go_on().wait(5)
        assert "backup" in client.move("left", 0.1).wait(5).report
