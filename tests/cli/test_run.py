"""The commands ``run``, ``report``, ``studies`` and ``worlds``, for people and for programs."""

import re

import pytest

from commands import PROBABILITIES, SMALL, assert_one_clear_line
from sandlot.studies import all_studies
from sandlot.studies.runner import load
from sandlot.worlds import WORLDS
from sandlot.worlds import load as load_world


def test_run_for_programs(sandlot_, tmp_path):
    (tmp_path / "mine.toml").write_text("replicates = 7\nseed = 5\n[world]\nagents = 4\n")
    said = sandlot_("run", PROBABILITIES, "--settings", "mine.toml", *SMALL, "--workers", 1, "--json")
    found = said.json()
    assert found["study"] == PROBABILITIES
    assert found["source"] == "Cook 2017, figure 4.2"
    settings = found["settings"]
    assert (settings["replicates"], settings["seed"], settings["probabilities"]) == (2, 5, [0.5, 0.3, 0.1])
    assert (settings["world"]["agents"], settings["world"]["shape"]) == (4, [12, 12])
    assert found["seed"] == 5
    assert found["jobs"] == 6
    assert found["run_directory"] == f"runs/{PROBABILITIES}"
    assert found["wall_time"] > 0.0
    assert re.fullmatch("[0-9a-f]{64}", found["digest"])
    assert len(found["claims"]) == 2
    for claim in found["claims"]:
        assert claim["text"]
        assert {type(claim[name]) for name in ("source", "measured")} <= {str, float, int}
        assert type(claim["holds"]) is bool
        assert claim["verdict"] == ("holds" if claim["holds"] else "undecided"), "fewer replicates than the study has"
    assert found["claims"][1]["source"] == 0.3

    outcome = load(tmp_path / found["run_directory"])
    assert outcome.digest == found["digest"]
    assert (outcome.directory / "index.html").is_file()

    again = sandlot_("run", PROBABILITIES, "--settings", "mine.toml", *SMALL, "--workers", 1, "--json")
    assert again.json() == found, "nothing was left to do"
    assert sandlot_("report", found["run_directory"], "--json").json() == found

    other = sandlot_("run", PROBABILITIES, *SMALL, "--workers", 1)
    assert_one_clear_line(other, f"runs/{PROBABILITIES} holds a run with", "--out")
    assert load(tmp_path / found["run_directory"]).digest == outcome.digest


def test_run_and_report_for_people(sandlot_, tmp_path):
    said = sandlot_("run", PROBABILITIES, *SMALL, "--workers", 1, "--out", "here")
    assert said.status == 0
    claims = load(tmp_path / "here").claims
    for claim in claims:
        assert claim.text in " ".join(said.out.split())
        assert f"source: {claim.source}; measured: {claim.measured}" in " ".join(said.out.split())
        assert claim.verdict in said.out
    assert "does not hold" not in said.out, "the run is smaller than the study"
    assert "6 jobs, about" in said.err
    assert "here/index.html" in said.out
    assert "6/6" in said.err, "a bar on standard error"
    (tmp_path / "here/index.html").unlink()
    report = sandlot_("report", "here")
    assert (report.status, report.out) == (0, said.out)
    assert (tmp_path / "here/index.html").is_file()


def test_studies_and_how_they_ended(sandlot_):
    before = sandlot_("studies", "--json").json()
    names = [row["study"] for row in before]
    assert names == list(all_studies())
    assert names == sorted(names, key=lambda name: name.partition(".")[0]), "by world, alphabetically"
    indoor = [name for name in names if name.startswith("indoor.")]
    assert indoor[:2] == ["indoor.arena", "indoor.rivals"], "for each world as in the source"
    for row in before:
        assert row["source"] == all_studies()[row["study"]].source
        assert row["question"].endswith("?")
        assert row["state"] == "never run"
        assert row["run_directory"] is None
    assert "never run" in sandlot_("studies").out
    group = sandlot_("studies", "indoor")
    assert all((name in group.out) == (name in indoor) for name in names)
    assert [row["study"] for row in sandlot_("studies", "indoor", "--json").json()] == indoor

    assert sandlot_("run", PROBABILITIES, *SMALL, "--workers", 1).status == 0
    after = {row["study"]: row for row in sandlot_("studies", "--json").json()}
    mine = after.pop(PROBABILITIES)
    assert mine["state"] == "finished"
    assert mine["run_directory"] == f"runs/{PROBABILITIES}"
    assert (mine["done"], mine["jobs"], mine["claims"]) == (6, 6, 2)
    assert {row["state"] for row in after.values()} == {"never run"}
    shown = sandlot_("studies").out
    assert f"{mine['holding']} of 2 claims hold, {mine['undecided']} undecided*" in shown
    assert "* with other settings than the default" in shown
    assert all(name in shown for name in all_studies())
    assert {row["state"] for row in sandlot_("studies", "--runs", "elsewhere", "--json").json()} == {"never run"}


def test_worlds(sandlot_):
    rows = sandlot_("worlds", "--json").json()
    assert [row["world"] for row in rows] == list(WORLDS)
    for row in rows:
        assert row["id"].startswith("sandlot/")
        assert row["fidelities"]
        assert set(row["fidelities"]) <= {"reference", "fast", "learned"}
        assert row["about"]
    shown = sandlot_("worlds").out
    assert all(row["id"] in shown for row in rows)


@pytest.mark.parametrize("name", WORLDS)
def test_a_world_in_full(sandlot_, name):
    found = sandlot_("worlds", name, "--json").json()
    (listed,) = (row for row in sandlot_("worlds", "--json").json() if row["world"] == name)
    assert listed.items() <= found.items()
    assert found["controllers"] == list(load_world(name)().controllers())
    assert found["controller_files"] == (name in ("avoid", "obstacles", "water"))
    settings = {each["key"]: each for each in found["settings"]}
    assert {key.partition(".")[0] for key in settings} == set(load_world(name).Settings.model_fields)
    assert all(each["allowed"] and each["default"] and each["meaning"] for each in found["settings"])
    shown = sandlot_("worlds", name).out
    assert all(f"\n{key} " in shown for key in settings)
    assert f"controllers: {found['controllers'][0]} (default), " in shown
    assert ("or a file" in shown) == (name in ("avoid", "obstacles", "water"))


def test_the_list_of_studies_fits_a_narrow_terminal(sandlot_, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = sandlot_("studies").out.splitlines()
    assert all(len(line) <= 80 for line in lines)
    for name, study in all_studies().items():
        first = next(k for k, line in enumerate(lines) if line.split()[:1] == [name])
        row = " ".join(lines[first : first + 8])
        assert all(word in row for word in study.question().split()[:5]), "questions are wrapped and not cut"


def test_a_study_in_full(sandlot_):
    study = all_studies()["leveling.steepness"]
    found = sandlot_("studies", "leveling.steepness", "--json").json()
    assert (found["question"], found["about"], found["source"]) == (study.question(), study.about(), study.source)
    assert (found["state"], found["last_run"]) == ("never run", "never run")
    assert {each["key"].partition(".")[0] for each in found["settings"]} == set(study.model_fields)
    shown = sandlot_("studies", "leveling.steepness").out
    assert study.question() in shown
    assert f"source: {study.source}" in shown
    assert all(f"\n{each['key']} " in shown for each in found["settings"])
    assert_one_clear_line(sandlot_("studies", "leveling.steepnes"), "did you mean 'leveling.steepness'?")
