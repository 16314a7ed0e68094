"""Unpacks the compressed parts of bags, never to more than a given size."""

import bz2
import sys
from typing import Any

from sandlot.extras import need

ZSTD = b"\x28\xb5\x2f\xfd"
"""First bytes of zstd data; no message begins so."""


def unpack(method: str, data: bytes, max_bytes: int) -> bytes:
    """Undo a compression, up to ``max_bytes``; of data that is cut off, as much as there is.

    Raises:
        ValueError: The method is not known, or the data is damaged from the start.
    """
    if method in ("", "none"):
        return data[:max_bytes]
    if method not in ("bz2", "lz4", "zstd"):
        raise ValueError(f"its compression {method[:20]!r} is not known; known: bz2, lz4, zstd")
    try:
        return bytes(_decompressor(method).decompress(data, max_length=max_bytes))
    except (RuntimeError, OSError, EOFError, zstd().ZstdError) as error:
        raise ValueError(f"{method} fails: {error}") from error


def zstd() -> Any:
    """The zstd module: part of Python from 3.14 on."""
    return need("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd", "logs")


def _decompressor(method: str) -> Any:
    if method == "bz2":
        return bz2.BZ2Decompressor()
    if method == "zstd":
        return zstd().ZstdDecompressor()
    return need("lz4.frame", "logs").LZ4FrameDecompressor()
