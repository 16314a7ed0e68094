"""The gap: how much an outcome changes when the same controller moves to a better fidelity."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from sandlot.errors import SandlotError
from sandlot.settings import build, flatten
from sandlot.worlds import load
from sandlot.worlds.base import Controller, World

BETTER = ("learned", "fast", "reference")
"""Fidelities, each to be trusted more than the one before."""


def fidelities(world: type[World]) -> list[str]:
    """Those a world offers, the most trusted last."""
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
    """Let a controller do the same episodes at every fidelity of a world.

    Args:
        name: Short name of the world.
        controller: One of the world's, its first if not given, or the path of a file.
        episodes: How many; each has a seed of its own, the same at every fidelity.
        steps: After which an episode ends, if it has not ended by itself.
        seed: Same seed, same result.
        settings: Of the world, without fidelity.
        progress: Called now and then with the steps done and the most there can be.

    Returns:
        The world's outcomes along ``fidelity`` (the most trusted last) and ``episode``, with units; ``exploded``, which
        simulations did: these have no outcomes; and ``cut_off``, which episodes had not ended by themselves, in a world
        where they do. Attributes are world, controller, seed, steps and settings.

    Raises:
        SandlotError: If the world has only one fidelity or names no outcomes.
    """
    kind, given = load(name), dict(settings or {})
    offered = fidelities(kind)
    if len(offered) < 2:
        raise SandlotError(f"{name} has only one fidelity, {offered[0]}: there is no gap to measure")
    if "fidelity" in given:
        raise SandlotError(f"gap runs every fidelity ({', '.join(offered)}); leave fidelity={given['fidelity']} out")
    if not kind.outcome_quantities:
        raise SandlotError(f"{name} names no outcomes to compare")
    # All worlds and controllers are made before any runs: a mistake shows at once.
    chosen = [build(kind.Settings, {**_meant(kind, given, fidelity), "fidelity": fidelity}) for fidelity in offered]
    worlds = [kind(**each.model_dump()) for each in chosen]
    driver = controller or next(iter(worlds[0].controllers()))
    seeds = [int(each.generate_state(1)[0]) for each in np.random.SeedSequence(seed).spawn(episodes)]
    for world in worlds:
        world.controller(driver, np.random.SeedSequence(seeds[0]))

    values = {key: np.full((len(worlds), episodes), np.nan) for key in kind.outcome_quantities}
    exploded, cut_off = np.zeros((2, len(worlds), episodes), np.bool_)
    total = len(worlds) * episodes * steps
    for i, world in enumerate(worlds):
        for k in range(episodes):
            before = (i * episodes + k) * steps
            act = world.controller(driver, np.random.SeedSequence(seeds[k]))
            ended = _run(world, act, seeds[k], steps, partial(_report, progress, before, total))
            cut_off[i, k] = not (ended or kind.endless)
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
            {"units": "1", "long_name": "whether the simulation exploded: no outcomes"},
        ),
        "cut_off": (dims, cut_off, {"units": "1", "long_name": "whether the episode had not ended by itself"}),
    }
    settings_kept = {key: value for key, value in chosen[0].model_dump(mode="json").items() if key != "fidelity"}
    return xr.Dataset(
        {key: (dims, values[key], about[key]) for key in values} | marks,
        {"fidelity": offered, "episode": np.arange(episodes), "seed": ("episode", seeds)},
        {"world": name, "controller": driver, "seed": seed, "steps": steps, "settings": flatten(settings_kept)},
    )


def _meant(kind: type[World], given: Mapping[str, Any], fidelity: str) -> dict[str, Any]:
    """Settings without those that are only for another fidelity, as fields say by ``json_schema_extra``."""
    extras = {name: field.json_schema_extra for name, field in kind.Settings.model_fields.items()}
    only = {name: extra.get("fidelity", fidelity) for name, extra in extras.items() if isinstance(extra, dict)}
    return {name: value for name, value in given.items() if only.get(name, fidelity) == fidelity}


def _report(progress: Callable[[int, int], None], before: int, total: int, done: int) -> None:
    progress(before + done, total)


def _run(world: World, act: Controller, seed: int, steps: int, progress: Callable[[int], None]) -> bool:
    """One episode; gives whether it ended by itself."""
    observation, _ = world.reset(seed=seed)
    for done in range(1, steps + 1):
        observation, _, terminated, truncated, _ = world.step(act(observation))
        if terminated or truncated:
            return True
        if done % 100 == 0:
            progress(done)
    return False


def summarize_gap(outcomes: xr.Dataset) -> xr.Dataset:
    """Means over episodes, and how much the most trusted fidelity changes them.

    Every comparison is of episodes that have the outcome at both fidelities, so that it is of the same seeds.

    Args:
        outcomes: What `measure_gap` gives.

    Returns:
        Along ``outcome`` and ``fidelity`` (all but the most trusted): ``mean`` there and ``better`` at the most trusted
        one, ``gap`` between them, ``largest`` gap in size of one episode, and ``episodes`` compared. Where none can be
        compared, each mean is that of the episodes that have it, and there is no gap.
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
