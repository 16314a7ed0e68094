"""The worlds: Gymnasium environments that compose the rooms below.

Another installed package adds a world with an entry point of the group ``sandlot.worlds``: a short name, and where its
class is, such as ``cart = "my_package.cart:Cart"``.
"""

import importlib
from collections.abc import Mapping, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium

from sandlot import declared
from sandlot.errors import ModelError, SettingError, quote

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandlot.worlds.base import World

WORLDS = {
    "avoid": "sandlot.worlds.avoid.world:Avoid",
    "indoor": "sandlot.worlds.indoor.world:Indoor",
    "leveling": "sandlot.worlds.leveling.world:Leveling",
    "obstacles": "sandlot.worlds.obstacles.world:Obstacles",
    "terrain": "sandlot.worlds.terrain.world:Terrain",
    "water": "sandlot.worlds.water.world:Water",
}
"""Short name to class. Classes are imported when used, so that ``import sandlot`` is fast."""
SHIPPED = tuple(WORLDS)
"""Names of the worlds of this package; those of other packages follow in `WORLDS`."""
WORLDS |= {each.name: each.value for each in entry_points(group="sandlot.worlds") if each.name not in SHIPPED}

VECTORS = {
    "avoid": "sandlot.worlds.avoid.vector:AvoidVector",
    "indoor": "sandlot.worlds.indoor.vector:IndoorVector",
    "leveling": "sandlot.worlds.leveling.vector:LevelingVector",
    "obstacles": "sandlot.worlds.obstacles.vector:ObstaclesVector",
    "terrain": "sandlot.worlds.terrain.vector:TerrainVector",
    "water": "sandlot.worlds.water.vector:WaterVector",
}
"""Short name to the compiled vector form, which ``gymnasium.make_vec`` gives."""

LIMITS = {"avoid": 1000, "indoor": 5000, "leveling": 20_000, "obstacles": 1200, "terrain": 6000, "water": 12_000}
"""Steps after which Gymnasium truncates an episode, unless ``max_episode_steps`` is given; -1 for never."""

CONTROLLERS = {
    "avoid": ("trained", "straight", "random"),
    "indoor": ("wander", "random"),
    "leveling": ("probabilistic", "memetic", "pool", "random"),
    "obstacles": ("trained", "reactive", "reinforced", "neural", "aligned", "drive", "random"),
    "terrain": ("session", "varied", "straight", "walk", "charge", "spin", "memory", "shared", "random"),
    "water": ("fetch", "seek", "swim", "random"),
}
"""Ready controllers of each world, at any fidelity; the world itself says which it has with given settings."""

ALGORITHMS = {
    "avoid": ("ppo", "dqn"),
    "indoor": ("ppo", "sac"),
    "leveling": ("ppo",),
    "obstacles": ("ppo", "sac"),
    "terrain": ("ppo", "sac"),
    "water": ("ppo", "sac"),
}
"""Algorithms of ``sandlot train`` that suit the actions of each world."""

OWN_FILES = ("avoid", "obstacles", "water")
"""Worlds with files of controllers besides those that ``sandlot train WORLD`` writes."""

FIDELITIES = {
    "avoid": ("fast", "reference"),
    "indoor": ("fast", "learned"),
    "leveling": ("fast",),
    "obstacles": ("fast", "reference"),
    "terrain": ("reference", "learned"),
    "water": ("fast", "reference"),
}
"""Fidelities of each world; the first is the default."""

viewer: "Callable[[World], Callable[[], None]] | None" = None
"""Opens a view of a world for ``render_mode="human"``, and returns what shows each step; the lab puts it here."""


def world_id(name: str) -> str:
    """The Gymnasium id of a world, such as ``sandlot/Leveling-v0``."""
    return f"sandlot/{name.capitalize()}-v0"


def register() -> None:
    """Register every world with Gymnasium, at the interface for learners; may be called more than once."""
    for name, entry_point in WORLDS.items():
        if world_id(name) not in gymnasium.registry:
            guest = name not in SHIPPED  # its class is imported when used, and may know nothing of interfaces
            gymnasium.register(
                world_id(name),
                entry_point="sandlot.worlds.guests:make_guest" if guest else entry_point,
                vector_entry_point=VECTORS.get(name),
                max_episode_steps=LIMITS.get(name),
                # What learners assume; our own controllers take units.
                kwargs={"guest_world": name} if guest else {"usual_interface": "normalised"},
            )


