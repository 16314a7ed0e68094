"""The studies of the indoor rover: scores against made-up maps, claims about made-up results, and a small run."""

import math

import numpy as np
import pytest

from claims import synthetic
from sandlot.mapping.grids.geometry import FREE, WALL, Grid
from sandlot.mapping.grids.occupancy import OccupancyGrid
from sandlot.places.plans import make_plan
from sandlot.studies.indoor.auto import Auto
from sandlot.studies.indoor.expeditions import Expedition, pose_errors, seen_share, wall_errors
from sandlot.studies.indoor.maps import Maps, judge
from sandlot.studies.indoor.semi import Semi

pytest.importorskip("cv2")
pytest.importorskip("sklearn")
WALLS = [(0, 0, 5, 0), (5, 0, 5, 4), (5, 4, 0, 4), (0, 4, 0, 0)]


def expedition(turn=0.0, shift=0.0):
    """A map of a room that is turned [rad] about the start and shifted along x [m]."""
    plan, start = make_plan(WALLS), np.array([2.0, 1.5, 0.7])
    grid = Grid((-7.0, -7.0), 0.05, (280, 280))
    kinds = np.full(grid.shape, FREE, np.uint8)
    along = np.concatenate([np.linspace(wall[:2], wall[2:], 2000) for wall in np.array(WALLS, float)])
    c, s = math.cos(start[2] - turn), math.sin(start[2] - turn)
    local = (along - start[:2]) @ np.array([(c, -s), (s, c)]) + (shift, 0.0)
    kinds[tuple(grid.cells(local).T)] = WALL
    poses = np.zeros((5, 3))
    wrong = np.add(poses, (0.3, 0.4, -0.1))
    cells = OccupancyGrid.known(grid, kinds)
    return Expedition(cells, wrong, poses, [], [("explored", "")], [5], 1.0, 0, 1, plan, start)


@pytest.mark.parametrize("degrees", [0.0, 0.3, 1.0])
def test_the_tilt_of_a_map_is_measured(degrees):
    found = wall_errors(expedition(math.radians(degrees)))
    assert math.degrees(found.tilt) == pytest.approx(degrees, abs=0.03)
    assert math.degrees(found.worst_tilt) == pytest.approx(degrees, abs=0.15)
    assert found.mean < 0.02 + math.radians(degrees) * 2.5


def test_a_shifted_map_has_errors_but_no_tilt():
    found = wall_errors(expedition(shift=0.1))
    assert 0.04 < found.mean < 0.11
    assert math.degrees(found.tilt) < 0.03


def test_poses_and_coverage_are_compared_with_the_truth():
    made = expedition()
    distance, angle = pose_errors(made)
    assert distance == pytest.approx(np.full(5, 0.5))
    assert angle == pytest.approx(np.full(5, 0.1))
    assert seen_share(made, 0.2) == 1.0
    made.cells.kinds[:140] = 0
    assert 0.2 < seen_share(made, 0.2) < 0.8


def test_ghosts_and_missed_surfaces_are_told_apart():
    cells = OccupancyGrid(Grid((0.0, 0.0), 0.05, (20, 20)))
    cells.kinds[5, :10] = WALL
    cells.kinds[15, 15] = WALL
    away = np.abs(np.arange(20)[:, None] - 5.0) + np.zeros((20, 20))
    surfaces = np.zeros((20, 20), bool)
    surfaces[5] = True
    found = judge(cells, surfaces, away)
    assert np.argwhere(found.ghosts).tolist() == [[15, 15]]
    assert found.found.sum() == 11  # and one beside the last occupied cell
    assert found.missed.sum() == 9


AUTO = {
    "explored": lambda job: 1.0,
    "seen": lambda job: 0.995,
    "bumps": lambda job: float(job["place"] == "random" and job["number"] == 3),
    "wall_error": lambda job: 0.02,
    "tilt": lambda job: math.radians(0.1),
    "worst_tilt": lambda job: math.radians(0.2),
}


def test_claims_of_exploring_hold_at_their_bars():
    study = Auto(replicates=2, flats=50)
    claims = study.claims(synthetic(study, **AUTO))
    assert [claim.holds for claim in claims] == [True] * 5
    assert claims[-1].measured == "49 of 50"
    for name, value, failing in [("seen", 0.98, [1, 4]), ("wall_error", 0.06, [2]), ("tilt", math.radians(0.4), [3])]:
        claims = study.claims(synthetic(study, **AUTO | {name: lambda job, value=value: value}))
        assert [k for k, claim in enumerate(claims) if not claim.holds] == failing


def test_claims_of_waypoints_need_the_true_place():
    study = Semi(replicates=2)
    outcomes = {"arrived": lambda job: np.ones(2), "distance": lambda job: np.full(2, 0.1), "bumps": lambda job: 0.0}
    outcomes |= {"tilt": lambda job: 0.001, "worst_tilt": lambda job: 0.002, "detours": lambda job: 2.0}
    assert all(claim.holds for claim in study.claims(synthetic(study, **outcomes)))
    fewer = study.claims(synthetic(study, **outcomes | {"detours": lambda job: 1.0}))
    assert [claim.holds for claim in fewer] == [True, True, True, True, False]
    far = outcomes | {"distance": lambda job: np.array([0.1, 0.5 if job["map"] == "occupancy" else 0.1])}
    assert [claim.holds for claim in study.claims(synthetic(study, **far))] == [True, True, False, True, True]


def test_a_small_flat_is_explored_as_a_job(tmp_path):
    plan = tmp_path / "room.toml"
    plan.write_text("[[walls]]\nrectangle = [0.0, 0.0, 3.0, 2.5]\n")
    study = Auto(replicates=1, flats=0, place=str(plan), seconds=60.0)
    found = study.run(next(study.jobs()))
    assert found["explored"] == 1.0
    assert found["seen"] > 0.97
    assert found["bumps"] == 0.0
    assert found["wall_error"] < 0.05


def test_all_kinds_of_maps_get_the_same_scans():
    study = Maps(replicates=1, steps=20, people=1)
    assert len(list(study.jobs())) == 4
    first, second = (study.drives(0)[1][1][-1] for _ in range(2))
    assert np.array_equal(first.ranges, second.ranges, equal_nan=True)
    found = study.run(next(study.jobs()))
    assert 0.5 < found["found"] <= 1.0
    assert found["free"] > 0.9
