"""A run that is smaller than its study leaves claims that fail undecided; one of full size does not."""

import pytest

from sandlot.studies.base import VERDICTS, Claim, in_number
from sandlot.studies.leveling.curves import Probabilities
from sandlot.studies.terrain.steps import Steps
from sandlot.studies.verdicts import judge, smaller

CLAIMS = [Claim("It holds.", 1.0, 1.0, True), Claim("It does not.", 1.0, 2.0, False)]


def verdicts(study):
    return [claim.verdict for claim in judge(study, CLAIMS)]


def test_a_run_of_full_size_decides():
    assert verdicts(Probabilities()) == ["holds", "does not hold"]


@pytest.mark.parametrize("same", [{"replicates": 1000}, {"seed": 7}, {"world": {"agents": 64}}])
def test_a_larger_run_or_another_seed_decides(same):
    assert verdicts(Probabilities(**same)) == ["holds", "does not hold"]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"replicates": 2}, "replicates 2 of 30"),
        ({"probabilities": (0.1, 0.3, 0.5)}, "probabilities 3 of 9"),
        ({"world": {"agents": 1}}, "world.agents 1 of 8"),
    ],
)
def test_a_smaller_run_does_not_decide_what_fails(change, why):
    study = Probabilities(**change)
    assert smaller(study) == [why]
    assert verdicts(study) == ["holds", "undecided"]
    assert judge(study, CLAIMS)[1].undecided == f"a smaller run: {why}"


def test_a_finer_step_is_not_a_smaller_run():
    assert smaller(Steps(step=0.5 * Steps().step)) == []


def test_a_study_may_say_itself_what_is_undecided():
    claim = Claim("It does not.", 1.0, 2.0, False, undecided="too few flats")
    assert judge(Probabilities(replicates=2), [claim]) == [claim]


def test_claims_are_counted_in_words():
    assert [in_number(verdict, 1) for verdict in VERDICTS] == ["1 holds", "1 does not hold", "1 undecided"]
    assert [in_number(verdict, 5) for verdict in VERDICTS] == ["5 hold", "5 do not hold", "5 undecided"]
