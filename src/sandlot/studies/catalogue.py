"""Which studies there are, without importing them, which would take seconds.

``catalogue.json`` lists them, and how long their kept runs took; ``make docs-pages`` writes it, and a test fails if it
is out of date. A study that is not listed yet is found by its name in the sources.

Another installed package adds studies with an entry point of the group ``sandlot.studies``, whose value is a module
that registers them. Such modules are imported for the list.
"""

import functools
import importlib
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from sandlot import studies
from sandlot.errors import SettingError, quote

if TYPE_CHECKING:
    from sandlot.studies.base import Study

FOLDER = Path(__file__).parent
FILE = FOLDER / "catalogue.json"


@dataclass(frozen=True)
class Entry:
    """A study as the list of studies shows it.

    Attributes:
        name: Such as ``leveling.memetic``.
        module: Importing it registers the study.
        question: What it asks.
        source: Where the question comes from.
        seconds: How long its kept run took on two cores [s]; None if there is none.
        jobs: The number of jobs of that run.
    """

    name: str
    module: str
    question: str
    source: str
    seconds: float | None = None
    jobs: int = 0

    @property
    def world(self) -> str:
        """What it belongs to: the first part of its name."""
        return self.name.partition(".")[0]

    def expected(self, jobs: int | None = None) -> float | None:
        """How long a run of so many jobs may take, in proportion to the kept run [s]; None if that is not known."""
        if self.seconds is None or jobs is None:
            return self.seconds
        return self.seconds * jobs / max(self.jobs, 1)


def in_words(seconds: float | None) -> str:
    """A duration in a few letters, such as ``40 s``, ``14 min`` or ``1.5 h``."""
    if seconds is None:
        return "?"
    if seconds < 90.0:
        return f"{max(round(seconds), 1)} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 5400.0 else f"{seconds / 3600.0:.1f} h"


def catalogue() -> dict[str, Entry]:
    """Every study by name: those that are shipped, then those of other packages and of this program."""
    _import_installed()
    base = sys.modules.get("sandlot.studies.base")
    known: Mapping[str, type[Study]] = {} if base is None else base.STUDIES
    return {**_shipped(), **{name: entry(cls) for name, cls in known.items() if name not in _shipped()}}


@functools.cache
def _import_installed() -> None:
    """Import the studies of other packages.

    Raises:
        SettingError: If one cannot be imported.
    """
    for point in entry_points(group="sandlot.studies"):
        try:
            importlib.import_module(point.module)
        except ImportError as error:
            raise SettingError(f"cannot import the studies of {quote(point.value)}: {error}") from error


@functools.cache
def _shipped() -> dict[str, Entry]:
    return {row["name"]: Entry(**row) for row in json.loads(FILE.read_text(encoding="utf-8"))}


def module_of(name: str) -> str | None:
    """What to import for a study; None if there is no study of that name."""
    if found := catalogue().get(name):
        return found.module
    package = f"sandlot.studies.{name.partition('.')[0]}"
    if package not in studies.MODULES:
        return None
    if package not in {each.module for each in _shipped().values()}:
        return package
    sources = (FOLDER / package.rpartition(".")[2]).glob("*.py")
    return package if any(f'@study("{name}"' in each.read_text(encoding="utf-8") for each in sources) else None


def entry(study: "type[Study]", took: tuple[float, int] | None = None) -> Entry:
    """A study for the list, with the time [s] and the number of jobs of its kept run."""
    package = study.__module__.rpartition(".")[0]
    module = package if package in studies.MODULES else study.__module__
    seconds, jobs = (round(took[0], 1), took[1]) if took else (None, 0)
    return Entry(study.name, module, study.question(), study.source, seconds, jobs)


def write(entries: list[Entry]) -> None:
    """Write the list that is shipped."""
    rows = [asdict(each) for each in entries]
    FILE.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
