"""Optional dependencies: what `pip install sandlot` leaves out comes with extras such as ``sandlot[evolve]``."""

import importlib
from typing import Any

from sandlot.errors import MissingExtraError


def need(module: str, extra: str) -> Any:
    """Import a module that comes with an extra.

    Args:
        module: Such as ``deap.tools``.
        extra: The extra of pyproject.toml that installs it.

    Returns:
        The module.

    Raises:
        MissingExtraError: If it is not installed; the message names the command that installs it.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise  # It is there, but something else that it needs is not: the error names what.
        # All that is below the namespace `backports` comes from separate projects.
        name = module if module.startswith("backports.") else module.partition(".")[0]
        raise MissingExtraError(f"this needs {name}; install it with: pip install 'sandlot[{extra}]'") from None
