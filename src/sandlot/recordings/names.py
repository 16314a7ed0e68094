"""Names of files that are made from a recording."""

from pathlib import Path


def beside(recording: Path, suffix: str) -> Path:
    """The path of a file beside a recording, with its name and another suffix; ``.`` stands for its directory."""
    named = recording if recording.name not in ("", "..") else recording.resolve()
    return named.with_name(f"{named.name}{suffix}")
