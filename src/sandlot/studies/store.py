"""Where a run keeps its jobs: one SQLite file, one transaction for each finished job.

Killed at any moment, the file holds exactly the jobs that had finished.
"""

import csv
import hashlib
import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from sandlot.errors import SandlotError

SCHEMA = """
CREATE TABLE IF NOT EXISTS run (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS jobs (job INTEGER PRIMARY KEY, parameters TEXT NOT NULL, results TEXT NOT NULL);
"""


class Store:
    """The SQLite file of one run."""

    FILE = "results.sqlite"

    def __init__(self, directory: Path, read_only: bool = False) -> None:
        """Open the run in ``directory``, or begin one.

        Raises:
            SandlotError: If the directory cannot be written, or its file is not a run's.
        """
        self._file = directory / self.FILE
        try:
            if read_only:
                self._db = sqlite3.connect(f"{self._file.absolute().as_uri()}?mode=ro", uri=True, timeout=60.0)
                return
            directory.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(self._file, isolation_level=None, timeout=60.0)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.executescript(SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise SandlotError(f"cannot keep a run in {directory}: {error}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object = None, error: BaseException | None = None, trace: object = None) -> None:
        """Close the file; if it turned out to be damaged or foreign, say so.

        Raises:
            SandlotError: In place of what SQLite and JSON said.
        """
        self._db.close()
        if isinstance(error, sqlite3.Error | json.JSONDecodeError):
            raise SandlotError(f"{self._file} is damaged, or was not written by `sandlot run`: {error}") from error

    def about(self) -> dict[str, Any]:
        """What was noted about the run."""
        return {key: json.loads(value) for key, value in self._db.execute("SELECT key, value FROM run")}

    def note(self, **facts: Any) -> None:
        """Note facts about the run, all or none."""
        rows = [(key, json.dumps(value)) for key, value in facts.items()]
        self._db.execute("BEGIN")
        self._db.executemany("INSERT OR REPLACE INTO run VALUES (?, ?)", rows)
        self._db.execute("COMMIT")

    def keep(self, job: int, parameters: Mapping[str, Any], results: Mapping[str, Any]) -> None:
        """Keep a finished job."""
        row = (job, json.dumps(dict(parameters)), json.dumps(dict(results)))
        self._db.execute("INSERT OR REPLACE INTO jobs VALUES (?, ?, ?)", row)

    def done(self) -> set[int]:
        """The finished jobs."""
        return {job for (job,) in self._db.execute("SELECT job FROM jobs")}

    def rows(self) -> list[dict[str, Any]]:
        """The finished jobs in order, parameters and results side by side."""
        jobs = self._db.execute("SELECT parameters, results FROM jobs ORDER BY job")
        return [json.loads(parameters) | json.loads(results) for parameters, results in jobs]

    def digest(self) -> str:
        """SHA-256 over the results in job order: equal if and only if the numbers are."""
        sha = hashlib.sha256()
        for row in self._db.execute("SELECT job, parameters, results FROM jobs ORDER BY job"):
            sha.update(json.dumps(row).encode())
        return sha.hexdigest()

    def export(self, path: Path) -> None:
        """Write the jobs in order as a CSV table, for other programs."""
        rows = self.rows()
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=["job", *rows[0]])
            writer.writeheader()
            writer.writerows({"job": job, **row} for job, row in enumerate(rows))
