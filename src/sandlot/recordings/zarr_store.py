"""The files of a recording: an ordinary Zarr store, with one commit for all arrays.

The order of writing makes it safe: first the chunks of every array, then the root ``zarr.json``, which holds the number
of frames and, as consolidated metadata, the shape of every array. Replacing that one file is the commit; readers ignore
rows beyond the committed shapes.

Zarr makes the arrays and reads them; `Column` writes their chunks itself, which takes a tenth of the time. It writes
chunks of zeros, too, so that a lost chunk does not look like one of zeros.

A quantity that is not kept in every frame has its own time axis ``time_<name>`` and smaller chunks; its attribute
``every`` says which frames it was kept in.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import zarr
from zarr.codecs import ZstdCodec
from zarr.storage import LocalStore

from sandlot.errors import RecordingError
from sandlot.recordings.columns import COMPRESSION, Column, row_count, time_dim
from sandlot.recordings.frames import Quantity
from sandlot.writing import drafted

FORMAT = "sandlot recording"
FORMAT_VERSION = 1
"""Of the layout on disk. Raised when an older reader would misread a newer recording."""

MAX_FRAMES = 2**48
"""Rows the arrays are opened for, so that they never have to grow; only committed shapes reach the disk."""


class ZarrStore:
    """A new recording on disk.

    Args:
        path: Directory to create.
        quantities: Every quantity, by name.
        columns: The column of each; gets its directory.
        attributes: Of the recording.

    Attributes:
        attributes: Written by the next `commit`.

    Raises:
        RecordingError: The path exists or cannot be created.
    """

    def __init__(
        self,
        path: Path,
        quantities: Mapping[str, Quantity],
        columns: Mapping[str, Column],
        attributes: dict[str, Any],
    ) -> None:
        self._columns = columns
        self.attributes = attributes
        # The empty store gets its name only when it is complete.
        with drafted(path, RecordingError) as draft:
            self._path = draft
            group = zarr.create_group(LocalStore(draft))
            for name, quantity in quantities.items():
                _create_array(group, name, quantity, columns[name].chunk)
            self._arrays = {name: json.loads((draft / name / "zarr.json").read_bytes()) for name in quantities}
            self.commit(0)
            self.write_shapes()
        self._path = path
        for name, column in columns.items():
            column.folder = path / name

    def commit(self, frames: int) -> None:
        """Let readers see so many frames."""
        self.attributes["frames"] = frames
        for name, array in self._arrays.items():
            array["shape"][0] = row_count(frames, self._columns[name].every)
        root = {
            "zarr_format": 3,
            "node_type": "group",
            "attributes": self.attributes,
            "consolidated_metadata": {"kind": "inline", "must_understand": False, "metadata": self._arrays},
        }
        _replace(self._path / "zarr.json", root, self._path / "time" / "commit.partial")

    def write_shapes(self) -> None:
        """Write the committed shape of each array into its own metadata, for readers that use only those."""
        for name, array in self._arrays.items():
            _replace(self._path / name / "zarr.json", array, self._path / name / "zarr.partial")


def _create_array(group: zarr.Group, name: str, quantity: Quantity, chunk: int) -> None:
    sparse = {"every": quantity.every} if quantity.every > 1 else {}
    group.create_array(
        name,
        shape=(MAX_FRAMES, *quantity.shape),
        chunks=(chunk, *(max(length, 1) for length in quantity.shape)),
        dtype=quantity.dtype,
        dimension_names=(time_dim(name, quantity), *quantity.dims),
        attributes={"units": quantity.units, "long_name": quantity.long_name, **sparse},
        # One flat directory per array: quick to write, and quick to check for holes.
        chunk_key_encoding={"name": "default", "separator": "."},
        compressors=ZstdCodec(level=COMPRESSION.level, checksum=COMPRESSION.checksum),
    )


def _replace(file: Path, content: dict[str, Any], partial: Path) -> None:
    """Write JSON to ``partial`` and move it onto ``file``, which thus holds either the old or the new content.

    ``partial`` lies inside an array, where Zarr does not list files: next to the root's
    ``zarr.json`` a leftover would make Zarr warn about an unknown member.
    """
    partial.write_text(json.dumps(content))
    partial.replace(file)
