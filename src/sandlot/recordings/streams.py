"""Streams of different rates in one MCAP file: each message has its own time, and is written as it comes.

Messages are those of ROS 2 (CDR), so that Foxglove, RViz and ROS 2 read them. A file whose writer was killed holds all
messages up to the last chunk.
"""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
import xarray as xr

from sandlot.errors import RecordingError, os_reason
from sandlot.extras import need
from sandlot.recordings.logs.bags.decoding import typestore
from sandlot.writing import refuse_existing

CHUNK = 64 * 1024
"""A chunk is written when it has so many bytes."""


class StreamWriter:
    """An MCAP file that is being written; a context manager."""

    def __init__(self, path: Path) -> None:
        """Begin a file.

        Raises:
            RecordingError: If it exists or cannot be written.
            MissingExtraError: If a library is missing.
        """
        refuse_existing(path, RecordingError)
        writer: Any = need("mcap.writer", "rover")
        self._types = typestore("cdr")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("wb")
        except OSError as error:
            raise RecordingError(f"cannot write {path}: {os_reason(error, path)}") from error
        self._bag = writer.Writer(self._file, chunk_size=CHUNK, compression=writer.CompressionType.NONE)
        self._bag.start(profile="ros2", library="sandlot")
        self._channels: dict[str, tuple[int, str]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Write the rest, and the index."""
        self._bag.finish()
        self._file.close()

    def write(self, topic: str, name: str, time: float, fields: Mapping[str, Any]) -> None:
        """Add a message.

        Args:
            topic: Of the stream, as ``/scan``.
            name: Of the type, as ``sensor_msgs/msg/LaserScan``; the same for all messages of a topic.
            time: Of the message, since 1970 [s].
            fields: Of the message; nested messages are mappings, and fields that are missing are zero.
        """
        if topic not in self._channels:
            text = self._types.generate_msgdef(name, ros_version=2)[0]
            schema = self._bag.register_schema(name=name, encoding="ros2msg", data=text.encode())
            self._channels[topic] = self._bag.register_channel(topic, "cdr", schema), name
        channel, known = self._channels[topic]
        if known != name:
            raise ValueError(f"{topic} holds {known}, not {name}")
        stamp = round(1e9 * time)
        data = bytes(self._types.serialize_cdr(self._make(name, fields), name))
        self._bag.add_message(channel_id=channel, log_time=stamp, publish_time=stamp, data=data)

    def _make(self, name: str, fields: Mapping[str, Any]) -> Any:
        """A message of a type; what is not given is zero or empty."""
        made = {}
        definition: Any = self._types.fielddefs[name][1]
        for field, (kind, detail) in definition:
            given = fields.get(field)
            if kind == 1:  # a number or a text
                base = detail[0]
                made[field] = (
                    given if given is not None else ("" if base == "string" else False if base == "bool" else 0)
                )
            elif kind == 2:  # a message
                made[field] = self._make(detail, given or {})
            else:
                made[field] = self._several(detail, given)
        return self._types.types[name](**made)

    def _several(self, detail: Any, given: Any) -> Any:
        (kind, base), length = detail
        if kind == 2:
            return [self._make(base, each) for each in given or ()]
        if base[0] == "string":
            return list(given or ())
        return np.zeros(length, base[0]) if given is None else np.asarray(given, base[0])


def stamped(time: float, frame: str) -> dict[str, Any]:
    """The header of a message of a time [s] in a frame."""
    seconds = math.floor(time)
    return {"stamp": {"sec": seconds, "nanosec": min(round(1e9 * (time - seconds)), 10**9 - 1)}, "frame_id": frame}


def flat_pose(x: float, y: float, yaw: float) -> dict[str, Any]:
    """A pose on the floor [m, m, rad] as ``geometry_msgs/msg/Pose``."""
    turned = {"x": 0.0, "y": 0.0, "z": math.sin(0.5 * yaw), "w": math.cos(0.5 * yaw)}
    return {"position": {"x": x, "y": y, "z": 0.0}, "orientation": turned}


class Sample(NamedTuple):
    """A message of a stream: its topic, its time [s] and its content."""

    topic: str
    time: float
    message: Any


def read_samples(path: Path) -> Iterator[Sample]:
    """Read the messages of an MCAP file of ROS 2 in the order of writing, also of one that was cut off.

    Raises:
        RecordingError: If it cannot be read.
    """
    from sandlot.recordings.logs.bags.mcap import read_mcap
    from sandlot.recordings.logs.source import DamagedError, Source

    store = typestore("cdr")
    names = {name.rsplit("/", 1)[-1]: name for name in store.types if name.count("/") == 2}
    count = 0
    try:
        for message in read_mcap(Source(path)):
            name = names.get(message.kind)
            if message.encoding == "cdr" and name is not None:
                count += 1
                yield Sample(message.topic, 1e-9 * message.time, store.deserialize_cdr(message.data, name))
    except DamagedError as problem:
        if not count:
            raise RecordingError(str(problem)) from problem


def read_streams(path: Path) -> dict[str, xr.Dataset]:
    """The numbers of each stream over its own time: for each topic a dataset with the dimension ``time``.

    Fields of nested messages are joined by dots; arrays of a constant length are kept, others are left out.

    Raises:
        RecordingError: If the file cannot be read.
    """
    rows: dict[str, list[dict[str, Any]]] = {}
    times: dict[str, list[float]] = {}
    for topic, time, message in read_samples(path):
        rows.setdefault(topic, []).append(dict(_numbers("", message)))
        times.setdefault(topic, []).append(time)
    found = {}
    for topic, each in rows.items():
        names = [name for name in each[0] if len({np.shape(row.get(name, "")) for row in each}) == 1]
        variables = {}
        for name in names:
            values = np.array([row[name] for row in each])
            if values.dtype.kind in "biufU":
                variables[name] = (("time", *(f"{name}_{k}" for k in range(1, values.ndim))), values)
        found[topic] = xr.Dataset(variables, {"time": ("time", np.array(times[topic]), {"units": "s"})})
    return found


def _numbers(prefix: str, message: Any) -> Iterator[tuple[str, Any]]:
    for name in message.__dataclass_fields__:
        if name.startswith("_") or name.isupper():
            continue
        value = getattr(message, name)
        if hasattr(value, "__dataclass_fields__"):
            yield from _numbers(f"{prefix}{name}.", value)
        elif isinstance(value, int | float | str | bool | np.ndarray):
            yield f"{prefix}{name}", value
