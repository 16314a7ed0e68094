"""The command itself: its help, its version, its completion, and the tour."""

import pytest
import typer

import sandlot
from commands import PROBABILITIES, Said
from sandlot.cli.app import app
from sandlot.studies import all_studies, tour
from sandlot.studies.runner import load

COMMANDS = ("tour", "lab", "play", "worlds", "studies", "run", "report", "record", "show", "import", "export", "map")
COMMANDS += ("locate", "lidar", "gap", "models", "shape", "fit", "train", "rover")


def test_the_tour_writes_a_page_about_every_stop(sandlot_, tmp_path, monkeypatch):
    small = {"world": {"shape": (12, 12)}, "replicates": 2}
    monkeypatch.setattr(tour, "STOPS", {PROBABILITIES: small, "leveling.memetic": small | {"terrains": 1}})
    said = sandlot_("tour", "--workers", 1)
    assert said.status == 0
    assert "runs/tour/index.html" in said.out
    assert "rover serve" in said.out
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


def test_help_breaks_no_lines_but_those_of_the_terminal(sandlot_, monkeypatch):
    monkeypatch.setenv("COLUMNS", "2000")
    assert "When an episode ends, the next begins. An episode" in sandlot_("record", "--help").out
    assert "with settings that are known to work." in sandlot_("train", "water", "--help").out


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
