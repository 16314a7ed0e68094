"""Whether a learned rover stays within the physical range, whatever is commanded."""

import numpy as np

from sandlot.physics.soil import SoilKind
from sandlot.surrogates.terrain.contact import SEEN
from sandlot.surrogates.terrain.ground_model import GroundModel
from sandlot.surrogates.terrain.inputs import soil_inputs
from sandlot.surrogates.terrain.motion_model import MotionModel
from sandlot.surrogates.terrain.rollout import drive_many
from sandlot.surrogates.terrain.step import NEVER, STATE, make_maps, make_scratch, put_down
from sandlot.typing import Array

HOLD = 100
"""Frames for which commands stay."""
AT_BOUND = 1e-9
TOGETHER = 2000
"""Rovers that are driven at a time."""


def outside(
    model: MotionModel, heights: Array, kind: SoilKind, starts: int, steps: int, seed: int, threads: int = 1
) -> float:
    """Share of random starts that end at a bound of the model, or at no finite place, after random commands.

    The ground keeps its heights. A bound is beyond all that was recorded.

    Args:
        model: How the rover moves.
        heights: (ny, nx) nodes of 1 cm [m]; they wrap.
        kind: Of soil.
        starts: How many.
        steps: Frames.
        seed: Of places and commands.
        threads: To use.
    """
    found = 0
    for low in range(0, starts, TOGETHER):
        count = min(TOGETHER, starts - low)
        rng = np.random.default_rng([seed, low])
        found += _outside(model, heights, kind, count, steps, rng, threads)
    return found / starts


def _outside(
    model: MotionModel, heights: Array, kind: SoilKind, count: int, steps: int, rng: np.random.Generator, threads: int
) -> int:
    learned, shape = model.learned(), model.shape
    maps = make_maps(heights[None].copy(), heights[None], 0.0, 0.0, 0.01, True)
    size = 0.01 * np.array(heights.shape[::-1])
    states = np.zeros(count, STATE)
    states["since"] = NEVER
    states["position"][:, :2], states["attitude"][:, 2] = (
        rng.uniform(0.0, size, (count, 2)),
        rng.uniform(-np.pi, np.pi, count),
    )
    seen = np.zeros((count, SEEN))
    soils = model.soils(np.tile(soil_inputs(kind, shape.width), (count, 1)))
    spreading, where = np.tile(GroundModel().spreading(kind), (count, 1)), np.zeros(count, np.int64)
    put_down(learned, states, seen, soils, maps, where, spreading, False, make_scratch(learned, maps.spacing))
    top = shape.top_speed * shape.radius * np.array([1.0, 2.0 / shape.base])
    for low in range(0, steps, HOLD):
        given = np.repeat(rng.uniform(-1.0, 1.0, (1, count, 2)) * top, min(HOLD, steps - low), axis=0)
        drive_many(learned, states, seen, soils, given, maps, where, spreading, False, threads)
    speeds = np.column_stack([states["motion"], states["wheels"]])
    fast = (np.abs(speeds) >= model.limits - AT_BOUND).any(axis=1)
    low_end, high_end = model.ranges[:, 0] + AT_BOUND, model.ranges[:, 1] - AT_BOUND
    tilted = ((states["rest"] <= low_end) | (states["rest"] >= high_end)).any(axis=1)
    lost = ~np.isfinite(states["position"]).all(axis=1)
    return int((fast | tilted | lost).sum())
