"""A full disk: every command that writes says so in one line, and leaves nothing or what was finished.

Where the system allows it, the disk is a small tmpfs in a mount namespace of its own, which ends with the command. Else
the largest file size is limited.
"""

import os
import random
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sandlot import recordings
from sandlot.recordings.logs import import_log
from sandlot.studies.store import Store

LINE = "FLASER 180 {ranges} {x} 2 0.5 {x} 2.5 0.4 {x} host {x}\n"
MOUNTED = (
    'mount -t tmpfs -o size="$1" none "$2" || exit 77; cd "$2"; shift 2; "$@"; status=$?; cp -a . "$KEPT"; exit $status'
)


def command(*words: object) -> list[str]:
    return [sys.executable, "-c", "from sandlot.cli import main; main()", *map(str, words)]


def can_mount(folder: Path) -> bool:
    """Whether a tmpfs can be mounted in a namespace of its own."""
    if shutil.which("unshare") is None:
        return False
    probe = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=64k none "$1"', "sh", str(folder)]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


@pytest.fixture
def on_full_disk(tmp_path):
    """Runs a command in a directory on a disk of so many kB; returns it and a copy of what the disk held."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "kept").mkdir()
    mounted = can_mount(tmp_path / "disk")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "KEPT": str(tmp_path / "kept")}

    def run(size: int, *words: object) -> tuple[subprocess.CompletedProcess[str], Path]:
        asked, options = command(*words), {}
        if mounted:
            asked = ["unshare", "-rm", "sh", "-c", MOUNTED, "sh", f"{size}k", str(tmp_path / "disk"), *asked]
        else:
            limit = 1024 * size // 8  # a disk of this size holds several files
            options["preexec_fn"] = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            options["cwd"] = tmp_path / "kept"
        done = subprocess.run(
            asked, capture_output=True, text=True, timeout=300, check=False, env=environment, **options
        )
        return done, tmp_path / "kept"

    return run


@pytest.fixture(scope="module")
def scans(tmp_path_factory):
    """A log of 400 scans, and the recording of it."""
    folder = tmp_path_factory.mktemp("scans")
    chance = random.Random(0)  # ranges that do not compress
    rows = (" ".join(f"{chance.uniform(1.0, 9.0):.6f}" for _ in range(180)) for _ in range(400))
    (folder / "a.log").write_text("".join(LINE.format(x=n / 4, ranges=row) for n, row in enumerate(rows)))
    import_log(folder / "a.log", folder / "a")
    return folder


def check_line(done: subprocess.CompletedProcess[str]) -> None:
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    line = done.stderr.splitlines()[-1]
    assert line.startswith("error: ")
    assert "no space left" in line or "a quota?" in line, line
    assert "damaged" not in line
    assert "Traceback" not in done.stderr


def test_run(on_full_disk):
    words = ["run", "leveling.probabilities", "--set", "world.shape=[8,8]", "--set", "replicates=60", "--workers", 1]
    done, kept = on_full_disk(128, *words, "--out", "run")
    check_line(done)
    assert "finished jobs are kept, and the same command goes on when there is room" in done.stderr
    with Store(kept / "run", read_only=True) as store:
        assert 0 < len(store.rows()) < 540


def test_record(on_full_disk):
    done, kept = on_full_disk(700, "record", "leveling", "--steps", 100_000, "--set", "shape=[64,64]", "--out", "a")
    check_line(done)
    assert 0 < recordings.open(kept / "a").sizes["time"] < 100_000, "flushed frames are kept"


def test_import(on_full_disk, scans):
    done, kept = on_full_disk(160, "import", scans / "a.log", "--out", "a")
    check_line(done)
    assert list(kept.iterdir()) == []


@pytest.mark.parametrize("name", ["a.csv", "a.mcap"])
def test_export(on_full_disk, scans, name):
    done, kept = on_full_disk(100, "export", scans / "a", "--out", name)
    check_line(done)
    assert list(kept.iterdir()) == []


def test_fit(on_full_disk, scans):
    done, kept = on_full_disk(4, "fit", "sensor", scans / "a", "--out", "m", "--kind", "sectors", "--holdout", 0)
    check_line(done)
    assert list(kept.iterdir()) == []
