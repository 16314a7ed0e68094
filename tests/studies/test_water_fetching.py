"""The studies that steer, grasp and fetch, at small size, and their claims on made-up results."""

import numpy as np
import pytest
import xarray as xr
from matplotlib.figure import Figure

from sandlot.control.fetching import SURE
from sandlot.studies import find
from sandlot.studies.runner import run
from sandlot.studies.water.fetching import BLOCK, SAMPLES, Currents, Deliver, Grasp, Turn, quadrants, swimming_speed

SMALL = {
    "water.turn": {"seconds": 4.0},
    "water.grasp": {},
    "water.capture": {"seconds": 2.0},
    "water.deliver": {"seconds": 2.0, "targets": 4},
    "water.currents": {"seconds": 1.0, "targets": 4},
}


@pytest.fixture(scope="module", params=SMALL)
def outcome(request, tmp_path_factory):
    return run(find(request.param)(**SMALL[request.param]), tmp_path_factory.mktemp(request.param), workers=1)


def test_runs_draws_and_claims(outcome):
    study, results = outcome.study, outcome.results
    assert outcome.claims
    assert isinstance(study.figure(results), Figure)
    assert all(isinstance(picture.figure, Figure) for picture in study.scenes(results))


def test_targets_in_all_quadrants_are_reached():
    study = Turn(veers=(0.1,))
    for job in study.jobs():
        found = study.run(job)
        assert (found["when"] < 30.0).all()
        assert found["body"].shape == (4, SAMPLES, 2)
        assert np.isnan(found["body"][:, -1]).all(), "a path ends when the target is reached"


def test_four_links_hold_the_ball_to_either_side():
    study = Grasp()
    for job in study.jobs():
        found = study.run(job)
        assert found["held"] == 1.0
        assert found["exploded"] == 0.0


def test_a_ball_out_of_reach_is_not_held():
    study = Grasp(ball=(10.0, 8.0))
    found = study.run(next(study.jobs()))
    assert found["held"] == 0.0
    assert found["moved"] < 0.01


def test_there_is_one_target_in_each_quadrant():
    assert len({tuple(np.sign(each)) for each in quadrants(3.0)}) == 4


def test_random_targets_are_near_and_differ_from_job_to_job():
    study = Deliver(targets=8)
    *_, one, other = study.jobs()
    first, second = study.draw_targets(one, 60.0), study.draw_targets(other, 60.0)
    assert first.shape == (BLOCK, 2)
    assert not np.array_equal(first, second)
    assert np.array_equal(first, study.draw_targets(one, 60.0))
    assert (np.linalg.norm(np.concatenate([first, second]), axis=1) <= 60.0).all()


def made_up(delivered: float, failures: float = 0.0, quadrant: float = 50.0) -> xr.Dataset:
    """Results of `water.deliver` with this share of random places delivered from."""
    when = np.full((27, 4), 80.0)
    when[:2] = quadrant
    random = when[2:].ravel()
    random[: round((1.0 - delivered) * random.size)] = np.nan
    when[2:] = random.reshape(-1, 4)
    return xr.Dataset(
        {
            "when": (("job", "target"), when),
            "attempts": (("job", "target"), np.full(when.shape, 2.0)),
            "failures": (("job", "target"), np.full(when.shape, failures)),
            "exploded": (("job", "target"), np.zeros(when.shape)),
            "how": ("job", ["source"] + ["sure"] * 26),
            "place": ("job", ["quadrant"] * 2 + ["random"] * 25),
        }
    )


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        (made_up(0.96, 1.0), [True, True, True, True]),
        (made_up(0.94, 1.0), [True, True, True, False]),
        (made_up(1.0), [True, True, False, True]),
        (made_up(1.0, 1.0, np.nan), [False, False, True, True]),
    ],
    ids=["all", "too few", "no failed grasp", "no quadrant"],
)
def test_claims_of_deliver(results, expected):
    assert [claim.holds for claim in Deliver().claims(results)] == expected


@pytest.mark.parametrize(("good", "holds"), [(90, True), (89, False)])
def test_claim_of_currents(good, holds):
    when = np.full(100, np.nan)
    when[:good] = 100.0
    results = xr.Dataset({"when": (("job", "target"), when.reshape(25, 4)), "strength": ("job", np.full(25, 0.2))})
    (claim,) = Currents(strengths=(0.2,)).claims(results)
    assert claim.holds == holds


def test_the_swimming_speed_is_that_of_the_gait():
    study = Currents()
    assert 2.0 < swimming_speed(study.snake, SURE.swim) < 12.0
