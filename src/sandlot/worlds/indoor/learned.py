"""The indoor world's laser, learned: a robot's log of it, and a model that says what would be seen anywhere."""

import functools
import math

import numpy as np

from sandlot.errors import SandlotError
from sandlot.places.plans import Plan
from sandlot.surrogates.files import load
from sandlot.surrogates.local import Local
from sandlot.surrogates.sensor_models import SensorModel
from sandlot.surrogates.sensorgraph import Sensorgraph
from sandlot.worlds.indoor.settings import IndoorSettings
from sandlot.worlds.indoor.task import Sensor
from sandlot.worlds.indoor.world import Indoor

SAMPLES = 1400
"""Scans of the source's log."""
ASIDE = 0.02
"""What the middle of a laser's field of view may be off straight ahead [rad]: beams at -90, -89 ... 89 degrees are."""


def explore(settings: IndoorSettings, samples: int = SAMPLES, seed: int = 0) -> Sensorgraph:
    """Let a robot wander about, and keep what it sees.

    Args:
        settings: Of the world; its rays are cast, whatever its fidelity.
        samples: How many scans.
        seed: Same seed, same way.
    """
    world = Indoor(**settings.model_copy(update={"fidelity": "fast", "model": None}).model_dump())
    drive = world.controller("wander", np.random.SeedSequence(seed))
    observation, _ = world.reset(seed=seed)
    poses, ranges = np.empty((samples, 3)), np.empty((samples, settings.laser.beams))
    for k in range(samples):
        observation, *_ = world.step(drive(observation))
        poses[k], ranges[k] = world.pose, world.frame()["ranges"]
    return Sensorgraph(poses, ranges, settings.laser.bearings)


def learned_laser(settings: IndoorSettings, plan: Plan) -> Sensor:
    """What takes the place of the laser: poses (n, 3) in, ranges (n, beams) [m] out; it needs no chance.

    Args:
        settings: Of the world.
        plan: Its plan; a model that is fitted here is kept in mind until that changes.

    Raises:
        SandlotError: If the model cannot be read, or is of a laser with another field of view.
    """
    if settings.model is None:
        unlike = {"fidelity": "fast", "start": None}  # what makes no difference to the model
        model = _fitted(settings.model_copy(update=unlike).model_dump_json(), plan.digest)
    else:
        model = load(settings.model)
    if not math.isclose(model.spread_, settings.laser.field_of_view, abs_tol=ASIDE):
        raise SandlotError(
            f"{settings.model} is of a laser with a field of view of {model.spread_:.3g} rad; "
            f"laser.field_of_view is {settings.laser.field_of_view:.3g}"
        )
    if abs(model.middle_) > ASIDE:
        raise SandlotError(
            f"{settings.model} is of a laser that looks {model.middle_:.3g} rad aside; here it looks straight ahead"
        )
    segment = np.arange(settings.laser.beams) * model.segments // settings.laser.beams  # into which each beam looks
    return lambda poses, rng: model.predict(poses)[:, segment]


@functools.lru_cache(maxsize=4)
def _fitted(settings: str, digest: str) -> SensorModel:
    """The model of a world, by its settings and the digest of its plan, which may change under the same path."""
    return Local().fit(explore(IndoorSettings.model_validate_json(settings)))
