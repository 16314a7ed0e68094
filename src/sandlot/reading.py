"""Reads TOML, JSON and YAML from files that nobody has checked.

A file has to be a regular one (no device, no pipe) of bounded size, and its content may be nested only so deep: all
later code may then recurse into it. Each function takes the class of the error that it raises.
"""

import errno
import json
import re
import stat
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sandlot.errors import LogError, RecordingError, SandlotError, SettingError, os_reason, quote

MAX_BYTES = 2**22
"""Largest file that is read as a whole, unless the caller says otherwise [bytes]."""
MAX_NESTING = 32
"""Deepest nesting of tables and lists."""


def check_regular(path: Path) -> None:
    """Refuse devices, pipes and sockets, which may block or never end.

    Raises:
        OSError: The path cannot be looked at, or is not a regular file.
    """
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a directory")
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is not a regular file")


def check_recording(path: Path) -> None:
    """Refuse a path that cannot be a recording, before libraries that read recordings are loaded.

    Raises:
        RecordingError: There is nothing, or no directory of a Zarr store.
    """
    if not path.exists():
        raise RecordingError(f"there is no recording at {quote(path)}; check the path")
    if not path.is_dir():
        raise RecordingError(f"{quote(path)} is a file; a recording is a directory, as `sandlot import` makes of a log")
    if not (path / "zarr.json").exists():
        raise RecordingError(f"{path} is not a Zarr store, as it has no zarr.json; give the directory of a recording")


def lacking(path: Path, names: Iterable[str]) -> list[str]:
    """Those of the quantities that a recording does not hold, found without libraries that read recordings."""
    return [name for name in names if not (path / name / "zarr.json").exists()]


def check_log(path: Path) -> None:
    """Refuse a path of a log if there is nothing, before libraries that read logs are loaded.

    Raises:
        LogError: There is nothing.
    """
    if not path.exists():
        raise LogError(f"there is no log at {quote(path)}; check the path")


def read_bytes(path: Path, max_bytes: int = MAX_BYTES, error: type[SandlotError] = SettingError) -> bytes:
    """The content of a regular file.

    Raises:
        SandlotError: Of the class ``error``, if the file cannot be read, is not a regular one, or is too large.
    """
    try:
        check_regular(path)
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)
    except (OSError, ValueError) as problem:  # ValueError: a path with a null character
        reason = os_reason(problem, path) if isinstance(problem, OSError) else quote(problem)
        raise error(f"cannot read {quote(path)}: {reason}") from None
    if len(data) > max_bytes:
        raise error(f"{path} has more than {max_bytes:,} bytes, the most that is read here")
    return data


def read_toml(path: Path, max_bytes: int = MAX_BYTES, error: type[SandlotError] = SettingError) -> dict[str, Any]:
    """The table in a TOML file.

    Raises:
        SandlotError: Of the class ``error``, if the file cannot be read, is not TOML, or is nested too deep.
    """
    data = read_bytes(path, max_bytes, error)
    try:
        return parse_toml(data.decode())
    except ValueError as problem:
        raise error(f"{path} is not TOML: {quote(problem)}") from None


def read_json(path: Path, max_bytes: int = MAX_BYTES, error: type[SandlotError] = SettingError) -> Any:
    """The value in a JSON file.

    Raises:
        SandlotError: Of the class ``error``, if the file cannot be read, is not JSON, or is nested too deep.
    """
    data = read_bytes(path, max_bytes, error)
    try:
        return parse_json(data)
    except ValueError as problem:
        raise error(f"{path} is not JSON: {quote(problem)}") from None


def read_yaml(path: Path, max_bytes: int = MAX_BYTES, error: type[SandlotError] = SettingError) -> Any:
    """The value in a YAML file without anchors and merge keys, which let a few bytes stand for gigabytes.

    Raises:
        SandlotError: Of the class ``error``, if the file cannot be read, is not such YAML, or is nested too deep.
    """
    data = read_bytes(path, max_bytes, error)
    try:
        return _parse_yaml(data.decode())
    except Exception as problem:  # ruamel passes on whatever a strange file makes Python raise
        raise error(f"{path} is not YAML: {quote(problem)}") from None


def parse_toml(text: str) -> dict[str, Any]:
    """The table that a TOML text holds.

    Raises:
        ValueError: It is not TOML, or nested too deep.
    """
    if _LONG_KEY.search(text):  # takes the parser time that grows with the square of the parts
        raise ValueError(f"a key has more than {MAX_NESTING} parts")
    try:
        table = tomllib.loads(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    return _check_nesting(table)


def parse_json(text: str | bytes) -> Any:
    """The value that a JSON text holds.

    Raises:
        ValueError: It is not JSON, or nested too deep.
    """
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    return _check_nesting(value)


_LONG_KEY = re.compile(r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+)""" f"{{{MAX_NESTING}}}")
_TOO_DEEP = f"its lists and tables are nested more than {MAX_NESTING} deep"


def _check_nesting(value: Any) -> Any:
    level, depth = [value], 0
    while level := [each for each in level if isinstance(each, list | dict)]:
        depth += 1
        if depth > MAX_NESTING:
            raise ValueError(_TOO_DEEP)
        level = [inner for outer in level for inner in (outer.values() if isinstance(outer, dict) else outer)]
    return value


def _parse_yaml(text: str) -> Any:
    from ruamel.yaml import YAML

    # The parser's events come one by one and without recursion, so a bomb is found before anything is built.
    depth = 0
    for event in YAML(typ="safe", pure=True).parse(text):
        kind = type(event).__name__
        if kind == "AliasEvent" or getattr(event, "anchor", None) is not None:
            raise ValueError("anchors and aliases (& and *) are not allowed")
        if kind == "ScalarEvent" and event.value == "<<":
            raise ValueError("merge keys (<<) are not allowed")
        depth += kind.endswith("StartEvent") - kind.endswith("EndEvent")
        if depth > MAX_NESTING:
            raise ValueError(_TOO_DEEP)
    return YAML(typ="safe", pure=True).load(text)
