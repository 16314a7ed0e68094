"""Training of the learned rovers that come with the package: recordings on many soils and terrains, then the fit."""

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from pydantic import Field

from sandlot.errors import RecordingError
from sandlot.physics.soil import SoilKind
from sandlot.robots.rover import RoverName
from sandlot.settings import Settings
from sandlot.surrogates.terrain.drives import Drive
from sandlot.surrogates.terrain.evaluation import calibrated
from sandlot.surrogates.terrain.fit_motion import fit_motion
from sandlot.surrogates.terrain.motion_model import MotionModel
from sandlot.surrogates.terrain.recorded import read_drives
from sandlot.surrogates.terrain.shape import shape_of
from sandlot.surrogates.terrain.training import Training
from sandlot.worlds.record import record_world

RIGID, FLAT, SHORT, SOFT = 0.06, 0.1, 0.5, 0.3
"""Shares of recordings on rigid ground, on flat terrain, on short hills, and on soil in which the rover drags."""
HELD_OUT = 0.08
"""Share of the recordings that the ensemble's band is calibrated with, and that it is not fitted to."""
REFERENCE_DEPTH = 0.02
"""Soils are drawn by their pressure under a wheel that is so deep [m]."""


class RoverTraining(Settings):
    """Settings of the recordings and of the training.

    Attributes:
        rover: ``wheeled``, ``tracked``, or the path of a TOML file.
        recordings: On so many soils and terrains.
        frames: Of each recording.
        seed: Of everything random in the recordings.
        training: Settings of the fit.
    """

    rover: RoverName = "wheeled"
    recordings: int = Field(1600, ge=2)
    frames: int = Field(1000, ge=100)
    seed: int = Field(0, ge=0)
    training: Training = Training()


def random_ground(rng: np.random.Generator, width: float) -> dict[str, Any]:
    """Settings of a terrain world with a random soil on random hills, for wheels of a given width [m].

    Soils reach from softer than Chrono's soft preset to firmer than LETE sand; a few are rigid. Neither the presets nor
    the terrains A and B are among them.
    """

    def between(low: float, high: float) -> float:
        return math.exp(rng.uniform(math.log(low), math.log(high)))

    settings: dict[str, Any] = {"shape": (200, 200), "terrain": "flat" if rng.random() < FLAT else "hills"}
    if rng.random() < SHORT:
        size = between(0.06, 0.12)
        settings |= {"hill_size": size, "relief": size * rng.uniform(0.3, 1.2), "roughness": rng.uniform(0.0, 0.6)}
    else:
        size = between(0.07, 0.4)
        settings |= {"hill_size": size, "relief": size * rng.uniform(0.1, 1.0), "roughness": rng.uniform(0.0, 0.4)}
    edge = 0.4 * 2.0
    settings["poses"] = ((rng.uniform(-edge, edge), rng.uniform(-edge, edge), rng.uniform(-math.pi, math.pi)),)
    if rng.random() < RIGID:
        return settings | {"ground": "rigid"}
    exponent = rng.uniform(0.6, 1.3)
    pressure = between(1.2e3, 8e3) if rng.random() < SOFT else between(3e3, 8e5)
    modulus = pressure / REFERENCE_DEPTH**exponent
    cohesive = rng.uniform(0.0, 0.6) * float(rng.random() < 0.5)
    settings["soil"] = SoilKind(
        kphi=modulus * (1.0 - cohesive),
        kc=modulus * cohesive * width,
        exponent=exponent,
        cohesion=rng.uniform(0.0, 3000.0) * float(rng.random() < 0.5),
        friction=rng.uniform(22.0, 40.0),
        shear=between(0.004, 0.025),
        elastic=max(modulus * between(20.0, 200.0), 2e7),
        damping=3e4,
    ).model_dump()
    return settings


def record_one(folder: Path, given: RoverTraining, number: int) -> Path:
    """Make one of the recordings, unless it is there already."""
    path = folder / f"{number:04d}"
    if not path.exists():
        rng = np.random.default_rng(np.random.SeedSequence(given.seed, spawn_key=(number,)))
        settings = random_ground(rng, shape_of(given.rover).width) | {
            "rovers": (given.rover,),
            "map_every": given.frames,
        }
        part = path.with_suffix(".part")  # so that an interrupted recording is not taken for a whole one
        shutil.rmtree(part, ignore_errors=True)
        record_world("terrain", part, given.frames, "varied", seed=number, settings=settings, observations=False)
        part.rename(path)
    return path


def _check_recipe(folder: Path, given: RoverTraining) -> None:
    """Keep what recordings are made of beside them; refuse a folder with others."""
    path, shape = folder / "recipe.json", shape_of(given.rover)
    numbers = [*shape.feet.tolist(), shape.centre.tolist(), shape.weight, shape.base, shape.top_speed]
    recipe = json.dumps({"rover": numbers, "frames": given.frames, "seed": given.seed})
    others = path.read_text() != recipe if path.exists() else any(folder.iterdir())
    if others:
        raise RecordingError(
            f"{folder} has recordings of another rover, length or seed; delete the folder, or choose another --out"
        )
    path.write_text(recipe)


def train_rover(
    folder: Path,
    given: RoverTraining,
    workers: int = 1,
    progress: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> MotionModel:
    """Record drives into a folder, or go on with those that are there, and fit a model to them.

    Args:
        folder: Of the recordings.
        given: Settings.
        workers: Recordings that are made or read at a time; the result does not depend on it.
        progress: Called with what is done, how much of it, and of how much.

    Raises:
        RecordingError: If the folder has recordings of another rover, length or seed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _check_recipe(folder, given)
    run = joblib.Parallel(n_jobs=workers, return_as="generator")
    paths = []
    for path in run(joblib.delayed(record_one)(folder, given, k) for k in range(given.recordings)):
        paths.append(path)
        progress("recording", len(paths), given.recordings)
    shape = shape_of(given.rover)
    drives: list[Drive] = []
    fitted = paths[: max(round((1.0 - HELD_OUT) * len(paths)), 1)]
    for k, some in enumerate(run(joblib.delayed(read_drives)([path], shape) for path in fitted)):
        drives += some
        progress("reading", k + 1, len(fitted))
    model = fit_motion(drives, shape, given.training, (), lambda epoch, epochs, _: progress("training", epoch, epochs))
    model = calibrated(model, paths[len(fitted) :]) if len(fitted) < len(paths) else model
    return model.with_settings(recipe=given.model_dump(mode="json", exclude={"training"}))
