"""Learned rovers, side by side with the reference: time of a frame with its ground, and many rovers at once.

One rover drives with random commands on the soil ``mid``, and changes the ground. Its peer is the drive of the
terrain world's reference, called once for each frame. The learned rover is timed twice: many frames in one call of
its kernel, and called from Python once for each frame like its peer, which also makes its state. A batch has 1,000
rovers of different soils on 100 maps. Rates are per second of processor time over all threads, which is that of one
core; the rate of two cores is twice the rate of one.

At last rovers start at random on terrain B, on random soils and on presets, and drive with random commands. In every
frame it is checked whether one has reached a bound of the model.
"""

from functools import partial

import numpy as np

from _side_by_side import Comparison, best_rates, main
from sandlot.learning.rover import random_ground
from sandlot.physics.soil import PRESETS, SoilKind
from sandlot.places.terrains import TERRAINS
from sandlot.surrogates.terrain.contact import SEEN
from sandlot.surrogates.terrain.free_range import reached
from sandlot.surrogates.terrain.ground_model import GroundModel
from sandlot.surrogates.terrain.inputs import soil_inputs
from sandlot.surrogates.terrain.looking import NEVER, STATE
from sandlot.surrogates.terrain.motion_model import SHIPPED, MotionModel, load_motion
from sandlot.surrogates.terrain.rollout import drive_many
from sandlot.surrogates.terrain.step import make_maps, make_scratch, put_down
from sandlot.typing import Array
from sandlot.worlds.terrain.world import Terrain

THREADS = 2
REPETITIONS = 5
FRAMES, PEER_FRAMES = 5000, 400
ROBOTS, MAPS, BATCH_FRAMES = 1000, 100, 200
SIZES = (200, 1000)
"""Nodes along each side of the maps that are compared."""
HOLD = 100
"""Frames for which commands stay."""
SOILS = ("soft", "mid", "LETE sand")
STARTS = {False: 100_000, True: 10_000}
"""Random starts on ground that stays as it is, and on ground that rovers change."""
STEPS, RANDOM_SOILS = 1000, 100


def commands(count: int, frames: int) -> Array:
    """Random ones: (frames, count, 2) [m/s, rad/s]."""
    rng = np.random.default_rng(1)
    drawn = rng.uniform(-1.0, 1.0, (-(-frames // HOLD), count, 2)) * (0.25, 1.5)
    return np.repeat(drawn, HOLD, axis=0)[:frames]


class Batch:
    """Rovers on maps of terrain B, put down at random."""

    def __init__(self, model: MotionModel, count: int, maps: int, nodes: int, deforms: bool) -> None:
        """Put them down; several share a map."""
        self.learned, self.deforms = model.learned(), deforms
        shape, rng = model.shape, np.random.default_rng(0)
        heights = np.tile(TERRAINS["B"].heights((nodes, nodes), 0.01), (maps, 1, 1))
        half = 0.005 * (nodes - 1)
        self.maps = make_maps(heights, heights.copy(), -half, -half, 0.01, True)
        self.where = np.sort(np.arange(count) % maps)
        kinds = [PRESETS[SOILS[k % len(SOILS)]] if count > 1 else PRESETS["mid"] for k in range(count)]
        self.soils = model.soils(np.array([soil_inputs(kind, shape) for kind in kinds]))
        self.spreading = np.array([GroundModel().spreading(kind) for kind in kinds])
        self.states = np.zeros(count, STATE)
        self.states["since"] = NEVER
        self.states["position"][:, :2] = rng.uniform(-half, half, (count, 2))
        self.states["attitude"][:, 2] = rng.uniform(-np.pi, np.pi, count)
        self.seen = np.zeros((count, SEEN))
        put_down(
            self.learned,
            self.states,
            self.seen,
            self.soils,
            self.maps,
            self.where,
            self.spreading,
            deforms,
            make_scratch(self.learned, 0.01),
        )

    def drive(self, given: Array, threads: int) -> float:
        """Drive on; returns the number of frames of all rovers."""
        drive_many(
            self.learned,
            self.states,
            self.seen,
            self.soils,
            given,
            self.maps,
            self.where,
            self.spreading,
            self.deforms,
            threads,
        )
        if not np.isfinite(self.states["position"]).all():
            raise RuntimeError("a rover left all bounds")
        return float(len(given) * len(self.states))


def step_world(world: Terrain, given: Array) -> float:
    """Drive one rover through the world's own physics, without observations; returns the number of frames."""
    for each in given:
        world.task.rovers.drive(each)
    return float(len(given))


def leave_range(model: MotionModel) -> list[Comparison]:
    """Count the rovers that reach a bound of the model in any frame."""
    drawn = (random_ground(np.random.default_rng([0, k]), model.shape.width) for k in range(RANDOM_SOILS))
    kinds = [PRESETS[name] for name in SOILS] + [SoilKind(**each["soil"]) for each in drawn if "soil" in each]
    heights, found = TERRAINS["B"].heights((100, 100), 0.01), []
    for deforms, starts in STARTS.items():
        at_bound = reached(model, heights, kinds, starts, STEPS, 0, deforms, THREADS).any(axis=1)
        name = f"rovers that leave the range in {STEPS:,} frames, of {starts:,}"
        found.append(
            Comparison(f"{name}{', with their ground' if deforms else ''}", float(at_bound.sum()), "1", at_most=0.0)
        )
    return found


def compare() -> list[Comparison]:
    """Compare one rover with the reference and with itself on a larger map, and time batches; watch random starts."""
    model = load_motion(SHIPPED / "wheeled")
    one = [Batch(model, 1, 1, nodes, True) for nodes in SIZES]
    given, few = commands(1, FRAMES), commands(1, PEER_FRAMES)
    worlds = [Terrain(fidelity=each, terrain="B", soil="mid") for each in ("learned", "reference")]
    moving, with_ground = (Batch(model, ROBOTS, MAPS, SIZES[0], deforms) for deforms in (False, True))
    for world in worlds:
        world.reset(seed=0)
    many = commands(ROBOTS, BATCH_FRAMES)
    works = [
        *(partial(each.drive, given, 1) for each in one),
        *(partial(step_world, world, few) for world in worlds),
        partial(moving.drive, many, THREADS),
        partial(with_ground.drive, many, THREADS),
    ]
    for work in works:
        work()
    small, large, stepped, trusted, motion, ground = best_rates(REPETITIONS, *works)
    return [
        Comparison("one rover with its ground, in the kernel", 1e6 / small, "us", at_most=8.0),
        Comparison("one rover with its ground, against the reference", small, "frames/s", trusted, at_least=25.0),
        Comparison("the same through the world", stepped, "frames/s", trusted),
        Comparison("a map of 1,000 x 1,000, against 200 x 200", 1e6 / large, "us", 1e6 / small, at_most=1.25),
        Comparison("1,000 rovers, motion alone, two cores", THREADS * motion, "robot-frames/s", at_least=2e6),
        Comparison("1,000 rovers with their ground, two cores", THREADS * ground, "robot-frames/s", at_least=3e5),
        *leave_range(model),
    ]


if __name__ == "__main__":
    main(compare)
