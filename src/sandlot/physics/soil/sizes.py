"""How large a shape must be for the spacing of the ground, judged by its footprint.

Cells count by the share that a body covers, so the thickness of a flat foot does not matter. What counts is the second
largest side of a box around the shape. In runs with all kinds of shapes, on three soils and at many places between the
nodes, no shape with a footprint of 0.35 spacings fell through; at 0.25 some did. At 0.5 most of them sank in by 0.5 to
1.6 times as much as on fine ground; at 1, boxes are exact.
"""

import warnings
from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from sandlot.errors import ModelError, RobotWarning
from sandlot.physics import shapes
from sandlot.physics.attachment import shape_name

MIN_FOOTPRINT = 0.5
"""Smallest footprint of a shape, as a multiple of the spacing."""
ROUNDING = 1e-9
"""Sizes are compared up to this fraction."""


def geom_footprint(model: mujoco.MjModel, geom: int) -> float:
    """The second largest side of a box around a geom [m]."""
    return 2.0 * float(np.sort(model.geom_aabb[geom, 3:])[1])


def footprint(model: mujoco.MjModel, shape: np.void) -> float:
    """The same for a shape; for a track, its width or the diameter of its pulleys if that is less."""
    if shape["kind"] == shapes.TRACK:
        return 2.0 * float(shape["size"][1:].min())
    return geom_footprint(model, int(shape["geom"]))


def is_small(across: float, spacing: float) -> bool:
    """Whether a shape with this footprint [m] could fall through between nodes."""
    return across < MIN_FOOTPRINT * spacing * (1.0 - ROUNDING)


def check_sizes(model: mujoco.MjModel, records: NDArray[np.void], spacing: float) -> None:
    """Refuse shapes that could fall through between the nodes.

    Raises:
        ModelError: If there is one.
    """
    for shape in records:
        across = footprint(model, shape)
        if is_small(across, spacing):
            raise ModelError(
                f"{shape_name(model, shape)} has a footprint of {across:.3g} m, less than half the spacing of the "
                f"ground; allowed: spacing of at most {across / MIN_FOOTPRINT:.2g}"
            )


def drop_small(model: mujoco.MjModel, geoms: Sequence[int], tracks: int, spacing: float) -> list[int]:
    """The geoms that are large enough; one warning names the bodies of the others.

    Raises:
        ModelError: If none is left, and there are no tracks.
    """
    # A plane has no bounding sphere; it is refused elsewhere.
    sizes = {geom: geom_footprint(model, geom) for geom in geoms if model.geom_rbound[geom] > 0.0}
    small = {geom: across for geom, across in sizes.items() if is_small(across, spacing)}
    if not small:
        return list(geoms)
    if len(small) == len(geoms) and not tracks:
        raise ModelError(
            f"every geom has a footprint of less than half the spacing of the ground, which is {spacing:g} m; "
            f"allowed: spacing of at most {max(small.values()) / MIN_FOOTPRINT:.2g}"
        )
    bodies = dict.fromkeys(int(model.geom_bodyid[geom]) for geom in small)
    names = ", ".join(model.body(body).name or f"body {body}" for body in bodies)
    warnings.warn(
        f"{len(small)} geoms of {names} have a footprint of less than half the spacing of the ground, and do not touch "
        f"it; if they should, use a spacing of at most {min(small.values()) / MIN_FOOTPRINT:.2g}",
        RobotWarning,
        stacklevel=4,
    )
    return [geom for geom in geoms if geom not in small]
