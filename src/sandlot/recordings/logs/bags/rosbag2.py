"""Bags of ROS 2 in SQLite (.db3): a table of topics and one of messages."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from sandlot.errors import quote
from sandlot.recordings.logs.bags.messages import MAX_BYTES, WANTED, Message, kind
from sandlot.recordings.logs.source import DamagedError, Source

MAGIC = b"SQLite format 3\0"


def read_rosbag2(source: Source) -> Iterator[Message]:
    """Read the messages that scans are made from, in the order they were written.

    Raises:
        DamagedError: It cannot be read any further, or is a database of another kind.
    """
    try:
        with closing(_open(source.path)) as database:
            yield from _messages(source, database)
    except (sqlite3.Error, ValueError, OverflowError, MemoryError) as error:  # SQLite may quote bytes that are not text
        raise DamagedError(f"{source.path} cannot be read as a ROS 2 bag: {quote(error)}") from error


def _open(path: Path) -> sqlite3.Connection:
    # The write-ahead log of a killed recorder is read too; without one, SQLite must not create files beside the bag.
    alone = "" if path.with_name(path.name + "-wal").exists() else "&immutable=1"
    database = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro{alone}", uri=True)
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(MAX_BYTES, path.stat().st_size))
    return database


def _messages(source: Source, database: sqlite3.Connection) -> Iterator[Message]:
    tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not {"topics", "messages"} <= tables:
        raise DamagedError(f"{source.path} is a database, but not a ROS 2 bag: it has no topics and messages")
    topics = {
        number: (str(topic), kind(str(name)))
        for number, topic, name in database.execute("SELECT id, name, type FROM topics LIMIT 10000")
        if kind(str(name)) in WANTED and isinstance(number, int)
    }
    (last,) = database.execute("SELECT max(id) FROM messages").fetchone()
    marks = ",".join("?" * len(topics))
    rows = database.execute(
        f"SELECT id, topic_id, timestamp, data FROM messages WHERE topic_id IN ({marks}) ORDER BY id", [*topics]
    )
    for number, topic, time, data in rows:
        if not (isinstance(time, int) and isinstance(data, bytes) and topic in topics):
            raise DamagedError(f"{source.path} is damaged: message {number} has no time or no data")
        if isinstance(last, int) and last > 0:
            source.advance(min(source.size, source.size * number // last))
        yield Message(*topics[topic], "cdr", time, data)
