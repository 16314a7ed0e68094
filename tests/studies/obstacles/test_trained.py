"""The study of the trained policy in the reference."""

import numpy as np
import pytest

from claims import assert_fails, changed, failing, synthetic
from sandlot.studies.obstacles import trained
from sandlot.studies.obstacles.trained import DEPTHS, HIGH, Trained
from sandlot.studies.obstacles.trials import OVERTURNED, PASSED, STUCK, TYPICAL_RISERS, TYPICAL_TREADS

STUDY = Trained()


def depths(job):
    return np.array([DEPTHS[(job["block"] * STUDY.block + k) % len(DEPTHS)] for k in range(STUDY.block)])


IDEAL = {
    "across": depths,
    "level": lambda job: np.full(STUDY.block, HIGH),
    **{name: lambda job: np.full(STUDY.block, float(PASSED)) for name in ("fast", "reference")},
}


def ends(kind, code, number, blocks=1):
    """The first runs of some blocks of a kind end otherwise."""

    def change(job, x):
        here = job["set"] == kind and job["block"] < blocks
        return np.where(np.arange(STUDY.block) < number, float(code), x) if here else x

    return change


def test_a_policy_that_passes_everything_holds():
    assert failing(STUDY, **IDEAL) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (ends("stairs", STUCK, 3), ["typical staircases"]),
        (ends("stairs", STUCK, 2), []),
        (ends("boxes", OVERTURNED, 1), ["boxes of 45 cm"]),
        (ends("rubble", OVERTURNED, 10), []),
        (ends("rubble", OVERTURNED, 11), ["ends on its back", "crosses"]),
        (ends("rubble", STUCK, 11), ["crosses"]),
    ],
    ids=["3 stairs", "2 stairs", "a box", "10 backs", "11 backs", "11 stuck"],
)
def test_each_claim_can_fail(change, words):
    assert_fails(STUDY, changed(IDEAL, reference=change), words)


def test_sizes_are_typical_and_every_depth_is_tried():
    rng = np.random.default_rng(0)
    sizes = np.array([trained._size("stairs", k, rng) for k in range(50)])
    assert (sizes >= (TYPICAL_TREADS[0], TYPICAL_RISERS[0])).all()
    assert (sizes <= (TYPICAL_TREADS[1], TYPICAL_RISERS[1])).all()
    tried = [trained._size("boxes", k, rng) for k in range(STUDY.starts * len(DEPTHS))]
    assert [tried.count((depth, HIGH)) for depth in DEPTHS] == [STUDY.starts] * len(DEPTHS)
    assert min(DEPTHS) == 0.3


def test_a_small_run_has_a_figure():
    study = Trained(stairs=1, starts=1, rubble=1, block=1)
    job = next(iter(study.jobs()))
    found = study.run(job)
    assert found["reference"].shape == (1,)
    assert TYPICAL_RISERS[0] <= found["level"][0] <= TYPICAL_RISERS[1]
    assert len(STUDY.figure(synthetic(STUDY, **IDEAL)).axes) == 3
