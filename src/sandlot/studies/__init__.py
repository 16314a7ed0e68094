"""Studies: questions asked of the rooms below, with their jobs, figures and claims."""

import importlib

from sandlot.errors import SettingError, quote
from sandlot.settings import nearest
from sandlot.studies.base import STUDIES, Claim, Job, Study, study

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


def all_studies() -> dict[str, type[Study]]:
    """Every study by name: worlds alphabetically, the studies of a world in the order of their source."""
    for module in MODULES:
        importlib.import_module(module)
    return {name: STUDIES[name] for name in sorted(STUDIES, key=lambda name: name.partition(".")[0])}


def find(name: str) -> type[Study]:
    """The study of a name.

    Raises:
        SettingError: If there is none.
    """
    known = all_studies()
    if name not in known:
        world = [each for each in known if each.partition(".")[0] == name.partition(".")[0]]
        hint = nearest(name, list(known))
        if hint.startswith("known") and not world:
            hint = "`sandlot studies` lists all"
        elif hint.startswith("known"):
            hint = nearest(name, world)
        raise SettingError(f"no study {quote(name)!r}; {hint}")
    return known[name]
