"""Evolving with shared parameters, and its claims on made-up results."""

import numpy as np
import xarray as xr

from sandlot.studies.water.base import FOLLOWED
from sandlot.studies.water.shared import Shared


def test_one_that_overloads_its_motors_does_not_count():
    study = Shared(seconds=5.0)
    genes = np.array([[0.46, 1.0, 0.68], [0.45, 3.0, 0.35]])
    fair, overloaded = study.evaluate(next(study.jobs()), genes)
    assert fair > 0.0
    assert -1.0 <= overloaded < FOLLOWED - 1.0


def made_up(best, mean, genes, generations=60, replicates=4):
    """Results of `water.shared` that end at these values, nearly."""
    rng = np.random.default_rng(0)
    noise = 1.0 + 0.001 * rng.standard_normal((replicates, generations))
    shape = (replicates, generations, 3)
    return xr.Dataset(
        {
            "best": (("job", "generation"), best * noise),
            "mean": (("job", "generation"), mean * noise),
            "genes": (("job", "generation", "gene"), np.broadcast_to(genes, shape)),
            "champion": (("job", "gene"), np.broadcast_to(genes, (replicates, 3))),
        }
    )


def test_claims_hold_for_the_sources_numbers_and_not_for_others():
    study = Shared()
    own = "The source's best parameters swim 97.20 m."
    right = {claim.text: claim.holds for claim in study.claims(made_up(97.2, 80.9, (0.46, 2.0, 0.68)))}
    wrong = {claim.text: claim.holds for claim in study.claims(made_up(60.0, 59.0, (0.9, 1.0, 0.3)))}
    assert all(holds for text, holds in right.items() if text != own)
    assert not any(wrong[text] for text in wrong if "converge" in text or "97.20 m in" in text)
