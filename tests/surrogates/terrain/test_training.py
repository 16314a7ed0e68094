"""Training of a learned rover on short recordings."""

import numpy as np
import pytest

pytest.importorskip("torch")

from sandlot.surrogates.terrain.evaluation import evaluate
from sandlot.surrogates.terrain.fit_ground import correlation, fit_ground, stretches_of
from sandlot.surrogates.terrain.fit_motion import determination, fit_motion, one_step
from sandlot.surrogates.terrain.ground_model import GroundModel
from sandlot.surrogates.terrain.recorded import open_drives, read_drives
from sandlot.surrogates.terrain.rollout import end_errors
from sandlot.surrogates.terrain.shape import shape_of
from sandlot.surrogates.terrain.training import Training

SHAPE = shape_of("wheeled")
SHORT = Training(members=2, hidden=8, epochs=6, stretch=20, batch=8)


@pytest.fixture(scope="module")
def drives(recorded):
    return read_drives(list(recorded.values()), SHAPE)


@pytest.fixture(scope="module")
def trained(drives):
    errors = {"driving": [], "standing": []}
    model = fit_motion(drives, SHAPE, SHORT, report=lambda what, epoch, epochs, error: errors[what].append(error))
    return model, errors


def test_errors_fall(trained):
    _, errors = trained
    assert len(errors["driving"]) == len(errors["standing"]) == SHORT.epochs
    assert errors["driving"][-1] < errors["driving"][2]
    assert errors["standing"][-1] < 0.7 * errors["standing"][0]


def test_the_same_seed_gives_the_same_nets(drives, trained):
    model, _ = trained
    again = fit_motion(drives, SHAPE, SHORT)
    for one, two in zip((*model.drives, *model.rests), (*again.drives, *again.rests), strict=True):
        np.testing.assert_array_equal(one.weights, two.weights)
    other = fit_motion(drives, SHAPE, SHORT.model_copy(update={"seed": 1}))
    assert not np.array_equal(model.drives[0].weights, other.drives[0].weights)


def test_members_differ_and_predict(drives, trained):
    model, _ = trained
    assert not np.array_equal(model.drives[0].weights, model.drives[1].weights)
    for drive in drives:
        assert determination(drive, one_step(model, drive))[0] > 0.9


def test_free_runs_are_compared_with_the_recording(trained, recorded):
    model, _ = trained
    runs = list(end_errors(model, GroundModel(), recorded["mid"], seconds=1.0, count=2))
    assert len(runs) == 2
    for run in runs:
        assert run.distance > 0.02
        assert np.isfinite([run.error, run.mean_error, run.deviation]).all()
    named = evaluate(model, [recorded["mid"]])
    assert set(named) == {"R^2 of the speed one frame ahead [1]", "R^2 of the turn rate one frame ahead [1]"}


def test_ruts_of_the_model_look_like_the_recorded_ones(recorded):
    stretches = list(stretches_of(open_drives(recorded["mid"]), 2))
    assert len(stretches) == 2
    assert correlation(stretches, SHAPE, GroundModel()) > 0.8
    nowhere = GroundModel(shelter=0.02, repose_share=2.0, slow=1.0, ahead=1.0)
    model, found = fit_ground([recorded["mid"]], SHAPE, 2)
    assert found >= correlation(stretches, SHAPE, nowhere)
    assert 0.3 <= model.repose_share <= 2.0
