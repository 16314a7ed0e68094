"""Studies: questions asked of the rooms below, with their jobs, figures and claims."""

import importlib

from sandlot.errors import SandlotError
from sandlot.settings import nearest
from sandlot.studies.base import STUDIES, Claim, Job, Study, study

MODULES = ("sandlot.studies.indoor", "sandlot.studies.leveling", "sandlot.studies.terrain", "sandlot.studies.water")
"""Where studies are, a module for each world; loading these fills the list."""

__all__ = ["Claim", "Job", "Study", "all_studies", "find", "study"]


def all_studies() -> dict[str, type[Study]]:
    """Every study by name: by world, alphabetically, and for each world in the order of the source."""
    for module in MODULES:
        importlib.import_module(module)
    return {name: STUDIES[name] for name in sorted(STUDIES, key=lambda name: name.partition(".")[0])}


def find(name: str) -> type[Study]:
    """The study of a name.

    Raises:
        SandlotError: If there is none.
    """
    known = all_studies()
    if name not in known:
        raise SandlotError(f"no study {name!r}; {nearest(name, list(known))}")
    return known[name]
