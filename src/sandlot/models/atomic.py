"""Writes files so that a path holds all of the new content or none of it, even after a crash or a power loss."""

import contextlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4

from sandlot.errors import ModelError


def write(path: Path, content: bytes | Mapping[str, bytes]) -> None:
    """Write a new file, or a new directory of files.

    Everything goes to a temporary sibling first, is synced to the disk, and is then renamed.

    Args:
        path: Must not exist yet; missing parent directories are made.
        content: Of the file; or name to content of each file in the directory.

    Raises:
        ModelError: If the path exists or cannot be written.
    """
    draft = path.with_name(f".{path.name}.{uuid4().hex}.partial")
    try:
        if path.exists():
            raise ModelError(f"{path} already exists; choose another path or remove it first")
        with contextlib.suppress(FileExistsError):  # a file: then writing below it says so
            path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            _write_file(draft, content)
        else:
            draft.mkdir()
            for name, each in content.items():
                _write_file(draft / name, each)
            _sync(draft)
        draft.rename(path)
        _sync(path.parent)
    except OSError as error:
        raise ModelError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        with contextlib.suppress(OSError):
            draft.unlink()


def _write_file(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """Make the names in a directory survive a power loss."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
