"""The source's experiment: its claims about made-up results, a small run, and the clearance of its drives."""

import numpy as np
import pytest

from claims import synthetic
from sandlot.places.plans import load_plan
from sandlot.studies.indoor.arena import ERRORS, Arena
from sandlot.studies.indoor.shared import drives, errors, follow
from sandlot.studies.runner import run

BOTH = (2, 6)


def failing(**changes):
    """Texts of the claims that do not hold for made-up results."""
    study = Arena(replicates=3)
    outcomes = {
        "error": lambda job: np.full(BOTH, 0.5 if job["method"] == "sectors" else 0.2),
        "standard_error": lambda job: np.full(BOTH, 0.02),
        "spearman": lambda job: np.full(BOTH, 0.95),
        "guess": lambda job: np.full(BOTH, 1e-6),
        "thinnest": lambda job: np.full(3, 0.5),
    }
    claims = study.claims(synthetic(study, **outcomes | changes))
    assert len(claims) == 9
    return [claim.text for claim in claims if not claim.holds]


def one(value, good, where=(0, 2)):
    """An array of good values except at one index."""
    values = np.full(BOTH, good)
    values[where] = value
    return values


def test_all_claims_hold_for_likely_results():
    assert failing() == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"error": lambda job: one(0.7, 0.2, (1, 0)) if job["method"] == "sectors" else np.full(BOTH, 0.2)},
            ["drive 2"],
        ),
        ({"error": lambda job: np.full(BOTH, 0.34)}, ["headings", "local"]),
        ({"error": lambda job: np.full(BOTH, 0.2 + 0.2 * (job["replicate"] == 2))}, ["headings", "local"]),
        ({"spearman": lambda job: one(0.1, 0.95, (1, 3))}, ["correlate", "Headings", "Local"]),
        ({"spearman": lambda job: one(0.85, 0.95)}, ["Headings", "Local"]),
        ({"guess": lambda job: one(0.2, 0.001)}, ["random guesses"]),
        ({"thinnest": lambda job: np.array([0.5, 0.1, 0.5])}, ["equally often"]),
    ],
)
def test_each_claim_can_fail(changes, words):
    texts = failing(**changes)
    assert len(texts) == len(words)
    assert all(word in text for word, text in zip(words, texts, strict=True))


def test_the_best_error_of_the_source_is_the_mean_of_table_1():
    assert ERRORS.mean(1).min() == pytest.approx(0.3367, abs=1e-4)


def test_validation_drives_keep_clear_of_walls():
    plan = load_plan("arena")
    for poses in drives(plan):
        assert plan.clearance(poses[:, :2]).min() > 0.3
        assert poses.shape == (240, 3)


def test_poses_are_evenly_spaced_and_face_forward():
    angle = np.linspace(0.0, 2.0 * np.pi, 2001)
    poses = follow(2.0 * np.column_stack([np.cos(angle), np.sin(angle)]), 50, 0.1)
    steps = np.diff(poses[:, :2], axis=0)
    np.testing.assert_allclose(np.hypot(*steps.T), 0.1, rtol=1e-3)
    ahead = np.column_stack([np.cos(poses[:-1, 2]), np.sin(poses[:-1, 2])])
    assert ((steps * ahead).sum(1) > 0.099).all()


def test_errors_are_computed_per_segment_without_missing_readings():
    actual = np.array([[1.0, 2.0], [2.0, np.nan], [3.0, 5.0], [4.0, 6.0]])
    wrong, standard, spearman = errors(actual + np.array([0.1, -0.2]), actual)
    np.testing.assert_allclose(wrong, [0.1, 0.2])
    np.testing.assert_allclose(standard, 0.0, atol=1e-12)
    np.testing.assert_allclose(spearman, 1.0)


def test_it_runs_and_draws(tmp_path):
    study = Arena(samples=150, validation=20, replicates=2, methods=("sectors", "local"))
    outcome = run(study, tmp_path / "run")
    assert outcome.results["error"].shape == (4, 2, 6)
    assert np.isfinite(outcome.results["error"].values).all()
    study.figure(outcome.results).savefig(tmp_path / "figure.png")
    scenes = list(study.scenes(outcome.results))
    assert len(scenes) == 5
    for k, scene in enumerate(scenes):
        scene.figure.savefig(tmp_path / f"{k}.png")
    assert "L75" in study.files(outcome.results)["equations.txt"]
    assert len(study.comparisons(outcome.results)) == 1
    # All methods share a log, and so its histogram.
    thinnest = outcome.results["thinnest"].values
    np.testing.assert_array_equal(thinnest[:2], thinnest[2:])
