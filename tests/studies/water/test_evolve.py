"""The study of gaits with separate parameters for every joint."""

import numpy as np
import pytest

from claims import failing
from sandlot.studies.water.evolve import Evolve, circular_mean


def test_swimming_backwards_counts_as_negative():
    study = Evolve(seconds=4.0)
    forwards = np.tile([0.6, 0.5, 2.0 * np.pi / 7.0], 7)
    # Phases count modulo a turn: from the other side they run backwards.
    backwards = np.tile([0.6, 0.5, 2.0 * np.pi - 2.0 * np.pi / 7.0], 7)
    ahead, astern = study.evaluate(next(study.jobs()), np.array([forwards, backwards]))
    assert ahead > 0.2
    assert astern < -0.2


def test_angles_on_both_sides_of_zero_have_a_mean_of_zero():
    mean, length, p = circular_mean(np.array([0.2, 2.0 * np.pi - 0.2] * 10))
    assert np.sin(mean) == pytest.approx(0.0, abs=1e-9)
    assert np.cos(mean) == pytest.approx(1.0)
    assert length == pytest.approx(np.cos(0.2))
    assert p < 1e-6


def test_the_p_value_of_uniform_angles_is_uniform():
    angles = np.random.default_rng(0).uniform(0.0, 2.0 * np.pi, (2000, 40))
    below = np.mean([circular_mean(each)[2] < 0.05 for each in angles])
    assert below == pytest.approx(0.05, abs=0.015)


def test_phases_of_pi_are_the_same_command_as_in_the_source():
    study = Evolve()
    joints = study.snake.joints
    times, index = np.linspace(0.0, 1.0, 50)[:, None], np.arange(joints)
    ours = np.array([study.gait(np.tile([0.6, 2.4, np.pi], joints)).targets(t, joints) for t in times[:, 0]])
    source = 0.6 * np.sin(2.0 * np.pi * 2.4 * times + (joints - 1 - index) * np.pi)
    np.testing.assert_allclose(ours, source, atol=1e-9)


@pytest.mark.parametrize(
    ("spread", "centre", "holds"),
    [(0.5, np.pi, True), (0.5, 1.2 * np.pi, False), (100.0, np.pi, False)],
    ids=["around pi", "around another phase", "anywhere"],
)
def test_the_claim_about_phases_can_hold_and_fail(spread, centre, holds):
    study = Evolve(replicates=6)
    rng = np.random.default_rng(0)

    def genes(job):
        rows = np.tile([0.5, 2.4, 0.0], (7, 1))
        rows[:, 2] = (centre + spread * rng.standard_normal(7)) % (2.0 * np.pi)
        rows[0, 2] = 0.0  # of the head, where it has no effect
        return rows.ravel()

    failed = failing(
        study,
        best=lambda job: np.full(60, 50.0),
        mean=lambda job: np.full(60, 50.0),
        champion=genes,
        genes=lambda job: np.zeros((60, 21)),
    )
    assert ("Phases lie around pi." not in failed) is holds
    assert "Frequencies lie around 2.4 Hz." not in failed
