"""The gap: how much an outcome changes when the same controller moves to a better fidelity."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import xarray as xr

from sandlot.errors import SettingError
from sandlot.models.policies import settings_for
from sandlot.settings import build, flatten
from sandlot.worlds import load
from sandlot.worlds.base import World
from sandlot.worlds.rollout import rollout

BETTER = ("learned", "fast", "reference")
"""Fidelities in ascending order of trust."""


def fidelities(world: type[World]) -> list[str]:
    """The fidelities that a world offers, the most trusted last."""
    return sorted(world.fidelities(), key=BETTER.index)


def measure_gap(
    name: str,
    controller: str | None = None,
    episodes: int = 3,
    steps: int = 4000,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> xr.Dataset:
    """Let a controller drive the same episodes at every fidelity of a world.

    Args:
        name: Short name of the world.
        controller: Name of one of the world's controllers, by default its first, or the path of one on disk.
        episodes: Number of episodes; each has a seed of its own, the same at every fidelity.
        steps: Maximum number of steps of an episode.
        seed: Same seed, same result.
        settings: Of the world, without fidelity.
        progress: Called every 100 steps with the number of steps done and the maximum number of all steps.

    Returns:
        The world's outcomes along ``fidelity`` (the most trusted last) and ``episode``, with units; ``exploded``,
        whether the simulation became unstable: then there are no outcomes; and ``cut_off``, whether the episode had not
        ended by itself, in a world where episodes do. Attributes are world, controller, seed, steps and settings.

    Raises:
        SettingError: If the world has only one fidelity or names no outcomes.
    """
    kind, given = load(name), {**settings_for(controller, name), **(settings or {})}
    offered = fidelities(kind)
    if len(offered) < 2:
        raise SettingError(f"{name} has only one fidelity, {offered[0]}: there is no gap to measure")
    if "fidelity" in given:
        raise SettingError(f"gap runs every fidelity ({', '.join(offered)}); leave fidelity={given['fidelity']} out")
    if not kind.outcome_quantities:
        raise SettingError(f"{name} names no outcomes to compare")
    # All worlds and controllers are made before any episode runs, so that mistakes show at once.
    chosen = [{**_for_fidelity(kind, given, fidelity), "fidelity": fidelity} for fidelity in offered]
    worlds = [kind(settings=build(kind.Settings, each)) for each in chosen]
    driver = controller or next(iter(worlds[0].controllers()))
    seeds = [int(each.generate_state(1)[0]) for each in np.random.SeedSequence(seed).spawn(episodes)]
    controllers = [world.controller(driver) for world in worlds]

    values = {key: np.full((len(worlds), episodes), np.nan) for key in kind.outcome_quantities}
    exploded, cut_off = np.zeros((2, len(worlds), episodes), np.bool_)
    total = len(worlds) * episodes * steps
    for i, world in enumerate(worlds):
        for k in range(episodes):
            before = (i * episodes + k) * steps
            for step in rollout(world, controllers[i], seeds[k], steps):
                if step.number % 100 == 0:
                    progress(before + step.number, total)
            cut_off[i, k] = not (step.ended[0] or world.endless)
            exploded[i, k] = world.exploded
            if not world.exploded:
                for key, value in world.outcomes().items():
                    values[key][i, k] = value
            progress(before + steps, total)

    dims = ("fidelity", "episode")
    about = {key: {"units": each.units, "long_name": each.long_name} for key, each in kind.outcome_quantities.items()}
    marks = {
        "exploded": (
            dims,
            exploded,
            {"units": "1", "long_name": "whether the simulation exploded and has no outcomes"},
        ),
        "cut_off": (dims, cut_off, {"units": "1", "long_name": "whether the episode had not ended by itself"}),
    }
    kept = worlds[0].settings.model_dump(mode="json", exclude={"fidelity"})
    return xr.Dataset(
        {key: (dims, values[key], about[key]) for key in values} | marks,
        {"fidelity": offered, "episode": np.arange(episodes), "seed": ("episode", seeds)},
        {"world": name, "controller": driver, "seed": seed, "steps": steps, "settings": flatten(kept)},
    )


def _for_fidelity(kind: type[World], given: Mapping[str, Any], fidelity: str) -> dict[str, Any]:
    """Settings without those that only another fidelity uses."""
    only = kind.Settings.of_one_fidelity()
    return {name: value for name, value in given.items() if only.get(name, fidelity) == fidelity}


def summarize_gap(outcomes: xr.Dataset) -> xr.Dataset:
    """Means over episodes, and by how much the most trusted fidelity changes them.

    Fidelities are compared over the same seeds: those of episodes that have the outcome at both.

    Args:
        outcomes: Result of `measure_gap`.

    Returns:
        Along ``outcome`` and ``fidelity`` (all but the most trusted): the ``mean`` there and the mean at the most
        trusted fidelity, ``better``; the ``gap`` between them; the ``largest`` gap of a single episode by magnitude;
        and the number of ``episodes`` compared. Without any episode to compare, each mean is over the episodes that
        have the outcome, and the gap is NaN.
    """
    names = [str(key) for key in outcomes.data_vars if key not in ("exploded", "cut_off")]
    *others, best = outcomes["fidelity"].values.tolist()
    shape = (len(names), len(others))
    table = {key: np.full(shape, np.nan) for key in ("mean", "better", "gap", "largest")}
    count = np.zeros(shape, np.int64)
    for i, name in enumerate(names):
        trusted = outcomes[name].sel(fidelity=best).values
        for j, fidelity in enumerate(others):
            here = outcomes[name].sel(fidelity=fidelity).values
            both = np.isfinite(here) & np.isfinite(trusted)
            count[i, j] = both.sum()
            if both.any():
                change = trusted[both] - here[both]
                table["gap"][i, j], table["largest"][i, j] = change.mean(), change[np.abs(change).argmax()]
            table["mean"][i, j] = _mean(here, both)
            table["better"][i, j] = _mean(trusted, both)
    dims = ("outcome", "fidelity")
    variables = {key: (dims, value) for key, value in table.items()} | {"episodes": (dims, count)}
    units = ("outcome", [outcomes[name].attrs["units"] for name in names])
    return xr.Dataset(variables, {"outcome": names, "fidelity": others, "units": units}, {"best": best})


def _mean(values: Any, both: Any) -> float:
    chosen = values[both] if both.any() else values[np.isfinite(values)]
    return float(chosen.mean()) if chosen.size else float("nan")
