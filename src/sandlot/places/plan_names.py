"""Names of the floor plans that are shipped, apart from how plans are read, because that takes long to import."""

from pathlib import Path

from sandlot.errors import SettingError, quote

SHIPPED = ("arena", "cluttered", "office", "flat", "apartment", "warehouse")
"""An arena of 100 m^2 with boxes along its walls, one with boxes everywhere, an office, a flat of 80 m^2 full of
furniture, one of 80 m^2 with little of it, and a warehouse."""
RANDOM = "random"
"""Stands for a plan that is drawn by a seed."""


def check_plan(plan: str) -> None:
    """Refuse a misspelt name of a plan.

    Raises:
        SettingError: If it is neither a known name nor a path.
    """
    known, path = (*SHIPPED, RANDOM), Path(plan)
    if plan not in known and not path.suffix and not path.exists():
        from sandlot.settings import nearest

        raise SettingError(f"plan={quote(plan)}: no such plan, and no such file; {nearest(plan, list(known))}")
