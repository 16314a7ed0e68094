"""The shells over a real pseudo-terminal, a real TCP port and asyncio; and what they say when there is no lidar."""

import asyncio
import os
import socket
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from lidar_streams import room
from sandlot.errors import DeviceError
from sandlot.sensing.rplidar import open_lidar
from sandlot.sensing.rplidar.async_driver import open_async
from sandlot.sensing.rplidar.device import KINDS, Device
from sandlot.sensing.rplidar.ports import TcpPort, tcp_address
from sandlot.sensing.rplidar.serving import serve_tcp, serve_terminal

SERVES = {"port": serve_terminal, "tcp": serve_tcp}


def run(work):
    """Run a coroutine in a thread of its own: the browser of other tests leaves a loop running in this one."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, work).result()


def check(turn):
    scan = turn.scan(12.0)
    assert np.nanmax(abs(scan.ranges - room(scan.bearings, None))) < 0.04
    assert len(turn.samples) > 500


@pytest.mark.parametrize("way", SERVES)
def test_a_lidar_at_a_port(way):
    with SERVES[way](Device(room)) as served, open_lidar(**{way: served.address}) as lidar:
        assert lidar.name == served.address
        lidar.start("Express")
        check(next(lidar.turns()))


@pytest.mark.parametrize("way", SERVES)
def test_a_lidar_by_asyncio(way):
    async def talk(address):
        async with await open_async(**{way: address}) as lidar:
            assert (await lidar.health()).code == 0
            await lidar.start("Express")
            check(await anext(lidar.turns()))
            return lidar.losses

    with SERVES[way](Device(room)) as served:
        assert run(talk(served.address)).bytes == 0


def test_a_scan_that_another_program_left_running():
    with serve_terminal(Device(room)) as served:
        served.device.receive(KINDS["A1"].modes[2].request(), 0.0)
        with open_lidar(served.address) as lidar:
            lidar.start("Standard")
            assert next(lidar.turns()).complete


@pytest.mark.parametrize("way", SERVES)
def test_a_port_that_goes_away(way):
    served = SERVES[way](Device(room))
    lidar = open_lidar(**{way: served.address})
    lidar.start()
    turns = lidar.turns()
    next(turns)
    served.close()
    with pytest.raises(DeviceError, match=r"gone|closed"):
        list(turns)
    lidar.close()


def test_there_is_no_such_port():
    with pytest.raises(DeviceError, match="no serial port /dev/ttyNONE"):
        open_lidar("/dev/ttyNONE")


def test_nobody_answers_at_a_terminal(monkeypatch):
    monkeypatch.setattr("sandlot.sensing.rplidar.talks.ANSWER_TIME", 0.02)
    ours, theirs = os.openpty()
    with pytest.raises(DeviceError, match=r"no lidar answers at .*, tried 115200, 256000, 460800, 1000000 baud"):
        open_lidar(os.ttyname(theirs))
    os.close(ours)
    os.close(theirs)


def test_nobody_listens():
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(DeviceError, match=r"no lidar at 127\.0\.0\.1"):
        open_lidar(tcp=address)
    with pytest.raises(DeviceError, match=r"no lidar at 127\.0\.0\.1"):
        run(open_async(tcp=address))


def test_a_connection_that_is_closed_at_once():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = TcpPort("127.0.0.1", server.getsockname()[1])
        server.accept()[0].close()
        with pytest.raises(DeviceError, match="closed the connection"):
            port.read(1.0)
        port.close()


def test_a_port_that_is_in_use():
    with serve_tcp(Device(room)) as served, pytest.raises(DeviceError, match="cannot listen"):
        serve_tcp(Device(room), int(served.address.rpartition(":")[2]))


@pytest.mark.parametrize("text", ["", "host", "host:", "host:99999", ":5", "host:x"])
def test_a_wrong_address(text):
    with pytest.raises(DeviceError, match="is not HOST:PORT"):
        tcp_address(text)


def test_an_address():
    assert tcp_address("[::1]:80") == ("::1", 80)
    with pytest.raises(DeviceError, match="either"):
        open_lidar()
