"""Columns of numbers in a table of comma-separated values; read before anything that simulates soil is imported."""

import csv
import io
from pathlib import Path

import numpy as np

from sandlot.errors import RecordingError, quote
from sandlot.reading import read_bytes
from sandlot.typing import Array

SOIL = "soil"
"""Column with the name of the soil, which a table may have."""
MAX_BYTES = 2**26


def read_columns(path: Path, soil: str | None = None) -> dict[str, Array]:
    """The columns of numbers of a table, by name: (rows,) each.

    Args:
        path: Of the file, whose first line names the columns.
        soil: Which rows to take, by the column ``soil``; all if left out.

    Raises:
        RecordingError: If it cannot be read, is no table of numbers, or holds several soils and none is chosen.
    """
    try:
        rows = list(csv.reader(io.StringIO(read_bytes(path, MAX_BYTES, RecordingError).decode())))
    except (UnicodeDecodeError, csv.Error) as error:
        raise RecordingError(f"{path} is no table of comma-separated values: {quote(error)}") from None
    header, body = ([name.strip() for name in rows[0]] if rows else []), [row for row in rows[1:] if row]
    if SOIL in header and not any(len(row) != len(header) for row in body):
        place = header.index(SOIL)
        names = list(dict.fromkeys(row[place] for row in body))
        if soil is None and len(names) > 1:
            raise RecordingError(f"{path} has the soils {', '.join(map(quote, names))}; choose one with --soil")
        if soil is not None and soil not in names:
            raise RecordingError(f"{path} has no soil {quote(soil)!r}; it has {', '.join(map(quote, names))}")
        body = [row for row in body if soil in (None, row[place])]
        header, body = header[:place] + header[place + 1 :], [row[:place] + row[place + 1 :] for row in body]
    try:
        values = np.array(body, np.float64)
    except ValueError:
        values = np.zeros(0)
    if values.ndim != 2 or values.shape[1] != len(header) or not np.isfinite(values).all():
        raise RecordingError(f"{path} is no table with a line of names and lines of as many finite numbers")
    return dict(zip(header, values.T, strict=True))
