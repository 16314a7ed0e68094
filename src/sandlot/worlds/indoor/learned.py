"""The learned laser of the indoor world: a robot records a log, and a model fitted to it predicts scans at any pose."""

import functools
import math
from dataclasses import dataclass

import numpy as np

from sandlot.errors import ModelError
from sandlot.places.plans import Plan
from sandlot.sensing.laser import Chance
from sandlot.surrogates.files import load
from sandlot.surrogates.local import Local
from sandlot.surrogates.sensor_models import SensorModel
from sandlot.surrogates.sensorgraph import Sensorgraph
from sandlot.typing import Array, IntArray
from sandlot.worlds.indoor.settings import IndoorSettings
from sandlot.worlds.indoor.task import Sensor
from sandlot.worlds.indoor.world import Indoor
from sandlot.worlds.rollout import rollout

SAMPLES = 1400
"""Number of scans of the source's log."""
PLAIN = {"fidelity": "fast", "task": "cover", "goal": None, "interface": "units"}
"""Settings that do not change what the laser measures: a robot that wanders has no goal, and acts in units."""
ASIDE = 0.02
"""Tolerance of the centre and the width of a field of view [rad]: beams at -90, -89 ... 89 degrees count as centred."""


def explore(settings: IndoorSettings, samples: int = SAMPLES, seed: int = 0) -> Sensorgraph:
    """Let a robot wander through a plan, and record its scans.

    Args:
        settings: Of the world; rays are cast, whatever its fidelity.
        samples: How many scans.
        seed: Same seed, same path.
    """
    world = Indoor(settings=settings.model_copy(update={**PLAIN, "model": None}))
    poses, ranges = np.empty((samples, 3)), np.empty((samples, settings.laser.beams))
    for step in rollout(world, world.controller("wander"), seed, samples):
        if step.number:
            poses[step.number - 1], ranges[step.number - 1] = world.pose, world.task.ranges[0]
    return Sensorgraph(poses, ranges, settings.laser.bearings)


def learned_laser(settings: IndoorSettings, plan: Plan) -> Sensor:
    """The function that replaces the laser: poses (n, 3) in, ranges (n, beams) [m] out; it draws no random numbers.

    Args:
        settings: Of the world.
        plan: Its plan; a model that is fitted here is cached until the plan changes.

    Raises:
        ModelError: If the model cannot be read, or is of a laser with another field of view.
    """
    if settings.model is None:
        model = _fitted(settings.model_copy(update={**PLAIN, "start": None}).model_dump_json(), plan.digest)
    else:
        model = load(settings.model)
    if not math.isclose(model.field_of_view_, settings.laser.field_of_view, abs_tol=ASIDE):
        raise ModelError(
            f"{settings.model} is of a laser with a field of view of {model.field_of_view_:.3g} rad; "
            f"laser.field_of_view is {settings.laser.field_of_view:.3g}"
        )
    if abs(model.centre_bearing_) > ASIDE:
        raise ModelError(
            f"{settings.model} is of a laser whose field of view is centred at {model.centre_bearing_:.3g} rad; "
            "here it is centred straight ahead"
        )
    segment = np.arange(settings.laser.beams) * model.segments // settings.laser.beams  # of each beam
    return LearnedLaser(model, segment)


@dataclass(frozen=True)
class LearnedLaser:
    """A sensor model in place of a laser.

    Attributes:
        model: Predicts the median ranges of segments of the field of view.
        segment: (beams,) the segment of each beam.
    """

    model: SensorModel
    segment: IntArray

    def __call__(self, poses: Array, rng: Chance) -> Array:
        """Poses (n, 3) in, ranges (n, beams) [m] out."""
        return self.model.predict(poses)[:, self.segment]


def usable_with(graph: Sensorgraph, model: str) -> dict[str, str] | None:
    """Settings with which this world takes a model fitted to such scans.

    Args:
        graph: The scans.
        model: Path of the model.

    Returns:
        By name; None if the laser does not look straight ahead, as it does here.
    """
    if abs(graph.centre_bearing) > ASIDE:
        return None
    settings = {"model": model}
    if abs(graph.field_of_view - math.pi) > ASIDE:
        settings["laser.field_of_view"] = f"{math.floor(1e4 * graph.field_of_view) / 1e4:g}"
    return settings


@functools.lru_cache(maxsize=4)
def _fitted(settings: str, digest: str) -> SensorModel:
    """The model of a world. The digest of the plan is part of the key, as a file may change under the same path."""
    return Local().fit(explore(IndoorSettings.model_validate_json(settings)))
