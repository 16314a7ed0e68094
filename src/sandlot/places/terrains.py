"""Height maps to start from: random hills, the fixed terrains A and B, a heap, an image.

`hills`, `heap` and `from_image` give a ``(ny, nx)`` array of heights from 0 to ``relief``, in the unit of ``relief``.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, UnidentifiedImageError

from sandlot.errors import PlaceError, quote
from sandlot.reading import check_regular
from sandlot.typing import Array

MAX_PIXELS = 2**24
"""Largest image: 4096 x 4096."""

STEEP_SEAM = 3.0
"""A map does not wrap around if it is this many times as steep across its edges as inside."""
EIGHT_BIT = {"1", "L", "LA", "P", "PA", "RGB", "RGBA", "CMYK", "YCbCr"}


def hills(
    shape: tuple[int, int],
    rng: np.random.Generator,
    size: float = 8.0,
    relief: float = 12.0,
    roughness: float = 0.0,
    tileable: bool = False,
) -> Array:
    """Draw random hills and valleys.

    White noise, filtered so that waves shorter than about four times ``size`` fade out.

    Args:
        shape: (ny, nx) of the terrain.
        rng: Source of the noise.
        size: Typical radius of a hill [cell].
        relief: Height of the highest point above the lowest.
        roughness: 0 for rounded hills, up to 1 for detail at every scale.
        tileable: Whether the terrain continues smoothly across its opposite edges.
    """
    # The noise is periodic; one corner of a field twice as large in each direction is not.
    ny, nx = shape if tileable else (2 * shape[0], 2 * shape[1])
    wave = np.hypot(np.fft.fftfreq(ny)[:, None], np.fft.rfftfreq(nx)[None, :]) * 4.0 * size
    spectrum = np.fft.rfft2(rng.standard_normal((ny, nx))) * (1.0 + wave**2) ** (-4.0 + 3.0 * roughness)
    field = np.fft.irfft2(spectrum, s=(ny, nx))[: shape[0], : shape[1]]
    span = float(np.ptp(field))
    return (field - field.min()) * (relief / span) if span > 0.0 else np.zeros(shape)


@dataclass(frozen=True)
class FixedTerrain:
    """Hills that are always the same.

    Attributes:
        seed: They are drawn from.
        hill_size: Typical radius of a hill [m].
        roughness: As of `hills`.
        slope: Root mean square of all slopes; it sets the height of the hills.
    """

    seed: int
    hill_size: float
    roughness: float
    slope: float

    def heights(self, shape: tuple[int, int], spacing: float, rng: np.random.Generator | None = None) -> Array:
        """Their height map: (ny, nx) [m], for nodes ``spacing`` [m] apart. It wraps around.

        With a generator, other hills of the same kind.
        """
        rng = np.random.default_rng(self.seed) if rng is None else rng
        field = hills(shape, rng, self.hill_size / spacing, 1.0, self.roughness, tileable=True)
        slopes = [(np.roll(field, -1, axis) - field) / spacing for axis in (0, 1)]
        return field * (self.slope / np.sqrt(np.mean(slopes[0] ** 2 + slopes[1] ** 2)))


TERRAINS = {"A": FixedTerrain(1, 0.35, 0.0, 0.1), "B": FixedTerrain(2, 0.08, 0.3, 0.15)}
"""``A``: wide, gentle hills. ``B``: short, rough bumps."""


def heap(shape: tuple[int, int], radius: float = 8.0, relief: float = 12.0) -> Array:
    """One cone of ``radius`` [cell] and height ``relief`` in the middle of flat ground."""
    y, x = np.indices(shape)
    distance = np.hypot(y - shape[0] // 2, x - shape[1] // 2)
    return relief * np.clip(1.0 - distance / radius, 0.0, None)


def seam(heights: Array) -> float:
    """How much steeper a map is across its opposite edges than inside.

    The ratio of the RMS height steps from node to node, across the edges and inside, along x or y, whichever is larger.
    About 1 without a seam, far more with one, and 0 for flat ground.
    """
    ratios = [0.0]
    for axis in (0, 1):
        inside = np.sqrt(np.mean(np.diff(heights, axis=axis) ** 2)) if heights.shape[axis] > 1 else 0.0
        across = np.sqrt(np.mean((heights.take(0, axis) - heights.take(-1, axis)) ** 2))
        if across > 0.0:
            ratios.append(float(across / inside) if inside > 0.0 else np.inf)
    return max(ratios)


def shade(heights: Array, spacing: float) -> Array:
    """Brightness of a terrain in a low light from the upper left: (ny, nx) from 0 to 1, flat ground 0.6."""
    gy, gx = np.gradient(heights, spacing)
    toward = np.array([-0.56, 0.56, 0.6])
    light = (-gx * toward[0] - gy * toward[1] + toward[2]) / np.sqrt(1.0 + gx**2 + gy**2)
    return np.clip(light, 0.0, 1.0)


def from_image(path: Path, relief: float = 12.0, tileable: bool = False) -> Array:
    """Read a grayscale image, 8 or 16 bit: black is 0, white is ``relief``, the top row is the last.

    Args:
        path: Of the image.
        relief: Height of white above black.
        tileable: Whether opposite edges must fit together.

    Raises:
        PlaceError: If the file is missing, is no image, is cut off or too large, or if its edges do not fit.
    """
    try:
        check_regular(path)
        with Image.open(path) as image:
            if image.width * image.height > MAX_PIXELS:
                raise PlaceError(f"{path} has {image.width} x {image.height} pixels; allowed are {MAX_PIXELS}")
            # Sixteen-bit modes do not survive a conversion to "L"; the other modes have eight bits or one.
            deep = image.mode.startswith("I;16")
            if not deep and image.mode not in EIGHT_BIT:
                raise PlaceError(f"{path} is an image of mode {image.mode}; allowed are 8 and 16 bits a pixel")
            gray = np.asarray(image if deep else image.convert("L"), np.float64) / (65535.0 if deep else 255.0)
    except FileNotFoundError:
        raise PlaceError(f"no image at {quote(path)}") from None
    except PlaceError:
        raise
    except Exception as error:  # decoders raise nearly every kind
        reason = "it is not an image" if isinstance(error, UnidentifiedImageError) else quote(error)
        raise PlaceError(f"cannot read {quote(path)} as a grayscale image: {reason}") from None
    heights = np.flipud(gray) * relief
    steep = seam(heights) if tileable else 0.0
    if steep > STEEP_SEAM:
        raise PlaceError(
            f"{path} cannot wrap around: where its opposite edges would meet, it is {steep:.0f} times as steep as "
            f"inside; allowed: {STEEP_SEAM:g}"
        )
    return heights
