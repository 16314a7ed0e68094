"""Exports recordings as a Minari dataset, from which libraries for offline reinforcement learning learn."""

import copy
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import xarray as xr

from sandlot import recordings
from sandlot.errors import RecordingError, quote
from sandlot.extras import need
from sandlot.settings import build
from sandlot.worlds import WORLDS, load, world_id
from sandlot.writing import drafted

NEEDED = ("observation", "action", "reward", "terminated", "truncated", "episode", "exploded")
"""Quantities of a recording that learners need."""


def export_minari(path: Path, out: Path, progress: Callable[[int, int], None] = lambda done, total: None) -> int:
    """Write a dataset of Minari, in its HDF5 form.

    Each episode of the recordings becomes one of the dataset. One that the end of the recording cut off counts as
    truncated. One whose simulation exploded ends with the last frame before.

    Args:
        path: Directory of a recording, or of the recordings of a vector world.
        out: Directory of the dataset, which must not exist; its name is the dataset's id.
        progress: Called with the number of recordings that are done, and of all.

    Returns:
        How many episodes were written.

    Raises:
        SandlotError: If a recording lacks what is needed, or Minari is not installed.
    """
    if not re.search(r"-v\d+$", out.name):
        raise RecordingError(f"{quote(out)}: the name of a dataset ends in a version, such as {out.name}-v0")
    out = out.resolve()  # Minari joins relative paths to themselves
    storages: Any = need("minari.dataset.minari_storage", "offline")
    need("h5py", "offline")
    members = sorted((each for each in path.iterdir() if each.name.isdigit()), key=lambda each: int(each.name))
    paths = [path] if (path / "zarr.json").exists() or not members else members
    with drafted(out, RecordingError) as draft:
        (draft / "data").mkdir(parents=True)
        storage, count = None, 0
        for done, each in enumerate(paths):
            with recordings.open(each) as recording:
                spec, world = _world(recording, each)
                if storage is None:
                    spaces = world.observation_space, _exact(world.action_space)
                    storage = storages.MinariStorage.new(draft / "data", *spaces, env_spec=spec, data_format="hdf5")
                    storage.update_metadata(
                        {"dataset_id": out.name, "minari_version": need("minari", "offline").__version__}
                    )
                found = list(_episodes(recording, count))
                storage.update_episodes(found)
                count += len(found)
            progress(done + 1, len(paths))
        if not count:
            raise RecordingError(f"{quote(path)} has no episode with a step")
    return count


def _world(recording: xr.Dataset, path: Path) -> tuple[Any, gymnasium.Env[Any, Any]]:
    """How to make the world of a recording with Gymnasium, and the world."""
    name = next((each for each in WORLDS if world_id(each) == recording.attrs.get("world")), None)
    missing = [each for each in NEEDED if each not in recording]
    if name is None or missing:
        reason = f"it has no {', '.join(missing)}" if missing else "it is not of a world"
        raise RecordingError(
            f"{quote(path)} cannot be exported for learners: {reason}; "
            "record it with sandlot record, without --no-observations"
        )
    kind, spec = load(name), copy.deepcopy(gymnasium.spec(world_id(name)))
    settings = build(kind.Settings, recordings.settings(recording))
    spec.kwargs |= settings.model_dump(mode="json", exclude_defaults=True) | {"interface": settings.interface}
    return spec, kind(settings=settings)


def _exact(space: gymnasium.Space[Any]) -> gymnasium.Space[Any]:
    """The space of recorded actions, which have all digits."""
    if isinstance(space, gymnasium.spaces.Box):
        return gymnasium.spaces.Box(space.low.astype(np.float64), space.high.astype(np.float64), dtype=np.float64)
    return space


def _episodes(recording: xr.Dataset, first: int) -> Iterator[Any]:
    """The episodes of a recording, as Minari wants them; ids begin with ``first``."""
    buffer: Any = need("minari.data_collector", "offline").EpisodeBuffer
    values = {name: recording[name].values for name in NEEDED}
    good = ~values["exploded"]
    for number in np.unique(values["episode"]).tolist():
        frames = np.flatnonzero((values["episode"] == number) & good)
        if len(frames) < 2:
            continue
        steps = frames[1:]
        truncations = values["truncated"][steps].copy()
        truncations[-1] |= not values["terminated"][steps[-1]]
        yield buffer(
            id=first,
            seed=int(recording.attrs["seed"]) if number == 0 and "seed" in recording.attrs else None,
            observations=values["observation"][frames],
            actions=values["action"][steps],
            rewards=values["reward"][steps],
            terminations=values["terminated"][steps],
            truncations=truncations,
        )
        first += 1
