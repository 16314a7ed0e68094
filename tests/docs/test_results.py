"""The published results belong to the studies as they are now."""

import json
import shutil
from pathlib import Path

import pytest

from sandlot.errors import RunError
from sandlot.settings import build
from sandlot.studies import all_studies, find
from sandlot.studies.published import publish, published
from sandlot.studies.runner import run

RESULTS = Path(__file__).parents[2] / "docs/results"
PROBABILITIES = "leveling.probabilities"


@pytest.mark.parametrize("name", all_studies())
def test_published_results_are_up_to_date(name):
    published(all_studies()[name], RESULTS)


def test_every_published_result_has_its_study():
    assert {file.stem for file in RESULTS.glob("*.json")} <= set(all_studies())


def test_what_is_published_is_the_run(tmp_path):
    study = build(find(PROBABILITIES), {"world": {"shape": [10, 10]}, "replicates": 2})
    outcome = run(study, tmp_path / "run")
    publish(outcome, tmp_path)
    assert (tmp_path / f"{PROBABILITIES}.png").stat().st_size > 1000
    kept = json.loads((tmp_path / f"{PROBABILITIES}.json").read_text())
    assert kept == outcome.summary() | {"run_directory": f"runs/{PROBABILITIES}"}
    assert published(find("water.turn"), tmp_path) is None
    with pytest.raises(RunError, match="its settings are not those of"):  # it is smaller than by default
        published(find(PROBABILITIES), tmp_path)


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("settings", lambda summary: summary["settings"].pop("replicates")),
        ("settings", lambda summary: summary["settings"].update(gone=3)),
        ("settings", lambda summary: summary["settings"].update(replicates=7)),
        ("jobs", lambda summary: summary.update(jobs=1)),
        ("outcomes", lambda summary: summary["outcomes"].reverse()),
    ],
)
def test_an_outdated_result_is_refused(tmp_path, key, change):
    file = tmp_path / f"{PROBABILITIES}.json"
    shutil.copyfile(RESULTS / file.name, file)
    summary = json.loads(file.read_text())
    change(summary)
    file.write_text(json.dumps(summary))
    with pytest.raises(RunError, match=r"out of date; run: make docs-results"):
        published(find(PROBABILITIES), tmp_path)
