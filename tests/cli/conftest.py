"""Fixture of the command line tests: the command, run in this process."""

import re
import sys

import pytest

from commands import Said
from sandlot.cli import main


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
