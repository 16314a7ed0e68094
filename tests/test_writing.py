"""A path holds the old content or the new, whatever happens to the process that writes it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sandlot.errors import ModelError, SandlotError
from sandlot.writing import DRAFTS, drafted, remove_leftovers

WRITE = """
import sys, time
from pathlib import Path
from sandlot.writing import drafted
with drafted(Path(sys.argv[1]), overwrite=True) as draft:
    file = draft.open("w")
    file.write("new " * 1000)
    file.flush()
    print("half", flush=True)
    time.sleep(100)
"""


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def start_writing(path: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", WRITE, path],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    )
    assert process.stdout
    assert process.stdout.readline() == "half\n"
    return process


def test_files_and_directories_appear_when_they_are_complete(tmp_path):
    with drafted(tmp_path / "new" / "a") as draft:
        draft.write_text("x")
        assert not (tmp_path / "new" / "a").exists()
    assert (tmp_path / "new" / "a").read_text() == "x"
    with drafted(tmp_path / "b") as draft:
        draft.mkdir()
        (draft / "inside").write_text("y")
    assert (tmp_path / "b" / "inside").read_text() == "y"
    assert names(tmp_path) == ["b", "new"]


def test_an_error_leaves_the_old_content_and_nothing_else(tmp_path):
    (tmp_path / "a").write_text("old")
    with pytest.raises(ZeroDivisionError), drafted(tmp_path / "a", overwrite=True) as draft:
        draft.write_text(f"new {1 / 0}")
    assert (tmp_path / "a").read_text() == "old"
    assert names(tmp_path) == ["a"]


def test_what_exists_is_only_replaced_on_request(tmp_path):
    (tmp_path / "a").write_text("old")
    with pytest.raises(ModelError, match="a already exists; choose another path"), drafted(tmp_path / "a", ModelError):
        pass
    with drafted(tmp_path / "a", overwrite=True) as draft:
        draft.write_text("new")
    assert (tmp_path / "a").read_text() == "new"


@pytest.mark.parametrize("path", ["file/a", "x" * 5000])
def test_a_path_that_cannot_be_written_gets_one_line(tmp_path, path):
    (tmp_path / "file").touch()
    with pytest.raises(SandlotError, match=r"^cannot write ") as caught, drafted(tmp_path / path):
        pass
    assert len(str(caught.value)) < 300
    assert names(tmp_path) == ["file"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs flock")
def test_the_draft_of_a_killed_process_is_removed_and_that_of_a_living_one_is_not(tmp_path):
    (tmp_path / "a").write_text("old")
    killed, living = start_writing(tmp_path / "a"), start_writing(tmp_path / "a")
    killed.kill()
    killed.wait()
    assert (tmp_path / "a").read_text() == "old"
    assert len(list(tmp_path.glob(DRAFTS))) == 2
    remove_leftovers(tmp_path)
    (draft,) = tmp_path.glob(DRAFTS)
    with drafted(tmp_path / "b") as other:
        other.touch()
    assert list(tmp_path.glob(DRAFTS)) == [draft]
    living.kill()
    living.wait()
    with drafted(tmp_path / "c") as other:
        other.touch()
    assert names(tmp_path) == ["a", "b", "c"]


def test_kills_at_any_moment_leave_the_old_or_the_new_content(tmp_path):
    code = (
        "import sys; from pathlib import Path; from sandlot.writing import drafted\n"
        "for k in range(10**9):\n"
        "    with drafted(Path(sys.argv[1]), overwrite=True) as draft:\n"
        "        draft.write_text(f'{k} ' * 20_000)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for number in range(5):
        process = subprocess.Popen([sys.executable, "-c", code, tmp_path / "a"], env=environment)
        patience = time.monotonic() + 60.0
        before = (tmp_path / "a").stat().st_mtime_ns if (tmp_path / "a").exists() else 0
        while not (tmp_path / "a").exists() or (tmp_path / "a").stat().st_mtime_ns == before:
            assert time.monotonic() < patience
            time.sleep(0.001)
        time.sleep(0.003 * number)
        process.send_signal(signal.SIGKILL)
        process.wait()
        words = (tmp_path / "a").read_text().split()
        assert len(words) == 20_000
        assert len(set(words)) == 1
    # A directory that was not locked yet may belong to a living process, until it is old.
    for begun in tmp_path.glob(".sandlot-*.new"):
        os.utime(begun, (0.0, 0.0))
    remove_leftovers(tmp_path)
    assert names(tmp_path) == ["a"]


def test_a_directory_that_is_not_locked_yet_is_removed_only_when_it_is_old(tmp_path):
    begun = tmp_path / ".sandlot-1.new"
    begun.mkdir()
    remove_leftovers(tmp_path)
    assert begun.is_dir()
    os.utime(begun, (0.0, 0.0))
    remove_leftovers(tmp_path)
    assert not begun.exists()
