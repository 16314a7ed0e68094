"""Where real logs are that are not part of Sandlot: below the folder in the environment variable ``SANDLOT_DATA``."""

import os
from pathlib import Path

VARIABLE = "SANDLOT_DATA"


def data_folder() -> Path | None:
    """The folder with real logs; None if the variable is not set."""
    folder = os.environ.get(VARIABLE)
    return Path(folder) if folder else None


def locate_log(path: Path) -> Path:
    """A relative path that does not exist here, below the folder with real logs, if it is set; any other as it is."""
    folder = data_folder()
    return path if folder is None or path.is_absolute() or path.exists() else folder / path
