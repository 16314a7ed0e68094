"""Terrains to start from: hills, a heap, an image.

Each maker gives a ``(ny, nx)`` array of heights from 0 to ``relief``, in whatever
unit the caller thinks in; grid worlds round them.
"""

from pathlib import Path

import numpy as np
from PIL import Image, UnidentifiedImageError

from sandlot.errors import SandlotError
from sandlot.typing import Array

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
        rng: Where the noise comes from.
        size: Typical radius of a hill [cell].
        relief: Height of the highest point above the lowest.
        roughness: 0 for rounded hills, up to 1 for detail at every scale.
        tileable: Whether the terrain goes on without a seam where its opposite edges are put together.
    """
    # The noise wraps around; of a field twice as large in each direction, one corner does not.
    ny, nx = shape if tileable else (2 * shape[0], 2 * shape[1])
    wave = np.hypot(np.fft.fftfreq(ny)[:, None], np.fft.rfftfreq(nx)[None, :]) * 4.0 * size
    spectrum = np.fft.rfft2(rng.standard_normal((ny, nx))) * (1.0 + wave**2) ** (-4.0 + 3.0 * roughness)
    field = np.fft.irfft2(spectrum, s=(ny, nx))[: shape[0], : shape[1]]
    span = float(np.ptp(field))
    return (field - field.min()) * (relief / span) if span > 0.0 else np.zeros(shape)


def heap(shape: tuple[int, int], radius: float = 8.0, relief: float = 12.0) -> Array:
    """Put one cone of ``radius`` [cell] and height ``relief`` on the middle cell of flat ground."""
    y, x = np.indices(shape)
    distance = np.hypot(y - shape[0] // 2, x - shape[1] // 2)
    return relief * np.clip(1.0 - distance / radius, 0.0, None)


def seam(heights: Array) -> float:
    """How steep a map is where its opposite edges are put together, as a multiple of what it is inside.

    Of the steps in height from node to node the root of the mean square is taken, along x and along y; the larger of
    the two ratios counts. About 1 where there is no seam, far more where there is one, and 0 for flat ground.
    """
    ratios = [0.0]
    for axis in (0, 1):
        inside = np.sqrt(np.mean(np.diff(heights, axis=axis) ** 2)) if heights.shape[axis] > 1 else 0.0
        across = np.sqrt(np.mean((heights.take(0, axis) - heights.take(-1, axis)) ** 2))
        if across > 0.0:
            ratios.append(float(across / inside) if inside > 0.0 else np.inf)
    return max(ratios)


def shade(heights: Array, spacing: float) -> Array:
    """How bright a terrain is in a low light from the upper left: (ny, nx) from 0 to 1, flat ground 0.6."""
    gy, gx = np.gradient(heights, spacing)
    toward = np.array([-0.56, 0.56, 0.6])
    light = (-gx * toward[0] - gy * toward[1] + toward[2]) / np.sqrt(1.0 + gx**2 + gy**2)
    return np.clip(light, 0.0, 1.0)


def from_image(path: Path, relief: float = 12.0) -> Array:
    """Read a grayscale image, 8 or 16 bit: black is 0, white is ``relief``, the top row is the last.

    Raises:
        SandlotError: If the file is missing, is no image, or is cut off.
    """
    try:
        with Image.open(path) as image:
            # Sixteen-bit modes do not survive a conversion to "L"; the other modes have eight bits or one.
            deep = image.mode.startswith("I;16")
            if not deep and image.mode not in EIGHT_BIT:
                raise SandlotError(f"{path} is an image of mode {image.mode}; allowed are 8 and 16 bits a pixel")
            gray = np.asarray(image if deep else image.convert("L"), np.float64) / (65535.0 if deep else 255.0)
    except FileNotFoundError:
        raise SandlotError(f"no image at {path}") from None
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError, ValueError) as error:
        reason = "it is not an image" if isinstance(error, UnidentifiedImageError) else str(error)
        raise SandlotError(f"cannot read {path} as a grayscale image: {reason}") from None
    return np.flipud(gray) * relief
