"""What ``train WORLD`` does: trains a controller with Stable-Baselines3, and tests it at every fidelity."""

import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from sandlot.cli.show import print_json
from sandlot.cli.work import progress_bar


def train_world(
    world: str,
    out: Path,
    training: list[str],
    world_settings: list[str],
    file: Path | None,
    episodes: int,
    as_json: bool,
) -> None:
    """Train, keep the controller, and print its outcomes at every fidelity.

    Args:
        world: Short name.
        out: Directory of the controller.
        training: Settings of the training, as KEY=VALUE.
        world_settings: Settings of the world, as KEY=VALUE.
        file: Of settings of the training.
        episodes: Of the test at each fidelity; none if 0.
        as_json: Whether to print JSON.
    """
    from sandlot import declared
    from sandlot.errors import ModelError
    from sandlot.extras import need
    from sandlot.learning.training_settings import RECIPES, Recipe, Training, with_recipe
    from sandlot.settings import build, read_settings
    from sandlot.worlds import check_algorithm, check_settings, load
    from sandlot.writing import refuse_existing

    refuse_existing(out, ModelError)
    declared.check("train world", read_settings(file, training))
    check_algorithm(world, read_settings(file, training).get("algorithm", "ppo"))
    recipe = RECIPES.get(world, Recipe({}, {}))
    given = build(Training, with_recipe(read_settings(file, training), recipe.training))
    values = with_recipe(read_settings(None, world_settings), recipe.world)
    check_settings(world, {**values, "interface": "normalised"})
    kind = load(world)
    build(kind.Settings, {**values, "interface": "normalised"})  # also of another package's world
    need("stable_baselines3", "learn")
    from sandlot.learning.reinforcement import train
    from sandlot.worlds.gap import measure_gap

    began = time.monotonic()
    with progress_bar("step") as show:
        train(world, given, out, values, show(f"training {out.name}"))
        seconds = time.monotonic() - began
        tested: dict[str, dict[str, float]] = {}
        if episodes and len(kind.fidelities()) > 1 and kind.outcome_quantities:
            plain = {name: value for name, value in values.items() if name != "fidelity"}
            found = measure_gap(world, str(out), episodes, given.longest, 10_000 + given.seed, plain, show("testing"))
            for fidelity in found.fidelity.values.tolist():
                means = found.sel(fidelity=fidelity).mean("episode", skipna=True)
                tested[fidelity] = {str(name): float(means[name]) for name in kind.outcome_quantities}
    facts: dict[str, Any] = {"controller": str(out), "seconds": seconds, "outcomes": tested}
    if as_json:
        print_json(facts)
        return
    console = Console(highlight=False)
    for fidelity, outcomes in tested.items():
        units = {name: "" if each.units == "1" else f" {each.units}" for name, each in kind.outcome_quantities.items()}
        said = ", ".join(f"{name} {value:.3g}{units[name]}" for name, value in outcomes.items())
        console.print(escape(f"{fidelity}: {said} (means of {episodes} episodes)"), soft_wrap=True)
    console.print(f"Controller: [bold]{escape(str(out))}[/bold] ({seconds:.0f} s)", soft_wrap=True)
