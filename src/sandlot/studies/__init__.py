"""Studies: questions asked of the rooms below, with their jobs, figures and claims.

Importing this package is quick: a study, and all that it needs, is imported when it is asked for.
"""

import importlib
from typing import TYPE_CHECKING, Any

from sandlot.errors import SettingError, quote

if TYPE_CHECKING:
    from sandlot.studies.base import Claim, Job, Study, study

MODULES = (
    "sandlot.studies.ground",
    "sandlot.studies.indoor",
    "sandlot.studies.learned",
    "sandlot.studies.leveling",
    "sandlot.studies.obstacles",
    "sandlot.studies.terrain",
    "sandlot.studies.water",
)
"""A package for each world; importing it registers its studies."""

__all__ = ["Claim", "Job", "Study", "all_studies", "find", "study"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(importlib.import_module("sandlot.studies.base"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def all_studies() -> dict[str, "type[Study]"]:
    """Every study by name: worlds alphabetically, the studies of a world in the order of their source."""
    from sandlot.studies.base import STUDIES

    for module in MODULES:
        importlib.import_module(module)
    return {name: STUDIES[name] for name in sorted(STUDIES, key=lambda name: name.partition(".")[0])}


def find(name: str) -> "type[Study]":
    """The study of a name; only its own package is imported, and nothing if there is none.

    Raises:
        SettingError: If there is none.
    """
    from sandlot.studies.catalogue import catalogue, module_of

    if module := module_of(name):
        importlib.import_module(module)
        from sandlot.studies.base import STUDIES

        if name in STUDIES:
            return STUDIES[name]
    raise SettingError(f"no study {quote(name)!r}; {_hint(name, list(catalogue()))}")


def _hint(name: str, known: list[str]) -> str:
    """What may have been meant."""
    from sandlot.settings import nearest

    world = [each for each in known if each.partition(".")[0] == name.partition(".")[0]]
    if world and "." not in name.strip("."):
        return f"it is a group, which `sandlot studies {name}` explains: {', '.join(world)}"
    hint = nearest(name, known)
    if not hint.startswith("known"):
        return hint
    return nearest(name, world) if world else "`sandlot studies` lists all"
