"""Writes files and directories so that a path holds the old content or the new, never half of it.

What is written goes to a hidden directory ``.sandlot-*.partial`` beside the path first, and gets its name when it is
complete. A process that is killed leaves that directory behind; whoever writes there next removes it.
"""

import contextlib
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from sandlot.errors import SandlotError, os_reason, quote

DRAFTS, BEGUN = ".sandlot-*.partial", ".sandlot-*.new"
"""Names of the hidden directories, and of those that are not locked yet."""
PATIENCE = 60.0
"""A directory that is not locked after this time is left over [s]."""


def refuse_existing(path: Path, error: type[SandlotError]) -> None:
    """Raise an error of a class if a path exists; long work calls this before it begins."""
    if path.exists():
        raise error(f"{path} already exists; choose another path or remove it first")


PICTURES, VIDEOS = (".png", ".svg", ".pdf"), (".mp4", ".gif", ".webp")
"""Suffixes of pictures and videos."""


def check_suffix(path: Path, what: str, allowed: Sequence[str], error: type[SandlotError]) -> None:
    """Raise an error of a class if the path of something has another suffix."""
    if path.suffix.lower() not in allowed:
        raise error(f"cannot write {quote(path)}: {what} ends in {', '.join(allowed)}")


@contextmanager
def drafted(path: Path, error: type[SandlotError] = SandlotError, *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a path to write a file or a directory to; at the end it is moved to ``path``, unless there was an error.

    Args:
        path: What to write; missing parent directories are made.
        error: Class of the error to raise.
        overwrite: Whether a file that exists is replaced.

    Raises:
        SandlotError: Of the class ``error``, if the path exists, or the disk refuses to write. Then ``path`` is as it
            was.
    """
    folder = path.parent / DRAFTS.replace("*", uuid4().hex)
    unlocked = folder.with_suffix(Path(BEGUN).suffix)
    lock: int | None = None
    try:
        if not overwrite:
            refuse_existing(path, error)
        with contextlib.suppress(FileExistsError):  # the parent is a file: then making the draft says so
            path.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(path.parent)
        unlocked.mkdir()
        lock = _lock(unlocked)
        unlocked.rename(folder)  # only now, when it is locked, another process may look at it
        draft = folder / path.name
        yield draft
        _sync(draft)
        draft.replace(path)
        _sync(path.parent, inside=False)
    except KeyboardInterrupt:
        time.sleep(0.2)  # Zarr writes by a thread of its own, which must be done before the draft is removed
        raise
    except OSError as problem:
        raise error(f"cannot write {quote(path)}: {os_reason(problem, path)}") from problem
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def remove_leftovers(folder: Path) -> None:
    """Remove the drafts of processes that were killed; those of living processes are locked."""
    for draft in (*folder.glob(DRAFTS), *filter(_is_old, folder.glob(BEGUN))):
        lock = _lock(draft)
        if lock is not None:
            shutil.rmtree(draft, ignore_errors=True)
            os.close(lock)


def _is_old(draft: Path) -> bool:
    """Whether a directory was made so long ago that its process must have been killed before it could lock it."""
    with contextlib.suppress(OSError):
        return time.time() - draft.stat().st_mtime > PATIENCE
    return False


def _lock(folder: Path) -> int | None:
    """Lock a directory until the descriptor is closed or the process ends; None if that is not possible."""
    descriptor = None
    try:
        import fcntl

        descriptor = os.open(folder, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        if descriptor is not None:
            os.close(descriptor)
        return None
    return descriptor


def _sync(path: Path, inside: bool = True) -> None:
    """Make a file, or a directory and the files directly in it, survive a power loss."""
    files = [each for each in path.iterdir() if each.is_file()] if inside and path.is_dir() else []
    for each in (*files, path):
        descriptor = os.open(each, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
