"""Kept results are what the present code gives: cheap studies, run at full size again, have the same digest."""

import json
from pathlib import Path

import pytest

from sandlot.studies import find
from sandlot.studies.catalogue import catalogue
from sandlot.studies.runner import run

RESULTS = Path(__file__).parents[2] / "docs/results"
CHEAP = 20.0
"""Studies whose kept run took less than this are run again [s]."""
NAMES = [name for name, each in catalogue().items() if each.seconds is not None and each.seconds < CHEAP]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_kept_result_is_reproduced(name, tmp_path):
    kept = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    assert run(find(name)(), tmp_path / name).digest == kept["digest"]