def check_name(name: str) -> None:
    """Refuse a name that no world has, before anything heavy is imported.

    Raises:
        SettingError: If there is no world of that name.
    """
    if name not in WORLDS:
        from sandlot.settings import nearest  # pydantic takes longer to load than all else here

        short = [each for each in WORLDS if world_id(each) == name]
        known = f"for this Gymnasium id write {short[0]!r}" if short else nearest(name, list(WORLDS))
        raise SettingError(f"no world {quote(name)!r}; {known}")


def check_fidelity(world: str, name: str | None) -> None:
    """Refuse a fidelity that a world does not have, before anything heavy is imported.

    Raises:
        SettingError: If there is none of that name.
    """
    known = FIDELITIES.get(world, ())
    if name is not None and known and name not in known:
        allowed = f"one of {', '.join(known)}" if len(known) > 1 else f"only {known[0]}"
        raise SettingError(f"fidelity={quote(name)} is not possible; allowed: {allowed}")


def check_settings(world: str, values: Mapping[str, Any], controller: str | None = None) -> None:
    """Refuse settings that a world cannot have, before the world and its physics are imported.

    Args:
        world: Its name.
        values: Plain values.
        controller: What acts there; settings with which it was trained are the defaults.

    Raises:
        SandlotError: The same line that the world would give.
    """
    declared.check(f"world {world}", values)
    if world not in SHIPPED:
        return
    from sandlot.models.policies import settings_for
    from sandlot.settings import build

    module = importlib.import_module(f"{__name__}.{world}.settings")
    build(getattr(module, f"{world.capitalize()}Settings"), {**settings_for(controller, world), **values})


def check_algorithm(world: str, name: str) -> None:
    """Refuse an algorithm that does not suit the actions of a world, before anything heavy is imported.

    Raises:
        SettingError: If it does not.
    """
    known = ALGORITHMS.get(world, (name,))
    if name not in known:
        actions = "one discrete action" if name == "dqn" else "actions that are numbers"
        raise SettingError(f"algorithm={name} needs {actions}; for {world}, allowed: {', '.join(known)}")


def check_controller(world: str, name: str | None, more: Sequence[str] = ()) -> None:
    """Refuse a controller that a world does not have, or a path where there is none, before anything heavy is imported.

    Args:
        world: Its name.
        name: Of a controller; of a path only whether it exists. None for the default.
        more: Further names that are possible.

    Raises:
        SettingError: If there is no such controller, or it was trained in another world.
        ModelError: If there is nothing at the path.
    """
    if name is not None and Path(name, "card.json").is_file():
        from sandlot.models.policies import settings_for

        settings_for(name, world)  # refuses a controller that was trained in another world
    known = [*CONTROLLERS.get(world, ()), *more]
    file = Path((name or "").partition(":")[0])
    if file.suffix == ".py" and not file.exists():
        raise SettingError(f"cannot make the controller {quote(name)}: there is no file {quote(file)}")
    if name is None or world not in CONTROLLERS or name in known or ":" in name:
        return
    if file.suffix == ".py":
        raise SettingError(f"say what acts of {quote(name)}: {quote(name)}:FUNCTION, or {quote(name)}:CLASS")
    if file.is_file() and world not in OWN_FILES:
        raise refused_file(file, known)
    if file.exists():
        return
    if set(name) & set("/."):
        raise ModelError(f"no controller at {quote(name)}; ready controllers: {', '.join(known)}")
    from sandlot.settings import nearest

    raise SettingError(f"no controller {quote(name)!r}; {nearest(name, known)}")


def refused_file(path: Path, known: Sequence[str]) -> ModelError:
    """The error of a world that loads no controllers from files, and has these."""
    return ModelError(f"cannot load {quote(path)}: controllers of this world are {', '.join(known)}")


def load(name: str) -> "type[World]":
    """The class of a world.

    Raises:
        SettingError: If there is no world of that name, or another package's cannot be imported.
    """
    check_name(name)
    module, _, attribute = WORLDS[name].partition(":")
    try:
        world: type[World] = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        if name in SHIPPED:
            raise
        raise SettingError(f"cannot import the world {quote(name)!r} from {quote(WORLDS[name])}: {error}") from error
    return world
