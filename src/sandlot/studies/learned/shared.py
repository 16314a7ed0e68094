"""What the studies of learned simulation share: sessions, recorded when they are first needed."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from sandlot import recordings
from sandlot.kernels.randomness import children
from sandlot.robots.rover import load_rover
from sandlot.robots.rover_layout import find_layout
from sandlot.surrogates.published.motion import Motion
from sandlot.surrogates.published.simulator import Map
from sandlot.worlds.record import record_world

SOURCE = "Cook 2017"
FAR = 3.0
"""Sessions start at a random place within this distance of the middle along x and y [m], heading along x as there."""


@dataclass(frozen=True, eq=False)
class Session:
    """One recording of a rover driving by algorithm 5 of the source.

    Attributes:
        motion: Frame by frame.
        ground: The map before the drive.
        start: x, y [m] and yaw [rad].
    """

    motion: Motion
    ground: Map
    start: tuple[float, float, float]


@lru_cache(maxsize=8)
def record_session(terrain: str, rover: str, ground: str, frames: int, seed: int) -> Session:
    """Record a session; a worker keeps its last ones, so that its jobs share them.

    Args:
        terrain: ``A`` or ``B``.
        rover: ``wheeled`` or ``tracked``.
        ground: ``soil`` or ``rigid``.
        frames: How many.
        seed: Of the start and the speeds.
    """
    place, drive = children(np.random.SeedSequence(seed), 2)
    x, y = np.random.default_rng(place).uniform(-FAR, FAR, 2).tolist()
    settings = {"terrain": terrain, "rovers": (rover,), "ground": ground, "poses": ((x, y, 0.0),), "window": 0}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "session"
        record_world(
            "terrain",
            path,
            frames,
            "session",
            int(drive.generate_state(1)[0]),
            {**settings, "map_every": frames + 1},
            observations=False,
        )
        with recordings.open(path) as recording:
            given, motion = recordings.settings(recording), Motion.of(recording)
            heights = recording["heights"].values[0].astype(np.float64)
    reach = 0.5 * find_layout(load_rover(rover)).base
    return Session(motion, Map(heights, given["spacing"], True, reach), (x, y, 0.0))
