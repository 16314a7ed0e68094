"""Whether a run may judge a claim: a run that is smaller than the study leaves claims that fail undecided."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sandlot.studies.base import Claim, Study

NOT_SIZES = {"seed", "step", "spacing", "interval", "resolution", "tolerance"}
"""Settings of which a lower number does not make a run smaller."""


def judge(study: Study, claims: Sequence[Claim]) -> list[Claim]:
    """Mark claims that fail as undecided if the study was run with smaller settings than its own.

    A test may be unable to succeed with so few replicates. A claim that holds in a smaller run is shown as it is.
    """
    reasons = smaller(study)
    if not reasons:
        return list(claims)
    why = f"a smaller run: {', '.join(reasons)}"
    return [each if each.holds or each.undecided else replace(each, undecided=why) for each in claims]


def smaller(study: Study) -> list[str]:
    """Settings that are smaller than the defaults: lower numbers, or fewer entries; such as ``replicates 2 of 30``."""
    return list(_compare("", study.model_dump(mode="json"), type(study)().model_dump(mode="json")))


def _compare(name: str, mine: Any, usual: Any) -> list[str]:
    if isinstance(mine, Mapping) and isinstance(usual, Mapping):
        parts = (_compare(f"{name}.{key}" if name else key, mine[key], usual[key]) for key in mine if key in usual)
        return [each for part in parts for each in part]
    if isinstance(mine, list) and isinstance(usual, list):
        return [f"{name} {len(mine)} of {len(usual)}"] if len(mine) < len(usual) else []
    if name.rpartition(".")[2] in NOT_SIZES or isinstance(mine, bool) or isinstance(usual, bool):
        return []
    if isinstance(mine, int | float) and isinstance(usual, int | float) and mine < usual:
        return [f"{name} {mine:,} of {usual:,}"]
    return []
