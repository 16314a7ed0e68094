"""Training of a learned rover on short recordings."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

from sandlot.errors import ModelError
from sandlot.extras import need
from sandlot.models.dense import forward
from sandlot.surrogates.terrain.drives import MOVED, symmetries
from sandlot.surrogates.terrain.evaluation import evaluate
from sandlot.surrogates.terrain.fit_ground import correlation, fit_ground, stretches_of
from sandlot.surrogates.terrain.fit_motion import determination, fit_motion, one_step
from sandlot.surrogates.terrain.ground_model import GroundModel
from sandlot.surrogates.terrain.inputs import SOIL_INPUTS
from sandlot.surrogates.terrain.recorded import open_drives, read_drives
from sandlot.surrogates.terrain.rollout import end_errors
from sandlot.surrogates.terrain.shape import shape_of
from sandlot.surrogates.terrain.step import GAINS
from sandlot.surrogates.terrain.stretches import Stretches, importance
from sandlot.surrogates.terrain.training import Driver, Training, train_drives

need("torch", "learn").set_num_threads(1)  # batches are small: more threads wait for each other
SHAPE = shape_of("wheeled")
SHORT = Training(members=2, hidden=(8, 8), epochs=20, stretch=20, batch=160)


@pytest.fixture(scope="module")
def drives(recorded):
    return read_drives(list(recorded.values()), SHAPE)


@pytest.fixture(scope="module")
def trained(drives):
    errors = []
    model = fit_motion(drives, SHAPE, SHORT, report=lambda epoch, epochs, error: errors.append(error))
    return model, errors


def test_errors_fall(trained):
    _, errors = trained
    assert len(errors) == SHORT.epochs
    assert errors[-1] < errors[3]  # stretches have grown to their full length by then


def test_the_same_seed_gives_the_same_nets(drives, trained):
    model, _ = trained
    again = fit_motion(drives, SHAPE, SHORT)
    nets = [(*each.drives, *each.linears, *each.gains, each.settle) for each in (model, again)]
    for one, two in zip(*nets, strict=True):
        np.testing.assert_array_equal(one.weights, two.weights)
    other = fit_motion(drives, SHAPE, SHORT.model_copy(update={"seed": 1}))
    assert not np.array_equal(model.drives[0].weights, other.drives[0].weights)


def test_a_symmetric_rover_may_lean_as_far_to_one_side_as_to_the_other(drives, trained):
    low, high = trained[0].ranges[1:].T
    np.testing.assert_allclose(low, -high)
    rests = np.concatenate([each.rests for each in drives])[:, 1:]
    assert (high > np.abs(rests).max(axis=0)).all()


def test_training_drives_as_the_kernel_does(drives, trained):
    """The forward pass of the training, beside the nets of the model with inputs and outputs that are not scaled."""
    torch, model, drive = need("torch", "learn"), trained[0], drives[0]
    data = Stretches([drive], SHAPE, model.trained)
    driver = Driver(data, SHAPE, model.motors, SHORT, drive.interval, model.trained)
    frames = torch.arange(5, 60)[None].repeat(2, 1)
    rows, states, grips, shifts = data.cut(torch.zeros_like(frames), frames, 1)
    kept = 55 // len(symmetries(SHAPE, 0))  # the others show the rover mirrored
    with torch.no_grad():
        found = driver.run(torch.zeros_like(frames), rows, states[:, :, 0], grips, shifts)[:, :kept, 0].numpy()
    moved, scaling = list(MOVED), data.state_scaling
    for member in range(2):
        expected = drive.states[:-1, moved] + model.changes(drive.inputs(SHAPE), drive.soil, member)
        expected[:, 3:] += drive.shifts
        scaled = (expected[5 : 5 + kept] - scaling.mean[moved]) / scaling.scale[moved]
        np.testing.assert_allclose(found[member], scaled, rtol=1e-4, atol=1e-4)


def test_nets_do_not_see_parameters_of_soils_that_never_changed(drives, trained):
    """All drives are on soils of the same damping, so that nothing can be learned from it."""
    model, column = trained[0], SOIL_INPUTS.index("damping [Pa*s/m]")
    inputs = np.stack([drive.soil for drive in drives])
    assert np.ptp(inputs[:, column]) == 0.0
    others = inputs.copy()
    others[:, column] = 0.0
    found, expected = (model.soils(each)[:, GAINS:] for each in (others, inputs))
    np.testing.assert_array_equal(found, expected)
    rows = np.concatenate([drives[0].seen[0], drives[0].soil])[None].repeat(2, axis=0)
    rows[1, column - len(SOIL_INPUTS)] = 0.0
    np.testing.assert_array_equal(*forward(model.settle, rows))


def test_a_fit_goes_on_with_a_model(drives, trained):
    """Without a step of the search its nets stay as they are; with some, they follow the drives better."""
    model, _ = trained
    still = SHORT.model_copy(update={"epochs": 1, "rate": 1e-12})
    same = fit_motion(drives[:1], SHAPE, still, start=model)
    nets = [each.drives + each.linears + each.gains for each in (same, model)]
    for one, two in zip(*nets, strict=True):
        np.testing.assert_allclose(one.weights, two.weights, atol=1e-5 * np.abs(two.weights).max())
        np.testing.assert_allclose(one.biases, two.biases, atol=1e-5 * max(np.abs(two.biases).max(), 1.0))
    further = fit_motion(drives[:1], SHAPE, SHORT.model_copy(update={"rate": 1e-3}), start=model)
    before, after = (determination(drives[0], one_step(each, drives[0])).mean() for each in (model, further))
    assert after > before


def test_a_fit_does_not_go_on_with_a_model_of_another_rover(drives, trained):
    with pytest.raises(ModelError, match="another rover"):
        fit_motion(drives, shape_of("tracked"), SHORT, start=trained[0])
    with pytest.raises(ModelError, match=r"frames of 0\.02 s"):
        fit_motion(drives, SHAPE, SHORT, start=replace(trained[0], interval=0.02))


def test_long_drives_are_cut_into_parts_as_long_as_the_shortest(drives):
    first = drives[0]
    short = replace(
        first,
        **{name: getattr(first, name)[:41] for name in ("position", "attitude", "wheels")},
        **{name: getattr(first, name)[:40] for name in ("commands", "seen", "middles")},
    )
    whole, found = Stretches([first], SHAPE), Stretches([first, short], SHAPE)
    parts = len(first.commands) // 40
    assert found.states.shape[:2] == (parts + 1, 40)
    same = found.states * found.state_scaling.scale + found.state_scaling.mean
    states = whole.states[0] * whole.state_scaling.scale + whole.state_scaling.mean
    for k in range(parts):
        np.testing.assert_allclose(same[k], states[40 * k : 40 * (k + 1)], atol=1e-5)
        np.testing.assert_allclose(found.grips[k], whole.grips[0, 40 * k : 40 * (k + 1)], atol=1e-6)
    np.testing.assert_allclose(same[parts], states[:40], atol=1e-5)


def test_few_drives_are_trained_for_six_steps_an_epoch(drives, monkeypatch):
    steps = []
    monkeypatch.setattr("torch.optim.Adam.step", lambda self, *_: steps.append(1))
    train_drives(drives[:1], SHAPE, SHORT.model_copy(update={"epochs": 2, "batch": 10**4}))
    assert len(steps) == 12


def test_members_differ_and_predict(drives, trained):
    model, _ = trained
    assert not np.array_equal(model.drives[0].weights, model.drives[1].weights)
    for drive in drives:
        assert determination(drive, one_step(model, drive))[0] > 0.9


def test_a_rover_settles_as_deep_as_recorded(drives, trained):
    model, _ = trained
    for drive in drives:
        found = forward(model.settle, np.concatenate([drive.seen[0], drive.soil])[None])[0]
        np.testing.assert_allclose(found, drive.rests[0], atol=5e-3)


def test_importance_is_one_on_the_mean_and_larger_for_slow_drives():
    states = np.random.default_rng(0).normal(size=(2, 50, 14)) * np.array([0.1, 1.0])[:, None, None]
    found = importance(states)
    np.testing.assert_allclose(found.mean(axis=0), 1.0)
    assert np.all(found[0, :3] > 2.0 * found[1, :3])


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
