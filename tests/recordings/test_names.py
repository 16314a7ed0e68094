"""Files that are made from a recording lie beside it, however its path is written."""

from pathlib import Path

import pytest

from sandlot.recordings.names import beside


def test_a_file_lies_beside_its_recording():
    assert beside(Path("recordings/a"), ".png") == Path("recordings/a.png")


@pytest.mark.parametrize("path", [".", "deep/.."])
def test_the_present_directory_has_a_name(path, tmp_path, monkeypatch):
    (tmp_path / "here/deep").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    assert beside(Path(path), ".png") == tmp_path / "here.png"
