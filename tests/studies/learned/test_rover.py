"""Each claim about the learned rovers that come with Sandlot can hold and fail."""

import numpy as np
import pytest

from claims import changed, failing, scaled
from sandlot.settings import build
from sandlot.studies import find

STUDY = build(find("learned.rover"), {"replicates": 2})
GOOD = {
    "error": lambda job: np.array([0.02, 0.04]),
    "distance": lambda job: np.array([0.7, 0.6]),
    "deviations": lambda job: np.array([1.0, 2.0]),
    "band": lambda job: 3.0,
    "speed": lambda job: 0.99,
    "turn": lambda job: 0.99,
    "footprints": lambda job: 0.97,
    "lost": lambda job: 1e-18,
}


def test_all_claims_can_hold():
    assert failing(STUDY, **GOOD) == []
    too_short = changed(GOOD, error=lambda job, values: np.array([values[0], np.nan]))
    assert failing(STUDY, **too_short) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"error": scaled(3.0, rover="wheeled", ground="soft")}, ["Wheeled rover, soft"]),
        ({"error": scaled(3.0, rover="tracked")}, ["soft", "mid", "LETE sand", "random", "all grounds"]),
        ({"speed": scaled(0.98, rover="wheeled", ground="mid")}, ["Wheeled rover: R^2 of the speed"]),
        ({"turn": scaled(0.98, rover="tracked", ground="soft")}, ["Tracked rover: R^2 of the turn"]),
        ({"footprints": scaled(0.9, rover="wheeled", ground="LETE sand")}, ["Wheeled rover: correlation"]),
        ({"lost": scaled(1e9, rover="tracked")}, ["Tracked rover: no soil"]),
        ({"deviations": scaled(2.0, rover="wheeled")}, ["Wheeled rover: its band"]),
    ],
)
def test_each_claim_can_fail(change, words):
    texts = failing(STUDY, **changed(GOOD, **change))
    assert len(texts) == len(words)
    for word in words:
        assert any(word in text for text in texts)
