"""A textured surface as one binary glTF file (GLB), which viser shows without further lighting."""

import io
import json
import struct

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow

from sandlot.typing import Array, Image, IntArray

FLOAT, UNSIGNED, LINEAR, CLAMP = 5126, 5125, 9729, 33071
"""Codes of glTF for numbers, and for how a texture is sampled."""
QUALITY = 88
"""Of the texture, as JPEG."""


def surface_glb(vertices: Array, places: Array, faces: IntArray, texture: Image) -> bytes:
    """Make the file.

    Args:
        vertices: (n, 3) [m]
        places: (n, 2) of each vertex in the texture, from 0 to 1: to the right, and down.
        faces: (m, 3) vertex indices of each triangle.
        texture: (rows, columns, 3)
    """
    encoded = io.BytesIO()
    Pillow.fromarray(texture).save(encoded, "JPEG", quality=QUALITY, subsampling=0)
    positions = np.ascontiguousarray(vertices, np.float32)
    parts = [
        _padded(np.ascontiguousarray(faces, np.uint32)),
        _padded(positions),
        _padded(np.ascontiguousarray(places, np.float32)),
        _padded(np.frombuffer(encoded.getvalue(), np.uint8)),
    ]
    starts = np.cumsum([0, *map(len, parts)]).tolist()
    document = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 1, "TEXCOORD_0": 2}, "indices": 0, "material": 0}]}],
        "materials": [
            {
                "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}, "metallicFactor": 0},
                "extensions": {"KHR_materials_unlit": {}},
                "doubleSided": True,
            }
        ],
        "extensionsUsed": ["KHR_materials_unlit"],
        "textures": [{"source": 0, "sampler": 0}],
        "samplers": [{"magFilter": LINEAR, "minFilter": LINEAR, "wrapS": CLAMP, "wrapT": CLAMP}],
        "images": [{"bufferView": 3, "mimeType": "image/jpeg"}],
        "accessors": [
            {"bufferView": 0, "componentType": UNSIGNED, "count": faces.size, "type": "SCALAR"},
            {
                "bufferView": 1,
                "componentType": FLOAT,
                "count": len(vertices),
                "type": "VEC3",
                "min": positions.min(axis=0).tolist(),
                "max": positions.max(axis=0).tolist(),
            },
            {"bufferView": 2, "componentType": FLOAT, "count": len(vertices), "type": "VEC2"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": start, "byteLength": len(part)}
            for start, part in zip(starts, parts, strict=False)
        ],
        "buffers": [{"byteLength": starts[-1]}],
    }
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    binary = b"".join(parts)
    size = 12 + 8 + len(text) + 8 + len(binary)
    head = struct.pack("<4sII", b"glTF", 2, size)
    return b"".join(
        [head, struct.pack("<I4s", len(text), b"JSON"), text, struct.pack("<I4s", len(binary), b"BIN\0"), binary]
    )


def _padded(values: NDArray[np.generic]) -> bytes:
    """Bytes, filled up to a multiple of four."""
    raw = values.tobytes()
    return raw + b"\0" * (-len(raw) % 4)
