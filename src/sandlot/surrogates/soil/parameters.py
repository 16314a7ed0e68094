"""The parameters of soil that are fitted: coordinates in which a search is well scaled, with what is known before.

A coordinate is a parameter, or the combination of parameters that measurements determine best. What is known before a
measurement is a normal distribution over each coordinate; it covers soils from softer than Chrono's soft preset to
firmer than LETE sand. Searches use standardised values: deviations from the mean, in standard deviations.
"""

import math
from typing import NamedTuple

import numpy as np

from sandlot.physics.soil import SoilKind
from sandlot.typing import Array

DEPTH = 0.01
"""Depth of a plate whose pressure is a coordinate [m]."""
DAMPING = 3e4
"""Of fitted soils [Pa*s/m], which is not fitted; that of all presets."""


class Coordinate(NamedTuple):
    """One of the quantities that a search varies.

    Attributes:
        name: In words.
        mean: Known before.
        deviation: Standard deviation of what is known before.
        low: Smallest value.
        high: Largest value.
    """

    name: str
    mean: float
    deviation: float
    low: float
    high: float


COORDINATES = (
    Coordinate("log10 of Bekker's pressure at 1 cm [Pa]", 4.3, 0.8, 2.0, 7.0),
    Coordinate("share of k_c in Bekker's modulus", 0.25, 0.25, 0.0, 0.95),
    Coordinate("Bekker's exponent n", 0.95, 0.25, 0.3, 2.0),
    Coordinate("cohesion [kPa]", 1.0, 1.5, 0.0, 20.0),
    Coordinate("tangent of the friction angle", 0.62, 0.15, 0.1, 1.5),
    Coordinate("log10 of the shear length K [m]", -2.0, 0.3, -3.3, -1.0),
    Coordinate("log10 of the elastic stiffness [Pa/m]", 8.0, 0.5, 7.0, 10.0),
)
SHORT = ("Bekker's pressure", "the share of k_c", "exponent", "cohesion", "friction", "shear length", "elastic")
"""The coordinates, in a word or two."""
MEAN = np.array([each.mean for each in COORDINATES])
DEVIATION = np.array([each.deviation for each in COORDINATES])
LOW = (np.array([each.low for each in COORDINATES]) - MEAN) / DEVIATION
HIGH = (np.array([each.high for each in COORDINATES]) - MEAN) / DEVIATION
"""Bounds of standardised coordinates."""

FITTED = {
    "pressure": ("Pa", "Bekker's pressure at 1 cm, under a wheel or plate of the measured width"),
    "kphi": ("Pa/m^n", "Bekker's frictional modulus k_phi"),
    "kc": ("Pa/m^(n-1)", "Bekker's cohesive modulus k_c"),
    "exponent": ("1", "Bekker's exponent n"),
    "cohesion": ("Pa", "cohesion"),
    "friction": ("deg", "angle of internal friction"),
    "shear": ("m", "shear length K of Janosi and Hanamoto"),
    "elastic": ("Pa/m", "elastic stiffness"),
}
"""Parameters that a fit reports: unit and meaning."""


def parameters_of(standardised: Array, width: float) -> dict[str, Array]:
    """Parameters of soils by name, as `FITTED` lists them: (...,) each.

    Args:
        standardised: (..., 7) coordinates.
        width: Of the wheels or plate that Bekker's pressure is for [m].
    """
    values = MEAN + DEVIATION * np.clip(standardised, LOW, HIGH)
    exponent, share = values[..., 2], values[..., 1]
    pressure = 10.0 ** values[..., 0]
    modulus = pressure / DEPTH**exponent
    return {
        "pressure": pressure,
        "kphi": modulus * (1.0 - share),
        "kc": modulus * share * width,
        "exponent": exponent,
        "cohesion": 1e3 * values[..., 3],
        "friction": np.degrees(np.arctan(values[..., 4])),
        "shear": 10.0 ** values[..., 5],
        "elastic": 10.0 ** values[..., 6],
    }


def kind_of(standardised: Array, width: float) -> SoilKind:
    """The soil of coordinates (7,); ``width`` as of `parameters_of`."""
    found = {name: float(value) for name, value in parameters_of(standardised, width).items() if name != "pressure"}
    return SoilKind(**found, damping=DAMPING)


def known(kind: SoilKind, width: float) -> dict[str, float]:
    """The same parameters of a given soil, to compare with fitted ones."""
    pressure = (kind.kphi + kind.kc / width) * DEPTH**kind.exponent
    return {"pressure": pressure, **{name: float(getattr(kind, name)) for name in FITTED if name != "pressure"}}


def standardised_of(kind: SoilKind, width: float) -> Array:
    """Coordinates (7,) of a given soil."""
    modulus = kind.kphi + kind.kc / width
    values = [
        math.log10(modulus * DEPTH**kind.exponent),
        kind.kc / width / modulus,
        kind.exponent,
        1e-3 * kind.cohesion,
        math.tan(math.radians(kind.friction)),
        math.log10(kind.shear),
        math.log10(kind.elastic),
    ]
    return np.asarray((np.array(values) - MEAN) / DEVIATION)
