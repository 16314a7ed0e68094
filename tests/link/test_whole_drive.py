"""A whole drive over the link: explore, map, two waypoints among boxes, a cut in the middle; recorded and replayed."""

import json

import numpy as np
import pytest

from link.rovers import serving, until
from sandlot.errors import LinkError
from sandlot.lab.replay import read_moments
from sandlot.link import client as client_module
from sandlot.link.client import Client
from sandlot.link.recording import Recorder
from sandlot.mapping.mapper import Mapper
from sandlot.recordings.logs import read_scans
from sandlot.recordings.streams import read_samples, read_streams
from sandlot.worlds.indoor.rover import simulate
from sandlot.worlds.indoor.settings import IndoorSettings

WAYPOINTS = ((1.5, 0.5), (0.0, 0.0))
LONG = 200.0


@pytest.fixture(scope="module")
def drive(tmp_path_factory):
    """Drive, and return the truth, the file, and what was reported."""
    path = tmp_path_factory.mktemp("drive") / "drive.mcap"
    driver, truth = simulate(IndoorSettings(robot="tracked", plan="cluttered"), seed=3)
    recorder = Recorder(path)
    beat, ends, held = client_module.BEAT, [], []
    try:
        with (
            serving(driver, pace=2.0, recorder=recorder) as served,
            Client(port=served.port, token=served.token, patience=60.0) as client,
        ):
            client.mode("AUTO", LONG)
            until(lambda: client.status is not None and client.status.time > 4.0, LONG)
            client.halt().wait(LONG)
            client.mode("SEMI", LONG)
            _, cells = client.map(LONG)
            for number, waypoint in enumerate(WAYPOINTS):
                ticket = client.go_to(*waypoint)
                if number == 0:
                    until(lambda: client.status.state == "driving" and served.server.executor.wheels.moving, LONG)
                    client_module.BEAT = 1000.0  # the controller falls silent
                    client.cut()
                    until(lambda: client.status is not None and client.status.held, LONG)
                    held.append((client.status.held, served.server.executor.wheels.moving, ticket.done))
                    client_module.BEAT = beat
                    client.cut()
                    client.go_on().wait(LONG)
                ends.append((ticket.wait(LONG), truth.moved))
            connections = client.connections
    finally:
        client_module.BEAT = beat
        recorder.close()
    return truth, path, ends, held, cells, connections


def test_the_rover_arrives_at_both_waypoints_and_touches_nothing(drive):
    truth, _, ends, _, cells, _ = drive
    for waypoint, (result, moved) in zip(WAYPOINTS, ends, strict=True):
        assert (result.outcome, result.report[:10]) == ("done", "arrived at")
        assert np.hypot(*(moved[:2] - waypoint)) < 0.35  # it coasts
    assert truth.bumps == 0
    assert (cells[0] == 3).sum() + (cells[0] == 2).sum() > 100


def test_a_silent_controller_stopped_it_and_it_went_on_when_told(drive):
    _, _, _, held, _, connections = drive
    ((reason, moving, done),) = held
    assert "no word" in reason
    assert not moving
    assert not done
    assert connections >= 3


def test_the_recording_holds_streams_of_different_rates(drive):
    _, path, _, _, _, _ = drive
    streams = read_streams(path)
    assert {"/scan", "/odom", "/tf", "/pose", "/map", "/battery", "/link/orders", "/link/results"} <= set(streams)
    assert streams["/odom"].sizes["time"] > streams["/scan"].sizes["time"] > streams["/map"].sizes["time"] > 2
    assert np.all(np.diff(streams["/odom"].time) >= 0.0)


def test_every_order_of_the_recording_has_one_result(drive):
    _, path, _, _, _, _ = drive
    said = {"/link/orders": [], "/link/results": []}
    for topic, _, message in read_samples(path):
        if topic in said:
            said[topic].append(json.loads(message.data)["message"]["N"])
    assert (
        sorted(said["/link/orders"]) == sorted(said["/link/results"]) == list(range(1, len(said["/link/orders"]) + 1))
    )


def test_the_recording_is_mapped_again(drive):
    truth, path, _, _, _, _ = drive
    log = read_scans(path)
    mapper = Mapper()
    for scan in log.scans:
        mapper.add(scan)
    first = log.scans[0].odometry
    assert np.hypot(first.x, first.y) < 0.1
    assert np.hypot(*(mapper.pose[:2] - truth.moved[:2])) < 0.3


def test_a_missing_map_is_one_clear_line(served, client):
    with pytest.raises(LinkError, match="no map"):
        client.map()


def test_the_recording_is_replayed_in_the_lab(drive):
    truth, path, _, _, _, _ = drive
    kept = read_moments(path)
    streams = read_streams(path)
    assert len(kept) == streams["/scan"].sizes["time"]
    assert np.all(np.diff([moment.time for moment in kept]) > 0.0)
    last = {item.name: item for item in kept[-1].scene.items}
    assert {"robot", "map", "scan", "path"} <= set(last)
    np.testing.assert_allclose(last["robot"].position[:2], truth.moved[:2], atol=0.3)
    assert kept[0].scene.items != kept[-1].scene.items
    # Most returns of a scan lie at walls and obstacles of the map.
    walls, returns = (last[name].positions[:, :2] for name in ("map", "scan"))
    apart = np.linalg.norm(returns[:, None] - walls[None], axis=2).min(axis=1)
    assert np.mean(apart < 0.15) > 0.8
