"""The results file of a run: one SQLite file, one transaction for each finished job.

A process that is killed at any moment leaves a file that holds exactly the jobs it had finished. Every value is checked
when it is read, so a damaged file gives one line and never a traceback.
"""

import csv
import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

from sandlot.errors import RunError, quote
from sandlot.writing import drafted

SCHEMA = """
CREATE TABLE IF NOT EXISTS run (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS jobs (job INTEGER PRIMARY KEY, parameters TEXT NOT NULL, results TEXT NOT NULL);
"""
FULL = 2**16
"""A disk with less free space than this counts as full [byte]: SQLite needs a few pages for a transaction."""


class Row(NamedTuple):
    """A finished job: its index, and what was stored about it as JSON objects."""

    job: int
    parameters: dict[str, Any]
    results: dict[str, Any]


class Store:
    """The SQLite file of one run."""

    FILE = "results.sqlite"
    LOCK = ".lock"

    def __init__(self, directory: Path, read_only: bool = False) -> None:
        """Open the run in ``directory``, or begin one and lock it against other processes.

        Raises:
            RunError: If the directory cannot be written, another process runs there, or its file is not a run's.
        """
        self._directory, self._file = directory, directory / self.FILE
        self._lock: sqlite3.Connection | None = None
        if read_only:
            with self._explained("read"):
                self._db = sqlite3.connect(f"{self._file.absolute().as_uri()}?mode=ro", uri=True, timeout=60.0)
            return
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(f"cannot keep a run in {quote(directory)}: {error.strerror}") from None
        self._acquire()
        try:
            with self._explained("write"):
                self._db = sqlite3.connect(self._file, isolation_level=None, timeout=60.0)
                self._db.execute("PRAGMA journal_mode=WAL")
                self._db.executescript(SCHEMA)
        except RunError:
            self._release()
            raise

    def _acquire(self) -> None:
        """Lock the directory. SQLite's own file lock works on every system and ends with the process."""
        try:
            with self._explained("write"):
                self._lock = sqlite3.connect(self._directory / self.LOCK, isolation_level=None, timeout=0.0)
                self._lock.execute("BEGIN EXCLUSIVE")
        except RunError as error:
            self._release()
            cause = error.__cause__
            if isinstance(cause, sqlite3.OperationalError) and cause.sqlite_errorcode == sqlite3.SQLITE_BUSY:
                message = f"another process is running a study in {quote(self._directory)}; wait for it"
                raise RunError(f"{message}, or choose another --out") from None
            raise

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file and unlock the directory."""
        self._db.close()
        self._release()

    def about(self) -> dict[str, Any]:
        """The facts noted about the run.

        Raises:
            RunError: If they cannot be read.
        """
        return {self._text(key): self._json(value) for key, value in self._query("SELECT key, value FROM run")}

    def note(self, **facts: Any) -> None:
        """Note facts about the run, all or none.

        Raises:
            RunError: If they cannot be written.
        """
        rows = [(key, json.dumps(value)) for key, value in facts.items()]
        with self._explained("write"), self._transaction():
            self._db.executemany("INSERT OR REPLACE INTO run VALUES (?, ?)", rows)

    def keep(
        self, job: int, parameters: Mapping[str, Any], results: Mapping[str, Any], wall_time: float | None = None
    ) -> None:
        """Keep a finished job, and with it the time spent on the run so far [s].

        Raises:
            RunError: If it cannot be written.
        """
        row = (job, json.dumps(dict(parameters)), json.dumps(dict(results)))
        with self._explained("write"), self._transaction():
            self._db.execute("INSERT OR REPLACE INTO jobs VALUES (?, ?, ?)", row)
            if wall_time is not None:
                self._db.execute("INSERT OR REPLACE INTO run VALUES ('wall_time', ?)", (json.dumps(wall_time),))

    def rows(self) -> list[Row]:
        """The finished jobs, in order.

        Raises:
            RunError: If they cannot be read.
        """
        jobs = self._query("SELECT job, parameters, results FROM jobs ORDER BY job")
        return [Row(self._whole(job), self._object(given), self._object(found)) for job, given, found in jobs]

    def digest(self) -> str:
        """SHA-256 over the results in job order: equal if and only if the numbers are equal."""
        sha = hashlib.sha256()
        for row in self._query("SELECT job, parameters, results FROM jobs ORDER BY job"):
            sha.update(json.dumps([self._whole(row[0]), self._text(row[1]), self._text(row[2])]).encode())
        return sha.hexdigest()

    def finish(self) -> None:
        """Leave write-ahead logging, which cannot be read from a read-only medium. Skipped while others read."""
        self._db.execute("PRAGMA busy_timeout=1000")
        try:
            self._db.execute("PRAGMA journal_mode=DELETE")
        except sqlite3.OperationalError:
            return

    def export(self, path: Path) -> None:
        """Write the jobs in order as a CSV table, for other programs.

        Raises:
            RunError: If it cannot be written.
        """
        rows = [{"job": row.job, **row.parameters, **row.results} for row in self.rows()]
        with drafted(path, RunError, overwrite=True) as draft, draft.open("w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def _query(self, sql: str) -> list[tuple[Any, ...]]:
        with self._explained("read"):
            return self._db.execute(sql).fetchall()

    @contextmanager
    def _explained(self, verb: str) -> Iterator[None]:
        """Turn errors of SQLite into one line that tells a full disk and a read-only medium from damage."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._explain(error, verb) from error
        except UnicodeDecodeError as error:  # SQLite quotes the damaged bytes
            raise self._damaged(str(error)) from None

    def _explain(self, error: sqlite3.Error, verb: str) -> RunError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the rest says which call failed
        place = quote(self._directory)
        if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR) and verb == "write":
            full = code == sqlite3.SQLITE_FULL or _is_full(self._directory)
            what = f"no space left on the disk of {place}" if full else f"cannot write to {place}: {error} (a quota?)"
            return RunError(f"{what}; finished jobs are kept, and the same command goes on when there is room")
        if code == sqlite3.SQLITE_BUSY:
            return RunError(f"{quote(self._file)} is in use by another process")
        if verb == "write" and (code == sqlite3.SQLITE_READONLY or not os.access(self._directory, os.W_OK)):
            return RunError(f"cannot write to {place}: it is read-only")
        if verb == "read" and code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            why = "it cannot be read, or is unfinished and on a read-only medium"
            return RunError(f"cannot open {quote(self._file)}: {why}")
        return self._damaged(str(error))

    def _damaged(self, reason: str) -> RunError:
        return RunError(f"{quote(self._file)} is damaged, or was not written by `sandlot run`: {quote(reason)}")

    def _text(self, value: Any) -> str:
        if not isinstance(value, str):
            raise self._damaged(f"it has {type(value).__name__} where there should be text")
        return value

    def _whole(self, value: Any) -> int:
        if not isinstance(value, int):
            raise self._damaged(f"it has {type(value).__name__} where there should be a whole number")
        return value

    def _json(self, value: Any) -> Any:
        try:
            return json.loads(self._text(value))
        except (ValueError, RecursionError) as error:
            raise self._damaged(f"not JSON: {error}") from None

    def _object(self, value: Any) -> dict[str, Any]:
        found = self._json(value)
        if not isinstance(found, dict):
            raise self._damaged("a job is not a JSON object")
        return found


def _is_full(directory: Path) -> bool:
    try:
        return shutil.disk_usage(directory).free < FULL
    except OSError:
        return False
