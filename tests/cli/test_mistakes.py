"""Mistakes at the command line: one clear line, and how to go on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from commands import PROBABILITIES, SMALL, Said, assert_one_clear_line
from sandlot.cli import main
from sandlot.errors import SandlotError
from sandlot.studies import all_studies

FILE = str(Path(__file__).parents[1] / "docs/unquoted.toml")
"""No controller."""
PROGRAM = Path(sys.executable).with_name("sandlot")


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
        (["record", "leveling", "--controller", "no.toml"], ["no controller at no.toml", "memetic"]),
        (["record", "water", "--controller", "models/no.json"], ["no controller at models/no.json"]),
        (["record", "water", "--controller", "no_module:Car"], ["the controller no_module:Car: No module"]),
        (["record", "terrain", "--controller", FILE], ["cannot load", "controllers of this world are session"]),
        (["record", "indoor", "--controller", FILE], ["cannot load", "controllers of this world are wander"]),
        (["record", "indoor", "--controller", __file__], ["test_mistakes.py:FUNCTION"]),
        (["record", "obstacles", "--set", "start=[5,6]"], ["start=[5.0, 6.0]", "ascending numbers from -20"]),
        (["play", "obstacles", "--fidelity", "fast", "--set", "yaw=0.2"], ["yaw=0.2", "only for fidelity=reference"]),
        (["lidar", "--emulate", "apartment", "--mode", "moon"], ["no scan mode 'moon'", "Standard, Express, Boost"]),
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
    assert [each.split()[0] for each in above] == [f"{PROBABILITIES}:", PROBABILITIES], "what it does, and the bar"


def test_a_run_stopped_by_ctrl_c_can_be_resumed(sandlot_, tmp_path, monkeypatch):
    study = all_studies()[PROBABILITIES]
    honest = study.run

    def interrupted(self, job):
        if job.index == 2:
            raise KeyboardInterrupt
        return honest(self, job)

    monkeypatch.setattr(study, "run", interrupted)
    said = sandlot_("run", PROBABILITIES, *SMALL, "--workers", 1)
    assert (said.status, said.out) == (130, "")
    assert "Stopped. Finished jobs are kept; the same command goes on." in said.err
    assert "Traceback" not in said.err
    monkeypatch.setattr(study, "run", honest)
    (mine,) = (row for row in sandlot_("studies", "--json").json() if row["study"] == PROBABILITIES)
    assert (mine["state"], mine["done"], mine["jobs"]) == ("unfinished", 2, 6)
    assert sandlot_("run", PROBABILITIES, *SMALL, "--workers", 1, "--json").json()["jobs"] == 6
