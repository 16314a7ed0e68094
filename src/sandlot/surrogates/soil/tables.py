"""Tables of comma-separated values as evidence about soil: of a plate, or of a wheel on a test rig."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from sandlot.errors import RecordingError
from sandlot.surrogates.soil.evidence import Evidence
from sandlot.surrogates.soil.rigs import PlateTest, WheelTest
from sandlot.typing import Array

PLATE = ("length_m", "width_m", "sinkage_m", "force_N")
WHEEL = ("wheel_radius_m", "wheel_width_m", "load_N", "speed_m_s", "slip", "sinkage_m", "drawbar_pull_N")
TORQUE, GRID = "torque_Nm", "grid_m"
"""Columns that a table may have besides: torque, and spacing of nodes of the simulated ground."""
NODES = 10
"""Nodes across a plate or wheel, if the table gives no grid."""


def rig_of(columns: Mapping[str, Array], path: Path) -> list[Evidence] | None:
    """The tests of a plate or a wheel in a table; None if it is neither.

    Raises:
        RecordingError: If columns are missing, or values are impossible.
    """
    if "force_N" in columns:
        _check(columns, PLATE, path)
        return [_plate(group, path) for group in _groups(columns, PLATE[:2])]
    if "drawbar_pull_N" in columns:
        _check(columns, WHEEL, path)
        return [_wheel(group, path) for group in _groups(columns, WHEEL[:4])]
    return None


def _check(columns: Mapping[str, Array], needed: tuple[str, ...], path: Path) -> None:
    missing = [name for name in needed if name not in columns]
    if missing:
        raise RecordingError(f"{path} lacks {', '.join(missing)}; such a table needs {', '.join(needed)}")


def _groups(columns: Mapping[str, Array], names: tuple[str, ...]) -> list[dict[str, Array]]:
    """Rows that agree in some columns, together."""
    keys = np.column_stack([columns[name] for name in names])
    return [
        {name: values[(keys == key).all(axis=1)] for name, values in columns.items()} for key in np.unique(keys, axis=0)
    ]


def _spacing(columns: Mapping[str, Array], width: float, path: Path) -> float:
    spacing = float(columns[GRID][0]) if GRID in columns else width / NODES
    if not 0.0 < spacing <= width:
        raise RecordingError(f"{path}: {GRID}={spacing:g} is not possible; allowed: more than 0, at most the width")
    return spacing


def _plate(columns: Mapping[str, Array], path: Path) -> PlateTest:
    length, width = float(columns["length_m"][0]), float(columns["width_m"][0])
    if min(length, width) <= 0.0:
        raise RecordingError(f"{path}: a plate of {length:g} x {width:g} m is not possible; allowed: more than 0")
    return PlateTest((length, width), columns["sinkage_m"], columns["force_N"], _spacing(columns, width, path))


def _wheel(columns: Mapping[str, Array], path: Path) -> WheelTest:
    radius, width, load, speed = (float(columns[name][0]) for name in WHEEL[:4])
    slips = columns["slip"]
    if min(radius, width, load, speed) <= 0.0 or slips.max() >= 1.0 or slips.min() <= -1.0:
        raise RecordingError(f"{path}: sizes, load and speed must be more than 0, and slips between -1 and 1")
    kept = [name for name in (*WHEEL[5:], TORQUE) if name in columns]
    measured = np.column_stack([columns[name] for name in kept])
    return WheelTest(radius, width, load, speed, slips, measured, _spacing(columns, width, path))
