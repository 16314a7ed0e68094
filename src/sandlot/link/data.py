"""Data packets: arrays as base64 text of their numbers, announced by a descriptor; nothing is pickled.

A data packet is ``{"N": ..., "data": "..."}`` with the ``N`` of its descriptor.
"""

import binascii
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sandlot.errors import LinkError
from sandlot.link.framing import MAX_DATA, frame
from sandlot.link.messages import Descriptor, DType

TYPES: dict[DType, np.dtype[Any]] = {
    "float32": np.dtype("<f4"),
    "float64": np.dtype("<f8"),
    "uint8": np.dtype("u1"),
    "int32": np.dtype("<i4"),
}
NAMES: dict[np.dtype[Any], DType] = {dtype: name for name, dtype in TYPES.items()}


def describe(array: NDArray[Any], **about: Any) -> Descriptor:
    """The descriptor of an array; ``about`` gives its other fields."""
    name = NAMES[array.dtype.newbyteorder("<") if array.dtype.itemsize > 1 else array.dtype]
    return Descriptor(dtype=name, shape=array.shape, **about)


def pack(number: int, array: NDArray[Any]) -> bytes:
    """The data packet of an array."""
    dtype = TYPES[NAMES[array.dtype.newbyteorder("<") if array.dtype.itemsize > 1 else array.dtype]]
    text = binascii.b2a_base64(np.ascontiguousarray(array, dtype).tobytes(), newline=False)
    return frame("data", b'{"N":%d,"data":"%s"}' % (number, text))


def unpack(text: bytes, descriptor: Descriptor) -> NDArray[Any]:
    """The array of a data packet.

    Args:
        text: Of the packet.
        descriptor: Of the message that announced it.

    Raises:
        LinkError: If it is not what the descriptor says.
    """
    dtype = TYPES[descriptor.dtype]
    size = descriptor.size * dtype.itemsize
    if size > MAX_DATA:
        raise LinkError(f"a data packet of {size:,} bytes is announced; allowed: {MAX_DATA:,}")
    try:
        given = json.loads(text)
        number, raw = given["N"], binascii.a2b_base64(given["data"], strict_mode=True)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise LinkError(f"a data packet cannot be read: {error}") from None
    if number != descriptor.N or isinstance(number, bool):
        raise LinkError(f"a data packet has the number {number}; its descriptor has {descriptor.N}")
    if len(raw) != size:
        raise LinkError(f"a data packet has {len(raw):,} bytes; its descriptor says {size:,}")
    return np.frombuffer(raw, dtype).reshape(descriptor.shape)
