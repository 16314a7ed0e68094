"""The studies of what is conserved, volume, particles and energy: their claims about made-up results."""

import numpy as np
import pytest

from claims import assert_fails, bumped, changed, failing, scaled
from sandlot.errors import SandlotError
from sandlot.studies.terrain.energy import SAMPLE, Energy, peaks
from sandlot.studies.terrain.particles import Containment
from sandlot.studies.terrain.volume import CHECKS, Volume

IDEAL = {
    Volume: {"change": lambda job: np.full(CHECKS, 1e-16), "moved": lambda job: 1e-3},
    Containment: {"count": lambda job: 100.0, "lost": lambda job: np.zeros(20), "lowest": lambda job: np.full(20, 0.9)},
    Energy: {"energy": lambda job: np.tile(np.linspace(2.0, 1.0, 1 + round(Energy().seconds / SAMPLE)), (3, 1))},
}


@pytest.mark.parametrize("study", IDEAL)
def test_all_claims_hold_for_ideal_results(study):
    assert failing(study(), **IDEAL[study]) == []


@pytest.mark.parametrize(
    ("study", "changes", "words"),
    [
        (Volume, {"change": scaled(1e8)}, ["keeps its volume"]),
        (Volume, {"moved": scaled(0.0)}, ["keeps its volume"]),
        (Containment, {"lost": bumped(3, 1.0)}, ["no particle is lost"]),
        (Containment, {"lost": bumped(3, np.nan)}, ["no particle is lost"]),
        (Containment, {"lowest": bumped(3, -1.0)}, ["no particle is lost"]),
        (Containment, {"lowest": bumped(3, np.nan)}, ["no particle is lost"]),
        (Energy, {"energy": bumped(100, 1.5)}, ["more energy", "grow later"]),
        (Energy, {"energy": bumped(300, 0.3)}, ["grow later"]),
        (Energy, {"energy": scaled(np.nan, ground="rigid")}, ["more energy", "grow later"]),
    ],
)
def test_each_claim_can_fail(study, changes, words):
    assert_fails(study(), changed(IDEAL[study], **changes), words)


@pytest.mark.parametrize("study", [Volume, Containment])
def test_random_drives_depend_on_the_seed_and_the_job(study):
    keys = [(job.seed.entropy, job.seed.spawn_key) for seed in (0, 1) for job in study(seed=seed).jobs()]
    assert len(set(keys)) == len(keys)


def test_peaks_are_maxima_over_quarters_of_a_second():
    energy = np.zeros(76)
    energy[[1, 25, 26, 75]] = 1.0, 2.0, 5.0, 3.0
    assert peaks(energy).tolist() == [2.0, 5.0, 3.0]


def test_a_picture_of_a_bed_that_is_too_small_is_refused_before_the_first_job():
    Containment().check()
    with pytest.raises(SandlotError, match=r"the ground only 0\.4 x 0\.3 m"):
        Containment(picture={"bed": (0.4, 0.3, 0.04)}).check()
