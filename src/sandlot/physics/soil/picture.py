"""The surface of soil as a height field of MuJoCo, so that every viewer and renderer of MuJoCo draws it."""

from typing import Any

import mujoco
import numpy as np

from sandlot.errors import ModelError, SettingError
from sandlot.typing import Array

BASE = 0.01
"""Thickness of the block below the lowest height that can be drawn [m]."""
COLOUR = (0.55, 0.45, 0.33, 1.0)


def add_picture(spec: Any, name: str, heights: Array, spacing: float, corner: Array, depth: float) -> Any:
    """Add a height field, and a geom that shows it and touches nothing; arguments as of `Soil.add_to`.

    Heights are written after compilation, since MuJoCo's compiler scales them to a range of its own.

    Returns:
        The geom, an ``MjsGeom``.
    """
    if not 0.0 < depth < np.inf:
        raise SettingError(f"depth={depth:g} is not possible; allowed: greater than 0")
    ny, nx = heights.shape
    half_x, half_y = 0.5 * spacing * (nx - 1), 0.5 * spacing * (ny - 1)
    low, high = float(heights.min()) - depth, float(heights.max()) + depth
    size = [half_x, half_y, high - low, BASE]
    spec.add_hfield(name=name, nrow=ny, ncol=nx, size=size, userdata=np.zeros(heights.size))
    return spec.worldbody.add_geom(
        name=name,
        type=mujoco.mjtGeom.mjGEOM_HFIELD,
        hfieldname=name,
        pos=[corner[0] + half_x, corner[1] + half_y, low],
        contype=0,
        conaffinity=0,
        mass=0.0,
        rgba=COLOUR,
    )


def write_picture(model: mujoco.MjModel, name: str, heights: Array, middle: Array | None = None) -> int:
    """Write heights into the height field of a model; returns its number.

    Args:
        model: As for `Soil.write_to`.
        name: As there.
        heights: (ny, nx) [m]
        middle: x and y of the middle of ground that moves (2,) [m]: the height field is moved there, and up or down if
            the heights are beyond its range.
    """
    field = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_HFIELD, name)
    geom = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, name)
    if field < 0 or geom < 0:
        raise ModelError(f"the model has no height field and geom {name!r}; use add_to before it is compiled")
    shape = (int(model.hfield_nrow[field]), int(model.hfield_ncol[field]))
    if shape != heights.shape:
        raise ModelError(f"height field {name!r} is of shape {shape}; allowed: {heights.shape}, as the soil")
    low, tall, start = float(model.geom_pos[geom, 2]), float(model.hfield_size[field, 2]), model.hfield_adr[field]
    if middle is not None:
        if heights.min() < low or heights.max() > low + tall:
            low = 0.5 * float(heights.min() + heights.max() - tall)
        model.geom_pos[geom] = [*middle, low]
    # MuJoCo keeps 0 for the lowest height that can be drawn, and 1 for the highest.
    scaled = (heights - low) / tall
    if scaled.min() < 0.0 or scaled.max() > 1.0:
        raise ModelError(
            f"the surface is at {heights.min():.3g} to {heights.max():.3g} m, and height field {name!r} shows "
            f"{low:.3g} to {low + tall:.3g} m; allowed: a larger depth in add_to"
        )
    model.hfield_data[start : start + heights.size] = scaled.ravel()
    return field
