"""The published results belong to the studies as they are now."""

import json
import shutil
from pathlib import Path

import pytest

from sandlot.errors import RunError
from sandlot.settings import build
from sandlot.studies import all_studies, find
from sandlot.studies.published import checksum, publish, published
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
    assert kept.pop("checksum") == checksum(kept, tmp_path / f"{PROBABILITIES}.png")
    assert kept == outcome.summary() | {"run_directory": f"runs/{PROBABILITIES}"}
    assert published(find("water.turn"), tmp_path) is None
    with pytest.raises(RunError, match="its settings are not those of"):  # it is smaller than by default
        published(find(PROBABILITIES), tmp_path)


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("settings", lambda summary: summary["settings"].pop("replicates")),
        ("no setting .gone.", lambda summary: summary["settings"].update(gone=3)),
        ("settings", lambda summary: summary["settings"].update(replicates=7)),
        ("jobs", lambda summary: summary.update(jobs=1)),
        ("outcomes", lambda summary: summary["outcomes"].reverse()),
        ("edited", lambda summary: summary["claims"][0].update(holds=not summary["claims"][0]["holds"])),
        ("edited", lambda summary: summary["claims"][0].update(measured="0.31")),
        ("edited", lambda summary: summary.update(digest="0" * 64)),
        ("edited", lambda summary: summary.pop("checksum")),
    ],
)
def test_a_result_that_is_outdated_or_edited_is_refused(tmp_path, key, change):
    file = copy_published(tmp_path)
    summary = json.loads(file.read_text())
    change(summary)
    file.write_text(json.dumps(summary))
    with pytest.raises(RunError, match=rf"{key}.*out of date; run: make docs-results"):
        published(find(PROBABILITIES), tmp_path)


def test_another_figure_is_refused(tmp_path):
    figure = copy_published(tmp_path).with_suffix(".png")
    assert published(find(PROBABILITIES), tmp_path)
    figure.write_bytes(figure.read_bytes() + b" ")
    with pytest.raises(RunError, match="its figure was edited"):
        published(find(PROBABILITIES), tmp_path)


def copy_published(folder):
    """Copy a published result; returns the path of its summary."""
    for suffix in ("json", "png"):
        shutil.copyfile(RESULTS / f"{PROBABILITIES}.{suffix}", folder / f"{PROBABILITIES}.{suffix}")
    return folder / f"{PROBABILITIES}.json"
