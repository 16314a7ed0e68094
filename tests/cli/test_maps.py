"""The commands ``map`` and ``locate``, on a small simulated log."""

import json
from dataclasses import replace

import numpy as np
import pytest

from sandlot.mapping.grids.files import read_map
from sandlot.mapping.grids.geometry import FREE, WALL
from sandlot.recordings.scans import quantities
from sandlot.recordings.writer import Writer
from scan_drives import around, cluttered_room, errors, ring, scans_along

POSES = np.linspace((-0.8, -0.5, 0.0), (0.8, 0.6, 2.0), 40)


def record(path, scans):
    about = {"laser_position": [0.0, 0.0]}
    with Writer(path, quantities(len(scans[0].ranges)), settings=about, seed=None, world="log") as writer:
        for scan in scans:
            writer.append(scan.frame())


@pytest.fixture
def drive(tmp_path):
    record(tmp_path / "drive", scans_along(cluttered_room(3), POSES))
    return tmp_path / "drive"


def test_a_recording_becomes_a_map_and_is_located_in_it(sandlot_, drive, tmp_path):
    said = sandlot_("map", drive, "--out", "made")
    assert said.status == 0, said.err
    assert "40 scans" in said.out
    assert "reading drive" in said.err
    assert "mapping drive" in said.err
    assert {each.name for each in (tmp_path / "made").iterdir()} == {
        "map.yaml", "map.pgm", "map.png", "trajectory.tum", "report.html", "report.json",
    }  # fmt: skip
    saved = read_map(tmp_path / "made" / "map.yaml")
    assert (saved.kinds == WALL).sum() > 300
    assert (saved.kinds == FREE).sum() * 0.05**2 > 40.0
    rows = np.loadtxt(tmp_path / "made" / "trajectory.tum")
    found = np.column_stack([rows[:, 1:3], 2.0 * np.arctan2(rows[:, 6], rows[:, 7])])
    assert errors(found, POSES)[0].max() < 0.05
    assert json.loads((tmp_path / "made" / "report.json").read_text())["refused"] == 0
    assert "<img" in (tmp_path / "made" / "report.html").read_text()

    said = sandlot_("locate", drive, "--map", "made/map.yaml", "--out", "located.tum", "--json")
    assert said.status == 0, said.err
    facts = json.loads(said.out)
    assert (facts["located"], facts["searches"]) == (40, 1)
    np.testing.assert_allclose(np.loadtxt(tmp_path / "located.tum")[:, 1:3], rows[:, 1:3], atol=0.06)


def test_scans_alone_make_a_map(sandlot_, drive):
    said = sandlot_("map", drive, "--out", "made", "--no-odometry", "--json")
    assert said.status == 0, said.err
    assert json.loads(said.out)["scans"] == 40


def one_line(said, text):
    assert said.status == 2
    assert text in said.err
    assert len([line for line in said.err.splitlines() if "error:" in line]) == 1
    assert "Traceback" not in said.err


def test_mistakes_are_explained_in_one_line(sandlot_, drive, tmp_path):
    one_line(sandlot_("map", "absent.log", "--out", "made"), "there is no log at absent.log")
    (tmp_path / "made").mkdir()
    one_line(sandlot_("map", drive, "--out", "made"), "already exists")
    one_line(sandlot_("locate", drive, "--map", "absent.yaml"), "absent.yaml")


def test_scans_without_returns_or_overlap_are_reported(sandlot_, tmp_path):
    scans = scans_along(cluttered_room(3), POSES[:8])
    blind = [scan.__class__(scan.time, np.full_like(scan.ranges, np.nan), scan.bearings) for scan in scans]
    record(tmp_path / "blind", blind)
    one_line(sandlot_("map", tmp_path / "blind", "--out", "made"), "no scan of 8 can be used")
    rng = np.random.default_rng(0)
    noise = [s.__class__(s.time, rng.uniform(0.5, 8.0, 360).astype(np.float32), s.bearings) for s in scans]
    record(tmp_path / "noise", noise)
    one_line(sandlot_("map", tmp_path / "noise", "--out", "made"), "scans must overlap")


def test_a_robot_in_another_building_is_reported(sandlot_, drive, tmp_path):
    assert sandlot_("map", drive, "--out", "made").status == 0
    record(tmp_path / "other", scans_along(ring(), around(0.2)[60:63]))
    one_line(sandlot_("locate", tmp_path / "other", "--map", "made/map.yaml"), "no scan of 3 was located")
    both = [*scans_along(cluttered_room(3), POSES[:2]), *scans_along(ring(), around(0.2)[60:63])]
    record(tmp_path / "both", [replace(scan, time=float(k)) for k, scan in enumerate(both)])
    one_line(sandlot_("locate", tmp_path / "both", "--map", "made/map.yaml"), "only 2 of 5 scans fit")
