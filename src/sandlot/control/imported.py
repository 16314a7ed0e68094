"""Anyone's controller: a class or a function of a module or a file, given by its name.

    sandlot record water --controller my_package.swimming:Swimmer
    sandlot play terrain --controller drive.py:slowly

A subclass of `Controller` is made with the world as its only argument, or without any if it takes none. A function
takes one world's observation and returns its action; it has no memory. A ready `Controller` may be named as well.
"""

import importlib
import importlib.util
import inspect
import sys
from pathlib import Path
from typing import Any

from sandlot.control.controller import Controller, as_controller
from sandlot.errors import ModelError, quote


def import_controller(name: str, world: object) -> Controller:
    """Import a controller.

    Args:
        name: ``module:attribute`` or ``path/to/file.py:attribute``; modules may be in the working directory.
        world: What it is to control.

    Raises:
        ModelError: If it cannot be imported or made, or is not a controller.
    """
    place, _, attribute = name.rpartition(":")
    try:
        found = getattr(_module(place), attribute)
        if isinstance(found, type) and issubclass(found, Controller):
            return found(*([world] if inspect.signature(found).parameters else []))
    except Exception as error:  # of any kind: it is the user's code that runs here
        raise ModelError(f"cannot make the controller {quote(name)}: {quote(error)}") from error
    if isinstance(found, Controller):
        return found
    if callable(found) and not isinstance(found, type):
        return as_controller(found)
    raise ModelError(
        f"{quote(name)} is not a controller: name a subclass of Controller, or a function of an observation"
    )


def _module(place: str) -> Any:
    """The module of a name, or of a file of Python code."""
    if not place.endswith(".py"):
        here = str(Path.cwd())
        sys.path.append(here)
        try:
            return importlib.import_module(place)
        finally:
            sys.path.remove(here)
    spec = importlib.util.spec_from_file_location(f"sandlot_controller_{Path(place).stem}", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up there
    spec.loader.exec_module(module)
    return module
