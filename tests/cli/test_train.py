"""The command ``train``: its output for people and programs, the saved controller, and its error messages."""

import json
import sys

import pytest

from sandlot.cli import main
from sandlot.control.climbing.policy import load_policy
from sandlot.control.navigation.avoiding import load_avoider

SMALL = ["--set", "robots=16", "--set", "courses=1", "--set", "ppo.iterations=2", "--set", "ppo.horizon=4"]


FEW = ["--set", "agents=2", "--set", "episodes=10", "--set", "tests=5", "--set", "world.fidelity=fast"]


@pytest.fixture
def train(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)

    def call(*arguments, what="climber"):
        monkeypatch.setattr(sys, "argv", ["sandlot", "train", what, *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, capsys.readouterr()

    return call


def test_a_trained_climber_is_saved_and_can_be_loaded(train, tmp_path):
    pytest.importorskip("torch")
    status, said = train("--out", "net", *SMALL, "--json")
    facts = json.loads(said.out)
    assert not status
    assert facts["controller"] == "net"
    assert facts["processor_seconds"] > 0.0
    load_policy(tmp_path / "net")
    status, said = train("--out", "further", "--start", "net", *SMALL, "--set", "steep.share=0.4", "--json")
    assert not status
    load_policy(tmp_path / "further")


def test_a_trained_avoider_is_saved_and_can_be_loaded(train, tmp_path):
    status, said = train("--out", "net", *FEW, "--json", what="avoider")
    assert not status
    facts = json.loads(said.out)
    assert len(facts["failures"]) == 5
    load_avoider(tmp_path / "net")
    status, said = train("--out", "net", *FEW, what="avoider")
    assert status == 2
    assert "exists" in said.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--out", "net", "--set", "ppo.iteration=2"], "no setting 'ppo.iteration'; did you mean 'ppo.iterations'"),
        (["--out", "net", "--start", "nothing"], "nothing"),
        (["--out", "net", "--set", "steep.slopes=[50,40]"], "two ascending numbers from 1 to 80"),
        (["--out", "net", "--set", "steep.treads=[[1.0,0.3,0.2]]"], "a range within 0.02 and 2 m"),
        (["--out", "net", "--set", "robots=0"], "robots=0 is not possible; allowed: a whole number at least 1"),
    ],
)
def test_mistakes_are_explained_in_one_line(train, arguments, said):
    status, printed = train(*arguments)
    assert status == 2
    assert said in printed.err
    assert "Traceback" not in printed.err
