"""The command: what it prints for people and for programs, and how it takes a mistake."""

import hashlib
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import typer

import sandlot
from sandlot import recordings
from sandlot.cli import main
from sandlot.cli.app import app
from sandlot.errors import SandlotError
from sandlot.robots.swimmers import Swimmers
from sandlot.studies import all_studies, tour
from sandlot.studies.runner import load
from sandlot.worlds import WORLDS
from sandlot.worlds import load as load_world
from sandlot.worlds.water import Water

PROGRAM = Path(sys.executable).with_name("sandlot")
COMMANDS = ("tour", "worlds", "studies", "run", "report", "record", "import", "export", "gap", "shape", "fit")
PROBABILITIES = "leveling.probabilities"
SMALL = ["--set", "world.shape=[12,12]", "--set", "replicates=2", "--set", "probabilities=[0.5,0.3,0.1]"]


@dataclass(frozen=True)
class Said:
    status: int
    out: str
    err: str

    def json(self):
        assert self.status == 0, self.err
        return json.loads(self.out)


@pytest.fixture
def sandlot_(monkeypatch, capsys, tmp_path):
    """The command, in this process and in an empty directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")

    def call(*arguments: object) -> Said:
        monkeypatch.setattr(sys, "argv", ["sandlot", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = (re.sub(r"\x1b\[[0-9;]*m", "", text) for text in capsys.readouterr())
        return Said(ended.value.code or 0, out, err)

    return call


def assert_one_clear_line(said: Said, *words: str) -> None:
    assert said.status == 2
    assert said.out == ""
    assert len(said.err.splitlines()) == 1, said.err
    assert said.err.startswith("error: ")
    assert all(word in said.err for word in words), said.err


def test_a_misspelt_setting_gets_one_line_from_the_program():
    environment = {key: value for key, value in os.environ.items() if key != "FORCE_COLOR"}
    done = subprocess.run(
        [PROGRAM, "run", PROBABILITIES, "--set", "replicats=3"],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
        check=False,
    )
    assert_one_clear_line(Said(done.returncode, done.stdout, done.stderr), "'replicats'", "did you mean 'replicates'?")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", PROBABILITIES, "--set", "replicats=3"], ["'replicats'", "did you mean 'replicates'?"]),
        (["run", PROBABILITIES, "--set", "replicates=-1"], ["replicates=-1", "allowed: a whole number at least 1"]),
        (["run", PROBABILITIES, "--set", "replicates=many"], ["replicates=many", "a whole number at least 1"]),
        (["run", PROBABILITIES, "--set", "world.agents=0"], ["world.agents=0", "a whole number at least 1"]),
        (["run", PROBABILITIES, "--set", "world.flatness=[b]"], ["world.flatness=[b]", "one of range, gradient"]),
        (["run", PROBABILITIES, "--set", "replicates"], ["--set replicates", "key=value"]),
        (["run", PROBABILITIES, "--settings", "none.toml"], ["none.toml", "No such file"]),
        (["run", "leveling.probability"], ["'leveling.probability'", f"did you mean '{PROBABILITIES}'?"]),
        (["report", "nowhere"], ["nowhere", "sandlot run"]),
        (["record", "levelling"], ["'levelling'", "did you mean 'leveling'?"]),
        (["record", "leveling", "--fidelity", "slow"], ["fidelity=slow", "only fast"]),
        (["record", "leveling", "--controller", "memetik"], ["'memetik'", "did you mean 'memetic'?"]),
        (["record", "leveling", "--set", "agents=2000"], ["2000", "1024"]),
        (["record", "leveling", "--controller", "no.toml"], ["no controller file no.toml", "memetic"]),
        (["record", "water", "--controller", "models/no.json"], ["no controller file models/no.json"]),
        (["record", "water", "--set", "snake.links=2"], ["snake.links=2", "at least 3"]),
        (["worlds", "terain"], ["'terain'", "did you mean 'terrain'?"]),
        (["gap", "leveling"], ["leveling has only one fidelity"]),
        (["gap", "water", "--set", "fidelity=fast"], ["leave fidelity=fast out"]),
        (["gap", "water", "--controller", "swm"], ["'swm'", "did you mean 'swim'?"]),
    ],
)
def test_a_mistake_gets_one_clear_line(sandlot_, tmp_path, arguments, words):
    assert_one_clear_line(sandlot_(*arguments), *words)
    assert not list(tmp_path.iterdir()), "a mistake leaves nothing behind"


@pytest.mark.parametrize("where", ["before", "after"])
def test_debug_shows_where_an_error_came_from(monkeypatch, where):
    arguments = ["run", PROBABILITIES, "--set", "replicats=3"]
    arguments = ["--debug", *arguments] if where == "before" else [*arguments, "--debug"]
    monkeypatch.setattr(sys, "argv", ["sandlot", *arguments])
    with pytest.raises(SandlotError, match="replicats"):
        main()


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["run", PROBABILITIES, "--workers", "0"], "--workers"),
        (["run", PROBABILITIES, "--workers", "two"], "--workers"),
        (["run", PROBABILITIES, "--backend", "rays"], "--backend"),
        (["run", PROBABILITIES, "--wokers", "2"], "--workers"),
        (["record", "leveling", "--steps", "0"], "--steps"),
        (["rnu"], "run"),
        (["run"], "STUDY"),
    ],
)
def test_a_wrong_option_is_named(sandlot_, tmp_path, arguments, word):
    said = sandlot_(*arguments)
    assert_one_clear_line(said)
    assert word.lower() in said.err.lower()
    assert not list(tmp_path.iterdir())


def test_a_failing_job_gets_one_clear_line_below_the_bar(sandlot_, tmp_path):
    (tmp_path / "broken.png").write_text("not an image")
    said = sandlot_("run", PROBABILITIES, "--workers", "1", *SMALL, "--set", "world.terrain=broken.png")
    assert said.status == 2
    assert said.out == ""
    *above, line = said.err.splitlines()
    assert line.startswith("error: job ")
    assert f"of {PROBABILITIES} (probability=0." in line
    assert "broken.png" in line
    assert [each.split()[0] for each in above] == [PROBABILITIES], "the bar, and nothing else"


def test_stopped_by_ctrl_c_it_says_how_to_go_on(sandlot_, tmp_path, monkeypatch):
    study = all_studies()[PROBABILITIES]
    honest = study.run

    def interrupted(self, job):
        if job.index == 2:
            raise KeyboardInterrupt
        return honest(self, job)

    monkeypatch.setattr(study, "run", interrupted)
    said = sandlot_("run", PROBABILITIES, *SMALL, "--workers", 1)
    assert (said.status, said.out) == (130, "")
    assert "Stopped." in said.err
    assert "Traceback" not in said.err
    monkeypatch.setattr(study, "run", honest)
    (mine,) = (row for row in sandlot_("studies", "--json").json() if row["study"] == PROBABILITIES)
    assert (mine["state"], mine["done"], mine["jobs"]) == ("unfinished", 2, 6)
    assert sandlot_("run", PROBABILITIES, *SMALL, "--workers", 1, "--json").json()["jobs"] == 6


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
        assert claim.text in said.out
        assert f"source: {claim.source}; measured: {claim.measured}" in said.out
    assert said.out.count("does not hold") == sum(not claim.holds for claim in claims)
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
    assert names[:2] == ["accurate.arena", "accurate.rivals"], "for each world as in the source"
    for row in before:
        assert row["source"] == all_studies()[row["study"]].source
        assert row["question"].endswith("?")
        assert row["state"] == "never run"
        assert row["run_directory"] is None
    assert "never run" in sandlot_("studies").out

    assert sandlot_("run", PROBABILITIES, *SMALL, "--workers", 1).status == 0
    after = {row["study"]: row for row in sandlot_("studies", "--json").json()}
    mine = after.pop(PROBABILITIES)
    assert mine["state"] == "finished"
    assert mine["run_directory"] == f"runs/{PROBABILITIES}"
    assert (mine["done"], mine["jobs"], mine["claims"]) == (6, 6, 2)
    assert {row["state"] for row in after.values()} == {"never run"}
    shown = sandlot_("studies").out
    assert f"{mine['holding']} of 2 claims hold" in shown
    assert "(other settings)" in shown
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
    assert found["controller_files"] == (name == "water")
    settings = {each["key"]: each for each in found["settings"]}
    assert {key.partition(".")[0] for key in settings} == set(load_world(name).Settings.model_fields)
    assert all(each["allowed"] and each["default"] and each["meaning"] for each in found["settings"])
    shown = sandlot_("worlds", name).out
    assert all(f"\n{key} " in shown for key in settings)
    assert f"controllers: {found['controllers'][0]} (if none is named), " in shown
    assert ("or a file" in shown) == (name == "water")


def test_record_says_where_its_settings_are_listed(sandlot_):
    assert "sandlot worlds WORLD" in sandlot_("record", "--help").out


def files(directory: Path) -> dict[str, str]:
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in directory.rglob("*")
        if path.is_file()
    }


def test_record(sandlot_, tmp_path):
    wanted = ["record", "leveling", "--controller", "memetic", "--steps", 30, "--seed", 4, "--set", "agents=3"]
    facts = sandlot_(*wanted, "--json").json()
    assert facts == {
        "world": "leveling",
        "controller": "memetic",
        "seed": 4,
        "steps": 30,
        "episodes": 1,
        "exploded": 0,
        "frames": 31,
        "recording": "recordings/leveling",
    }
    with recordings.open(tmp_path / "recordings/leveling") as recording:
        assert recording.sizes["time"] == 31
        assert recording.sizes["agent"] == 3
        assert recording.attrs["seed"] == 4
        assert recordings.settings(recording)["agents"] == 3
        assert recording["heights"].attrs["units"] == "unit"
        first = recording.load()

    before = files(tmp_path)
    assert_one_clear_line(sandlot_(*wanted), "recordings/leveling", "already exists")
    assert files(tmp_path) == before

    said = sandlot_(*wanted, "--out", "second")
    assert (said.status, "second" in said.out, "31 frames" in said.out) == (0, True, True)
    with recordings.open(tmp_path / "second") as second:
        np.testing.assert_array_equal(second["heights"], first["heights"])
        np.testing.assert_array_equal(second["action"], first["action"])


def test_record_tells_of_explosions(sandlot_, tmp_path, monkeypatch):
    wanted = ["record", "water", "--controller", "swim", "--steps", 7, "--seed", 5, "--set", "snake.links=4"]
    assert "exploded" not in sandlot_(*wanted, "--out", "sound").out
    monkeypatch.setattr(Swimmers, "exploded", property(lambda self: self.time > 0.05))
    said = sandlot_(*wanted)
    assert said.status == 0
    assert "2 of 3 episodes exploded" in said.out
    assert "seed 5" in said.out
    assert "snake.links=4" in said.out
    assert "fidelity=" in said.out
    facts = sandlot_(*wanted, "--out", "again", "--json").json()
    assert (facts["episodes"], facts["exploded"], facts["seed"]) == (3, 2, 5)


def test_record_takes_settings_from_a_file(sandlot_, tmp_path):
    (tmp_path / "world.toml").write_text("shape = [6, 7]\nagents = 2\n")
    said = sandlot_("record", "leveling", "--settings", "world.toml", "--set", "agents=1", "--steps", 2)
    assert said.status == 0
    with recordings.open(tmp_path / "recordings/leveling") as recording:
        assert recording["heights"].shape == (3, 6, 7)
        assert recording.sizes["agent"] == 1


GAIT = """
kind = "gait"
links = 6
joints = 5
amplitude = 0.5
frequency = 1.5
phase = 0.8
"""


def test_record_and_gap_take_controllers_from_files(sandlot_, tmp_path):
    (tmp_path / "gait.toml").write_text(GAIT)
    body = ["--set", "snake.links=6", "--steps", 60, "--controller", "gait.toml"]
    assert sandlot_("record", "water", *body, "--json").json()["controller"] == "gait.toml"
    said = sandlot_("gap", "water", *body, "--episodes", 2, "--json").json()
    assert said["fidelities"] == ["fast", "reference"]
    rows = {row["outcome"]: row for row in said["gaps"]}
    distance = rows["distance"]
    assert (distance["units"], distance["fidelity"], distance["better_fidelity"]) == ("m", "fast", "reference")
    assert distance["gap"] == pytest.approx(distance["better"] - distance["mean"])
    assert distance["episodes"] == 2
    assert rows["reach_time"]["gap"] is None
    assert np.shape(said["outcomes"]["speed"]) == (2, 2)

    shown = sandlot_("gap", "water", *body, "--episodes", 2)
    assert shown.status == 0
    assert "240/240" in shown.err
    line = next(line.split() for line in shown.out.splitlines() if line.startswith("distance"))
    assert line[:3] == ["distance", "m", f"{distance['mean']:.4g}"]
    assert_one_clear_line(
        sandlot_("record", "water", "--controller", "gait.toml", "--out", "other"), "6 links", "17 links"
    )
    assert not (tmp_path / "other").exists()


def test_gap_names_what_exploded(sandlot_, monkeypatch):
    monkeypatch.setattr(Water, "exploded", property(lambda self: self.settings.fidelity == "reference"))
    said = sandlot_("gap", "water", "--set", "snake.links=6", "--controller", "swim", "--steps", 5, "--episodes", 2)
    assert said.status == 0
    assert "2 of 2 simulations at reference exploded and are not counted: seeds " in said.out
    assert "snake.links=6" in said.out


def test_the_tour_writes_a_page_about_every_stop(sandlot_, tmp_path, monkeypatch):
    small = {"world": {"shape": (12, 12)}, "replicates": 2}
    monkeypatch.setattr(tour, "STOPS", {PROBABILITIES: small, "leveling.memetic": small | {"terrains": 1}})
    said = sandlot_("tour", "--workers", 1)
    assert said.status == 0
    assert "runs/tour/index.html" in said.out
    page = (tmp_path / "runs/tour/index.html").read_text(encoding="utf-8")
    for name in tour.STOPS:
        assert name in page
        assert load(tmp_path / "runs/tour" / name).digest in page
    assert {row["state"] for row in sandlot_("studies", "--json").json()} == {"finished", "never run"}


def test_the_stops_of_the_tour_exist():
    for name, changes in tour.STOPS.items():
        assert all_studies()[name](**changes)


def test_every_command_is_known():
    command = typer.main.get_command(app)
    assert tuple(command.list_commands(typer.Context(command))) == COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_help_mentions_every_option(sandlot_, name):
    said = sandlot_(name, "--help")
    command = typer.main.get_command(app).commands[name]
    assert said.status == 0
    assert (command.help or "").split("\n")[0].rstrip(".") in said.out
    for parameter in command.params:
        if parameter.param_type_name == "option":
            assert parameter.help, parameter.name
            assert all(option in said.out for option in parameter.opts)
        else:
            assert (parameter.metavar or parameter.name).lower() in said.out.lower()


def test_help_mentions_every_command(sandlot_):
    for said in (sandlot_("--help"), sandlot_()):
        text = said.out + said.err
        assert all(name in text for name in (*COMMANDS, "--debug", "--version", "--show-completion"))


def test_version(sandlot_):
    assert sandlot_("--version") == Said(0, f"sandlot {sandlot.__version__}\n", "")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("sandlot re", {"report", "record"}),
        ("sandlot run leveling.s", {"leveling.steepness", "leveling.scaling"}),
        ("sandlot record le", {"leveling"}),
    ],
)
def test_completion(sandlot_, monkeypatch, words, expected):
    monkeypatch.setenv("_SANDLOT_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    said = sandlot_()
    assert (said.status, said.err) == (0, "")
    assert set(said.out.split()) == expected


def test_completion_can_be_shown(sandlot_, monkeypatch):
    # Typer would ask which shell has started it, and under make that is one it does not know.
    monkeypatch.setattr("shellingham.detect_shell", lambda *_: ("bash", "/bin/bash"))
    said = sandlot_("--show-completion", "bash")
    assert said.status == 0
    assert "complete -o default -F _sandlot_completion sandlot" in said.out
