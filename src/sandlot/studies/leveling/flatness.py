"""How flat a terrain is that wraps around, with its hills and its ruts apart."""

import numpy as np

from sandlot.recordings import Quantity
from sandlot.typing import Array

CUT = 0.25
"""Waves that are longer than this are hills, shorter ones are ruts [m]; it is the length of the rover."""
FLAT = 0.1
"""Slope up to which ground counts as flat, here."""
TOUCHED = 1e-3
"""Ground whose height has changed by more than this was driven over [m]."""
EXTREME = 0.1
"""Peaks are this share of the terrain that was highest at first, valleys the share that was lowest."""

MEASURES = {
    "steepest": Quantity("1", "steepest slope between nodes: the smallest for which the source calls the terrain flat"),
    "steepest_hill": Quantity("1", "the same, without ruts"),
    "flat_share": Quantity("1", "share of the terrain with a slope of at most 0.1"),
    "height_sd": Quantity("m", "standard deviation of heights"),
    "hill_sd": Quantity("m", "the same of waves longer than a rover"),
    "rut_sd": Quantity("m", "the same of shorter waves"),
    "left": Quantity("1", "how high the hills still are: regression of the heights on those at first, without ruts"),
    "peaks": Quantity("m", "change of height of the tenth of the terrain that was highest, without ruts"),
    "valleys": Quantity("m", "change of height of the tenth that was lowest, without ruts"),
    "driven": Quantity("1", "share of the terrain that has changed by more than 1 mm"),
    "driven_sd": Quantity("1", "standard deviation of heights there, over that at first"),
    "moved": Quantity("m", "mean absolute change of height"),
}
"""What `measure` returns."""


def smooth(heights: Array, spacing: float) -> Array:
    """A terrain (ny, nx) that wraps around, without waves shorter than a rover."""
    ny, nx = heights.shape
    waves = np.hypot(np.fft.fftfreq(ny, spacing)[:, None], np.fft.rfftfreq(nx, spacing)[None, :])
    return np.fft.irfft2(np.fft.rfft2(heights) * (waves < 1.0 / CUT), s=heights.shape)


def slopes(heights: Array, spacing: float) -> Array:
    """Length of the gradient at every node of a terrain that wraps around: (ny, nx)."""
    along = [(np.roll(heights, -1, axis) - heights) / spacing for axis in (0, 1)]
    return np.hypot(*along)


def measure(initial: Array, heights: Array, spacing: float) -> dict[str, float]:
    """Compare a terrain with what it was at first.

    Args:
        initial: (ny, nx) at first [m].
        heights: (ny, nx) now [m].
        spacing: Of nodes [m].

    Returns:
        The values of ``MEASURES``. ``driven_sd`` is 1 as long as nothing has been driven over.
    """
    was, now = smooth(initial, spacing), smooth(heights, spacing)
    low, high = np.quantile(was, (EXTREME, 1.0 - EXTREME))
    change, touched = now - was, np.abs(heights - initial) > TOUCHED
    slope, centred = slopes(heights, spacing), was - was.mean()
    return {
        "steepest": float(slope.max()),
        "steepest_hill": float(slopes(now, spacing).max()),
        "flat_share": float(np.mean(slope <= FLAT)),
        "height_sd": float(heights.std()),
        "hill_sd": float(now.std()),
        "rut_sd": float((heights - now).std()),
        "left": float(np.sum(centred * now) / np.sum(centred**2)),
        "peaks": float(change[was >= high].mean()),
        "valleys": float(change[was <= low].mean()),
        "driven": float(touched.mean()),
        "driven_sd": float(heights[touched].std() / initial[touched].std()) if touched.any() else 1.0,
        "moved": float(np.abs(heights - initial).mean()),
    }
